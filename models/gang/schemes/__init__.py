"""The packing schemes by name, with what Python has to know of each.

Nothing is compiled here: a plan can be checked without loading a kernel.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from models.point import Parameters


class Compiled(NamedTuple):
    """The compiled functions of a scheme, of the types that `signature` declares."""

    place: Any
    release: Any
    rearrange: Any


def no_books(n_pes: int) -> int:
    """Return the length of the memory of a scheme that keeps none."""
    return 1


def any_machine(n_pes: int) -> None:
    """Accept any number of PEs."""


def power_of_two(n_pes: int) -> None:
    """Raise ``ValueError`` for a machine that cannot be divided in halves."""
    if n_pes & (n_pes - 1):
        lower = 1 << (n_pes.bit_length() - 1)
        raise ValueError(
            f"buddy packing divides the PEs in halves, and {n_pes} is no power of two; "
            f"use {lower} or {2 * lower} PEs, or another policy"
        )


STAYING = "models.gang.schemes.capacity.let_stay"


@dataclass(frozen=True)
class Scheme:
    """A packing scheme.

    Parameters
    ----------
    place : str
        Dotted name of a function of `signature.PLACE_SIGNATURE`.
    release : str
        Dotted name of a function of `signature.RELEASE_SIGNATURE`, for a scheme that keeps books.
    rearrange : str
        Dotted name of a function of `signature.REARRANGE_SIGNATURE`, for a scheme that maps all jobs anew at
        each arrival and termination; its `place` is then never called.
    parameters : dict of str to allowed values
        Keys of the policy's YAML that `place` receives, in this order: ``int`` stands for a positive whole
        number, a tuple of words for the index of the word.
    memory : callable, n_pes -> length of the scheme's memory
    check : callable, n_pes -> None
        Raises ``ValueError`` for a machine that the scheme cannot serve.
    """

    place: str
    release: str = "models.gang.schemes.capacity.keep_no_books"
    rearrange: str = STAYING
    parameters: dict[str, type[int] | tuple[str, ...]] = field(default_factory=dict)
    memory: Callable[[int], int] = no_books
    check: Callable[[int], None] = any_machine

    def compiled(self) -> Compiled:
        """Import and, at the first time, compile the scheme's functions."""
        return Compiled(imported(self.place), imported(self.release), imported(self.rearrange))

    @property
    def migrates(self) -> bool:
        """Whether the scheme maps all jobs anew at each event."""
        return self.rearrange != STAYING

    def arguments(self, policy: Parameters) -> list[int]:
        """Return the scheme's parameters as it receives them; ``ValueError`` for a value not allowed."""
        numbers = []
        for name, allowed in self.parameters.items():
            value = policy.get(name)
            if isinstance(allowed, tuple):
                if value not in allowed:
                    raise ValueError(f"policy.{name}={value}; allowed: {', '.join(allowed)}")
                numbers.append(allowed.index(value))
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"policy.{name}={value}; allowed: a positive whole number")
            else:
                numbers.append(value)
        return numbers


_HERE = "models.gang.schemes"

SCHEMES = {
    "first_fit": Scheme(f"{_HERE}.capacity.first_fit"),
    "best_fit": Scheme(f"{_HERE}.capacity.best_fit"),
    "left_right_size": Scheme(f"{_HERE}.left_right.left_right_size", parameters={"threshold": int}),
    "left_right_slots": Scheme(f"{_HERE}.left_right.left_right_slots"),
    "min_max_load": Scheme(f"{_HERE}.load_based.min_max_load"),
    "min_avg_load": Scheme(f"{_HERE}.load_based.min_avg_load"),
    "buddy": Scheme(
        f"{_HERE}.buddy.buddy",
        f"{_HERE}.buddy.leave_controller",
        # Two numbers for each node of the tree of controllers.
        memory=lambda n_pes: 4 * n_pes,
        parameters={"slot_choice": ("first", "fullest"), "controller_load": ("paths", "recursive", "pes")},
        check=power_of_two,
    ),
    "migration": Scheme(f"{_HERE}.capacity.first_fit", rearrange=f"{_HERE}.migration.first_fit_decreasing"),
}


def load_all() -> None:
    """Compile all schemes, or load them from the cache."""
    for scheme in SCHEMES.values():
        scheme.compiled()


def imported(name: str) -> Any:
    """Return what a dotted name stands for."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)


def find(name: str) -> Scheme:
    """Return a scheme by its name here, or by the dotted name of its `place` function anywhere.

    Raises
    ------
    ValueError
        If there is none, with the names that there are.
    """
    if name in SCHEMES:
        return SCHEMES[name]
    module = name.rpartition(".")[0]
    try:
        if module and importlib.util.find_spec(module) and hasattr(imported(name), "nopython_signatures"):
            return Scheme(name)
    except (ModuleNotFoundError, AttributeError):
        pass
    raise ValueError(
        f"policy.scheme={name} is unknown; known: {', '.join(SCHEMES)}, "
        "or the dotted name of a place function"
    )
