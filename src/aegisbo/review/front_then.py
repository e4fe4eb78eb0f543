"""One decision about several objectives in full: the front that was known then, and what was predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from aegisbo.arrays import Array
from aegisbo.review.decision_then import models_then, optimizer_then
from aegisbo.review.landscape import Slice, told_of
from aegisbo.review.record import Record
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.model_based import ModelBased


@dataclass(frozen=True)
class FrontThen:
    """What a decision was made from, in the user's units; a column for each objective."""

    number: int  # of the trial
    move: str
    front: Array  # (k, m) measured until then
    taken: Array  # (3, m) mean, lower and upper end of the 95 % band at the point taken
    pending: Mapping[int, Array]  # (m,) means at the points under evaluation then, by number of the trial
    slices: tuple[tuple[Slice, ...], ...]  # of each objective: mean and band then, through the point taken


def front_then(record: Record, number: int) -> FrontThen | None:
    """The decision for a trial as it was made; None if no model took part in it.

    Raises:
        TrialError: there is no such trial, or no study recorded what was known then.
    """
    optimizer = optimizer_then(record, number)
    if optimizer is None or not isinstance(optimizer.strategy, ModelBased):
        return None
    trial = record.trials[number]
    move = str(trial.note["move"])
    beliefs, models = models_then(optimizer, move)
    points = np.array([optimizer.space.to_unit(each.params) for each in (trial, *optimizer.pending)])
    told = told_of(models, points)
    mean, low, high = (
        np.stack([getattr(each, name) for each in told], axis=1) for name in ("mean", "low", "high")
    )  # (p, m)
    return FrontThen(
        number,
        move,
        np.stack([model.measured(z) for model, z in zip(models, cast("Beliefs", beliefs).F.T, strict=True)], axis=1),
        np.stack([mean[0], low[0], high[0]]),
        {each.number: values for each, values in zip(optimizer.pending, mean[1:], strict=True)},
        tuple(model.slices(trial.params) for model in models),
    )
