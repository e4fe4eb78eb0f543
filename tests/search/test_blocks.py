"""Evaluating in blocks changes nothing but the number of calls."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.search import blocks
from aegisbo.search.blocks import ROWS, by_blocks

SIZES = [0, 1, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS - 1, 2 * ROWS, 2 * ROWS + 1, 5 * ROWS + 7]


def lopsided_box(m, dtype=np.float64):
    """(m, 2) points of [-5, 10] x [2, 3], no two alike."""
    return (np.array([-5.0, 2.0]) + np.random.default_rng(m).random((m, 2)) * np.array([15.0, 1.0])).astype(dtype)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_equal_the_whole(m, dtype):
    Z = lopsided_box(m, dtype)
    for evaluate in (lambda Z: Z[:, 0] - Z[:, 1] ** 2, lambda Z: Z * Z[:, :1]):  # (m,) and (m, 2)
        blocked = by_blocks(evaluate, Z)
        assert blocked.dtype == dtype
        np.testing.assert_array_equal(blocked, evaluate(Z))


@pytest.mark.parametrize("m", SIZES)
def test_every_row_is_evaluated_once_in_order_and_few_at_a_time(m):
    Z, seen = lopsided_box(m), []
    by_blocks(lambda block: seen.append(block) or block[:, 0], Z)
    np.testing.assert_array_equal(np.concatenate(seen), Z)
    assert max(map(len, seen)) <= ROWS + 1
    assert len(seen) == max(1, -(-(m - 1) // ROWS))


@pytest.mark.parametrize("rows", [2, 3, 4, 20])
@pytest.mark.parametrize("m", [2, 3, 4, 5, 9, 20, 21, 22, 41, 61])
def test_no_single_row_is_left_over(m, rows):
    sizes = []
    by_blocks(lambda block: sizes.append(len(block)) or block[:, 0], lopsided_box(m), rows)
    assert min(sizes) >= 2
    assert max(sizes) <= rows + 1


def test_blocks_multiply_as_the_whole_does():
    # A single row would go to another routine of NumPy's, which rounds differently.
    waves = np.random.default_rng(0).standard_normal((2, 1000))
    for m in (20, 21, 40, 41, 61):
        Z = lopsided_box(m)
        np.testing.assert_array_equal(by_blocks(lambda block: block @ waves, Z, 20), Z @ waves)


def test_the_answer_does_not_depend_on_the_block_size(monkeypatch):
    Z = lopsided_box(23)
    for rows in (1, 2, 22, 23, 24):
        monkeypatch.setattr(blocks, "ROWS", rows)
        np.testing.assert_array_equal(by_blocks(lambda block: block.sum(axis=1), Z), Z.sum(axis=1))
