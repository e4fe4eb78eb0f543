"""The search space of scikit-learn's searches as one of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput
from aegisbo.optimizer.settings import ADDRESS
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.space.parameters import Parameter, Params, Scalar, naming

KNOWN = "use scipy.stats.uniform, loguniform or randint, a list of choices, or aegisbo's Real, Int and Choice"


@dataclass(frozen=True)
class SklearnSpace:
    """Our space, and the way back to the values that an estimator gets."""

    space: Space
    fixed: Mapping[str, Any]  # parameters with one value only
    objects: Mapping[str, Mapping[str, Any]]  # choices that are neither text nor numbers, by their labels

    def values(self, params: Params) -> dict[str, Any]:
        """The arguments of `set_params`; inactive parameters keep the estimator's values."""
        found = {name: self.objects[name][value] if name in self.objects else value for name, value in params.items()}
        return {**self.fixed, **found}


def converted(given: Any) -> SklearnSpace:
    """Our space for a space in scikit-learn's form.

    Args:
        given: parameters by the names that `set_params` knows; a list is choices, a pair (low, high) is a range.

    Raises:
        InvalidInput: it has nothing to search, or something that aegisbo cannot search.
    """
    if isinstance(given, Space):
        return SklearnSpace(given, {}, {})
    if not isinstance(given, Mapping):
        raise InvalidInput(f"space is {given!r}: give a dict by parameter; what depends on another has when={{...}}.")
    fixed: dict[str, Any] = {}
    objects: dict[str, dict[str, Any]] = {}
    parameters: dict[str, Any] = {}
    for name, entry in given.items():
        choices = list(entry) if isinstance(entry, list | np.ndarray) else None
        if choices is None:
            parameters[name] = _parameter(name, entry)
        elif len(choices) == 1:
            fixed[name] = choices[0]
        else:
            with naming(name):
                parameters[name], objects[name] = _choice(choices)
    if not parameters:
        raise InvalidInput(f"space is {given!r}, which leaves nothing to search: {KNOWN}.")
    return SklearnSpace(Space(parameters), fixed, {name: labels for name, labels in objects.items() if labels})


def _choice(values: list[Any]) -> tuple[Choice, dict[str, Any]]:
    """A choice among any values; those that a study cannot store get labels."""
    if all(isinstance(value, Scalar | np.generic) for value in values):
        return Choice(values), {}
    texts = [value if isinstance(value, str) else repr(value) for value in values]
    names = [ADDRESS.sub("", text) for text in texts]  # the same in every process, so that a study can be continued
    labels = [
        name if names.count(name) == texts.count(text) else f"{name} #{k}"
        for k, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    return Choice(labels), dict(zip(labels, values, strict=True))


def _parameter(name: str, entry: Any) -> Parameter | Any:
    """Our parameter for one of SciPy's distributions; forms that `Space` reads pass unchanged."""
    if not hasattr(entry, "rvs"):
        return entry
    kind = getattr(getattr(entry, "dist", None), "name", type(entry).__name__)
    with naming(name):
        if kind not in ("uniform", "loguniform", "reciprocal", "randint") or not hasattr(entry, "dist"):
            raise InvalidInput(f"aegisbo cannot search the distribution {kind}: {KNOWN}.")
        low, high = entry.support()
        return Int(int(low), int(high)) if kind == "randint" else Real(low, high, log=kind != "uniform")
