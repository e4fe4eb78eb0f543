from __future__ import annotations

import json
import re
from base64 import b64decode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.made_studies import HOSTILE, SPACE, Script, make_study

import aegisbo
from aegisbo.review.html import LIVE, page, report
from aegisbo.review.patch import patch_between
from aegisbo.review.payload import facts_of
from aegisbo.review.record import Record

pytestmark = pytest.mark.long

STYLE = (Path(aegisbo.__file__).parent / "review" / "page" / "page.css").read_text("utf-8")


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: dict[str, str] = {}
        self.attributes: list[dict[str, str | None]] = []
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self.open = f"{tag} {dict(attrs).get('id', '')}"

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.texts[self.open] = self.texts.get(self.open, "") + data


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("page") / "run.db")


@pytest.fixture(scope="module")
def made(study: Path) -> Elements:
    return Elements(report(Record.of_study(study)))


def test_the_page_holds_the_study(study: Path, made: Elements) -> None:
    (facts,) = json.loads(made.texts["script data"])
    trials = Record.of_study(study).trials
    shown = [None if trial.value is None else float(f"{trial.value:.7g}") for trial in trials]
    assert facts["trials"]["value"] == shown
    assert facts["trials"]["state"] == [trial.state for trial in trials]
    assert facts["trials"]["params"][1] == [trial.params["units"] for trial in trials]
    reasons = [None if index is None else facts["texts"][index] for index in facts["trials"]["reason"]]
    assert reasons == [trial.reason for trial in trials]
    shown = {name: facts["call"][name] for name in ("budget", "workers", "target", "function")}
    assert shown == {"budget": 24, "workers": 3, "target": None, "function": "review.made_studies:loss"}


def test_what_looks_like_html_is_data(made: Elements) -> None:
    assert HOSTILE in made.texts["script data"].encode().decode("unicode_escape")
    assert made.tags.count("script") == 2
    assert "img" not in made.tags


def test_nothing_is_loaded_and_only_this_script_may_run(made: Elements) -> None:
    links = [a.get("src") or a.get("href") for a in made.attributes if a.get("src") or a.get("href")]
    assert all(link.startswith(("#", "data:")) for link in links)
    policy = next(a["content"] for a in made.attributes if a.get("http-equiv") == "Content-Security-Policy")
    for element, directive in {"script ": "script-src", "style ": "style-src"}.items():
        digest = re.search(rf"{directive} 'sha256-([^']+)'", policy)[1]
        assert b64decode(digest) == sha256(made.texts[element].encode()).digest()
    assert "default-src 'none'" in policy
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", made.texts["script "])


def test_a_title_and_data_may_hold_anything() -> None:
    data = ["</script>{{style}}", "</script >", "</script x"]
    text = page("<b>{{script}}</b>", json.dumps(data))
    assert "b" not in Elements(text).tags
    embedded, _, after = text.partition('id="data">')[2].partition("<")  # the first one must end the element
    assert json.loads(embedded) == data
    assert after.startswith("/script>")


@pytest.mark.parametrize("failing", [None, 0, 1, 7])
def test_studies_with_hardly_anything_in_them(failing: int | None) -> None:
    script = Script()
    script.opened(0.0)
    for number in range(failing or 0):
        script.asked(number, number)
        script.failed(number, number, number + 1.0, 0)
    if failing == 1:
        script.asked(1, 2.0)
        script.told(1, 2.0, 3.0, 0)
    text = report(script.record())
    (facts,) = json.loads(Elements(text).texts["script data"])
    assert facts["model"] is None
    assert facts["fronts"] == []
    assert len(facts["failures"]) == bool(failing)


def test_numbers_that_are_none_are_empty() -> None:
    optimizer = aegisbo.Optimizer(SPACE, seed=0)
    optimizer.tell(optimizer.ask(), 1e308)
    facts = facts_of(Record.of_optimizer(optimizer), {})
    json.dumps(facts, allow_nan=False)
    assert facts["trials"]["value"] == [1e308]


def test_texts_are_kept_once_and_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aegisbo.review.payload.ALL_TEXTS", 1000)
    optimizer = aegisbo.Optimizer(SPACE, seed=0)
    for number in range(6):
        trial = optimizer.ask()
        optimizer.fail(trial, "same" if number % 2 else f"{number}" * 400)
    facts = facts_of(Record.of_optimizer(optimizer), {})
    assert facts["texts"] == ["0" * 400, "same", "2" * 400]
    assert facts["trials"]["reason"] == [0, 1, 2, 1, None, 1]


# Colors.


def colors(block: str) -> dict[str, tuple[float, float, float]]:
    found = re.findall(r"--([\w]+): #([0-9a-f]{6});", block)
    return {name: tuple(int(code[k : k + 2], 16) / 255 for k in (0, 2, 4)) for name, code in found}


def luminance(color: tuple[float, float, float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


THEMES = re.findall(r"\{([^{}]*--page:[^{}]*--card:[^{}]*--ink[^{}]*)\}", STYLE)


def test_there_are_three_blocks_of_colors_and_both_dark_ones_are_alike() -> None:
    assert len(THEMES) == 3
    assert colors(THEMES[1]) == colors(THEMES[2])


@pytest.mark.parametrize("theme", THEMES)
def test_colors_can_be_told_from_what_lies_below(theme: str) -> None:
    known = colors(theme)
    for surface in ("page", "card"):
        for text in ("ink", "muted", "accent", "good", "note", "warning", "bad"):
            assert contrast(known[text], known[surface]) >= 4.5, (text, surface)
        for mark in (*(f"c{k}" for k in range(8)), "fail", "idle"):
            assert contrast(known[mark], known[surface]) >= 3.0, (mark, surface)


@pytest.mark.parametrize("theme", THEMES)
def test_letters_can_be_read_on_their_bars(theme: str) -> None:
    known = colors(theme)
    (black,) = re.findall(r"svg :is\(([^)]*)\) \{ fill: #000; \}", STYLE)
    for k in range(8):
        letter = (0.0, 0.0, 0.0) if f".on-c{k}" in black else known["card"]
        assert contrast(letter, known[f"c{k}"]) >= 4.5, k


# Patches.

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


def patched(old: Any, patch: Any) -> Any:
    """What the page makes of a patch."""
    if "$at" in patch:
        return [patched(item, patch["$at"][str(k)]) if str(k) in patch["$at"] else item for k, item in enumerate(old)]
    if "$keep" in patch:
        return [*old[: patch["$keep"]], *patch["$then"]]
    if "$set" in patch:
        kept = {name: value for name, value in old.items() if name not in patch["$drop"]}
        return {**kept, **{n: patched(kept[n], p) if n in kept else p["$new"] for n, p in patch["$set"].items()}}
    return patch["$new"]


@given(VALUES, VALUES)
def test_a_patch_leads_from_one_value_to_the_other(old: Any, new: Any) -> None:
    patch = patch_between(old, new)
    made = old if patch is None else patched(old, patch)
    assert json.dumps(made, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert patch_between(new, new) is None


def test_one_more_result_is_a_small_patch(tmp_path: Path) -> None:
    path = make_study(tmp_path / "run.db", 40, strategy="random")
    before = facts_of(Record.of_study(path), {})
    make_study(path, 41, strategy="random")
    after = facts_of(Record.of_study(path), {})
    size = len(json.dumps(patch_between(before["trials"], after["trials"])))
    assert size < 0.2 * len(json.dumps(after["trials"]))


def test_the_live_page_holds_no_data() -> None:
    assert Elements(page("aegisbo", LIVE)).texts["script data"] == "live"
