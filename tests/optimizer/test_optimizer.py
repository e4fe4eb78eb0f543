from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, SpaceExhausted, TrialError, UnknownName
from aegisbo.optimizer import settings as module
from aegisbo.optimizer.policy import Role
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.strategies.base import Evidence, Suggestion

BOX = [(-5, 10), (2, 3)]
MIXED = {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512, log=True), "act": Choice(["relu", "tanh"])}
TINY = {"a": Int(0, 1), "b": Choice(["u", "v"])}


@dataclass(frozen=True)
class Toy:
    """A step from the best point, shorter each time: it needs the evidence, its memory and the random numbers."""

    def suggest(self, evidence: Evidence, memory, rng) -> Suggestion:
        count = memory.get("count", 0)
        center = np.vstack([evidence.X[[evidence.y.argmin()]], evidence.pending]).mean(axis=0)
        step = rng.normal(size=evidence.cube.width) / (2 + count)
        x = evidence.cube.round(np.clip(center + step, 0, 1)[None])[0]
        return Suggestion(x, {"count": count + 1, "last": x.tolist()}, {"move": "step", "count": count})


class Spy:
    """Remembers what it was shown, and returns a random point."""

    def __init__(self) -> None:
        self.seen: list[Evidence] = []

    def suggest(self, evidence: Evidence, memory, rng) -> Suggestion:
        self.seen.append(evidence)
        return Suggestion(evidence.cube.fill(rng.random((1, evidence.cube.parameters)))[0], note={"move": "random"})


def ready(space=BOX, strategy=None, **options) -> Optimizer:
    """An optimizer that has data enough for its strategy."""
    options = {"seed": 1, "n_initial": 0, **options}
    optimizer = Optimizer(space, strategy=Spy() if strategy is None else strategy, **options)
    for u in np.random.default_rng(5).random((optimizer.space.cube.parameters + 1, optimizer.space.cube.width)):
        optimizer.observe(optimizer.space.from_unit(u), float(u.sum()))
    return optimizer


# The first points


def test_the_first_points_are_a_latin_hypercube_in_the_users_box():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=3)
    X = np.array([optimizer.ask().x for _ in range(4)])
    for column, (low, high) in zip(X.T, BOX, strict=True):
        assert sorted(np.floor((column - low) / (high - low) * 4)) == [0, 1, 2, 3]
    assert all(trial.note == {"move": "initial"} for trial in optimizer.trials)


def test_asks_that_outrun_the_data_go_on_filling_the_space():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=3)
    trials = [optimizer.ask() for _ in range(50)]
    assert [trial.number for trial in trials] == list(range(50))
    assert {trial.note["move"] for trial in trials} == {"initial"}
    assert len({tuple(trial.x) for trial in trials}) == 50
    U = (np.array([trial.x for trial in trials[4:36]]) - [-5, 2]) / [15, 1]  # 32 points of one Sobol sequence
    for k in (0, 1):
        assert sorted(np.floor(U[:, k] * 32)) == list(range(32))
    assert optimizer.pending == tuple(trials)


@pytest.mark.parametrize("n_initial", [0, 1, 4])
def test_the_strategy_takes_over_at_d_plus_1_results_after_the_design(n_initial):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0, n_initial=n_initial)
    moves = []
    for _ in range(8):
        trial = optimizer.ask()
        moves.append(trial.note["move"])
        optimizer.tell(trial, float(trial.x.sum()))
    first = max(n_initial, 3)
    assert moves == ["initial"] * first + ["step"] * (8 - first)


def test_failures_are_no_results_to_start_from():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0, n_initial=0)
    for _ in range(6):
        trial = optimizer.ask()
        assert trial.note["move"] == "initial"
        optimizer.fail(trial, "diverged")


def test_observed_data_are_results():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0, n_initial=0)
    for x in ([-5, 2], [10, 2], [0, 3]):
        assert optimizer.ask().note["move"] == "initial"
        optimizer.observe(x, 1.0)
    assert optimizer.ask().note["move"] == "step"


def test_given_points_come_first_and_exactly():
    points = np.array([[0.1, 2.3], [9.7, 2.9]])
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0, initial=points, n_initial=5)
    trials = [optimizer.ask() for _ in range(5)]
    assert [tuple(trial.x) for trial in trials[:2]] == [(0.1, 2.3), (9.7, 2.9)]
    assert sorted(np.floor([(trial.x[1] - 2) * 3 for trial in trials[2:]])) == [0, 1, 2]
    assert Optimizer(BOX, strategy=Toy(), initial=points).settings.n_initial == 2
    assert Optimizer(MIXED, strategy=Toy()).settings.n_initial == 6


def test_the_first_points_of_a_small_space_differ():
    optimizer = Optimizer(TINY, strategy=Toy(), seed=0)
    assert len({tuple(optimizer.ask().params.values()) for _ in range(4)}) == 4


# Random numbers by address


def test_the_address_is_seed_role_and_trial_number():
    optimizer = ready(seed=6)
    for number in range(3):
        u = np.random.default_rng([6, Role.STRATEGY, number]).random((1, 2))[0]
        np.testing.assert_array_equal(optimizer.ask().x, optimizer.space.from_unit(u))
    assert [role.value for role in Role] == [0, 1, 2, 3, 4, 5]  # stored runs depend on them


def test_draws_belong_to_the_trial_whatever_happened_before():
    lazy, busy = ready(), ready()
    for _ in range(5):
        lazy.ask()
    for number in range(5):
        busy.ask()
        if number % 2:
            busy.tell(number, -1.0)
    assert lazy.trials[4] == busy.trials[4]
    np.testing.assert_array_equal(lazy.trials[4].x, busy.trials[4].x)


def test_another_seed_gives_other_points():
    x = [Optimizer(BOX, strategy=Toy(), seed=seed).ask().params["x0"] for seed in (0, 1, 0)]
    assert x[0] == x[2] != x[1]


def test_a_seed_is_drawn_once_and_kept():
    first = Optimizer(BOX, strategy=Toy())
    assert first.seed != Optimizer(BOX, strategy=Toy()).seed
    assert Optimizer(BOX, strategy=Toy(), seed=first.seed).ask() == first.ask()


# What the strategy sees


@given(st.permutations(range(6)))
def test_evidence_is_in_trial_order_whoever_ends_first(order):
    optimizer = ready(strategy=Spy())
    trials = [optimizer.ask() for _ in range(6)]
    for number in order:
        if number in (1, 3):
            optimizer.fail(number, "diverged")
        elif number != 4:
            optimizer.tell(number, float(number))
    evidence = optimizer.evidence()
    points = [optimizer.space.to_unit(trial.x) for trial in trials]
    np.testing.assert_array_equal(evidence.y[3:], [0, 2, 5])
    np.testing.assert_array_equal(evidence.X[3:], [points[0], points[2], points[5]])
    np.testing.assert_array_equal(evidence.failed, [points[1], points[3]])
    np.testing.assert_array_equal(evidence.pending, [points[4]])


def test_the_strategy_is_shown_the_evidence():
    spy = Spy()
    optimizer = ready(MIXED, spy)
    for _ in range(3):
        optimizer.ask()
    evidence = spy.seen[-1]
    assert evidence.X.shape == (4, 4)
    assert evidence.y.shape == (4,)
    assert evidence.failed.shape == (0, 4)
    assert evidence.pending.shape == (2, 4)
    assert evidence.cube == Space(MIXED).cube


def test_observed_points_come_first_even_if_observed_later():
    optimizer = Optimizer(BOX, strategy=Spy(), seed=0)
    optimizer.tell(optimizer.ask(), 7.0)
    seen = optimizer.observe({"x0": 1, "x1": 2.5}, 3)
    optimizer.observe([2, 2.5], math.nan)
    assert (seen.number, seen.state, seen.value, seen.note) == (-1, "done", 3.0, {"move": "observed"})
    evidence = optimizer.evidence()
    np.testing.assert_array_equal(evidence.y, [3, 7])
    np.testing.assert_allclose(evidence.X[0], [6 / 15, 0.5])
    np.testing.assert_allclose(evidence.failed, [[7 / 15, 0.5]])
    assert [trial.number for trial in optimizer.observed] == [-1, -2]
    assert len(optimizer.trials) == 1


def test_a_maximizing_user_is_negated_for_the_strategy_only():
    optimizer = Optimizer(BOX, strategy=Spy(), seed=0, maximize=True)
    for value in (1.0, 5.0, 2.0):
        optimizer.tell(optimizer.ask(), value)
    np.testing.assert_array_equal(optimizer.evidence().y, [-1, -5, -2])
    assert [trial.value for trial in optimizer.trials] == [1.0, 5.0, 2.0]
    assert optimizer.best == optimizer.trials[1]
    assert optimizer.result().fun == 5.0


def test_the_best_is_the_smallest_and_may_be_observed():
    optimizer = Optimizer(BOX, strategy=Spy(), seed=0)
    assert optimizer.best is None
    for value in (3.0, 1.0, 1.0, math.nan):
        optimizer.tell(optimizer.ask(), value)
    assert optimizer.best == optimizer.trials[1]
    observed = optimizer.observe([0, 2.5], 0.5)
    assert optimizer.best == observed


def test_one_blas_thread_inside_suggest_and_as_many_as_before_outside():
    threads = []

    class Curious(Spy):
        def suggest(self, evidence, memory, rng):
            threads.extend(blas_threads())
            return super().suggest(evidence, memory, rng)

    def blas_threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        ready(strategy=Curious()).ask()
        assert blas_threads() == before
    assert max(before) == 2
    assert set(threads) == {1}


# The end of a trial


def test_a_trial_ends_once_by_number_or_by_itself():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    first, second = optimizer.ask(), optimizer.ask()
    assert optimizer.tell(np.int64(0), np.float32(0.5)) == optimizer.trials[0]
    assert (optimizer.trials[0].state, optimizer.trials[0].value) == ("done", 0.5)
    assert first.state == "pending"  # a trial is a value; the optimizer holds the newest
    optimizer.tell(second, 2)
    assert type(optimizer.trials[1].value) is float
    assert optimizer.pending == ()
    with pytest.raises(TrialError, match=r"Trial 0 has already ended \(done\): to add data, use observe\."):
        optimizer.tell(first, 1.0)
    with pytest.raises(TrialError, match="Trial 1 has already ended"):
        optimizer.fail(1, "late")


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_unknown_trials_are_refused(number):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    optimizer.ask(), optimizer.ask()
    optimizer.observe([0, 2.5], 1.0)
    for end in (
        lambda: optimizer.tell(number, 1.0),
        lambda: optimizer.fail(number, "x"),
        lambda: optimizer.expire(number),
    ):
        with pytest.raises(TrialError, match=f"Trial {number} was never asked for: 2 trials are known"):
            end()


@pytest.mark.parametrize("what", ["0", 0.0, None, True])
def test_only_trials_and_numbers_name_a_trial(what):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    optimizer.ask()
    with pytest.raises(InvalidInput, match="Expected a trial or its number, got"):
        optimizer.tell(what, 1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan"), 10**400, np.array(np.nan)])
def test_values_that_are_not_finite_are_invalid(value):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    trial = optimizer.tell(optimizer.ask(), value)
    assert (trial.state, trial.value) == ("invalid", None)
    assert re.fullmatch(r"The function returned (nan|inf|-inf): it must return a finite number\.", trial.reason)
    assert len(optimizer.evidence().failed) == 1


@pytest.mark.parametrize("value", ["1.0", None, True, np.bool_(True), np.array([1.0, 2.0]), 1j, [1.0]])
def test_values_that_are_no_numbers_are_refused_and_the_trial_stays(value):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    trial = optimizer.ask()
    with pytest.raises(
        InvalidInput, match=r"The value of a trial must be a number, got .*: use float\(\.\.\.\), or call fail"
    ):
        optimizer.tell(trial, value)
    with pytest.raises(InvalidInput, match="The value of a trial must be a number"):
        optimizer.observe([0, 2.5], value)
    assert optimizer.pending == (trial,)
    assert optimizer.observed == ()


@pytest.mark.parametrize("value", [3, np.int64(3), np.float32(3), np.array(3.0), np.array([3.0]), Fraction(3)])
def test_numbers_of_all_kinds_are_values(value):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    told = optimizer.tell(optimizer.ask(), value).value
    assert told == 3.0
    assert type(told) is float


@pytest.mark.parametrize("state", ["failed", "invalid", "timed_out"])
def test_failures_are_kept_apart(state):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    trial = optimizer.fail(optimizer.ask(), ValueError("diverged"), state=state)
    assert (trial.state, trial.value, trial.reason) == (state, None, "diverged")
    np.testing.assert_array_equal(optimizer.evidence().failed, [optimizer.space.to_unit(trial.x)])


@pytest.mark.parametrize("state", ["fialed", "done", "lost"])
def test_a_trial_cannot_fail_in_unknown_ways(state):
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    with pytest.raises(UnknownName, match=f"Unknown way to fail '{state}'"):
        optimizer.fail(optimizer.ask(), "x", state=state)


def test_a_lost_trial_is_free_but_its_late_value_counts():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    for _ in range(2):
        optimizer.expire(optimizer.ask())
    evidence = optimizer.evidence()
    assert (len(evidence.pending), len(evidence.failed), len(evidence.y)) == (0, 0, 0)
    assert optimizer.trials[0].reason == "lost"
    with pytest.raises(TrialError, match=r"Trial 0 has already ended \(lost\)"):
        optimizer.expire(0)
    told = optimizer.tell(0, 4.0)
    assert (told.state, told.value, told.reason) == ("done", 4.0, None)
    assert optimizer.fail(1, "diverged").state == "failed"
    np.testing.assert_array_equal(optimizer.evidence().y, [4.0])


def test_a_value_counts_even_after_its_time_was_out():
    optimizer = Optimizer(BOX, strategy=Toy(), seed=0)
    optimizer.fail(optimizer.ask(), "took too long", state="timed_out")
    for end in (
        lambda: optimizer.expire(0),
        lambda: optimizer.fail(0, "diverged"),
        lambda: optimizer.tell(0, math.nan),
    ):
        with pytest.raises(TrialError, match=r"Trial 0 has already ended \(timed_out\)"):
            end()
    assert optimizer.tell(0, 4.0).state == "done"
    evidence = optimizer.evidence()
    assert (len(evidence.y), len(evidence.failed)) == (1, 0)


# Finite spaces


def test_an_exhausted_space_says_so():
    optimizer = Optimizer(TINY, strategy=Spy(), seed=0)
    asked = [optimizer.ask() for _ in range(4)]
    with pytest.raises(SpaceExhausted, match="All 4 points are evaluated or pending: widen the space or stop"):
        optimizer.ask()
    optimizer.tell(0, 1.0)
    optimizer.fail(1, "diverged")
    with pytest.raises(SpaceExhausted):
        optimizer.ask()
    optimizer.expire(2)
    assert optimizer.ask().params == asked[2].params


def test_observed_points_exhaust_a_space_too():
    optimizer = Optimizer(TINY, strategy=Spy(), seed=0)
    for a in (0, 1):
        for b in ("u", "v"):
            optimizer.observe({"a": a, "b": b}, 1.0)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


# What is evaluated is what is known


@pytest.mark.parametrize("space", [BOX, MIXED, [(-5, 10), Int(2, 8, step=3)]])
def test_a_trial_holds_its_point_in_both_forms(space):
    optimizer = ready(space, Toy())
    trial = optimizer.ask()
    assert trial.params == optimizer.space.check(trial.x)
    assert isinstance(trial.x, np.ndarray if space is BOX else type(space))
    json.dumps(trial.describe())
    np.testing.assert_array_equal(optimizer.evidence().pending, [optimizer.space.to_unit(trial.params)])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Suggestion(np.array([0.5]), {"count": 1}), "suggested no point: A point of the cube must have shape (2,)"),
        (Suggestion(np.array([0.5, np.nan])), "suggested no point: A point of the cube holds nan"),
        (Suggestion("here"), "suggested no point: A point of the cube must hold numbers only, got 'here'"),
        (Suggestion(np.array([0.5, 1.5])), "left the unit cube with [0.5, 1.5]: clip points to [0, 1]"),
        (np.array([0.5, 0.5]), "must return a Suggestion, got array([0.5, 0.5])"),
        (None, "must return a Suggestion, got None"),
        (Suggestion(np.array([0.5, 0.5]), {"z": np.zeros(2)}), "gave a memory or a note that is not JSON (Object of"),
    ],
)
def test_a_point_that_cannot_be_used_names_the_strategy_and_leaves_no_trace(answer, message):
    class Broken(Spy):
        def __repr__(self):
            return "Broken(7)"

        def suggest(self, evidence, memory, rng):
            return answer

    optimizer = ready(strategy=Broken())
    with pytest.raises(InvalidInput, match=re.escape(f"The strategy Broken(7) {message}")):
        optimizer.ask()
    assert optimizer.trials == ()
    assert optimizer.memory == {}


def test_memory_is_handed_on_from_ask_to_ask():
    optimizer = ready(strategy=Toy())
    assert [optimizer.ask().note["count"] for _ in range(3)] == [0, 1, 2]
    assert optimizer.memory["count"] == 3


# Stop, store, go on


def run(optimizer: Optimizer, steps: int) -> Optimizer:
    """Trials that end out of order, fail or get lost, and data from elsewhere in between."""
    for _ in range(steps):
        number = optimizer.ask().number
        if number % 3 == 2:
            for ended in (number, number - 2):
                optimizer.tell(ended, float(len(str(optimizer.trials[ended].params))))
        if number in (4, 13):
            optimizer.fail(number, "diverged", state="timed_out")
        if number % 7 == 6:
            optimizer.observe(optimizer.space.from_unit(np.full(optimizer.space.cube.width, 0.3)), 30.0)
        if number == 10:
            optimizer.expire(number)
    return optimizer


@pytest.mark.parametrize("space", [BOX, MIXED, [Int(-5, 1000), (2, 3)]])
@pytest.mark.parametrize("stop", [0, 2, 5, 9, 14])
def test_stop_store_and_go_on_equals_never_stopping(space, stop):
    def fresh() -> Optimizer:
        return Optimizer(space, strategy=Toy(), seed=8, maximize=True)

    whole = run(fresh(), 25)
    part = run(fresh(), stop)
    text = json.dumps(part.state())
    again = Optimizer.from_state(json.loads(text), strategy=Toy())
    assert json.dumps(again.state()) == text
    run(again, 25 - stop)
    assert again.state() == whole.state()
    assert again.trials == whole.trials
    np.testing.assert_array_equal(again.evidence().X, whole.evidence().X)
    assert {trial.state for trial in whole.trials} == {"pending", "done", "timed_out", "lost"}


def test_a_named_strategy_is_stored_by_name(monkeypatch):
    resolved = []

    def resolve(text, preset):
        resolved.append((text, preset))
        return Toy()

    monkeypatch.setattr(module, "resolve", resolve)
    monkeypatch.setattr(module, "DEFAULT_PRESET", "plain")
    optimizer = Optimizer(BOX, seed=0, initial=[[0.1, 2.3]])
    state = optimizer.state()
    assert (state["strategy"], state["preset"]) == ("aegis", "plain")
    again = Optimizer.from_state(state)
    Optimizer(BOX, strategy="random", preset="fancy")
    assert list(dict.fromkeys(resolved)) == [("aegis", None), ("aegis", "plain"), ("random", "fancy")]
    assert [again.ask() for _ in range(3)] == [optimizer.ask() for _ in range(3)]
    with pytest.raises(InvalidInput, match=r"stored with strategy='aegis', got Toy\(\): leave the argument out"):
        Optimizer.from_state(state, strategy=Toy())


def test_a_strategy_object_must_be_passed_again():
    state = Optimizer(BOX, strategy=Toy()).state()
    with pytest.raises(InvalidInput, match="stored with strategy=None, got None: pass the object that the run had"):
        Optimizer.from_state(state)


def test_a_state_of_another_format_is_refused():
    with pytest.raises(InvalidInput, match="The state has format 99, not 1: use the aegisbo that wrote it"):
        Optimizer.from_state({"format": 99})


def test_a_state_is_a_copy():
    optimizer = ready(strategy=Toy())
    optimizer.ask()
    state = optimizer.state()
    state["memory"]["count"] = 77
    state["trials"][0]["params"]["x0"] = 77
    assert optimizer.memory["count"] == 1
    assert optimizer.trials[0].params["x0"] != 77


# What is refused at the door


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be an integer from 0 upwards, or None, got -1."),
        ({"seed": 0.5}, "seed must be an integer from 0 upwards, or None, got 0.5."),
        ({"n_initial": -2}, "n_initial must be an integer from 0 upwards, or None, got -2."),
        ({"n_initial": True}, "n_initial must be an integer"),
        (
            {"initial": [[0, 2.5], [1, 2.5]], "n_initial": 1},
            "n_initial=1 is less than the 2 initial points: leave it out.",
        ),
        ({"initial": [0, 2.5]}, "x must hold 2 values, got 0."),
        ({"initial": [[0, 9]]}, "Parameter 'x1': 9.0 is not within [2.0, 3.0]"),
        ({"preset": "paper"}, "preset='paper' goes with the name of a strategy, not with Toy(): give it to the object"),
        ({"strategy": None}, "strategy must be a name or an object with a method suggest, got None."),
    ],
)
def test_bad_options_are_refused_with_a_remedy(options, message):
    with pytest.raises(InvalidInput) as error:
        Optimizer(BOX, **{"strategy": Toy(), **options})
    assert message in str(error.value)
