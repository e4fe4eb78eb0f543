"""A study that several copies share: whoever is free asks, and what one of them learns, all of them know.

Events are the only truth. A choice is written down only if nobody else has chosen since the events that it knew, so
that it can be replayed; results and signs of life never wait for a choice.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import Event as Signal
from threading import RLock, Thread
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any

from aegisbo.errors import InvalidInput, SpaceExhausted, StudyError
from aegisbo.optimizer import Optimizer, Settings, Trial
from aegisbo.options import SHARED, Options
from aegisbo.outcome import Outcome
from aegisbo.study.endings import as_event
from aegisbo.study.events import Event
from aegisbo.study.file import explained
from aegisbo.study.history import follow, optimizer_after
from aegisbo.study.ledger import Ledger
from aegisbo.study.lock import DriverLock
from aegisbo.study.membership import bury, join, part
from aegisbo.study.objective import Objective
from aegisbo.study.observations import EARLIER, Observation, described, news_among
from aegisbo.study.store import Store

BEATS = 4  # signs of life during a lease
REMAKES = ("asked", "retried", "forgotten")  # what must not happen between what a choice knew and its being written

Turn = Callable[[], AbstractContextManager[None]]  # waits for it, but not forever


class Shared:
    """The part of one copy in a study; the journal of its loop. Open it with `open`.

    The driver's thread calls `ask` and `catch_up`; any thread may call `ended` and `beat`.
    """

    def __init__(
        self,
        store: Store,
        optimizer: Optimizer,
        joined: Event,
        *,
        retries: int = 2,
        turn: Turn = nullcontext,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.optimizer = optimizer
        self.id: int = joined.id
        self._seen = joined.id  # the last event that the optimizer knows of
        self._joined = joined
        self._store = store
        self._retries = retries
        self._turn = turn
        self._clock = clock
        self._lock = RLock()  # of what follows
        self._gone = False
        self._ledger = Ledger()
        self._news: list[Event] = []  # that the optimizer does not know of
        self._requests: list[Event] = []  # that this copy has not heeded
        self._handed = joined.id  # the last event that is not among the news any more
        self._heeded = joined.id  # the last event that is not among the requests any more
        self._running: set[int] = set()  # trials that this copy evaluates, whoever holds them
        self._heard: dict[int, tuple[float, float]] = {}  # of each copy the last beat, and when it was new to us
        self._resources = ExitStack()
        self._make_room: Callable[[], None] = lambda: None  # on a full disk, for a last word
        self._read()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        settings: Settings | None,
        say: Callable[[str], None] = lambda text: None,
        *,
        objective: Objective | None = None,
        call: Mapping[str, Any] | None = None,
        anyway: bool = False,
        lease: float = Options.lease,
        retries: int = 2,
    ) -> Shared:
        """Join the copies that work on a study, which is made if it does not exist.

        Args:
            path: the file.
            settings: as the user gave them; None if the study is to know them.
            say: is told, in a sentence, what the user should know.
            objective: the function whose values are stored; None if nobody knows it.
            call: what the copy was asked for, in JSON's types. Its "budget" holds for all copies; without one, the last
                that any driver of the study had.
            anyway: go on although the study holds values of another function.
            lease: seconds without a sign of life after which others count this copy as dead.
            retries: how often a trial is run again whose copy died.

        Raises:
            StudyError: the file holds another run, is driven by `minimize`, or cannot be used.
            InvalidInput: the study does not exist and cannot be made, or has no budget.
        """
        path, call = Path(path), dict(call or {})
        with explained(path):
            exists = path.exists()
        if not exists and (settings is None or call.get("budget") is None):
            missing = "what to minimize, and its space" if settings is None else "a budget"
            raise InvalidInput(f"There is no study {path} yet: give {missing}, and the first copy makes it.")
        with ExitStack() as resources:
            lock = resources.enter_context(DriverLock(path, shared=True, say=say))
            with lock.turn():  # two must not make the file
                store = Store(path, say, shared=True)
            resources.callback(store.close)
            me = {"pid": os.getpid(), "host": platform.node(), "lease": lease, "call": call}
            joined = join(store, settings, me, say, objective=objective, anyway=anyway, alone=lock.alone)
            events = [event for event in store.events() if event.id <= joined.id]
            optimizer = optimizer_after(events, settings)
            study = cls(store, optimizer, joined, retries=retries, turn=lock.turn)
            study._resources, study._make_room = resources.pop_all(), lock.make_room
        study._live()
        return study

    def __enter__(self) -> Shared:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._make_room()
            with suppress(StudyError):  # which may be the error itself: a full disk, say
                self.leave(f"The copy ended with an error ({type(error).__name__}: {error}).", [])
        self._resources.close()

    @property
    def file(self) -> Path:
        """Where the study is."""
        return self._store.file

    @property
    def moved(self) -> str:
        """What to say if somebody has taken the file away; what this copy knows is in another one, for it alone."""
        return self._store.moved

    @property
    def budget(self) -> int:
        """Evaluations in all."""
        return self._ledger.budget or 0

    @property
    def changed(self) -> dict[str, Any]:
        """What was changed from outside and holds for a copy that joins now."""
        return {name: value for name, value in self._ledger.terms.changed.items() if name in SHARED}

    def requests(self) -> list[Event]:
        """What others have asked of the copies since the last call, as far as this one has read; it reads nothing."""
        with self._lock:
            requests, self._requests = self._requests, []
            self._heeded = max(self._heeded, self._ledger.last)
            return requests

    @property
    def spent(self) -> bool:
        """Whether all evaluations of the budget have ended, as far as is known here."""
        return self._ledger.spent

    def ask(self, within: float | None = None) -> Trial | None:
        """A trial to run, held by this copy from now on: one that was given back or lost, else a new one.

        Args:
            within: seconds in which a new one must probably be finished, if there is a limit.

        Returns:
            The trial; None if there is nothing to do at the moment, or `spent`.

        Raises:
            SpaceExhausted: every point of a finite space has been evaluated.
            NoTime: no evaluation that is new would probably be finished in time.
        """
        with self._turn():
            while True:
                number = self._take()
                self.catch_up()
                if number is None and self._ledger.room:
                    number = self._choose(within)
                    self.catch_up()
                if number is not None:
                    return self.optimizer.trial(number)
                if not self._ledger.room or self.optimizer.space.cube.exhausted(self.optimizer.evidence().taken):
                    return None

    def ended(self, number: int, outcome: Outcome, seconds: float) -> int:
        """Write down how an evaluation of this copy ended; the first result of a trial counts, further ones are late.

        Returns:
            The number of the event.
        """
        lane = None if outcome.worker is None else outcome.worker + self._joined.body["lane"]
        kind, body = as_event(replace(outcome, worker=lane), seconds)
        with self._writing() as ledger:
            if number not in ledger.holders or (kind == "lost" and ledger.holders[number] != self.id):
                kind, body = "late", {**body, "state": outcome.state}
            if outcome.state != "lost":  # which this copy runs again
                self._running.discard(number)
            return self._append(kind, number, {**body, "copy": self.id})

    def learn(self, lists: Iterable[Sequence[Observation]]) -> None:
        """Add results of earlier runs, all or none of them; those that a copy has added already are not added again."""
        with self._writing():
            known = optimizer_after(self._store.events()).observed
            for k, (params, outcome) in enumerate(list(news_among(lists, known)), start=1 + len(known)):
                trial = Trial(-k, None, params, note=EARLIER).after(outcome)
                self._append("observed", trial.number, described(trial))
        self.catch_up()

    def catch_up(self) -> None:
        """Let the optimizer know all that has been written down."""
        with self._lock:
            self._read()
            news, self._news, self._handed = self._news, [], self._ledger.last
        for event in news:
            follow(self.optimizer, event)
            self._seen = event.id

    def beat(self) -> None:
        """Say that this copy is there, also if others have given it up meanwhile."""
        with self._writing() as ledger:
            if not self._gone:
                self._be_there(ledger)

    def leave(self, message: str, idle: Sequence[Mapping[str, float]]) -> None:
        """Give back what this copy holds, for others to run; say why it ends, and how its workers spent their time."""
        with self._writing() as ledger:
            self._gone = True
            part(self._store, ledger, self.id, message, f"Given back: {message}", idle, given_back=True)

    def hurry(self) -> None:
        """Wait for nobody much longer, because this copy has been told to end; a signal handler may call it."""
        self._store.hurry()

    def _live(self) -> None:
        """Beat from now on, in a thread of its own: a choice may take longer than a lease."""
        stopped = Signal()
        thread = Thread(target=self._keep_beating, args=(stopped,), name="aegisbo-heartbeat", daemon=True)
        self._resources.callback(thread.join)
        self._resources.callback(stopped.set)
        thread.start()

    def _keep_beating(self, stopped: Signal) -> None:
        while not stopped.wait(self._joined.body["lease"] / BEATS):
            with suppress(StudyError):  # whoever has a result to write will say so
                self.beat()

    def _be_there(self, ledger: Ledger) -> None:
        """Beat once; after having been given up, join again and hold what is still running, unless others run it."""
        self._store.beat(self.id)
        if self.id not in ledger.copies:
            self._append("joined", None, {**self._joined.body, "copy": self.id})
        for number in self._running.intersection(ledger.free):
            self._append("taken", number, {"copy": self.id})

    def _take(self) -> int | None:
        """Hold an open trial that nobody runs; None if there is none."""
        dead = self._dead()
        if not dead and not self._ledger.free:
            return None
        with self._writing() as ledger:
            beats = self._store.beats()
            for each in dead:
                if each in ledger.copies and beats.get(each) == self._heard.get(each, (None,))[0]:
                    lease = ledger.copies[each].body["lease"]
                    bury(self._store, ledger, each, f"did not report for {lease:g} seconds")
            self._read()
            self._be_there(ledger)  # after that, because what this copy runs may have become free
            for number in self._eligible(ledger):
                if ledger.losses[number] > self._retries:
                    self._fail(number, ledger)
                else:
                    self._append("taken", number, {"copy": self.id})
                    self._running.add(number)
                    return number
        return None

    def _eligible(self, ledger: Ledger) -> Iterator[int]:
        """The free trials, as long as the budget has room for one more to be run."""
        for number in ledger.free:
            held = len(ledger.holders) - len(ledger.free)
            if ledger.budget is None or len(ledger.ended) + held < ledger.budget:
                yield number

    def _choose(self, within: float | None) -> int | None:
        """Choose a new point and hold it; None if others have changed meanwhile what the choice must know."""
        seen, started = self._seen, perf_counter()
        mind = copy(self.optimizer)  # ours learns of the choice as of anybody's: from the events
        try:
            trial = mind.ask(within=within)
        except SpaceExhausted:
            if self._ledger.holders:  # others may still be lost, and have to be run again
                return None
            raise
        body = {"params": trial.params, "note": trial.note, "memory": mind.memory, "seen": seen, "copy": self.id}
        with self._writing() as ledger:
            if not ledger.room or any(event.kind in REMAKES for event in self._news):
                return None
            self._be_there(ledger)
            self._append("asked", trial.number, {**body, "seconds": perf_counter() - started})
            self._running.add(trial.number)
        return trial.number

    def _fail(self, number: int, ledger: Ledger) -> None:
        reason = f"Its worker or its copy died {ledger.losses[number]} times: {ledger.reasons[number]}"
        self._append("failed", number, {**as_event(Outcome("failed", reason=reason), 0.0)[1], "copy": self.id})

    def _dead(self) -> list[int]:
        """The copies without a sign of life for as long as they said; nobody's clock is compared with another's."""
        with self._lock:
            self._read()
            beats, now = self._store.beats(), self._clock() - self._store.waited  # when others could not write either
            others = {each: joined.body["lease"] for each, joined in self._ledger.copies.items() if each != self.id}
            for each in others:
                if each in beats and self._heard.get(each, (None,))[0] != beats[each]:
                    self._heard[each] = beats[each], now
            return [each for each, lease in others.items() if each not in beats or now - self._heard[each][1] > lease]

    @contextmanager
    def _writing(self) -> Iterator[Ledger]:
        """What is read and written meanwhile happens at one moment."""
        with self._lock:
            try:
                with self._store.transaction():
                    self._read()
                    yield self._ledger
            except BaseException:
                self._ledger, self._news, self._requests = Ledger(), [], []  # read what has really happened, next time
                raise

    def _append(self, kind: str, number: int | None, body: Mapping[str, Any]) -> int:
        event = self._store.append(kind, number, body)
        self._read()
        return event

    def _read(self) -> None:
        with self._lock:
            for event in self._store.events(self._ledger.last):
                self._ledger.add(event)
                if event.id > self._handed:
                    self._news.append(event)
                if event.kind == "set" and event.id > self._heeded:
                    self._requests.append(event)
