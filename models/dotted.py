"""A user's own function by its dotted name in place of a built-in one: ``policy.schedule=mine.function``."""

import importlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

OURS = ("models", "sweep")
"""Packages of this project whose code a config may name."""

_allowed: ContextVar[tuple[Collection[str], list[str]] | None] = ContextVar("allowed", default=None)


@contextmanager
def only(packages: Collection[str]) -> Iterator[list[str]]:
    """Within this context, import only from some packages by name: the names may be a stranger's.

    Yields
    ------
    list of str
        The names refused so far, also if their `ImportError` was caught.
    """
    refused: list[str] = []
    token = _allowed.set((packages, refused))
    try:
        yield refused
    finally:
        _allowed.reset(token)


def module(name: str) -> Any:
    """Import the module of a dotted name in a setting; every such import goes through this function.

    Raises
    ------
    ImportError
        With one line, whatever a user's module raises.
    """
    _check(name, name)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        is_there = not isinstance(error, ModuleNotFoundError) or not f"{name}.".startswith(f"{error.name}.")
        where = "" if is_there else "; modules=FOLDER names the folder that holds it"
        raise ImportError(f"{reason(error)}{where}") from error


def imported(name: str) -> Any:
    """Return the object of a dotted name, ``models.packing.schemes.capacity.first_fit`` for instance.

    Raises
    ------
    ImportError
        With one line, whatever a user's module raises.
    """
    place, _, last = name.rpartition(".")
    if not place:
        raise ImportError("a dotted name is MODULE.NAME")
    try:
        found = getattr(module(place), last)
    except AttributeError as error:
        raise ImportError(str(error)) from None
    _check(name, str(getattr(found, "__module__", place)))  # a module may have imported it from elsewhere
    return found


def _check(name: str, place: str) -> None:
    if (gate := _allowed.get()) is not None and place.partition(".")[0] not in gate[0]:
        gate[1].append(name)
        raise ImportError("it is code from outside this project")


def reason(error: BaseException) -> str:
    """Return the first line of an error's message beyond numba's headings, and the place that numba names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = (line for line in lines if not line.startswith(("Failed in ", "- Resolution failure")))
    place = next((f", {line.rstrip(':')}" for line in lines[1:] if line.startswith('File "')), "")
    return next(own, type(error).__name__)[:200] + place


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
    ValueError: policy.scheme=nowhere.place cannot be imported (No module named 'nowhere'; modules=FOLDER ...
    """
    why = ""
    try:
        if isinstance(name, str) and "." in name.strip(".") and callable(found := imported(name)):
            return found
    except ImportError as error:
        why = f" cannot be imported ({error})"
    raise ValueError(f"{where}={name}{why}; allowed: {', '.join(known)}, or the dotted name of {what}")
