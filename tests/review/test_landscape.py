from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from review.made_studies import make_study

import aegisbo
from aegisbo.errors import NoModel, TrialError
from aegisbo.events import Observed
from aegisbo.gp.posterior import condition
from aegisbo.outcome import Outcome
from aegisbo.review.decision_then import decision_then
from aegisbo.review.landscape import needed_landscape
from aegisbo.review.record import Record

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record.of_study(make_study(tmp_path_factory.mktemp("model") / "run.db"))


def learned(function: object, d: int, n: int, **settings: object) -> aegisbo.Optimizer:
    optimizer = aegisbo.Optimizer([(0.0, 2.0)] * d, seed=0, **settings)
    for u in np.random.default_rng(0).random((n, d)):
        optimizer.observe(2.0 * u, function(u))
    return optimizer


def test_importance_is_the_share_of_the_variance() -> None:
    """Of 3 u0 + u1 with uniform u, nine tenths of the variance come from u0, and none from u2."""
    model = needed_landscape(learned(lambda u: 3.0 * u[0] + u[1], 3, 60))
    found = {each.parameter: each for each in model.importances}
    assert [found[name].main for name in ("x0", "x1", "x2")] == pytest.approx([0.9, 0.1, 0.0], abs=0.05)
    assert [found[name].total for name in ("x0", "x1", "x2")] == pytest.approx([0.9, 0.1, 0.0], abs=0.05)
    assert list(found) == ["x0", "x1", "x2"]


def test_parameters_that_act_together_only_have_no_main_effect() -> None:
    model = needed_landscape(learned(lambda u: (u[0] - 0.5) * (u[1] - 0.5), 2, 80))
    for each in model.importances:
        assert each.main < 0.1
        assert each.total > 0.8


@pytest.mark.parametrize("maximize", [False, True])
def test_slices_go_through_the_function(maximize: bool) -> None:
    sign = -1.0 if maximize else 1.0
    model = needed_landscape(learned(lambda u: sign * ((u[0] - 0.3) ** 2 + u[1]), 2, 60, maximize=maximize))
    first, second = model.slices({"x0": 1.0, "x1": 0.5})
    assert first.predicted.mean == pytest.approx(sign * ((np.array(first.values) / 2 - 0.3) ** 2 + 0.25), abs=0.02)
    assert second.predicted.mean == pytest.approx(sign * (0.04 + np.array(second.values) / 2), abs=0.02)
    assert (first.predicted.low <= first.predicted.mean).all()
    assert (first.predicted.mean <= first.predicted.high).all()


def test_a_contour_is_made_of_slices() -> None:
    model = needed_landscape(learned(lambda u: np.sin(4 * u[0]) * u[1], 2, 40))
    contour = model.contour("x0", "x1", {"x0": 1.0, "x1": 1.0})
    for row, value in list(enumerate(contour.y_values))[::6]:
        slices = model.slices({"x0": 0.0, "x1": value}, ["x0"])
        at = np.interp(contour.x_values, slices[0].values, slices[0].predicted.mean)
        assert contour.mean[row] == pytest.approx(at, abs=5e-3)


def test_slices_of_integers_and_choices_have_their_levels(record: Record) -> None:
    model = needed_landscape(record.optimizer)
    slices = {each.parameter: each for each in model.slices(record.result.best.params)}
    assert slices["units"].values == tuple(range(1, 10))
    assert slices["act"].values == record.optimizer.space.parameters["act"].values
    assert slices["lr"].values[0] == 1e-4
    assert slices["lr"].values[-1] == 1.0


def test_the_model_is_the_one_that_answers_in_python(record: Record) -> None:
    optimizer = record.optimizer
    best = record.result.best.params
    for each in needed_landscape(optimizer).slices(best):
        told = optimizer.model().predict([{**best, each.parameter: value} for value in each.values])
        assert each.predicted.mean == pytest.approx(told.mean, rel=1e-6)


def test_leaving_one_out_is_leaving_one_out(record: Record) -> None:
    model = needed_landscape(record.optimizer)
    model = replace(model, belief=model.belief.alone)
    gp = model.belief.gp
    for k in (0, 3, 7):
        rest = np.delete(np.arange(len(gp.y)), k)
        without = condition(
            gp.kernel, gp.noise, gp.X[rest], gp.y[rest] + gp.constant, constant=gp.constant, effects=gp.effects
        )
        mean, variance = without.predict(gp.X[[k]])
        found = model.left_out[k]
        assert found.mean == pytest.approx(float(mean[0]), abs=1e-6)
        assert found.std == pytest.approx(float(np.sqrt(variance[0] + gp.noise)), rel=1e-4)
        assert found.value == pytest.approx(gp.y[k] + gp.constant)
        assert found.number == model.numbers[k]


def test_a_strategy_without_a_model_gets_one_for_the_reader() -> None:
    optimizer = learned(lambda u: u[0], 2, 20, strategy="random")
    model = needed_landscape(optimizer)
    assert not model.own
    assert model.importances[0].parameter == "x0"


def test_too_few_results_make_no_model() -> None:
    with pytest.raises(NoModel):
        needed_landscape(learned(lambda u: u[0], 2, 2))


def test_of_many_results_the_model_tells_which_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aegisbo.strategies.surrogates.LEARNED_FROM", 30)
    monkeypatch.setattr("aegisbo.strategies.surrogates.CONDITIONED_ON", 40)
    optimizer = learned(lambda u: (u[0] - 0.3) ** 2, 1, 200)
    model = needed_landscape(optimizer)
    values = {trial.number: trial.value for trial in optimizer.observed}
    assert model.fitted == len(model.left_out) == 40
    told = model.measured(np.array([each.value for each in model.left_out]))
    np.testing.assert_allclose(told, [values[each.number] for each in model.left_out], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_decision_is_seen_as_it_was_made(tmp_path: Path, maximize: bool) -> None:
    """The mean at the point taken, of a model that is fitted anew, is the mean that was noted then."""
    record = Record.of_study(make_study(tmp_path / "run.db", 20, maximize=maximize))
    by_model = [trial for trial in record.trials if "mean" in trial.note]
    without_failures = 0
    for trial in by_model[::2]:
        found = decision_then(record, trial.number)
        assert found.taken[0] == pytest.approx(trial.note["mean"], rel=1e-6, abs=1e-9)
        assert list(found.pending) == list(record.decisions[trial.number].pending)
        sign = -1.0 if maximize else 1.0
        known = [t.value for t in record.ended[: record.decisions[trial.number].known]]
        if None not in known:  # else the chance to succeed counts, too
            without_failures += 1
            F = found.members * [sign, -1.0]
            # A point that was found twice may differ from itself in the last digit.
            beaten = (F[:, None] <= F).all(axis=2) & (F[:, None] < F - 1e-12).any(axis=2)
            assert not beaten.any()
        values = [value for value in known if value is not None]
        assert found.best == pytest.approx((max if maximize else min)(values), rel=1e-6)
    assert without_failures


def test_a_first_point_has_no_front(record: Record) -> None:
    assert decision_then(record, 0) is None
    with pytest.raises(TrialError, match="does not say how trial 999"):
        decision_then(record, 999)


@pytest.mark.parametrize("strategy", ["random", "aegis"])
def test_failures_leave_all_results_in(strategy: str) -> None:
    optimizer = learned(lambda u: u[0], 2, 12, strategy=strategy, preset="paper" if strategy == "aegis" else None)
    for k in range(60):
        point = optimizer.space.check([k / 60, 0.5])
        optimizer.apply(Observed(-1 - k, point, Outcome("failed", reason="no")))
    model = needed_landscape(optimizer)
    assert model.fitted == 12 + 60
    assert len(model.left_out) == 12
