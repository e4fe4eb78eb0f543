"""The counts of best and equivalent methods at q = 8 if AEGiS alone runs as the published code ran it.

    python paper/aegis_as_published.py

All other methods do what the paper says, pending points included. So it shows which of the two decides: the sample
paths of AEGiS, or what its rivals forgot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aegisbo.experiments.plan import load_plan
from aegisbo.experiments.published import paper_name, published_counts
from aegisbo.experiments.records import Records
from aegisbo.experiments.results import Results
from aegisbo.experiments.standings import Standings


def main() -> None:
    results, plan = Results(Records(Path(__file__).parent / "records")), load_plan("synthetic")
    correct, as_run = (Standings.read(results, plan, 8, preset) for preset in ("paper", "reference"))
    theirs = {key: scores for key, scores in as_run.scores.items() if key[0] == "aegis"}
    mixed = replace(correct, scores={**correct.scores, **theirs})
    published = published_counts("synthetic", 8)
    print("functions of 15 on which a method is best or equivalent to the best")
    print(f"{'':9}  published  all as the paper says  AEGiS as published")
    for strategy in correct.strategies:
        name = paper_name(strategy, "synthetic")
        print(f"{name:9}{published[strategy]:11}{correct.counts[strategy]:23}{mixed.counts[strategy]:20}")


if __name__ == "__main__":
    main()
