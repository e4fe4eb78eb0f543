"""What other numbers of workers would bring, foretold from a run by simulation."""

from __future__ import annotations

from aegisbo.advice.advise import advise
from aegisbo.advice.forecast import Advice, Forecast

__all__ = ["Advice", "Forecast", "advise"]
