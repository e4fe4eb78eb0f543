"""The data of a page: the facts of a run in JSON types, numbers cut to the visible digits."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

import numpy as np

from aegisbo.address import Address, Place
from aegisbo.optimizer import Trial
from aegisbo.optimizer.limits import broken_by, names_of
from aegisbo.optimizer.prediction import band
from aegisbo.optimizer.trial import move_of
from aegisbo.review.conflicts import conflicts
from aegisbo.review.continuing import calls_of
from aegisbo.review.convergence import convergence
from aegisbo.review.curves import curve_facts
from aegisbo.review.decision_then import MEMBERS, decision_then
from aegisbo.review.failure_groups import failure_groups
from aegisbo.review.front_then import front_then
from aegisbo.review.health import health
from aegisbo.review.landscape import Contour, Landscape, Models, Slice, told_of
from aegisbo.review.odds import foretold
from aegisbo.review.predicted_front import PredictedFront, far_apart, predicted_front
from aegisbo.review.reasons import calibration, noted, predictions, yields
from aegisbo.review.record import Record
from aegisbo.review.timeline import timeline
from aegisbo.space import Params
from aegisbo.space.description import table_of
from aegisbo.space.parameters import Choice, Parameter
from aegisbo.space.text import spelled
from aegisbo.strategies.law import normal_law
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


def facts_of(record: Record, models: Models) -> dict[str, Any]:
    """What is known about a run apart from the models: quick enough to compute after each result."""
    spent = timeline(record)
    return in_json(
        {
            "name": record.name,
            "objective": record.objective,
            "ending": record.ending,
            "driven": record.driven,
            "maximize": record.maximize,
            "now": record.elapsed(record.now) if record.sittings else None,
            "call": record.call,
            "best": _center(record),
            "parameters": [{"name": name, **_parameter(p)} for name, p in record.optimizer.space.parameters.items()],
            "measured": _measured(record),
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
            "health": health(record, models),
            "about": _about(record),
            **(_several(record) if record.objectives else {}),
            **({} if (curves := curve_facts(record)) is None else {"curves": curves}),
        }
    )


def _center(record: Record) -> dict[str, Any] | None:
    """The best trial, or of several objectives the compromise."""
    trial = record.center
    if trial is None:
        return None
    value = None if record.objectives else record.result.fun
    return {"number": trial.number, "value": value, "params": _by_place(record, trial)}


def _several(record: Record) -> dict[str, Any]:
    """What is known of several objectives and their front."""
    result = record.result
    losses = {} if result.several is None else result.several.losses
    return {
        "objectives": [
            {
                "name": each.name,
                "maximize": each.maximize,
                "calibration": calibration(predictions(record, each.name)),
                **{f"{name}s": [noted(trial, name, each.name) for trial in record.trials] for name in ("mean", "std")},
            }
            for each in record.objectives
        ],
        "limits": [limit.text for limit in record.optimizer.settings.limits],
        "front": {
            "trials": [trial.number for trial in result.front],
            "values": [record.optimizer.direction.turned(np.array(losses[trial.number])) for trial in result.front],
            "extremes": {name: trial.number for name, trial in result.extremes.items()},
            "reference": result.reference,
            "hypervolume": None if result.several is None else result.several.final,
            "noisy": record.optimizer.settings.noisy,
        },
    }


def learned_facts_of(record: Record, models: Models) -> dict[str, Any]:
    """What the models have learned: "model" of the only number, or "models" of several objectives; None without any.

    And what they say of going on.
    """
    return {**_learned(record, models), "odds": _odds(record, models)}


def _odds(record: Record, models: Models) -> dict[str, Any]:
    """Whether going on is worth it."""
    found = foretold(record, models)
    return {"text": found.text, "details": list(found.details)}


def _learned(record: Record, models: Models) -> dict[str, Any]:
    center = record.center
    if not models or center is None:
        return {"models" if record.objectives else "model": None}
    each = [_model_facts(model, center.params) for model in models.values()]
    if not record.objectives:
        return in_json({"model": each[0]})
    found = predicted_front(models, record.result.front)
    pairs = () if found is None else conflicts([each.name for each in record.objectives], found)
    told = {
        "each": each,
        "predicted": None if found is None else _predicted(record, models, found),
        "conflicts": [{**vars(pair), "text": pair.text} for pair in pairs],
    }
    return in_json({"models": told})


def _predicted(record: Record, models: Models, found: PredictedFront) -> dict[str, Any]:
    """Some points of the predicted front, with their 95 % bands: a list for each objective, and for each parameter."""
    space, Z = record.optimizer.space, found.Z[far_apart(found.F, MEMBERS)]
    told = told_of(models.values(), Z)
    points = [{name: spelled(value) for name, value in space.params(z).items()} for z in Z]
    return {
        **{name: [getattr(each, name) for each in told] for name in ("mean", "std", "low", "high")},
        "params": [[point.get(name) for point in points] for name in space.parameters],
    }


def _model_facts(model: Landscape, center: Params) -> dict[str, Any]:
    left_out = model.left_out
    z = np.array([[each.mean, each.std, each.value] for each in left_out]).reshape(-1, 3)
    told = band(normal_law(model.belief.scale, z[:, 0], z[:, 1]), model.direction)
    found = calibration(left_out)
    return {
        "own": model.own,
        "fitted": model.fitted,
        "importances": model.importances,
        "slices": [_slice(each) for each in model.slices(center)],
        "contours": [_contour(each) for each in model.contours(center)],
        "left_out": {
            "number": [each.number for each in left_out],
            "mean": told.mean,
            "low": told.low,
            "high": told.high,
            "value": model.measured(z[:, 2]),
            "count": len(left_out),
            "within": None if found is None else found.within,
        },
    }


def front_facts_of(record: Record, number: int, names: Sequence[str] | None = None) -> dict[str, Any] | None:
    """One decision in full; None if no model took part in it, or if a constraint is a function that is not here."""
    if record.optimizer.space.lacks_a_function:
        return None
    if record.objectives:
        return _choice_facts(record, number, names)
    found = decision_then(record, number)
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


def _choice_facts(record: Record, number: int, names: Sequence[str] | None) -> dict[str, Any] | None:
    """One decision about several objectives in full."""
    found = front_then(record, number)
    if found is None:
        return None
    slices = [[_slice(each) for each in some if names is None or each.parameter in names] for some in found.slices]
    pending = [[n, *place] for n, place in found.pending.items()]
    return in_json({**vars(found), "pending": pending, "slices": slices})


def telling_decisions(record: Record) -> list[int]:
    """Decisions worth a look: the best, the last ones that improved, and the last of all."""
    by_model = [
        number
        for number, decision in record.decisions.items()
        if "mean" in record.trials[number].note and decision.known <= MOST
    ]
    best = record.center
    improved = [step.number for step in convergence(record) if step.improved and step.number in set(by_model)]
    chosen = [] if best is None or best.number not in by_model else [best.number]
    chosen += improved[::-1][: FRONTS // 2]
    chosen += by_model[::-1]
    return list(dict.fromkeys(chosen))[:FRONTS]


def fronts_of(record: Record, models: Models) -> list[dict[str, Any]]:
    """Some decisions in full, along the most important parameters; fewer of them where each takes long."""
    names = _most_important(models)
    found: list[dict[str, Any]] = []
    until = time.monotonic() + FRONTS_SECONDS
    for number in telling_decisions(record):
        if time.monotonic() > until:
            break
        facts = front_facts_of(record, number, names)
        found += [] if facts is None else [facts]
    return found


def _most_important(models: Models) -> list[str] | None:
    """The parameters that are most important to any objective; None without a model."""
    found = [importance for model in models.values() for importance in model.importances]
    found.sort(key=lambda importance: -importance.total)
    return list(dict.fromkeys(importance.parameter for importance in found))[:SLICES] or None


def _measured(record: Record) -> tuple[str, ...]:
    """What is measured beside a value: the objectives, and what has limits."""
    names = [each.name for each in record.objectives]
    return tuple(dict.fromkeys([*names, *names_of(record.optimizer.settings.limits)]))


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
        "author": [trial.author if trial.author != move_of(trial) else None for trial in trials],
        "guard": [trial.note.get("guard") for trial in trials],
        **{name: [noted(trial, name) for trial in trials] for name in ("mean", "std")},
        **{name: [each and getattr(each, name) for each in decisions] for name in ("known", "behind")},
        "pending": [each and len(each.pending) for each in decisions],
        "choosing": [each and each.asked.seconds for each in decisions],
        "params": [[values[place] for values in points] for place in range(len(record.optimizer.space.parameters))],
        "measured": [[trial.measured.get(name) for trial in trials] for name in _measured(record)],
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
    return {"parameter": each.parameter, "values": [spelled(value) for value in each.values], **each.shown}


def _contour(each: Contour) -> dict[str, Any]:
    values = {name: [spelled(value) for value in getattr(each, name)] for name in ("x_values", "y_values")}
    return {"x": each.x, "y": each.y, **values, "mean": np.where(each.allowed, each.mean, np.nan)}


def _kind(place: Place) -> str:
    return "address" if isinstance(place, Address) else "file"


def _about(record: Record) -> dict[str, Any]:
    settings = record.optimizer.settings
    began = record.sittings[0][0] if record.sittings else None
    strategy = repr(settings.strategy) if settings.text is None else f"{settings.text}, preset {settings.preset}"
    facts = {
        **({} if record.path is None else {_kind(record.path): record.path.name}),
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
