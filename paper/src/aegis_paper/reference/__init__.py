"""What the authors' published code did where it differs from their paper.

The presets of the core follow the paper's text. The published tables came from code that departs from it in places;
each departure is one file here, can be switched on its own, and says what the paper says, what the code did, and what
that changes. Together they run what was really run, and one by one they show which of them explains which number.
"""

from __future__ import annotations

from aegis_paper.reference.problems import as_published
from aegis_paper.reference.registry import Deviations, deviations_of, resolve

__all__ = ["Deviations", "as_published", "deviations_of", "resolve"]
