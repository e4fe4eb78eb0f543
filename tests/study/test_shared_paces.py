"""Copies learn from one log how their workers differ, each by its own numbers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from shared_copies import Hall

from aegisbo.address import place_of
from aegisbo.outcome import Outcome


def test_each_copy_knows_the_paces_of_its_own_workers(tmp_path: Path) -> None:
    with closing(Hall(place_of(tmp_path / "run.db"))) as hall:
        copies = {hall.copy(workers=2): (1.0, 1.0), hall.copy(workers=2): (1.0, 4.0)}
        for k in range(40):
            for copy, paces in copies.items():
                trial, worker = copy.ask(), k % 2
                assert trial is not None
                seconds = paces[worker] * (1.0 + 0.1 * ((7 * k) % 5))
                copy.ended(trial.number, Outcome("done", 1.0, seconds=seconds, worker=worker), seconds)
        first, second = copies
        first.catch_up()
        assert second.optimizer.paces == pytest.approx(first.optimizer.paces, rel=0.05)
        assert sorted(first.optimizer.paces) == [0, 1, 2, 3]
        assert second.paces[1] == pytest.approx(4.0, rel=0.1)
        assert [second.paces[0], first.paces[0], first.paces[1]] == pytest.approx([1.0] * 3, rel=0.1)
