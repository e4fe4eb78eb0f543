"""Ways in which the file of a study goes bad: bytes change, parts are lost, somebody tampers with rows and JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from sealed import seal

HEADER = 100  # bytes at the beginning of an SQLite file
NONSENSE: tuple[Any, ...] = (
    *(None, {}, [], "", "x", -1, 0, 10**9, 10**400, -(10**400), 1e308, 1e999, True, False, [1], [[]], {"type": "real"}),
    *("\x1b[2J", "a < b", {"a": None}, "\ud800", "nan", [{"u": 1}], {"phi": "x"}, {"learned_at": 6}, 1.5),
)
DEEP = 100_000  # levels of nested brackets, far more than Python follows


def flip_bits(path: Path, random: Random) -> None:
    """Some bits anywhere."""
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 1, 1, 2, 8, 40))):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def flip_early_bits(path: Path, random: Random) -> None:
    """Bits of the header and of the page that holds the schema."""
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 1, 2, 4))):
        content[random.choice((random.randrange(HEADER), random.randrange(_page(content))))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def flip_bits_of_the_schema(path: Path, random: Random) -> None:
    """Bits of the texts that say what tables there are."""
    content = bytearray(path.read_bytes())
    start = content.index(b"CREATE TABLE events")
    for _ in range(random.choice((1, 1, 2))):
        content[start - 30 + random.randrange(330)] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def change_digits(path: Path, random: Random) -> None:
    """Digits and letters within JSON, which stays JSON."""
    content = bytearray(path.read_bytes())
    places = [k for k in range(2 * HEADER, len(content)) if chr(content[k]).isalnum() and content[k] < 128]
    for place in random.sample(places, random.choice((1, 1, 2))):
        letters = b"0123456789" if chr(content[place]).isdigit() else b"abcdefgh"
        content[place] = random.choice(letters)
    path.write_bytes(content)


def cut_off(path: Path, random: Random) -> None:
    """The end, at a page or within one."""
    content = path.read_bytes()
    page = _page(content)
    end = random.choice((random.randrange(len(content)), page * random.randrange(1 + len(content) // page)))
    path.write_bytes(content[:end])


def lose_the_end_of_it(path: Path, random: Random) -> None:
    """Zeros instead of the end, as after a power failure."""
    content = path.read_bytes()
    end = random.randrange(len(content))
    path.write_bytes(content[:end] + bytes(len(content) - end))


def swap_pages(path: Path, random: Random) -> None:
    """Two pages change places, or one stands in for another."""
    content = bytearray(path.read_bytes())
    size = _page(content)
    one, other = (size * random.randrange(len(content) // size) for _ in range(2))
    first, second = content[one : one + size], content[other : other + size]
    content[other : other + size] = first
    if random.random() < 0.5:
        content[one : one + size] = second
    path.write_bytes(content)


def change_rows(path: Path, random: Random) -> None:
    """Rows are gone, there twice, in another order, or have another kind, number or time."""
    with closing(sqlite3.connect(path)) as connection, connection:
        ids = [id for (id,) in connection.execute("SELECT id FROM events ORDER BY id")]
        one, other = random.choice(ids), random.choice(ids)
        match random.randrange(6):
            case 0:
                connection.execute("DELETE FROM events WHERE id = ?", (one,))
            case 1:
                connection.execute("DELETE FROM events WHERE id >= ?", (one,))
            case 2:
                names = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(events)") if row[1] != "id")
                connection.execute(f"INSERT INTO events ({names}) SELECT {names} FROM events WHERE id = ?", (one,))
            case 3:
                for before, after in ((one, -1), (other, one), (-1, other)):
                    connection.execute("UPDATE events SET id = ? WHERE id = ?", (after, before))
            case 4:
                column = random.choice(("kind", "number", "at"))
                values = {"kind": "told", "number": random.randrange(12), "at": random.uniform(0, 2e9)}
                connection.execute(f"UPDATE events SET {column} = ? WHERE id = ?", (values[column], one))
            case _:
                connection.execute("UPDATE events SET id = id + 1000 WHERE id = ?", (one,))


def change_columns(path: Path, random: Random) -> None:
    """A column that holds what it never does."""
    nonsense = random.choice((-1, 10**12, "x", 1.5, b"\xff", b"\xff\xfe" * 40, "[" * DEEP, "9" * 5000))
    with closing(sqlite3.connect(path)) as connection, connection:
        ids = [id for (id,) in connection.execute("SELECT id FROM events")]
        column = random.choice(("kind", "number", "at", "body"))
        connection.execute(f"UPDATE events SET {column} = ? WHERE id = ?", (nonsense, random.choice(ids)))
        if random.random() < 0.3:
            connection.execute(
                "UPDATE events SET body = CAST(x'7b22ff227d' AS TEXT) WHERE id = ?", (random.choice(ids),)
            )


def change_json(path: Path, random: Random) -> None:
    """Something within the body of an event is another thing or is missing, by one who knows how to hide it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT id, body FROM events").fetchall()
        for id, text in random.sample(rows, random.choice((1, 1, 2))):
            body = json.loads(text)
            _tamper(body, random)
            new = json.dumps(body)
            if random.random() < 0.05:
                new = text[:-1] + ', "deep": ' + "[" * DEEP + "]" * DEEP + "}"
            connection.execute("UPDATE events SET body = ? WHERE id = ?", (new, id))
    seal(path)


def _tamper(place: Any, random: Random) -> None:
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = random.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and random.random() < 0.7:
            place = place[key]
            continue
        if random.random() < 0.25:
            del place[key]
        else:
            place[key] = random.choice(NONSENSE)
        return


def _page(content: bytes | bytearray) -> int:
    return int.from_bytes(content[16:18], "big")


Mutation = Callable[[Path, Random], None]
NOTICED: tuple[Mutation, ...] = (  # each is noticed, or leaves all events as they were
    flip_bits,
    flip_early_bits,
    flip_bits_of_the_schema,
    change_digits,
    cut_off,
    lose_the_end_of_it,
    swap_pages,
    change_rows,
    change_columns,
)
MUTATIONS: tuple[Mutation, ...] = (*NOTICED, change_json, change_json, change_json)
