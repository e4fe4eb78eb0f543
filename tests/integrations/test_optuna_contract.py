"""Optuna's own contract for samplers, inherited in full."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase

from aegisbo.integrations import AegisSampler


class Contract(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    """All that Optuna asks of a sampler, for one objective and for several."""


class TestByDefault(Contract):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return AegisSampler


class TestModelBasedFromTheStart(Contract):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: AegisSampler(strategy="aegis:guard=on", seed=0, n_initial=0)
