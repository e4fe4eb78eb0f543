"""Inputs that make no sense: a clear error or a right result, never a traceback from inside."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from aegisbo import Choice, Command, Int, Optimizer, Real
from aegisbo.cli import app
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.runners.arguments import check_command
from aegisbo.space import Space, read_space

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
LEAVES = SCALARS | st.sampled_from(["real", "int", "choice", "a < b", ">= 2", "2 to 4", {}, [], [{}]])
KEYS = st.sampled_from(["type", "low", "high", "log", "values", "when", "constraints", "a", "b", ""])
TABLES = st.dictionaries(
    KEYS, st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=5
)


def toml(value: Any) -> str:
    """As TOML writes it; what TOML has no word for becomes a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(name)} = {toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in str(value)) + '"'


def require_works(space: Space) -> None:
    """A space that was accepted hands out points of its own."""
    trial = Optimizer(space, strategy="random", seed=1).ask()
    assert space.check(trial.params) == trial.params


@tries(25)
@given(st.dictionaries(st.text(max_size=3), TABLES | LEAVES, max_size=3))
@example({"a": {"type": {}}})
@example({"a": {"type": "real", "low": 0, "high": 10**400}})
@example({"a": {"type": "int", "low": 0, "high": 1e300}})
@example({"constraints": ["a < b"], "a": {"type": "real", "low": 0.0, "high": 1.0}})
@example({"a": {"type": "choice", "values": ["x", "y"], "when": {"a": "x"}}})
def test_space_files(tmp_path: Path, tables: dict[str, Any]) -> None:
    file = tmp_path / "space.toml"
    file.write_text("".join(f"{toml(name)} = {toml(table)}\n" for name, table in tables.items()), encoding="utf-8")
    try:
        space = read_space(file)
    except InvalidInput:
        return
    require_works(space)


@tries(25)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_files_that_are_no_space(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "space.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput):
        require_works(read_space(file))


EXPRESSIONS = st.text(alphabet="ab<>=!+-*/()., 0129e'\"andornotminmaxlogexp_[]:{}\n\x00", max_size=30)


@pytest.mark.long
@tries(15)
@given(EXPRESSIONS)
@example("a < " * 200 + "b")
@example("(" * 300 + "a" + ")" * 300 + " < b")
@example("-" * 5000 + "a < b")
@example("a ** 99999 ** 99999 < b")
@example("9**9**9**9 < a")
@example("__import__('os').system('true') == a")
def test_constraints(text: str) -> None:
    try:
        space = Space({"a": Real(0, 1), "b": Real(0, 1)}, constraints=[text])
    except InvalidInput:
        return
    require_works(space)


ODD = [
    np.float64("nan"),
    np.array(3.0),
    np.array([1.0]),
    np.zeros((2, 2)),
    np.float32(1e30),
    10**400,
    -(10**400),
    1e308,
    -1e308,
    5e-324,
    complex(1, 2),
    b"3",
    "3",
    [],
    {},
    object(),
    Ellipsis,
    np.datetime64("2020-01-01"),
    math,
]
ANYTHING = st.one_of(st.floats(), st.integers(), SCALARS, st.sampled_from(ODD))


@tries(25)
@given(st.lists(st.tuples(ANYTHING, ANYTHING, st.none() | ANYTHING), min_size=1, max_size=6))
def test_what_is_told(told: list[tuple[Any, Any, Any]]) -> None:
    optimizer = Optimizer([(-5, 10), (2, 3)], seed=1, n_initial=2)
    for value, seconds, sd in told:
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, value, seconds, sd=sd)
        except AegisError:
            assert optimizer.trial(trial.number).state == "pending"
            optimizer.fail(trial, str(value)[:20])
    assert not optimizer.pending
    again = Optimizer.from_state(optimizer.state())
    assert again.ask().params == optimizer.ask().params


@pytest.mark.long
@tries(12)
@given(st.lists(st.sampled_from([1e300, -1e300, 1e30, 0.0, 1e-300, -1.0, 5.0]) | st.floats(-1e308, 1e308), max_size=10))
def test_values_of_any_size(values: list[float]) -> None:
    optimizer = Optimizer([(-5, 10), (2, 3)], seed=2, n_initial=4)
    for value in values:
        optimizer.tell(optimizer.ask(), value)
    assert (optimizer.space.to_unit(optimizer.ask().params) <= 1.0).all()


@tries(25)
@given(st.text(max_size=12) | st.sampled_from(["{a}", "{a} {b}", "{", "}", "'{a}'", "a\x00b", "{folder}/x", "{a.b}"]))
def test_command_templates(text: str) -> None:
    try:
        command = Command(text, value_file=None)
        check_command(command, Space({"a": (0, 1)}), here=True)
    except InvalidInput:
        return
    assert command.arguments


INJECTIONS = ["; touch owned", "$(touch owned)", "`touch owned`", "| touch owned", "&& touch owned", "\n touch owned"]


@tries(3)
@given(st.sampled_from(["'", '"', "\\", "{a}", "{folder}", "*", "~", "", "$HOME", *INJECTIONS]))
@example("; touch owned")
def test_values_cannot_become_words_or_commands(tmp_path: Path, value: str) -> None:
    """A value stays in its own word, whatever it holds: the program sees two arguments, and no shell sees any."""
    script = tmp_path / "show.py"
    script.write_text(f"import sys\nassert sys.argv[1:] == [{value!r}, {'--x=' + value!r}], sys.argv\nprint(1.5)\n")
    command = Command(f"{sys.executable} {script} {{a}} --x={{a}}")
    assert command(a=value) == 1.5
    assert not Path("owned").exists()


COMMANDS = "show add set forget retry replay export report minimize work"
OPTIONS = "--budget --space --trial --to --strategy --command --best --sort --"
VALUES = "-1 0 nan 1e400 x=1 = x csv 3-1 1-999999999999 , no.db aegis:gamma=2 aegis: : {x} ../x:y a.b:c"
WORDS = st.sampled_from(["", *f"{COMMANDS} {OPTIONS} {VALUES}".split()]) | st.text(max_size=5)


@tries(25)
@given(words=st.lists(WORDS, max_size=6))
def test_command_line(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if words[:1] and words[0] in ("demo", "serve", "simulate"):
        return
    found = CliRunner().invoke(app, words)
    assert found.exception is None or isinstance(found.exception, SystemExit | AegisError), found.exception


@tries(25)
@given(
    st.lists(st.tuples(ANYTHING, ANYTHING), min_size=1, max_size=3)
    | st.dictionaries(SCALARS, st.one_of(st.tuples(ANYTHING, ANYTHING), st.lists(ANYTHING, max_size=3), ANYTHING))
    | ANYTHING
)
@example(np.array(3.0))
@example({"a": Int(1, 3), "b": Choice(["x", "y"], when={"a": ">= 2"})})
def test_spaces(spec: Any) -> None:
    try:
        space = Space(spec)
    except InvalidInput:
        return
    require_works(space)
