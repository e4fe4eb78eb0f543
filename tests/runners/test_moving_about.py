"""A study belongs to the place where its run began, wherever the program goes meanwhile."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aegisbo import load, minimize
from aegisbo.events import Closed
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.store import Store

BOX = [(-5.0, 10.0), (2.0, 3.0)]
OPTIONS: dict[str, Any] = {"strategy": "random", "seed": 5, "progress": False}


def bowl(x: Any) -> float:
    return float((x[0] - 1.0) ** 2 + x[1])


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders, in each of which a study has the same name; the program stands in the first."""
    here, there = tmp_path / "here", tmp_path / "there"
    for place, budget in ((here, 2), (there, 3)):
        place.mkdir()
        minimize(bowl, BOX, budget=budget, executor="serial", study=place / "run.db", **OPTIONS)
    monkeypatch.chdir(here)
    return here, there


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_a_function_that_changes_the_folder_writes_to_the_study_it_began(
    places: tuple[Path, Path], executor: str
) -> None:
    here, there = places
    before = (there / "run.db").read_bytes()

    def wander(x: Any) -> float:
        os.chdir(there)
        return bowl(x)

    result = minimize(wander, BOX, budget=8, workers=1, executor=executor, study="run.db", anyway=True, **OPTIONS)
    assert (there / "run.db").read_bytes() == before
    assert sorted(os.listdir(here)) == sorted(os.listdir(there)) == ["run.db"]
    assert load(here / "run.db").nfev == result.nfev == 8
    assert replay(here / "run.db").differences == ()
    assert result.study == here / "run.db"  # from which explanations and reports are read later


@pytest.mark.long
def test_a_callback_that_changes_the_folder_changes_nothing_either(places: tuple[Path, Path]) -> None:
    here, there = places
    before = (there / "run.db").read_bytes()
    callbacks = [lambda trial, result: os.chdir(there)]
    minimize(bowl, BOX, budget=8, workers=2, study="run.db", callbacks=callbacks, **OPTIONS)
    assert (there / "run.db").read_bytes() == before
    assert sorted(os.listdir(here)) == sorted(os.listdir(there)) == ["run.db"]
    assert load(here / "run.db").nfev == 8


@pytest.mark.parametrize("shared", [False, True])
def test_a_store_stays_with_its_file(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, shared: bool) -> None:
    here, there = places
    count = len(read_events(here / "run.db"))
    with closing(Store(Path("run.db"), print, shared=shared)) as store:
        monkeypatch.chdir(there)
        store.append(Closed("Enough.", []))
        assert len(store.events()) == count + 1
    assert load(here / "run.db").message == "Enough."
    assert sorted(os.listdir(here)) == sorted(os.listdir(there)) == ["run.db"]


def test_messages_show_the_name_as_it_was_typed(places: tuple[Path, Path], caplog: pytest.LogCaptureFixture) -> None:
    wider = [(-6.0, 10.0), (2.0, 3.0)]
    minimize(bowl, wider, budget=3, executor="serial", study="run.db", **OPTIONS)
    assert any(message.startswith("run.db now has wider bounds") for message in caplog.messages)
