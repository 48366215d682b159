"""The halving of a mesh along its rows and columns in turns, as folding does it (McCann 1994, 4.4.1)."""

from functools import lru_cache

ROWS, COLUMNS = 0, 1


@lru_cache(maxsize=64)
def splits(rows: int, columns: int) -> tuple[int, ...]:
    """Return which dimension each halving divides (`ROWS` or `COLUMNS`), down to single processors."""
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
