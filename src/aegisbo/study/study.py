"""A study as its driver sees it: the log of a run, and what is known from it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import wraps
from itertools import count
from time import perf_counter, sleep, time
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from aegisbo.address import Named, Place, place_of
from aegisbo.errors import StudyError
from aegisbo.events import Added, Body, Changed, Closed, Event, Observed, Opened, Reported, Widened, ended
from aegisbo.optimizer import Core, Found, Settings, Trial
from aegisbo.outcome import Outcome, Report
from aegisbo.space.widening import widened
from aegisbo.stopping.rule import decides_anytime
from aegisbo.study.agreement import Caller, settled
from aegisbo.study.earlier import outcome_of
from aegisbo.study.fitting import EARLIER, Observation, news_among
from aegisbo.study.opening import Log, driving
from aegisbo.study.server import Unreachable, persistently
from aegisbo.study.server_log import ServerLog

E = TypeVar("E", bound=Event)
P = ParamSpec("P")
T = TypeVar("T")
Choosing = Callable[[], AbstractContextManager[Any]]  # a context for choosing a point, which may take long


def outlasting(method: Callable[P, T]) -> Callable[P, T]:
    """Do it again once a server is back that was away; for methods that are called while no lock is held."""

    @wraps(method)
    def patiently(*args: P.args, **kwargs: P.kwargs) -> T:
        while True:
            try:
                return method(*args, **kwargs)
            except Unreachable as away:
                study = args[0]
                assert isinstance(study, Study)
                study.await_server(away)

    return patiently


class InMemory:
    """A log that counts events and keeps none."""

    path = file = None
    moved = ""
    rest = 1.0

    def __init__(self) -> None:
        self._ids = count(1)  # safe for several threads

    def append(self, event: E) -> E:
        """The event with its place."""
        return replace(event, id=next(self._ids), at=time())

    def transaction(self) -> AbstractContextManager[None]:
        """There is nothing to undo."""
        return nullcontext()

    def news(self, after: int) -> list[Event]:
        """None."""
        return []

    def stirred(self) -> bool:
        """Nobody else writes to it."""
        return False

    def wait(self, seconds: float) -> None:
        """Rest."""
        sleep(seconds)

    def hurry(self) -> None:
        """It waits for nothing."""


class Study:
    """A run with a single driver: every event is written before anything acts on it.

    The optimizer learns of a result on disk when the driver calls `take_in`. Make a study with `open`, or one without a
    file from an optimizer.
    """

    who = "The driver"

    def __init__(self, optimizer: Core, log: Log | InMemory | None = None, seen: int = 0) -> None:
        self.optimizer = optimizer
        self.changed: Mapping[str, Any] = {}  # changes from outside that override the call
        self.begun = 0.0  # in seconds since 1970: it is known by that from an earlier one of its name
        self._log: Log | InMemory = log or InMemory()
        self._seen = seen  # the last event that the optimizer knows
        self._read = seen  # the last event that was checked for requests; the optimizer may be behind it
        self._keep_lock: Callable[[], None] = lambda: None
        self._make_room: tuple[Callable[[], None], ...] = ()  # ways to do so on a full disk, for a last event
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._resources:
            for make_room in self._make_room if error is not None else ():
                with suppress(StudyError):  # this may be the error itself
                    make_room()
                    self._close(f"{self.who} ended with an error ({type(error).__name__}: {error}).", [])
                    return

    @classmethod
    def open(cls, path: Named, settings: Settings, **caller: Any) -> Study:
        """Begin a study, or continue the one at `path` if it was begun with the same settings.

        Bounds may have become wider: earlier choices were made in the old space, later ones are made in the new one.

        Args:
            path: the file, or the address.
            settings: as the user gave them; the study fills in what they leave open.
            caller: other fields of `Caller`; its call is recorded for readers and decides nothing.

        Raises:
            StudyError: the study holds another run, has another driver, or cannot be used.
        """
        place, who = place_of(path), Caller(settings, **caller)
        return persistently(lambda: cls._opened(place, settings, who), who.say)

    @classmethod
    def _opened(cls, path: Place, settings: Settings, who: Caller) -> Study:
        with ExitStack() as resources:
            store, lock = resources.enter_context(driving(path, who.say))
            with store.transaction():
                state, objective = settled(store, who)
                space = widened(state.settings.space, settings.space)
                if space != state.settings.space:
                    who.say(f"{path} now has wider bounds or other guesses: {space.parameters}.")
                    state.apply(store.append(Widened(space.describe())))
                state.apply(store.append(Opened(os.getpid(), platform.node(), dict(who.call), objective)))
            store.settle()
            study = cls(state.optimizer, store, state.ledger.last)
            study.changed, study.begun = state.ledger.terms.changed, state.created.at
            study._keep_lock, study._make_room = lock.keep, (lock.make_room, store.fold)
            study._resources = resources.pop_all()
            return study

    @property
    def path(self) -> Place | None:
        """The study as the user named it; None if there is none."""
        return self._log.path

    @property
    def file(self) -> Place | None:
        """Where it is."""
        return self._log.file

    @property
    def moved(self) -> str:
        """A message, if the file was moved away and the run continued in another one."""
        return self._log.moved

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials that an earlier driver left, which run first."""
        return self.optimizer.pending

    @property
    def paces(self) -> Mapping[int, float]:
        """The paces of the workers of this driver, where workers clearly differ."""
        return self.optimizer.paces

    @property
    def spent(self) -> bool:
        """Whether all evaluations have ended; here the driver counts them."""
        return False

    @property
    def resumable(self) -> bool:
        """Whether evaluations that were stopped may go on."""
        return self.optimizer.settings.resumable

    def observe(self, results: Sequence[Observation]) -> None:
        """Add results from elsewhere; those of an earlier call are not added again.

        Raises:
            StudyError: the study has other results than those with which the list begins.
        """
        known = [trial for trial in self.optimizer.observed if trial.note != EARLIER]
        for k, (trial, result) in enumerate(zip(known, results, strict=False)):
            old, new = Observed(k, trial.params, outcome_of(trial)).body, Observed(k, *result).body
            if old != new:
                raise StudyError(
                    f"{self.path} holds another run: observed point {k} is {_told(old)} in the study and {_told(new)} "
                    "in this call. Use another file, or give the same points first and new ones after them."
                )
        for result in results[len(known) :]:
            self.take_in(self._log.append(Observed(-1 - len(self.optimizer.observed), *result)))

    def learn(self, lists: Iterable[Sequence[Observation]]) -> None:
        """Add results of earlier runs, all or none of them; those that are there already are not added again."""
        with self._log.transaction():
            for event in news_among(lists, self.optimizer.observed):
                self.take_in(self._log.append(event))

    def stirred(self) -> bool:
        """Whether others are known to have written since the last call."""
        return self._log.stirred()

    def wait(self, seconds: float) -> None:
        """Rest for so long, or until others are known to have written."""
        self._log.wait(seconds)

    @property
    def rest(self) -> float:
        """Seconds after which to ask again when there was nothing to do."""
        return self._log.rest

    def await_server(self, away: Unreachable) -> None:
        """Wait until a server is back that was away.

        Raises:
            StudyError: it has been away for too long.
        """
        assert isinstance(self._log, ServerLog)
        self._log.come_back(away)

    def hurry(self) -> None:
        """Shorten all waiting for others, because this process must end; a signal handler may call it."""
        self._log.hurry()

    @outlasting
    def requests(self) -> list[Added | Changed]:
        """Requests from outside since the last call; costs next to nothing if there are none."""
        if not self.moved:
            self._keep_lock()
        events = self._log.news(self._read)
        self._read = events[-1].id if events else self._read
        return [event for event in events if isinstance(event, Added | Changed)]

    def ask(self, within: float | None = None, choosing: Choosing = nullcontext) -> Trial | None:
        """A trial to run, chosen from everything that was taken in.

        Args:
            within: seconds in which it should finish, if there is a limit.
            choosing: a context in which the point is chosen.

        Raises:
            SpaceExhausted: every point of a finite space is evaluated or under evaluation.
            NoTime: probably no evaluation would finish in time.
        """
        started = perf_counter()
        with choosing():
            asked = self.optimizer.choose(within)
        asked = replace(asked, seen=self._seen, seconds=perf_counter() - started)
        return self.optimizer.apply(self._write(asked))

    def resume(self) -> Trial | None:
        """An evaluation that was stopped, to go on before another begins; None if none does."""
        resumed = self.optimizer.resumption()
        if resumed is None:
            return None
        return self.optimizer.apply(self._write(replace(resumed, seen=self._seen)))

    def ended(self, number: int, outcome: Outcome, seconds: float | None = None) -> Event:
        """Record how an evaluation ended; a lost one runs again. Any thread may call this, and none waits for a server.

        If a server is away, the event waits on this machine, without a place, until it is taken in.
        """
        return self._tell(ended(number, outcome, seconds))

    def reported(self, number: int, report: Report) -> Event:
        """Record what a running evaluation said. Any thread may call this."""
        return self._tell(Reported(number, *report))

    def answer(self, event: Event, number: int) -> str:
        """Take in a report, and decide about its evaluation: why it must stop; empty if it may go on."""
        self.take_in(event)
        return self._decided(number)

    def reconsider(self, numbers: Iterable[int]) -> dict[int, str]:
        """Decide about running evaluations because of what others have shown: those that must stop, and why."""
        rule = self.optimizer.settings.stop_early
        decided = {number: self._decided(number) for number in numbers} if decides_anytime(rule) else {}
        return {number: reason for number, reason in decided.items() if reason}

    def _decided(self, number: int) -> str:
        if halted := self.optimizer.verdict(number):
            self.optimizer.apply(self._write(replace(halted, seen=self._seen)))
        return self.optimizer.trial(number).halted

    def take_in(self, event: Event) -> None:
        """Pass on to the optimizer what was recorded, or is recorded now because a server was away."""
        event = event if event.id else self._retell(event)
        self.optimizer.apply(event)
        self._seen = max(self._seen, event.id)

    def last_words(self, message: str) -> str:
        """The final message of a run that ended for this reason."""
        return f"{message} {self.moved}".strip()

    def closed(self, message: str, idle: Sequence[Mapping[str, float]]) -> None:
        """Record that the driver ends, and how its workers spent their time."""
        outlasting(type(self)._close)(self, message, idle)

    def _close(self, message: str, idle: Sequence[Mapping[str, float]]) -> None:
        self._log.append(Closed(message, list(idle)))

    @outlasting
    def _write(self, event: E) -> E:
        return self._log.append(event)

    def _tell(self, event: Event) -> Event:
        """Write an event, or keep it here while a server is away."""
        if not (isinstance(self._log, ServerLog) and self._log.holding):  # else it would overtake others
            try:
                return self._record(event)
            except Unreachable:
                pass
        assert isinstance(self._log, ServerLog)
        self._log.hold(event)
        return event

    @outlasting
    def _retell(self, event: Event) -> Event:
        """Write an event that was kept here, unless it was written just before the connection was cut."""
        assert isinstance(self._log, ServerLog)
        told = self._log.told(event) or self._record(event)
        self._log.release(event)
        return told

    def _record(self, event: Event) -> Event:
        return self._log.append(event)

    def found(self, message: str) -> Found[Core]:
        """What was found when the run ended for this reason."""
        return replace(self.optimizer.found(message), study=self.file)


def _told(observed: Body) -> str:
    value = observed.get("measured") if observed["value"] is None else observed["value"]
    return f"{observed['params']} with the value {value}"
