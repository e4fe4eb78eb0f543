"""What everybody needs who lets a strategy choose: the strategy itself, and one BLAS thread while it thinks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from numbers import Integral
from typing import Any

from threadpoolctl import ThreadpoolController

from aegisbo.errors import InvalidInput
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.registry import DEFAULT_PRESET, resolve


def chosen(strategy: str | Strategy, preset: str | None) -> tuple[str | None, str | None, Strategy]:
    """Name, preset and object; a strategy that came as an object has neither name nor preset."""
    if isinstance(strategy, str):
        preset = DEFAULT_PRESET if preset is None else preset
        return strategy, preset, resolve(strategy, preset)
    if not callable(getattr(strategy, "suggest", None)):
        raise InvalidInput(f"strategy must be a name or an object with a method suggest, got {strategy!r}.")
    if preset is not None:
        raise InvalidInput(f"preset={preset!r} goes with the name of a strategy, not with {strategy!r}: leave it out.")
    return None, None, strategy


def natural(value: object, name: str) -> int:
    """The value as an int from 0 upwards."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise InvalidInput(f"{name} must be an integer from 0 upwards, or None, got {value!r}.")
    return int(value)


def one_blas_thread() -> AbstractContextManager[Any]:
    """More threads would fight the workers for cores, and sum in another order on another machine."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Made once a process, at the first suggestion: looking through the loaded libraries takes milliseconds."""
    return ThreadpoolController()
