"""Runs in which everything goes wrong; what they are held against, diaries and audits, is shared with the tests."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(TESTS / "faults"), str(TESTS)]
