"""Estimates, by simulation, of how long a run would take with other numbers of workers."""

from __future__ import annotations

from aegisbo.advice.advise import advise
from aegisbo.advice.forecast import Advice, Forecast

__all__ = ["Advice", "Forecast", "advise"]
