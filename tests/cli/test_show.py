"""`aegisbo show`: what it says of a study, against the study itself, and that it fits the terminal."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commands import call
from driven import ask

from aegisbo import load, minimize
from aegisbo.cli.tables import local_time
from aegisbo.cli.trial_table import cut
from aegisbo.errors import InvalidInput, TrialError, UnknownName
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome, Report
from aegisbo.printable import duration
from aegisbo.review.payload import facts_of
from aegisbo.review.record import Record
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.study import Study, forget, retry

FEW = Space(
    {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["relu", "a rather long name of it"])}
)
ENCODERS = Space({f"learning_rate_{which}coder": Real(1e-6, 0.1) for which in ("en", "de")} | {"units": Int(1, 9)})
MANY = Space({f"parameter_{i}": Real(-5, 10) for i in range(20)})
BEGAN = 1_800_000_000.0


def shown(*arguments: str) -> str:
    return call("show", *arguments)


def listed(output: str) -> list[list[str]]:
    """The lines of the first table, cell by cell."""
    return tables(output)[0]


def tables(output: str) -> list[list[list[str]]]:
    """The lines of each table, cell by cell, below its heading."""
    parts = [part.strip("\n").split("\n──") for part in output.split("\n\n") if "\n──" in part]
    return [
        [headings(above.splitlines()), *(re.split(r"  +", line.strip()) for line in below.splitlines()[1:])]
        for above, below in parts
    ]


def headings(lines: list[str]) -> list[str]:
    """The headings of a table; what stands above another one is its beginning."""
    *upper, lower = lines
    beginnings = [word for line in upper for word in re.finditer(r"\S+", line)]
    return [
        "".join(word.group() for word in beginnings if word.start() < cell.end() and cell.start() < word.end())
        + cell.group()
        for cell in re.finditer(r"\S+", lower)
    ]


def make(path: Path, space: Space, maximize: bool = False, asks: int = 9) -> Path:
    """Observed points; trials done, failed with two reasons, invalid, timed out and pending."""
    with Study.open(path, Settings.checked(space, strategy="random", seed=4, maximize=maximize)) as study:
        space = study.optimizer.space
        study.observe([(space.check(space.from_unit([0.25] * space.cube.width)), Outcome("done", 3.5))])
        for _ in range(asks):
            ask(study, 0.25)
        for number, value in {0: 4.0, 1: 2.0, 2: 5.0}.items():
            ran = {"seconds": 0.5, "began": BEGAN + number, "worker": number, "output": f"epoch {number} [bold]\n"}
            study.ended(number, Outcome("done", value, **ran), 0.5)
        for number in (3, 4):
            study.ended(number, Outcome("failed", reason="ValueError: [red]\ndiverged", traceback="Traceback ..."), 1.0)
        study.ended(5, Outcome("invalid", reason="The function returned nan."), 1.0)
        study.ended(6, Outcome("timed_out", reason="Stopped: it took too long."), 60.0)
        study.closed("Enough.", [{"busy": 3.0, "suggestion": 0.5, "pool": 0.5, "nothing": 0.0}])
    return path


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "120")
    return str(make(tmp_path / "run.db", FEW))


def test_the_summary(study: str) -> None:
    first, began, counts, best, workers, without, *reasons = shown(study, "--last", "0").splitlines()
    assert first == "Enough."
    assert re.fullmatch(r"began \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, ran for .* s", began)
    assert counts == "9 trials: 3 done, 2 failed, 1 invalid, 1 timed_out, 2 pending; observed elsewhere: 1"
    assert best.startswith("best 2 in trial 1: lr = ")
    assert workers.startswith("workers: ")
    assert without == "without a value:"
    assert [line.rstrip() for line in reasons] == [
        "    2 × ValueError: [red] diverged",
        "    1 × The function returned nan.",
        "    1 × Stopped: it took too long.",
    ]


def test_the_workers_time_is_that_of_the_whole_study_as_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "run.db"
    settings: dict[str, Any] = {"strategy": "random", "seed": 4}
    with ExitStack() as killed:  # a driver that cannot say how its workers spent their time
        study = killed.enter_context(Study.open(path, Settings.checked({"x": (0.0, 1.0)}, **settings)))
        ask(study, 0.25)
        began = time.time()
        time.sleep(0.2)
        study.ended(0, Outcome("done", 1.0, seconds=time.time() - began, began=began, worker=0), 0.2)
    minimize(lambda x: x, {"x": (0.0, 1.0)}, budget=4, workers=2, executor="threads", study=path, **settings)
    record = Record.of_study(path)
    shares = facts_of(record, {})["timeline"]["shares"]
    told = {words: float(share) / 100 for share, words in re.findall(r"([\d.]+)% ([a-z ]+)", shown(str(path)))}
    assert told == pytest.approx(
        {
            "evaluating": shares["busy"],
            "waiting for a suggestion": shares["suggestion"],
            "starting up": shares["pool"],
            "out of work": shares["nothing"],
        },
        abs=0.001,
    )
    assert told["evaluating"] > 1.0 - sum(
        (record.state.drivers.idle_shares or {}).values()
    )  # as the second driver told


def test_a_column_for_each_parameter(study: str) -> None:
    heading, *lines = listed(shown(study))
    assert heading == ["trial", "state", "value", "seconds", "move", "lr", "units", "act"]
    assert [line[0] for line in lines] == [str(number) for number in range(-1, 9)]
    trial = load(study).trials[1]
    act = "relu" if trial.params["act"] == "relu" else "a rather long n…"
    assert lines[2] == [
        "1",
        "done",
        "2",
        "0.5",
        "initial",
        f"{trial.params['lr']:.4g}",
        str(trial.params["units"]),
        act,
    ]
    assert "observed" in lines[0]


def test_parameters_may_be_called_like_columns(tmp_path: Path) -> None:
    space = Space({name: Int(100 * k, 100 * k + 99) for k, name in enumerate(["trial", "value", "state"], start=1)})
    heading, *lines = listed(shown(str(make(tmp_path / "run.db", space, asks=7)), "--best", "4"))
    assert heading == ["trial", "state", "value", "seconds", "move", "trial", "value", "state"]
    for number, state, value, *_, a, b, c in lines:
        assert (state, [a[0], b[0], c[0]]) == ("done", ["1", "2", "3"])
        assert float(value) == {"-1": 3.5, "0": 4.0, "1": 2.0, "2": 5.0}[number]


def test_which_trials_in_which_order(study: str) -> None:
    numbers = {
        ("--last", "2"): ["7", "8"],
        ("--best", "3"): ["1", "-1", "0"],
        ("--best", "30"): ["1", "-1", "0", "2"],
        ("--failed",): ["3", "4", "5", "6"],
        ("--sort", "value"): ["1", "-1", "0", "2", "3", "4", "5", "6", "7", "8"],
        ("--sort", "value", "--last", "8"): ["1", "2", "3", "4", "5", "6", "7", "8"],
        ("--sort", "number", "--last", "2"): ["7", "8"],
    }
    for options, expected in numbers.items():
        assert [line[0] for line in listed(shown(study, *options))[1:]] == expected


def test_the_best_of_a_maximizing_user_are_the_largest(tmp_path: Path) -> None:
    study = str(make(tmp_path / "run.db", FEW, maximize=True))
    assert [line[0] for line in listed(shown(study, "--best", "2"))[1:]] == ["2", "0"]


def limited(path: Path, told: dict[int, tuple[float, float]], maximize: bool = False) -> str:
    """A study with a limit on latency, and a constraint that a point observed elsewhere breaks."""
    space = Space({"a": Real(0, 1), "b": Real(0, 1)}, constraints=["a <= b"])
    settings = Settings.checked(space, strategy="random", seed=4, maximize=maximize, limits=["latency <= 5"])
    with Study.open(path, settings) as study:
        study.observe([({"a": 0.9, "b": 0.1}, Outcome("done", 0.0, measured={"latency": 1.0}))])
        for number, (value, latency) in told.items():
            ask(study, 0.25)
            study.ended(number, Outcome("done", value, measured={"latency": latency}), 0.5)
    return str(path)


def test_what_breaks_a_limit_is_never_listed_before_what_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    told = {0: (3.0, 2.0), 1: (1.0, 9.0), 2: (2.0, 5.0), 3: (1.5, 7.0)}
    study = limited(tmp_path / "run.db", told)
    assert "best 2 in trial 2: " in shown(study)
    for options in (["--best", "9"], ["--sort", "value"]):
        heading, *lines = listed(shown(study, *options))
        assert "breaks" in heading
        assert [line[0] for line in lines] == ["2", "0", "1", "3", "-1"]
        assert [{"latency <= 5", "a <= b"} & {*line} for line in lines] == [
            set(),
            set(),
            {"latency <= 5"},
            {"latency <= 5"},
            {"a <= b"},
        ]
    assert [line[0] for line in listed(shown(study, "--best", "1"))[1:]] == ["2"]
    assert "breaks" not in shown(study, "--best", "2")
    largest = limited(tmp_path / "largest.db", told, maximize=True)
    assert [line[0] for line in listed(shown(largest, "--best", "9"))[1:]] == ["0", "2", "3", "1", "-1"]


def test_if_nothing_keeps_the_limits_the_closest_is_listed_first(tmp_path: Path) -> None:
    study = limited(tmp_path / "run.db", {0: (3.0, 8.0), 1: (1.0, 9.0), 2: (2.0, 6.0)})
    assert "best 2 in trial 2: " in shown(study)
    assert [line[0] for line in listed(shown(study, "--best", "9"))[1:]] == ["2", "0", "1", "-1"]


def test_what_is_broken_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = limited(tmp_path / "run.db", {0: (3.0, 2.0), 1: (1.0, 9.0)})
    for width in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        output = shown(study)
        assert "latency <= 5" in listed(output)[-1]
        assert max(map(len, output.splitlines())) <= width


@pytest.mark.parametrize("space", [FEW, ENCODERS, MANY], ids=["few", "alike", "many"])
def test_every_line_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, space: Space) -> None:
    study = str(make(tmp_path / "run.db", space))
    for width in (60, 80, 100, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        for options, count in {(): 10, ("--failed",): 4, ("--best", "3"): 3}.items():
            output = shown(study, *options)
            assert max(map(len, output.splitlines())) <= width
            titles = [heading for heading, *_ in tables(output)]
            assert [heading[0] for heading in titles] == ["trial"] * len(titles)
            assert [len(lines) for _, *lines in tables(output)] == [count] * len(titles)  # a line each
            repeated = ["trial", "reason" if options == ("--failed",) else "value"]
            assert [heading[:2] for heading in titles[1:]] == [repeated] * (len(titles) - 1)
            assert sum(map(len, titles)) == 5 + len(space.parameters) + 2 * (len(titles) - 1)
            assert (len(titles) > 1) >= (space is MANY)
            assert (len(titles) > 1) <= (space is MANY or width < 120)


def test_seven_parameters_are_all_there_in_eighty_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ["lr", "dropout", "units", "weight_decay", "batch_size", "momentum", "warm_up_steps"]
    study = str(make(tmp_path / "run.db", Space({name: Real(0, 1) for name in names})))
    cells: dict[str, str] = {}
    for heading, line in tables(shown(study, "--best", "1")):
        cells |= dict(zip(heading, line, strict=True))
    assert cells["trial"] == "1"
    for name, value in load(study).trials[1].params.items():
        assert cells[name] == f"{value:.4g}"


def test_reasons_are_told_in_full_and_each_trial_says_which_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path, said = (
        tmp_path / "run.db",
        "ProgramFailed: The program ended with code {}: of all that could have gone wrong ",
    )
    solver, licence = said.format(3) + "it was the solver", said.format(4) + "it was the licence, ask for another one"
    reasons = {0: solver, 1: licence, 2: solver, 3: licence, 4: licence}
    with Study.open(path, Settings.checked(MANY, strategy="random", seed=4)) as study:
        for number, reason in reasons.items():
            ask(study, 0.25)
            study.ended(number, Outcome("failed", reason=reason), 1.0)
    for options in ((), ("--failed",)):
        output = shown(str(path), *options)
        whole = " ".join(output.split())
        for count, reason in {2: solver, 3: licence}.items():
            assert f"{count} × {reason.removeprefix('ProgramFailed: ')} " in whole
        assert max(map(len, output.splitlines())) <= 80
    heading, *lines = listed(output)
    numbers = {line[0]: line[heading.index("reason")] for line in lines}
    assert numbers == {"0": "2", "1": "1", "2": "2", "3": "1", "4": "1"}
    assert re.search(r"^1\. +3 × .*^2\. +2 × ", output, re.M | re.S)


def test_names_that_differ_in_the_middle_stay_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    heading, *_ = listed(shown(str(make(tmp_path / "run.db", ENCODERS))))
    assert heading[5:] == ["learning_rate_encoder", "learning_rate_decoder", "units"]


def test_one_trial_in_full(study: str) -> None:
    output = shown(study, "--trial", "1")
    trial = load(study).trials[1]
    assert re.search(r"^value +2\.0$", output, re.M)
    assert re.search(rf"^started +{local_time(BEGAN + 1)}$", output, re.M)
    assert re.search(r"^worker +1$", output, re.M)
    assert re.search(r"^why here +move = initial$", output, re.M)
    for name, value in trial.params.items():
        assert re.search(rf"^  {name} +{re.escape(str(value))}$", output, re.M)  # to the last digit
    assert output.endswith("what it printed\nepoch 1 [bold]\n")
    failed = shown(study, "--trial", "3")
    assert re.search(r"^reason +ValueError: \[red\]$", failed, re.M)
    assert failed.endswith("traceback\nTraceback ...\n")
    assert "what happened" not in failed
    assert "state     done" in shown(study, "--trial", "-1")


def test_what_happened_to_a_trial_is_told(study: str) -> None:
    retry(study, [3])
    forget(study, [3, 4])
    output = shown(study, "--trial", "3")
    happened = output[output.index("what happened") :]
    assert re.findall(r"\d\d:\d\d:\d\d  (\w+)", happened) == ["asked", "failed", "retried", "forgotten"]
    assert "9 trials: 3 done, 2 forgotten" in shown(study)


def test_forgotten_failures_are_no_failures(study: str) -> None:
    forget(study, [3, 4, 5, 6])
    assert "without a value" not in shown(study)
    assert "──" not in shown(study, "--failed")


def test_a_study_without_trials(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(FEW, strategy="random")):
        pass
    assert "0 trials: none yet" in shown(str(tmp_path / "run.db"))
    with pytest.raises(TrialError, match="There is no trial 0 in the study: none was asked for yet"):
        shown(str(tmp_path / "run.db"), "--trial", "0")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (["--trial", "9"], TrialError, "There is no trial 9 in the study: -1 to 8 are known"),
        (["--sort", "values"], UnknownName, "Unknown order 'values': did you mean 'value'"),
        (["--best", "3", "--failed"], InvalidInput, "--best and --failed exclude each other: leave one out"),
    ],
)
def test_bad_options_get_one_sentence(study: str, options: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        shown(study, *options)


def test_nothing_is_left_beside_the_file(study: str) -> None:
    before = Path(study).read_bytes()
    for options in ([], ["--failed"], ["--trial", "1"]):
        shown(study, *options)
    assert [file.name for file in Path(study).parent.iterdir()] == ["run.db"]
    assert Path(study).read_bytes() == before


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.25 s"),
        (59.7, "60 s"),
        (245, "4 min 5 s"),
        (4320, "1 h 12 min"),
        (183600, "2 d 3 h"),
        (3600, "1 h 0 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_times_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for zone, told in {"UTC": "2027-01-15 08:00:00", "XYZ-3": "2027-01-15 11:00:00"}.items():
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert local_time(BEGAN) == told
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "cells", "expected"), [("a  b\nc", 9, "a b c"), ("abcdef", 4, "abc…"), ("漢字漢字", 5, "漢字…")]
)
def test_a_text_is_cut_to_cells(text: str, cells: int, expected: str) -> None:
    assert cut(text, cells) == expected


@pytest.fixture
def with_reports(tmp_path: Path) -> Path:
    """Four evaluations with a value, two that were stopped, one that runs, and one that has said nothing yet."""
    path = tmp_path / "run.db"
    settings = Settings.checked({"x": (0.0, 1.0)}, strategy="random", seed=2, stop_early="ranks", steps=9)
    with Study.open(path, settings) as study:
        for number in range(8):
            ask(study, 0.125)
            for step in range(1, {4: 2, 5: 4, 6: 6, 7: 1}.get(number, 10)):
                value = None if (number, step) == (6, 5) else number + 1.0 / step
                study.answer(study.reported(number, Report(float(step), value, 0.5 * step)), number)
            if number < 4:
                study.take_in(study.ended(number, Outcome("done", number + 0.1, seconds=10.0)))
            elif number < 6:
                study.take_in(study.ended(number, Outcome("stopped", reason="It fell behind.", seconds=1.0)))
    return path


def test_what_was_stopped_and_where_the_others_will_end(with_reports: Path) -> None:
    said = " ".join(shown(str(with_reports)).split())
    assert "8 trials: 4 done, 2 stopped, 2 pending" in said
    assert "stopped early: 2, which spared about 18 s of the workers' time" in said
    assert "trial 6 is pending: no number at step 5" in said
    assert "trial 7" not in said
    assert "stopped early" not in shown(str(make(with_reports.with_name("without.db"), FEW)))


def test_a_trial_that_was_stopped_says_what_was_known(with_reports: Path) -> None:
    record = Record.of_study(with_reports)
    end, stop = record.expected_ends[5], record.stops[5]
    said = shown(str(with_reports), "--trial", "5")
    assert re.search(r"^reported +5\.33333 at step 3$", said, re.MULTILINE)
    assert re.search(rf"^expected end +about {end.value:.4g} ± {end.sd:.2g}, the best with", said, re.MULTILINE)
    assert re.search(
        rf"^known when stopped .*at step {stop.report.step:g}, {stop.known} results, {stop.others} other", said, re.M
    )


def test_the_last_of_many_reports_is_printed(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked({"x": (0.0, 1.0)}, strategy="random")) as study:
        ask(study, 0.125)
        for step in range(1, 100):
            study.take_in(study.reported(0, Report(float(step), 1.0 / step)))
    steps = [int(step) for step in re.findall(r"^  step (\d+)", shown(str(tmp_path / "run.db"), "--trial", "0"), re.M)]
    assert (steps[0], steps[-1]) == (1, 99)
    assert 10 <= len(steps) <= 21
