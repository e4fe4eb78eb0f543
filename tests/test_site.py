"""The pages of the site: every one is in the navigation, and every link between them leads somewhere.

Without MkDocs, which `make docs` brings: the same rules as on GitHub, where the pages are read as well.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LISTED = re.findall(r"- (?:[^:\n]+: )?(\S+\.md)$", ROOT.joinpath("mkdocs.yml").read_text("utf-8"), re.MULTILINE)
NAVIGATION = [
    re.sub(r"^(examples/[a-z_]+)\.md$", r"\1.ipynb", page) for page in LISTED
]  # what the site makes of notebooks
SOURCES = (
    "*.md",
    "docs/**/*.md",
    "paper/*.md",
    "paper/docs/*.md",
    "benchmarks/*.md",
    "examples/*.md",
    "examples/*.ipynb",
)
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def anchors_of(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(re.sub(r"`[^`\n]+`", "", BLOCK.sub("", page.read_text("utf-8")))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        elsewhere = link.startswith(("http:", "https:"))
        made = target.suffix == ".html" and target.with_suffix(".db").is_file()  # a report that `make docs` writes
        if not elsewhere and not made and (not target.is_file() or (anchor and anchor not in anchors_of(target))):
            broken.append(link)
    return broken


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [page.relative_to(ROOT).as_posix() for pattern in SOURCES for page in ROOT.glob(pattern)]
    assert sorted(NAVIGATION) == sorted(pages)


@pytest.mark.parametrize("page", NAVIGATION)
def test_links_lead_somewhere(page: str) -> None:
    assert broken_links(ROOT / page) == []


@pytest.mark.parametrize("page", NAVIGATION)
def test_links_have_titles_and_not_names_of_pages(page: str) -> None:
    assert re.findall(r"\[`?([\w/.-]+\.(?:md|ipynb))`?\]\(", ROOT.joinpath(page).read_text("utf-8")) == []


def test_the_checker_of_links_goes_red(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n## Slots: a GPU each\n```\n# no heading\n```\n", "utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#slots-a-gpu-each) [c](gone.md) [d](other.md#no-heading) [e](#f) `[g](h.md)`\n",
        "utf-8",
    )
    assert broken_links(page) == ["gone.md", "other.md#no-heading", "#f"]
