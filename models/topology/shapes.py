"""The most even sides of a number of processors."""

from math import isqrt


def most_even(processors: int, dimensions: int = 2) -> tuple[int, ...]:
    """Return sides whose product is `processors`, growing, with the smallest sum there is.

    Two sides are those nearest to a square. Takes O(√processors) time for two, and as much for each divisor
    up to the cube root for three.

    Examples
    --------
    >>> most_even(32), most_even(7), most_even(32, 3)
    ((4, 8), (1, 7), (2, 4, 4))
    """
    if dimensions == 1:
        return (processors,)
    shapes = []
    for side in range(1, isqrt(processors) + 1):
        if side**dimensions <= processors and processors % side == 0:
            rest = most_even(processors // side, dimensions - 1)
            if side <= rest[0]:
                shapes.append((side, *rest))
    return min(shapes, key=sum)
