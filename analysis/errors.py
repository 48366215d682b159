"""Errors of the analysis: mistakes in the command, and figures that cannot be drawn."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sweep.errors import one_line, printable


class AnalysisError(Exception):
    """A mistake in the command: one line that gives the argument, the allowed values and the next step."""


class DrawingError(Exception):
    """A figure that cannot be drawn from these data; the message gives the reason and what would help."""


def require_points(drawn: object) -> None:
    """Raise `DrawingError` if the content of a figure is empty, 0 or false."""
    if not drawn:
        raise DrawingError("none of its points has been run yet: run the sweep command again")


@contextmanager
def in_one_line(where: str) -> Iterator[None]:
    """Turn any error of a dataset that is damaged, or that no sweep has written, into one line.

    Raises
    ------
    AnalysisError
        In place of any other error, except errors of the machine.
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
            f"{where} cannot be read ({reason}): run its command again, which rebuilds it from the logs; "
            "if the error persists, report it with the output of python -X dev -m analysis"
        ) from None
