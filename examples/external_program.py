"""Learn to tune a program in any language: aegisbo fills in its arguments and reads the last line that it prints.

    python examples/external_program.py

The same from a shell, with a space file (`aegisbo minimize --example-space` prints one):

    aegisbo minimize --command "awk -v x={x} -v y={y} 'BEGIN { print (x - 1)^2 + (y - 2.5)^2 }'" \
        --space space.toml --budget 30 --study program.db
"""

from __future__ import annotations

import aegisbo

program = aegisbo.Command("awk -v x={x} -v y={y} 'BEGIN { print (x - 1)^2 + (y - 2.5)^2 }'")
result = aegisbo.minimize(program, {"x": (-5, 10), "y": (2, 3)}, budget=30, workers=2, seed=0)
print(result)
