"""SMAC3 (random forests, log expected improvement) behind ask and tell."""

from __future__ import annotations

import tempfile
from typing import Any

from aegisbo import Choice, Int
from aegisbo.arrays import Array
from aegisbo.space.parameters import Params
from benchmarks.peers.foreign import Bounds, Foreign

MOST = 10**6  # evaluations that it may plan with
LARGEST = 1e12  # what a failure counts as; SMAC lets its model see the worst cost so far instead


class Smac(Foreign):
    """SMAC's facade for hyper-parameters. It does not know which points are under evaluation."""

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer
        from smac import HyperparameterOptimizationFacade, Scenario

        super().__init__(bounds, seed, n_initial)
        space = ConfigurationSpace(seed=seed)
        for name, parameter in self.space.parameters.items():
            if isinstance(parameter, Choice):
                space.add(Categorical(name, list(parameter.values)))
            else:
                kind = Integer if isinstance(parameter, Int) else Float
                space.add(kind(name, (parameter.low, parameter.high)))
        self._folder = tempfile.TemporaryDirectory()
        scenario = Scenario(space, n_trials=MOST, deterministic=True, seed=seed, output_directory=self._folder.name)
        self._configurations = space
        self._facade = HyperparameterOptimizationFacade(
            scenario,
            lambda config, seed=0: 0.0,  # never called: it is told
            initial_design=HyperparameterOptimizationFacade.get_initial_design(scenario, n_configs=0),
            logging_level=40,
            overwrite=True,
        )
        self._live: list[Any] = []

    def suggest(self, number: int, initial: Params | None) -> Params:
        info = self._facade.ask() if initial is None else self._info(initial)
        self._live.append(info)
        return {name: _plain(info.config[name]) for name in self.space.parameters}

    def tell(self, number: int, value: float) -> None:
        from smac.runhistory.dataclasses import TrialValue

        self._facade.tell(self._live[number], TrialValue(cost=value))

    def fail(self, number: int) -> None:
        from smac.runhistory import StatusType
        from smac.runhistory.dataclasses import TrialValue

        self._facade.tell(self._live[number], TrialValue(cost=LARGEST, status=StatusType.CRASHED))

    def observe(self, x: Array, y: float) -> None:
        from smac.runhistory.dataclasses import TrialValue

        self._facade.tell(self._info(self.space.check(x)), TrialValue(cost=y))

    def _info(self, params: Params) -> Any:
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo

        return TrialInfo(Configuration(self._configurations, values=params), seed=0)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
