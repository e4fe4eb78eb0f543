"""Draw the figures of docs/gallery.md by the lines that are printed there: part of `make notebooks`."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path

from notebooks import small

DOCS = Path(__file__).parent


def draw(folder: Path) -> list[Path]:
    """The figures, in a folder."""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", DOCS.joinpath("gallery.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    shutil.copy(DOCS / "runs" / "digits.db", folder)
    with chdir(folder):
        exec("".join(blocks), {})
    return sorted(folder.glob("*.png"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for figure in draw(Path(folder)):
            DOCS.joinpath("images", figure.name).write_bytes(small(figure.read_bytes()))
