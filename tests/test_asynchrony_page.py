"""docs/asynchrony.md works as printed, and its numbers are right."""

from __future__ import annotations

import re
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from printed_page import DOCS, said_by


def test_only_the_blind_strategy_repeats_itself(tmp_path: Path) -> None:
    said, printed = (
        {name: literal_eval(points) for name, points in re.findall(r"^(\w+) +(\[.*\])$", text, re.MULTILINE)}
        for text in (said_by("asynchrony.md", tmp_path), DOCS.joinpath("asynchrony.md").read_text("utf-8"))
    )
    assert {name: len(set(points)) for name, points in said.items()} == {
        "blind": 1,
        "guarded": 4,
        "believing": 4,
        "aegis": 4,
    }
    assert said.keys() == printed.keys()
    for name, points in said.items():
        assert points == pytest.approx(printed[name], abs=0.02), name


def test_the_shares_of_busy_workers_are_those_of_half_normal_times() -> None:
    told = re.search(
        r"(\d+) % of the time, eight for (\d+) % and sixteen for (\d+) %",
        DOCS.joinpath("asynchrony.md").read_text("utf-8"),
    )
    assert told is not None
    rng = np.random.default_rng(0)
    for workers, percent in zip((4, 8, 16), map(int, told.groups()), strict=True):
        seconds = np.abs(rng.normal(size=(100_000, workers)))
        assert 100 * seconds.mean() / seconds.max(axis=1).mean() == pytest.approx(percent, abs=0.7)
