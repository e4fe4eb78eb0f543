"""The facts that the live page shows, kept up to date while studies run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition, Event, Thread
from typing import Any

from aegisbo.address import Place
from aegisbo.errors import AegisError
from aegisbo.review.landscape import Models, models_of
from aegisbo.review.payload import MOST, facts_of, front_facts_of, learned_facts_of
from aegisbo.review.record import Record
from aegisbo.study.stamp import Stamp

EVERY = 0.3  # seconds between two looks at the files
TICK = 2.0  # seconds after which a running study is read again although nothing was written, because time passes
SHARE = 4.0  # rest at least this many times as long as reading took
MODEL_SHARE = 6.0  # and this many times as long as the model took: the run needs the cores


class Board:
    """What is known about each study. `start` begins to watch the files, `stop` ends it."""

    def __init__(self, paths: Sequence[Place]) -> None:
        self._sources = [_Source(path) for path in paths]
        self._changed = Condition()
        self._stopped = Event()
        self._version = 0
        self._facts: dict[str, Any] = {"studies": [], "waiting": []}

    def start(self) -> None:
        """Read all studies once, then continue in the background."""
        self._read()
        for work in (self._read, self._learn):
            Thread(target=self._repeat, args=(work,), daemon=True, name=f"aegisbo-{work.__name__}").start()

    def stop(self) -> None:
        """Stop watching after a last look, and wake all that wait for news."""
        for source in self._sources:
            source.hurry()
        self._read()
        self._stopped.set()
        for source in self._sources:
            source.close()
        with self._changed:
            self._changed.notify_all()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def facts(self) -> tuple[int, dict[str, Any]]:
        """The current facts and their version; they are never changed afterwards."""
        with self._changed:
            return self._version, self._facts

    def wait(self, version: int, timeout: float) -> bool:
        """Wait for something newer than a version; False if the time is up."""
        with self._changed:
            return self._changed.wait_for(lambda: self._version != version or self.stopped, timeout)

    def front(self, study: int, trial: int) -> dict[str, Any] | None:
        """One decision of one study in full; None if no model took part in it.

        Raises:
            AegisError: there is no such study or trial, or its model would take minutes.
        """
        shown = [source for source in self._sources if source.record is not None]
        if not 0 <= study < len(shown):
            raise AegisError(f"There is no study {study}: {len(shown)} are shown.")
        record = shown[study].record
        assert record is not None
        decision = record.decisions.get(trial)
        if decision is not None and decision.known > MOST:
            raise AegisError(
                f"Trial {trial} was chosen from {decision.known:,} results. Decisions made with more than {MOST:,} are "
                "not shown in full: their models take too long."
            )
        return front_facts_of(record, trial)

    def _repeat(self, work: Callable[[], None]) -> None:
        while not self._stopped.wait(EVERY):
            work()

    def _read(self) -> None:
        """Read what has changed."""
        changed = [source.read() for source in self._sources]
        if any(changed):
            self._publish()

    def _learn(self) -> None:
        """Fit the models of studies with new results."""
        for source in self._sources:
            if source.learn():
                self._publish()

    def _publish(self) -> None:
        shown = [source.facts for source in self._sources if source.facts is not None]
        waiting = [source.trouble for source in self._sources if source.facts is None and source.trouble is not None]
        with self._changed:
            self._facts = {"studies": shown, "waiting": waiting}
            self._version += 1
            self._changed.notify_all()


class _Source:
    """One study, as it was last read."""

    def __init__(self, path: Place) -> None:
        self.path = path
        self._look = Stamp(path)
        self.record: Record | None = None
        self.facts: dict[str, Any] | None = None
        self.trouble: str | None = None  # why it cannot be read
        self._models: Models = {}
        self._learned_facts: dict[str, Any] = {}
        self._stamp: object = None
        self._learned = -1  # results that the model knows
        self._not_before = self._model_not_before = 0.0

    def hurry(self) -> None:
        """Do not rest before the next look."""
        self._not_before = 0.0

    def close(self) -> None:
        """Look no more."""
        self._look.close()

    def read(self) -> bool:
        """Read the file if it has changed; whether there is anything new to show."""
        begin = time.monotonic()
        stamp = self._look()
        idle = stamp == self._stamp and not (self.record is not None and self.record.driven)
        if idle or begin < self._not_before:
            return False
        if stamp == self._stamp and self.record is not None and begin < self._not_before + TICK:
            return False
        self._stamp = stamp
        before = self.facts, self.trouble
        try:
            record = Record.of_study(self.path)
            self.record, self.facts, self.trouble = record, self._combined(record), None
        except AegisError as error:  # missing so far, or damaged; what was read before stays unless the file is gone
            self.trouble = str(error)
            if self._look.gone:
                self.record = self.facts = None
                self._models, self._learned_facts, self._learned = {}, {}, -1
        self._not_before = time.monotonic() + SHARE * (time.monotonic() - begin)
        return (self.facts, self.trouble) != before

    def learn(self) -> bool:
        """Fit the model if there are new results; whether there is anything new to show."""
        record, begin = self.record, time.monotonic()
        if record is None or begin < self._model_not_before or self._learned == len(record.ended):
            return False
        try:
            models = models_of(record.optimizer)
        except AegisError:  # an unreadable memory: asking for a decision in full reports it
            models = {}
        facts = learned_facts_of(record, models)
        now = self.record
        if now is None:  # the study was removed meanwhile
            return False
        self._models, self._learned_facts, self._learned = models, facts, len(record.ended)
        self.facts = self._combined(now)
        self._model_not_before = time.monotonic() + MODEL_SHARE * (time.monotonic() - begin)
        return True

    def _combined(self, record: Record) -> dict[str, Any]:
        return {**facts_of(record, self._models), **self._learned_facts}
