"""One's own code by its dotted name, where a built-in one may stand: ``policy.schedule=mine.function``."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any


def imported(name: str) -> Any:
    """Return what a dotted name stands for, ``models.packing.schemes.capacity.first_fit`` for instance."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def function(name: object, where: str, known: Iterable[str], what: str) -> Any:
    """Return a function that is given by its dotted name.

    Parameters
    ----------
    name : object
        What a user wrote.
    where : str
        The key, ``policy.schedule`` for instance.
    known : iterable of str
        Built-in names that could have been given.
    what : str
        What the function is, in words.

    Raises
    ------
    ValueError
        If the name stands for none, with one line that says what is allowed.

    Examples
    --------
    >>> function("models.checks.refuse", "policy.schedule", [], "a function")
    <function refuse at ...>
    >>> function("nowhere.place", "policy.scheme", ["first_fit", "buddy"], "a function")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: policy.scheme=nowhere.place cannot be imported (No module named 'nowhere'); allowed: ...
    """
    why = ""
    try:
        if isinstance(name, str) and "." in name.strip(".") and callable(found := imported(name)):
            return found
    except (ImportError, AttributeError) as error:
        why = f" cannot be imported ({error})"
    raise ValueError(f"{where}={name}{why}; allowed: {', '.join(known)}, or the dotted name of {what}")
