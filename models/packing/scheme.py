"""Packing schemes by name, with their parameters and checks.

Nothing is compiled here, so that a plan can be checked without loading a kernel; only a scheme of the user's
own is imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from models import checks, dotted
from models.kernels import functions
from models.kernels.lazy import LazyModule, Reference
from models.point import Parameters

if TYPE_CHECKING:
    from models.packing.schemes import buddy, capacity, left_right, load_based, migration
else:
    buddy, capacity, left_right, load_based, migration = (
        LazyModule(f"models.packing.schemes.{name}")
        for name in ("buddy", "capacity", "left_right", "load_based", "migration")
    )


class Compiled(NamedTuple):
    """The compiled functions of a scheme, of the types that `models.packing.schemes.signature` declares."""

    place: Any
    release: Any
    rearrange: Any


def power_of_two(n_pes: int) -> None:
    """Raise ``ValueError`` for a machine that cannot be divided in halves."""
    if n_pes & (n_pes - 1):
        lower = 1 << (n_pes.bit_length() - 1)
        raise ValueError(
            f"buddy packing divides the PEs in halves, and {n_pes} is not a power of two; "
            f"use {lower} or {2 * lower} PEs, or another policy"
        )


@dataclass(frozen=True)
class Scheme:
    """A packing scheme.

    Parameters
    ----------
    place : compiled function, str or Reference
        A function of `signature.PLACE_SIGNATURE`, or its dotted name.
    release : compiled function, str or Reference
        A function of `signature.RELEASE_SIGNATURE`, for a scheme that keeps books.
    rearrange : compiled function, str or Reference
        A function of `signature.REARRANGE_SIGNATURE`, for a scheme that maps all jobs again at each arrival
        and termination; its `place` is then never called.
    parameters : mapping of str to allowed values
        Keys of the policy's YAML that `place` receives, in this order: ``int`` stands for a positive whole
        number, a tuple of words for the index of the word.
    memory : callable, n_pes -> length of the scheme's memory
    check : callable, n_pes -> None
        Raises ``ValueError`` for a machine that the scheme cannot serve.
    """

    place: Any
    release: Any = capacity.keep_no_books
    rearrange: Any = capacity.let_stay
    parameters: Mapping[str, type[int] | tuple[str, ...]] = field(default_factory=dict)
    memory: Callable[[int], int] = lambda n_pes: 1
    check: Callable[[int], None] = lambda n_pes: None

    def compiled(self) -> Compiled:
        """Import the scheme's functions, and compile them the first time."""
        return Compiled(*map(_loaded, (self.place, self.release, self.rearrange)))

    @property
    def modules(self) -> set[str]:
        """Modules of the functions that are not loaded yet."""
        functions = (self.place, self.release, self.rearrange)
        named = {each.rpartition(".")[0] for each in functions if isinstance(each, str)}
        return named | {each.module for each in functions if isinstance(each, Reference)}

    @property
    def keeps_books(self) -> bool:
        """Whether `release` has to be called for jobs that leave."""
        return bool(self.release != capacity.keep_no_books)

    @property
    def migrates(self) -> bool:
        """Whether the scheme maps all jobs again at each event."""
        return bool(self.rearrange != capacity.let_stay)

    def arguments(self, policy: Parameters) -> tuple[int, ...]:
        """Return the scheme's parameters as it receives them; ``ValueError`` for a value not allowed."""
        return tuple(
            allowed.index(checks.choice(policy, "policy", name, allowed))
            if isinstance(allowed, tuple)
            else checks.whole(policy, "policy", name)
            for name, allowed in self.parameters.items()
        )


def _loaded(function: Any) -> Any:
    if isinstance(function, Reference):
        return function.load()
    return dotted.imported(function) if isinstance(function, str) else function


SCHEMES = {
    "first_fit": Scheme(capacity.first_fit),
    "best_fit": Scheme(capacity.best_fit),
    "left_right_size": Scheme(left_right.left_right_size, parameters={"threshold": int}),
    "left_right_slots": Scheme(left_right.left_right_slots),
    "min_max_load": Scheme(load_based.min_max_load),
    "min_avg_load": Scheme(load_based.min_avg_load),
    "buddy": Scheme(
        buddy.buddy,
        buddy.leave_controller,
        # Two numbers for each node of the tree of controllers.
        memory=lambda n_pes: 4 * n_pes,
        parameters={"slot_choice": ("first", "fullest"), "controller_load": ("paths", "recursive", "pes")},
        check=power_of_two,
    ),
    "migration": Scheme(capacity.first_fit, rearrange=migration.first_fit_decreasing),
}


def of_scheme(policy: Parameters) -> dict[str, Any]:
    """Return the ``name`` and the ``parameters`` of a policy's ``scheme``, see `Scheme.arguments`."""
    given = policy.get("scheme")
    scheme = find(given)
    for other in SCHEMES.values():  # also keys that this scheme does not read
        if set(other.parameters) <= set(policy):
            other.arguments(policy)
    name = str(getattr(given, "__name__", given))
    return {"scheme": scheme, "name": name, "parameters": scheme.arguments(policy)}


def find(given: Any) -> Scheme:
    """Return a scheme.

    Parameters
    ----------
    given : str, compiled function or Scheme
        A name in `SCHEMES`; or the user's own: a function of `signature.PLACE_SIGNATURE`, a `Scheme` if more
        is needed, or the dotted name of either.

    Raises
    ------
    ValueError
        With one line.
    """
    if isinstance(given, str) and given in SCHEMES:
        return SCHEMES[given]
    if given is None or (isinstance(given, str) and "." not in given):
        checks.refuse("policy.scheme", given, f"{', '.join(SCHEMES)}, or the dotted name of a place function")
    found = given
    if isinstance(given, str):
        try:
            found = dotted.imported(given)
        except ImportError:
            found = given  # refused below
    if isinstance(found, Scheme):
        return found
    from models.packing.schemes.signature import PLACE_SIGNATURE

    function = functions.compiled(
        given, PLACE_SIGNATURE, "policy.scheme", "models.packing.schemes.signature.PLACE_SIGNATURE"
    )
    return Scheme(function)
