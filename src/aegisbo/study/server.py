"""A PostgreSQL server that holds studies: how it is reached, its tables, and what its errors mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from aegisbo.address import Address
from aegisbo.errors import MissingExtra, StudyError
from aegisbo.printable import printable
from aegisbo.study.rows import Row

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
else:
    Connection = Any

RESTART, PAUSE = 30.0, 0.5  # seconds for which a server may be away when a run begins, and between two attempts
OLDEST = 130000  # version of the server
VERSION = 1  # of the tables
PRESENCE, TURN = 0x61656769, 0x6165676A  # classes of advisory locks, by study: who takes part, and who chooses
SIGNS = {"connect_timeout": "10", "fallback_application_name": "aegisbo", "keepalives_idle": "30"}
SIGNS |= {"keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"}

# A study has a key of its own, so that one made anew under an old name is not taken for it.
TABLES = f"""
SELECT pg_advisory_xact_lock({PRESENCE}, 0);
CREATE SCHEMA IF NOT EXISTS aegisbo;
CREATE TABLE IF NOT EXISTS aegisbo.version (version integer PRIMARY KEY);
INSERT INTO aegisbo.version SELECT {VERSION} WHERE NOT EXISTS (SELECT FROM aegisbo.version);
CREATE TABLE IF NOT EXISTS aegisbo.studies (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    last integer NOT NULL DEFAULT 0,  -- the number of its last event
    driver text,                      -- the mark of its only driver, if it has one: nobody else may write as one
    who text                          -- that driver in words
);
CREATE TABLE IF NOT EXISTS aegisbo.events (
    study integer NOT NULL REFERENCES aegisbo.studies ON DELETE CASCADE,
    id integer NOT NULL,              -- counted in each study, without gaps
    kind text NOT NULL,
    number bigint,                    -- of the trial, where it concerns one
    at double precision NOT NULL,     -- seconds since 1970, by the server's clock
    body text NOT NULL,               -- JSON
    sum bigint NOT NULL,              -- CRC-32 of the JSON list [id, kind, number, at, body]
    PRIMARY KEY (study, id)
);
CREATE TABLE IF NOT EXISTS aegisbo.copies (  -- that share a study now, and the last sign of life of each
    study integer NOT NULL REFERENCES aegisbo.studies ON DELETE CASCADE,
    id integer NOT NULL,
    beat timestamptz NOT NULL,
    PRIMARY KEY (study, id)
);
"""
READ = "SELECT id, kind, number, at, body, sum FROM aegisbo.events WHERE study = %s AND id > %s ORDER BY id"
# Codes for: it ends or begins, the connection failed, there are too many, it ended one that was idle in a transaction.
AWAY = "57P", "08", "53300", "25P03"
# What a server or its base may say, and what that means.
MEANINGS = {
    "password authentication failed": "it refuses the password: check PGPASSFILE or PGPASSWORD",
    "no password supplied": "it wants a password: put it into PGPASSFILE or PGPASSWORD",
    "permission denied": "the role may not do this: docs/server.md has the statements that let it",
    "does not exist": "check the address",
    "read-only transaction": "it only reads: name the server that is written to",
    "too many": "it takes no more connections: raise its max_connections, or start fewer copies",
    "remaining connection slots": "it takes no more connections: raise its max_connections, or start fewer copies",
    "No space left": "its disk is full: make room and run the same call again; what was finished is kept",
}


T = TypeVar("T")


class Unreachable(StudyError):
    """The server cannot be reached at the moment, or has ended the connection."""


def persistently(call: Callable[[], T], say: Callable[[str], None] = lambda text: None) -> T:
    """Do what needs a server; again for a while, in which it may be restarting."""
    deadline, said = monotonic() + RESTART, False
    while True:
        try:
            return call()
        except Unreachable as away:
            if monotonic() > deadline:
                raise
            if not said:
                say(f"{away} Trying again for {RESTART:g} seconds.")
            said = True
            sleep(PAUSE)


def connected(address: Address) -> Connection:
    """A connection to the base."""
    driver = _library()
    with explained(address):
        try:
            given = driver.conninfo.conninfo_to_dict(address.secret)
        except driver.ProgrammingError:  # which repeats the address, with the password
            raise StudyError(f"{address} is no address for PostgreSQL: check what stands after the ?.") from None
        signs = {name: value for name, value in SIGNS.items() if (name, "PGCONNECT_TIMEOUT") not in _settled()}
        link: Connection = driver.connect(
            "", **{**signs, **given}, client_encoding="utf8", autocommit=True, cursor_factory=driver.ClientCursor
        )
        if link.info.server_version < OLDEST:
            link.close()
            raise StudyError(f"{address}: the server is PostgreSQL {link.info.server_version // 10000}, at least 13 is "
                             "needed.")  # fmt: skip
        return link


def _settled() -> set[tuple[str, str]]:
    """What the environment decides instead of us."""
    return {("connect_timeout", "PGCONNECT_TIMEOUT")} if "PGCONNECT_TIMEOUT" in os.environ else set()


def has_tables(link: Connection, address: Address) -> bool:
    """Whether the base has the tables of studies.

    Raises:
        StudyError: they are of another version.
    """
    with explained(address):
        if link.execute("SELECT to_regclass('aegisbo.version')").fetchone() == (None,):
            return False
        found = link.execute("SELECT version FROM aegisbo.version").fetchone()
    if found != (VERSION,):
        has = "none" if found is None else found[0]
        raise StudyError(f"{address}: the tables have version {has}, this aegisbo knows {VERSION}: use the same "
                         "version of aegisbo everywhere.")  # fmt: skip
    return True


def make_tables(link: Connection, address: Address) -> None:
    """Make the tables; several processes may do so at one moment."""
    with explained(address), link.transaction():
        link.execute(TABLES)


def number_of(link: Connection, address: Address) -> int | None:
    """The number of the study in the base; None if there is none."""
    if not has_tables(link, address):
        return None
    with explained(address):
        found = link.execute("SELECT id FROM aegisbo.studies WHERE name = %s", (address.study,)).fetchone()
    return None if found is None else found[0]


def read_rows(address: Address) -> list[Row]:
    """All events of a study as they are written down."""
    with closing(connected(address)) as link, explained(address):
        study = number_of(link, address)
        if study is None:
            raise StudyError(f"There is no study {address}: check the name.")
        return link.execute(READ, (study, 0)).fetchall()


def names(base: Address) -> list[str]:
    """The studies in a base, by name."""
    with closing(connected(base)) as link, explained(base):
        if not has_tables(link, base):
            return []
        return [name for (name,) in link.execute("SELECT name FROM aegisbo.studies ORDER BY name")]


def write_rows(address: Address, rows: Sequence[Row]) -> None:
    """Make a study of these rows, whole or not at all."""
    with closing(connected(address)) as link:
        if not has_tables(link, address):
            make_tables(link, address)
        with explained(address), link.transaction(), link.cursor() as cursor:
            cursor.execute(
                "INSERT INTO aegisbo.studies (name, last) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING id",
                (address.study, len(rows)),
            )
            made = cursor.fetchone()
            if made is None:
                raise StudyError(f"{address} exists already: copy to another name.")
            with cursor.copy("COPY aegisbo.events (study, id, kind, number, at, body, sum) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((made[0], *row))


def exists(address: Address) -> bool:
    """Whether there is such a study."""
    with closing(connected(address)) as link:
        return number_of(link, address) is not None


def is_driven(address: Address) -> bool:
    """Whether a driver or a copy is connected for this study."""
    with closing(connected(address)) as link, explained(address):
        study = number_of(link, address)
        return study is not None and taking_part(link, study)


def taking_part(link: Connection, study: int) -> bool:
    """Whether a driver or a copy is connected for this study; takes no lock."""
    found = link.execute(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND objsubid = 2 AND granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        (PRESENCE, study),
    ).fetchone()
    return found is not None


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Turn errors of the server into sentences with a remedy, and never with a password."""
    driver = _library()
    try:
        yield
    except driver.Error as error:
        text = printable(" ".join(str(error).split()))[:300] or type(error).__name__
        meaning = next((meaning for sign, meaning in MEANINGS.items() if sign in text), "")
        lost = isinstance(error, driver.OperationalError | driver.InterfaceError) and error.sqlstate is None
        away = lost or (error.sqlstate or "").startswith(AWAY)
        what = meaning or ("it cannot be reached" if away else "it refuses what was asked")
        raise (Unreachable if away else StudyError)(f"The server of {address}: {what} ({text}).") from None


def _library() -> Any:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise MissingExtra("A study on a PostgreSQL server", "postgres") from error
    return psycopg
