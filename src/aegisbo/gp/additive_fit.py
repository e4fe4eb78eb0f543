"""Hyper-parameters of the additive model at the mode of their posterior, found by climbing from old and new starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveLikelihood, AdditiveModel
from aegisbo.gp.posterior import GP
from aegisbo.gp.thinning import evenly_spread
from aegisbo.search.descent import climb
from aegisbo.search.designs import latin_hypercube

LOOKED_AT = 5  # starts
CLIMBED = 3  # starts that are climbed from: the best of those looked at, or the warm start and the best
# The most noise that a start has. Ripples too fine for the data look like noise to a smooth model, and no climb from
# nearly none gets there.
LOUDEST = 0.1
# With more data than this and no warm start, a subset of this size is fitted first. Every start is climbed from,
# since some climbs end where everything is noise; the one climb on all data begins at the best top.
FIRST_LOOK = 150
SPRINT_STEPS = 12  # of a climb, after which the starts are compared
CLIMB_STEPS = 40  # of the best start: priors make one broad hill, whose top need not be found to the last digit
PASSES = 3  # of a fit with noise that is known
SETTLING = 4  # how often the output scale is found again after each such pass but the last
CLIMB_GAIN = 1e-7  # relative gain below which a climb ends


@dataclass(frozen=True)
class AdditiveFit:
    """A posterior at the best hyper-parameters found."""

    gp: GP
    hyperparameters: AdditiveHyperparameters  # their phi is the warm start of the next fit
    notes: tuple[str, ...]  # what was out of the ordinary; empty when all went well


def fit(
    X: Array,
    y: Array,
    model: AdditiveModel,
    rng: Generator,
    warm: Array | None = None,
    extra: Array | None = None,
    s: float = 1.0,
    rival: Array | None = None,
) -> AdditiveFit:
    """Fit the model to y (n,) at X (n, d).

    Args:
        X: where it was measured.
        y: what was measured.
        model: bounds and priors of the hyper-parameters.
        rng: draws the starts.
        warm: an earlier phi, from which a climb starts, too.
        extra: variances (n,) of noise that is known besides. They are shares of s to the likelihood, which finds s
            afterwards, so that the climb is repeated with the s that it found.
        s: the output scale to begin with.
        rival: a phi that is good for the same points on another scale of y. Beside a warm start it takes the place of
            new ones: there is one climb, from the better of the two. With many data and no warm start it is the start.
    """
    if warm is None and len(X) > FIRST_LOOK:
        if rival is None:
            some = evenly_spread(len(X), FIRST_LOOK)
            known = None if extra is None else extra[some]
            likelihood = AdditiveLikelihood(X[some], y[some], model, 0.0 if known is None else known / s)
            rival = np.array(_fit(likelihood, known, rng, climbed=LOOKED_AT).hyperparameters.phi)
        warm = rival
    if extra is not None:
        for _ in range(PASSES - 1):
            found = _fit(AdditiveLikelihood(X, y, model, extra / s), extra, rng, warm, rival)
            warm, s = np.array(found.hyperparameters.phi), found.hyperparameters.s
            for _ in range(SETTLING):
                s = AdditiveLikelihood(X, y, model, extra / s).hyperparameters(warm).s
    return _fit(AdditiveLikelihood(X, y, model, 0.0 if extra is None else extra / s), extra, rng, warm, rival)


def _fit(
    likelihood: AdditiveLikelihood,
    extra: Array | None,
    rng: Generator,
    warm: Array | None = None,
    rival: Array | None = None,
    climbed: int = CLIMBED,
) -> AdditiveFit:
    X, y, model = likelihood.X, likelihood.y, likelihood.model
    bounds = model.bounds(X.shape[1])
    known = [np.clip(phi, bounds[:, 0], bounds[:, 1]) for phi in (warm, rival) if phi is not None]
    match len(known):
        case 0:
            starts = _starts(likelihood, bounds, rng)[:climbed]
        case 1:
            starts = [*known, *_starts(likelihood, bounds, rng)[:1]]
        case _:
            starts = [max(known, key=likelihood.value)]
    tops = [
        climb(likelihood.value_and_gradient, start, bounds, steps=SPRINT_STEPS, flat=CLIMB_GAIN) for start in starts
    ]
    value, phi = max(tops, key=lambda top: top[0], default=(-np.inf, bounds.mean(axis=1)))
    goes_on_next_time = warm is not None and phi is tops[0][1]
    if np.isfinite(value) and not goes_on_next_time:
        value, phi = climb(likelihood.value_and_gradient, phi, bounds, steps=CLIMB_STEPS, flat=CLIMB_GAIN)
    notes = [] if np.isfinite(value) else ["no start could be factored: hyper-parameters left at their defaults"]
    found = likelihood.hyperparameters(phi)
    gp = found.given(X, y, extra)
    if gp.factor.jitter:
        notes.append(f"jitter {gp.factor.jitter:g} added to the diagonal")
    return AdditiveFit(gp, found, tuple(notes))


def _starts(likelihood: AdditiveLikelihood, bounds: Array, rng: Generator) -> list[Array]:
    """Starts that can be factored, the best first; all coordinates alike: the data will pull them apart."""
    d = likelihood.X.shape[1]
    u = latin_hypercube(LOOKED_AT, 4, rng)  # (k, 4)
    joint = np.log(0.1 * d**0.5) + u[:, :1] * np.log(15.0)  # from rough to smooth, in units of the cube's diagonal
    effect = np.log(0.1) + u[:, 1:2] * np.log(10.0)
    share = -2.0 + 4.0 * u[:, 2:3]
    quiet = np.log(likelihood.model.noise_center)
    noise = quiet + u[:, 3:] * (np.log(LOUDEST) - quiet)
    starts = np.hstack([np.repeat(joint, d, axis=1), np.repeat(effect, d, axis=1), share, noise])
    starts = np.clip(starts, bounds[:, 0], bounds[:, 1])
    values = np.array([likelihood.value(start) for start in starts])
    order = np.argsort(-values, kind="stable")
    return [starts[i] for i in order if np.isfinite(values[i])]
