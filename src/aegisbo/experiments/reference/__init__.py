"""What the authors' published code did where it differs from their paper.

The presets of the core follow the paper's text. The published tables came from code that departs from it in places;
each departure is one file here, can be switched on its own, and says what the paper says, what the code did, and what
that changes. Together they run what was really run, and one by one they show which of them explains which number.
"""

from __future__ import annotations

from aegisbo.experiments.reference.problems import as_published, folded_regret
from aegisbo.experiments.reference.registry import deviations_of, resolve

__all__ = ["as_published", "deviations_of", "folded_regret", "resolve"]
