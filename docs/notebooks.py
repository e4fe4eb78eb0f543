"""Run notebooks, and store in them what their cells show: `make notebooks`, or this file with the notebooks' names.

Without Jupyter: a notebook is a list of cells in JSON, and ours use nothing of IPython's.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tempfile
import zlib
from base64 import b64encode
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from PIL import Image


def fingerprint(notebook: dict[str, Any]) -> int:
    """Of all code: other code would show something else."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return zlib.crc32(json.dumps(sources).encode())


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with what its cells show when they run in this folder."""
    names = {"__name__": "__main__"}
    for count, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
        cell["execution_count"], cell["outputs"] = count, _shown("".join(cell["source"]), names, count)
    notebook["metadata"]["outputs_of"] = fingerprint(notebook)
    return notebook


def _shown(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of the expression at its end."""
    body = ast.parse(source).body
    end = body.pop() if isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(end.value), "cell", "eval"), names) if isinstance(end, ast.Expr) else None
    shown: list[dict[str, Any]] = []
    if printed.getvalue():
        shown.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data, sizes = _forms(value)
        shown.append({"data": data, "execution_count": count, "metadata": sizes, "output_type": "execute_result"})
    return shown


def _forms(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A picture and its size, a table, or text: whatever the value can be shown as."""
    text = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_png_"):
        picture, size = value._repr_png_()
        return {"image/png": b64encode(small(picture)).decode(), **text}, {"image/png": size}
    if hasattr(value, "_repr_html_"):
        return {"text/html": value._repr_html_().splitlines(keepends=True), **text}, {}
    return text, {}


def small(picture: bytes) -> bytes:
    """A PNG with few colors, which takes a third of the place."""
    file = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(64).save(file, "png", optimize=True)
    return file.getvalue()


def main() -> None:
    """Run each notebook in an empty folder."""
    for file in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            notebook = run(json.loads(file.read_text("utf-8")))
        file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
