"""Whether one of two is better more often than by chance."""

from __future__ import annotations

from scipy.stats import binomtest


def sign_test(better: int, worse: int) -> float:
    """The two-sided p; 1 if there is nothing to count."""
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
