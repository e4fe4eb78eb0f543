"""The models of a run: that of its only number, or one for each of several objectives."""

from __future__ import annotations

from collections.abc import Mapping

from aegisbo.errors import NoModel
from aegisbo.optimizer import Core
from aegisbo.review.landscape import Landscape, needed_landscapes

Models = Mapping[str | None, Landscape]  # by name of the objective, None for the only number; empty without a model


def models_of(optimizer: Core) -> Models:
    """What the models of the strategy believe now, or the default ones if it has none. Empty with too few values."""
    try:
        return needed_landscapes(optimizer)
    except NoModel:
        return {}
