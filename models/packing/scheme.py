"""Packing schemes by name, and what goes with them.

Nothing is compiled here, so that a plan can be checked without loading a kernel; only a scheme of the user's
own is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from models import checks, dotted
from models.kernels import functions
from models.point import Parameters


class Compiled(NamedTuple):
    """The compiled functions of a scheme, of the types that `models.packing.schemes.signature` declares."""

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


_HERE = "models.packing.schemes"
_STAYING = f"{_HERE}.capacity.let_stay"
_KEEPS_NONE = f"{_HERE}.capacity.keep_no_books"


@dataclass(frozen=True)
class Scheme:
    """A packing scheme.

    Parameters
    ----------
    place : str or compiled function
        A function of `signature.PLACE_SIGNATURE`, or its dotted name.
    release : str or compiled function
        Of `signature.RELEASE_SIGNATURE`, for a scheme that keeps books.
    rearrange : str or compiled function
        Of `signature.REARRANGE_SIGNATURE`, for a scheme that maps all jobs anew at each arrival and
        termination; its `place` is then never called.
    parameters : mapping of str to allowed values
        Keys of the policy's YAML that `place` receives, in this order: ``int`` stands for a positive whole
        number, a tuple of words for the index of the word.
    memory : callable, n_pes -> length of the scheme's memory
    check : callable, n_pes -> None
        Raises ``ValueError`` for a machine that the scheme cannot serve.
    """

    place: Any
    release: Any = _KEEPS_NONE
    rearrange: Any = _STAYING
    parameters: Mapping[str, type[int] | tuple[str, ...]] = field(default_factory=dict)
    memory: Callable[[int], int] = no_books
    check: Callable[[int], None] = any_machine

    def compiled(self) -> Compiled:
        """Import and, at the first time, compile the scheme's functions."""
        named = (self.place, self.release, self.rearrange)
        return Compiled(*(dotted.imported(each) if isinstance(each, str) else each for each in named))

    @property
    def modules(self) -> set[str]:
        """Modules of the functions that have dotted names."""
        named = (each for each in (self.place, self.release, self.rearrange) if isinstance(each, str))
        return {each.rpartition(".")[0] for each in named}

    @property
    def keeps_books(self) -> bool:
        """Whether the scheme is told of jobs that leave."""
        return bool(self.release != _KEEPS_NONE)

    @property
    def migrates(self) -> bool:
        """Whether the scheme maps all jobs anew at each event."""
        return bool(self.rearrange != _STAYING)

    def arguments(self, policy: Parameters) -> tuple[int, ...]:
        """Return the scheme's parameters as it receives them; ``ValueError`` for a value not allowed."""
        return tuple(
            allowed.index(checks.choice(policy, "policy", name, allowed))
            if isinstance(allowed, tuple)
            else checks.whole(policy, "policy", name)
            for name, allowed in self.parameters.items()
        )


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


def find(given: Any) -> Scheme:
    """Return a scheme.

    Parameters
    ----------
    given : str, compiled function or Scheme
        A name in `SCHEMES`; or one's own: a function of `signature.PLACE_SIGNATURE`, or a `Scheme` where more
        is needed, or the dotted name of either.

    Raises
    ------
    ValueError
        With one line that says what is allowed.
    """
    if isinstance(given, str) and given in SCHEMES:
        return SCHEMES[given]
    if given is None or (isinstance(given, str) and "." not in given):
        checks.refuse("policy.scheme", given, f"{', '.join(SCHEMES)}, or the dotted name of a place function")
    found = given
    if isinstance(given, str):
        try:
            found = dotted.imported(given)
        except (ImportError, AttributeError, ValueError):
            found = given  # told below
    if isinstance(found, Scheme):
        return found
    from models.packing.schemes.signature import PLACE_SIGNATURE

    function = functions.compiled(
        given, PLACE_SIGNATURE, "policy.scheme", "models.packing.schemes.signature.PLACE_SIGNATURE"
    )
    return Scheme(function)
