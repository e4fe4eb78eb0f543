"""The medians that the paper published for AEGiS, from the file of the paper's project in this repository."""

from __future__ import annotations

import csv
from pathlib import Path

PUBLISHED = "published AEGiS"
FILE = Path(__file__).parents[2] / "paper" / "src" / "aegis_paper" / "published.csv"


def medians(workers: int) -> dict[str, float]:
    """The median regret after 200 evaluations, by problem; empty for a number of workers the paper does not have."""
    with FILE.open(newline="", encoding="utf-8") as stream:
        return {
            row["problem"]: float(row["median_regret"])
            for row in csv.DictReader(stream)
            if (row["experiment"], row["method"], row["workers"]) == ("synthetic", "AEGiS", str(workers))
        }
