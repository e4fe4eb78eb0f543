"""One decision in full: what the model believed then, the Pareto front, and the point that was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.errors import TrialError
from aegisbo.gp.thinning import evenly_spread
from aegisbo.optimizer import Optimizer
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.policy import Role
from aegisbo.optimizer.stored_memory import understood
from aegisbo.report.landscape import Landscape, Slice
from aegisbo.report.record import Record
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves import EXPLORATORY, pareto_set
from aegisbo.study.events import Event
from aegisbo.study.history import RESULTS, History

MEMBERS = 80  # of a front that are kept, evenly spread


@dataclass(frozen=True)
class Place:
    """Where a point lies: its mean in the user's units, its standard deviation in those of the model."""

    mean: float
    std: float


@dataclass(frozen=True)
class Front:
    """What a decision was made from. Standard deviations are in units of the model's scale, as the front is."""

    number: int  # of the trial
    move: str
    best: float  # measured until then
    taken: Place
    members: tuple[Place, ...]  # of the Pareto set of low mean and high uncertainty, where failures are bad values
    pending: tuple[tuple[int, Place], ...]  # the points under evaluation then, by number of the trial
    slices: tuple[Slice, ...]  # mean and band then, through the point taken


def front(record: Record, number: int) -> Front | None:
    """The decision for a trial as it was made; None if no model took part in it.

    Raises:
        TrialError: there is no such trial, or no study that tells what was known then.
    """
    decision = next((event for event in record.events if event.kind == "asked" and event.number == number), None)
    if decision is None:
        raise TrialError(f"The record of {record.name} does not tell how trial {number} was chosen.")
    trial = record.trials[number]
    if "mean" not in trial.note:
        return None
    optimizer = _before(record.events, decision)
    if not isinstance(optimizer.strategy, ModelBased):
        return None
    move = str(trial.note["move"])
    strategy, space = optimizer.strategy, optimizer.space
    model = _model(optimizer, strategy, exploring=move in EXPLORATORY)
    rng = default_rng([optimizer.seed, Role.STRATEGY, number])
    with one_blas_thread():
        archive = pareto_set(model.belief, space.cube, strategy.parts.front, rng)
    members = archive.front[np.argsort(archive.F[archive.front, 0], kind="stable")]
    members = members[evenly_spread(len(members), MEMBERS)]
    pending = optimizer.pending
    points = np.array([space.to_unit(each.params) for each in (trial, *pending)])
    taken, *others = _places(model, points)
    return Front(
        number,
        move,
        float(model.measured(np.array([model.belief.best]))[0]),
        taken,
        _places(model, space.cube.round(archive.X[members])),
        tuple((each.number, place) for each, place in zip(pending, others, strict=True)),
        model.slices(trial.params),
    )


def _before(events: Sequence[Event], decision: Event) -> Optimizer:
    """The optimizer as it was when it was asked: it knew all choices before, and the results that the event names."""
    history = History(events[0])
    for event in events[1:]:
        if event.id >= decision.id:
            break
        if event.kind == "asked" or (event.kind in RESULTS and event.id <= decision.body["seen"]):
            history.add(event)
    return history.optimizer()


def _model(optimizer: Optimizer, strategy: ModelBased, *, exploring: bool) -> Landscape:
    """The model by which the optimizer would choose its next point, fitted from the same random numbers."""
    fitting, _, _, learning = default_rng([optimizer.seed, Role.STRATEGY, len(optimizer.trials)]).spawn(4)
    evidence = optimizer.evidence()
    with one_blas_thread(), understood(optimizer.memory):
        belief, _ = strategy.fitted(evidence, optimizer.memory, fitting, learning)
        belief = belief.exploring if exploring else belief
    return Landscape(belief, optimizer.space, optimizer.direction, True, len(evidence.y) + len(evidence.failed), ())


def _places(model: Landscape, U: Array) -> tuple[Place, ...]:  # (m, width)
    means, stds = model.standardized(U)
    return tuple(Place(float(mean), float(std)) for mean, std in zip(model.measured(means), stds, strict=True))
