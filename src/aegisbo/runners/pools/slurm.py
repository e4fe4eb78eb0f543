"""Evaluations as SLURM jobs, one job each, through submitit.

submitit writes function and point to a folder that all nodes see, and the job writes its outcome there. One thread
looks for outcomes, and asks SLURM now and then for jobs that ended without one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any
from uuid import uuid4

from aegisbo.errors import AegisError, InvalidInput, MissingExtra
from aegisbo.executors import Slurm
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by, taking
from aegisbo.runners.pools.file_line import FileLine, answer, files_of, reports_since

LOOK = 0.2  # seconds between two looks into the folder
ASK = 30.0  # seconds between two questions to SLURM, which answers for all jobs at once
GRACE = {"slurm": 15.0}  # seconds that a file from another node may be late; on this machine there is no delay
TIME_LIMIT = "TIMEOUT"  # SLURM's state of a job that ran into its limit

Job = Any  # submitit.Job, loaded only when it is used


@dataclass
class _SlurmJob:
    """A job that has not ended, as far as known."""

    job: Job
    marker: Path  # appears when the function is called; files beside it hold reports and answers
    reports: int = 0  # of which so many bytes were read
    answers: int = 0  # that were given
    gone_since: float | None = None  # it has ended, but there is no outcome yet


class SlurmJobs(Pool):
    """SLURM jobs; those that are queued or running when the run ends are canceled."""

    name = "SLURM jobs"
    hears = True
    can_stop = True
    reports_calls = True

    def __init__(
        self,
        settings: Slurm,
        evaluation: Evaluation,
        variables: Callable[[int], Sequence[Mapping[str, str]]],  # from the number of slots to the variables of each
        capacity: int,
    ) -> None:
        super().__init__(capacity)
        self._settings = settings
        self._folder = Path(settings.folder).absolute()  # once: a callback may change the directory
        self._all_variables = variables
        self.resize(capacity)
        self._packed = pack(evaluation)
        self._executor = _executor(settings)
        self._jobs: dict[int, _SlurmJob] = {}  # by number
        self._closed = Event()
        self._watcher = Thread(target=self._watch, name="aegisbo-slurm", daemon=True)
        self._watcher.start()

    def resize(self, capacity: int) -> None:
        """Allow this many queued or running jobs from now on."""
        self._variables = self._all_variables(capacity)
        super().resize(capacity)

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        """Cancel the job of this trial; if it has just ended, its own outcome counts."""
        entry = self._jobs.get(number)
        if entry is None or _has_ended(entry.job):
            return
        if self._jobs.pop(number, None) is not None:
            _cancel(entry.job)
            self._ended(number, Outcome("timed_out", reason=reason))

    def tell(self, number: int, reason: str = "") -> None:
        if (entry := self._jobs.get(number)) is not None:
            entry.answers += 1
            answer(entry.marker, entry.answers, reason)

    def close(self) -> None:
        """Cancel all jobs."""
        self._forget()
        self._closed.set()
        self._watcher.join(ASK)  # SLURM may be slow to answer
        while self._jobs:
            _cancel(self._jobs.popitem()[1].job)

    def _start(self, number: int, point: bytes, worker: int) -> None:
        marker = self._folder / f"{uuid4().hex}.called"
        path = [str(entry) for entry in sys.path]
        with taking("SLURM takes no job", ": change what it objects to, and"):  # such as too many jobs of this user
            job = self._executor.submit(run_job, path, self._variables[worker], self._packed, point, str(marker))
        self._jobs[number] = _SlurmJob(job, marker)

    def _watch(self) -> None:
        """The thread: look at all jobs until the pool is closed."""
        asked = monotonic()
        while not self._closed.wait(LOOK):
            ask = monotonic() - asked > ASK
            asked = monotonic() if ask else asked
            for number, entry in tuple(self._jobs.items()):
                with suppress(Exception):  # the file system or SLURM does not answer: look again later
                    self._look(number, entry, ask=ask)
                ask = False

    def _look(self, number: int, entry: _SlurmJob, *, ask: bool) -> None:
        if self.called(number) is None and entry.marker.exists():
            self._called(number)
        reports, entry.reports = reports_since(entry.marker, entry.reports)
        for report in reports:
            self._heard(number, report)
        if not entry.job.done(force_check=ask):
            return
        outcome = self._outcome(entry)
        if outcome is not None and self._jobs.pop(number, None) is not None:
            self._ended(number, outcome)
            for file in (*files_of(entry.marker), entry.job.paths.submitted_pickle, entry.job.paths.result_pickle):
                with suppress(OSError):  # it is no longer needed; the logs stay
                    file.unlink()

    def _outcome(self, entry: _SlurmJob) -> Outcome | None:
        """How a job ended; None if its outcome may still arrive."""
        job = entry.job
        if job.paths.result_pickle.exists():
            try:
                return unpack_outcome(job.result())
            except Exception as error:  # submitit gives the exceptions of a job as text
                return replace(lost_by(error), unusable="ModuleNotFoundError" in str(error))
        now = monotonic()
        entry.gone_since = now if entry.gone_since is None else entry.gone_since
        if now - entry.gone_since < GRACE.get(self._settings.cluster, 0.0):
            return None
        if job.state.startswith(TIME_LIMIT):
            limit = f"minutes={self._settings.minutes}"
            return Outcome("timed_out", reason=f"SLURM stopped job {job.job_id} at its time limit ({limit}).")
        log = f"its log is {job.paths.stderr}"
        return Outcome("lost", reason=f"SLURM job {job.job_id} ended without an outcome (state {job.state}); {log}.")


def run_job(path: list[str], variables: Mapping[str, str], packed: bytes, point: bytes, marker: str) -> bytes:
    """In the job: the packed outcome of a point."""
    # submitit would raise an exception inside the function shortly before its limit; let it use all of its time.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    sys.path.extend(entry for entry in path if entry not in sys.path)
    os.environ.update(variables)  # before the function is loaded
    return evaluate_packed(packed, point, Path(marker).touch, FileLine(Path(marker)))


def _executor(settings: Slurm) -> Any:
    try:
        submitit = import_module("submitit")
    except ImportError:
        raise MissingExtra("SLURM", "slurm") from None
    try:
        executor = submitit.AutoExecutor(folder=settings.folder, cluster=settings.cluster)
    except RuntimeError as error:
        raise AegisError(
            f'SLURM is not on this machine ({error}): run on a machine that has sbatch, or try Slurm(cluster="local").'
        ) from error
    except ValueError as error:
        raise InvalidInput(f'cluster is {settings.cluster!r}: use "slurm" or "local".') from error
    memory = {} if settings.memory_gb is None else {"mem_gb": settings.memory_gb}
    wishes = {"name": "aegisbo", "timeout_min": settings.minutes, **memory, **settings.parameters}
    try:
        executor.update_parameters(**wishes)
    except Exception as error:
        raise InvalidInput(f"submitit does not take the parameters {dict(settings.parameters)!r}: {error}") from error
    return executor


def _has_ended(job: Job) -> bool:
    with suppress(Exception):  # SLURM does not answer
        return bool(job.done(force_check=True))
    return False


def _cancel(job: Job) -> None:
    with suppress(Exception):  # it has ended meanwhile
        job.cancel(check=False)
