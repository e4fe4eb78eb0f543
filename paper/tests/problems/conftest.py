"""Where the third-party data lie that the larger comparisons read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "AEGISBO_REFERENCE_DATA"


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with push/ and profet/; third-party files, so no part of the repository."""
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder with the reference data")
    return Path(os.environ[VARIABLE])
