"""Evaluating in blocks changes nothing but the number of calls."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.numerics import blocks
from aegisbo.numerics.blocks import ROWS, by_blocks

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
    assert max(map(len, seen)) <= ROWS
    assert len(seen) == max(1, -(-m // ROWS))


def test_the_answer_does_not_depend_on_the_block_size(monkeypatch):
    Z = lopsided_box(23)
    for rows in (1, 2, 22, 23, 24):
        monkeypatch.setattr(blocks, "ROWS", rows)
        np.testing.assert_array_equal(by_blocks(lambda block: block.sum(axis=1), Z), Z.sum(axis=1))
