"""Figures: what is drawn is read back from matplotlib's own objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from aegis_paper import figures
from aegis_paper.published import published_table
from aegis_paper.rankings import Ranking
from aegis_paper.scores import ScoreTable, by_run
from matplotlib.figure import Figure

from aegisbo.errors import InvalidInput
from aegisbo.simulation.problems import names


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were to be written."""
    kept: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: kept.append(self))
    return kept


def lines(axis: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axis.lines if not line.get_label().startswith("_")}


def curves(scale: float, runs: int = 4) -> dict[int, Any]:
    rng = np.random.default_rng(runs)
    return {run: scale * np.minimum.accumulate(rng.lognormal(size=40)) for run in range(runs)}


def test_convergence_shows_median_and_quartiles_from_the_initial_points_on(drawn: list[Figure]) -> None:
    runs = curves(1.0, 5)
    methods = {"random": curves(3.0), "aegis": runs, "thompson": {}}
    figures.draw_convergence({("Branin", 8): methods, ("Hartmann6", 8): methods}, "synthetic", Path("a.png"))
    branin, hartmann = drawn[0].axes
    assert branin.get_title() == "Branin, q = 8, n = 4–5"
    assert branin.get_yscale() == "log"
    assert set(lines(branin)) == {"Random", "AEGiS"}
    across, up = lines(branin)["AEGiS"].get_data()
    assert across.tolist() == list(range(4, 41))
    assert up == pytest.approx([sorted(run[i] for run in runs.values())[2] for i in range(3, 40)])
    assert lines(hartmann)["AEGiS"].get_xdata()[0] == 12
    band = branin.collections[1].get_paths()[0].vertices[:, 1]
    low, high = np.quantile([*runs.values()], [0.25, 0.75], axis=0)[:, 3:]
    assert {*np.round([*low, *high], 9)} <= {*np.round(band, 9)}
    dashed = [line for line in branin.lines if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in dashed] == [4]
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["Random", "AEGiS"]


def test_numbers_of_workers_stand_side_by_side_on_one_scale(drawn: list[Figure]) -> None:
    panels = {(p, q): {"aegis": curves(q)} for p in ("Branin", "Ackley5") for q in (4, 8, 16)}
    figures.draw_convergence(panels, "synthetic", Path("a.png"))
    axes = drawn[0].axes
    assert [axis.get_subplotspec().colspan.start for axis in axes] == [0, 1, 2] * 2
    assert axes[0].get_ylim() == axes[1].get_ylim() == axes[2].get_ylim() != axes[3].get_ylim()


def test_a_number_of_workers_that_one_problem_lacks_leaves_a_gap(drawn: list[Figure]) -> None:
    panels = {(p, q): {"aegis": curves(q)} for p, q in (("Branin", 8), ("Ackley5", 4), ("Ackley5", 8))}
    figures.draw_convergence(panels, "synthetic", Path("a.png"))
    places = {axis.get_title(): axis.get_subplotspec() for axis in drawn[0].axes}
    assert {title: (at.rowspan.start, at.colspan.start) for title, at in places.items()} == {
        "Branin, q = 8, n = 4": (0, 1),
        "Ackley5, q = 4, n = 4": (1, 0),
        "Ackley5, q = 8, n = 4": (1, 1),
    }


def made(study: str, strategies: tuple[str, ...], workers: int = 8) -> ScoreTable:
    """The first method wins every run on all functions but Ackley5, which the last has not run."""
    scores = {
        (strategy, problem): {run: (1.0 + place) * 1.5**run for run in range(11)}
        for place, strategy in enumerate(strategies)
        for problem in names()
    }
    scores[strategies[-1], "Ackley5"] = {}
    return ScoreTable(study, workers, "paper", 200, by_run(scores))


def test_bars_are_shares_of_what_can_be_counted_beside_those_of_the_paper(drawn: list[Figure]) -> None:
    strategies = ("aegis-no-ts", "aegis-no-pf", "aegis")
    figures.draw_summary([made("ablation", strategies, q) for q in (4, 8)], Path("a.png"))
    (axis,) = drawn[0].axes
    assert [bar.get_width() for bar in axis.patches] == [1, 0, 0] * 2
    assert [label.get_text() for label in axis.get_yticklabels()] == ["No TS", "No PF", "AEGiS"]
    texts = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert sorted(texts) == ["q = 4: 14 problems, n = 11", "q = 8: 14 problems, n = 11", "the paper, n = 51"]
    for place, workers in ((0, 4), (1, 8)):
        table = published_table("ablation", workers)
        counted = [problem for problem in names() if problem != "Ackley5"]
        theirs = [sum(bool(table[each, problem].mark) for problem in counted) / 14 for each in strategies]
        assert axis.lines[place].get_xdata() == pytest.approx(theirs)
        assert axis.lines[place].get_ydata() == pytest.approx(
            [bar.get_y() + bar.get_height() / 2 for bar in axis.patches[3 * place : 3 * place + 3]]
        )


def test_gamma_is_drawn_against_its_value(drawn: list[Figure]) -> None:
    strategies = ("aegis-no-ts", "aegis:gamma=0.3", "aegis", "aegis-no-pf")
    figures.draw_gamma([made("gamma", strategies)], Path("a.png"))
    ours, theirs, _ = drawn[0].axes[0].lines
    assert list(ours.get_xdata()) == list(theirs.get_xdata()) == [0, 0.3, 0.5, 1]
    assert list(ours.get_ydata()) == [1, 0, 0, 0]
    table = published_table("gamma", 8)
    counted = [problem for problem in names() if problem != "Ackley5"]
    shares = [sum(bool(table[each, problem].mark) for problem in counted) / 14 for each in strategies]
    assert theirs.get_ydata() == pytest.approx(shares)


def test_methods_without_gamma_are_refused() -> None:
    with pytest.raises(InvalidInput, match="random has no γ"):
        figures.draw_gamma([made("synthetic", ("random", "aegis"))], Path("a.png"))


def test_methods_that_a_table_lacks_have_no_bar(drawn: list[Figure]) -> None:
    tables = [made("ablation", ("aegis-no-ts", "aegis"), 4), made("ablation", ("aegis-no-pf", "aegis"), 8)]
    figures.draw_summary(tables, Path("a.png"))
    (axis,) = drawn[0].axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["No TS", "AEGiS", "No PF"]
    assert [bar.get_width() for bar in axis.patches] == pytest.approx([1, 0, np.nan, np.nan, 0, 1], nan_ok=True)


def test_epsilon_falls_as_the_paper_says(drawn: list[Figure]) -> None:
    figures.draw_epsilon_decay(Path("a.png"))
    (axis,) = drawn[0].axes
    at_ten = {label.partition(",")[0]: line.get_ydata()[9] for label, line in lines(axis).items()}
    assert at_ten == pytest.approx({"AEGiS": 0.6325, "Faster": 0.25, "Slower": 0.7797}, abs=1e-4)
    assert {line.get_ydata()[3] for line in axis.lines} == {1}


def test_ranks_are_drawn_from_the_initial_points_on(drawn: list[Figure]) -> None:
    ranks = np.array([np.linspace(2, 1, 50), np.linspace(1, 2, 50)])
    ranking = Ranking("SVM", 4, "paper", ("aegis", "random"), np.repeat(ranks[None], 11, axis=0), (1, 20))
    figures.draw_ranks([ranking], Path("a.png"))
    (axis,) = drawn[0].axes
    assert axis.get_title() == "SVM, q = 4, 11 instances × 1–20 runs"
    across, up = lines(axis)["AEGiS"].get_data()
    assert across.tolist() == list(range(4, 51))
    assert up == pytest.approx(ranks[0, 3:])


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_written_and_no_setting_is_changed(tmp_path: Path, ending: str) -> None:
    before = dict(mpl.rcParams)
    figures.draw_epsilon_decay(tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 1000
    assert dict(mpl.rcParams) == before


def test_an_unknown_ending_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"'a.gif' has an ending .* choose one of .pdf, .png, .svg"):
        figures.draw_epsilon_decay(Path("a.gif"))
