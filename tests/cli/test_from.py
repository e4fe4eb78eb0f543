"""`aegisbo minimize --from` and `aegisbo work --from`, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import call

import aegisbo
from aegisbo.errors import AegisError
from aegisbo.study.reading import read_events
from aegisbo.study.state import State

PARAMETER = '[{}]\ntype = "real"\nlow = -5.0\nhigh = {}\n'
MODULE = "def f(u, v=0.0, w=0.0):\n    return (u - 3.0) ** 2 + v + w\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "old.toml").write_text(PARAMETER.format("u", 10.0) + PARAMETER.format("v", 10.0))
    (tmp_path / "new.toml").write_text(PARAMETER.format("u", 6.0) + PARAMETER.format("w", 10.0))
    (tmp_path / "from_module.py").write_text(MODULE)
    (tmp_path / "lab.csv").write_text("u,v,loss\n1,2,5.0\n2,3,7.0\n9,3,8.0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(*arguments: str) -> str:
    return call(*arguments, "--strategy", "random", "--seed", "1")


NEW = ("from_module:f", "--space", "new.toml", "--budget", "2")
MINIMIZE = ("minimize", *NEW, "--executor", "serial", "--study", "new.db")


@pytest.mark.parametrize("command", [MINIMIZE, ("work", "new.db", *NEW)], ids=["minimize", "work"])
def test_an_old_study_and_a_table_are_used_as_far_as_they_fit(folder: Path, command: tuple[str, ...]) -> None:
    run(
        "minimize", "from_module:f", "--space", "old.toml", "--budget", "9", "--executor", "serial", "--study", "old.db"
    )
    fits = [trial for trial in aegisbo.load("old.db").trials if trial.params["u"] <= 6.0]
    given = ("--given", "w=0.5", "--given", "v=3.0", "--value-column", "loss")
    for _ in range(2):  # the same call again adds nothing
        run(*command, "--from", "lab.csv", *given)
    observed = State.after(read_events(Path("new.db"))).optimizer.observed
    assert [(t.params, t.value) for t in observed] == [({"u": 2.0, "w": 0.5}, 7.0)]
    with pytest.raises(AegisError, match=r"old.db: none of 9 .*because v varied and is no parameter now"):
        run(*command, "--from", "old.db", "--given", "w=0.0")
    run(*command, "--from", "old.db", "--given", "w=0.5", "--given", f"v={fits[0].params['v']!r}")
    observed = State.after(read_events(Path("new.db"))).optimizer.observed
    assert [t.value for t in observed] == [7.0, fits[0].value]
    assert "observed elsewhere: 2" in call("show", "new.db")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "lab.csv", "--value-column", "loss", "--given", "w"), "--given 'w' sets nothing: write NAME=VALUE"),
        (("--from", "lab.csv", "--given", "w=1", "--given", "w=2"), "--given 'w' is given twice"),
        (("--given", "w=1"), "--given and --value-column go with --from"),
        (("--from", "lab.csv", "--given", "w=big"), "lab.csv has no column 'value', only u, v, loss"),
        (("--from", "lab.csv", "--value-column", "loss", "--given", "w=big"), "Parameter 'w': 'big' is no number"),
    ],
)
def test_bad_input_gets_one_sentence(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(AegisError, match=message):
        run(*MINIMIZE, *arguments)
    assert not Path("new.db").exists()
