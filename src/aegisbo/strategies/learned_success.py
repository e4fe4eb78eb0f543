"""Failing regions: where evaluations fail is learned from those that did.

A few failures say little: they keep others away from their immediate neighborhood. Once there are enough to see that
they depend on x (`gp.success_model`), a model takes over. Where they do not, as on a flaky cluster, nothing more
happens.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import log

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.additive_model import AdditiveModel, HierarchicalPrior
from aegisbo.gp.success_model import LearnedSuccess, learn
from aegisbo.gp.thinning import evenly_spread
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.chance import Chance, NearFailures
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.presets import modern_model
from aegisbo.strategies.surrogates import is_due

MEMORY = "success"  # where in a strategy's memory it is kept
MOST = 500  # results that are looked at: as many failures as successes where there are more


def believe_in_success(evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Chance | None, Memory]:
    """The chance to succeed after all evidence, None if nothing has failed; and a memory to learn on from."""
    if not len(evidence.failed):
        return None, memory
    n = len(evidence.y) + len(evidence.failed)
    X, labels = _labeled(evidence)
    known = KnownSuccess.recalled(memory.get(MEMORY, {}))
    if known is None or is_due(known.learned_at, n):
        warm = None if known is None else np.array(known.phi)
        known = KnownSuccess(**asdict(learn(X, labels, success_model(X.shape[1]), rng, warm)), learned_at=n)
        memory = {**memory, MEMORY: known.kept()}
    return known.given(X, labels) if known.is_credible else NearFailures(evidence.failed), memory


@dataclass(frozen=True)
class KnownSuccess(LearnedSuccess, Remembered):
    """What was learned of successes and failures, and from how many."""

    learned_at: int


def _labeled(evidence: Evidence) -> tuple[Array, Array]:
    """Where evaluations ended (n, width), with 1 for each that succeeded and −1 for each that failed (n,)."""
    failures = min(len(evidence.failed), max(MOST // 2, MOST - len(evidence.y)))
    good = evenly_spread(len(evidence.y), MOST - failures)
    bad = evenly_spread(len(evidence.failed), failures)
    X = np.vstack([evidence.X[good], evidence.failed[bad]])
    return X, np.append(np.ones(len(good)), -np.ones(len(bad)))


def success_model(d: int) -> AdditiveModel:
    """The model of the modern preset, for labels: edges are sharp, and some failures happen by chance."""
    return replace(
        modern_model(d),
        lengthscale=(0.05, 10.0 * d**0.5),
        outputscale=(1e-2, 1e2),
        noise=(1e-3, 1e2),
        lengthscale_prior=HierarchicalPrior(0.5 * log(d), 1.0, 0.5),
        noise_center=0.3,
        noise_spread=1.5,
    )
