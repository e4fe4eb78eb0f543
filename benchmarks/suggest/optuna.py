"""One suggestion of Optuna's GPSampler: another model and another search, but the same user with the same data."""

from __future__ import annotations

from collections.abc import Callable

import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState

from benchmarks.suggest.data import Data

optuna.logging.set_verbosity(optuna.logging.WARNING)


def prepared_ask(data: Data, seed: int) -> Callable[[], optuna.Trial]:
    """A call of `ask` in the middle of a run: the sampler has fitted its model once, before the last result came in."""
    space = {f"x{i}": FloatDistribution(0.0, 1.0) for i in range(data.d)}
    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
    *earlier, last = (
        optuna.create_trial(params=dict(zip(space, x, strict=True)), distributions=space, value=y)
        for x, y in zip(data.X.tolist(), data.y.tolist(), strict=True)
    )
    study.add_trials(earlier)
    study.tell(study.ask(space), state=TrialState.FAIL)
    study.add_trial(last)
    return lambda: study.ask(space)
