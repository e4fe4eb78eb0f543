"""Pictures of a push: what they show is what happened, and the file is of the kind its name says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from aegis_paper.problems.push import PUSH8, Push
from aegis_paper.problems.push_picture import draw_push, trace

from aegisbo.errors import InvalidInput

pytest.importorskip("Box2D", reason="needs the extra: pip install 'aegis-paper[push]'", exc_type=ImportError)

X = np.array([-4.2, 1.8, 84, 5.3, 4, 0.2, 118, 2.2])
PUSH = PUSH8.function(3)


@pytest.fixture
def push() -> Push:
    assert isinstance(PUSH, Push)
    return PUSH


def test_a_trace_starts_at_the_start_and_ends_at_the_value(push: Push) -> None:
    record = trace(push, X)
    assert record.objects.shape == (1 + 118 + 100, 2, 2)
    np.testing.assert_allclose(record.objects[0], [[-3, 0], [3, 0]])
    np.testing.assert_allclose(record.hands[0], X.reshape(2, 4)[:, [0, 1, 3]], rtol=1e-6)
    assert np.linalg.norm(record.objects[-1] - push.targets, axis=1).sum() == pytest.approx(push(X), rel=1e-12)


def test_nothing_jumps(push: Push) -> None:
    """The commanded speed is 10 units a second, so in a hundredth of a second nothing goes farther than 0.2."""
    apart = np.array([-4.5, 2.5, 84, 5.3, 4.5, 1.7, 118, 2.2])  # no hand on a disc at first, which would be thrown out
    record = trace(push, apart)
    for way in (record.objects, record.hands[:, :, :2]):
        assert np.linalg.norm(np.diff(way, axis=0), axis=2).max() < 0.2


@pytest.mark.parametrize(
    ("ending", "magic"),
    [("png", b"\x89PNG"), pytest.param("gif", b"GIF89a", marks=pytest.mark.long), ("svg", b"<?xml")],
)
def test_pictures_are_of_the_kind_that_was_asked_for(push: Push, tmp_path: Path, ending: str, magic: bytes) -> None:
    file = tmp_path / f"push.{ending}"
    draw_push(push, np.array([-4.2, 1.8, 5, 5.3, 4, 0.2, 4, 2.2]), "push8#3", file)
    assert file.read_bytes().startswith(magic)


def test_other_endings_are_refused(push: Push, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'push\.txt' .* choose one of \.gif, \.pdf, \.png, \.svg"):
        draw_push(push, X, "push8#3", tmp_path / "push.txt")
