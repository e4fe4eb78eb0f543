"""The counts of best and equivalent methods at q = 8 if AEGiS alone departs from the paper as the published code did.

    python paper/aegis_as_published.py

All other methods do what the paper says, pending points included. So it shows what decides: what the code of AEGiS did
(`reference`), its sample paths alone (`reference:paths`), or what its rivals forgot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aegis_paper.plan import load_plan
from aegis_paper.published import paper_name, published_counts
from aegis_paper.records import Records
from aegis_paper.results import Results
from aegis_paper.standings import Standings

PRESETS = ("paper", "reference", "reference:paths")  # of AEGiS


def main() -> None:
    results, plan = Results(Records(Path(__file__).parent / "records")), load_plan("synthetic")
    tables = {preset: Standings.read(results, plan, 8, preset) for preset in PRESETS}
    correct = tables["paper"]
    counts = [published_counts("synthetic", 8)]
    for table in tables.values():
        theirs = {("aegis", problem): table.scores["aegis", problem] for problem in table.problems}
        counts.append(replace(correct, scores={**correct.scores, **theirs}).counts)
    print("functions of 15 on which a method is best or equivalent to the best")
    print(f"{'':9}" + "".join(f"{heading:>22}" for heading in ("published", *(f"AEGiS {each}" for each in PRESETS))))
    for strategy in correct.strategies:
        print(f"{paper_name(strategy, 'synthetic'):9}" + "".join(f"{each[strategy]:22}" for each in counts))


if __name__ == "__main__":
    main()
