"""Learn to drive the optimizer from your own loop: ask for points, tell results in any order, store it and continue.

Run it, it takes a few seconds:

    python examples/ask_tell.py
"""

from __future__ import annotations

import json

import aegisbo


def measure(lr, units):
    return (units - 100) ** 2 / 1e4 + abs(lr - 0.003) * 100


optimizer = aegisbo.Optimizer({"lr": aegisbo.Real(1e-5, 1e-1, log=True), "units": aegisbo.Int(16, 256)}, seed=0)
optimizer.observe({"lr": 0.01, "units": 64}, measure(0.01, 64))  # known from an earlier experiment

running = [optimizer.ask() for _ in range(3)]  # three machines
for _ in range(20):
    trial = running.pop(1)  # whichever finishes first
    if trial.x["units"] > 240:
        optimizer.fail(trial.number, "out of memory")
    else:
        optimizer.tell(trial.number, measure(**trial.x))
    running.append(optimizer.ask())

saved = json.dumps(optimizer.state())  # put it anywhere
optimizer = aegisbo.Optimizer.from_state(json.loads(saved))
for trial in optimizer.pending:
    optimizer.tell(trial.number, measure(**trial.x))

print(optimizer.result())
print("why the last point:", optimizer.trials[-1].note)
