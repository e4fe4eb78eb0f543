"""What a command shows: a plan, or a part of it, with the records that there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from aegis_paper.plans import Plan, load_plan
from aegis_paper.rankings import Ranking, families_of, read_ranking
from aegis_paper.records import Records
from aegis_paper.runs import deviations_of
from aegis_paper.scores import Curves, Results, ScoreTable
from aegisbo.errors import InvalidInput, UnknownName

IN_CHECKOUT = Path("paper") / "records.sqlite"
AEGIS = "aegis"


def results_in(file: Path | None) -> Results:
    """The records in this file, or in that of the checkout that we are in."""
    if file is None:
        here = Path.cwd()
        file = next((each / IN_CHECKOUT for each in (here, *here.parents) if (each / IN_CHECKOUT).is_file()), None)
    if file is None:
        raise InvalidInput(
            f"There is no {IN_CHECKOUT} here or above: name a file with --records, or make one with "
            "`aegis-paper run PLAN --out FILE`."
        )
    if not file.is_file():
        raise InvalidInput(f"{file} is no file: make records with `aegis-paper run PLAN --out {file}`.")
    return Results(Records(file))


def require_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not one of those known."""
    known = list(known)
    if name not in known:
        raise UnknownName(kind, name, known)


def words(texts: Sequence[str] | None) -> list[str]:
    """The words of an option that may hold several and may be repeated."""
    return [word for text in texts or [] for word in text.split()]


@dataclass(frozen=True)
class Selection:
    """A plan, or a part of it, and the records of one preset."""

    plan: Plan
    preset: str
    results: Results
    name: str  # of the plan, or of its file, as `aegis-paper run` knows it
    beside: str | None = None  # a preset whose AEGiS stands at the end of every table

    @classmethod
    def of(
        cls,
        plan: str,
        preset: str | None,
        records: Path | None,
        workers: Sequence[int] | None = None,
        problems: Sequence[str] | None = None,
        beside: str | None = None,
    ) -> Selection:
        """What the options of a command ask for: without a preset the plan's own, or the first of them."""
        for named in (preset, beside):
            if named is not None:
                deviations_of(named)  # refuses an unknown name
        chosen = load_plan(plan).only({"workers": workers or [], "problems": words(problems)})
        chosen.one_setting()  # refuses to put side by side what is not alike
        if beside is not None and families_of(chosen):
            raise InvalidInput(
                f"Plan {plan} is shown as average ranks, which have no place for --beside: leave it out."
            )
        return cls(chosen, preset or chosen.presets[0], results_in(records), plan, beside)

    @property
    def workers(self) -> list[int]:
        """The numbers of workers, in order."""
        return sorted({cell.workers for cell in self.plan.cells()})

    def tables(self) -> list[ScoreTable]:
        """The tables of which something has been run, one per number of workers."""
        tables = [table for table in self._read(self.preset) if len(table.summary)]
        if self.beside is None:
            return tables
        others = {other.workers: other for other in self._read(self.beside) if AEGIS in other.run}
        return [table.beside(AEGIS, others[table.workers]) for table in tables if table.workers in others]

    def _read(self, preset: str) -> list[ScoreTable]:
        return [ScoreTable.read(self.results, self.plan, each, preset) for each in self.workers]

    def rankings(self) -> list[Ranking]:
        """The average ranks that can be had, family by family."""
        cases = [(family, workers) for family in families_of(self.plan) for workers in self.workers]
        found = [read_ranking(self.results, self.plan, *case, self.preset) for case in cases]
        return [ranking for ranking in found if ranking]

    def curves(self) -> dict[tuple[str, int], dict[str, Curves]]:
        """The scores after each evaluation of all methods, by problem and number of workers, where there are any."""
        tables = self.tables()
        like = replace(self.plan.one_setting(), preset=self.preset)
        return {
            (problem, table.workers): {
                strategy: self.results.curves(replace(like, problem=problem, strategy=strategy, workers=table.workers))
                for strategy in table.strategies
            }
            for problem in dict.fromkeys(problem for table in tables for problem in table.problems)
            for table in tables
        }

    def too_little(self) -> InvalidInput:
        """What to say if there is nothing to show."""
        guest = self.beside is not None and replace(self, beside=None).tables()
        missing = self.beside if guest else self.preset
        options = f" --methods {AEGIS}" if guest else ""
        if missing not in self.plan.presets:
            options += f" --preset {missing}"
        return InvalidInput(
            f"{self.results.records.file} has too few runs of plan {self.plan.name} with preset {missing}: make "
            f"them with `aegis-paper run {quote(self.name)}{options} --out FILE`."
        )
