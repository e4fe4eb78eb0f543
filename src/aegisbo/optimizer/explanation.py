"""What a run knows about one point, and why a trial was placed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aegisbo.number import as_number
from aegisbo.optimizer.prediction import Prediction
from aegisbo.optimizer.trial import USER, Trial, in_brief, move_of, name_of, told_in_brief
from aegisbo.printable import printable, so_many
from aegisbo.space import Params


class Influence(NamedTuple):
    """How the prediction changes when one parameter alone goes through its range."""

    low: float
    high: float
    best: Any  # the value of the parameter at which the prediction is best

    @property
    def span(self) -> float:
        """From the lowest to the highest prediction."""
        return self.high - self.low


@dataclass(frozen=True, repr=False)
class Explanation:
    """One point: the prediction, how far the data are, which parameters matter; for a trial also why it was chosen.

    Without a model, the fields that need one are None or empty, and `remark` says why.
    """

    params: Params
    trial: Trial | None = None  # the trial at this point, if it was asked for by number
    prediction: Prediction | None = None
    best: Trial | None = None  # the best so far, which `chance` refers to
    nearest: Trial | None = None  # the nearest evaluated point other than the trial itself
    distance: float | None = None  # to it, in length scales of the model
    influence: Mapping[str, Influence] = field(default_factory=dict)  # by parameter, the most influential one first
    remark: str = ""  # why there is no prediction
    behind: int | None = None  # results that had come in but were not known when the trial was chosen
    objective: str | None = None  # which of several objectives it is about
    doubt: str = ""  # why the prediction says little, if it does
    broken: tuple[str, ...] = ()  # constraints that the point breaks, so that it would not be chosen

    def __repr__(self) -> str:
        return printable("\n".join(f"{name:>10}{':' if name else ' '} {text}" for name, text in self._lines()))

    def _lines(self) -> Iterator[tuple[str, str]]:
        if self.trial is not None:
            yield "point of", self._told(self.trial)
            yield "chosen", self._chosen(self.trial)
        yield "point", in_brief(self.params)
        if self.broken:
            yield "breaks", f"{', '.join(self.broken)}: it would not be chosen"
        if self.prediction is None:
            yield "prediction", self.remark
            return
        yield "prediction", self.prediction.band
        if self.doubt:
            yield "doubt", self.doubt
        if self.trial is None or self.trial.state != "done":
            yield from self._chances(self.prediction)
        if self.nearest is not None:
            yield "nearest", f"{self._told(self.nearest)}, {self.distance:.3g} length scales away"
        yield "parameters", "if only one varied over its range, the prediction would go"
        width = max(map(len, self.influence))
        for name, (low, high, best) in self.influence.items():
            at = f"{best:.6g}" if isinstance(best, float) else best
            yield "", f"  {name:<{width}}  from {low:.4g} to {high:.4g}, best at {at}"

    def _chances(self, prediction: Prediction) -> Iterator[tuple[str, str]]:
        yield "chance", f"{prediction.chance:.1%} to be better than the best so far, {self._told(self.best)}"
        if prediction.front is not None:
            yield "front", f"{prediction.front:.1%} that it joins the front"
        if prediction.success < 1.0:
            yield "success", f"{prediction.success:.1%} that an evaluation gives a value"
        if prediction.feasible < 1.0:
            yield "limits", f"{prediction.feasible:.1%} that it keeps all limits"

    def _chosen(self, trial: Trial) -> str:
        note, said = trial.note, [f"by the move {move_of(trial)}"]
        if trial.author not in (move_of(trial), USER):
            said = [f"added by {trial.author}"]
        if "guard" in note:
            said.append(f"instead of a point that was known already ({_instead(note['guard'])})")
        mean, std = (as_number(self._mine(note.get(name))) for name in ("mean", "std"))
        if mean is not None and std is not None:
            said.append(f"when {mean:.6g} ± {std:.3g} was predicted there")
        if (worth := as_number(note.get("guess"))) is not None:
            said.append(f"weighed {worth:.2g} by the guess")
        expected, within = (as_number(note.get(name)) for name in ("expected_seconds", "within_seconds"))
        if expected is not None:
            said.append(f"expected to take {expected:.3g} s")
        if within is not None:
            said.append(f"because {within:.3g} s were left")
        if self.behind is not None:
            said.append(f"{so_many(self.behind, 'result')} behind")
        return ", ".join(said)

    def _mine(self, noted: Any) -> Any:
        """What a note says of the objective, if there are several."""
        return noted.get(self.objective) if isinstance(noted, Mapping) else noted

    def _told(self, trial: Trial | None) -> str:
        """A trial by number and outcome."""
        if trial is None:
            return "nothing"
        told = told_in_brief(trial)
        if self.objective is not None and trial.state == "done":
            told = in_brief({self.objective: trial.measured[self.objective]})
        return f"{name_of(trial)} ({told or trial.state})"


def _instead(guard: object) -> str:
    """What replaced a first choice that was already evaluated or pending; see `avoid_duplicates`."""
    other = "a random point" if guard == "random" else f"a choice of the move {guard}"
    return "the next choice of the same move" if guard == "next" else other
