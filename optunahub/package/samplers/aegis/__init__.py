"""AEGiS for Optuna; the sampler itself lives in the package aegisbo."""

from __future__ import annotations

from aegisbo.integrations import AegisSampler

__all__ = ["AegisSampler"]
