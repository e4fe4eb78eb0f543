"""The table of options says what a run can be told; signatures, flags and changes agree with it."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

from aegisbo import Optimizer, minimize
from aegisbo.cli import app
from aegisbo.errors import InvalidInput
from aegisbo.options import OPTIONS, SETTINGS, checked_changes

TABLE = OPTIONS | SETTINGS
THINGS = {"fun", "space", "study", "observed", "callbacks"}  # arguments that are no options
OF_WORK = {"lease"}


def test_the_page_says_the_defaults_that_hold() -> None:
    page = Path(__file__).parents[1].joinpath("docs", "running.md").read_text("utf-8")
    said = dict(
        re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page.partition("## Options")[2].partition("## While")[0], re.M)
    )
    assert set(said) == {name for name, each in OPTIONS.items() if not each.fixed}
    assert {name: said[name] for name in set(said) - {"budget", "workers"}} == {
        name: "none" if (default := OPTIONS[name].default) is None else str(default)
        for name in set(said) - {"budget", "workers"}
    }


def test_minimize_writes_out_the_options_of_the_table_with_their_defaults() -> None:
    written = {name: each.default for name, each in signature(minimize).parameters.items() if name not in THINGS}
    assert written == {name: each.default for name, each in TABLE.items() if name not in OF_WORK} | {
        "budget": Parameter.empty  # which only `work` may leave open
    }


def test_an_optimizer_takes_the_options_that_decide_choices_with_their_defaults() -> None:
    written = {name: each.default for name, each in signature(Optimizer).parameters.items() if name != "space"}
    assert written == {name: each.default for name, each in SETTINGS.items()}


def test_minimize_explains_every_argument_and_no_other() -> None:
    _, _, text = (getdoc(minimize) or "").partition("Args:\n")
    explained = re.findall(r"^    (\w+): ", text.partition("\nReturns:")[0], re.MULTILINE)
    assert explained == list(signature(minimize).parameters)


@pytest.mark.parametrize("command", ["minimize", "work"])
def test_every_option_with_a_flag_is_on_the_command_line(command: str) -> None:
    parameters = {each.name: each for each in get_command(app).commands[command].params}  # type: ignore[attr-defined]
    for name, option in TABLE.items():
        has_flag = option.flag is not None and option.flag.only in ("", command)
        assert (name in parameters) == has_flag, name
        if has_flag:
            assert parameters[name].help, name


def test_what_is_stored_of_a_call_is_what_may_change(tmp_path: Any) -> None:
    from aegisbo.study.reading import read_events

    minimize(lambda x: x, {"x": (0.0, 1.0)}, budget=1, study=tmp_path / "run.db", executor="serial")
    (call,) = (event.body["call"] for event in read_events(tmp_path / "run.db") if event.kind == "opened")
    changeable = {name for name, option in TABLE.items() if not option.fixed}
    assert changeable == call.keys() - {"function", "executor"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "Nothing to change: give one or more of budget, workers, timeout"),
        ({"budget": 0}, "budget is 0: give a whole number of evaluations, at least 1"),
        ({"budget": None}, "budget is None: give"),
        ({"workers": 2.5}, "workers is 2.5: give a whole number from 1 upwards"),
        ({"timeout": -1}, "timeout is -1: give seconds, more than 0; without it, or with None, there is no limit"),
        ({"target": "low"}, "target is 'low': give a finite number, or None"),
        ({"budgt": 3}, "Unknown setting 'budgt': did you mean 'budget'"),
        ({"strategy": "random"}, "strategy cannot be changed while a run goes on: earlier choices were made with it"),
        ({"seed": 3}, "seed cannot be changed while a run goes on: earlier choices were made with it"),
        ({"space": "x"}, "space cannot be changed while a run goes on: earlier points lie in it. Give wider bounds"),
        ({"workers": None}, "workers is None: give a whole number from 1 upwards"),
        ({"budget": 3, "executor": "ray"}, "executor cannot be changed while a run goes on: it belongs to one call"),
    ],
)
def test_what_cannot_be_changed_gets_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checked_changes(changes)


def test_numbers_of_any_kind_are_stored_as_json_holds_them() -> None:
    given = {"budget": np.int64(3), "timeout": Fraction(1, 2), "target": np.float32(0.25), "give_up_after": None}
    assert json.dumps(checked_changes(given)) == '{"budget": 3, "timeout": 0.5, "target": 0.25, "give_up_after": null}'
