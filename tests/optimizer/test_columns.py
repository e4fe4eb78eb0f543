"""What is kept in arrays equals what a loop over all trials would find."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegisbo import Int, Optimizer, Real
from aegisbo.outcome import FAILURES
from aegisbo.space import Space

SPACE = {"x": Real(-1.0, 3.0), "n": Int(1, 4)}
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "tell", "fail", "expire", "observe", "retry", "forget"]), st.integers(0))
)


def take(optimizer: Optimizer, step: str, which: int) -> None:
    value = float(which % 17) - 3.0
    number = which % max(len(optimizer.trials), 1)
    state = optimizer.trials[number].state if optimizer.trials else None
    if step == "ask":
        optimizer.ask()
    elif step == "observe":
        optimizer.observe({"x": 0.25, "n": 1 + which % 4}, value if which % 5 else np.inf)
    elif state == "pending" and step in ("tell", "fail", "expire"):
        {"tell": lambda: optimizer.tell(number, value), "fail": lambda: optimizer.fail(number, "no")}.get(
            step, lambda: optimizer.expire(number)
        )()
    elif state not in (None, "pending", "forgotten") and step == "retry":
        optimizer.retry(number)
    elif state not in (None, "forgotten") and step == "forget":
        optimizer.forget(number)


def require_as_from_scratch(optimizer: Optimizer) -> None:
    evidence, sign = optimizer.evidence(), -1.0 if optimizer.settings.maximize else 1.0
    everything = (*optimizer.observed, *optimizer.trials)
    done = [trial for trial in everything if trial.state == "done"]
    failed = [trial for trial in everything if trial.state in FAILURES]
    pending = [trial for trial in optimizer.trials if trial.state == "pending"]
    for points, trials in ((evidence.X, done), (evidence.failed, failed), (evidence.pending, pending)):
        rows = [optimizer.space.to_unit(trial.params) for trial in trials]
        np.testing.assert_array_equal(points, np.array(rows).reshape(-1, 2))
    np.testing.assert_array_equal(evidence.y, [sign * trial.value for trial in done])
    best = sign * min((sign * trial.value for trial in done), default=np.nan)
    ended = [sum(trial.number >= 0 for trial in some) for some in (done, failed)]
    assert optimizer.tally() == (*ended, best if done else None, None, 0)


@given(STEPS, st.booleans())
def test_evidence_and_counts_are_those_of_all_trials(steps, maximize):
    optimizer = Optimizer(SPACE, strategy="random", seed=1, n_initial=0, maximize=maximize)
    for step, which in steps:
        take(optimizer, step, which)
    require_as_from_scratch(optimizer)
    require_as_from_scratch(Optimizer.from_state(optimizer.state()))
    require_as_from_scratch(pickle.loads(pickle.dumps(optimizer)))


def filled(n: int) -> Optimizer:
    optimizer = Optimizer(SPACE, strategy="random", seed=1)
    for k in range(n):
        optimizer.tell(optimizer.ask(), float(k))
    return optimizer


def test_more_trials_than_there_was_room_for():
    require_as_from_scratch(filled(150))


def test_a_result_keeps_what_was_known_then():
    optimizer = filled(70)
    optimizer.ask()
    then = optimizer.result().optimizer
    optimizer.tell(70, -5.0)
    optimizer.ask()
    assert len(then.evidence().pending) == 1
    assert then.evidence().y.min() == 0.0
    then.tell(70, 3.0)
    require_as_from_scratch(then)
    require_as_from_scratch(optimizer)


def test_a_point_is_placed_on_the_cube_once(monkeypatch):
    """However many suggestions are made after it."""
    placed, real = [], Space.encoded
    monkeypatch.setattr(Space, "encoded", lambda self, params: placed.append(1) or real(self, params))
    filled(40).result()
    assert len(placed) == 40


@given(STEPS)
def test_excesses_and_times_are_those_of_all_trials(steps):
    optimizer = Optimizer(SPACE, strategy="random", seed=1, n_initial=0, limits=["a <= 1", "b > 2"])
    for step, which in steps:
        number = which % max(len(optimizer.trials), 1)
        if step == "tell" and optimizer.trials and optimizer.trials[number].state == "pending":
            measured = {"a": float(which % 3), "b": float(which % 5)}
            optimizer.tell(number, 1.0, seconds=float(which % 4), measured=measured)
        elif step != "observe":
            take(optimizer, step, which)
    done = [trial.measured for trial in optimizer.trials if trial.state == "done"]
    timed = [trial for trial in optimizer.trials if trial.state in ("done", "invalid", "timed_out") and trial.seconds]
    for each in (optimizer, Optimizer.from_state(optimizer.state())):
        evidence = each.evidence(within=5.0)
        beyond = [[row["a"] - 1.0, 2.0 - row["b"] + np.spacing(2.0) * (row["b"] == 2.0)] for row in done]
        np.testing.assert_array_equal(evidence.excess, np.array(beyond).reshape(-1, 2))
        assert evidence.timing.seconds.tolist() == [trial.seconds for trial in timed]
        points = [optimizer.space.to_unit(trial.params) for trial in timed]
        np.testing.assert_array_equal(evidence.timing.X, np.array(points).reshape(-1, 2))
