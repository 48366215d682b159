"""The error of a slurm.conf that cannot be used."""

import difflib
from collections.abc import Callable, Collection
from typing import Any


class ConfigurationError(ValueError):
    """One line: the file and the line of the mistake, what is allowed, and what to do."""


def parsed(where: str, key: str, text: str, parse: Callable[[str], Any]) -> Any:
    """Return a parsed value; `ConfigurationError` with what `parse` says is allowed."""
    try:
        return parse(text)
    except ValueError as expected:
        raise ConfigurationError(f"{where}: {key}={text}; allowed: {expected}") from None


def nearest(word: str, known: Collection[str]) -> str | None:
    """Return the known word that is meant by an unknown one, if there is one like it."""
    return next(iter(difflib.get_close_matches(word, known, 1)), None)
