"""docs/objectives.md works as printed, and every mistake in its table is answered with what is printed there."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from printed_page import DOCS, blocks_of, printed_by, program_of, said_by

from aegisbo import minimize
from aegisbo.errors import AegisError
from aegisbo.outcome import Wanted, judged

PAGE = DOCS.joinpath("objectives.md").read_text("utf-8")
SAID = re.findall(r"^\| .* \| `(.*)` \|$", PAGE.partition("## Mistakes")[2], re.MULTILINE)
SPACE = {"width": (1.0, 60.0), "depth": (1.0, 10.0)}
BOTH = {"accuracy": "max", "latency": "min"}


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program, scripts = program_of("objectives.md"), [text for kind, text in blocks_of("objectives.md") if kind == "sh"]
    printed = printed_by(program, tmp_path)
    (text,) = (text for kind, text in blocks_of("objectives.md") if kind == "text")
    for label in re.findall(r"^ *(\w+):", text, re.MULTILINE):
        assert re.search(rf"^ *{label}: ", printed, re.MULTILINE), label
    assert len(re.findall(r"^{'width': .*'latency': ", printed, re.MULTILINE)) == 3
    assert "24 earlier results" in printed
    assert len(scripts) == 1


@pytest.mark.long
def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    (script,) = (text for kind, text in blocks_of("objectives.md") if kind == "sh")
    page = tmp_path / "script.md"
    page.write_text(f"```sh\n{script}```\n", "utf-8")
    said = said_by(str(page), tmp_path)
    assert "on the front" in said
    assert "All 8 decisions follow" in said


def run(answer: Any = None, study: Path | None = None, **options: Any) -> Any:
    given: dict[str, Any] = {"objectives": BOTH, "strategy": "random", "executor": "serial", "budget": 1}
    return minimize(lambda width, depth: answer, SPACE, study=study, **given | options)


def continued(folder: Path) -> None:
    run({"accuracy": 0.5, "latency": 1.0}, folder / "run.db")
    run(0.5, folder / "run.db", objectives=())


def invalid(answer: object) -> Callable[[Path], str]:
    return lambda folder: judged(answer, Wanted(tuple(BOTH))).reason


MISTAKES: list[Callable[[Path], Any]] = [
    lambda folder: run(objectives={"accuracy": "max"}),
    lambda folder: run(objectives=dict.fromkeys("pqrst", "min")),
    lambda folder: run(objectives={"accuracy": "up", "latency": "min"}),
    lambda folder: run(objectives={"width": "min", "latency": "min"}),
    lambda folder: run(maximize=True),
    lambda folder: run(target=0.9),
    continued,
    invalid(0.5),
    invalid({"accuracy": 0.5, "latencyy": 1}),
    invalid({"accuracy": 0.5, "latency": math.nan}),
    invalid({"accuracy": 0.5, "latency": 1.0, "sd": 0.1}),
    lambda folder: run({"accuracy": 0.5, "latency": 1.0}).fun,
]


@pytest.mark.parametrize(("mistake", "said"), list(zip(MISTAKES, SAID, strict=True)))
def test_a_mistake_is_answered_as_printed(mistake: Callable[[Path], Any], said: str, tmp_path: Path) -> None:
    try:
        answer = str(mistake(tmp_path))
    except AegisError as error:
        answer = str(error)
    assert said.rstrip(".") in answer
