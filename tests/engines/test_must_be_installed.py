"""What continuous integration lists is installed, or the tests of that package would skip unseen."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


@pytest.mark.long
@pytest.mark.parametrize("package", os.environ.get("AEGISBO_ENGINES", "").split())
def test_a_package_that_must_be_tested_is_installed(package: str) -> None:
    assert find_spec(package) is not None
