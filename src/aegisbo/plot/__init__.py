"""Figures of a run, drawn with matplotlib from the same facts as the report.

Each function takes a result or the file of a study (`advice`: an advice), and returns a matplotlib figure. A
notebook shows it by itself; `figure.savefig("run.svg")` saves it. Matplotlib is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aegisbo.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from aegisbo.plot.best_so_far import convergence
    from aegisbo.plot.canvas import Picture
    from aegisbo.plot.choices import reasons
    from aegisbo.plot.learning_curves import curves
    from aegisbo.plot.measured_front import front
    from aegisbo.plot.one_choice import decision
    from aegisbo.plot.one_parameter import slices
    from aegisbo.plot.other_teams import advice
    from aegisbo.plot.shares import importance
    from aegisbo.plot.two_parameters import contour
    from aegisbo.plot.workers import timeline
else:
    _HOMES = {  # modules whose names differ from their functions, which they would hide otherwise
        "advice": "other_teams",
        "contour": "two_parameters",
        "convergence": "best_so_far",
        "curves": "learning_curves",
        "decision": "one_choice",
        "front": "measured_front",
        "importance": "shares",
        "reasons": "choices",
        "slices": "one_parameter",
        "timeline": "workers",
    }

    def __getattr__(name: str) -> object:
        """Load what is asked for, and matplotlib with it, on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "matplotlib":
                raise
            raise MissingExtra(f"aegisbo.plot.{name}", "plot") from error


OF_A_RUN = ("contour", "convergence", "curves", "decision", "front", "importance", "reasons", "slices", "timeline")

__all__ = [
    "advice",
    "contour",
    "convergence",
    "curves",
    "decision",
    "front",
    "importance",
    "reasons",
    "slices",
    "timeline",
]


def draw(kind: str, run: Any, **options: Any) -> Picture:
    """The figure of this name, for `result.plot`.

    Raises:
        UnknownName: no figure has this name.
    """
    if kind not in OF_A_RUN:
        raise UnknownName("figure", kind, OF_A_RUN)
    figure: Picture = getattr(import_module(__name__), kind)(run, **options)
    return figure


def __dir__() -> list[str]:
    return sorted(__all__)
