"""One suggestion of aegisbo against the same work done with BoTorch, GPyTorch and pymoo, on one core.

python -m benchmarks.suggest              how long it takes
python -m benchmarks.suggest --quality    how good the answers are
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

import torch

from benchmarks.suggest import quality, times
from benchmarks.suggest.lines import print_lines

torch.set_num_threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", action="store_true", help="compare the answers instead of the times")
    parser.add_argument("--quick", action="store_true", help="fewer cells and repeats, to try it out")
    parser.add_argument("-o", "--output", type=Path, help="where the numbers go (suggest.json or quality.json)")
    options = parser.parse_args()
    output = options.output or Path("quality.json" if options.quality else "suggest.json")
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    numbers = _quality(options.quick) if options.quality else _times(options.quick)
    output.write_text(json.dumps({"machine": _machine(), **numbers}, indent=2) + "\n")
    print(f"\nAll numbers are in {output}.")


def _times(quick: bool) -> dict[str, object]:
    cells = times.measure(quick)
    times.print_tables(cells)
    lines = times.targets(cells)
    print_lines("Targets", lines)
    return {"cells": [vars(cell) for cell in cells], "targets": [vars(line) for line in lines]}


def _quality(quick: bool) -> dict[str, object]:
    numbers: dict[str, object] = {}
    for title, lines in quality.compare(quick):
        print_lines(title, lines)
        numbers[title] = [vars(line) for line in lines]
    return numbers


def _machine() -> dict[str, str]:
    packages = ("numpy", "scipy", "torch", "botorch", "gpytorch", "pymoo", "optuna")
    return {"platform": platform.platform(), "python": platform.python_version()} | {p: version(p) for p in packages}


if __name__ == "__main__":
    main()
