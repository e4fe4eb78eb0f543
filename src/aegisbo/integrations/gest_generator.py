"""aegisbo as a generator of gest-api, the standard of libEnsemble, Xopt and Optimas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.optimizer.objectives import MOST
from aegisbo.public.optimizer_and_result import Optimizer
from aegisbo.space import Choice, Real

Generator: Any = import_module("gest_api").Generator
ID = "_id"  # where the standard keeps the number of a trial
GOALS = {"MinimizeObjective": "min", "MaximizeObjective": "max"}


class AegisGenerator(Generator):  # type: ignore[misc]
    """Suggest points with regard to those still running; results may come in any order.

    Args:
        vocs: variables with bounds or with a set of values, one to four objectives, constants, and constraints, which
            limit what results contain.
        options: arguments of `aegisbo.Optimizer`, such as strategy, seed or n_initial.

    Raises:
        InvalidInput: aegisbo does not support something in vocs.
    """

    returns_id = True

    def __init__(self, vocs: Any, **options: Any) -> None:
        super().__init__(vocs)
        goals = {name: GOALS[type(goal).__name__] for name, goal in vocs.objectives.items()}
        self._objectives = list(goals)
        self._constants = {name: constant.value for name, constant in vocs.constants.items()}
        self._names = list(vocs.variables)
        self._limited = list(vocs.constraints)
        space = {name: _parameter(variable) for name, variable in vocs.variables.items()}
        aim: Any = {"objectives": goals} if len(goals) > 1 else {"maximize": "max" in goals.values()}
        self.optimizer = Optimizer(space, limits=_limits(vocs.constraints), **aim, **options)

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Choose points, each with the number of its trial as _id.

        Args:
            num_points: how many; None means one.

        Returns:
            For each point its values by name, including constants.

        Raises:
            InvalidInput: a finite space has no points left.
        """
        try:
            trials = [self.optimizer.ask() for _ in range(1 if num_points is None else num_points)]
        except SpaceExhausted as error:
            raise InvalidInput(str(error)) from error
        return [{**trial.params, **self._constants, ID: trial.number} for trial in trials]

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Take in results: by _id if they were suggested here, otherwise as observed elsewhere.

        NaN counts as a failure, and so does a result without a quantity that has a constraint, or without one of
        several objectives.

        Args:
            results: values by name, including the objectives and the _id.

        Raises:
            InvalidInput: an _id was never suggested, or a point is not in the space.
        """
        for result in results:
            value, number = self._value(result), result.get(ID)
            measured = {name: float(result[name]) for name in self._limited if name in result}
            if number is None:
                self.optimizer.observe({name: result[name] for name in self._names}, value, measured)
            elif not 0 <= int(number) < len(self.optimizer.trials):
                raise InvalidInput(f"{ID} {number} was never suggested here: leave it out of results from elsewhere.")
            else:
                self.optimizer.tell(int(number), value, measured=measured)

    def _value(self, result: Mapping[str, Any]) -> Any:
        """What was measured of the objective; by name if there are several."""
        if len(self._objectives) == 1:
            return float(result[self._objectives[0]])
        return {name: float(result[name]) for name in self._objectives if name in result}

    def _validate_vocs(self, vocs: Any) -> None:
        goals = [type(goal).__name__ for goal in vocs.objectives.values()]
        if not 1 <= len(goals) <= MOST or not set(goals) <= set(GOALS):
            raise InvalidInput(f"The objectives are {goals}: give one to {MOST}, each to minimize or to maximize.")


def _limits(constraints: Mapping[str, Any]) -> list[str]:
    """The constraints as texts; bounds are two of them."""
    found = []
    for name, constraint in constraints.items():
        kind = type(constraint).__name__
        low, high = constraint.range if kind == "BoundsConstraint" else (constraint.value, constraint.value)
        found += [f"{name} >= {float(low)!r}"] if kind != "LessThanConstraint" else []
        found += [f"{name} <= {float(high)!r}"] if kind != "GreaterThanConstraint" else []
    return found


def _parameter(variable: Any) -> Real | Choice:
    kind = type(variable).__name__
    if kind == "ContinuousVariable":
        return Real(*variable.domain)
    if kind == "DiscreteVariable":
        return Choice(sorted(variable.values, key=lambda value: (str(type(value)), value)))
    raise InvalidInput(f"A variable is a {kind}: give it bounds or a set of values.")
