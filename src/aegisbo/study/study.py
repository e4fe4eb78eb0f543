"""A study: the file of one run, from which it can go on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from aegisbo.errors import StudyError
from aegisbo.optimizer import Optimizer, Settings, Trial
from aegisbo.outcome import Outcome
from aegisbo.space.widening import widened
from aegisbo.study.edit import without_value
from aegisbo.study.endings import as_event
from aegisbo.study.events import Event
from aegisbo.study.history import SETTINGS, optimizer_after
from aegisbo.study.ledger import ledger_of
from aegisbo.study.lock import DriverLock
from aegisbo.study.objective import AnotherObjective, Objective
from aegisbo.study.observations import EARLIER, Observation, described, news_among
from aegisbo.study.store import Store

WITH_LIMITS = 4  # the schema of a study that has limits, which older versions would ignore
REQUESTS = ("added", "set")  # events that others write while a driver is at work


def _changed(events: Iterable[Event], call: Mapping[str, Any]) -> dict[str, Any]:
    """What was changed from outside and still holds after a call."""
    terms = ledger_of(events).terms
    terms.call(call)
    return terms.changed


class Asked(Protocol):
    """A point that was chosen, known by its number."""

    @property
    def number(self) -> int: ...

    @property
    def params(self) -> Mapping[str, Any]: ...

    @property
    def note(self) -> Mapping[str, Any]: ...


class Study:
    """The file of a run while it is being driven, and the journal of its loop. Open it with `open`.

    Events are on disk when a method returns. The optimizer is told by whoever drives it, when it gets there: a result
    that is on disk may be news to it.
    """

    def __init__(
        self,
        store: Store,
        optimizer: Optimizer,
        seen: int,
        lock: DriverLock,
        resources: ExitStack,
        read: int = 0,
        changed: Mapping[str, Any] | None = None,
    ) -> None:
        self.optimizer = optimizer
        self.seen = seen  # the last event that the optimizer knew of when the run began
        self._store = store
        self._lock = lock
        self._resources = resources
        self.changed = changed or {}  # what was changed from outside and holds, unlike in the call
        self._read = read  # the last event that was read; `seen` may be later, and not all before it be known

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        settings: Settings,
        say: Callable[[str], None] = lambda text: None,
        *,
        objective: Objective | None = None,
        call: Mapping[str, Any] | None = None,
        anyway: bool = False,
    ) -> Study:
        """Begin a study, or continue the one at `path` if it was begun with the same settings.

        Bounds may have become wider: earlier choices were made in the old space, later ones are made in the new one.

        Args:
            path: the file.
            settings: as the user gave them; what they leave open is left to the study.
            say: is told, in a sentence, what the user should know.
            objective: the function whose values are stored; None if nobody knows it.
            call: what the driver was asked for, in JSON's types; it is recorded for readers and decides nothing.
            anyway: go on although the study holds values of another function.

        Raises:
            StudyError: the file holds another run, is being driven by somebody else, or cannot be used.
        """
        path = Path(path)
        with ExitStack() as resources:
            lock = resources.enter_context(DriverLock(path))
            store = Store(path, say)
            resources.callback(store.close)
            driver: dict[str, Any] = {"pid": os.getpid(), "host": platform.node(), "call": dict(call or {})}
            events = store.events()
            read = events[-1].id if events else 0
            if not events:  # new, or killed before the first event
                optimizer = Optimizer.from_settings(settings)
                begin(store, optimizer.settings, objective)
            else:
                recorded = settings_of(events)
                optimizer, news = agreed(store, events, settings, say, objective=objective, anyway=anyway)
                driver |= news
                space = widened(recorded.space, settings.space)
                if space != recorded.space:
                    say(f"{path} has wider bounds from now on: {space.parameters}.")
                    store.append("widened", None, {"space": space.describe()})
                    events = store.events()
                    optimizer = optimizer_after(events, settings)
                    read = events[-1].id
            seen = store.append("opened", None, driver)
            return cls(store, optimizer, seen, lock, resources.pop_all(), read, _changed(events, driver["call"]))

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._say_at_last(f"The driver ended with an error ({type(error).__name__}: {error}).")
        self._resources.close()

    def _say_at_last(self, message: str) -> None:
        """Write down how the driver ended, if that can be done at all: the error may be a full disk."""
        for room in (self._lock.make_room, self._store.fold):
            with suppress(StudyError):
                room()
                self.closed(message, [])
                return

    @property
    def path(self) -> Path:
        """As the user calls it."""
        return self._store.path

    @property
    def file(self) -> Path:
        """Where it is."""
        return self._store.file

    @property
    def moved(self) -> str:
        """What to say of it, if somebody has taken the file away and the run went on in another one."""
        return self._store.moved

    def observe(self, pairs: Sequence[tuple[Any, ...]]) -> None:
        """Add data from elsewhere, (x, y) or (x, y, measured) each; those of an earlier call are not added again.

        Raises:
            StudyError: the study has other data than those with which the list begins.
        """
        if not pairs:
            return
        known = [trial for trial in self.optimizer.observed if trial.note != EARLIER]
        fresh = Optimizer.from_settings(self.optimizer.settings)
        given = [fresh.observe(*pair) for pair in pairs]
        for k, (old, new) in enumerate(zip(known, given, strict=False)):
            if described(old) != described(new):
                raise StudyError(
                    f"{self.path} holds another run: observed point {k} is {_told(old)} in the study and {_told(new)} "
                    "in this call. Use another file, or give the same points first and new ones after them."
                )
        for pair in pairs[len(known) :]:
            trial = self.optimizer.observe(*pair)
            self.seen = self._store.append("observed", trial.number, described(trial))

    def learn(self, lists: Iterable[Sequence[Observation]]) -> None:
        """Add results of earlier runs, all or none of them; those that are there already are not added again."""
        with self._store.transaction():
            for params, outcome in list(news_among(lists, self.optimizer.observed)):
                trial = self.optimizer.learn(params, outcome, EARLIER)
                self.seen = self._store.append("observed", trial.number, described(trial))

    def requests(self) -> list[Event]:
        """What others have asked of the run since the last call; costs next to nothing if nobody has written."""
        if not self.moved:
            self._lock.keep()
        if not self._store.changed():
            return []
        events = self._store.events(self._read)
        self._read = events[-1].id if events else self._read
        return [event for event in events if event.kind in REQUESTS]

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> int:
        """A point was chosen, knowing all results up to event `seen`, which took `seconds`."""
        body = {"params": trial.params, "note": trial.note, "memory": memory, "seen": seen, "seconds": seconds}
        return self._store.append("asked", trial.number, body)

    def ended(self, number: int, outcome: Outcome, seconds: float) -> int:
        """An evaluation has ended; one that is lost will be run again."""
        kind, body = as_event(outcome, seconds)
        return self._store.append(kind, number, body)

    def closed(self, message: str, idle: Sequence[Mapping[str, float]]) -> int:
        """The driver ended, and how its workers had spent their time."""
        return self._store.append("closed", None, {"message": message, "idle": list(idle)})


def begin(store: Store, settings: Settings, objective: Objective | None) -> None:
    """Write the first event of a study."""
    if settings.limits:
        store.require_schema(WITH_LIMITS)
    store.append("created", None, {"optimizer": settings.describe(), "build": build(), **_described(objective)})


def settings_of(events: Iterable[Event]) -> Settings:
    """What a study was begun with, and the bounds that it has now."""
    return optimizer_after([event for event in events if event.kind in SETTINGS]).settings


def agreed(
    store: Store,
    events: Sequence[Event],
    given: Settings | None,
    say: Callable[[str], None],
    *,
    objective: Objective | None,
    anyway: bool,
) -> tuple[Optimizer, dict[str, Any]]:
    """The optimizer of a study that a driver may continue, and what the driver must add to the study.

    Raises:
        StudyError: it was begun with other settings, or holds values of another function.
    """
    if given is not None:
        _require_same(store.path, given, settings_of(events))
    optimizer = optimizer_after(events, given)
    news = _described(_news(store.path, objective, events, optimizer, say, anyway=anyway))
    if news and not _has_value(optimizer):
        _retry_failures(store, optimizer)  # of another function, or of this one before it was mended
    return optimizer, news


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
    events: Sequence[Event],
    optimizer: Optimizer,
    say: Callable[[str], None],
    *,
    anyway: bool,
) -> Objective | None:
    """The objective, if the study must learn it; refused if the study holds values of another one."""
    known = [event.body["objective"] for event in events if "objective" in event.body]
    if given is None or not known:
        return given
    old = Objective.from_description(known[-1])
    change = given.change_from(old)
    if change is None:
        return given if old.source is None and given.source is not None else None
    if _has_value(optimizer):
        if not anyway:
            raise AnotherObjective(
                f"{path} was made for {change}. Do values still mean the same? Then pass anyway=True (on the command "
                "line: --anyway). If not, use another file."
            )
    else:
        say(f"{path} was made for {change}. It has no value yet, so the run goes on, and what failed is run again.")
    return given


def _has_value(optimizer: Optimizer) -> bool:
    return any(trial.state == "done" for trial in optimizer.trials)


def _retry_failures(store: Store, optimizer: Optimizer) -> None:
    numbers = without_value(optimizer)
    for number in numbers:
        optimizer.retry(number)
    if numbers:
        store.append("retried", None, {"numbers": numbers})


def _described(objective: Objective | None) -> dict[str, Any]:
    return {} if objective is None else {"objective": objective.describe()}


def _told(trial: Trial) -> str:
    return f"{trial.params} with the value {trial.value}"
