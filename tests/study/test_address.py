"""Files and addresses, as users name them; and that no password is ever told."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from commands import refuse

import aegisbo
from aegisbo import cli
from aegisbo.address import Address, base_of, place_of
from aegisbo.errors import InvalidInput, MissingExtra

SECRET = "gehe1m"
WITH_PASSWORD = [
    f"postgresql://me:{SECRET}@host:5433/base?study=run7",
    f"postgresql://me@host/base?password={SECRET}&study=run7",
    f"postgres://me@host/base?sslmode=require&sslpassword={SECRET}&study=run7",
    f"postgresql://me:{SECRET}@one:1,two:2/base?study=run7&target_session_attrs=read-write",
]


@pytest.mark.parametrize(
    ("text", "shown", "study"),
    [
        ("postgresql://host/base?study=run7", "postgresql://host/base?study=run7", "run7"),
        ("postgres://me@host/base?study=a%20b", "postgresql://me@host/base?study=a%20b", "a b"),
        ("postgresql:///base?study=x%2Fy%26z&host=/run", "postgresql:///base?host=/run&study=x%2Fy%26z", "x/y&z"),
        ("postgresql://?study=run7", "postgresql:///?study=run7", "run7"),
        ("postgresql://a:1,b:2/base?study=Größe", "postgresql://a:1,b:2/base?study=Gr%C3%B6%C3%9Fe", "Größe"),
    ],
)
def test_an_address(text: str, shown: str, study: str) -> None:
    address = place_of(text)
    assert isinstance(address, Address)
    assert (str(address), address.study) == (shown, study)
    assert place_of(str(address)) == address == place_of(address)


@pytest.mark.parametrize("text", ["run.db", "./postgresql:x", "a b?study=c", "/tmp/run.db", "C:/run.db"])
def test_everything_else_is_a_file(text: str) -> None:
    assert place_of(text) == Path(text) == place_of(Path(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://host/base?study=x", "a file or an address such as .* begins with 'mysql'"),
        ("postgresql+psycopg://host/base?study=x", r"begins with 'postgresql\+psycopg'"),
        ("postgresql://host/base", "does not name a study: write postgresql://host/base.study=NAME"),
        ("postgresql://host/base?study=", "names its study once"),
        ("postgresql://host/base?study=a&study=b", "names its study once"),
        ("postgresql://host/base?study=a%00b", "printable"),
        (Path("postgresql://host/base?study=x"), r"is a text, not a path: write '.*' without Path"),
        (f"postgresql://me:{SECRET}/x@host/base?study=a", "cannot be read: .* / is written %2F"),
        (f"postgresql://me:{SECRET}@x@host/base?study=a", "cannot be read"),
    ],
)
def test_what_cannot_be_an_address_is_refused_without_being_told_in_full(text: str | Path, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        place_of(text)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", WITH_PASSWORD)
def test_the_password_goes_to_the_server_and_nowhere_else(text: str) -> None:
    address = place_of(text)
    assert isinstance(address, Address)
    assert SECRET in address.secret
    assert place_of(address.whole) == address
    for told in (str(address), repr(address), f"{address}", address.name, address.stem, str(base_of(text))):
        assert SECRET not in told
        assert "run7" in told or told == str(base_of(text))


@pytest.mark.parametrize("command", ["show", "report", "serve", "replay", "export"])
def test_a_refused_address_is_not_repeated(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SECRET not in refuse(capsys, monkeypatch, command, f"postgresql://me:{SECRET}/@host/base?study=x")


def test_a_study_in_a_place_that_is_none_is_refused_before_anything_is_evaluated() -> None:
    with pytest.raises(InvalidInput, match="does not name a study"):
        aegisbo.minimize(lambda u: 1 / 0, {"u": (0.0, 1.0)}, budget=1, study="postgresql://host/base")


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'aegisbo\[postgres\]'"):
        aegisbo.load("postgresql://host/base?study=run7")


def test_an_address_survives_its_way_to_another_process() -> None:
    address = place_of(WITH_PASSWORD[0])
    assert pickle.loads(pickle.dumps(address)) == address


def test_commands_name_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.arguments.placed("run.db") == Path("run.db")
