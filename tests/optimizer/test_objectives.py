"""Several objectives: what a user may give, what a trial tells, which trials are on the front, what is stored."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer, Space, Trial
from aegisbo.errors import InvalidInput, SeveralObjectives, StudyError
from aegisbo.events import Ended, read_event
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.objectives import Objective, objectives_of
from aegisbo.optimizer.settings import Settings
from aegisbo.outcome import Outcome, Wanted, judged

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}
OBJECTIVES = {"accuracy": "max", "latency": "min"}
WANTED = Wanted(("accuracy", "latency"))


def measured(params: Any) -> dict[str, float]:
    return {"accuracy": -((params["a"] - 1.0) ** 2), "latency": (params["a"] - 3.0) ** 2 + params["b"]}


def run(count: int = 20, **options: Any) -> Optimizer:
    optimizer = Optimizer(SPACE, strategy="random", objectives=OBJECTIVES, seed=3, **options)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, measured(trial.params))
    return optimizer


def undominated(trials: Sequence[Trial]) -> list[int]:
    """By the definition: nobody is at least as good in both and better in one."""
    points = {trial.number: (-trial.measured["accuracy"], trial.measured["latency"]) for trial in trials}
    beaten = {n for n, p in points.items() if any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points.values())}
    return sorted(set(points) - beaten, key=lambda number: points[number])


def test_a_mapping_and_texts_mean_the_same_objectives() -> None:
    expected = (Objective("accuracy", maximize=True), Objective("latency", maximize=False))
    assert objectives_of(OBJECTIVES, Space(SPACE)) == expected
    assert objectives_of({"accuracy": "maximize", "latency": "minimize"}, Space(SPACE)) == expected
    assert objectives_of([each.text for each in expected], Space(SPACE)) == expected
    assert objectives_of(expected, Space(SPACE)) == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"accuracy": "max"}, "'accuracy' is the only objective: leave objectives out, .* give maximize=True"),
        (dict.fromkeys("vwxyz", "min"), r"There are 5 objectives \(v, w, x, y, z\): give two to 4"),
        ({"a": "min", "loss": "min"}, "'a' has the name of a parameter: rename"),
        ({"sd": "min", "loss": "min"}, "cannot be called 'sd'"),
        ({"loss": "down", "size": "min"}, "'loss' is to be 'down': write 'min' or 'max'"),
        ({"loss": True, "size": "min"}, "'loss' is to be True: write 'min' or 'max'"),
        ("accuracy max", "must be a mapping such as .*, got 'accuracy max'"),
        (7, "must be a mapping such as .*, got 7"),
        (["accuracy", "latency"], "'accuracy' cannot be read: write a name and min or max"),
        (["loss min", "loss max"], "'loss' is given twice"),
        ({"top 1": "max", "loss": "min"}, "is one word, such as 'latency', got 'top 1'"),
    ],
)
def test_what_cannot_be_objectives_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Optimizer(SPACE, objectives=given, strategy="random")


def test_what_is_about_one_number_is_refused_beside_objectives() -> None:
    with pytest.raises(InvalidInput, match="maximize=True is about one number"):
        Optimizer(SPACE, objectives=OBJECTIVES, strategy="random", maximize=True)
    with pytest.raises(
        InvalidInput, match=r"go with the strategies aegis, thompson and random: .* looks at one number only"
    ):
        Optimizer(SPACE, objectives=OBJECTIVES, strategy="ei")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"accuracy": 0.9}, "did not measure latency, which is an objective: return {'accuracy': ..., 'latency': ...}"),
        ({"acuracy": 0.9, "latency": 1.0}, "did not measure accuracy, .* It gave {'acuracy': 0.9, 'latency': 1.0}"),
        ({"accuracy": math.nan, "latency": 1.0}, "measured accuracy = nan: it must be a finite number"),
        ({"accuracy": "high", "latency": 1.0}, "measured accuracy = 'high'"),
        (0.9, "did not measure accuracy, .* It gave 0.9"),
        ((0.9, 1.0), "did not measure accuracy, .* It gave"),
        ({"accuracy": 0.9, "latency": 1.0, "sd": 0.1}, "sd = 0.1: with several objectives leave sd out"),
    ],
)
def test_an_answer_without_all_objectives_is_invalid_and_says_why(answer: object, said: str) -> None:
    outcome = judged(answer, WANTED)
    assert outcome.state == "invalid"
    assert re.search(said.replace("...", r"\.\.\.").replace("{", r"\{"), outcome.reason), outcome.reason


def test_an_answer_may_hold_more_than_the_objectives() -> None:
    answer = {"accuracy": np.float32(0.5), "latency": 3, "size": 7.0}
    assert judged(answer, WANTED) == Outcome("done", None, measured={"accuracy": 0.5, "latency": 3.0, "size": 7.0})
    assert judged((answer, {"heat": 1.0}), WANTED).measured["heat"] == 1.0


def test_what_is_told_is_shown_to_the_strategy_as_columns_to_be_minimized() -> None:
    optimizer = run(5)
    evidence = optimizer.evidence()
    told = [measured(trial.params) for trial in optimizer.trials]
    np.testing.assert_array_equal(evidence.y, [[-each["accuracy"], each["latency"]] for each in told])
    np.testing.assert_array_equal(evidence.of(1).y, [each["latency"] for each in told])
    assert all(trial.value is None and trial.state == "done" for trial in optimizer.trials)
    assert "accuracy=" in repr(optimizer.trials[0])


def test_telling_something_else_is_refused_or_makes_the_trial_invalid() -> None:
    optimizer = run(3)
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match=r"several objectives, got the value 0.9: give {'accuracy': ..., 'latency'"):
        optimizer.tell(trial, 0.9)
    with pytest.raises(InvalidInput, match=r"sd is 0\.1: with several objectives leave sd out"):
        optimizer.tell(trial, {"accuracy": 0.9, "latency": 1.0}, sd=0.1)
    with pytest.raises(InvalidInput, match="The value has latency = 'slow'"):
        optimizer.tell(trial, {"accuracy": 0.9, "latency": "slow"})  # type: ignore[dict-item]
    ended = optimizer.tell(trial, {"accuracy": 0.9})
    assert ended.state == "invalid"
    assert "latency, which is an objective" in str(ended.reason)
    assert len(optimizer.evidence().y) == 3
    assert len(optimizer.evidence().failed) == 1


def test_the_front_is_what_nobody_beats_sorted_by_the_first_objective() -> None:
    optimizer = run(40)
    result = optimizer.result()
    assert [trial.number for trial in result.front] == undominated(result.trials)
    assert 1 < len(result.front) < 40
    assert optimizer.tally().front == len(result.front)


def test_of_equal_trials_the_first_is_on_the_front() -> None:
    optimizer = run(0)
    for _ in range(3):
        optimizer.tell(optimizer.ask(), {"accuracy": 1.0, "latency": 2.0})
    assert [trial.number for trial in optimizer.result().front] == [0]


def test_what_breaks_a_limit_is_not_on_the_front() -> None:
    optimizer = run(40, limits=["latency <= 8", "accuracy >= -4"])
    fair = [t for t in optimizer.trials if t.measured["latency"] <= 8.0 and t.measured["accuracy"] >= -4.0]
    result = optimizer.result()
    assert [trial.number for trial in result.front] == undominated(fair)
    assert result.success
    strict = run(5, limits=["latency <= -1"]).result()
    assert (strict.front, strict.success) == ((), False)
    assert "No evaluation has kept all limits." in strict.message


def test_observed_points_may_be_on_the_front() -> None:
    optimizer = run(4)
    optimizer.observe({"a": 1.0, "b": 2.0}, {"accuracy": 100.0, "latency": -100.0})
    assert [trial.number for trial in optimizer.result().front] == [-1]
    broken = run(0, constraints=["a > 1.5"])
    broken.observe({"a": 1.0, "b": 2.0}, {"accuracy": 100.0, "latency": -100.0})
    assert broken.result().front == ()


def test_a_result_of_several_objectives_has_no_single_best() -> None:
    result = run(5).result()
    for name in ("x", "fun", "best"):
        with pytest.raises(SeveralObjectives, match=f"several objectives, so there is no {name}: use front"):
            getattr(result, name)
        assert not hasattr(result, name)
    assert "front:" in repr(result)
    assert "front" in repr(result.optimizer)
    assert "front" in result._repr_html_()


def test_a_stored_optimizer_goes_on_with_its_objectives() -> None:
    optimizer = run(8, limits=["latency <= 50"])
    again = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    assert again.settings == optimizer.settings
    assert again.result().front == optimizer.result().front
    assert again.ask() == optimizer.ask()
    assert "objectives" not in Optimizer(SPACE).state()  # older versions read it


def test_what_is_forgotten_or_retried_leaves_the_front() -> None:
    optimizer = run(40)
    first, second, *_ = (trial.number for trial in optimizer.result().front)
    optimizer.forget(first)
    optimizer.retry(second)
    left = [trial for trial in optimizer.trials if trial.state == "done"]
    assert [trial.number for trial in optimizer.result().front] == undominated(left)
    assert len(optimizer.evidence().y) == 38


def test_a_contradiction_of_objectives_is_named() -> None:
    several = Settings.checked(SPACE, "random", objectives=OBJECTIVES)
    one = Settings.checked(SPACE, "random")
    said = "objectives is ['accuracy max', 'latency min'] in the study and [] in this call"
    assert one.differences_from(several.decided()) == [said]
    assert several.differences_from(several.decided()) == []
    assert several.differences_from(one.decided()) != []


def test_an_event_of_several_objectives_has_no_value() -> None:
    event = Ended(0, Outcome("done", None, measured={"accuracy": 1.0, "latency": 2.0}, seconds=1.0))
    body = json.loads(json.dumps(event.body))
    assert "value" not in body
    read = read_event(5, event.kind, 0, 1.0, body)
    assert isinstance(read, Ended)
    assert (read.kind, read.outcome) == ("told", event.outcome)
    with pytest.raises(StudyError, match="value is None"):
        read_event(5, event.kind, 0, 1.0, {name: part for name, part in body.items() if name != "measured"})


def test_notes_tell_means_by_name_as_the_user_measures_them() -> None:
    direction = Direction(False, objectives_of(OBJECTIVES, Space(SPACE)))
    note = direction.turned_note({"move": "exploit", "mean": [-0.5, 3.0], "std": [0.1, 0.2]})
    assert note["mean"] == {"accuracy": 0.5, "latency": 3.0}
    assert note["std"] == {"accuracy": 0.1, "latency": 0.2}
    assert direction.turned_note({"mean": "unlike"})["mean"] == "unlike"
