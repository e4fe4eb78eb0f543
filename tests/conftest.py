"""Settings for the whole suite."""

from __future__ import annotations

from hypothesis import settings

# Same examples on every run and every machine, and no clock: a red test is red again when you look at it.
settings.register_profile("aegisbo", derandomize=True, deadline=None)
settings.load_profile("aegisbo")
