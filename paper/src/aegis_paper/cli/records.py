"""What a command shows: a plan, or a part of it, with the records that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aegis_paper.plan import Plan, load_plan
from aegis_paper.rankings import Ranking, families_of, read_ranking
from aegis_paper.records import Records
from aegis_paper.results import Curves, Results
from aegis_paper.standings import Standings
from aegisbo.errors import InvalidInput

IN_CHECKOUT = Path("paper") / "records"


def results_in(folder: Path | None) -> Results:
    """The records in this folder, or in that of the checkout that we are in."""
    if folder is None:
        here = Path.cwd()
        folder = next((each / IN_CHECKOUT for each in (here, *here.parents) if (each / IN_CHECKOUT).is_dir()), None)
    if folder is None:
        raise InvalidInput(
            f"There is no {IN_CHECKOUT} here or above: name a folder with --records, or make one with "
            "`aegis-paper run PLAN --out DIR`."
        )
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder: make records with `aegis-paper run PLAN --out {folder}`.")
    return Results(Records(folder))


@dataclass(frozen=True)
class Selection:
    """A plan and the records of one preset."""

    plan: Plan
    preset: str
    results: Results

    @classmethod
    def of(
        cls,
        plan: str,
        preset: str,
        records: Path | None,
        workers: Sequence[int] | None = None,
        problems: Sequence[str] | None = None,
    ) -> Selection:
        """What the options of a command ask for."""
        words = [word for text in problems or [] for word in text.split()]
        return cls(load_plan(plan).only({"workers": workers or [], "problems": words}), preset, results_in(records))

    @property
    def workers(self) -> list[int]:
        """The numbers of workers, in order."""
        return sorted({cell.workers for cell in self.plan.cells()})

    def standings(self) -> list[Standings]:
        """The tables of which something has been run, one a number of workers."""
        tables = [Standings.read(self.results, self.plan, each, self.preset) for each in self.workers]
        return [table for table in tables if table.summaries]

    def rankings(self) -> list[Ranking]:
        """The average ranks that can be had, family by family."""
        cases = [(family, workers) for family in families_of(self.plan) for workers in self.workers]
        found = [read_ranking(self.results, self.plan, *case, self.preset) for case in cases]
        return [ranking for ranking in found if ranking]

    def curves(self) -> dict[tuple[str, int], dict[str, Curves]]:
        """The scores after each evaluation of all methods, by problem and number of workers, where there are any."""
        tables = self.standings()
        settings = next(iter(self.plan.cells()))
        return {
            (problem, table.workers): {
                strategy: self.results.curves(
                    replace(settings, problem=problem, strategy=strategy, workers=table.workers, preset=self.preset)
                )
                for strategy in table.strategies
            }
            for problem in dict.fromkeys(problem for table in tables for problem in table.problems)
            for table in tables
        }

    def too_little(self) -> InvalidInput:
        """What to say if there is nothing to show."""
        return InvalidInput(
            f"{self.results.records.folder} has too few runs of plan {self.plan.name} with preset {self.preset}: make "
            f"them with `aegis-paper run {self.plan.name} --preset {self.preset} --out DIR`."
        )
