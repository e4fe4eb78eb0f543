"""What callbacks for trackers share: each trial is logged once, by a thread, so that no worker waits for a server."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread

from aegisbo.address import Place
from aegisbo.optimizer import Settings, Trial
from aegisbo.optimizer.limits import broken_by
from aegisbo.optimizer.trial import ADDED, move_of
from aegisbo.printable import brief, printable
from aegisbo.public.optimizer_and_result import Result
from aegisbo.runners.progress.log_lines import logger
from aegisbo.study.reading import read_events

PATIENCE = 60.0  # seconds without anything being logged after which the end of a run waits no longer
PASSWORD = re.compile(r"//\S*@")  # in the address of a server
RUNNING = ("pending", "forgotten")  # states of trials that have not ended, or never were


@dataclass(frozen=True)
class Entry:
    """A trial that has ended, as trackers show it."""

    trial: Trial
    again: int  # how often it was logged before: it may have been retried
    mark: str  # by which it is known to be logged
    place: int  # the first to be logged has 1
    best: Mapping[str, float]  # so far

    @property
    def name(self) -> str:
        """As users read it."""
        return f"trial {self.trial.number}" + (f", again {self.again}" if self.again else "")

    @property
    def file(self) -> str:
        """As a part of the name of a file, in the order of numbers."""
        return f"trial-{self.trial.number:04}" + (f"-{self.again}" if self.again else "")

    @property
    def metrics(self) -> dict[str, float]:
        """What was measured: the value, or all objectives and whatever else by name."""
        trial = self.trial
        told = {"value": trial.value, "sd": trial.sd, **trial.measured, "seconds": trial.seconds}
        return {name: float(number) for name, number in told.items() if number is not None}

    @property
    def facts(self) -> dict[str, str]:
        """What is known beside numbers."""
        trial, move = self.trial, move_of(self.trial)
        told = {
            "state": trial.state,
            "move": move,
            "author": trial.author if move == ADDED else None,
            "reason": trial.reason,
            "worker": trial.worker,
        }
        return {name: printable(str(fact)) for name, fact in told.items() if fact not in (None, "")}

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Step, value and time of each report. Trackers count steps in whole numbers: others are numbered instead."""
        reports, began = self.trial.reports, self.trial.started or 0.0
        whole = all(report.step.is_integer() for report in reports)
        return [
            (int(report.step) if whole else k, report.value, began + (report.seconds or 0.0))
            for k, report in enumerate(reports, start=1)
            if report.value is not None
        ]


@dataclass(frozen=True)
class Whole:
    """A study, as trackers show it."""

    name: str
    key: str  # by which it is known
    settings: Settings

    @property
    def facts(self) -> dict[str, str]:
        """What defines it."""
        settings = self.settings
        wanted = ", ".join(each.text for each in settings.objectives) or ("max" if settings.maximize else "min")
        told = {
            "strategy": settings.text or repr(settings.strategy),
            "preset": settings.preset,
            "seed": settings.seed,
            "objective": wanted,
            "limits": ", ".join(limit.text for limit in settings.limits),
            **{f"space.{name}": parameter for name, parameter in settings.space.parameters.items()},
        }
        return {name: str(fact) for name, fact in told.items() if fact not in (None, "")}


class Session(ABC):
    """A study that is being logged."""

    logged: set[str]  # marks of what the tracker has

    @abstractmethod
    def write(self, entry: Entry) -> None:
        """Log a trial, and that it is logged."""

    @abstractmethod
    def close(self) -> None:
        """Nothing comes for now."""


class ListedSession(Session):
    """A session with a list of what is logged in a file, for trackers that cannot be asked."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self.logged = set(file.read_text("utf-8").splitlines()) if file.exists() else set()

    def write(self, entry: Entry) -> None:
        self.log(entry)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{entry.mark}\n")

    @abstractmethod
    def log(self, entry: Entry) -> None:
        """Log a trial."""


class Tracker(ABC):
    """A callback for `minimize` that logs all trials which have ended, also those of earlier calls.

    A tracker only has a copy of what the study keeps. If it does not answer, a warning says so, the run goes on, and
    what is missing is logged with a later trial, or by the next call.
    """

    title: str  # of the tracker

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._own = token_hex(5)  # stands for a study, where there is none
        self._lock = Lock()
        self._latest: Result | None = None  # to be logged
        self._last = False  # whether nothing comes after it for now
        self._writer: Thread | None = None
        self._session: Session | None = None
        self._place: Place | None = None  # of the session's study
        self._count = 0  # how many trials were logged
        self._warned = False

    @abstractmethod
    def _opened(self, study: Whole) -> Session:
        """Begin to log this study, or go on."""

    def __call__(self, trial: Trial, result: Result) -> None:
        """Log what has ended; the run calls this after each trial, and does not wait for it."""
        self._hand_over(result)

    def on_begin(self, result: Result) -> None:
        """Log what had ended before; the run calls this first."""
        self._warned = False
        if result.study is None:
            self._own = token_hex(5)
        self._hand_over(result)

    def on_end(self, result: Result) -> None:
        """Log the rest, and wait for it as long as it goes on; the run calls this last."""
        self._finish(result)

    def log(self, result: Result) -> None:
        """Log all trials of a result that have ended and are not logged yet, and wait for it.

        Args:
            result: of a run, or of a study: `aegisbo.load("run.db")`.
        """
        self._warned = False
        self._finish(result)

    def _finish(self, result: Result) -> None:
        self._hand_over(result, last=True)
        try:
            while (writer := self._writer) is not None:
                before = self._count
                writer.join(PATIENCE)
                if self._writer is writer and self._count == before:
                    break
        except KeyboardInterrupt:
            pass
        if self._writer is not None or self._latest is not None:
            self._warn("it does not answer")

    def _hand_over(self, result: Result, *, last: bool = False) -> None:
        with self._lock:
            self._latest, self._last = result, last
            if self._writer is None:
                writer = Thread(target=self._write, name=f"aegisbo-{self.title}", daemon=True)
                with suppress(RuntimeError):  # no more threads can be started: the next trial tries again
                    writer.start()
                    self._writer = writer

    def _write(self) -> None:
        while True:
            with self._lock:
                result, last = self._latest, self._last
                self._latest, self._last = None, False
                if result is None:
                    self._writer = None
                    return
            try:
                self._log(result)
                if last:
                    self._close()
            except BaseException as error:  # whatever a tracker raises; without this thread a run would wait for ever
                said = PASSWORD.sub("//", str(error).partition("\n")[0])
                self._warn(f"{type(error).__name__}: {brief(said, 300)}")
                self._close()  # the next attempt asks again what is logged

    def _log(self, result: Result) -> None:
        if result.study != self._place:
            self._close()
        if self._session is None:
            self._session, self._place = self._opened(self._whole(result)), result.study
        refused: Exception | None = None
        for entry in _entries(result, self._session.logged):
            try:
                self._session.write(entry)
            except Exception as error:
                if refused is not None:  # it is not about one trial
                    raise
                refused = error
                continue
            self._session.logged.add(entry.mark)
            self._count += 1
        if refused is not None:
            raise refused

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(BaseException):  # that has been told, or nothing is lost
                session.close()

    def _whole(self, result: Result) -> Whole:
        settings = result.optimizer.settings
        if result.study is None:
            return Whole(self._name or "aegisbo", self._own, settings)
        begun = read_events(result.study)[0].at  # its name may change
        return Whole(self._name or result.study.stem, sha256(repr(begun).encode()).hexdigest()[:10], settings)

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            logger.warning(
                f"{self.title} has not logged all trials ({why}). The run does not need it. What is missing is logged "
                "with the next trial, by the next call for this study, or by callback.log(aegisbo.load(study))."
            )


def _entries(result: Result, logged: Collection[str]) -> Iterator[Entry]:
    """The trials that have ended and are not logged, each with the best of those before."""
    settings, done = result.optimizer.settings, len(logged)
    ended = [(_mark(trial), trial) for trial in result.trials if trial.state not in RUNNING]
    ended.sort(key=lambda each: (each[0] not in logged, each[1].ended or math.inf, each[1].number))
    observed = [("", trial) for trial in result.optimizer.observed if not settings.space.broken(trial.params)]
    best: dict[str, float] = {}
    for mark, trial in (*observed, *ended):
        for name, direction in settings.directions.items():
            value, key = (trial.value, "best") if name is None else (trial.measured.get(name), f"best {name}")
            if value is None or broken_by(trial, settings.limits):
                continue
            best[key] = min(value, best.get(key, value), key=direction.turned)
        if mark and mark not in logged:
            done += 1
            again = sum(other.startswith(f"{trial.number}:") for other in logged)
            yield Entry(trial, again, mark, done, dict(best))


def _mark(trial: Trial) -> str:
    return f"{trial.number}:{trial.state}-{trial.ended}"
