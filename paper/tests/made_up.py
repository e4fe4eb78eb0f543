"""Records that were never run, for tests of what is done with records."""

from __future__ import annotations

from typing import Any

import numpy as np
from aegis_paper.runs import Spec

from aegisbo.arrays import Array
from aegisbo.simulation.runs import SimulatedRun


def record(scores: Array | None = None, **settings: Any) -> SimulatedRun:
    """A run with these settings; its scores are random numbers, which compress as badly as real ones, if none given."""
    plain = {"problem": "Branin", "strategy": "aegis", "preset": "paper", "workers": 8, "budget": 30}
    spec = Spec(**plain | settings)
    rng = np.random.default_rng([spec.run, spec.workers])
    if scores is None:
        better = rng.random(spec.budget) < 13 / spec.budget  # real runs of 200 evaluations have 13 steps
        scores = np.minimum.accumulate(np.where(better, rng.lognormal(size=spec.budget), 1e9))
    return SimulatedRun(spec, spec.make_problem().minimum, scores, (), float(rng.random()), 0.9)
