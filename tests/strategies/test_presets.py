from __future__ import annotations

import math

import numpy as np
import pytest

from aegisbo.errors import UnknownName
from aegisbo.strategies.presets import DEFAULT_PRESET, PAPER, PRESETS, preset_named


def test_paper_is_what_the_paper_says():
    assert PAPER.thompson.features == 2000
    assert (PAPER.search.candidates, PAPER.search.starts) == (1000, 10)
    assert not PAPER.guard
    model = PAPER.surrogate.model(7)
    assert model.noise == 1e-4
    np.testing.assert_allclose(np.exp(model.bounds), [[1e-4, math.sqrt(7)], [1e-4, 10]])


def test_presets_are_known_by_name():
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset_named(name) is preset
    assert DEFAULT_PRESET in PRESETS


def test_an_unknown_preset_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownName, match="Unknown preset 'Papper': did you mean 'paper'"):
        preset_named("Papper")
