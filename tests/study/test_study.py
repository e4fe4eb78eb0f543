"""A study folds into the optimizer that lived through it, and continues only what it began."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from aegisbo import Optimizer, load
from aegisbo.errors import InvalidInput, StudyError, UnknownName
from aegisbo.events import Created, Forgotten, Opened, Retried
from aegisbo.optimizer import Core, Settings
from aegisbo.outcome import FAILURES, Outcome
from aegisbo.space import Choice, Int, Real
from aegisbo.space.space import Space
from aegisbo.study import Study, forget, retry
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State
from aegisbo.study.store import Store

BOX = Space([(-5, 10), (2, 3)])
MIXED = Space({"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["relu", None, 3, True])})
GRID = Space({"n": Int(2, 9), "kind": Choice(["a", "b", "c"])})  # where what is taken decides what is next
GIVEN = {"strategy": "random", "seed": 7}


class Driver:
    """Asks and tells, and writes every step down as a run does."""

    def __init__(self, study: Study) -> None:
        self.study, self.live = study, study.optimizer

    def ask(self) -> int:
        return self.study.ask().number

    def tell(self, number: int) -> None:
        self.end(number, value_of(number))

    def fail(self, number: int, state: Any) -> None:
        self.end(number, Outcome(state, reason=f"because {number}", traceback="Traceback ...", seconds=0.5, worker=1))

    def lose(self, number: int) -> None:
        self.end(number, Outcome("lost", reason="worker died"))

    def too_late(self, number: int) -> None:
        """A trial that was given up failed after all: written down, but no news."""
        self.end(number, Outcome("failed", reason="much later", traceback="Traceback ..."))

    def value_while_giving_up(self, number: int) -> None:
        """Its value was written down just before it was declared too slow, and read afterwards."""
        value = self.study.ended(number, value_of(number), 0.5)
        self.fail(number, "timed_out")
        self.study.take_in(value)

    def failure_while_giving_up(self, number: int) -> None:
        self.study.ended(number, Outcome("failed", reason="just now", traceback="Traceback ..."), 0.5)
        self.fail(number, "timed_out")

    def end(self, number: int, outcome: Outcome) -> None:
        self.study.take_in(self.study.ended(number, outcome, 0.5))


def value_of(number: int) -> Outcome:
    return Outcome("done", number / 3, seconds=0.5, began=1e9 + number, worker=number % 2, output="epoch 1\n")


def live(driver: Driver, choices: st.DataObject, steps: int) -> None:
    """Some steps of a run, whatever may happen in one."""
    ends: list[Any] = [
        driver.tell, driver.lose, driver.value_while_giving_up, driver.failure_while_giving_up,
        lambda number: driver.fail(number, "failed"), lambda number: driver.fail(number, "invalid"),
        lambda number: driver.fail(number, "timed_out"),
    ]  # fmt: skip
    for _ in range(steps):
        pending = [trial.number for trial in driver.live.pending]
        slow = [trial.number for trial in driver.live.trials if trial.state == "timed_out"]
        step = choices.draw(st.sampled_from(["ask", *["end"] * bool(pending), *["late", "too late"] * bool(slow)]))
        if step == "ask":
            driver.ask()
        elif step == "end":
            choices.draw(st.sampled_from(ends))(choices.draw(st.sampled_from(pending)))
        else:
            (driver.tell if step == "late" else driver.too_late)(choices.draw(st.sampled_from(slow)))


def think_twice(path: Path, live: Core, choices: st.DataObject) -> None:
    """Retry and forget some trials in the file, and in the optimizer that lived through it."""
    for change, event, states in (
        (retry, Retried, ("done", *FAILURES)),
        (forget, Forgotten, ("pending", "done", *FAILURES)),
        (retry, Retried, FAILURES),
    ):
        allowed = [trial.number for trial in live.trials if trial.state in states]
        some = choices.draw(st.sets(st.sampled_from(allowed))) if allowed else set()
        assert change(path, some) == tuple(sorted(some))
        if some:
            live.apply(event(sorted(some)))


@settings(max_examples=15, phases=[Phase.generate])  # no shrinking: every example is a file, synced to disk
@given(choices=st.data(), space=st.sampled_from([BOX, MIXED, GRID]), maximize=st.booleans())
@pytest.mark.long
def test_the_fold_is_the_optimizer_that_lived_through_it(
    tmp_path_factory: pytest.TempPathFactory, choices: st.DataObject, space: Space, maximize: bool
) -> None:
    path = tmp_path_factory.mktemp("study") / "run.db"
    given = {**GIVEN, "maximize": maximize}
    with Study.open(path, Settings.checked(space, **given)) as study:
        driver = Driver(study)
        live(driver, choices, steps=14)
        assert State.after(read_events(path)).optimizer.state() == driver.live.state()
    think_twice(path, driver.live, choices)
    with Study.open(path, Settings.checked(space, **given)) as study:
        again = Driver(study)
        assert again.live.state() == driver.live.state()
        assert again.live.pending == driver.live.pending
        live(again, choices, steps=6)
        state = again.live.state()
    with Study.open(path, Settings.checked(space, **given)) as study:
        assert study.optimizer.state() == state
        assert study.optimizer.choose() == again.live.choose()
    assert replay(path).differences == ()


def test_a_model_based_run_continues_as_if_never_stopped(tmp_path: Path) -> None:
    given = {"strategy": "aegis", "seed": 3, "n_initial": 4}
    never_stopped = Optimizer(BOX, **given)
    for _ in range(9):
        path = tmp_path / "run.db"
        with Study.open(path, Settings.checked(BOX, **given)) as study:
            driver = Driver(study)
            driver.tell(driver.ask())
        number = never_stopped.ask().number
        never_stopped.end(number, value_of(number))
    with Study.open(path, Settings.checked(BOX, **given)) as study:
        assert study.optimizer.state() == never_stopped.state()
        assert study.optimizer.trials[-1].note["move"] != "initial"


def test_the_record_says_who_made_it_with_what(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)):
        pass
    created, opened = read_events(tmp_path / "run.db")
    assert created.kind == "created"
    assert created.body["optimizer"]["space"] == BOX.describe()
    assert created.body["optimizer"]["seed"] == 7
    assert set(created.body["build"]) == {"aegisbo", "numpy", "scipy", "python", "cpu"}
    assert opened.kind == "opened"
    assert opened.body["pid"] == os.getpid()


def test_a_drawn_seed_is_kept(tmp_path: Path) -> None:
    given = {"strategy": "random", "seed": None}
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **given)) as study:
        seed, first = study.optimizer.seed, study.optimizer.choose().params
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **given)) as study:
        assert (study.optimizer.seed, study.optimizer.choose().params) == (seed, first)


FULL = {
    "strategy": "random", "preset": "paper", "seed": 7, "n_initial": 6, "initial": [[0, 2.5]], "maximize": False,
    "noisy": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"strategy": "thompson"}, "strategy is 'random' in the study and 'thompson' in this call"),
        ({"seed": 8}, "seed is 7 in the study and 8 in this call"),
        ({"n_initial": 5}, "n_initial is 6 in the study and 5 in this call"),
        ({"maximize": True}, "maximize is False in the study and True in this call"),
        ({"noisy": True}, "noisy is False in the study and True in this call"),
        ({"initial": [[1, 2.5]]}, "initial is [{'x0': 0.0, 'x1': 2.5}] in the study and [{'x0': 1.0, 'x1': 2.5}]"),
    ],
)
def test_other_settings_are_refused_with_the_difference(
    tmp_path: Path, change: dict[str, Any], difference: str
) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(BOX, **FULL)):
        pass
    before = path.read_bytes()
    with pytest.raises(StudyError, match="holds another run") as caught:
        Study.open(path, Settings.checked(BOX, **{**FULL, **change}))
    assert f"{path} holds another run: {difference}" in str(caught.value)
    assert str(caught.value).endswith("Use another file, or the same settings.")
    assert path.read_bytes() == before


def test_all_differences_are_listed_and_another_space_is_one(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(BOX, **FULL)):
        pass
    other = Space([(-4, 11), (2, 4)])
    with pytest.raises(StudyError) as caught:
        Study.open(path, Settings.checked(other, **{**FULL, "seed": 8, "maximize": True}))
    message = str(caught.value)
    assert message.count(" in this call") == 3
    assert "x0: Real(-5.0, 10.0) in the study, Real(-4.0, 11.0) in this call (bounds may only become wider" in message


def test_the_same_settings_in_other_words_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(BOX, **FULL)):
        pass
    with Study.open(
        path, Settings.checked(Space([Real(-5, 10), (2.0, 3.0)]), **{**FULL, "initial": [{"x1": 2.5, "x0": 0.0}]})
    ):
        pass
    silent = {**FULL, **dict.fromkeys(["preset", "seed", "n_initial", "initial"])}
    with Study.open(path, Settings.checked(BOX, **silent)) as study:  # what is not said may be anything
        assert study.optimizer.settings.n_initial == 6


def test_a_study_from_before_there_was_noise_means_none(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    store = Store(path, print)
    header = {key: value for key, value in Optimizer(BOX, **FULL).state().items() if key in ("format", "space", *FULL)}
    del header["noisy"]
    store.append(Created(header, {}))
    store.close()
    assert load(path).message.startswith("Killed")
    with Study.open(path, Settings.checked(BOX, **FULL)) as study:
        assert study.optimizer.settings.noisy is False
    with pytest.raises(StudyError, match="noisy is False in the study and True in this call"):
        Study.open(path, Settings.checked(BOX, **{**FULL, "noisy": True}))


def test_every_kind_of_parameter_continues(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    given = {**GIVEN, "initial": [{"lr": 1e-3, "units": 20, "act": None}]}
    for _ in range(2):
        with Study.open(path, Settings.checked(MIXED, **given)) as study:
            first = study.optimizer.choose() if not study.optimizer.trials else study.optimizer.trials[0]
            assert first.params == {"lr": 1e-3, "units": 20, "act": None}
    with pytest.raises(StudyError, match=r"act: Choice\(\['relu', None, 3, True\]\) in the study, Choice"):
        Study.open(path, Settings.checked(Space({**MIXED.parameters, "act": Choice(["relu", "tanh"])}), **GIVEN))


def test_settings_that_make_no_sense_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Unknown strategy 'randon': did you mean 'random'"):
        Study.open(tmp_path / "run.db", Settings.checked(BOX, strategy="randon"))
    with pytest.raises(InvalidInput, match="seed"):
        Study.open(tmp_path / "run.db", Settings.checked(BOX, seed=-1))
    assert list(tmp_path.iterdir()) == []


def test_a_study_whose_driver_was_killed_before_the_first_event(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    Store(path, print).close()
    with pytest.raises(StudyError, match=r"run.db holds nothing yet"):
        load(path)
    with Study.open(path, Settings.checked(BOX, **GIVEN)) as study:
        assert study.optimizer.choose().number == 0
    assert [event.kind for event in read_events(path)] == ["created", "opened"]


def test_a_record_without_its_beginning_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    store = Store(path, print)
    store.append(Opened(1))
    store.close()
    with pytest.raises(StudyError, match="begins with 'opened' instead of 'created': it is damaged"):
        load(path)


def test_load_gives_the_result_and_how_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(BOX, **GIVEN)) as study:
        driver = Driver(study)
        for number in [driver.ask() for _ in range(3)]:
            driver.tell(number)
        driver.ask()
        running = load(path)
        study.closed("Enough.", [])
        study.ended(3, Outcome("done", -1.0), 1.0)  # it ended while the driver was closing
    assert running.message == f"Running (process {os.getpid()} on {platform.node()})."
    assert (running.nfev, running.fun, len(running.trials)) == (3, 0.0, 4)
    after = load(path)
    assert (after.message, after.nfev, after.fun) == ("Enough.", 4, -1.0)
    assert after.x == pytest.approx(driver.live.trials[3].x)
    with Study.open(path, Settings.checked(BOX, **GIVEN)):
        assert load(path).message.startswith("Running")


def test_load_gives_the_idle_shares_of_all_drivers(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    workers = [
        [{"busy": 6.0, "suggestion": 1.0, "pool": 0.5, "nothing": 0.5}],
        [{"busy": 1.0, "suggestion": 0.0, "pool": 0.5, "nothing": 0.0}] * 2,
        [],
    ]
    for idle in workers:
        with Study.open(path, Settings.checked(BOX, **GIVEN)) as study:
            study.closed("Enough.", idle)
        if idle is workers[0]:
            assert load(path).idle == {"suggestion": 1 / 8, "pool": 0.5 / 8, "nothing": 0.5 / 8}
    assert load(path).idle == {"suggestion": 1 / 11, "pool": 1.5 / 11, "nothing": 0.5 / 11}


def test_nobody_told_of_idle_workers(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)):
        pass
    assert load(tmp_path / "run.db").idle is None
