"""A program instead of a function: the same from Python and from the command line.

    python examples/external_program.py

From a shell, with a space file (`aegisbo minimize --example-space` prints one):

    aegisbo minimize --command "awk -v x={x} -v y={y} 'BEGIN { print (x - 1)^2 + (y - 2.5)^2 }'" \
        --space space.toml --budget 30 --study program.db
"""

from __future__ import annotations

import aegisbo

program = aegisbo.Command("awk -v x={x} -v y={y} 'BEGIN { print (x - 1)^2 + (y - 2.5)^2 }'")
result = aegisbo.minimize(program, {"x": (-5, 10), "y": (2, 3)}, budget=30, workers=2, seed=0)
print(result)
