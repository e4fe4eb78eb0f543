"""The factorial experiment: what its presets mean, and what is made of its runs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from aegis_paper.cli.factors import print_factors
from aegis_paper.effects import PAPERS, SETTINGS, Setting, effects, grid, problems
from aegis_paper.factors import TEMPER, Levels, levels_of, resolve, supposing, tempered_path
from aegis_paper.plans import load_plan
from aegis_paper.runs import Cell, Spec
from aegis_paper.scores import Results
from rich.console import Console
from scipy.stats import wilcoxon

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import GP, condition
from aegisbo.simulation.runs import simulate


@pytest.fixture
def gp() -> GP:
    X = np.random.default_rng(0).random((12, 2))
    return condition(Matern52(np.array([0.4]), 1.0), 1e-4, X, np.sin(5 * X).sum(axis=1))


@pytest.mark.parametrize(
    ("preset", "levels"),
    [
        ("paper", None),
        ("reference:paths", None),
        ("factors:paths=collapsed", Levels("collapsed")),
        ("factors:pending=believed,paths=tempered", Levels("tempered", "believed")),
        ("factors:paths=correct", Levels()),
        ("factors:paths=tempered,preset=adaptive", Levels("tempered", preset="adaptive")),
    ],
)
def test_a_preset_names_levels(preset: str, levels: Levels | None) -> None:
    assert levels_of(preset) == levels
    assert levels is None or levels.text == "paper" or levels_of(levels.text) == levels


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("factors", "must name each factor once"),
        ("factors:path=correct", "did you mean 'paths'"),
        ("factors:paths=temperd", "did you mean 'tempered'"),
        ("factors:paths=correct,paths=tempered", "must name each factor once"),
        ("factors:paths=collapsed,preset=adaptive", "only the model of the preset paper has collapsed paths"),
    ],
)
def test_other_texts_are_refused(preset: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Spec(problem="Branin", strategy="aegis", preset=preset, workers=4, budget=9, run=0).make_strategy()


def test_only_aegis_has_these_factors() -> None:
    with pytest.raises(InvalidInput, match="'ei' has none of them"):
        resolve("ei", Levels("tempered"))


def test_every_combination_of_levels_is_planned_once() -> None:
    cells = load_plan("factors").cells()
    for workers in (4, 16):
        mine = {setting.cell(problem, workers) for setting in SETTINGS for problem in problems()}
        assert len(mine) == 18 * 7
        plain = {Cell(problem, name, "paper", workers) for problem in problems() for name in ("ei", "kriging-believer")}
        presets = ("adaptive", "factors:paths=tempered,pending=ignored,preset=adaptive") if workers == 16 else ()
        todays = {Cell(problem, "aegis", preset, workers) for problem in problems() for preset in presets}
        assert {cell for cell in cells if cell.workers == workers} == mine | plain | todays
    assert set(cells.values()) == {5}


@pytest.mark.parametrize("preset", ["paper", "adaptive"])
def test_levels_that_change_nothing_are_the_preset(preset: str) -> None:
    """Written out, they make the same choices as the preset, digit by digit; with other paths they do not."""
    texts = (preset, *(f"factors:paths={paths},preset={preset}" for paths in ("correct", "tempered")))
    specs = [Spec(problem="Branin", strategy="aegis", preset=text, workers=4, budget=16, run=0) for text in texts]
    plain, written, other = ([each.x for each in simulate(spec).evaluations] for spec in specs)
    assert written == plain
    assert other != plain


def test_pending_points_are_data_of_another_value(gp: GP) -> None:
    P, Z = np.array([[0.2, 0.7], [0.9, 0.1]]), np.random.default_rng(1).random((20, 2))
    assert supposing(gp, P, "ignored") is supposing(gp, P[:0], "believed") is gp
    np.testing.assert_allclose(supposing(gp, P, "believed").mean(Z), gp.mean(Z), atol=1e-9)
    X, y = np.vstack([gp.X, P]), np.append(gp.y, np.full(2, gp.y.max()))
    whole = condition(gp.kernel, gp.noise, X, y)
    np.testing.assert_allclose(supposing(gp, P, "pessimistic").predict(Z), whole.predict(Z), atol=1e-8)


def test_tempered_paths_have_the_mean_and_less_of_the_spread(gp: GP) -> None:
    Z, rng = np.random.default_rng(1).random((6, 2)), np.random.default_rng(2)
    values = np.array([tempered_path(gp, 500, rng).value_and_gradient(Z)[0] for _ in range(400)])
    mean, variance = gp.predict(Z)
    spread = TEMPER * np.sqrt(variance)
    np.testing.assert_allclose(values.mean(axis=0), mean, atol=4 * spread.max() / 20)
    np.testing.assert_allclose(values.std(axis=0), spread, rtol=0.2, atol=2e-3)
    path = tempered_path(gp, 500, rng)
    np.testing.assert_allclose(path.screen(Z), path.value_and_gradient(Z)[0], atol=1e-4)
    h, along = 1e-6, np.array([1.0, 0.0])
    slope = (path.value_and_gradient(Z + h * along)[0] - path.value_and_gradient(Z - h * along)[0]) / (2 * h)
    np.testing.assert_allclose(path.value_and_gradient(Z)[1][:, 0], slope, atol=1e-5)


class Made:
    """Stands in for records: one score for each run."""

    def __init__(self) -> None:
        self.scores: dict[Cell, dict[int, float]] = {}

    def add(self, cell: Cell, run: int, regret: float) -> None:
        self.scores.setdefault(cell, {})[run] = regret

    def runs(self) -> dict[Cell, set[int]]:
        return {cell: set(runs) for cell, runs in self.scores.items()}

    def curves(self, cell: Cell) -> dict[int, Array]:
        return {run: np.array([9.0, regret]) for run, regret in self.scores[cell].items()}


@pytest.fixture(scope="module")
def results() -> Results:
    """Each level multiplies the regret by its own factor, whatever the other levels are."""
    factor = {"tempered": 0.1, "collapsed": 0.5, "believed": 0.8, "pessimistic": 3.0, "0.1": 0.25}
    made, rng = Made(), np.random.default_rng(0)
    for problem, run in product(problems(), range(3)):
        base = rng.lognormal()
        for setting in SETTINGS:
            levels = (setting.paths, setting.pending, setting.epsilon)
            made.add(setting.cell(problem, 4), run, base * np.prod([factor.get(level, 1.0) for level in levels]))
        made.add(Cell(problem, "ei", "paper", 4), run, base * 2.0)
        made.add(Cell(problem, "aegis", "adaptive", 4), run, base * 0.01)
        made.add(Cell(problem, "aegis", Levels("tempered", preset="adaptive").text, 4), run, base * 0.007)
    made.scores[Setting("tempered").cell("Branin", 4)].pop(2)
    return Results(made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "ratio", "pairs"),
    [
        ("paths: tempered", 0.1, 20),  # one run is missing in one of the settings
        ("paths: collapsed", 0.5, 21),
        ("pending: believed", 0.8, 20),
        ("pending: pessimistic", 3.0, 20),
        ("epsilon: 0.1", 0.25, 20),
        ("expected improvement instead of AEGiS", 2.0, 21),
        ("paths: tempered, in adaptive", 0.7, 21),
    ],
)
def test_effects_are_those_that_were_put_in(results: Results, what: str, ratio: float, pairs: int) -> None:
    found = {effect.what: effect for effect in effects(results, 4)}
    assert len(found) == 7  # nothing is said of Kriging Believer, which was not run
    effect = found[what]
    assert effect.ratio == pytest.approx(ratio)
    assert effect.pairs == pairs
    assert (effect.lower, effect.higher) == ((pairs, 0) if ratio < 1 else (0, pairs))
    assert effect.p < 1e-3


def test_all_combinations_beside_each_other(results: Results) -> None:
    found = grid(results, 4)
    assert (found[PAPERS].ratio, found[PAPERS].p) == (pytest.approx(1.0), 1.0)
    quiet = found[Setting("tempered", "believed", "0.1")]
    assert quiet.ratio == pytest.approx(0.1 * 0.8 * 0.25)
    alone = float(wilcoxon(np.full(21, np.log10(quiet.ratio))).pvalue)  # lower in all pairs, by as much
    assert quiet.p == pytest.approx(17 * alone)
    assert len(found) == 18
    assert grid(results, 16) == {}
    assert effects(results, 16) == []


def test_the_command_prints_both_tables(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    print_factors(results, [4, 16], Console(width=120))
    text = capsys.readouterr().out
    assert "q = 4" in text
    assert "q = 16" not in text  # of which there are no runs
    assert next(line.split()[:6] for line in text.splitlines() if "paths: tempered" in line) == [
        "paths:",
        "tempered",
        "20",
        "20",
        "0",
        "0.10",
    ]
    assert ["tempered", "believed", "0.08*", "0.02*"] in [line.split() for line in text.splitlines()]
