"""What is said to a user whose log cannot be used."""

from __future__ import annotations


class SwfError(ValueError):
    """A log that cannot be used as asked: one clear line with the file, the line number and what to do."""
