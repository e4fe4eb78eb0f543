"""The data of a page: the facts of a run in JSON types, numbers cut to the visible digits."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.number import as_number
from aegisbo.optimizer import Trial
from aegisbo.optimizer.limits import broken_by, names_of
from aegisbo.optimizer.prediction import in_units
from aegisbo.optimizer.trial import move_of
from aegisbo.report.continuing import calls_of
from aegisbo.report.convergence import convergence
from aegisbo.report.failure_groups import failure_groups
from aegisbo.report.front import front
from aegisbo.report.health import health
from aegisbo.report.landscape import Contour, Landscape, Slice
from aegisbo.report.reasons import calibration, predictions, yields
from aegisbo.report.record import Record
from aegisbo.report.timeline import timeline
from aegisbo.space.description import table_of
from aegisbo.space.parameters import Choice, Parameter
from aegisbo.space.text import spelled
from aegisbo.strategies.surrogates import CONDITIONED_ON

DIGITS = 7  # of a number
LONGEST = 4000  # characters of one text: the end of what was printed
ALL_TEXTS = 400_000  # characters of all texts together
MOST = CONDITIONED_ON  # most results behind a decision that is shown in full: a page must not take minutes
FRONTS = 12  # decisions that a file shows in full, if they are computed within
FRONTS_SECONDS = 10.0
SLICES = 6  # most important parameters, along which such a decision is shown

CITATION = """\
@inproceedings{DeAth2021,
  title     = {Asynchronous {$\\epsilon$}-Greedy {Bayesian} Optimisation},
  author    = {De Ath, George and Everson, Richard M. and Fieldsend, Jonathan E.},
  booktitle = {Proceedings of the Thirty-Seventh Conference on Uncertainty in Artificial Intelligence},
  series    = {Proceedings of Machine Learning Research},
  volume    = {161},
  year      = {2021}
}"""


def facts_of(record: Record, model: Landscape | None) -> dict[str, Any]:
    """What is known about a run apart from the model: quick enough to compute after each result."""
    best, spent = record.result.best, timeline(record)
    return in_json(
        {
            "name": record.name,
            "objective": record.objective,
            "ending": record.ending,
            "driven": record.driven,
            "maximize": record.maximize,
            "now": record.elapsed(record.now) if record.sittings else None,
            "call": record.call,
            "best": None
            if best is None
            else {"number": best.number, "value": record.result.fun, "params": _by_place(record, best)},
            "parameters": [{"name": name, **_parameter(p)} for name, p in record.optimizer.space.parameters.items()],
            "measured": names_of(record.optimizer.settings.limits),  # what has limits
            **_trials(record),
            "convergence": _columns(convergence(record), "number", "evaluation", "elapsed", "best", "improved"),
            "timeline": {
                "bars": _spans(record, spent.bars, "number", "state", "worker"),
                "gaps": _spans(record, spent.gaps, "worker", "cause"),
                "workers": [{**asdict(worker), "utilization": worker.utilization} for worker in spent.workers],
                "shares": {"busy": spent.utilization, **spent.shares()},
                "cuts": [record.elapsed(start) for start, _ in record.sittings[1:]],
            },
            "yields": yields(record),
            "calibration": calibration(predictions(record)),
            "failures": failure_groups(record),
            "health": health(record, model),
            "about": _about(record),
        }
    )


def model_facts_of(record: Record, model: Landscape | None) -> dict[str, Any] | None:
    """What the model has learned; None without one."""
    best = record.result.best
    if model is None or best is None:
        return None
    left_out = model.left_out
    z = np.array([[each.mean, each.std, each.value] for each in left_out]).reshape(-1, 3)
    mean, _, low, high = in_units(z[:, 0], z[:, 1], model.belief, model.direction)
    found = calibration(left_out)
    return in_json(
        {
            "own": model.own,
            "fitted": model.fitted,
            "importances": model.importances,
            "slices": [_slice(each) for each in model.slices(best.params)],
            "contours": [_contour(each) for each in model.contours(best.params)],
            "left_out": {
                "number": [each.number for each in left_out],
                "mean": mean,
                "low": low,
                "high": high,
                "value": model.measured(z[:, 2]),
                "count": len(left_out),
                "within": None if found is None else found.within,
            },
        }
    )


def front_facts_of(record: Record, number: int, names: Sequence[str] | None = None) -> dict[str, Any] | None:
    """One decision in full; None if no model took part in it, or if a constraint is a function that is not here."""
    found = None if record.optimizer.space.lacks_a_function else front(record, number)
    if found is None:
        return None
    return in_json(
        {
            "number": number,
            "move": found.move,
            "best": found.best,
            "taken": found.taken,
            "members": found.members,
            "pending": [[n, *place] for n, place in found.pending.items()],
            "slices": [_slice(each) for each in found.slices if names is None or each.parameter in names],
        }
    )


def telling_decisions(record: Record) -> list[int]:
    """Decisions worth a look: the best, the last ones that improved, and the last of all."""
    by_model = [
        number
        for number, decision in record.decisions.items()
        if "mean" in record.trials[number].note and decision.known <= MOST
    ]
    best = record.result.best
    improved = [step.number for step in convergence(record) if step.improved and step.number in set(by_model)]
    chosen = [] if best is None or best.number not in by_model else [best.number]
    chosen += improved[::-1][: FRONTS // 2]
    chosen += by_model[::-1]
    return list(dict.fromkeys(chosen))[:FRONTS]


def fronts_of(record: Record, model: Landscape | None) -> list[dict[str, Any]]:
    """Some decisions in full, along the most important parameters; fewer of them where each takes long."""
    names = None if model is None else [each.parameter for each in model.importances[:SLICES]]
    found: list[dict[str, Any]] = []
    until = time.monotonic() + FRONTS_SECONDS
    for number in telling_decisions(record):
        if time.monotonic() > until:
            break
        facts = front_facts_of(record, number, names)
        found += [] if facts is None else [facts]
    return found


def _trials(record: Record) -> dict[str, Any]:
    """The trials in columns, and the texts they refer to by number; equal texts are kept once."""
    trials, limits = record.trials, record.optimizer.settings.limits
    decisions = [record.decisions.get(trial.number) for trial in trials]  # None without a study
    points = [_by_place(record, trial) for trial in trials]
    texts: dict[str, int] = {}
    left = [ALL_TEXTS]

    def kept(text: str | None) -> int | None:
        text = (text or "")[-LONGEST:]
        if not text or (text not in texts and len(text) > left[0]):
            return None
        if text not in texts:
            left[0] -= len(text)
        return texts.setdefault(text, len(texts))

    reason = [kept(trial.reason) for trial in trials]  # first, so that they get the room
    columns: dict[str, Any] = {
        **_columns(trials, "number", "state", "value", "seconds", "worker"),
        "move": [move_of(trial) for trial in trials],
        "guard": [trial.note.get("guard") for trial in trials],
        **{name: [as_number(trial.note.get(name)) for trial in trials] for name in ("mean", "std")},
        **{name: [each and getattr(each, name) for each in decisions] for name in ("known", "behind")},
        "pending": [each and len(each.pending) for each in decisions],
        "choosing": [each and each.asked.seconds for each in decisions],
        "params": [[values[place] for values in points] for place in range(len(record.optimizer.space.parameters))],
        "measured": [[trial.measured.get(name) for trial in trials] for name in names_of(limits)],
        "broken": [", ".join(limit.text for limit in broken_by(trial, limits)) or None for trial in trials],
        "reason": reason,
        "traceback": [kept(trial.traceback) for trial in trials],
        "output": [kept(_output(trial)) for trial in trials],
    }
    return {"trials": columns, "texts": list(texts)}


def _by_place(record: Record, trial: Trial) -> list[Any]:
    """The value of each parameter; None if the trial lacks it."""
    there = {name: spelled(value) for name, value in trial.params.items()}
    return [there.get(name) for name in record.optimizer.space.parameters]


def _parameter(parameter: Parameter) -> dict[str, Any]:
    """The parameter as a table, with its choices as they are shown."""
    choices = {"values": [spelled(value) for value in parameter.values]} if isinstance(parameter, Choice) else {}
    return {**table_of(parameter), **choices}


def _output(trial: Trial) -> str | None:
    """What a trial printed, if a reader may look for it; all output would be most of the page."""
    return trial.output if trial.state != "done" else trial.output[-200:]


def _columns(items: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    return {name: [getattr(item, name) for item in items] for name in names}


def _spans(record: Record, spans: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    times = {name: [record.elapsed(at) for at in ats] for name, ats in _columns(spans, "started", "ended").items()}
    return {**_columns(spans, *names), **times}


def _slice(each: Slice) -> dict[str, Any]:
    cut = {name: _cut(getattr(each.predicted, name), each.allowed) for name in ("mean", "low", "high")}
    return {"parameter": each.parameter, "values": [spelled(value) for value in each.values], **cut}


def _contour(each: Contour) -> dict[str, Any]:
    values = {name: [spelled(value) for value in getattr(each, name)] for name in ("x_values", "y_values")}
    return {"x": each.x, "y": each.y, **values, "mean": _cut(each.mean, each.allowed)}


def _cut(numbers: Array, allowed: Mask) -> Array:
    """The values without those at forbidden points."""
    return np.where(allowed, numbers, np.nan)


def _about(record: Record) -> dict[str, Any]:
    settings = record.optimizer.settings
    began = record.sittings[0][0] if record.sittings else None
    strategy = repr(settings.strategy) if settings.text is None else f"{settings.text}, preset {settings.preset}"
    facts = {
        "file": None if record.path is None else record.path.name,
        "strategy": strategy,
        "seed": settings.seed,
        "initial points": settings.n_initial,
        "began": None if began is None else datetime.fromtimestamp(began).astimezone().isoformat(" ", "seconds"),
        "drivers": len(record.sittings),
        "points observed elsewhere": len(record.optimizer.observed),
        **record.build,
    }
    return {
        "facts": {k: v for k, v in facts.items() if v is not None},
        "commands": calls_of(record),
        "citation": CITATION,
    }


def in_json(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts in JSON types."""
    return {name: _in_json(inner) for name, inner in facts.items()}


def _in_json(value: Any) -> Any:
    """A value in JSON types, numbers with the visible digits; None for numbers that are not finite."""
    if isinstance(value, float):  # first, because most are
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return in_json(value)
    if isinstance(value, np.ndarray):
        return _in_json(value.tolist())
    if is_dataclass(value):
        return in_json(vars(value))
    if isinstance(value, list | tuple):
        return [_in_json(inner) for inner in value]
    return value
