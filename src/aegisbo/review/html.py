"""The page as one file: style, script and data inside, nothing to load."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from aegisbo.review.landscape import models_of
from aegisbo.review.payload import facts_of, fronts_of, learned_facts_of
from aegisbo.review.record import Record

# In this order they make one script: each uses what the earlier ones define.
SCRIPTS = (
    "format",
    "scales",
    "marks",
    "view",
    "chart",
    "objectives",
    "convergence",
    "curves",
    "timeline",
    "reasons",
    "parameters",
    "decision",
    "failures",
    "table",
    "head",
    "compare",
    "live",
    "main",
)
PLACE = re.compile(r"\{\{(\w+)\}\}")
TITLE = "· aegisbo"  # how the title of a report ends
LIVE = "live"  # instead of data: the page asks the server that it came from


def report(record: Record) -> str:
    """The page of one run, to be opened from disk."""
    models = models_of(record.optimizer)
    facts = {**facts_of(record, models), **learned_facts_of(record, models), "fronts": fronts_of(record, models)}
    return page(f"{record.name} {TITLE}", json.dumps([facts], allow_nan=False, separators=(",", ":")))


def is_report(file: Path) -> bool:
    """Whether a file is a page that `report` made, in this version or an earlier one."""
    try:
        with file.open("rb") as page:
            return f"{TITLE}</title>".encode() in page.read(100_000)
    except OSError:  # not one of ours
        return False


def page(title: str, data: str) -> str:
    """The page with this title and data, JSON or `LIVE`."""
    style = f"\n{_asset('page.css')}\n"
    script = "\n".join(['\n"use strict";', "(() => {", *(_asset(f"{name}.js") for name in SCRIPTS), "})();\n"])
    parts = {"title": escape(title), "style": style, "script": script, "data": _embedded(data)}
    parts |= {"script_hash": _hash(script), "style_hash": _hash(style)}  # nothing else may run, whatever the data hold
    return PLACE.sub(lambda place: parts[place[1]], _asset("page.html"))


def _embedded(data: str) -> str:
    """JSON that cannot close the element that contains it."""
    return data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (files("aegisbo.review") / "page" / name).read_text(encoding="utf-8")
