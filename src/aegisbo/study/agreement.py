"""Whether a call may go on with a study: what it was begun with, and for which function."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.events import Created, Event, Retried, Widened
from aegisbo.optimizer import Core, Settings
from aegisbo.study.edit import without_value
from aegisbo.study.objective import AnotherObjective, Objective
from aegisbo.study.state import State
from aegisbo.study.store import Store


def begin(store: Store, settings: Settings, objective: Objective | None, given: Settings) -> State:
    """Write the first event of a study, which has these settings."""
    return State.after([store.append(Created(settings.describe(), build(), described(objective)))], given)


def settings_of(events: Iterable[Event]) -> Settings:
    """What a study was begun with, and the bounds that it has now."""
    return State.after([event for event in events if isinstance(event, Created | Widened)]).settings


def agreed(
    store: Store,
    events: Sequence[Event],
    given: Settings | None,
    say: Callable[[str], None],
    *,
    objective: Objective | None,
    anyway: bool,
) -> tuple[State, Objective | None]:
    """The state of a study that a driver may continue, and the objective if the driver must tell the study of it.

    Raises:
        StudyError: it was begun with other settings, or holds values of another function.
    """
    if given is not None:
        _require_same(store.path, given, settings_of(events))
    state = State.after(events, given)
    news = _news(store.path, objective, state, say, anyway=anyway)
    failed = without_value(state.optimizer)
    if news and failed and not _has_value(state.optimizer):  # of another function, or of this one before it was mended
        state.apply(store.append(Retried(failed)))
    return state, news


def build() -> dict[str, str]:
    """What the digits of a decision may depend on."""
    versions = {package: version(package) for package in ("aegisbo", "numpy", "scipy")}
    return {**versions, "python": platform.python_version(), "cpu": _cpu()}


def _cpu() -> str:
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if models:
            return models[0]
    return platform.processor() or platform.machine()


def _require_same(path: Path, given: Settings, recorded: Settings) -> None:
    """Refuse to continue a study with other settings; what was not given may be anything."""
    differences = given.differences_from(recorded)
    if differences:
        raise StudyError(f"{path} holds another run: {'; '.join(differences)}. Use another file, or the same settings.")


def _news(
    path: Path,
    given: Objective | None,
    state: State,
    say: Callable[[str], None],
    *,
    anyway: bool,
) -> Objective | None:
    """The objective, if the study must learn it; refused if the study holds values of another one."""
    if given is None or state.objective is None:
        return given
    old = Objective.from_description(state.objective)
    change = given.change_from(old)
    if change is None:
        return given if old.source is None and given.source is not None else None
    if _has_value(state.optimizer):
        if not anyway:
            raise AnotherObjective(
                f"{path} was made for {change}. Do values still mean the same? Then pass anyway=True (on the command "
                "line: --anyway). If not, use another file."
            )
    else:
        say(f"{path} was made for {change}. It has no value yet, so the run goes on, and what failed is run again.")
    return given


def _has_value(optimizer: Core) -> bool:
    return any(trial.state == "done" for trial in optimizer.trials)


def described(objective: Objective | None) -> dict[str, Any] | None:
    """As a study writes it down; None if it has nothing to write."""
    return None if objective is None else objective.describe()
