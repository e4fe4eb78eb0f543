"""A study that several copies share: each asks when it is free, and all know what one has learned.

Events are the only truth. A choice is written only if no other was made since the events that it knew, so that it can
be replayed; results and signs of life never wait for a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from math import inf
from threading import Event as Signal
from threading import RLock, Thread
from time import monotonic, perf_counter
from typing import Any, TypeVar

from aegisbo.address import Named, Place, place_of
from aegisbo.errors import InvalidInput, SpaceExhausted, StudyError
from aegisbo.events import (
    Added,
    Asked,
    Changed,
    Ended,
    Event,
    Forgotten,
    Joined,
    Late,
    Lost,
    Reported,
    Resumed,
    Retried,
    Taken,
    ended,
    making_sense,
)
from aegisbo.optimizer import Core, Found, Settings, Trial
from aegisbo.options import SHARED, Options
from aegisbo.outcome import Outcome, Report
from aegisbo.study.agreement import Caller
from aegisbo.study.fitting import Observation, news_among
from aegisbo.study.ledger import Ledger
from aegisbo.study.membership import bury, join, part
from aegisbo.study.opening import Log, driving
from aegisbo.study.reading import exists, read_events
from aegisbo.study.server import persistently
from aegisbo.study.state import State
from aegisbo.study.study import Choosing, Study, outlasting

BEATS = 4  # signs of life during a lease
REMAKES = (Asked, Resumed, Retried, Forgotten)  # events after which a choice must be made again before it is written

E = TypeVar("E", bound=Event)
Turn = Callable[[], AbstractContextManager[None]]  # waits for the turn, but not forever


class Shared(Study):
    """One copy's view of a study; the journal of its loop. Open it with `open`.

    The driver's thread calls `ask` and `take_in`; any thread may call `ended` and `beat`.
    """

    who = "The copy"

    def __init__(
        self,
        store: Log,
        optimizer: Core,
        joined: Joined,
        *,
        retries: int = 2,
        turn: Turn = nullcontext,
    ) -> None:
        super().__init__(optimizer, store, joined.id)
        self.id: int = joined.id
        self._joined = joined
        self._store = store
        self._retries = retries
        self._turn = turn
        self._lock = RLock()  # guards what follows
        self._gone = False
        self._ledger = Ledger()
        self._news: list[Event] = []  # not yet known to the optimizer
        self._requests: list[Added | Changed] = []  # not yet carried out by this copy
        self._handed = joined.id  # the last event taken from the news
        self._heeded = joined.id  # the last event taken from the requests
        self._running: set[int] = set()  # trials that this copy evaluates, even if another holds them
        self._awake = monotonic()  # when this copy last took note of the time
        self._back = -inf  # when it was there again after having been suspended
        self._read_on()
        # Changes from outside that apply to a copy that joins now.
        self.changed = {name: value for name, value in self._ledger.terms.changed.items() if name in SHARED}

    @classmethod
    def open(
        cls,
        path: Named,
        settings: Settings | None,
        lease: float = Options.lease,
        retries: int = 2,
        **caller: Any,
    ) -> Shared:
        """Join the copies of a study, which is made if it does not exist.

        Args:
            path: the file, or the address.
            settings: as the user gave them; None to take those of the study.
            lease: seconds without a sign of life after which others count this copy as dead.
            retries: how often to repeat a trial whose copy died.
            caller: other fields of `Caller`.

        Raises:
            StudyError: the study holds another run, is driven by `minimize`, or cannot be used.
            InvalidInput: the study does not exist and cannot be made, or has no budget.
        """
        place, who = place_of(path), Caller(settings, **caller)
        study = persistently(lambda: cls._joined_by(place, who, lease, retries), who.say)
        study._live()
        return study

    @classmethod
    def _joined_by(cls, path: Place, who: Caller, lease: float, retries: int) -> Shared:
        if not exists(path) and (who.settings is None or who.call.get("budget") is None):
            missing = "what to minimize, and its space" if who.settings is None else "a budget"
            raise InvalidInput(f"There is no study {path} yet: give {missing}, and the first copy makes it.")
        with ExitStack() as resources:
            store, lock = resources.enter_context(driving(path, who.say, shared=True))
            state, joined = join(store, who, lease, alone=lock.alone)
            store.settle()
            study = cls(store, state.optimizer, joined, retries=retries, turn=lock.turn)
            study.begun = state.created.at
            study._make_room, study._resources = (lock.make_room,), resources.pop_all()
            return study

    @property
    def pending(self) -> tuple[Trial, ...]:
        return ()  # the study hands them out

    @property
    def budget(self) -> int:
        """Evaluations in all."""
        return self._ledger.budget or 0

    def requests(self) -> list[Added | Changed]:
        """Requests since the last call, among the events already read; it reads nothing."""
        with self._lock:
            requests, self._requests = self._requests, []
            self._heeded = max(self._heeded, self._ledger.last)
            return requests

    @property
    def spent(self) -> bool:
        """Whether all evaluations of the budget have ended, as far as known here."""
        return self._ledger.spent

    @property
    def paces(self) -> Mapping[int, float]:
        lane = self._joined.lane
        return {worker - lane: pace for worker, pace in self.optimizer.paces.items() if worker >= lane}

    @property
    def rest(self) -> float:
        return max(1.0, min(self._store.rest, self._joined.lease / BEATS))  # it may be this copy that finds one dead

    @outlasting
    def ask(self, within: float | None = None, choosing: Choosing = nullcontext) -> Trial | None:
        """A trial for this copy to hold and run: one that was given back or lost, else a new one.

        None if there is nothing to do at the moment, or `spent`.
        """
        with self._turn():
            while True:
                number = self._take()
                self.catch_up()
                if number is None and self._ledger.room:
                    number = self._choose(within, choosing)
                    self.catch_up()
                if number is not None:
                    self._running.add(number)  # only now, when no server can go away before it is run
                    return self.optimizer.trial(number)
                if not self._ledger.room or self.optimizer.space.cube.exhausted(self.optimizer.evidence().taken):
                    return None

    @outlasting
    def resume(self) -> Trial | None:
        self.catch_up()
        if self.optimizer.resumption() is None:  # as it seems: others may write meanwhile
            return None
        with self._writing() as ledger:
            self._be_there(ledger)
            self.catch_up()
            resumed = self.optimizer.resumption()
            if resumed is not None:
                self._append(replace(resumed, seen=self._seen, copy=self.id))
        self.catch_up()
        if resumed is None:
            return None
        self._running.add(resumed.number)
        return self.optimizer.trial(resumed.number)

    def ended(self, number: int, outcome: Outcome, seconds: float | None = None) -> Event:
        """Record how an evaluation of this copy ended; the first result of a trial counts, later ones do not."""
        lane = None if outcome.worker is None else outcome.worker + self._joined.lane
        return self._tell(replace(ended(number, replace(outcome, worker=lane), seconds), copy=self.id))

    def reported(self, number: int, report: Report) -> Event:
        return self._tell(Reported(number, *report, copy=self.id))

    @outlasting
    def _decided(self, number: int) -> str:
        self.catch_up()
        if self.optimizer.verdict(number) is not None:  # as it seems: others may write meanwhile
            with self._writing():
                self.catch_up()
                if halted := self.optimizer.verdict(number):
                    self._append(replace(halted, seen=self._seen, copy=self.id))
            self.catch_up()
        return self.optimizer.trial(number).halted

    @outlasting
    def learn(self, lists: Iterable[Sequence[Observation]]) -> None:
        with self._writing():
            self.catch_up()
            for event in news_among(lists, self.optimizer.observed):
                self._append(event)
        self.catch_up()

    def take_in(self, event: Event) -> None:
        """Pass on to the optimizer what this copy and others have recorded."""
        if not event.id:
            self._retell(event)
        outlasting(Shared.catch_up)(self)

    def catch_up(self) -> None:
        """Pass on to the optimizer everything recorded so far."""
        with self._lock:
            self._read_on()
            news, self._news, self._handed = self._news, [], self._ledger.last
        for event in news:
            with making_sense(event):
                self.optimizer.apply(event)
            self._seen = event.id

    def beat(self) -> None:
        """Record a sign of life, even if others have declared this copy dead meanwhile."""
        with self._writing() as ledger:
            if not self._gone:
                self._be_there(ledger)

    def _close(self, message: str, idle: Sequence[Mapping[str, float]]) -> None:
        """Give back this copy's trials for others to run; record why it ends, and how its workers spent their time."""
        with self._writing() as ledger:
            if self._gone and self.id not in ledger.copies:  # written just before a server went away
                return
            self._gone = True
            reason = f"Given back: {message}"
            for event in part(self._store, ledger, self.id, message, reason, idle, given_back=True):
                self._learn(event)

    def last_words(self, message: str) -> str:
        return self.moved or message

    def found(self, message: str) -> Found[Core]:
        """What all copies have found; others may continue after this one ended for this reason."""
        whole = State.after(persistently(lambda: read_events(self._store.file))).optimizer
        return replace(whole.found(message), study=self.file)

    def _live(self) -> None:
        """Send signs of life from a separate thread: a choice may take longer than a lease."""
        stopped = Signal()
        thread = Thread(target=self._keep_beating, args=(stopped,), name="aegisbo-heartbeat", daemon=True)
        self._resources.callback(thread.join)
        self._resources.callback(stopped.set)
        thread.start()

    def _keep_beating(self, stopped: Signal) -> None:
        while not stopped.wait(self._joined.lease / BEATS):
            with suppress(StudyError):  # writing the next result will report it
                self.beat()

    def _be_there(self, ledger: Ledger) -> None:
        """Beat once; if declared dead, join again and hold the trials still running here, unless others run them."""
        self._notice_absence()
        self._store.beat(self.id)
        if self.id not in ledger.copies:
            self._append(replace(self._joined, copy=self.id))
        for number in self._running.intersection(ledger.free):
            self._append(Taken(number, self.id))

    def _take(self) -> int | None:
        """Hold an open trial that no copy runs; None if there is none."""
        dead = self._dead()
        for number in self._ledger.held_by(self.id):
            if number not in self._running:  # it was taken or asked for just before a server went away
                return number
        return self._take_free(dead) if dead or self._ledger.free else None

    def _take_free(self, dead: Sequence[int]) -> int | None:
        """Bury the dead, and hold the first trial that is free; None if there is none."""
        with self._writing() as ledger:
            for each in [each for each in self._silent() if each in dead]:
                lease = ledger.copies[each].lease
                for event in bury(self._store, ledger, each, f"did not report for {lease:g} seconds"):
                    self._learn(event)
            self._be_there(ledger)  # after that, because this copy's trials may have become free
            for number in self._eligible(ledger):
                if ledger.losses[number] > self._retries:
                    reason = f"Its worker or its copy died {ledger.losses[number]} times: {ledger.reasons[number]}"
                    self._append(Ended(number, Outcome("failed", reason=reason, seconds=0.0), self.id))
                else:
                    self._append(Taken(number, self.id))
                    return number
        return None

    def _eligible(self, ledger: Ledger) -> Iterator[int]:
        """The free trials, while the budget has room for one more."""
        for number in ledger.free:
            held = len(ledger.holders) - len(ledger.free)
            if ledger.budget is None or len(ledger.ended) + held < ledger.budget:
                yield number

    def _choose(self, within: float | None, choosing: Choosing) -> int | None:
        """Choose a new point and hold it; None if others have meanwhile changed what the choice must know."""
        seen, started = self._seen, perf_counter()
        try:
            with choosing():
                asked = self.optimizer.choose(within)
        except SpaceExhausted:
            if self._ledger.holders:  # others may still be lost and need repeating
                return None
            raise
        with self._writing() as ledger:
            if not ledger.room or any(isinstance(event, REMAKES) for event in self._news):
                return None
            self._be_there(ledger)
            self._append(replace(asked, seen=seen, seconds=perf_counter() - started, copy=self.id))
        return asked.number

    def _dead(self) -> list[int]:
        """The copies without a sign of life for their whole lease."""
        with self._lock:
            self._read_on()
            return self._silent()

    def _silent(self) -> list[int]:
        self._notice_absence()
        heard_for, silences, copies = monotonic() - self._back, self._store.silences(), self._ledger.copies
        return [
            each
            for each in sorted(copies)
            if each != self.id and min(silences.get(each, inf), heard_for) > copies[each].lease
        ]

    def _notice_absence(self) -> None:
        """A copy that was suspended while it was writing has kept the others from giving signs of life."""
        now = monotonic()
        if now - self._awake > self._joined.lease:
            self._back = now
        self._awake = now

    @contextmanager
    def _writing(self) -> Iterator[Ledger]:
        """Reads and writes inside are one transaction."""
        with self._lock:
            try:
                with self._store.transaction():
                    self._read_on()
                    yield self._ledger
            except BaseException:
                self._ledger, self._news, self._requests = Ledger(), [], []  # read again what really happened next time
                raise

    def _record(self, event: Event) -> Event:
        """Write what happened to a trial here.

        The first result counts, and a loss only if this copy still holds the trial.
        """
        number = event.number
        with self._writing() as ledger:
            if isinstance(event, Ended | Lost) and (
                number not in ledger.holders or (isinstance(event, Lost) and ledger.holders[number] != self.id)
            ):
                event = Late(event.number, event.outcome, self.id)
            written = self._append(event)
        if isinstance(event, Ended | Late) and event.outcome.state != "lost":  # a lost one runs again here
            self._running.discard(event.number)
        return written

    def _append(self, event: E) -> E:
        """Append an event while no other process can write."""
        written = self._store.append(event)
        self._learn(written)
        return written

    def _read_on(self) -> None:
        with self._lock:
            for event in self._store.events(self._ledger.last):
                self._learn(event)

    def _learn(self, event: Event) -> None:
        self._ledger.apply(event)
        if event.id > self._handed:
            self._news.append(event)
        if isinstance(event, Changed) and event.id > self._heeded:
            self._requests.append(event)
