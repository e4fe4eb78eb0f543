"""One suggestion of Optuna's GPSampler: another model and another search, but the same user with the same data."""

from __future__ import annotations

from collections.abc import Callable

import optuna
from optuna.distributions import FloatDistribution
from suggest_data import Data

optuna.logging.set_verbosity(optuna.logging.WARNING)


def prepared_ask(data: Data, seed: int) -> Callable[[], optuna.Trial]:
    """A call of `ask` in the middle of a run: the sampler has already answered once and been told the result."""
    space = {f"x{i}": FloatDistribution(0.0, 1.0) for i in range(data.d)}
    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
    for x, y in zip(data.X[:-1].tolist(), data.y[:-1].tolist(), strict=True):
        study.add_trial(
            optuna.create_trial(params=dict(zip(space, x, strict=True)), distributions=space, value=y)
        )
    study.tell(study.ask(space), float(data.y[-1]))
    return lambda: study.ask(space)
