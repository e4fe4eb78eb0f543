"""What the commands on records print, from a few made-up runs on two problems."""

from __future__ import annotations

import csv
import re
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from aegis_paper.claim_rules import Check
from aegis_paper.claims import CLAIMS, Finding, Judgement
from aegis_paper.cli import app, main
from aegis_paper.cli.claims import as_markdown
from aegis_paper.records import Records
from aegis_paper.runs import Cell
from made_up import record
from typer.testing import CliRunner

RUNS = 8
BUDGET = 200
# Final regrets on Branin and Hartmann6: the published medians with 8 workers are 5.3e-6 and 2.7e-3 for AEGiS, 8.6e-5
# and 1.0e-2 for KB.
LEVELS = {
    ("aegis", "paper"): (1e-3, 2e-3),
    ("aegis", "reference"): (5e-6, 2e-3),
    ("kriging-believer", "paper"): (1e-5, 1e-2),
}


def write(records: Records, cell: Cell, level: float, runs: int) -> None:
    """Runs whose best value stands `level` above the minimum at the end, give or take a little."""
    for run in range(runs):
        scores = level * 1.05**run * np.linspace(30, 1, BUDGET)
        records.add(record(scores, **asdict(cell), run=run), {})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("made_up") / "records.sqlite"
    for (strategy, preset), levels in LEVELS.items():
        for problem, level in zip(("Branin", "Hartmann6"), levels, strict=True):
            write(Records(file), Cell(problem, strategy, preset, 8), level, RUNS)
    for strategy, level in (("aegis", 1.0), ("kriging-believer", 2.0)):
        write(Records(file), Cell("SVM#3", strategy, "paper", 4), level, 1)
    return file


@pytest.fixture
def small_plan(tmp_path: Path) -> str:
    """Two methods on one instance of SVM."""
    file = tmp_path / "small.toml"
    file.write_text('[[block]]\nproblems = ["SVM#3-4"]\nmethods = ["aegis", "kriging-believer"]\nworkers = [4]\n')
    return str(file)


def call(*arguments: str | Path) -> str:
    outcome = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def refuse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> str:
    monkeypatch.setattr("sys.argv", ["aegis-paper", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_a_table_shows_what_there_is_and_dashes(file: Path) -> None:
    text = call("table", "synthetic", "--records", file)
    assert "8 workers" in text
    assert "4 workers" not in text, "nothing has been run with 4"
    rows = {line.split()[0]: line.split()[1:] for line in reversed(text.splitlines()) if line[:2] in ("AE", "KB", "TS")}
    assert rows["KB"][0].startswith("*"), "the best on Branin"
    assert rows["AEGiS"][0] == f"{1e-3 * np.median(1.05 ** np.arange(RUNS)):.2e}"
    assert rows["AEGiS"][2:] == ["–", "–"]
    assert set(rows["TS"]) == {"–"}


def test_a_table_goes_to_a_file(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    assert call("table", "synthetic", "--format", "csv", "--preset", "reference", "-o", out, "--records", file) == ""
    rows = list(csv.DictReader(StringIO(out.read_text())))
    assert [(row["preset"], row["strategy"], row["problem"], row["n"]) for row in rows] == [
        ("reference", "aegis", "Branin", "8"),
        ("reference", "aegis", "Hartmann6", "8"),
    ]


def test_a_table_of_instances_shows_ranks(file: Path, small_plan: str) -> None:
    text = call("table", small_plan, "--records", file)
    assert "SVM, 4 workers, preset paper" in text
    assert re.search(r"AEGiS +1\.00", text)
    assert re.search(r"KB +2\.00", text)
    assert call("table", small_plan, "--format", "latex", "--records", file).count(r"\begin{table}") == 1


def test_published_and_ours_stand_side_by_side(file: Path) -> None:
    text = call("compare", "synthetic", "--records", file)
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    assert lines[lines.index(["KB"]) + 1] == ["Branin", "8.55e-05", "1.19e-05", "8", "lower", "–"]
    branin, hartmann = lines[lines.index(["AEGiS"]) + 1 :][:2]
    assert branin == ["Branin", "5.32e-06", "1.19e-03", "8", "higher", "5.93e-06", "8", "agrees"]
    assert hartmann[-6:] == ["2.37e-03", "8", "agrees", "2.37e-03", "8", "agrees"]
    flat = " ".join(text.split())
    assert "AEGiS 1 of 2 (n = 8) 2 of 2 (n = 8)" in flat
    assert "KB 1 of 2 (n = 8) –" in flat
    assert "paper: KB lower on Branin: probably the published code forgot the pending points" in flat
    assert "paper: AEGiS higher on Branin: probably the published code's sample paths" in flat


def test_cells_that_several_tables_print_are_shown_once(file: Path) -> None:
    text = call("compare", "--records", file)
    assert text.count("5.32e-06") == 1
    assert "Plan epsilon, q = 8" in text, "up to four coordinates its runs are those of AEGiS"
    assert text.count("Plan ") == 2
    assert "Plan ablation" not in text
    assert "5.32e-06" in call("compare", "ablation", "--records", file)


def test_a_method_is_shown_whole_or_not_at_all(tmp_path: Path) -> None:
    """Two names of one algorithm: the paper has another median for each on Branin, but by chance not on Eggholder."""
    for problem in ("Branin", "Eggholder"):
        write(Records(tmp_path / "records.sqlite"), Cell(problem, "aegis-no-pf", "paper", 8), 1.0, RUNS)
    lines = [line.split() for line in call("compare", "--records", tmp_path / "records.sqlite").splitlines()]
    for name in (["No", "PF"], ["γ", "=", "1.0"]):
        first = lines.index(name) + 1
        assert [line[0] for line in lines[first : first + 2]] == ["Branin", "Eggholder"]


def test_other_presets_can_be_compared(file: Path) -> None:
    text = call("compare", "synthetic", "--preset", "reference", "--records", file)
    assert "5.93e-06" in text
    assert "1.19e-03" not in text


def test_every_claim_has_a_verdict(file: Path) -> None:
    text = " ".join(call("claims", "--records", file).split())
    for claim in CLAIMS:
        assert f"{claim.text}: not yet run" in text
    table = call("claims", "--format", "markdown", "--records", file).splitlines()
    assert sum("**not yet run**" in line for line in table) == len(CLAIMS)
    assert {line.count("|") for line in table if line.startswith("|")} == {5}


@pytest.mark.parametrize(
    "arguments",
    [
        ("convergence", "--problems", "Branin Hartmann6"),
        ("convergence", "synthetic", "--preset", "reference", "--problems", "Branin"),
        ("epsilon-decay",),
    ],
)
def test_figures_are_written(file: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    call("figure", *arguments, "-o", tmp_path / "a.svg", "--records", file)
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_ranks_are_drawn(file: Path, small_plan: str, tmp_path: Path) -> None:
    call("figure", "ranks", small_plan, "-o", tmp_path / "a.png", "--records", file)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_one_set_of_runs_under_three_names_is_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Branin all three schedules of ε are AEGiS; on Ackley5 each has runs of its own."""
    file, picture = tmp_path / "records.sqlite", tmp_path / "a.svg"
    write(Records(file), Cell("Branin", "aegis", "paper", 1), 1.0, RUNS)
    show = ("figure", "summary", "epsilon", "-o", picture, "--records", file)
    assert "too few runs of plan epsilon" in refuse(capsys, monkeypatch, *show)
    assert "Best or equivalent" not in call("table", "epsilon", "--records", file)
    for number, strategy in enumerate(("aegis", "aegis:epsilon=faster", "aegis:epsilon=slower"), 1):
        write(Records(file), Cell("Ackley5", strategy, "paper", 1), float(number), RUNS)
    call(*show)
    assert picture.exists()
    table = call("table", "epsilon", "--records", file)
    assert "Best or equivalent, of 2 problems that every method has run: AEGiS 2, Faster 1, Slower 1." in " ".join(
        table.split()
    )


def test_records_of_the_checkout_are_found_from_below(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "records.sqlite").symlink_to(file)
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "docs" / "deep")
    assert "5.93e-06" in call("table", "synthetic", "--preset", "reference")


def test_aegis_of_another_preset_stands_beside_the_methods_of_a_table(file: Path) -> None:
    text = call("table", "synthetic", "--beside", "reference", "--records", file)
    rows = {line[:17].strip(): line[17:].split() for line in reversed(text.splitlines()) if line[:2] in ("AE", "KB")}
    assert rows["AEGiS (reference)"[:17]][0] == f"*{5e-6 * np.median(1.05 ** np.arange(RUNS)):.2e}"
    assert rows["AEGiS"][0] == f"{1e-3 * np.median(1.05 ** np.arange(RUNS)):.2e}"


def test_without_records_it_is_said_how_to_make_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "name a file with --records, or make one with `aegis-paper run" in refuse(capsys, monkeypatch, "claims")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table", "syntetic"), "did you mean 'synthetic'"),
        (("table", "synthetic", "--format", "tex"), "Unknown format 'tex'"),
        (("table", "gamma", "--workers", "4"), "too few runs of plan gamma with preset paper: make them with"),
        (("table", "synthetic", "--workers", "5"), "workers of plan synthetic '5'"),
        (("table", "synthetic", "-o", "no/such/folder/a.txt"), "cannot be written"),
        (("figure", "bars", "-o", "a.png"), "Unknown figure 'bars'"),
        (("figure", "summary", "-o", "a.png"), "too few runs of plan synthetic"),
        (("figure", "gamma", "-o", "a.png"), "too few runs of plan gamma"),
        (("figure", "ranks", "-o", "a.png"), "too few runs of plan profet"),
        (("figure", "convergence", "--problems", "Brannin", "-o", "a.png"), "did you mean 'Branin'"),
        (("figure", "epsilon-decay", "-o", "a.gif"), "an ending that cannot be drawn"),
        (("figure", "ranks", "synthetic", "-o", "a.png"), "no instances of a problem: draw its summary"),
        (("figure", "summary", "push", "-o", "a.png"), "many instances of a problem: draw its ranks"),
        (("compare", "push"), "Unknown plan with published tables 'push'"),
        (("compare", "--workers", "16"), "has no runs of these tables"),
        (
            ("compare", "synthetic", "--workers", "1"),
            "no table of synthetic with q = 1: choose 4, 8, 16, or another plan: sequential has 1, ",
        ),
        (("compare", "--workers", "3"), "no table of any plan with q = 3: choose 1, 4, 8, 16."),
        (("table", "synthetic", "--preset", "papper"), "Unknown preset 'papper': did you mean 'paper'"),
        (("figure", "summary", "--preset", "papper", "-o", "a.png"), "Unknown preset 'papper': did you mean 'paper'"),
        (("table", "factors"), "with preset paper: make them with `aegis-paper run factors --out FILE`"),
        (("factors", "--workers", "16"), "with 16 workers: make them with `aegis-paper run factors --workers 16 --out"),
        (("factors", "--workers", "5"), "Unknown choice among the workers of plan factors '5'"),
        (("table", "gamma", "--preset", "reference:paths"), "run gamma --preset reference:paths --out FILE`"),
        (("counts",), "lacks runs of plan synthetic with 8 workers: make them with `aegis-paper run"),
        (("counts", "--preset", "papper"), "Unknown preset 'papper': did you mean 'paper'"),
        (("cost", "--preset", "papper"), "Unknown preset 'papper': did you mean 'paper'"),
        (("table", "synthetic", "--beside", "papper"), "Unknown preset 'papper': did you mean 'paper'"),
        (
            ("table", "synthetic", "--beside", "adaptive"),
            "preset adaptive: make them with `aegis-paper run synthetic --methods aegis --preset adaptive --out FILE`",
        ),
        (("table", "gamma", "--workers", "16", "--beside", "adaptive"), "with `aegis-paper run gamma --out FILE`"),
        (("table", "push", "--beside", "adaptive"), "Plan push is shown as average ranks, which have no place for"),
        (("counts", "--workers", "5"), "no table of plan synthetic with 5 workers: choose 4, 8 or 16"),
        (("claims", "--format", "html"), "Unknown format 'html'"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert message in refuse(capsys, monkeypatch, *arguments, "--records", file)


def own_plan(folder: Path, *blocks: str) -> str:
    """Random search on Branin with two workers, with these further lines in the blocks."""
    block = '[[block]]\nproblems = ["Branin"]\nmethods = ["random"]\nworkers = [2]\n'
    (folder / "mine.toml").write_text("".join(f"{block}{lines}\n" for lines in blocks))
    return str(folder / "mine.toml")


def test_a_plan_of_ones_own_is_shown_with_its_own_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, file = own_plan(tmp_path, 'preset = "modern"'), tmp_path / "records.sqlite"
    write(Records(file), Cell("Branin", "random", "modern", 2), 1.0, RUNS)
    assert "preset modern" in call("table", plan, "--records", file)
    call("figure", "convergence", plan, "-o", tmp_path / "a.svg", "--records", file)
    refusal = refuse(capsys, monkeypatch, "table", plan, "--preset", "paper", "--records", file)
    assert f"`aegis-paper run {plan} --preset paper --out FILE`" in refusal
    empty = Records(tmp_path / "empty.sqlite")
    empty.add(record(), {})
    assert f"`aegis-paper run {plan} --out FILE`" in refuse(capsys, monkeypatch, "table", plan, "--records", empty.file)


def test_runs_that_are_not_alike_are_not_put_side_by_side(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets = own_plan(tmp_path, "budget = 30", "budget = 40")
    for what in (("table",), ("figure", "convergence", "-o", "a.png"), ("figure", "ranks", "-o", "a.png")):
        refusal = refuse(capsys, monkeypatch, *what, budgets, "--records", file)
        assert "Plan mine has several values of budget (30, 40)" in refusal
    seeds = own_plan(tmp_path, "seed = 0", "seed = 1")
    assert "several values of seed (0, 1)" in refuse(capsys, monkeypatch, "table", seeds, "--records", file)


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nowhere is no file" in refuse(capsys, monkeypatch, "claims", "--records", "nowhere")


def test_verdicts_say_what_they_rest_on() -> None:
    checks = (Check("q = 4"), Check("q = 8", True, "5 of 6"), Check("q = 16", None, "3 of 6"))
    part, whole = (Judgement(CLAIMS[0], Finding.PARTLY, cases) for cases in (checks, checks[1:]))
    first, second = as_markdown([part, whole]).splitlines()[2:4]
    assert first.endswith(
        "| **holds in part so far** | q = 8: yes; 5 of 6<br>q = 16: cannot be told; 3 of 6<br>not yet run: q = 4 |"
    )
    assert second.endswith("| **holds in part** | q = 8: yes; 5 of 6<br>q = 16: cannot be told; 3 of 6 |")


def test_gamma_is_drawn_for_the_shares_that_were_tried(tmp_path: Path) -> None:
    file = tmp_path / "records.sqlite"
    for strategy, level in (("aegis-no-ts", 3.0), ("aegis", 1.0), ("aegis:gamma=0.7", 2.0)):
        write(Records(file), Cell("Branin", strategy, "paper", 8), level, RUNS)
    call("figure", "gamma", "-o", tmp_path / "gamma.svg", "--records", file)
    assert "<svg" in (tmp_path / "gamma.svg").read_text()
