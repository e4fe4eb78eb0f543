"""Whether a call may begin or continue a study: its settings and its function must agree."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aegisbo.address import Place
from aegisbo.errors import StudyError
from aegisbo.events import Body, Created, Ended, Event, Late, Retried, Widened
from aegisbo.optimizer import Core, Settings
from aegisbo.study.edit import without_value
from aegisbo.study.opening import Log
from aegisbo.study.state import State
from aegisbo.study.stored_function import AnotherFunction, StoredFunction


@dataclass(frozen=True)
class Caller:
    """A call that begins or continues a study."""

    settings: Settings | None  # as the user gave them; None to take those of the study
    say: Callable[[str], None] = lambda text: None  # called with sentences for the user
    objective: StoredFunction | None = None  # the function whose values are stored; None if unknown
    call: Mapping[str, Any] = field(default_factory=dict)  # what the call asked for, in JSON types
    anyway: bool = False  # continue although the study holds values of another function


def settings_of(events: Iterable[Event]) -> Settings:
    """The settings that a study began with, and its current bounds."""
    return State.after([event for event in events if isinstance(event, Created | Widened)]).settings


def settled(store: Log, caller: Caller) -> tuple[State, Body | None]:
    """The state of a study that a caller may begin or continue, and the function if the study must record it.

    Raises:
        StudyError: it was begun with other settings, or holds values of another function.
    """
    events, given, objective = store.events(), caller.settings, caller.objective
    if not events:  # new, or killed before the first event
        if given is None:
            raise StudyError(f"{store.path} holds nothing yet: give its space, and what to minimize.")
        created = Created(given.decided().describe(), build(), None if objective is None else objective.describe())
        return State.after([store.append(created)], given), None
    if differences := [] if given is None else given.differences_from(settings_of(events)):
        raise StudyError(
            f"{store.path} holds another run: {'; '.join(differences)}. Use another file, or the same settings."
        )
    state = State.after(events, given)
    for event in store.left():
        assert isinstance(event, Ended | Late)
        counts = isinstance(event, Ended) and event.number in state.ledger.holders
        state.apply(store.append(event if counts else Late(event.number, event.outcome, event.copy)))
    if objective is None or not _is_news(store.path, objective, state, caller):
        return state, None
    failed = without_value(state.optimizer)
    if failed and not _has_value(state.optimizer):  # of another function, or of this one before it was fixed
        state.apply(store.append(Retried(failed)))
    return state, objective.describe()


def build() -> dict[str, str]:
    """Versions that the digits of a decision may depend on."""
    versions = {package: version(package) for package in ("aegisbo", "numpy", "scipy")}
    return {**versions, "python": platform.python_version(), "cpu": _cpu()}


def _cpu() -> str:
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if models:
            return models[0]
    return platform.processor() or platform.machine()


def _is_news(path: Place, objective: StoredFunction, state: State, caller: Caller) -> bool:
    """Whether the study must record the function; refused if the study holds values of another one."""
    if state.objective is None:
        return True
    old = StoredFunction.from_description(state.objective)
    change = objective.change_from(old)
    if change is None:
        return old.source is None and objective.source is not None
    if not _has_value(state.optimizer):
        caller.say(f"{path} was made for {change}. It has no value yet, so the run continues and repeats what failed.")
    elif not caller.anyway:
        raise AnotherFunction(
            f"{path} was made for {change}. Do values still mean the same? Then pass anyway=True (on the command "
            "line: --anyway). If not, use another file."
        )
    return True


def _has_value(optimizer: Core) -> bool:
    return any(trial.state == "done" for trial in optimizer.trials)
