"""Theorem 6.3 and Lemmas 6.1 to 6.5 as properties of BUDDY's schedules, on every list of small machines.

Lists have requirements that are powers of two: BUDDY rounds others up. Times are in units of T/J, so that all
are whole numbers; the denominator of a height h is J / gcd(J, h). A frontier still on the ground has no odd
numerator, and one at T takes no more jobs: neither counts as a segment.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
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

REARRANGED = tuple(product((2, 4, 8), (2, 4, 8)))
"""The same where every rearrangement is tried."""

Tops = tuple[int, ...]
"""Height of a partial schedule at each processor."""


@cache
def _schedules(sizes: Sequence[tuple[int, int]]) -> tuple[tuple[int, tuple[int, ...], Boxes], ...]:
    """Return processors, requirements and boxes of each list."""
    return tuple(
        (processors, minimum, make_boxes(rules_of(BUDDY), processors, np.array(minimum, np.int64)))
        for processors, n_jobs in sizes
        for minimum in combinations_with_replacement(
            [1 << bit for bit in range(processors.bit_length())], n_jobs
        )
    )


def _partial(processors: int, boxes: Boxes) -> Iterator[tuple[int, Tops]]:
    """Yield each job, the largest first, with the heights after it is placed."""
    tops = [0] * processors
    for job in range(boxes.unit - 1, -1, -1):
        x, width = int(boxes.x[job]), int(boxes.width[job])
        tops[x : x + width] = [int(boxes.y[job] + boxes.height[job])] * width
        yield job, tuple(tops)


def _segments(tops: Tops, most: int) -> list[int]:
    """Return the heights of the frontier's segments, from left to right."""
    heights = [tops[0], *(there for here, there in pairwise(tops) if here != there)]
    return [height for height in heights if 0 < height < most]


def _denominator(height: int, most: int) -> int:
    return most // gcd(height, most)


def _feasible() -> Facts:
    right = [_tiles(*one) for one in _schedules(SIZES)]
    return [
        (
            f"{sum(right)} of {len(right)} schedules fill P × T with equal boxes of the jobs' requirements",
            all(right),
        )
    ]


def _tiles(processors: int, minimum: tuple[int, ...], boxes: Boxes) -> bool:
    count = np.zeros((processors, boxes.unit), int)
    for x, y, width, height in zip(boxes.x, boxes.y, boxes.width, boxes.height, strict=True):
        count[x : x + width, y : y + height] += 1
    equal = (boxes.width * boxes.height == processors).all()
    return bool((count == 1).all() and equal and (boxes.width >= minimum).all())


def _everywhere(
    text: str, holds: Callable[[Boxes, int, Tops], bool], sizes: Sequence[tuple[int, int]] = SIZES
) -> Facts:
    """Return whether something holds after each job of each list."""
    found = [holds(boxes, job, tops) for P, _, boxes in _schedules(sizes) for job, tops in _partial(P, boxes)]
    return [(f"{text} in {sum(found)} of {len(found)} partial schedules", all(found))]


def _forces(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Lemma 6.1: above each segment of height C/2^x one of the later boxes is 1/2^x high at most."""
    return all(
        any(
            boxes.x[later] <= x < boxes.x[later] + boxes.width[later]
            and _denominator(int(boxes.height[later]), boxes.unit) >= _denominator(top, boxes.unit)
            for later in range(job)
        )
        for x, top in enumerate(tops)
        if 0 < top < boxes.unit
    )


def _staircase(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Lemma 6.2: no segment is higher than the one to its left."""
    return all(here >= there for here, there in pairwise(tops))


def _unique(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Lemma 6.3: no two segments have the same denominator."""
    found = [_denominator(height, boxes.unit) for height in _segments(tops, boxes.unit)]
    return len(set(found)) == len(found)


def _below(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Lemma 6.4: below a segment of height C/2^x lie allocations with a combined height of 1/2^x."""
    return all(
        any(
            boxes.x[box] <= x < boxes.x[box] + boxes.width[box]
            and boxes.y[box] == top - boxes.unit // _denominator(top, boxes.unit)
            for box in range(job, boxes.unit)
        )
        for x, top in enumerate(tops)
        if 0 < top < boxes.unit
    )


def _not_rearranged(boxes: Boxes, job: int, tops: Tops) -> bool:
    """Lemma 6.5: wherever the same boxes lie, some height keeps the largest denominator or one beyond it."""
    placed = tuple(
        (int(boxes.width[box]), int(boxes.height[box])) for box in range(boxes.unit - 1, job - 1, -1)
    )
    largest = max((_denominator(top, boxes.unit) for top in tops), default=1)
    return all(
        max(_denominator(top, boxes.unit) for top in other) >= largest
        for other in _arrangements(len(tops), boxes.unit, placed)
    )


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
    "forces": lambda: _everywhere("a later box is at most as high as each segment forces", _forces),
    "staircase": lambda: _everywhere("no segment is higher than the one to its left", _staircase),
    "unique": lambda: _everywhere("no two segments have the same denominator", _unique),
    "below": lambda: _everywhere("allocations of 1/2^x lie below each segment of height C/2^x", _below),
    "not_rearranged": lambda: _everywhere(
        "no other arrangement has smaller denominators only", _not_rearranged, REARRANGED
    ),
}  # fmt: skip
