"""Theorem 6.3 and Lemmas 6.2 to 6.5 as properties of BUDDY's schedules, on every list of small machines.

Requirements are powers of two: BUDDY rounds others up. Times are whole numbers of T/J, and the denominator of
a height h is J / gcd(J, h). Segments on the ground have no odd numerator, and those at T take no more jobs:
they do not count.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise, product
from math import gcd

import numpy as np

from analysis.mccann1994.claims.schedules import Facts
from models.medium_term.boxes import Boxes
from models.medium_term.engine import make_boxes
from models.medium_term.policies import rules_of

BUDDY = {"schedule": "buddy_schedule", "groups": "smallest_first"}
SIZES = tuple(product((2, 4, 8, 16), (2, 4, 8)))
"""Processors and jobs."""

REARRANGED = 8
"""Processors up to which every rearrangement is tried."""

Tops = tuple[int, ...]
"""Height of a partial schedule at each processor."""


@cache
def _schedules() -> tuple[tuple[int, tuple[int, ...], Boxes], ...]:
    """Return processors, requirements and boxes of each list."""
    return tuple(
        (processors, minimum, make_boxes(rules_of(BUDDY), processors, np.array(minimum, np.int64)))
        for processors, n_jobs in SIZES
        for powers in [[1 << bit for bit in range(processors.bit_length())]]
        for minimum in combinations_with_replacement(powers, n_jobs)
    )


def _partial(processors: int, boxes: Boxes) -> Iterator[tuple[int, Tops]]:
    """Yield each job, the largest first, with the heights after it is placed."""
    tops = [0] * processors
    for job in range(boxes.unit - 1, -1, -1):
        x, width = int(boxes.x[job]), int(boxes.width[job])
        tops[x : x + width] = [int(boxes.y[job] + boxes.height[job])] * width
        yield job, tuple(tops)


def _feasible() -> Facts:
    right = 0
    for processors, minimum, boxes in _schedules():
        count = np.zeros((processors, boxes.unit), int)
        for x, y, width, height in zip(*boxes[1:], strict=True):
            count[x : x + width, y : y + height] += 1
        equal = boxes.width * boxes.height == processors
        right += bool((count == 1).all() and equal.all() and (boxes.width >= minimum).all())
    of = len(_schedules())
    return [(f"{right} of {of} schedules fill P × T with equal boxes of the jobs' requirements", right == of)]


def _everywhere(text: str, holds: Callable[[Boxes, int, Tops], bool], most: int = 16) -> Facts:
    """Return whether something holds after each job of each list, on up to `most` processors."""
    lists = [(processors, boxes) for processors, _, boxes in _schedules() if processors <= most]
    found = [holds(boxes, *after) for processors, boxes in lists for after in _partial(processors, boxes)]
    return [(f"{text} in {sum(found)} of {len(found)} partial schedules", all(found))]


def _denominators(boxes: Boxes, tops: Tops) -> list[int]:
    """Return the denominator of each height of the frontier; equal heights are one segment by Lemma 6.2."""
    return [boxes.unit // gcd(top, boxes.unit) for top in set(tops) if 0 < top < boxes.unit]


def _staircase(boxes: Boxes, job: int, tops: Tops) -> bool:
    return all(here >= there for here, there in pairwise(tops))


def _unique(boxes: Boxes, job: int, tops: Tops) -> bool:
    found = _denominators(boxes, tops)
    return len(set(found)) == len(found)


def _below(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Return whether a box begins at h - 1/2^x, below each processor of a segment of height h = C/2^x."""
    begins = {
        (x, int(boxes.y[box]))
        for box in range(job, boxes.unit)
        for x in range(boxes.x[box], boxes.x[box] + boxes.width[box])
    }
    return all(
        (x, top - gcd(top, boxes.unit)) in begins for x, top in enumerate(tops) if 0 < top < boxes.unit
    )


def _not_rearranged(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Return whether, wherever the same boxes lie, some height has the largest denominator or one beyond."""
    placed = zip(boxes.width[job:][::-1].tolist(), boxes.height[job:][::-1].tolist(), strict=True)
    largest = max(_denominators(boxes, tops), default=1)
    others = _arrangements(len(tops), boxes.unit, tuple(placed))
    return all(max(_denominators(boxes, other), default=1) >= largest for other in others)


@cache
def _arrangements(processors: int, most: int, placed: tuple[tuple[int, int], ...]) -> frozenset[Tops]:
    """Return the heights of all arrangements of some boxes, each on any neighbouring processors."""
    if not placed:
        return frozenset({(0,) * processors})
    width, height = placed[-1]
    return frozenset(
        tuple(top + height * (x <= place < x + width) for place, top in enumerate(tops))
        for tops in _arrangements(processors, most, placed[:-1])
        for x in range(processors - width + 1)
        if max(tops[x : x + width]) + height <= most
    )


FACTS: Mapping[str, Callable[[], Facts]] = {
    "feasible": _feasible,
    "staircase": partial(_everywhere, "no segment is higher than the one to its left", _staircase),
    "unique": partial(_everywhere, "no two segments have the same denominator", _unique),
    "below": partial(_everywhere, "allocations of 1/2^x lie below each segment of height C/2^x", _below),
    "not_rearranged": partial(
        _everywhere, "no other arrangement has smaller denominators only", _not_rearranged, REARRANGED
    ),
}
