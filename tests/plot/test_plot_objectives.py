"""Figures of several objectives: what is drawn against what was measured."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from aegisbo import Optimizer, Result, load, minimize, plot
from aegisbo.errors import InvalidInput, OneNumber, SeveralObjectives

pytestmark = pytest.mark.long

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}
TWO: dict[str, Any] = {"accuracy": "max", "latency": "min"}
THREE: dict[str, Any] = {**TWO, "size": ("min", lambda a: a + 6.0)}


def measure(a: float, b: float) -> dict[str, float]:
    if a > 9.0:
        raise ValueError("too wide")
    return {"accuracy": 7.0 - (a - 1.0) ** 2 - b, "latency": (a - 3.0) ** 2 + 40.0 * (b - 2.5) ** 2}


def run(path: Path, objectives: dict[str, Any]) -> Result:
    options: dict[str, Any] = {"seed": 3, "executor": "serial", "limits": ["latency <= 30"]}
    return minimize(measure, SPACE, objectives=objectives, budget=14, study=path, **options)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(tmp_path_factory.mktemp("two") / "run.db", TWO)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(tmp_path_factory.mktemp("three") / "run.db", THREE)


def drawn(axis: Axes, name: str) -> np.ndarray:
    """The points (m, 2) of the line with this label."""
    (line,) = [line for line in axis.lines if str(line.get_label()).startswith(name)]
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


def values(trials: Any, *names: str) -> np.ndarray:
    return np.array([[trial.measured[name] for name in names] for trial in trials]).reshape(-1, len(names))


def by_rows(points: np.ndarray) -> list[list[float]]:
    return sorted(points.tolist())


@pytest.mark.parametrize("objectives", [TWO, THREE])
def test_the_front_has_a_panel_for_each_pair(objectives: dict[str, Any], request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue("two" if objectives is TWO else "three")
    optimizer = Optimizer.from_state(result.optimizer.state(), objectives=objectives)
    pending = [optimizer.ask() for _ in range(2)]
    figure = plot.front(optimizer)
    expected = optimizer.predict(pending)
    for axis, (x, y) in zip(figure.axes, combinations(objectives, 2), strict=True):
        assert axis.get_xlabel() == f"{x} ({'larger' if x == 'accuracy' else 'smaller'} is better)"
        np.testing.assert_allclose(by_rows(drawn(axis, "front (")), by_rows(values(result.front, x, y)))
        done = [trial for trial in result.trials if trial.state == "done" and trial not in result.front]
        kept = [trial for trial in done if trial.measured["latency"] <= 30.0]
        assert len(kept) < len(done)
        np.testing.assert_allclose(by_rows(drawn(axis, "beaten")), by_rows(values(kept, x, y)))
        broken = [trial for trial in done if trial not in kept]
        np.testing.assert_allclose(by_rows(drawn(axis, "breaks a limit")), by_rows(values(broken, x, y)))
        np.testing.assert_allclose(drawn(axis, "compromise"), values([result.compromise], x, y))
        np.testing.assert_allclose(drawn(axis, "best in one"), values(result.extremes.values(), x, y))
        np.testing.assert_allclose(
            drawn(axis, "pending"), np.stack([expected[x].mean, expected[y].mean], axis=1), rtol=1e-6
        )
        limit = drawn(axis, "limit")[0] if "latency" in (x, y) else None
        assert limit is None or limit[int(y == "latency")] == 30.0
        assert len(drawn(axis, "predicted front")) > 3
    assert len(figure.axes) == len(objectives) * (len(objectives) - 1) // 2


def test_the_steps_border_what_the_front_dominates(two: Result) -> None:
    """A point beside a step is dominated on one side of it and not on the other."""
    (axis,) = plot.front(two).axes
    (line,) = [line for line in axis.lines if line.get_label() == "_steps"]
    corners = line.get_path().interpolated(1).vertices if line.get_drawstyle() == "default" else None
    assert corners is None
    assert line.get_drawstyle() == "steps-pre"  # between two trials, what the more accurate one has
    best = values(two.front, "accuracy", "latency")
    np.testing.assert_allclose(drawn(axis, "_steps"), best[np.argsort(best[:, 0])])
    x, y = drawn(axis, "_steps").T
    for k in range(1, len(x)):
        middle = (x[k - 1] + x[k]) / 2
        for height, beaten in ((y[k] + 1e-9, True), (y[k] - 1e-9, False)):
            assert ((best[:, 0] >= middle) & (best[:, 1] <= height)).any() == beaten


def test_convergence_draws_the_hypervolume(two: Result) -> None:
    axis, _ = plot.convergence(two).axes
    volumes = two.hypervolume()
    steps = drawn(axis, "best so far")
    np.testing.assert_allclose(steps[:, 1], volumes[volumes > 0.0], rtol=1e-12)
    np.testing.assert_allclose(steps[:, 0], np.flatnonzero(volumes > 0.0) + 1)
    assert axis.get_ylabel() == "hypervolume"
    assert f"latency={two.reference['latency']:.6g}" in two.plot()._suptitle.get_text()  # type: ignore[index,attr-defined]


def test_slices_and_contours_show_the_objective_that_is_named(two: Result) -> None:
    for name in TWO:
        axis, _ = plot.slices(two, objective=name, parameters=["a", "b"]).axes
        assert axis.get_ylabel() == name
        assert drawn(axis, "trial")[0, 1] == pytest.approx(two.compromise.measured[name])  # type: ignore[union-attr]
        line = drawn(axis, "model")
        told = two.predict([{**two.compromise.params, "a": a} for a in line[:, 0]], name)  # type: ignore[union-attr]
        np.testing.assert_allclose(line[:, 1], told.mean, rtol=1e-6)
        assert f"mean of {name}" in plot.contour(two, objective=name).axes[0].get_title(loc="left")


@pytest.mark.parametrize("kind", ["slices", "contour"])
def test_a_figure_of_one_objective_must_be_told_which(two: Result, kind: str) -> None:
    with pytest.raises(SeveralObjectives, match="say which one is meant, objective='accuracy' or objective='latency'"):
        two.plot(kind)
    with pytest.raises(InvalidInput, match="Unknown objective 'latencyy'"):
        two.plot(kind, objective="latencyy")


def test_importance_has_a_panel_for_each_objective(two: Result) -> None:
    figure = plot.importance(two)
    assert [axis.get_title(loc="left") for axis in figure.axes] == list(TWO)
    (alone,) = plot.importance(two, objective="latency").axes
    for one, other in zip(figure.axes[1].patches, alone.patches, strict=True):
        assert one.get_width() == other.get_width()  # type: ignore[attr-defined]


def test_reasons_have_panels_for_each_objective_and_none_for_what_is_known(three: Result) -> None:
    axes = plot.reasons(three).axes
    assert [axis.get_ylabel() for axis in axes[:3]] == list(THREE)
    for axis, name in zip(axes[:3], THREE, strict=True):
        told = [t.measured[name] for t in three.trials if t.state == "done" and t.note["move"] == "initial"]
        assert len(drawn(axis, "initial")) == len(told)
    headings = [axis.get_title(loc="left") for axis in axes[4:-1]]
    assert [heading.split(":")[0] for heading in headings] == [
        "Predicted and measured accuracy",
        "Predicted and measured latency",
    ]
    assert "added to the front" in axes[3].get_xlabel()


def test_a_decision_shows_the_front_that_was_known_then(two: Result) -> None:
    trial = next(trial for trial in two.trials[::-1] if "mean" in trial.note and trial.number < 12)
    (axis,) = plot.decision(two, trial.number).axes
    mean = trial.note["mean"]
    np.testing.assert_allclose(drawn(axis, "chosen"), [[mean["accuracy"], mean["latency"]]], rtol=1e-5)
    before = [t for t in two.trials[: trial.number] if t.state == "done" and t.measured["latency"] <= 30.0]
    points = values(before, "accuracy", "latency")
    best = [p for p in points if not any((q[0] >= p[0]) & (q[1] <= p[1]) & (q != p).any() for q in points)]
    np.testing.assert_allclose(by_rows(drawn(axis, "front at that time")), by_rows(np.array(best)), rtol=1e-9)


def test_few_results_and_one_number_are_told_in_a_sentence(two: Result) -> None:
    optimizer = Optimizer(SPACE, objectives=TWO, seed=0)
    assert len(plot.front(optimizer).axes) == 1
    optimizer.tell(optimizer.ask(), {"accuracy": 1.0, "latency": 2.0})
    (axis,) = plot.front(optimizer).axes
    np.testing.assert_allclose(drawn(axis, "front ("), [[1.0, 2.0]])
    with pytest.raises(OneNumber, match="has one number and not several objectives, so there is no front: use conv"):
        plot.front(Optimizer(SPACE))
    assert load(two.study).front == two.front  # type: ignore[arg-type]
