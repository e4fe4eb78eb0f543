"""A study knows its function: another one, or the same one changed, is asked about before values mix."""

from __future__ import annotations

import functools
import importlib.util
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sealed import seal

from aegisbo import Result, minimize
from aegisbo.errors import StudyError
from aegisbo.runners.command import Command
from aegisbo.study import stored_function as module
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.stored_function import StoredFunction

BOX = [(-5, 10), (2, 3)]

LOSS = """
def loss(x):
    total = x[0] ** 2
    return float(total + x[1])
"""
SAME = '''
import math


def loss( x ):
    """Now it is explained."""
    # and commented on
    total = (x[0]
             ** 2)

    return float(total+x[1])  # here too
'''
CHANGED = LOSS.replace("total + x[1]", "total - x[1]")
BROKEN = LOSS.replace("float(total", "flaot(total")


@pytest.fixture
def source(tmp_path: Path) -> Any:
    """Makes functions from text, as somebody does who edits a file between two runs."""

    def make(text: str, name: str = "loss", stem: str = "") -> Any:
        count = len(list(tmp_path.glob("*.py")))
        file = tmp_path / f"{stem or f'version{count}'}.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = loaded  # where inspect looks for the file of a class
        spec.loader.exec_module(loaded)
        return getattr(loaded, name)

    before = set(sys.modules)
    yield make
    for name in set(sys.modules) - before:
        del sys.modules[name]


def search(fun: Any, path: Path, budget: int, space: Any = BOX, **rest: Any) -> Result:
    given = {"strategy": "random", "seed": 1, "executor": "serial", "raise_errors": False, **rest}
    return minimize(fun, space, budget=budget, study=path, **given)


class TestStudies:
    def test_comments_layout_docstrings_and_the_module_do_not_matter(self, tmp_path: Path, source: Any) -> None:
        search(source(LOSS), tmp_path / "run.db", 2)
        assert search(source(SAME), tmp_path / "run.db", 4).nfev == 4
        kinds = [event.body.get("objective") for event in read_events(tmp_path / "run.db") if event.kind == "opened"]
        assert kinds == [None, None]

    def test_a_changed_source_is_asked_about_with_the_line(self, tmp_path: Path, source: Any) -> None:
        path = tmp_path / "run.db"
        search(source(LOSS, stem="training"), path, 2)
        before = path.read_bytes()
        with pytest.raises(StudyError) as caught:
            search(source(CHANGED), path, 4)
        assert str(caught.value) == (
            f"{path} was made for loss of training, whose source has changed: `return float(total + x[1])` was there, "
            "`return float(total - x[1])` is now. Do values still mean the same? Then pass anyway=True (on the command "
            "line: --anyway). If not, use another file."
        )
        assert path.read_bytes() == before

    def test_another_name_is_asked_about(self, tmp_path: Path, source: Any) -> None:
        path = tmp_path / "run.db"
        search(source(LOSS, stem="training"), path, 2)
        other = source(LOSS.replace("loss", "error"), "error", stem="testing")
        with pytest.raises(StudyError, match=r"made for loss of training, and this call gives error of testing\. Do"):
            search(other, path, 4)

    def test_after_anyway_the_new_one_is_the_studys(self, tmp_path: Path, source: Any) -> None:
        path = tmp_path / "run.db"
        search(source(LOSS), path, 2)
        assert search(source(CHANGED), path, 3, anyway=True).nfev == 3
        assert search(source(CHANGED), path, 4).nfev == 4
        with pytest.raises(StudyError, match="source has changed"):
            search(source(LOSS), path, 5)
        assert replay(path).faithful

    def test_a_bug_may_be_mended_as_long_as_there_is_no_value(
        self, tmp_path: Path, source: Any, logged: list[tuple[str, str]]
    ) -> None:
        path = tmp_path / "run.db"
        assert search(source(BROKEN, stem="first"), path, 9).nfev == 5  # and so it ended itself
        assert search(source(LOSS), path, 5).failures == {}  # what failed was run again
        assert replay(path).faithful
        (told,) = (text for _, text in logged if "was made for" in text)
        assert told == (
            f"{path} was made for loss of first, whose source has changed: `return flaot(total + x[1])` was there, "
            "`return float(total + x[1])` is now. It has no value yet, so the run continues and repeats what "
            "failed."
        )
        with pytest.raises(StudyError):
            search(source(CHANGED), path, 10)

    def test_a_study_that_does_not_know_it_learns_it(self, tmp_path: Path, source: Any) -> None:
        path = tmp_path / "run.db"
        search(source(LOSS), path, 2)
        (created, *_) = read_events(path)
        old = {key: value for key, value in created.body.items() if key != "objective"}
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE events SET body = ? WHERE id = 1", (json.dumps(old),))
        seal(path)
        search(source(LOSS), path, 3)
        with pytest.raises(StudyError, match="source has changed"):
            search(source(CHANGED), path, 4)

    def test_a_source_that_nobody_knew_is_learned_and_never_forgotten(self, tmp_path: Path, source: Any) -> None:
        path, namespace = tmp_path / "run.db", {}
        exec(LOSS, namespace)
        for fun, budget in ((namespace["loss"], 2), (source(LOSS), 3), (namespace["loss"], 4)):
            assert search(fun, path, budget).nfev == budget
        with pytest.raises(StudyError, match="source has changed"):
            search(source(CHANGED), path, 5)

    def test_a_command_is_its_words(self, tmp_path: Path) -> None:
        path, space = tmp_path / "run.db", {"x": (0, 1), "y": (0, 1)}
        search(Command("echo {x}"), path, 2, space)
        assert search(Command("echo  {x}"), path, 3, space).nfev == 3
        with pytest.raises(
            StudyError, match=r"made for command, whose source has changed: `\['echo', '{x}'\]` was there"
        ):
            search(Command("echo {y}"), path, 4, space)


def double(x: Any) -> float:
    return 2 * x


class Model:
    """Has a doc."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def __call__(self, x: Any) -> float:
        return self.size * x

    def fit(self, x: Any) -> float:
        """Twice."""
        return 2 * x


class TestObjectives:
    def source(self, fun: Any) -> str | None:
        return StoredFunction.of(fun).source

    def test_functions_methods_and_objects(self) -> None:
        def local(x: Any) -> float:
            """Only this."""

        assert StoredFunction.of(double).name == "double"
        assert self.source(double) == "def double(x: Any) -> float:\n    return 2 * x"
        assert (StoredFunction.of(local).name, self.source(local)) == ("local", "def local(x: Any) -> float:\n    pass")
        assert StoredFunction.of(Model().fit).name == "Model.fit"
        assert self.source(Model().fit) == "def fit(self, x: Any) -> float:\n    return 2 * x"
        assert StoredFunction.of(Model(1)) == StoredFunction.of(Model(2))
        assert StoredFunction.of(Model(1)).name == "Model"
        assert "Has a doc" not in str(self.source(Model()))

    def test_bound_arguments_count_by_name(self) -> None:
        one, other, third = (functools.partial(double, **given) for given in ({"a": 1}, {"a": 2}, {"b": 1}))
        assert StoredFunction.of(one) == StoredFunction.of(other)
        assert StoredFunction.of(one).change_from(StoredFunction.of(third)) == (
            f"double of {__name__}, whose source has changed: `partial(b=...)` was there, `partial(a=...)` is now"
        )

    def test_a_lambda_is_told_from_its_neighbors(self) -> None:
        pair = (lambda x: x + 1, lambda x: x + 2)  # on one line
        nested = lambda x: (lambda y: y * 3)(x)  # noqa: E731
        assert [self.source(each) for each in pair] == ["lambda x: x + 1", "lambda x: x + 2"]
        assert self.source(nested) == "lambda x: (lambda y: y * 3)(x)"
        assert self.source(nested.__code__.co_consts and (lambda: lambda y: -y)()) == "lambda y: -y"
        assert self.source(
            lambda x: [
                x,  # over several lines
                1,
            ]
        ) == "lambda x: [x, 1]"  # fmt: skip

    def test_what_has_no_source_is_known_by_name(self) -> None:
        namespace: dict[str, Any] = {}
        exec("def made(x): return 1.0\nf = lambda x: 2.0", namespace)
        for fun, name in ((max, "max"), (np.sin, "sin"), (namespace["made"], "made"), (namespace["f"], "<lambda>")):
            assert (StoredFunction.of(fun).name, StoredFunction.of(fun).source) == (name, None)
        assert StoredFunction.of(max).change_from(StoredFunction.of(max)) is None
        assert (
            StoredFunction.of(max).change_from(StoredFunction.of(min))
            == "min of builtins, and this call gives max of builtins"
        )

    def test_a_giant_is_stored_as_a_hash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "LONGEST", 30)
        giant = StoredFunction.of(double)
        assert giant.source is not None
        assert giant.source.startswith("sha256:")
        assert len(giant.source) < 80
        assert giant.change_from(giant) is None
        assert StoredFunction("double", source="sha256:0").change_from(giant) == (
            f"double of {__name__}, whose source has changed"
        )

    def test_it_survives_storage(self) -> None:
        for each in (StoredFunction.of(double), StoredFunction.of(max)):
            assert StoredFunction.from_description(json.loads(json.dumps(each.describe()))) == each


class Distant:
    """Stands for a proxy: whatever attribute is asked for, it has one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        return lambda *args: name

    def __call__(self, x: np.ndarray) -> float:
        return float(x[0])


@pytest.mark.parametrize(
    "fun", [functools.lru_cache(lambda x: 1.0), np.vectorize(lambda x: x), np.sum, max, Distant(), len]
)
def test_what_has_no_source_has_a_name(fun: Any) -> None:
    assert isinstance(StoredFunction.of(fun).name, str)
    json.dumps(StoredFunction.of(fun).describe())
