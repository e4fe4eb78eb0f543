"""Earlier results in another space: what fits is used, and of the rest it is said why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

import aegisbo
from aegisbo import Choice, Int, Optimizer, Real, Space
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.events import Observed
from aegisbo.outcome import Outcome
from aegisbo.study import Earlier
from aegisbo.study.export import write
from aegisbo.study.fitting import fitted, news_among

OLD = {"lr": Real(1e-4, 1.0, log=True), "units": Int(16, 512), "act": Choice(["relu", None, "tanh"])}
POINTS = [
    {"lr": 1e-3, "units": 32, "act": "relu"},
    {"lr": 0.5, "units": 64, "act": None},
    {"lr": 1e-2, "units": 500, "act": "tanh"},
]


def earlier_run(space: Any = OLD, points: Any = POINTS, **options: Any) -> Optimizer:
    """The points in turn with the values 1.0, 2.0, ..., then one that failed and one that is pending."""
    optimizer = Optimizer(space, initial=[*points, points[0], points[0]], **options)
    for value in range(1, len(points) + 1):
        optimizer.tell(optimizer.ask(), float(value))
    optimizer.fail(optimizer.ask(), "it diverged")
    optimizer.ask()
    return optimizer


def used(source: Any, space: Any, **given: Any) -> tuple[list[tuple[dict[str, Any], Any]], dict[str, int]]:
    """The points with their values, and why others are left out."""
    fit = fitted(Earlier(source).table(), Space(space), given)
    return [(params, outcome.value) for params, outcome in fit.observations if outcome.state == "done"], fit.left_out


UNENDED = {"there is no value, and no failure either": 1}


def test_the_same_space_takes_all_that_has_ended_and_failures_fail() -> None:
    fit = fitted(Earlier(earlier_run()).table(), Space(OLD), {})
    assert [params for params, _ in fit.observations] == [*POINTS, POINTS[0]]
    assert [outcome.value for _, outcome in fit.observations[:3]] == [1.0, 2.0, 3.0]
    assert fit.observations[3][1] == Outcome("failed", fit.observations[3][1].value, reason="it diverged")
    assert fit.left_out == UNENDED
    assert str(fit) == (
        "The earlier run: 4 of 5 earlier results used. Left out: 1 because there is no value, and no failure either."
    )


def test_points_outside_another_range_are_left_out() -> None:
    space = {"lr": Real(1e-3, 0.1), "units": Int(32, 512, step=32), "act": Choice([None, "relu"])}
    points, left_out = used(earlier_run(), space)
    assert points == [(POINTS[0], 1.0)]
    assert left_out == {
        "lr is not in Real(0.001, 0.1)": 1,  # and what else is wrong with a row is not counted again
        "units is not in Int(32, 512, step=32)": 1,  # 500, which must not be moved to a neighbor
        **UNENDED,
    }


def test_what_the_old_run_did_not_have_must_be_given() -> None:
    space = {**OLD, "momentum": (0.0, 1.0)}
    assert used(earlier_run(), space) == (
        [],
        {"momentum is missing (--given momentum=..., in Python Earlier(..., given=...), says what it was)": 4}
        | UNENDED,
    )
    points, left_out = used(earlier_run(), space, momentum=0.9)
    assert points == [({**point, "momentum": 0.9}, k + 1.0) for k, point in enumerate(POINTS)]
    assert left_out == UNENDED


def test_what_the_new_space_does_not_have_must_have_been_constant() -> None:
    points, left_out = used(
        earlier_run(points=[{**p, "act": "relu"} for p in POINTS]), {n: OLD[n] for n in ("lr", "units")}
    )
    assert [value for _, value in points] == [1.0, 2.0, 3.0]
    assert points[2][0] == {"lr": 1e-2, "units": 500}
    assert left_out == UNENDED
    points, left_out = used(earlier_run(), {"lr": OLD["lr"], "act": OLD["act"]})
    assert points == []
    assert next(iter(left_out)).startswith("units varied and is no parameter now (--given units=")
    points, left_out = used(earlier_run(), {"lr": OLD["lr"], "act": OLD["act"]}, units="64.0")
    assert points == [({"lr": 0.5, "act": None}, 2.0)]
    assert left_out == {"units is not 64.0": 3} | UNENDED


@pytest.mark.parametrize("given", [None, "none"])
def test_none_is_a_value_of_a_choice_that_is_gone(given: str | None) -> None:
    space = {name: OLD[name] for name in ("lr", "units")}
    for source in (earlier_run(), earlier_run().result().to_pandas()):
        points, left_out = used(source, space)
        assert (points, sum(left_out.values())) == ([], 5)
        assert used(source, space, act=given)[0] == [({"lr": 0.5, "units": 64}, 2.0)]


class TestConditions:
    SPACE: ClassVar[Any] = {
        "kind": Choice(["sgd", "adam"]),
        "lr": Real(0.0, 1.0),
        "momentum": Real(0.0, 1.0, when={"kind": "sgd"}),
    }
    POINTS: ClassVar[Any] = [{"kind": "sgd", "lr": 0.25, "momentum": 0.5}, {"kind": "adam", "lr": 0.75}]

    def test_what_is_not_there_is_not_missing(self) -> None:
        points, left_out = used(earlier_run(self.SPACE, self.POINTS), self.SPACE)
        assert points == [(self.POINTS[0], 1.0), (self.POINTS[1], 2.0)]
        assert left_out == UNENDED

    def test_a_parameter_that_is_there_less_often_is_dropped_where_it_is_not(self) -> None:
        everywhere = {**self.SPACE, "momentum": Real(0.0, 1.0)}
        points, _ = used(earlier_run(everywhere, [{**p, "momentum": 0.5} for p in self.POINTS]), self.SPACE)
        assert points == [(self.POINTS[0], 1.0), (self.POINTS[1], 2.0)]

    def test_one_that_is_there_more_often_is_missing(self) -> None:
        everywhere = {**self.SPACE, "momentum": Real(0.0, 1.0)}
        assert [params["kind"] for params, _ in used(earlier_run(self.SPACE, self.POINTS), everywhere)[0]] == ["sgd"]
        points, _ = used(earlier_run(self.SPACE, self.POINTS), everywhere, momentum=0.125)
        assert [params["momentum"] for params, _ in points] == [0.5, 0.125]

    def test_rows_without_a_dropped_parameter_do_not_depend_on_it(self) -> None:
        points = [*self.POINTS, {"kind": "sgd", "lr": 0.5, "momentum": 0.1}]
        without = {name: self.SPACE[name] for name in ("kind", "lr")}
        assert used(earlier_run(self.SPACE, points), without)[0] == [(self.POINTS[1], 2.0)]


class TestForms:
    """All ways to hand over the same results say the same."""

    @pytest.fixture
    def study(self, tmp_path: Path) -> Path:
        def loss(lr: float, units: int, act: str | None) -> float:
            if units == 500:
                raise ValueError("too wide")
            return 1000 * lr + units

        options: Any = {"initial": POINTS, "budget": 3, "executor": "serial", "raise_errors": False}
        aegisbo.minimize(loss, OLD, study=tmp_path / "old.db", observed=[(POINTS[0] | {"units": 99}, 7.0)], **options)
        return tmp_path / "old.db"

    def test_a_study_its_result_its_tables_and_its_trials(self, study: Path) -> None:
        with (study.parent / "old.csv").open("w", newline="") as file:
            write(study, "csv", file)
        result = aegisbo.load(study)
        frame = pd.concat([pd.DataFrame(), result.to_pandas()])  # which has no observed points
        expected = fitted(Earlier(str(study)).table(), Space(OLD), {}).observations
        assert [outcome.state for _, outcome in expected] == ["done", "done", "done", "failed"]
        assert [outcome.value for _, outcome in expected[:3]] == [7.0, 33.0, 564.0]
        assert expected[3][1].reason == "ValueError: too wide"
        for source in (study.parent / "old.csv", result):
            assert repr(fitted(Earlier(source).table(), Space(OLD), {}).observations) == repr(expected)
        for trials in (frame, list(result.trials), result.trials):
            assert repr(fitted(Earlier(trials).table(), Space(OLD), {}).observations) == repr(expected[1:])

    def test_a_plain_table_with_other_columns(self, tmp_path: Path) -> None:
        file = tmp_path / "lab.csv"
        file.write_text(
            "\ufeffday,lr,loss,act,units\nMon,1e-3,0.5,relu,32\nTue,0.5,nan,,64\nWed,0.01,,tanh,500\n", "utf-8"
        )
        frame = pd.DataFrame(
            {"day": ["Mon"], "lr": [1e-3], "loss": [0.5], "act": ["relu"], "units": [32], "optimizer": ["a column"]}
        )
        fit = fitted(Earlier(file, value="loss").table(), Space(OLD), {})
        assert [(params, outcome.state) for params, outcome in fit.observations] == [
            (POINTS[0], "done"), (POINTS[1], "invalid"),
        ]  # fmt: skip
        assert fit.left_out == UNENDED
        assert str(fit).endswith("Columns that are no parameters: day.")
        assert fitted(Earlier(frame, value="loss").table(), Space(OLD), {}).observations == fit.observations[:1]
        assert len(fitted(Earlier(file, value="loss").table(), Space(OLD), {"day": "Mon"}).observations) == 1

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("lr,loss\n1,2\n", "lab.csv has no column 'value', only lr, loss: say which one holds the values"),
            ("lr,value\n1,x\n", "lab.csv, line 2: value is 'x', which is no number"),
            ("lr,value\n1,2\n1,2,3\n", "lab.csv, line 3: it has more cells than there are columns"),
            ("\0\x80", "lab.csv is no CSV file"),
        ],
    )
    def test_bad_tables_get_one_sentence(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "lab.csv").write_bytes(text.encode("latin-1"))
        with pytest.raises(InvalidInput, match=message):
            Earlier(tmp_path / "lab.csv").table()

    @pytest.mark.parametrize(
        ("source", "message"),
        [("none.csv", "none.csv cannot be read: No such file"), ("none.db", "There is no study file none.db")],
    )
    def test_files_that_are_not_there(self, source: str, message: str) -> None:
        with pytest.raises((InvalidInput, StudyError), match=message):
            Earlier(source).table()

    @pytest.mark.parametrize("source", [3, [], [1, 2], {"lr": 1}])
    def test_what_is_no_source(self, source: Any) -> None:
        with pytest.raises(InvalidInput, match="Earlier results are a file, a table, a result or a list of trials"):
            Earlier(source).table()


def test_each_result_is_taken_once_and_a_repetition_within_one_list_counts() -> None:
    a, b, failed = (
        ({"x": 1.0}, Outcome("done", 5.0)),
        ({"x": 2.0}, Outcome("done", 5.0)),
        ({"x": 1.0}, Outcome("failed")),
    )
    optimizer = Optimizer({"x": (0.0, 3.0)})
    known = [optimizer.apply(Observed(-1, *a))]
    news = [(event.number, (event.params, event.outcome)) for event in news_among([[a, b], [b, failed]], known)]
    assert news == [(-2, b), (-3, failed)]
    assert [(event.params, event.outcome) for event in news_among([[a, a, b, b], [b, b]], known)] == [a, b, b]
    assert list(news_among([[a], [failed]], [*known, optimizer.apply(Observed(-2, *failed))])) == []
