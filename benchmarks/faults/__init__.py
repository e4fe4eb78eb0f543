"""Runs in which everything goes wrong; what they are held against, diaries and audits, is shared with the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "faults"))
