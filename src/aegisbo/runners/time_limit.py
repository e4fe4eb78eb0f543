"""The time limit of one evaluation, `trial_timeout`: it counts from the call of the function.

A worker that takes longer is stopped. If that is impossible, its evaluation counts as timed out, and the worker stays
busy until the function returns.
"""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.optimizer import Trial
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Finished, Workers


@dataclass
class Running:
    """A job at a worker."""

    trial: Trial
    slot: int  # which worker, counted from 0
    submitted: float
    called: float | None = None  # when its function was called, as far as known
    overdue: bool = False  # its time is up
    heard: bool = False  # whether it has reported
    given_up: bool = False  # its worker cannot be stopped: the job counts as ended, but the worker stays busy

    def seconds(self, workers: Workers) -> float:
        """How long its function has been running."""
        called = self.called_at(workers)
        return 0.0 if called is None else workers.now() - called

    def due(self, workers: Workers, limit: float | None) -> float | None:
        """When it must be stopped; later than now if its function has not been called yet. None: never."""
        if self.overdue or limit is None:
            return None
        called = self.called_at(workers)
        return (workers.now() if called is None else called) + limit

    def called_at(self, workers: Workers) -> float | None:
        """When its function was called; closed workers no longer know."""
        if self.called is None:
            self.called = workers.called(self.trial.number)
        return self.called


def stop_if_overdue(job: Running, workers: Workers, limit: float | None) -> Finished | None:
    """Stop a job whose time is up; if it is given up instead, return its outcome."""
    now, due = workers.now(), job.due(workers, limit)
    if due is None or now < due:
        return None
    job.overdue = True
    seconds = job.seconds(workers)
    how_long = f"after {seconds:{'.1f' if seconds >= 1.0 else '.2g'}} seconds (trial_timeout={limit:g})."
    if workers.can_stop:
        workers.stop(job.trial.number, f"Stopped {how_long}")
        return None
    job.given_up = workers.give_up(job.trial.number)  # False if it has just ended by itself
    workers.tell(job.trial.number, f"Too slow {how_long}")  # it may report, and so have ears
    outcome = Outcome("timed_out", reason=f"Still running {how_long}", seconds=seconds, worker=job.slot)
    return Finished(job.trial.number, outcome, job.submitted, now) if job.given_up else None
