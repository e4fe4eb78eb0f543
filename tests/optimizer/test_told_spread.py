"""Values with a standard deviation of their own, from `tell` and `observe` to the model and back from a file."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput
from aegisbo.events import ended, read_event
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import Outcome

BOX = [(-5, 10), (2, 3)]


def truth(x) -> float:
    return float((x[0] - 1.0) ** 2 + 30.0 * (x[1] - 2.7) ** 2)


def filled(n: int = 14, *, sd: float | None = None, maximize: bool = False, preset: str = "modern") -> Optimizer:
    """An optimizer that knows the function at some points exactly, but was told that this is only about right."""
    optimizer = Optimizer(BOX, seed=4, n_initial=0, maximize=maximize, preset=preset)
    for u in np.random.default_rng(1).random((n, 2)):
        x = optimizer.space.from_unit(u)
        optimizer.observe(x, -truth(x) if maximize else truth(x), sd=sd)
    return optimizer


def test_a_spread_is_kept_with_its_trial_and_shown_to_the_strategy():
    optimizer = filled(3)
    trial = optimizer.tell(optimizer.ask(), 7.0, sd=0.5)
    optimizer.tell(optimizer.ask(), 3.0)
    optimizer.observe((0.0, 2.5), 4.0, sd=0.25)
    assert (trial.sd, optimizer.observed[-1].sd) == (0.5, 0.25)
    assert_array_equal(optimizer.evidence().sd, [0.0, 0.0, 0.0, 0.25, 0.5, 0.0])
    again = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    assert again.trials == optimizer.trials
    assert_array_equal(again.evidence().sd, optimizer.evidence().sd)
    assert again.ask() == optimizer.ask()
    assert optimizer.forget(0).sd is None
    assert optimizer.retry(1).sd is None


def test_without_a_spread_nothing_is_shown():
    assert filled().evidence().sd is None
    zero = filled(sd=0.0)
    assert zero.evidence().sd is None
    assert zero.ask() == filled().ask()


@pytest.mark.long
@pytest.mark.parametrize("preset", ["modern", "adaptive"])
def test_the_model_trusts_a_value_as_far_as_its_spread_allows(preset):
    lucky, place = -60.0, (4.0, 2.2)
    means = {}
    for sd in (0.01, 5.0, 1000.0):
        optimizer = filled(25, preset=preset)
        optimizer.observe(place, lucky, sd=sd)
        means[sd] = optimizer.predict(place).mean
    untold = filled(25, preset=preset).predict(place).mean
    assert means[0.01] == pytest.approx(lucky, abs=2.0)
    assert means[1000.0] == pytest.approx(untold, abs=3.0)
    assert means[5.0] > means[0.01] + 20.0


@pytest.mark.parametrize("maximize", [False, True])
def test_a_spread_bends_with_the_scale_of_the_outputs(maximize):
    """On the model's scale it is what becomes of a small step up or down."""
    optimizer = filled(20, sd=0.3, maximize=maximize)
    evidence, belief = optimizer.evidence(), optimizer.model().belief
    step = 1e-6
    slope = (belief.scale.standardized(evidence.y + step) - belief.scale.standardized(evidence.y - step)) / (2 * step)
    inside = np.abs(evidence.y - np.median(evidence.y)) > 0.1
    assert_allclose(belief.gp.extra[inside], (0.3 * slope[inside]) ** 2, rtol=1e-4)


@pytest.mark.parametrize("sd", [-1.0, np.nan, np.inf, "wide", True])
def test_what_is_no_spread_is_refused(sd):
    optimizer = Optimizer(BOX)
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match=r"sd is .*: give the standard deviation"):
        optimizer.tell(trial, 1.0, sd=sd)
    with pytest.raises(InvalidInput, match="sd is"):
        optimizer.observe((0.0, 2.5), 1.0, sd=sd)
    assert trial in optimizer.pending


@pytest.mark.long
def test_many_data_have_their_spread_too():
    optimizer = filled(520, sd=2.0)
    assert len(optimizer.model().belief.gp.extra) == 520


def test_a_study_keeps_it():
    told = ended(0, Outcome("done", 2.0, sd=0.5, details={"a": 1}), 3.0)
    event = read_event(9, told.kind, 0, 0.0, json.loads(json.dumps(told.body)))
    assert event == replace(told, id=9)
    living = Optimizer(BOX, seed=1)
    living.ask()
    living.apply(event)
    assert (living.trials[0].sd, living.trials[0].details) == (0.5, {"a": 1})
    assert not {"sd", "details"} & set(ended(0, Outcome("done", 2.0), 3.0).body)  # old readers see what they know


def test_a_table_has_a_column_for_it_if_there_is_one():
    pytest.importorskip("pandas")
    optimizer = filled(3)
    optimizer.tell(optimizer.ask(), 7.0)
    assert "sd" not in optimizer.result().to_pandas()
    optimizer.tell(optimizer.ask(), 7.0, sd=0.5)
    assert optimizer.result().to_pandas()["sd"].tolist()[1] == 0.5


def test_a_trial_without_a_value_has_none():
    assert Trial(0, None, {}).after(Outcome("invalid", sd=0.5)).sd is None


@pytest.mark.parametrize("values", [(1.0, 2.0, 5.0), (0.0, 1e-320, 3e-320)])
@pytest.mark.parametrize("sds", [(1e200, 1e300, 1e308), (None, 1e300, 1e-5)])
def test_a_spread_beyond_all_sense_does_not_end_the_run(values, sds):
    optimizer = Optimizer(BOX, seed=4, n_initial=0)
    for u, value, sd in zip(np.random.default_rng(1).random((6, 2)), values * 2, sds * 2, strict=True):
        optimizer.observe(optimizer.space.from_unit(u), value, sd=sd)
    assert np.isfinite(optimizer.ask().x).all()
    assert np.isfinite(optimizer.predict((0.0, 2.5)).mean)
