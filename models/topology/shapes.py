"""The shape of a machine: the sides of a number of processors, and the halving of a mesh."""

from functools import lru_cache
from math import isqrt

from models import checks
from models.jobs.machine import MOST_PROCESSORS, of, sides
from models.point import Parameters

ROWS, COLUMNS = 0, 1


def most_even(processors: int, dimensions: int = 2) -> tuple[int, ...]:
    """Return sides whose product is `processors`, ascending, with the smallest possible sum.

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


def sides_of(
    machine: Parameters, shape: str, needed: str, example: str, dimensions: int = 2
) -> tuple[int, ...]:
    """Return the sides of a machine's YAML file: as given, or the most even ones of its processors.

    Parameters
    ----------
    shape : {"mesh", "torus"}
    needed, example : str
        What a policy does with the machine, ``partitions one mesh``; and sides, for the message.

    Raises
    ------
    ValueError
        With one line that names what is allowed.
    """
    if machine.get(shape) is not None:
        of(machine)  # refuses other processors or hosts beside the shape
        return sides(machine, shape)
    for key, what in (("hosts", "hosts"), ("mesh", "a mesh"), ("torus", "a torus")):
        if machine.get(key) is not None:
            raise ValueError(
                f"machine {machine.get('name', '')} has {what}, and this policy {needed}; "
                f"add machine.{key}=null machine.{shape}=ROWSxCOLUMNS, for instance {example}"
            )
    allowed = f"a positive whole number of processors, or machine.{shape}, e.g. {example}"
    return most_even(
        checks.whole(machine, "machine", "processors", allowed, most=MOST_PROCESSORS), dimensions
    )


@lru_cache(maxsize=64)
def splits(rows: int, columns: int) -> tuple[int, ...]:
    """Return which dimension each halving divides (`ROWS` or `COLUMNS`), down to single processors.

    Rows and columns take turns, as folding does it (McCann 1994, 4.4.1).
    """
    left = [rows.bit_length() - 1, columns.bit_length() - 1]
    axis = ROWS if rows >= columns else COLUMNS
    found = []
    while any(left):
        if not left[axis]:
            axis = 1 - axis
        found.append(axis)
        left[axis] -= 1
        axis = 1 - axis
    return tuple(found)
