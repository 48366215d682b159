"""Medium-term scheduling written down as the paper has it, slow and without cleverness, to test against."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, log2

Placed = tuple[int, Fraction, int, Fraction]
"""First processor, start, processors, duration; times as fractions of T."""


def buddy(processors: int, minimum: Sequence[int]) -> list[Placed]:
    """BUDDY of Fig. 6.3, line by line, with its two misprints mended; `minimum` is ascending."""
    n_jobs = len(minimum)
    frontier = {0: Fraction(0)}  # first processor of a segment -> its height; ends where the next begins
    boxes: dict[int, Placed] = {}
    for j in range(n_jobs - 1, -1, -1):
        min_width_exp = ceil(log2(minimum[j]))
        max_height_exp = int(log2(Fraction(n_jobs, processors))) + min_width_exp
        unfinished = [x for x, height in frontier.items() if height < 1]
        x = min(unfinished, key=lambda x: (-frontier[x].denominator, x))
        min_seg_exp = int(log2(frontier[x].denominator))
        exp = max(max_height_exp, min_seg_exp)
        width, height = int(processors * Fraction(2) ** exp / n_jobs), 1 / Fraction(2) ** exp
        boxes[j] = (x, frontier[x], width, height)
        right = min((other for other in frontier if other > x), default=processors)
        if x + width < right:
            frontier[x + width] = frontier[x]
        frontier[x] += height
        before = max((other for other in frontier if other < x), default=None)
        if before is not None and frontier[before] == frontier[x]:
            del frontier[x]
    return [boxes[j] for j in range(n_jobs)]


def tilings(processors: int, n_jobs: int, widths: Sequence[int]) -> set[tuple[int, ...]]:
    """All sets of widths, ascending, whose boxes of equal area tile processors x T: box after box."""
    found = set()

    def go_on(tops: list[Fraction], placed: tuple[int, ...]) -> None:
        lowest = min(tops)
        if lowest == 1:
            found.add(tuple(sorted(placed)))
            return
        x = tops.index(lowest)
        for width in widths:
            top = lowest + Fraction(processors, n_jobs * width)
            if top <= 1 and tops[x : x + width] == [lowest] * width:
                go_on([*tops[:x], *[top] * width, *tops[x + width :]], (*placed, width))

    go_on([Fraction(0)] * processors, ())
    return found


def is_valid(processors: int, boxes: Sequence[Placed], minimum: Sequence[int]) -> bool:
    """Whether equal boxes, none under its minimum, have all processors at any time, each once."""
    equal = {width * height for _, _, width, height in boxes} == {Fraction(processors, len(boxes))}
    served = all(box[2] >= least for box, least in zip(boxes, minimum, strict=True))
    return equal and served and all(
        sorted(p for x, y, width, height in boxes if y <= now < y + height for p in range(x, x + width))
        == list(range(processors))
        for now in {y for _, y, _, _ in boxes}
    )  # fmt: skip


def fewest_epochs(processors: int, minimum: Sequence[int]) -> int:
    """The fewest groups into which jobs can be divided so that each is an epoch of equal shares."""
    return min(
        len(groups)
        for groups in partitions(list(minimum))
        if all(processors % len(group) == 0 and max(group) * len(group) <= processors for group in groups)
    )


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """All divisions of a list into groups."""
    if not items:
        yield []
        return
    for groups in partitions(items[1:]):
        yield [[items[0]], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], [items[0], *group], *groups[i + 1 :]]
