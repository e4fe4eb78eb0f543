"""One decision in full: what the model believed then, the Pareto front, and the point that was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.errors import TrialError
from aegisbo.optimizer import Optimizer
from aegisbo.optimizer.policy import Role, one_blas_thread
from aegisbo.report.model import Model, Slice, surrogate_of
from aegisbo.report.record import Record
from aegisbo.search import nsga2
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.model_based import ModelBased
from aegisbo.study.history import RESULTS, History
from aegisbo.study.store import Event

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
    members: tuple[Place, ...]  # of the Pareto front of low mean and high standard deviation, by mean
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
    model = _model(optimizer, exploring=move in ("thompson", "pareto"))
    cube = optimizer.space.cube

    def objectives(Z: Array) -> Array:  # (m, width) -> (m, 2)
        mean, variance = model.belief.gp.predict(cube.round(Z))
        return np.stack([mean, -np.sqrt(variance)], axis=1)

    rng = default_rng([optimizer.seed, Role.STRATEGY, number])
    population = optimizer.strategy.parts.front.population * cube.parameters
    with one_blas_thread():
        archive = nsga2.search(lambda Z: by_blocks(objectives, Z), cube.width, rng, population=population)
    F = archive.F[archive.front]
    F = F[np.argsort(F[:, 0], kind="stable")]
    F = F[np.unique(np.linspace(0, len(F) - 1, min(MEMBERS, len(F))).round().astype(np.intp))]
    pending = optimizer.pending
    points = np.array([optimizer.space.to_unit(each.params) for each in (trial, *pending)])
    taken, *others = _places(model, *model.standardized(points))
    return Front(
        number,
        move,
        float(model.measured(np.array([model.belief.best]))[0]),
        taken,
        _places(model, F[:, 0], -F[:, 1]),
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


def _model(optimizer: Optimizer, *, exploring: bool) -> Model:
    """The model by which the optimizer would choose its next point, fitted from the same random numbers."""
    surrogate, own = surrogate_of(optimizer)
    fitting, *_ = default_rng([optimizer.seed, Role.STRATEGY, len(optimizer.trials)]).spawn(3)
    evidence = optimizer.evidence()
    with one_blas_thread():
        belief, _ = surrogate.fit(evidence, optimizer.memory, fitting)
        belief = belief.exploring if exploring else belief
    return Model(belief, optimizer.space, optimizer.direction, own, len(evidence.y) + len(evidence.failed), ())


def _places(model: Model, means: Array, stds: Array) -> tuple[Place, ...]:  # (m,), (m,)
    measured = model.measured(means)
    return tuple(Place(float(mean), float(std)) for mean, std in zip(measured, stds, strict=True))
