"""Ask and tell: trials known by number, in the user's own units; no mathematics, thread, file or clock."""

from __future__ import annotations

from aegisbo.optimizer.optimizer import Optimizer
from aegisbo.optimizer.result import Result
from aegisbo.optimizer.trial import Trial
from aegisbo.space import Choice, Int, Real, Space

__all__ = ["Choice", "Int", "Optimizer", "Real", "Result", "Space", "Trial"]
