"""Whether a space is another one with wider bounds, so that it contains all points of the old one."""

from __future__ import annotations

from aegisbo.space.constraints import KEY
from aegisbo.space.parameters import Choice, Int, Parameter, Real
from aegisbo.space.space import Space


def differences(old: Space, new: Space) -> list[str]:
    """How `new` differs from `old`, in words, apart from wider bounds; one entry for each parameter."""
    if old.named != new.named:
        having = {True: "names", False: "no names"}
        return [f"the parameters have {having[old.named]} in the study, and {having[new.named]} in this call"]
    names = {**old.parameters, **new.parameters}
    pairs = [(name, old.parameters.get(name), new.parameters.get(name)) for name in names]
    differing: list[tuple[str, object, object]] = [(name, was, now) for name, was, now in pairs if not _holds(now, was)]
    if set(old.constraints) != set(new.constraints):
        before, after = ("; ".join(rule.text for rule in space.constraints) for space in (old, new))
        differing.append((KEY, before, after))
    return [f"{what}: {was or 'nothing'} in the study, {now or 'nothing'} in this call" for what, was, now in differing]


def widened(old: Space, new: Space) -> Space:
    """`old` with the bounds of `new`, its only difference; the order of parameters stays."""
    parameters = {name: new.parameters[name] for name in old.parameters}
    here = {rule: rule for rule in new.constraints}  # with functions, which a study does not hold
    return Space(parameters if old.named else parameters.values(), [here[rule] for rule in old.constraints])


def _holds(new: Parameter | None, old: Parameter | None) -> bool:
    """Whether every value of `old` is one of `new`, on the same scale and under the same conditions."""
    if new is None or old is None or new.when != old.when:
        return False
    match old, new:
        case Real(), Real():
            return new.log == old.log and new.low <= old.low and old.high <= new.high
        case Int(), Int():
            aligned = new.step == old.step and (old.low - new.low) % old.step == 0
            return aligned and new.log == old.log and new.low <= old.low and old.high <= new.high
        case Choice(), Choice():
            return new.values[: len(old.values)] == old.values
    return False
