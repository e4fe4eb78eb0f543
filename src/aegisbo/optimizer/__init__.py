"""Ask and tell: trials known by number, in the user's own units; no file and no clock."""

from __future__ import annotations

from aegisbo.optimizer.found import Found
from aegisbo.optimizer.optimizer import Optimizer
from aegisbo.optimizer.settings import Settings
from aegisbo.optimizer.trial import Trial

__all__ = ["Found", "Optimizer", "Settings", "Trial"]
