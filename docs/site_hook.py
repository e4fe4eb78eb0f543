"""How MkDocs sees this repository: pages lie where they lie in it, so that their links hold here and there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

ROOT = Path(__file__).parents[1]
PLACES = {"docs/index.md": "index.html", "README.md": "README.html"}  # the front page is not the README
SHOWN = (
    "*.md", "LICENSE", "CITATION.cff", "docs/**/*.md", "docs/images/*", "docs/theme/*", "docs/runs/*",
    "paper/README.md", "paper/docs/*.md", "paper/docs/images/*", "benchmarks/README.md",
    "examples/README.md", "examples/*.py", "examples/*.ipynb",
)  # fmt: skip


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name headings as GitHub does, and turn its ```math blocks into MathML, which browsers draw by themselves."""
    config.mdx_configs["toc"] = {"slugify": slugify(case="lower"), "permalink": True}
    math = {"name": "math", "class": "math", "format": lambda source, *_, **__: convert(source, display="block")}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [math]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The theme's files, and the repository's under their own paths."""
    theme = [file for file in files if file.src_dir != config.docs_dir]
    paths = sorted({path for pattern in SHOWN for path in ROOT.glob(pattern)})
    ours = (path.relative_to(ROOT).as_posix() for path in paths)
    pages = [File(uri, str(ROOT), config.site_dir, config.use_directory_urls, dest_uri=PLACES.get(uri)) for uri in ours]
    notebooks = [page_of(file, config) for file in ROOT.glob("examples/*.ipynb")]
    return Files([*theme, *pages, *notebooks])


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """The front page has the whole width."""
    if page.file.dest_uri == "index.html":
        page.meta["hide"] = ["navigation", "toc"]
    return markdown


def page_of(notebook: Path, config: MkDocsConfig) -> File:
    """A notebook as a page: its text, its code, what the code showed, and where the notebook itself is."""
    shown = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        shown.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        shown.extend(map(shown_by, cell.get("outputs", [])))
    shown.insert(1, f"*To run it yourself, [download this notebook]({notebook.name}).*")
    return File.generated(config, f"examples/{notebook.stem}.md", content="\n\n".join(shown))


def shown_by(output: dict[str, Any]) -> str:
    """A picture, a table or text, as a notebook would show it."""
    data = output.get("data", {"text/plain": output.get("text")})
    if "image/png" in data:
        width = output["metadata"]["image/png"]["width"]
        return f'<img alt="" width="{width}" src="data:image/png;base64,{data["image/png"]}">'
    table = "".join(data.get("text/html", []))
    if "<table" in table:
        plain = re.sub(r"<style.*?</style>|\n *|(?<=<table) [^>]*", "", table, flags=re.DOTALL)
        return f"<div>{plain}</div>"
    return f'<div class="shown" markdown>\n```text\n{"".join(data["text/plain"]).rstrip()}\n```\n</div>'
