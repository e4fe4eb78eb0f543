"""Estimates, by simulation, of how long a run would take with other workers, or without its advisers."""

from __future__ import annotations

from aegisbo.advice.advise import advise
from aegisbo.advice.credit import Credit, Credits, credit
from aegisbo.advice.forecast import Advice, Forecast

__all__ = ["Advice", "Credit", "Credits", "Forecast", "advise", "credit"]
