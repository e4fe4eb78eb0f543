"""Records on disk: what comes back, what is refused, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aegis_paper import records as records_module
from aegis_paper.records import Records
from aegis_paper.runs import Cell, Spec
from made_up import record as made_up

from aegisbo.errors import AegisError, InvalidInput, StudyError
from aegisbo.simulation.runs import SimulatedRun, simulate


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "records.sqlite")


def of(record: SimulatedRun) -> Cell:
    return Cell.of(record.spec)


@pytest.mark.parametrize(
    "record",
    [
        simulate(Spec(problem="Branin", strategy="aegis", workers=3, budget=14, seed=2, law="pareto")),
        simulate(Spec(problem="SVM#3", strategy="random", workers=2, budget=9, run=7)),
        made_up(run=4, preset="reference", strategy="aegis:epsilon=faster", problem="Rosenbrock10", budget=200),
        made_up(np.array([np.pi] * 30)),  # never better than the first
        made_up(np.geomspace(1e300, 5e-324, 30)),  # better every time, down to the smallest number there is
        made_up(-np.arange(70_000.0), budget=70_000),
    ],
    ids=["regret", "best value", "long", "flat", "steep", "large"],
)
def test_a_record_comes_back_to_the_last_bit(records: Records, record: SimulatedRun) -> None:
    records.add(record, {"numpy": "9.9"}, 1.25)
    ((run, scores),) = records.curves(of(record)).items()
    assert scores.tobytes() == record.scores.tobytes()
    (row,) = records.headers().to_dict("records")
    settings = {name: row[name] for name in ("problem", "strategy", "preset", "workers", "budget", "law", "seed")}
    assert Spec(**settings, run=run) == record.spec, "a run can be repeated from its header"
    assert (row["run"], row["run_seed"], row["makespan"]) == (run, record.spec.run_seed, record.makespan)
    assert (row["build"], row["core_seconds"]) == ({"numpy": "9.9"}, 1.25)
    assert row["minimum"] == record.minimum or (record.minimum is None and np.isnan(row["minimum"]))


def test_runs_are_sorted_whatever_the_order_they_came_in(records: Records) -> None:
    made = {run: made_up(run=run) for run in (3, 10, 0, 5)}
    for record in made.values():
        records.add(record)
    curves = records.curves(of(made[0]))
    assert list(curves) == [0, 3, 5, 10]
    assert all(curves[run].tolist() == record.scores.tolist() for run, record in made.items())
    assert records.headers()["run"].tolist() == [0, 3, 5, 10]


def test_a_run_is_kept_once(records: Records) -> None:
    records.add(made_up(run=3))
    with pytest.raises(InvalidInput, match=r"Run 3 of aegis on Branin is in .*records\.sqlite already"):
        records.add(made_up(run=3))
    assert made_up(run=3).spec in records
    assert made_up(run=2).spec not in records
    assert made_up(run=3, strategy="thompson").spec not in records


@pytest.mark.parametrize(
    "other",
    [
        {"strategy": "aegis:gamma=0.1"},
        {"preset": "reference"},
        {"preset": "reference:paths+choice"},
        {"workers": 16},
        {"problem": "push4#3"},
        {"budget": 31},
        {"law": "pareto"},
        {"seed": 1},
    ],
)
def test_runs_with_other_settings_do_not_mix(records: Records, other: dict[str, Any]) -> None:
    one, two = made_up(), made_up(**other)
    for record in (one, two):
        records.add(record)
    assert records.runs() == {of(one): {0}, of(two): {0}}
    for record in (one, two):
        assert records.curves(of(record))[0].tolist() == record.scores.tolist()


def test_without_a_file_there_are_no_runs(records: Records) -> None:
    assert records.runs() == {}
    assert records.curves(of(made_up())) == {}
    assert records.headers().empty
    assert not records.file.exists(), "looking made it"


def test_every_run_says_what_it_was_computed_with(records: Records) -> None:
    records.add(made_up(run=1), {"numpy": "9.9"})
    records.add(made_up(run=0))
    here, other = records.headers()["build"]
    assert other == {"numpy": "9.9"}
    assert here["numpy"] == np.__version__
    assert {"aegisbo", "python", "scipy"} < here.keys()


def test_a_run_takes_less_than_250_bytes(records: Records) -> None:
    cells = [{"problem": problem, "workers": q} for problem in ("Branin", "Hartmann6", "Ackley10") for q in (4, 8)]
    for cell in cells:
        for run in range(11):
            records.add(made_up(run=run, budget=200, **cell), {"numpy": "9.9"}, 12.3456789)
    empty = 6 * 4096  # SQLite's pages before anything is in them
    assert records.file.stat().st_size - empty <= 250 * 11 * len(cells)


@pytest.mark.long
def test_a_run_is_added_without_rewriting_the_file(records: Records) -> None:
    """Of its pages of 4 kB only a few change."""
    for run in range(300):
        records.add(made_up(run=run), {})
    before = records.file.read_bytes()
    records.add(made_up(run=300), {})
    after = records.file.read_bytes()
    changed = [i for i in range(0, len(after), 4096) if before[i : i + 4096] != after[i : i + 4096]]
    assert len(before) > 10 * 4096
    assert len(changed) <= 5


def test_runs_from_other_seeds_are_refused(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    records.add(made_up(run=5))
    monkeypatch.setattr(Spec, "run_seed", 42)
    with pytest.raises(
        AegisError, match=r"sqlite: run 5 of aegis on Branin began with seed \d+, but would begin with 42"
    ):
        records.curves(of(made_up()))


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-4096])


def overwritten(file: Path) -> None:
    file.write_text("see you" * 1000)


def flipped(file: Path) -> None:
    """One byte of the scores."""
    with sqlite3.connect(file) as connection:
        ((steps,),) = connection.execute("SELECT steps FROM runs WHERE run = 1").fetchall()
        broken = bytearray(steps)
        broken[len(broken) // 2] ^= 0xFF
        connection.execute("UPDATE runs SET steps = ? WHERE run = 1", (bytes(broken),))
    connection.close()


def cut_short(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE runs SET steps = substr(steps, 1, 20) WHERE run = 1")
    connection.close()


@pytest.mark.parametrize("damage", [truncated, overwritten, flipped, cut_short])
def test_a_damaged_file_is_named_with_the_remedy(records: Records, damage: Any) -> None:
    for run in range(3):
        records.add(made_up(run=run))
    damage(records.file)
    with pytest.raises(AegisError, match=r"sqlite cannot be read or written \(.*\).* restore it from a copy"):
        records.curves(of(made_up()))


def test_a_file_of_another_format_is_left_alone(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as future:
        future.setattr(records_module, "FORMAT", 4)
        records.add(made_up())
    for use in (records.runs, lambda: records.add(made_up(run=1))):
        with pytest.raises(AegisError, match=r"sqlite has format 4, this version knows 1"):
            use()


def test_somebody_elses_database_is_left_alone(records: Records) -> None:
    with sqlite3.connect(records.file) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = records.file.read_bytes()
    for use in (records.runs, lambda: records.add(made_up())):
        with pytest.raises(InvalidInput, match="is a database of something else: name another file"):
            use()
    assert records.file.read_bytes() == before


def test_a_read_only_file_can_be_read(records: Records) -> None:
    records.add(made_up())
    records.file.chmod(0o444)
    records.file.parent.chmod(0o555)
    try:
        assert records.runs() == {of(made_up()): {0}}
    finally:
        records.file.parent.chmod(0o755)


def test_who_reads_while_somebody_writes_sees_whole_runs(records: Records) -> None:
    records.add(made_up(run=0))
    with records._open("rwc") as connection:
        connection.execute("INSERT INTO runs SELECT cell, 1, run_seed, makespan, build, core_seconds, steps FROM runs")
        assert records.runs() == {of(made_up()): {0}}
    assert records.runs() == {of(made_up()): {0, 1}}


HALF_WRITTEN = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that pages reach the disk before the end
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET makespan = -1")
for run in range(1000, 3000):
    connection.execute("INSERT INTO runs SELECT cell, ?, 1, 1, build, 1, steps FROM runs WHERE run = 0", (run,))
os._exit(9)
"""


def test_a_write_that_is_cut_off_is_undone(records: Records) -> None:
    made = [made_up(run=run) for run in range(20)]
    for record in made:
        records.add(record)
    whole = records.file.read_bytes()
    assert subprocess.run([sys.executable, "-c", HALF_WRITTEN, str(records.file)], check=False).returncode == 9
    assert records.file.read_bytes() != whole, "nothing had been written: the test shows nothing"
    assert records.headers()["makespan"].tolist() == [record.makespan for record in made]
    curves = records.curves(of(made[0]))
    assert [curve.tolist() for curve in curves.values()] == [record.scores.tolist() for record in made]
    records.add(made_up(run=20))
    assert records.runs() == {of(made[0]): set(range(21))}


ENDLESS = """
import sys
from itertools import count
from pathlib import Path
sys.path.append(sys.argv[2])
from aegis_paper.records import Records
from made_up import record
for run in count():
    Records(Path(sys.argv[1])).add(record(run=run), {})
"""


@pytest.mark.long
def test_a_writer_may_be_killed_at_any_moment(records: Records) -> None:
    """What was on record stays, and the rest is whole runs without a gap."""
    writer = subprocess.Popen([sys.executable, "-c", ENDLESS, str(records.file), str(Path(__file__).parent)])
    cell, known = of(made_up()), 0
    deadline = time.monotonic() + 60
    while known < 10:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        known = len(records.runs().get(cell, ()))
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    curves = records.curves(cell)
    assert list(curves) == list(range(len(curves)))
    assert len(curves) >= known
    assert all(curve.tolist() == made_up(run=run).scores.tolist() for run, curve in curves.items())


def fill_the_disk(records: Records) -> None:
    more = "INSERT INTO runs SELECT cell, ?, 1, 1, build, 1, steps FROM runs WHERE run = 0"
    with records._open("rwc") as connection:
        connection.execute("PRAGMA max_page_count = 1")
        connection.executemany(more, ((run,) for run in range(1, 1000)))


def test_a_full_disk_leaves_what_was_there(records: Records) -> None:
    records.add(made_up())
    with pytest.raises(AegisError, match=r"sqlite cannot be read or written \(database or disk is full\)"):
        fill_the_disk(records)
    assert records.runs() == {of(made_up()): {0}}


def test_one_writer_at_a_time(records: Records) -> None:
    with (
        records.lock(),
        pytest.raises(StudyError, match=r"records\.sqlite is already being driven"),
        Records(records.file).lock(),
    ):
        pass
    with records.lock():
        pass


def test_places_that_cannot_hold_records_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AegisError, match=r"file/below cannot be made \(Not a directory\): choose another"):
        Records(tmp_path / "file" / "below" / "records.sqlite").lock()
    with pytest.raises(InvalidInput, match=r"is a folder: name a file, such as .*records\.sqlite"):
        Records(tmp_path).lock()


def test_repeated_runs_differ_in_their_number_only() -> None:
    spec = made_up(run=3).spec
    assert Cell.of(spec).spec(3) == spec
    assert replace(spec, run=0) == Cell.of(spec).spec(0)
