"""What is known about a run, in the user's units, with trials by number; no file and no clock."""

from __future__ import annotations

from aegisbo.optimizer.core import Core
from aegisbo.optimizer.found import Found
from aegisbo.optimizer.settings import Settings
from aegisbo.optimizer.trial import Trial

__all__ = ["Core", "Found", "Settings", "Trial"]
