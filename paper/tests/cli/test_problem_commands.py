"""The paper's problems on the command lines: in those of aegisbo, and `aegis-paper picture` and `build-profet`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from aegis_paper.cli import app as aegis_paper
from aegis_paper.cli import main as aegis_paper_main
from aegis_paper.problems import profet_build, push
from aegis_paper.problems.profet import family_in
from aegis_paper.problems.profet_bayes_net import Chain
from aegis_paper.problems.profet_network import Network
from commands import call, refuse
from typer.testing import CliRunner

from aegisbo.cli import app as aegisbo
from aegisbo.cli import main as aegisbo_main
from aegisbo.simulation.problems import families, get, names, with_fronts

needs_box2d = pytest.mark.skipif(
    find_spec("Box2D") is None,
    reason="needs the extra: pip install 'aegis-paper[push]'",
)


@needs_box2d
def test_the_table_lists_fifteen_functions_and_five_families() -> None:
    lines = [line.split() for line in call("problems", "--cost").splitlines() if line[:1].isalpha()]
    rows = {name: cells for name, *cells in lines if cells[0].isdigit()}
    assert list(rows) == [*names(), *(family.name for family in families()), *with_fronts()]
    assert rows["Branin"][:3] == ["2", "1", "0.397887"]
    assert rows["push8"][:3] == ["8", "51", "unknown"]
    assert rows["push8"][4] == "ms"


def test_the_table_names_the_command_for_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    push._box2d.cache_clear()
    monkeypatch.setitem(sys.modules, "Box2D", None)
    lines = call("problems", "--cost").splitlines()
    (reason,) = (line for line in lines if line.startswith("push4, push8: Robot pushing"))
    assert reason.endswith("needs an optional package: pip install 'aegis-paper[push]'")
    assert sum("pip install" in line for line in lines) == 1


@pytest.mark.parametrize("x", ["0.25,0.5", "C=0.006737946999085467,gamma=1"])
def test_a_value_is_that_of_the_problem(x: str) -> None:
    printed = call("problems", "eval", "SVM", "--instance", "7", "--x", x)
    assert float(printed) == pytest.approx(get("SVM#7")([0.25, 0.5]), rel=1e-12)


def test_the_meaning_of_a_point_goes_to_standard_error() -> None:
    outcome = CliRunner().invoke(aegisbo, ["problems", "eval", "XGBoost#2", "--x", ",".join(["0.5"] * 8)])
    assert "XGBoost#2 at gamma = 1, learning_rate = 0.000316228, max_depth = 8" in outcome.stderr


@needs_box2d
@pytest.mark.parametrize(
    ("ending", "magic"), [("png", b"\x89PNG"), pytest.param("gif", b"GIF89a", marks=pytest.mark.long)]
)
def test_a_push_can_be_drawn(tmp_path: Path, ending: str, magic: bytes) -> None:
    file = tmp_path / f"push.{ending}"
    call("picture", "push8", "--instance", "3", "--x", "-4,2,5,5,4,0,4,2", "-o", str(file), of=aegis_paper)
    assert file.read_bytes().startswith(magic)


def test_landscapes_can_be_drawn(tmp_path: Path) -> None:
    file = tmp_path / "svm.png"
    call("picture", "SVM", "--instances", "1-2", "-o", str(file), of=aegis_paper)
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "push4", "--x", "1,1,1,1"], "push4 has 51 instances: name one of them, such as 'push4#1'."),
        (["eval", "push4#52", "--x", "1,1,1,1"], "push4 has no instance 52: choose one of 1 to 51."),
        (["eval", "push4#1", "--x", "1,1,400,1"], "x[2] of push4#1 is 400.0: choose a value within [1.0, 300.0]."),
        (["eval", "push4#1", "--x", "1,1"], "x of push4#1 must have shape (4,), got shape (2,)."),
        (["eval", "push4#1", "--x", "1,1,one,1"], "--x '1,1,one,1' holds something that is no number: give rx, ry"),
        (["eval", "push4#1"], "push4#1 needs a point: add --x with values for rx, ry, steps, angle."),
        (["eval", "SVM#1", "--x", "C=1"], "gamma of SVM#1 is missing"),
        (["eval", "pusch4#1", "--x", "1"], "Unknown problem 'pusch4': did you mean 'push4'?"),
        (["picture", "ZDT1", "-o", "x.png"], "ZDT1 has several objectives: only one value can be drawn as a map."),
        (["picture", "XGBoost#1", "-o", "x.png"], "XGBoost#1 has 8 coordinates: only two can be drawn as a map."),
        (["picture", "push4", "--instances", "1-2", "-o", "x.png"], "2 pushes do not fit into one picture"),
        (["picture", "SVM#1", "-o", "/no/such/folder/x.png"], "cannot be written: give a file in a folder that exists"),
        (["picture", "SVM#1", "-o", "x.txt"], "'x.txt' has an ending that cannot be drawn"),
    ],
)
def test_bad_input_is_answered_in_a_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main, words = (aegisbo_main, ["problems"]) if arguments[0] == "eval" else (aegis_paper_main, [])
    assert message in refuse(capsys, monkeypatch, *words, *arguments, main=main)


def test_simulations_run_on_several_instances(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    few = ["--strategy", "random", "--runs", "2", "--workers", "2", "--budget", "8", "--json", str(file)]
    printed = call("simulate", "--problem", "SVM", "--instances", "4-6", *few)
    assert printed.startswith("SVM, 3 instances: best value")
    assert "medians over 6 runs" in printed
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert [run["problem"] for run in runs] == ["SVM#4"] * 2 + ["SVM#5"] * 2 + ["SVM#6"] * 2
    for run in runs:
        assert [each["value"] for each in run["evaluations"]] == [
            get(run["problem"])(each["x"]) for each in run["evaluations"]
        ]


def test_training_writes_a_file_of_families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three quick trainers in place of the real ones, whose own tests are elsewhere."""

    def quick(d: int) -> object:
        def build(data: Path, chain: Chain, rng: np.random.Generator) -> Iterator[Network]:
            assert data == tmp_path
            h = chain.units
            for _ in range(2):
                yield Network(rng.random((h, d)), rng.random(h), np.eye(h), rng.random(h), rng.random(h), 0.0, "exp")

        return build

    monkeypatch.setattr(profet_build, "BUILDERS", {"SVM": quick(2), "FC-NET": quick(6), "XGBoost": quick(8)})
    file = tmp_path / "own.npz"
    call("build-profet", "--data", str(tmp_path), "-o", str(file), "--units", "3", "--seed", "5", of=aegis_paper)
    rng = np.random.default_rng([5, 1])
    expected = rng.random((3, 6))
    network = family_in(file, "FC-NET").function(1)
    assert isinstance(network, Network)
    np.testing.assert_allclose(network.W1, expected, rtol=1e-3)


def test_training_without_data_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["build-profet", "--data", str(tmp_path), "-o", str(tmp_path / "own.npz")]
    assert "svm_data.npz is missing" in refuse(capsys, monkeypatch, *arguments, main=aegis_paper_main).replace("\n", "")
