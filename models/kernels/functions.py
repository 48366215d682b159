"""A user's own compiled functions: by a dotted name, or as they are."""

from collections.abc import Callable
from typing import Any

from models import checks, dotted

LINE = 100
"""Longer signatures, of arrays in tuples, are left out of the message."""


def compiled(
    given: Any, signature: Any, where: str, takes: str, through: Callable[[Any], Any] | None = None
) -> Any:
    """Return a user's function in the form for an event loop.

    Parameters
    ----------
    given : str or compiled function
        A dotted name is imported. A function that was compiled for no types yet is compiled for these.
    signature : numba signature
    where : str
        Its key on the command line, e.g. ``policy.scheme``.
    takes : str
        Dotted name of the signature, for the message.
    through : callable, optional
        Called with a function that is declared to take ``float64`` where the signature has ``int64``; returns
        one that calls it.

    Raises
    ------
    ValueError
        With one line, if it is not a compiled function of that signature.
    """
    from models.kernels.internals import NumbaError

    name = given if isinstance(given, str) else getattr(given, "__name__", given)
    allowed = f"a function compiled as @models.kernels.compiling.kernel({takes}) does it, or its dotted name"
    try:
        function = dotted.imported(given) if isinstance(given, str) else given
    except ImportError as error:
        why = f", which cannot be imported ({error})"
        if "." not in str(given):
            why = ", which is not the dotted name of anything"
        checks.refuse(where, f"{name}{why}", allowed)
    if not hasattr(function, "nopython_signatures"):
        checks.refuse(where, f"{name}, which is not compiled", allowed)
    try:
        if signature.args not in function.overloads:
            if through is not None and _takes(function, signature.args):
                function = through(function)
            function.compile(signature.args)
        found = function.overloads[signature.args].signature.return_type
        fits, why = found == signature.return_type, f" (it returns {found})"
    except NumbaError as error:
        fits, why = False, f" ({dotted.reason(error)})"
    except (TypeError, RuntimeError, KeyError):  # declared for other types, or for too few arguments
        declared = ", ".join(map(str, function.nopython_signatures))[:LINE]
        fits, why = False, f" (it is compiled for {declared})" if declared else ""
    if not fits:
        wanted = f" than {signature}" if len(str(signature)) < LINE else ""
        checks.refuse(where, f"{name}, which takes or returns something else{wanted}{why}", allowed)
    return function


def _takes(function: Any, given: tuple[Any, ...]) -> bool:
    """Return whether a function is declared for types to which the given ones can be converted."""
    from numba import types

    def holds(declared: Any, mine: Any) -> bool:
        return declared == mine or (isinstance(mine, types.Integer) and declared == types.float64)

    return any(
        len(declared) == len(given) and all(map(holds, declared, given)) for declared in function.overloads
    )
