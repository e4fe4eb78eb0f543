"""One suggestion of aegisbo against the same work done with BoTorch, GPyTorch and pymoo, on one core.

    python benchmarks/suggest.py              how long it takes
    python benchmarks/suggest.py --quality    how good the answers are
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

# One thread for all. The libraries read these when they are loaded, hence before the imports below.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import suggest_quality
import suggest_times
import torch

torch.set_num_threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", action="store_true", help="compare the answers instead of the times")
    parser.add_argument("--quick", action="store_true", help="fewer cells and repeats, to try it out")
    parser.add_argument("-o", "--output", type=Path, default=Path("suggest.json"), help="where the numbers go")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    numbers = _quality(options.quick) if options.quality else _times(options.quick)
    options.output.write_text(json.dumps({"machine": _machine(), **numbers}, indent=2) + "\n")
    print(f"\nAll numbers are in {options.output}.")


def _times(quick: bool) -> dict[str, object]:
    cells = suggest_times.measure(quick)
    suggest_times.print_tables(cells)
    shown = suggest_times.must_show(cells)
    _print_block("Must show", shown)
    return {"cells": [vars(cell) for cell in cells], "must show": shown}


def _quality(quick: bool) -> dict[str, object]:
    shown = suggest_quality.compare(quick)
    for title, numbers in shown.items():
        _print_block(title, numbers)
    return {"quality": shown}


def _print_block(title: str, numbers: dict[str, object]) -> None:
    print(f"\n{title}")
    for name, value in numbers.items():
        print(f"  {name:50} {value:.4g}" if isinstance(value, float) else f"  {name:50} {value}")


def _machine() -> dict[str, str]:
    packages = ("numpy", "scipy", "torch", "botorch", "gpytorch", "pymoo", "optuna")
    return {"platform": platform.platform(), "python": platform.python_version()} | {p: version(p) for p in packages}


if __name__ == "__main__":
    main()
