"""Evaluations that end early in simulated runs: where those of the run were stopped, and after as long.

Simulated evaluations report nothing, so the rule of the run cannot stop them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.optimizer import Core
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.chance import Chance, NearFailures
from aegisbo.strategies.learned_success import believe_in_success


@dataclass(frozen=True)
class Stops:
    """When evaluations are stopped."""

    going_on: Chance | float  # the chance that an evaluation is not
    seconds: Array  # (s,) on a typical worker, after which those of the run were

    def draw(self, z: Array, rng: Generator) -> float | None:  # (1, width)
        """The seconds after which an evaluation is stopped; None if it goes on to its end."""
        return None if rng.random() < at(self.going_on, z) else float(rng.choice(self.seconds))


def stops_of(optimizer: Core, rng: Generator) -> Stops | None:
    """How evaluations of a run were stopped; None if none were, or no time is known."""
    stopped = [trial for trial in optimizer.trials if trial.state == "stopped" and trial.seconds is not None]
    if not stopped:
        return None
    points = np.array([optimizer.space.encoded(trial.params) for trial in stopped])
    chance = chance_of(replace(optimizer.measured(), failed=points), rng)
    return Stops(chance, np.array([(trial.seconds or 0.0) / optimizer.pace(trial) for trial in stopped]))


def chance_of(evidence: Evidence, rng: Generator) -> Chance | float:
    """The learned chance not to be among `failed` if it depends on the point; else the share of those that are not."""
    chance, _ = believe_in_success(evidence, {}, rng)
    if chance is None or isinstance(chance, NearFailures):
        return len(evidence.y) / (len(evidence.y) + len(evidence.failed))
    return chance


def at(chance: Chance | float, z: Array) -> float:  # (1, width)
    """A chance at a point."""
    return chance if isinstance(chance, float) else float(np.exp(chance.log_value(z)[0]))
