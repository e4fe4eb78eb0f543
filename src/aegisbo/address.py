"""Where a study is: a file, or an address on a PostgreSQL server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from aegisbo.errors import InvalidInput

# As libpq reads it: the first @ before a slash ends the user and the password.
FORM = re.compile(r"postgres(?:ql)?://(?:([^@/?]*)@)?([^/?@]*)(?:/([^?@]*))?(?:\?([^@]*))?")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
SECRET = {"password", "sslpassword"}  # of libpq's parameters
LONGEST = 200  # characters of a name
EXAMPLE = "postgresql://host/base?study=run7"


@dataclass(frozen=True, repr=False)
class Address:
    """A study on a PostgreSQL server, or a base there; as a text it has no password."""

    shown: str  # without the study
    study: str  # its name; empty for the base
    secret: str = field(compare=False)  # what libpq gets, with the password if there was one

    @property
    def name(self) -> str:
        """What a command needs to find it, from wherever it is."""
        return str(self)

    @property
    def stem(self) -> str:
        """A short name of the study."""
        return self.study

    def beside(self, ending: str) -> Path:
        """A file or folder that goes with the study: a server has none, so it is in the current folder."""
        return Path(re.sub(r"[^\w.-]", "-", self.study) + ending)

    def named(self, study: str) -> Address:
        """A study in the same base."""
        return replace(self, study=study)

    @property
    def whole(self) -> str:
        """With the password, for another process: never to be printed."""
        return _with(self.secret, self.study)

    def __str__(self) -> str:
        return _with(self.shown, self.study)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


Place: TypeAlias = Path | Address
Named: TypeAlias = str | os.PathLike[str] | Address  # a study, as a user names it


def place_of(study: Named) -> Place:
    """Where the study is that is named like this.

    Raises:
        InvalidInput: it is an address, but of no study on a PostgreSQL server.
    """
    if isinstance(study, Address):
        return study
    text = os.fspath(study)
    if not isinstance(study, str) and os.fsdecode(text).startswith(("postgresql:/", "postgres:/")):
        raise InvalidInput(f"The address of a study is a text, not a path: write {EXAMPLE!r} without Path(...).")
    if not isinstance(study, str) or not SCHEME.match(study):
        return Path(study)
    address = base_of(study)
    if not address.study:
        raise InvalidInput(f"{address} does not name a study: write {_with(address.shown, 'NAME')}.")
    return address


def base_of(text: str) -> Address:
    """The base at an address, or the study there if the address names one.

    Raises:
        InvalidInput: it is no such address. What it holds is not repeated, because there may be a password in it.
    """
    form = FORM.fullmatch(text)
    if form is None:
        scheme = text.partition("://")[0]
        if scheme not in ("postgres", "postgresql"):
            raise InvalidInput(
                f"A study is a file or an address such as {EXAMPLE!r}; this begins with {scheme[:30]!r}."
            )
        raise InvalidInput(
            f"The address of the study cannot be read: it looks like {EXAMPLE!r}, and in a user or a password / is "
            "written %2F, ? %3F and @ %40."
        )
    user, hosts, base, query = (part or "" for part in form.groups())
    pairs = [pair for pair in query.split("&") if pair]
    named = [unquote(pair.partition("=")[2]) for pair in pairs if _key(pair) == "study"]
    if len(named) > 1 or not all(name.isprintable() and 0 < len(name) <= LONGEST for name in named):
        raise InvalidInput(f"The address names its study once, in 1 to {LONGEST} printable characters: ?study=run7.")
    others = [pair for pair in pairs if _key(pair) != "study"]
    open_ones = [pair for pair in others if _key(pair) not in SECRET]
    public = user.partition(":")[0]
    return Address(
        _joined(f"{public}@" if public else "", hosts, base, open_ones),
        named[0] if named else "",
        _joined(f"{user}@" if user else "", hosts, base, others),
    )


def has_name(study: Any) -> bool:
    """Whether this can be the name of a study."""
    return isinstance(study, Address) or (isinstance(study, str | os.PathLike) and bool(os.fspath(study)))


def _key(pair: str) -> str:
    return unquote(pair.partition("=")[0])


def _joined(user: str, hosts: str, base: str, pairs: list[str]) -> str:
    return f"postgresql://{user}{hosts}/{base}{'?' * bool(pairs)}{'&'.join(pairs)}"


def _with(address: str, study: str) -> str:
    """An address with a study."""
    return f"{address}{'&' if '?' in address else '?'}study={quote(study, safe='')}" if study else address
