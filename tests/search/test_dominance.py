"""The sorted algorithms against the quadratic definitions, with many ties and copies."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aegisbo.search import dominance

GRID = st.integers(-3, 3).map(float)  # ties and copies
REALS = st.floats(-1e6, 1e6)


def rows(entries, most=40):
    return st.lists(st.tuples(entries, entries), max_size=most).map(lambda pairs: np.array(pairs).reshape(-1, 2))


OBJECTIVES = rows(GRID) | rows(REALS, most=15) | rows(st.sampled_from([0.0, -0.0, 5e-324, 1.0]))
thoroughly = settings(deadline=None, max_examples=200)


def dominated(F):
    """(m,), by definition: some row is nowhere larger and somewhere smaller."""
    nowhere_larger = (F[:, None, :] <= F[None, :, :]).all(axis=2)
    somewhere_smaller = (F[:, None, :] < F[None, :, :]).any(axis=2)
    return (nowhere_larger & somewhere_smaller).any(axis=0)


def peel(F):
    """(m,), by definition: front k is what is not dominated once the fronts before it are gone."""
    result = np.full(len(F), -1)
    for front in range(len(F)):
        left = np.flatnonzero(result < 0)
        result[left[~dominated(F[left])]] = front
    return result


def crowding_of_front(F):
    """(m,), by definition: per objective, sort and add the relative gap between both neighbors."""
    m = len(F)
    result = np.zeros(m)
    for j, tie in ((0, 1), (1, -1)):  # copies keep their order along the front, on which objective 1 falls
        order = sorted(range(m), key=lambda i: (F[i, j], tie * i))
        extent = F[order[-1], j] - F[order[0], j]
        for k in range(1, m - 1):
            if extent > 0:
                result[order[k]] += (F[order[k + 1], j] - F[order[k - 1], j]) / extent
        result[[order[0], order[-1]]] = np.inf
    return result


@thoroughly
@given(OBJECTIVES)
def test_ranks_peel_front_after_front(F):
    np.testing.assert_array_equal(dominance.ranks(F), peel(F))


@thoroughly
@given(OBJECTIVES)
def test_crowding_is_its_definition_on_every_front(F):
    fronts = peel(F)
    expected = np.zeros(len(F))
    for front in set(fronts):
        members = fronts == front
        expected[members] = crowding_of_front(F[members])
    np.testing.assert_allclose(dominance.crowding(F, fronts), expected, rtol=1e-12)


def test_many_rows_agree_with_the_definition():
    F = np.random.default_rng(0).integers(0, 40, (300, 2)).astype(float)
    np.testing.assert_array_equal(dominance.ranks(F), peel(F))


def test_a_front_of_copies_has_two_ends_and_no_room_between():
    F = np.tile([2.0, -7.0], (5, 1))
    np.testing.assert_array_equal(dominance.crowding(F, dominance.ranks(F)), [np.inf, 0.0, 0.0, 0.0, np.inf])
