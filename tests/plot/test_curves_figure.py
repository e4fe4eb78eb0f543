"""The figure of curves: its lines against the reports of the trials."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes

from aegisbo import Optimizer, Stopped, plot
from aegisbo.optimizer.prediction import WIDE


def after(maximize: bool = False) -> Optimizer:
    """Twenty-one evaluations of nine steps: many were stopped, one failed, and the last one is running."""
    optimizer = Optimizer([(0, 1)], seed=0, strategy="random", stop_early=True, steps=9, maximize=maximize)
    sign = -1.0 if maximize else 1.0
    for number in range(21):
        trial, level = optimizer.ask(), sign * float(number if number % 2 else -number)
        if number == 2:
            optimizer.report(trial, level, 0.05)  # too early to be looked at
            optimizer.fail(trial, "odd")
            continue
        try:
            for step in range(1, 10 if number < 20 else 6):
                optimizer.report(trial, level + sign / step + 0.01 * number * step, step)
        except Stopped:
            continue
        if number < 20:
            optimizer.tell(trial, level)
    return optimizer


def line(axis: Axes, name: str) -> np.ndarray:
    (found,) = [each for each in axis.lines if str(each.get_label()).startswith(name)]
    return np.column_stack([found.get_xdata(), found.get_ydata()]).astype(float)


@pytest.mark.parametrize("maximize", [False, True])
def test_curves_are_the_reports_of_their_trials(maximize: bool) -> None:
    optimizer = after(maximize)
    (axis,) = plot.curves(optimizer).axes
    best = optimizer.result().best
    kinds = {
        "stopped early": [trial for trial in optimizer.trials if trial.state == "stopped"],
        "no value": [trial for trial in optimizer.trials if trial.state == "failed"],
        "with a value": [trial for trial in optimizer.trials if trial.state == "done" and trial != best],
        "running": list(optimizer.pending),
        "best": [best],
    }
    low, high = axis.get_ylim()
    for name, trials in kinds.items():
        assert trials, name
        said = [[*((each.step, each.value) for each in trial.reports), (np.nan, np.nan)] for trial in trials]
        for trial, points in zip(trials, said, strict=True):
            if trial.value is not None:  # it ends with its value
                points.insert(-1, (trial.reports[-1].step, trial.value))
        drawn, wanted = line(axis, f"_{name}"), np.vstack(said)
        inside = (wanted[:, 1] > low) & (wanted[:, 1] < high)
        assert drawn.shape == wanted.shape
        assert inside.any()
        assert np.array_equal(drawn[:, 0], wanted[:, 0], equal_nan=True)
        assert drawn[inside, 1] == pytest.approx(wanted[inside, 1])
        assert line(axis, f"{name} ({len(trials)})")[:, 0].tolist() == [trial.reports[-1].step for trial in trials]


def test_the_expected_end_of_what_runs_has_its_band() -> None:
    optimizer = after()
    (trial,), (axis,) = optimizer.pending, plot.curves(optimizer).axes
    end = optimizer.expected_ends()[trial.number]
    assert line(axis, "_expected")[1].tolist() == pytest.approx([9.0, end.value])
    wide = [end.value - WIDE * end.sd, end.value + WIDE * end.sd]
    assert line(axis, "_band").ravel().tolist() == pytest.approx([9.0, wide[0], 9.0, wide[1]])


def test_a_value_that_is_not_finite_is_at_the_bad_end() -> None:
    optimizer = Optimizer([(0, 1)], seed=0, strategy="random")
    for values in ((3.0, 2.0, 1.0), (3.0, float("inf"), 2.5)):
        trial = optimizer.ask()
        for step, value in enumerate(values):
            optimizer.report(trial, value, step)
        optimizer.tell(trial, values[-1])
    (axis,) = plot.curves(optimizer).axes
    assert line(axis, "_with a value")[1].tolist() == [1.0, 3.0]


def test_a_run_without_reports_says_so() -> None:
    (axis,) = plot.curves(Optimizer([(0, 1)])).axes
    assert axis.texts[0].get_text() == "No evaluation has reported anything."


def test_other_figures_know_evaluations_that_were_stopped() -> None:
    optimizer = after()
    stopped = [trial for trial in optimizer.trials if trial.state == "stopped"]
    assert f"{len(stopped)} stopped early" in plot.convergence(optimizer).get_suptitle()
    panel = plot.reasons(optimizer).axes[1]
    widths = {bars.get_label(): sum(bar.get_width() for bar in bars) for bars in panel.containers}
    assert (widths["_stopped"], widths["_pending"]) == (len(stopped), 1)
