"""One evaluation of the user's function, from being asked for to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import Any

from aegisbo.outcome import Outcome, Report, State
from aegisbo.printable import printable
from aegisbo.space import Params
from aegisbo.strategies.base import Note

SHOWN = 6  # parameters in a short text
ADDED = "added"  # the move of a point that somebody added
USER = "user"  # the author of a point that was added by somebody without a name


@dataclass(frozen=True, repr=False)
class Trial:
    """A point, how its evaluation ended, and why it was chosen."""

    number: int  # 0, 1, 2, ... as asked for; -1, -2, ... for points observed elsewhere
    x: Any = field(compare=False)  # what the function receives; a vector is read-only
    params: Params
    state: State = "pending"
    value: float | None = None  # as the user measured it; only when done, and None of several objectives
    sd: float | None = None  # standard deviation of the value, if it was told
    note: Note = field(default_factory=dict)
    reason: str | None = None  # why there is no value
    measured: Mapping[str, float] = field(default_factory=dict)  # beside the value, by name; all objectives
    # How the evaluation went, where whoever evaluated it said so; not compared, because it is not part of the result.
    started: float | None = field(default=None, compare=False)  # seconds since 1970
    ended: float | None = field(default=None, compare=False)  # seconds since 1970
    seconds: float | None = field(default=None, compare=False)  # that the function took
    worker: int | None = field(default=None, compare=False)  # counted from 0
    output: str = field(default="", compare=False)  # the end of what the function printed
    traceback: str = field(default="", compare=False)
    details: Mapping[str, Any] | None = field(default=None, compare=False)  # what else the function said
    reports: tuple[Report, ...] = field(default=(), compare=False)  # steps grow; those that were kept
    halted: str = field(default="", compare=False)  # why it is to stop, while it has not heard of it
    paused: int = field(default=0, compare=False)  # how many reports there were when that was decided; 0 if it was not
    spent: float = field(default=0.0, compare=False)  # seconds that it took until it was stopped, if it goes on

    @property
    def author(self) -> str:
        """Who proposed the point: whoever added it, or the move that chose it."""
        move = move_of(self)
        return str(self.note.get("author", USER)) if move == ADDED else move

    def reported(self, report: Report) -> Trial:
        """This trial after a report. A step that was reached before begins anew there: its worker had died, say."""
        earlier = self.reports
        if self.spent and report.seconds is not None:
            report = report._replace(seconds=self.spent + report.seconds)
        if earlier and earlier[-1].step >= report.step:
            earlier = tuple(each for each in earlier if each.step < report.step)
        return replace(self, reports=(*earlier, report))

    def after(self, outcome: Outcome) -> Trial:
        """This trial after its evaluation has ended like this."""
        done = outcome.state == "done"
        seconds = None if outcome.seconds is None else self.spent + outcome.seconds
        timed = outcome.began is not None and outcome.seconds is not None
        return replace(
            self,
            state=outcome.state,
            value=outcome.value if done else None,
            sd=outcome.sd if done else None,
            reason=None if done else outcome.reason,
            measured=dict(outcome.measured) if done else {},
            started=outcome.began,
            ended=outcome.began + outcome.seconds if timed else None,  # type: ignore[operator]
            seconds=seconds,
            worker=outcome.worker,
            output=outcome.output,
            traceback=outcome.traceback,
            details=outcome.details,
            halted="",
            paused=self.paused if outcome.state == "stopped" else 0,
            spent=0.0,
        )

    def resumed(self) -> Trial:
        """This trial, which was stopped, as it goes on."""
        return replace(self, state="pending", reason=None, paused=0, spent=self.seconds or 0.0)

    def describe(self) -> dict[str, Any]:
        """Everything but `x`, which follows from `params`, in JSON's types."""
        names = ("reports", "halted", "paused", "spent")
        reporting = {name: value for name in names if (value := getattr(self, name))}
        rest = {name: value for name, value in vars(self).items() if name not in ("x", *names)}
        return {**rest, **reporting}

    def __repr__(self) -> str:
        parts = [
            told_in_brief(self) or shorten(self.reason or "", 60),
            f"move {self.note['move']}" if "move" in self.note else "",
            in_brief(self.params),
        ]
        return printable(f"<Trial {self.number} {self.state}: {', '.join(filter(None, parts))}>")


def name_of(trial: Trial) -> str:
    """A trial by its number, a point that was observed elsewhere by its own."""
    return f"trial {trial.number}" if trial.number >= 0 else f"observed point {-trial.number}"


def told_in_brief(trial: Trial) -> str:
    """What a trial has measured: its value, or all objectives by name; nothing if it is not done."""
    if trial.state != "done":
        return ""
    return in_brief(trial.measured) if trial.value is None else f"{trial.value:.6g}"


def move_of(trial: Trial) -> str:
    """Who chose the point; "unknown" if nobody noted it."""
    return str(trial.note.get("move", "unknown"))


def states_of(trials: Iterable[Trial]) -> str:
    """How many are in each state, in words."""
    return ", ".join(f"{count} {state}" for state, count in Counter(trial.state for trial in trials).items())


def in_short(values: Mapping[str, Any]) -> str:
    """Values by name, six digits of each."""
    return printable(", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items()))


def in_brief(values: Mapping[str, Any]) -> str:
    """Values by name, six digits of each, and the first few if there are many."""
    shown = [f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in list(values.items())[:SHOWN]]
    return printable(", ".join([*shown, *(["..."] if len(values) > SHOWN else [])]))
