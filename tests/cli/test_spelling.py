"""None, True and False look the same wherever a person reads them, and never like a parameter that is not there."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aegisbo import Choice, Real, Result, load, minimize
from aegisbo.cli import app
from aegisbo.errors import InvalidInput
from aegisbo.review.landscape import models_of
from aegisbo.review.payload import facts_of, learned_facts_of
from aegisbo.review.record import Record
from aegisbo.study.export import write

SPACE = {
    "x": Real(0, 1),
    "norm": Choice(["batch", None]),
    "bias": Choice([True, False]),
    "decay": Choice([None, "cosine"], when={"norm": "batch"}),
}
POINTS: list[dict[str, Any]] = [
    {"x": 0.1, "norm": None, "bias": True},
    {"x": 0.2, "norm": "batch", "bias": False, "decay": None},
    {"x": 0.3, "norm": "batch", "bias": True, "decay": "cosine"},
    {"x": 0.4, "norm": None, "bias": False},
]
SPELLED = [[str(point[name]) if name in point else None for name in ("norm", "bias", "decay")] for point in POINTS]


def loss(**params: Any) -> float:
    return float(params["x"])


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "run.db"
    minimize(loss, SPACE, budget=8, initial=POINTS, n_initial=8, seed=1, executor="serial", study=path)
    return path


def table(study: Path) -> list[dict[str, str]]:
    out = io.StringIO(newline="")
    write(study, "csv", out)
    return list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))


def shown(study: Path, *options: str) -> str:
    return CliRunner().invoke(app, ["show", str(study), *options], env={"COLUMNS": "120"}).output


def test_csv(study: Path) -> None:
    rows = [[row[f"param_{name}"] or None for name in ("norm", "bias", "decay")] for row in table(study)]
    assert rows[:4] == SPELLED


def test_the_terminal(study: Path) -> None:
    lines = [line.split()[-3:] for line in shown(study).splitlines() if re.match(r" +[0-3]  done", line)]
    assert lines == [[text or "-" for text in row] for row in SPELLED]
    assert re.search(r"^  norm +None$", shown(study, "--trial", "0"), re.M)
    assert re.search(r"^  bias +True$", shown(study, "--trial", "0"), re.M)
    assert "decay" not in shown(study, "--trial", "0")


def test_the_page(study: Path) -> None:
    record = Record.of_study(study)
    models = models_of(record.optimizer)
    facts, learned = facts_of(record, models), learned_facts_of(record, models)["model"]
    assert learned is not None
    columns = dict(zip(SPACE, facts["trials"]["params"], strict=True))
    rows = [list(row) for row in zip(*(columns[name] for name in ("norm", "bias", "decay")), strict=True)]
    assert rows[:4] == SPELLED
    choices = {each["name"]: each["values"] for each in facts["parameters"] if each["type"] == "choice"}
    assert choices == {"norm": ["batch", "None"], "bias": ["True", "False"], "decay": ["None", "cosine"]}
    for part in learned["slices"]:
        assert part["values"] == choices.get(part["parameter"], part["values"])
    for part in learned["contours"]:
        for axis in "xy":
            assert part[f"{axis}_values"] == choices.get(part[axis], part[f"{axis}_values"])
    assert facts["best"]["params"][1:] == [
        str(record.result.x[n]) if n in record.result.x else None for n in [*SPACE][1:]
    ]


def test_pandas(study: Path) -> None:
    frame = load(study).to_pandas()
    assert frame["param_norm"].tolist()[:4] == [None, "batch", "batch", None]
    assert frame["param_decay"].tolist()[1:3] == [None, "cosine"]
    assert frame["param_decay"][0] != frame["param_decay"][0]  # NaN: it was not there


def learned_from(path: Path) -> Result:
    return minimize(loss, SPACE, budget=1, observed=path, n_initial=0, seed=2, executor="serial", strategy="random")


@pytest.mark.parametrize("none", ["None", "none", ""])  # "" as older versions wrote it
def test_a_table_is_read_back(study: Path, tmp_path: Path, none: str) -> None:
    path = tmp_path / "run.csv"
    with path.open("w", newline="") as file:
        rows = table(study)
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({name: none if cell == "None" else cell for name, cell in row.items()} for row in rows)
    observed = learned_from(path).optimizer.observed
    assert [trial.params for trial in observed] == [trial.params for trial in load(study).trials]


def test_a_parameter_that_was_not_there_is_not_taken_for_none(study: Path, tmp_path: Path, logged: list) -> None:
    path = tmp_path / "run.csv"
    with path.open("w", newline="") as file:
        write(study, "csv", file)
    always = {**SPACE, "decay": Choice([None, "cosine"])}  # before, it had a condition
    there = [trial.params for trial in load(study).trials if "decay" in trial.params]
    result = minimize(loss, always, budget=1, observed=path, n_initial=0, seed=2, executor="serial")
    assert [trial.params for trial in result.optimizer.observed] == there
    assert f"{8 - len(there)} because decay is missing" in " ".join(text for _, text in logged)


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("number,state,value,param_x\n")
    with pytest.raises(InvalidInput, match=r"empty\.csv holds no results: name another file, or leave it out\.$"):
        learned_from(path)
