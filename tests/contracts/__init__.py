"""Suites of tests that a whole family must pass: inherit one to hold your own member of the family to it."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("contracts.strategy_contract")
