"""The search space of Ray Tune as one of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real
from aegisbo.space.parameters import Parameter, naming

SAMPLE: Any = import_module("ray.tune.search.sample")
FOUND: Any = import_module("ray.tune.search.variant_generator").parse_spec_vars
KNOWN = "use tune.uniform, loguniform, quniform, randint, lograndint or choice"


@dataclass(frozen=True)
class TuneSpace:
    """Our parameters, and the way back to the nested values that a trainable gets."""

    parameters: Mapping[str, Parameter]  # by path, as in "model/depth"
    quanta: Mapping[str, float]  # of parameters that are multiples of a fraction

    def nested(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values by path in Tune's form, without constants, which Tune adds itself."""
        config: dict[str, Any] = {}
        for path, value in params.items():
            *above, name = path.split("/")
            place = config
            for part in above:
                place = place.setdefault(part, {})
            place[name] = value * self.quanta[path] if path in self.quanta else value
        return config


def converted(config: Mapping[str, Any]) -> TuneSpace:
    """Our space for a `param_space`.

    Raises:
        InvalidInput: it has nothing to choose, or something that aegisbo cannot search.
    """
    _, domains, grids = FOUND(config)
    if grids:
        raise InvalidInput(f"{_name(grids[0][0])!r} is a grid_search: {KNOWN}.")
    if not domains:
        raise InvalidInput(f"param_space has nothing to search: {KNOWN}.")
    parameters: dict[str, Parameter] = {}
    quanta: dict[str, float] = {}
    for path, domain in domains:
        name = _name(path)
        with naming(name):
            parameters[name], quantum = _parameter(domain)
        if quantum is not None:
            quanta[name] = quantum
    return TuneSpace(parameters, quanta)


def _name(path: tuple[Any, ...]) -> str:
    if not all(isinstance(part, str) and "/" not in part for part in path):
        raise InvalidInput(f"param_space has a place {path!r}: use names in nested dicts, without '/' and lists.")
    return "/".join(path)


def _parameter(domain: Any) -> tuple[Parameter, float | None]:
    """Our parameter, and the factor of its values."""
    if isinstance(domain, SAMPLE.Categorical):
        return Choice(domain.categories), None
    sampler = domain.get_sampler()
    quantum = sampler.q if isinstance(sampler, SAMPLE.Quantized) else None
    spread = sampler if quantum is None else sampler.get_sampler()
    log = isinstance(spread, SAMPLE.LogUniform)
    if isinstance(domain, SAMPLE.Float) and (log or isinstance(spread, SAMPLE.Uniform)):
        if quantum is None:
            return Real(domain.lower, domain.upper, log), None
        return Int(round(domain.lower / quantum), round(domain.upper / quantum), log), quantum
    if isinstance(domain, SAMPLE.Integer):
        return _integer(domain, quantum or 1, log), None
    kind = type(domain).__name__ + ("" if isinstance(domain, SAMPLE.Function) else f" with {type(spread).__name__}")
    raise InvalidInput(f"aegisbo cannot search a {kind}: {KNOWN}, and compute other values inside the trainable.")


def _integer(domain: Any, step: int, log: bool) -> Int:
    last = domain.upper - 1 if step == 1 else domain.upper  # Tune leaves the upper end out, but not with steps
    return Int(math.ceil(domain.lower / step) * step, last // step * step, log, step)
