"""The figures of docs/gallery.md are those that its lines draw: else `make notebooks`. Its report can be written."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from printed_page import DOCS

from aegisbo import load

STUDY = DOCS / "runs" / "digits.db"


def test_the_run_that_the_site_shows_opens_and_is_what_the_page_says() -> None:
    result = load(STUDY)
    assert (result.nfev, result.failures) == (60, {"Stopped at trial_timeout=5.": 2})


@pytest.mark.long
def test_the_figures_are_drawn_by_the_lines_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    drawn = runpy.run_path(str(DOCS / "gallery.py"))["draw"](tmp_path)
    assert {file.name for file in drawn} == set(
        re.findall(r"images/(gallery-.*)\)", DOCS.joinpath("gallery.md").read_text())
    )
    for file in drawn:
        new, stored = (np.asarray(Image.open(each).convert("L"), float) for each in (file, DOCS / "images" / file.name))
        assert new.shape == stored.shape, file.name
        assert np.abs(new - stored).mean() < 2, file.name  # of 255
