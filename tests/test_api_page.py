"""docs/api.md names everything public, and what it names says what it returns and raises."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pydoc import locate
from types import FunctionType

import pytest
from printed_page import DOCS

import aegisbo
from aegisbo import errors, plot
from aegisbo.errors import MissingExtra
from aegisbo.optimizer.prediction import Prediction

PAGE = DOCS.joinpath("api.md").read_text("utf-8")
ENTRIES = re.findall(r"^::: (\S+)(?:\n    options:\n      members: \[(.*?)\])?", PAGE, re.MULTILINE)
NAMED = {path for path, _ in ENTRIES}


def found(path: str) -> object:
    try:
        return locate(path)
    except MissingExtra as error:
        pytest.skip(str(error))


def test_every_public_name_has_an_entry() -> None:
    public = {f"aegisbo.{name}" for name in dir(aegisbo)} | {f"aegisbo.plot.{name}" for name in plot.__all__}
    elsewhere = {"__version__", "AegisError", "SpaceExhausted", "Stopped"}  # in other sections or words
    assert public - NAMED == {f"aegisbo.{name}" for name in elsewhere}
    family = {kind.__name__ for _, kind in inspect.getmembers(errors, inspect.isclass)}
    assert set(dict(ENTRIES)["aegisbo.errors"].split(", ")) == {name for name in family if name != "Iterable"}


@pytest.mark.parametrize(("path", "members"), [entry for entry in ENTRIES if entry[0] != "aegisbo.errors"])
def test_an_entry_says_what_it_returns_and_raises(path: str, members: str) -> None:
    thing = found(path)
    assert thing is not None, "there is no such name"
    functions = (
        [thing] if isinstance(thing, FunctionType) else [getattr(thing, each) for each in members.split(", ") if each]
    )
    for function in functions:
        if isinstance(function, property):
            assert function.__doc__
            continue
        text, source = inspect.getdoc(function) or "", inspect.getsource(function)
        returns = inspect.signature(function).return_annotation
        assert ("Returns:" in text) == (returns != "None"), function
        assert "Raises:" in text or "raise " not in source, function


@pytest.mark.parametrize("kind", [aegisbo.Result, aegisbo.Trial, Prediction])
def test_the_table_of_fields_is_complete(kind: type) -> None:
    (table,) = re.findall(
        rf"^\| field of `{kind.__name__}` \| \|\n\|---\|---\|\n(.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE
    )
    told = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    of_one_number = {"x", "fun", "best"} if kind is aegisbo.Result else set()  # properties, which may refuse
    assert told == {field.name for field in fields(kind)} | of_one_number
