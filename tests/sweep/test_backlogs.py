"""Backlogs of many runs come out of their arrays as they were put in."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.saturation import PARTS, Backlog
from sweep.store.backlogs import Backlogs, decoded, encoded

LEVEL, SHORTFALL = np.linspace(1.0, 2.0, PARTS), np.linspace(0.0, 1e-3, PARTS)
UNKNOWN = np.full(PARTS, np.nan)

CASES = {
    "usual": Backlog(LEVEL, SHORTFALL),
    "load not known": Backlog(LEVEL, UNKNOWN),
    "some of it not known": Backlog(LEVEL, np.where(np.arange(PARTS) == 2, np.nan, SHORTFALL)),
    "suspected": Backlog(LEVEL, SHORTFALL, suspected=True, length=4),
    "overflowed": Backlog(LEVEL, SHORTFALL, overflowed=True),
    "made anew and not suspected": Backlog(LEVEL, SHORTFALL, length=4),
    "of other parts": Backlog(LEVEL[:3], SHORTFALL[:3]),
    "of no parts": Backlog(LEVEL[:0], SHORTFALL[:0]),
    "level not known": Backlog(UNKNOWN, SHORTFALL),
    "solved": Backlog.solved(True),
}


def same(one, other):
    if one is None or other is None:
        return one is other
    arrays = [(a.level, a.shortfall) for a in (one, other)]
    rest = [(a.suspected, a.overflowed, a.length) for a in (one, other)]
    return rest[0] == rest[1] and all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(*arrays, strict=True)
    )


@pytest.mark.parametrize("case", CASES)
def test_what_was_put_in_comes_out(case):
    logged = encoded(CASES[case])
    assert isinstance(json.loads(logged), dict)
    kept = Backlogs(3)
    assert kept[1] is None
    kept.put(1, logged)
    assert same(kept[1], decoded(logged))
    assert kept.suspected.tolist() == [False, CASES[case].suspected, False]
    assert kept[0] is None
    assert kept[2] is None


@given(st.lists(st.floats(width=64), max_size=8), st.lists(st.floats(width=64), max_size=8))
def test_six_digits_of_every_number_come_back(level, shortfall):
    """As rounded one by one; of a share that is no number nothing is known."""
    back = decoded(encoded(Backlog(np.array(level), np.array(shortfall), suspected=True)))
    for values, found in ((level, back.level), (shortfall, back.shortfall)):
        np.testing.assert_array_equal(found, [float(f"{value:.6g}") for value in values])
    assert (back.suspected, back.overflowed, back.length) == (True, False, 1)


def test_the_latest_counts():
    kept = Backlogs(1)
    for case in [*CASES, *reversed(CASES)]:
        kept.put(0, encoded(CASES[case]))
        assert same(kept[0], decoded(encoded(CASES[case]))), case
        assert kept.suspected[0] == CASES[case].suspected
    kept.put(0, None)
    assert kept[0] is None
    assert not kept.suspected[0]
