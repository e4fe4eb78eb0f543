"""One decision in full: what the model believed then, the Pareto front, and the point that was taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from aegisbo.arrays import Array
from aegisbo.errors import TrialError
from aegisbo.gp.thinning import evenly_spread
from aegisbo.optimizer import Core
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.policy import Role
from aegisbo.review.landscape import Landscape, Slice
from aegisbo.review.record import Record
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.model_based import EXPLORATORY, ModelBased
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.study.known_then import before

MEMBERS = 80  # points of a front that are kept, evenly spread


@dataclass(frozen=True)
class DecisionThen:
    """What a decision was made from. A place is a mean in the user's units, and a standard deviation in the model's."""

    number: int  # of the trial
    move: str
    best: float  # measured until then
    taken: Array  # (2,)
    members: Array  # (m, 2) of the Pareto set of low mean and high uncertainty, where failures are bad values
    pending: Mapping[int, Array]  # (2,) each, the points under evaluation then, by number of the trial
    slices: tuple[Slice, ...]  # mean and band then, through the point taken


def decision_then(record: Record, number: int) -> DecisionThen | None:
    """The decision for a trial as it was made; None if no model took part in it.

    Raises:
        TrialError: there is no such trial, or no study recorded what was known then.
    """
    optimizer = optimizer_then(record, number)
    if optimizer is None:
        return None
    trial = record.trials[number]
    strategy, space = optimizer.strategy, optimizer.space
    if not isinstance(strategy, ModelBased) or not isinstance(strategy.parts.pareto, Pareto):
        return None
    move = str(trial.note["move"])
    _, (model,) = models_then(optimizer, move)
    rng = optimizer.settings.policy().rng(Role.STRATEGY, number)
    with one_blas_thread():
        archive = strategy.parts.pareto.members(cast("Belief", model.belief), space.cube, rng)
    members = archive.front[np.argsort(archive.F[archive.front, 0], kind="stable")]
    members = members[evenly_spread(len(members), MEMBERS)]
    pending = optimizer.pending
    points = np.array([space.to_unit(each.params) for each in (trial, *pending)])
    taken, *others = _places(model, points)
    return DecisionThen(
        number,
        move,
        float(model.measured(np.array([model.belief.best]))[0]),
        taken,
        _places(model, space.cube.round(archive.X[members])),
        {each.number: place for each, place in zip(pending, others, strict=True)},
        model.slices(trial.params),
    )


def optimizer_then(record: Record, number: int) -> Core | None:
    """The optimizer as it was when a trial was chosen; None if no model took part in that.

    Raises:
        TrialError: there is no such trial, or no study recorded what was known then.
    """
    if record.state is None or number not in record.state.asked:
        raise TrialError(f"The record of {record.name} does not say how trial {number} was chosen.")
    if "mean" not in record.trials[number].note:
        return None
    return next(past for asked, past in before(record.events) if asked.number == number)


def models_then(optimizer: Core, move: str) -> tuple[Belief | Beliefs, list[Landscape]]:
    """What the optimizer would choose its next point from by this move, and the model of each objective."""
    evidence = optimizer.evidence()
    found = optimizer.settings.policy().belief_of_choice(evidence, optimizer.memory, len(optimizer.trials))
    belief = found.exploring if move in EXPLORATORY else found
    each = belief.each if isinstance(belief, Beliefs) else (belief,)
    count, directions = len(evidence.y) + len(evidence.failed), optimizer.settings.directions.values()
    return belief, [
        Landscape(one.alone, optimizer.space, direction, True, count, ())
        for one, direction in zip(each, directions, strict=True)
    ]


def _places(model: Landscape, U: Array) -> Array:  # (m, width) -> (m, 2)
    with one_blas_thread():
        means, stds = model.belief.predict(U)
    return np.column_stack([model.measured(means), stds])
