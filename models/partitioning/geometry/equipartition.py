"""Equipartition: rectangles of nearly equal size, each with a power of two on one side (section 4.3.1).

Names follow the paper for a mesh of 2^M rows and 2^N columns. The *regular section* is 2^X rows of Y
partitions; the *remainder section*, beside it, is one column of the other W partitions.

The text leaves three points open; they are chosen here:

- Orientation. With 2^k ≤ J < 2^(k+1) jobs and odd k, the 2^X rows divide the machine's larger dimension
  (its rows, if it is square, as in the text's example with 11 jobs); with even k everything is transposed.
  In this order the remainder section fills up until it is one more column of the regular section, from each
  J to the next and over powers of two.
- X is ⌈k/2⌉. On a long machine these rows may not fit, or leave too few columns: then the nearest X that
  fits is taken. On a single row or column of processors all partitions may be in the remainder section.
- A partition of the remainder section has at least one column, even if the formulas give less.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from models.topology.mesh import Rectangle, is_power_of_two, require_room


class Offer(NamedTuple):
    """Processors per job of a section, before and after it takes leftover columns.

    The regular section's numbers describe its narrowest column of partitions, which would take one more
    column; the remainder section would take one, or double where its width has to be a power of two.
    """

    regular: float
    wider_regular: float
    remainder: float
    wider_remainder: float
    fair: float


LEFTOVER: dict[str, Callable[[Offer], bool]] = {
    "smallest": lambda offer: offer.remainder < offer.regular,
    "smallest_remainder": lambda offer: offer.remainder <= offer.regular,
    "fair_share": lambda offer: (
        abs(offer.wider_remainder - offer.fair) < abs(offer.wider_regular - offer.fair)
    ),
    "regular": lambda offer: False,
    "remainder": lambda offer: True,
}
"""Rules for columns left over ("in a greedy manner"): does the remainder section take them?

All give the text's example with 11 jobs and differ for others. They are applied only where both sections can
take columns.

smallest : the section whose partitions are smaller; equal ones: the regular section. The default.
smallest_remainder : the same, but of equal ones the remainder section
fair_share : the section whose wider partition is closer to the fair share, 2^(M+N) / J
regular : the regular section, always
remainder : the remainder section, wherever there are columns enough
"""

DEFAULT_LEFTOVER = "smallest"


class Sections(NamedTuple):
    """The numbers that describe an equipartition, in its own orientation.

    rows : 2^X, rows of partitions in the regular section
    widths : processor columns of each of its Y columns of partitions
    remainder : W, partitions of the remainder section
    remainder_width : Z_m, processor columns of that section; 0 if there is none
    transposed : whether rows are the machine's columns
    """

    rows: int
    widths: tuple[int, ...]
    remainder: int
    remainder_width: int
    transposed: bool


def partition(rows: int, columns: int, jobs: int, leftover: str = DEFAULT_LEFTOVER) -> list[Rectangle]:
    """Divide a mesh among jobs by EQUI; EQUI+ has the same partitions.

    Parameters
    ----------
    rows, columns : int
        Processors of the machine, powers of two (2^M and 2^N).
    jobs : int
        From 1 to the number of processors (J).
    leftover : str
        One of `LEFTOVER`.

    Returns
    -------
    list of Rectangle, length `jobs`
        Job by job: the regular section column by column, then the remainder section. Work is O(jobs + rows +
        columns).

    Raises
    ------
    ValueError
        If a side is not a power of two, there are more jobs than processors, or the rule is unknown.

    Examples
    --------
    >>> [(p.height, p.width) for p in partition(16, 16, 3)]
    [(8, 11), (8, 11), (16, 5)]
    """
    found = sections(rows, columns, jobs, leftover)
    across = columns if found.transposed else rows
    height, left = across // found.rows, 0
    partitions = []
    for width in found.widths:
        partitions += [Rectangle(top, left, height, width) for top in range(0, across, height)]
        left += width
    ends = [across * w // found.remainder for w in range(found.remainder + 1)] if found.remainder else []
    for top, end in pairwise(ends):
        partitions.append(Rectangle(top, left, end - top, found.remainder_width))
    return [p.transposed() for p in partitions] if found.transposed else partitions


def sections(rows: int, columns: int, jobs: int, leftover: str = DEFAULT_LEFTOVER) -> Sections:
    """Return the numbers on which `partition` is based, with the same parameters and errors."""
    require_room(rows, columns, jobs)
    if leftover not in LEFTOVER:
        raise ValueError(f"policy.leftover={leftover}; allowed: {', '.join(LEFTOVER)}")
    k = jobs.bit_length() - 1
    transposed = (rows < columns) == (k % 2 == 1)
    across, along = (columns, rows) if transposed else (rows, columns)
    # From here on 2^M is `across` and 2^N is `along`.
    fewest = (jobs - 1).bit_length() - (along.bit_length() - 1)
    x = min(max((k + 1) // 2, fewest), across.bit_length() - 1)
    n_rows = 2**x
    n_columns, remainder = divmod(jobs, n_rows)
    width = along * n_rows // jobs  # Z_g; as printed it lacks the division by 2^(M-X) J
    share = along * remainder // jobs
    flexible = is_power_of_two(remainder)
    if remainder == 0:
        remainder_width = 0
    elif flexible:
        remainder_width = max(share, 1)
    else:
        remainder_width = 2 ** (max(share, 1).bit_length() - 1)  # equation 4.2
    extra = 0  # columns beyond Z_g in the regular section, one for each column of partitions in turn
    left = along - width * n_columns - remainder_width
    while left:
        step = 1 if flexible else remainder_width
        narrowest = width + extra // max(n_columns, 1)
        offer = Offer(
            regular=across // n_rows * narrowest,
            wider_regular=across // n_rows * (narrowest + 1),
            remainder=across * remainder_width / max(remainder, 1),
            wider_remainder=across * (remainder_width + step) / max(remainder, 1),
            fair=across * along / jobs,
        )
        if n_columns == 0 or (0 < step <= left and LEFTOVER[leftover](offer)):
            remainder_width += step
            left -= step
        else:
            extra += 1
            left -= 1
    each, more = divmod(extra, n_columns) if n_columns else (0, 0)
    widths = (width + each + 1,) * more + (width + each,) * (n_columns - more)
    return Sections(n_rows, widths, remainder, remainder_width, transposed)
