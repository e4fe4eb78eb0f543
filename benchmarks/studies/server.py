"""A study on a PostgreSQL server beside one in a file: events, news, many copies, and a large study.

    python -m benchmarks.studies.server [--copies 64] [--trials 10000]

Server and file are on this machine's disk. Evaluations are simulated: a copy sleeps as long as one takes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from typing import Any

import aegisbo
from aegisbo.address import Place, place_of
from aegisbo.cli import app
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome, Report
from aegisbo.review.html import report
from aegisbo.review.record import Record
from aegisbo.study.copying import copy
from aegisbo.study.file import checksum, create
from aegisbo.study.reading import read_rows
from aegisbo.study.rows import Row
from aegisbo.study.server import write_rows
from aegisbo.study.shared import Shared
from aegisbo.study.study import Study
from benchmarks.faults import TESTS
from benchmarks.studies.report import made_up

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}
SETTINGS = Settings.checked(BOX, strategy="random", seed=0)
SECONDS = 4.0  # of appending
NEWS = 20  # results of which it is measured when others know them
JOB = 1.0  # seconds of a simulated evaluation
DONE = Outcome("done", 1.0, seconds=JOB, began=0.0, worker=0)


def opened(place: Place, budget: int = 10**6) -> Shared:
    return Shared.open(place, SETTINGS, call={"budget": budget, "workers": 1})


def events_a_second(place: Place, *, shared: bool) -> float:
    """Reports, because nothing needs to be chosen for them."""
    with opened(place) if shared else Study.open(place, SETTINGS) as study:
        trial, count, begin = study.ask(), 0, time.perf_counter()
        assert trial is not None
        while time.perf_counter() - begin < SECONDS:
            study.reported(trial.number, Report(float(count), 1.0))
            count += 1
        return count / (time.perf_counter() - begin)


def news(place: Place) -> list[float]:
    """Seconds from the end of an evaluation in one copy until another one, which rests, knows its result."""
    reading, writing = os.pipe()
    known: dict[int, float] = {}
    if os.fork() == 0:
        _end_some(place, writing)
        os._exit(0)
    with opened(place) as resting:
        while len(known) < NEWS:
            resting.wait(resting.rest)
            resting.stirred()
            resting.catch_up()
            done = [trial.number for trial in resting.optimizer.trials if trial.state == "done"]
            known |= {number: time.perf_counter() for number in done if number not in known}
    assert os.wait()[1] == 0
    ended = json.loads(os.read(reading, 65536))
    return [known[number] - ended[number] for number in range(NEWS)]


def _end_some(place: Place, pipe: int) -> None:
    """End evaluations at any moment of the other's rest, and tell when each ended."""
    ended = []
    with opened(place) as study:
        for k in range(NEWS):
            trial = study.ask()
            assert trial is not None
            time.sleep(0.3 + 0.7 * (k % 7) / 7)
            ended.append(time.perf_counter())
            study.take_in(study.ended(trial.number, DONE))
    os.write(pipe, json.dumps(ended).encode())


def many_copies(place: Place, copies: int, budget: int) -> tuple[float, float]:
    """Seconds until the budget is spent, and the share of it in which an ideal team would have been busy."""
    Study.open(place, SETTINGS, call={"budget": budget}).__exit__(None, None, None)
    begin = time.perf_counter()
    for _ in range(copies):
        if os.fork() == 0:
            _evaluate(place, budget)
            os._exit(0)
    codes = [os.wait()[1] for _ in range(copies)]
    seconds = time.perf_counter() - begin
    assert not any(codes)
    assert aegisbo.load(place).nfev == budget
    return seconds, budget * JOB / copies / seconds


def _evaluate(place: Place, budget: int) -> None:
    with opened(place, budget) as study:
        while not study.spent:
            trial = study.ask()
            if trial is None:
                study.wait(study.rest)
                study.stirred()
                continue
            time.sleep(JOB)
            study.take_in(study.ended(trial.number, DONE))
        study.closed("The budget is spent.", [])


def rows_of(record: Record) -> list[Row]:
    rows = []
    for event in record.events:
        body = json.dumps(event.body)
        sum = checksum(event.id, event.kind, event.number, event.at, body)
        rows.append((event.id, event.kind, event.number, event.at, body, sum))
    return rows


def seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def show(place: Place) -> None:
    with redirect_stdout(io.StringIO()):
        app(["show", str(place)], standalone_mode=False)


def large(places: dict[str, Place], trials: int, folder: Path) -> None:
    rows = rows_of(made_up(trials))
    create(places["file"], rows)  # type: ignore[arg-type]
    write_rows(places["server"], rows)  # type: ignore[arg-type]
    steps: dict[str, Callable[[Place], Any]] = {
        "load": aegisbo.load,
        "show": show,
        "report": lambda place: report(Record.of_study(place)),
    }
    for name, step in steps.items():
        print_row(
            f"{name} of {trials:,} trials, s",
            {k: seconds(lambda p=p, step=step: step(p)) for k, p in places.items()},
            1,
        )
    there, back = place_of(str(places["server"]) + "-copy"), folder / "back.db"
    to_server = seconds(lambda: copy(places["file"], there))
    to_file = seconds(lambda: copy(there, back))
    print_row(f"copy of {len(rows):,} events to it, s", {"file": to_file, "server": to_server}, 1)
    print("events there and back are", "equal" if read_rows(back) == rows == read_rows(places["file"]) else "DIFFERENT")


def print_row(title: str, values: dict[str, float], digits: int) -> None:
    print(f"{title:<52}" + "".join(f"{values[name]:>10.{digits}f}" for name in ("file", "server")), flush=True)


def main() -> None:
    sys.path.insert(0, str(TESTS))
    from postgresql import server

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--trials", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(connections=200) as one:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = name

        def places(study: str) -> dict[str, Place]:
            return {"file": folder / f"{study}.db", "server": place_of(one.study(study))}

        print(f"{'':<52}{'file':>10}{'server':>10}")
        for who, shared in {"driver": False, "copy": True}.items():
            rates = {k: events_a_second(p, shared=shared) for k, p in places(who).items()}
            print_row(f"events a second of a {who}", rates, 0)
        delays = {k: news(p) for k, p in places("news").items()}
        print_row("until a resting copy knows a result, median, ms", {k: 1e3 * median(d) for k, d in delays.items()}, 0)
        print_row("the same, longest, ms", {k: 1e3 * max(d) for k, d in delays.items()}, 0)
        many = {k: many_copies(p, options.copies, 5 * options.copies) for k, p in places("many").items()}
        print_row(f"{options.copies} copies, {5 * options.copies} evaluations of {JOB:g} s, s",
                  {k: s for k, (s, _) in many.items()}, 1)  # fmt: skip
        print_row("busy, %", {k: 100 * share for k, (_, share) in many.items()}, 0)
        large(places("large"), options.trials, folder)


if __name__ == "__main__":
    sys.exit(main())
