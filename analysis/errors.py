"""Errors of the analysis: mistakes in the command, and figures that cannot be drawn."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sweep.errors import one_line, printable


class AnalysisError(Exception):
    """A mistake in the command: one line with what was given, what is allowed and what to do next."""


class DrawingError(Exception):
    """A figure that these data cannot give; the message gives the reason and what would change it."""


def require_points(drawn: object) -> None:
    """Raise `DrawingError` where what a figure would draw is empty, 0 or false."""
    if not drawn:
        raise DrawingError("none of its points has been run yet: run the sweep to its end")


@contextmanager
def understood(where: str) -> Iterator[None]:
    """Turn whatever a dataset leads to that no sweep has written, or that is damaged, into one line.

    Raises
    ------
    AnalysisError
        In place of an error of any other kind, but those of the machine.
    """
    try:
        yield
    except (AnalysisError, DrawingError, MemoryError, OSError):
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        reason = f"{type(error).__name__}: {printable(one_line(error))[:200]}"
        raise AnalysisError(
            f"{where} is not as a sweep writes it ({reason}): run its command again, which writes it again "
            "from the logs; if that gives the same, report it with what python -X dev -m analysis prints"
        ) from None
