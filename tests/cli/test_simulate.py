"""The command line of simulations: what is printed and written, and how bad input is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from commands import call, refuse
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app, problems, simulations
from aegisbo.cli.tables import short
from aegisbo.search.hypervolume import hypervolume
from aegisbo.simulation import runs as simulation
from aegisbo.simulation.problems import ExactFront, get
from aegisbo.strategies.registry import STRATEGIES

pytestmark = pytest.mark.long

QUICK = ["simulate", "--problem", "Branin", "--workers", "3", "--budget", "20", "--seed", "4"]
TWO = ["--strategy", "random", "--strategy", "ei"]


def cells(output: str, strategy: str) -> list[list[str]]:
    """The cells behind a strategy's name, table by table."""
    return [line.split()[1:] for line in output.splitlines() if line.split()[:1] == [strategy]]


@pytest.fixture(scope="module")
def five_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What was printed and what was written."""
    file = tmp_path_factory.mktemp("runs") / "runs.json"
    output = call(*QUICK, *TWO, "--runs", "5", "--json", str(file))
    return output, json.loads(file.read_text("utf-8"))


def final_regrets(document: dict[str, Any], strategy: str) -> list[float]:
    """From points alone: the known minimum and the values that the problem itself gives."""
    branin = get("Branin")
    return [
        min(branin(each["x"]) for each in run["evaluations"]) - branin.minimum
        for run in document["runs"]
        if run["strategy"] == strategy
    ]


def test_the_time_of_a_suggestion_and_points_made_ahead_reach_the_runs() -> None:
    output = call(*QUICK, "--strategy", "random", "--runs", "1", "--suggestion", "0.5", "--json", "-")
    (run,) = json.loads(output)["runs"]
    assert run["suggestion"] == 0.5


@pytest.mark.parametrize("strategy", ["random", "ei"])
def test_the_table_shows_quartiles_of_the_regret(five_runs: tuple[str, dict[str, Any]], strategy: str) -> None:
    output, document = five_runs
    low, middle, high = np.quantile(final_regrets(document, strategy), [0.25, 0.5, 0.75])
    assert cells(output, strategy)[0] == [short(middle)]
    lines = output.splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith(strategy))
    assert lines[row + 1].split() == [f"{short(low)}–{short(high)}"]


def test_the_table_counts_runs_won_and_lost(five_runs: tuple[str, dict[str, Any]]) -> None:
    output, document = five_runs
    pairs = list(zip(final_regrets(document, "ei"), final_regrets(document, "random"), strict=True))
    won, lost = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    assert cells(output, "ei")[1][2:5] == [str(won), str(lost), str(5 - won - lost)]
    assert len(cells(output, "random")[1]) == 2  # nobody is compared with itself


def test_the_table_shows_what_a_suggestion_costs(five_runs: tuple[str, dict[str, Any]]) -> None:
    output, document = five_runs
    seconds = [
        each["suggestion_seconds"]
        for run in document["runs"]
        for each in run["evaluations"]
        if run["strategy"] == "ei" and each["move"] != "initial"
    ]
    assert len(seconds) == 5 * 16
    assert cells(output, "ei")[1][:2] == [short(1e3 * median(seconds)), short(1e3 * np.mean(seconds))]


def test_the_document_says_how_the_runs_came_about(five_runs: tuple[str, dict[str, Any]]) -> None:
    _, document = five_runs
    assert document["format"] == 1
    assert document["versions"]["aegisbo"] == aegisbo.__version__
    assert [(run["strategy"], run["run"]) for run in document["runs"]] == [
        (s, r) for s in ("random", "ei") for r in range(5)
    ]
    assert {(run["seed"], run["workers"], run["budget"], run["law"]) for run in document["runs"]} == {
        (4, 3, 20, "half-normal")
    }


def test_output_fits_into_eighty_columns(five_runs: tuple[str, dict[str, Any]]) -> None:
    assert max(map(len, five_runs[0].splitlines())) <= 80


def test_few_runs_are_not_tested() -> None:
    output = call(*QUICK, *TWO, "--runs", "2")
    assert "From 5 runs on, a test says" in output
    assert "better" not in output
    assert "p is how often luck" not in output


def test_one_run_of_one_strategy_shows_neither_quartiles_nor_comparisons() -> None:
    output = call(*QUICK, "--strategy", "random", "--runs", "1")
    assert "–" not in output
    assert "won" not in output
    words = " ".join(output.split())
    assert re.search(r"3 workers, job times half-normal: makespan [\d.]+ virtual seconds, utilization \d+%", words)


def test_a_dash_sends_the_document_alone_to_standard_output() -> None:
    outcome = CliRunner().invoke(app, [*QUICK, *TWO, "--runs", "1", "--json", "-"])
    assert len(json.loads(outcome.stdout)["runs"]) == 2
    assert "Branin: regret" in outcome.stderr


def test_jobs_run_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for = []
    monkeypatch.setattr(simulations, "answers", lambda what, specs, jobs: asked_for.append(jobs) or map(what, specs))
    call(*QUICK, "--strategy", "random", "--runs", "2", "--jobs", "2")
    assert asked_for == [2]


def test_a_strategy_is_run_once_however_often_it_is_named() -> None:
    specs = simulations.plan(["Branin"] * 2, ["ei", "random", "ei"], 1, workers=1, budget=9)
    assert [spec.strategy for spec in specs] == ["ei", "random"]


def test_all_means_every_registered_strategy() -> None:
    specs = simulations.plan(["Branin"], ["random", "all"], 1, workers=1, budget=9)
    assert [spec.strategy for spec in specs] == list(STRATEGIES)


def test_all_means_of_several_objectives_every_strategy_that_can() -> None:
    specs = simulations.plan(["ZDT1", "Branin"], ["all"], 1, workers=1, budget=19)
    chosen = {name: [spec.strategy for spec in specs if spec.problem == name] for name in ("ZDT1", "Branin")}
    assert chosen["Branin"] == list(STRATEGIES)
    one_number = {"ei", "kriging-believer", "local-penalization", "playbook", "local-quadratic"}
    assert chosen["ZDT1"] == [name for name in STRATEGIES if name not in one_number]


def test_of_several_objectives_the_gap_is_shown_and_what_it_means() -> None:
    arguments = ("simulate", "--problem", "ZDT1", "--problem", "Branin", "--strategy", "random", "--runs", "1")
    printed = call(*arguments, "--workers", "3", "--budget", "20")
    first, second = json.loads(call(*arguments, "--workers", "3", "--budget", "20", "--json", "-"))["runs"]
    gaps = [short(first["evaluations"][-1]["gap"])], [short(second["evaluations"][-1]["regret"])]
    assert "ZDT1: gap after so many evaluations" in printed
    assert tuple(cells(printed, "random")[::2]) == gaps
    words = " ".join(printed.split())
    assert "The gap is the share of the exact front's hypervolume that is still missing. Regret is" in words


def test_an_unknown_front_shows_the_hypervolume(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = replace(get("DTLZ2-m2"), front=ExactFront({"f1": 1.5, "f2": 1.5}))
    monkeypatch.setattr(simulation, "get", lambda name: unknown)
    arguments = ("simulate", "--problem", "DTLZ2-m2", "--strategy", "random", "--runs", "1", "--budget", "20")
    (run,) = json.loads(call(*arguments, "--json", "-"))["runs"]
    covered = hypervolume(np.array([[*each["objectives"].values()] for each in run["evaluations"]]), np.full(2, 1.5))
    printed = call(*arguments)
    assert "DTLZ2-m2: minus the hypervolume after so many evaluations" in printed
    assert cells(printed, "random")[0] == [f"{-covered:.4g}"]
    assert {each["gap"] for each in run["evaluations"]} == {None}


@pytest.mark.parametrize(
    ("budget", "counts"),
    [(20, [20]), (50, [50]), (60, [50, 60]), (200, [50, 100, 150, 200]), (400, [50, 100, 150, 200, 400])],
)
def test_milestones_up_to_the_budget(budget: int, counts: list[int]) -> None:
    assert simulations.checkpoints(budget) == counts


def test_a_problem_of_unknown_minimum_shows_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "get", lambda name: replace(get("Branin"), minimum=None))
    output = call(*QUICK, "--strategy", "random", "--runs", "1", "--json", "-")
    values = [each["value"] for each in json.loads(output)["runs"][0]["evaluations"]]
    printed = call(*QUICK, "--strategy", "random", "--runs", "1")
    assert "Branin: best value after" in printed
    assert cells(printed, "random")[0] == [f"{min(values):.4g}"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--strategy", "agis"], "Error: Unknown strategy 'agis': did you mean 'aegis'?\n"),
        (["--problem", "hartman6"], "Error: Unknown problem 'hartman6': did you mean 'Hartmann6'?\n"),
        (["--problem", "ZDT5"], "Error: Unknown problem 'ZDT5': did you mean 'ZDT3'?\n"),
        (["--law", "paretto"], "Error: Unknown law of job times 'paretto': did you mean 'pareto'?\n"),
        (["--preset", "papre"], "Error: Unknown preset 'papre': did you mean 'paper'?\n"),
        (["--budget", "9"], "Error: budget is 9: give at least 13 (Hartmann6 starts with 12 initial points).\n"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refuse(capsys, monkeypatch, "simulate", *arguments) == sentence


@pytest.mark.parametrize("name", ["no/folder/runs.json", "."])
def test_a_file_that_cannot_be_written_is_refused_before_the_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    monkeypatch.setattr(simulations, "execute", lambda specs, jobs: pytest.fail("it ran"))
    message = refuse(capsys, monkeypatch, "simulate", "--json", str(file))
    assert message == f"Error: {file} cannot be written: give a file in a folder that exists and is yours.\n"


@pytest.mark.parametrize("arguments", [["simulate", "--workers", "0"], ["simulate", "--nonsense"], ["nonsense"]])
def test_bad_options_have_the_same_exit_code(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Usage: aegisbo" in refuse(capsys, monkeypatch, *arguments)


def test_help_has_examples_and_exit_codes() -> None:
    assert "aegisbo simulate --strategy all" in call("simulate", "--help")
    assert "Exit codes: 0" in call("--help")


def test_version() -> None:
    assert call("--version") == f"aegisbo {aegisbo.__version__}\n"


def test_strategies_are_listed_with_every_parameter_explained() -> None:
    table, explained = call("strategies").split("Parameters follow the name")
    for name, entry in STRATEGIES.items():
        assert re.search(rf"^{name} ", table, re.MULTILINE)
        for parameter in [*entry.parameters, "guard"]:
            assert re.search(rf"^  {parameter} ", explained, re.MULTILINE)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ([(-5, 10), (2, 3)], "[-5, 10] × [2, 3]"),
        ([(0, 1)] * 6, "[0, 1]^6"),
        ([(0, 1), (0, 1), (-0.5, 3.14159)], "[0, 1]^2 × [-0.5, 3.142]"),
    ],
)
def test_a_box_in_short(bounds: list[tuple[float, float]], text: str) -> None:
    assert problems.box(bounds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.00123, "0.0012"),
        (3.44e-5, "3.4e-5"),
        (0, "0"),
        (1240.4, "1240"),
        (99.4, "99"),
        (99.7, "100"),
        (-148129, "-1.5e5"),
    ],
)
def test_a_number_in_short(number: float, text: str) -> None:
    assert short(number) == text
