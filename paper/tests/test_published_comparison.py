"""Published cells beside made-up runs: verdicts, counts and reasons."""

from __future__ import annotations

from aegis_paper.comparison import agreement, compare
from aegis_paper.published import STRATEGIES, published_table
from aegis_paper.reasons import REASONS, reason_for
from aegis_paper.runs import Cell, deviations_of
from aegis_paper.scores import Results
from aegis_paper.statistics import Verdict

from aegisbo.simulation.problems import names

PRESETS = ("paper", "reference")


class Scaled(Results):
    """Every run of a cell has the published median times a factor of its strategy and preset."""

    def __init__(self, factors: dict[tuple[str, str], float], runs: int = 11) -> None:
        self.factors, self.runs = factors, runs

    def finals(self, cell: Cell) -> dict[int, float]:
        factor = self.factors.get((cell.strategy, cell.preset))
        if factor is None:
            return {}
        median = published_table("synthetic", cell.workers)[cell.strategy, cell.problem].median
        return dict.fromkeys(range(self.runs), factor * median)


def test_each_preset_has_its_verdict() -> None:
    factors = {("aegis", "paper"): 2.0, ("aegis", "reference"): 1.4, ("kriging-believer", "paper"): 0.5}
    pairs = compare(Scaled(factors), "synthetic", 8, PRESETS)
    assert [pair.published.strategy for pair in pairs] == ["kriging-believer"] * 15 + ["aegis"] * 15
    assert [pair.published.problem for pair in pairs] == [*names()] * 2
    assert {pair.ours["paper"].verdict for pair in pairs[:15]} == {Verdict.LOWER}
    assert {pair.ours["paper"].verdict for pair in pairs[15:]} == {Verdict.HIGHER}
    assert {pair.ours["reference"].verdict for pair in pairs[15:]} == {Verdict.AGREES}
    assert "reference" not in pairs[0].ours
    assert agreement(pairs, "paper") == (0, [pair.ours["paper"] for pair in pairs])
    assert agreement(pairs, "reference") == (15, [pair.ours["reference"] for pair in pairs[15:]])


def test_few_runs_are_not_judged() -> None:
    pairs = compare(Scaled({("aegis", "paper"): 1.0}, runs=4), "synthetic", 4, PRESETS)
    assert {pair.ours["paper"].verdict for pair in pairs} == {Verdict.OPEN}
    assert agreement(pairs, "paper") == (0, [])


def test_nothing_run_is_nothing_shown() -> None:
    assert compare(Scaled({}), "synthetic", 8, PRESETS) == []


def test_a_reason_is_known_where_its_experiment_agrees() -> None:
    wrong = {("kriging-believer", "paper"): 0.5, ("kriging-believer", "reference"): 0.5}

    def reason(tried: dict[tuple[str, str], float], preset: str = "paper") -> str | None:
        return compare(Scaled(wrong | tried), "synthetic", 8, PRESETS)[0].ours[preset].reason

    forgetful = ("kriging-believer", "reference:pending")
    assert str(reason({forgetful: 1.1})).startswith("the published code forgot the pending points")
    assert str(reason({})).startswith("probably the published code forgot the pending points")
    assert reason({forgetful: 0.5}) is None, "it was tried and explains nothing"
    assert reason({forgetful: 1.1}, "reference") is None, "it is about the correct method"


def test_a_reason_belongs_to_some_methods_and_a_direction() -> None:
    assert reason_for("kriging-believer", Verdict.AGREES) is None
    assert reason_for("kriging-believer", Verdict.HIGHER) is None
    assert reason_for("random", Verdict.HIGHER) is None
    assert "correct paths explore" in str(reason_for("aegis:epsilon=faster", Verdict.HIGHER))
    assert "surroundings" in str(reason_for("thompson", Verdict.LOWER))


def test_reasons_name_what_exists() -> None:
    for reason in REASONS:
        assert set(reason.methods) <= set(STRATEGIES.values())
        assert len(deviations_of(reason.experiment)) == 1
        assert reason.verdict in (Verdict.LOWER, Verdict.HIGHER)
