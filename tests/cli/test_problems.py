"""The benchmark problems on the command line: the table, values, instances, and how bad input is refused."""

from __future__ import annotations

from math import pi

import pytest
from commands import call, refuse
from rich.markup import escape
from typer.testing import CliRunner

from aegisbo.cli import app, problems
from aegisbo.cli.arguments import with_instances
from aegisbo.errors import InvalidInput, MissingExtra
from aegisbo.simulation import problems as registry
from aegisbo.simulation.problem import Family, Parameter
from aegisbo.simulation.problems import get, with_fronts
from aegisbo.simulation.synthetic import SYNTHETIC


def bowl(number: int) -> object:
    return lambda x: float((x[0] - number) ** 2)


def unavailable(number: int) -> object:
    def fail(x: object) -> float:
        raise MissingExtra("A bowl of glass", "glass", "bowls")

    return fail


SIDE = (Parameter("width", 0.0, 9.0),)
BOUNDS = ((0.0, 9.0),)


@pytest.fixture(autouse=True)
def _two_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of what other packages offer: instance k of `bowl` has its minimum at k; `glass` cannot be evaluated."""
    offered = {
        "bowl": Family("bowl", SIDE, BOUNDS, bowl, "made up", count=5),
        "glass": Family("glass", SIDE, BOUNDS, unavailable, "made up", count=5),
    }

    class Offered:
        names = staticmethod(lambda: tuple(offered))
        get = staticmethod(offered.get)

    monkeypatch.setattr(registry, "_PLUGINS", Offered)


def test_the_table_lists_all_functions_and_the_families_of_other_packages() -> None:
    lines = [line.split() for line in call("problems").splitlines() if line[:1].isalpha()]
    rows = {name: cells for name, *cells in lines if cells and cells[0].isdigit()}
    assert list(rows) == [*(problem.name for problem in SYNTHETIC), "bowl", "glass", *with_fronts()]
    assert rows["Branin"][:3] == ["2", "1", "0.397887"]
    assert "".join(rows["Branin"][3:]) == "[-5,10]×[0,15]"
    assert rows["bowl"][:3] == ["1", "5", "unknown"]


def test_problems_with_several_objectives_have_a_table_of_their_own() -> None:
    lines = call("problems").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Several objectives"))
    rows = {line.split()[0]: line.split()[1:] for line in lines[start + 3 :] if line.startswith(with_fronts())}
    assert rows["DTLZ2-m3"] == ["5", "3", f"{1.331 - pi / 6:.6g}", "1.1,", "1.1,", "1.1", "[0,1]^5"]
    assert len(rows) == len(with_fronts()) == 5


def test_objectives_are_printed_one_a_line() -> None:
    first, second = call("problems", "eval", "ZDT1", "--x", "0.25,0,0,0,0").splitlines()
    assert (first, second) == ("f1=0.25", "f2=0.5")


def test_costs_are_measured_on_request() -> None:
    (row,) = (line.split() for line in call("problems", "--cost").splitlines() if line.startswith("Branin"))
    assert row[5] in ("μs", "ms")


@pytest.mark.parametrize("command", [["problems"], ["problems", "--cost"], ["strategies"]])
def test_lists_fit_a_small_terminal(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line for line in call(*command).splitlines() if "optional package" not in line]
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if len(line.strip()) == 1]  # nothing was wrapped for a single letter


def test_the_table_names_the_command_for_a_missing_extra() -> None:
    lines = call("problems", "--cost").splitlines()
    assert "glass: A bowl of glass needs an optional package: pip install 'bowls[glass]'" in lines
    (row,) = (line.split() for line in lines if line.startswith("glass "))
    assert row[1:5] == ["1", "5", "unknown", "–"]


@pytest.mark.parametrize("x", ["-1,7.5", "x1=-1,x2=7.5"])
def test_a_value_is_that_of_the_problem(x: str) -> None:
    assert float(call("problems", "eval", "Branin", "--x", x)) == get("Branin")([-1, 7.5])


def test_an_instance_is_named_in_two_ways() -> None:
    assert (
        call("problems", "eval", "bowl#3", "--x", "1")
        == "4.0\n"
        == call("problems", "eval", "bowl", "--instance", "3", "--x", "1")
    )


def test_the_meaning_of_a_point_goes_to_standard_error() -> None:
    outcome = CliRunner().invoke(app, ["problems", "eval", "bowl#2", "--x", "0.5"])
    assert "bowl#2 at width = 0.5" in outcome.stderr


def test_equal_sides_of_a_box_are_a_power() -> None:
    assert problems.box([(-5, 5), (-5, 5), (0, 1)]) == escape("[-5, 5]^2 × [0, 1]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bowl", "--x", "1"], "bowl has 5 instances: name one of them, such as 'bowl#1'."),
        (["bowl#6", "--x", "1"], "bowl has no instance 6: choose one of 1 to 5."),
        (["Branin", "--x", "1,16"], "x[1] of Branin is 16.0: choose a value within [0.0, 15.0]."),
        (["Branin", "--x", "1,1,1"], "x of Branin must have shape (2,), got shape (3,)."),
        (["Branin", "--x", "1,one"], "--x '1,one' holds something that is no number: give x1, x2."),
        (["Branin"], "Branin needs a point: add --x with values for x1, x2."),
        (["Branin", "--x", "x1=1"], "x2 of Branin is missing"),
        (["Brannin", "--x", "1"], "Unknown problem 'Brannin': did you mean 'Branin'?"),
        (["glass#1", "--x", "1"], "A bowl of glass needs an optional package: pip install 'bowls[glass]'"),
    ],
)
def test_bad_input_is_answered_in_a_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert message in refuse(capsys, monkeypatch, "problems", "eval", *arguments)


def test_instances_are_added_to_the_names() -> None:
    assert with_instances(["Branin"], None, None) == ["Branin"]
    assert with_instances(["bowl", "glass"], 3, None) == ["bowl#3", "glass#3"]
    assert with_instances(["bowl"], None, "1,4,7-9") == ["bowl#1", "bowl#4", "bowl#7", "bowl#8", "bowl#9"]


def test_a_range_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"--instances '1,9-3' runs backwards at '9-3': write 3-9\."):
        with_instances(["bowl"], None, "1,9-3")


@pytest.mark.parametrize("text", ["a", "1-", "", "1,,2"])
def test_unreadable_instances_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read at .* write it like 1-51"):
        with_instances(["bowl"], None, text)


def test_one_instance_and_several_exclude_each_other() -> None:
    with pytest.raises(InvalidInput, match="--instance 3 and --instances 1-2 exclude each other"):
        with_instances(["bowl"], 3, "1-2")
