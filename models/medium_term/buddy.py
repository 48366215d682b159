"""BUDDY: allocations of powers of two, as narrow as the boxes below permit (McCann 1994, section 6.3).

With P, J and all allocations powers of two and T/J as the unit of time, a box of w processors is P/w units
high. Fig. 6.3 always works on the segment of the frontier whose height has the largest denominator, so that
it finishes a strip of processors up to the next multiple of a power of two before it moves on: a recursion.
The figure is corrected in two places, as the text around it implies: ``max_height_exp`` is log2(J/P) *plus*
``min_width_exp``, and ``Update_frontier`` adds the height of a box to the frontier once.
"""

from numba import int64

from models.arrays import Ints
from models.kernels.compiling import kernel, part
from models.kernels.types import INTS
from models.medium_term.boxes import BOXES, FILL, Boxes


@part(int64(int64, INTS, int64, int64, int64, int64, int64, BOXES), inline=False)
def fill(
    processors: int, minimum: Ints, job: int, left: int, strip: int, bottom: int, rise: int, boxes: Boxes
) -> int:
    """Fill a rectangle with the largest remaining jobs, and return the next job. O(jobs x log P).

    Parameters
    ----------
    processors : int
        P, a power of two.
    minimum : ndarray of int64, shape (n_jobs,)
        Ascending.
    job : int
        The first to be placed; `job` - 1 comes next.
    left, strip : int
        First processor and width of the rectangle.
    bottom, rise : int
        Start and height of the rectangle. No box on its bottom may be higher than `rise`, a power of two:
        this is the height that the frontier forces (Lemma 6.1).
    boxes : Boxes
        The boxes that are filled in.
    """
    right = left + strip
    while left < right:
        narrowest = 1
        while narrowest < minimum[job]:
            narrowest *= 2
        top = min(processors // narrowest, rise)
        columns = processors // top
        boxes.x[job], boxes.y[job] = left, bottom
        boxes.width[job], boxes.height[job] = columns, top
        job -= 1
        while top < rise:  # at a height of `top`, the frontier forces boxes of at most that height
            job = fill(processors, minimum, job, left, columns, bottom + top, top, boxes)
            top *= 2
        left += columns
    return job


@kernel(FILL)
def buddy(processors: int, sizes: Ints, minimum: Ints, boxes: Boxes) -> None:
    """Make the BUDDY schedule of each group in turn; a group of g jobs lasts for g/J of T."""
    job, bottom = len(minimum) - 1, 0
    for size in sizes:
        job = fill(processors, minimum, job, 0, processors, bottom, size, boxes)
        bottom += size
