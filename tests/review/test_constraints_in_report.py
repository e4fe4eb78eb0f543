"""Slices, contours and explanations of a run with constraints: what these forbid is never praised."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo import Choice, Int, Optimizer, Real, plot
from aegisbo.plot.canvas import FORBIDDEN
from aegisbo.review.landscape import Landscape, needed_landscape
from aegisbo.review.payload import learned_facts_of
from aegisbo.review.record import record_of

SPACE = {"a": Real(0, 10), "b": Real(0, 10), "n": Int(1, 9), "kind": Choice(["flat", "deep", "odd"])}
HERE = {"a": 4.0, "b": 6.0, "n": 3, "kind": "flat"}


def allowed(a: float, b: float, n: int, kind: str) -> bool:
    return a <= b and n <= 5 and (kind != "odd" or a < 2)


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    rules = ["a <= b", "n <= 5", "kind != 'odd' or a < 2"]
    optimizer = Optimizer(SPACE, constraints=rules, preset="paper", seed=1)
    rng = np.random.default_rng(0)
    for _ in range(12):
        a, b = sorted(rng.uniform(0, 10, 2).tolist())
        optimizer.observe({**HERE, "a": a, "b": b}, (a - 9) ** 2 + (b - 1) ** 2)
    return optimizer


@pytest.fixture(scope="module")
def model(optimizer: Optimizer) -> Landscape:
    model = needed_landscape(optimizer)
    assert model is not None
    return model


def test_slices_and_contours_know_what_is_forbidden(model: Landscape) -> None:
    for cut in model.slices(HERE):
        assert cut.allowed.tolist() == [allowed(**{**HERE, cut.parameter: value}) for value in cut.values]
        assert not cut.allowed.all()
    found = model.contour("a", "b", HERE)
    expected = [[allowed(**{**HERE, "a": a, "b": b}) for a in found.x_values] for b in found.y_values]
    assert found.allowed.tolist() == expected


@pytest.mark.long
def test_the_page_is_told_no_number_where_points_are_forbidden(optimizer: Optimizer, model: Landscape) -> None:
    record = record_of(optimizer)
    best, facts = record.result.best, learned_facts_of(record, {None: model})["model"]
    assert best is not None
    assert facts is not None
    for cut in facts["slices"]:
        may = [allowed(**{**best.params, cut["parameter"]: value}) for value in cut["values"]]
        for part in ("mean", "low", "high"):
            assert [number is not None for number in cut[part]] == may
    pair = next(each for each in facts["contours"] if {each["x"], each["y"]} == {"a", "b"})
    assert set(pair) == {"x", "y", "x_values", "y_values", "mean"}
    for y, row in zip(pair["y_values"], pair["mean"], strict=True):
        points = [{**best.params, pair["x"]: x, pair["y"]: y} for x in pair["x_values"]]
        assert [number is not None for number in row] == [allowed(**point) for point in points]


def test_figures_are_gray_where_points_are_forbidden(optimizer: Optimizer) -> None:
    (axis,) = plot.slices(optimizer, point=HERE, parameters=["n"]).axes
    (line,) = [line for line in axis.get_lines() if line.get_label() == "model"]
    assert [not np.isnan(y) for y in line.get_ydata()] == [n <= 5 for n in range(1, 10)]
    (gray,) = [each for each in axis.collections if each.get_label() == "forbidden"]
    assert [path.get_extents().x0 for path in gray.get_paths()] == [5.5]
    axis, _ = plot.contour(optimizer, "n", "kind", point=HERE).axes
    (cells,) = [each for each in axis.collections if each.get_array() is not None]
    assert np.ma.getmaskarray(cells.get_array()).reshape(3, 9).tolist() == [
        [not allowed(**{**HERE, "n": n, "kind": kind}) for n in range(1, 10)] for kind in ("flat", "deep", "odd")
    ]
    assert axis.get_facecolor()[:3] == pytest.approx([int(FORBIDDEN[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def test_a_figure_of_which_all_is_forbidden_is_gray(optimizer: Optimizer) -> None:
    axis, _ = plot.contour(optimizer, "a", "kind", point={**HERE, "n": 9}).axes
    assert "forbidden" in axis.get_legend_handles_labels()[1]


def test_an_explanation_says_what_a_point_breaks(optimizer: Optimizer) -> None:
    bad = {**HERE, "a": 8.0, "n": 7}
    assert optimizer.explain(bad).broken == ("a <= b", "n <= 5")
    assert "    breaks: a <= b, n <= 5: it would not be chosen\n" in repr(optimizer.explain(bad))
    assert optimizer.explain(HERE).broken == ()
    assert "breaks" not in repr(optimizer.explain(HERE))
    assert "breaks: a <= b" in repr(Optimizer(SPACE, constraints=["a <= b"]).explain({**HERE, "a": 8.0}))  # no model


def test_no_parameter_is_best_at_a_forbidden_value(optimizer: Optimizer) -> None:
    influence = optimizer.explain(HERE).influence
    for name, found in influence.items():
        assert allowed(**{**HERE, name: found.best}), name
    grid = [{**HERE, "a": a} for a in np.linspace(0, 6, 200)]
    assert influence["a"].low >= optimizer.predict(grid).mean.min() - 0.1
    assert influence["a"].best == pytest.approx(6.0, abs=0.5)  # as far as it may go towards 9
