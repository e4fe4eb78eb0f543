"""Whether a study runs, was killed, or may do either elsewhere; asked without leaving a trace."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from some_events import told

from aegisbo import load
from aegisbo.events import Asked, Closed, Created, Forgotten, Opened, Retried
from aegisbo.optimizer import Settings
from aegisbo.study import Study
from aegisbo.study.drivers import Drivers
from aegisbo.study.lock import DriverLock, is_driven
from aegisbo.study.store import Store

DRIVER = """
import sys
from aegisbo.optimizer import Settings
from aegisbo.study import Study
with Study.open(sys.argv[1], Settings.checked([(-5, 10), (2, 3)], strategy="random", seed=1)) as study:
    print("open", flush=True)
    sys.stdin.read()
    study.closed("Enough.", [])
"""


def test_running_then_killed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "open\n"
        who = f"(process {driver.pid} on {platform.node()})"
        files = {file.name for file in tmp_path.iterdir()}
        assert is_driven(path)
        assert load(path).message == f"Running {who}."
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert not is_driven(path)
    assert load(path).message.startswith(f"Killed: the driver {who} did not end by itself.")
    assert {file.name for file in tmp_path.iterdir()} == files


def test_running_then_closed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    subprocess.run([sys.executable, "-c", DRIVER, str(path)], stdin=subprocess.DEVNULL, check=True, capture_output=True)
    assert load(path).message == "Enough."
    assert [file.name for file in tmp_path.iterdir()] == ["run.db"]


def test_a_driver_elsewhere_may_be_alive(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked([(-5, 10)], strategy="random")):
        pass
    store = Store(path, print)
    store.append(Opened(42, "a-node-of-a-cluster"))
    store.close()
    assert load(path).message == "Running or killed, on another machine (process 42 on a-node-of-a-cluster)."


@pytest.mark.long
def test_asking_neither_takes_the_lock_nor_lets_go_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    assert not is_driven(path)
    assert list(tmp_path.iterdir()) == []
    with DriverLock(path):
        assert is_driven(path)
        script = (
            "import sys; from pathlib import Path; from aegisbo.study.lock import is_driven;"
            "print(is_driven(Path(sys.argv[1])))"
        )
        for _ in range(2):  # the first answer did not end what it asked for
            told = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
            assert told.stdout == "True\n"
    (tmp_path / "run.db.driver").write_text(json.dumps({"pid": os.getpid()}))  # as a killed driver leaves it
    assert not is_driven(path)


def test_sittings_last_from_opening_to_the_last_word_of_a_driver() -> None:
    created = Created({}, {})
    happened = [Opened(1), Asked(0, {}, {}, {}, 0, 0.0), Closed("", []), Retried([0]), Opened(1), told(0)]
    drivers = Drivers(created, {})
    assert drivers.sittings == []
    for k, event in enumerate([*happened, Forgotten([0]), Opened(1)], start=1):
        drivers.apply(replace(event, at=10.0 * k))
    assert drivers.sittings == [(10.0, 30.0), (50.0, 60.0), (80.0, 80.0)]


@pytest.mark.parametrize("driven", [True, False])
def test_a_study_that_was_never_opened(tmp_path: Path, driven: bool) -> None:
    path = tmp_path / "run.db"
    store = Store(path, print)
    optimizer = Settings.checked([(-5, 10)], strategy="random").decided()
    store.append(Created(optimizer.describe(), {}))
    store.close()
    if driven:
        with DriverLock(path):
            assert load(path).message == "Running."
    else:
        assert load(path).message.startswith("Killed: the driver did not end by itself.")
