"""A user's own function by its dotted name in place of a built-in one: ``policy.schedule=mine.function``."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any


def imported(name: str) -> Any:
    """Return the object of a dotted name, ``models.packing.schemes.capacity.first_fit`` for instance."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def function(name: object, where: str, known: Iterable[str], what: str) -> Any:
    """Return a function that is given by its dotted name.

    Parameters
    ----------
    name : object
        The user's value.
    where : str
        The key, ``policy.schedule`` for instance.
    known : iterable of str
        Built-in names that are allowed.
    what : str
        The kind of function, in words.

    Raises
    ------
    ValueError
        If there is no such function, with one line that names the allowed values.

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
