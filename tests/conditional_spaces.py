"""Small finite spaces with conditions, made by hypothesis, and all their points by brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import strategies as st

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Params, Space
from aegisbo.space.parameters import Parameter

NAMES = "abcd"


@st.composite
def finite_spaces(draw: st.DrawFn) -> Space:
    """Up to four parameters, in any order, each with at most two conditions on earlier ones."""
    parameters: dict[str, Parameter] = {}
    for name in NAMES[: draw(st.integers(2, len(NAMES)))]:
        when: dict[str, Any] = {}
        for parent in (
            draw(st.lists(st.sampled_from(sorted(parameters)), max_size=2, unique=True)) if parameters else []
        ):
            values = values_of(parameters[parent])
            wanted = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True))
            numeric = isinstance(parameters[parent], Int) and draw(st.booleans())
            when[parent] = f">= {min(wanted)}" if numeric else wanted if len(wanted) > 1 else wanted[0]
        if draw(st.booleans()):
            made: Parameter = Choice(["p", "q", "r"][: draw(st.integers(2, 3))], when=when or None)
        else:
            log = draw(st.booleans())
            made = Int(1, draw(st.integers(2, 3)), log, when=when or None)
        try:
            Space({**parameters, name: made})
        except InvalidInput:  # it would never be there
            continue
        parameters[name] = made
    names = draw(st.permutations(list(parameters)))
    return Space({name: parameters[name] for name in names})


def values_of(parameter: Parameter) -> list[Any]:
    assert not hasattr(parameter, "step") or parameter.step == 1
    return list(parameter.values) if isinstance(parameter, Choice) else list(range(parameter.low, parameter.high + 1))


def every_combination(space: Space) -> list[Params]:
    """All different points, by trying all combinations of values and leaving out what is not there."""
    names = list(space.parameters)
    found: list[Params] = []
    for values in product(*(values_of(space.parameters[name]) for name in names)):
        point = _those_there(space, dict(zip(names, values, strict=True)))
        if point not in found:
            found.append(point)
    return found


def _those_there(space: Space, values: Params) -> Params:
    def there(name: str) -> bool:
        when = space.parameters[name].when or {}
        return all(there(parent) and _fits(values[parent], wanted) for parent, wanted in when.items())

    return {name: value for name, value in values.items() if there(name)}


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted.startswith(">= "):
        return bool(value >= int(wanted[3:]))
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)
