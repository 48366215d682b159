"""A user's own compiled functions: by a dotted name, or as they are."""

from __future__ import annotations

from typing import Any

from models import checks, dotted


def compiled(given: Any, signature: Any, where: str, takes: str) -> Any:
    """Return a user's function as an event loop takes it.

    Parameters
    ----------
    given : str or compiled function
        A dotted name is imported. A function that was compiled for no types yet is compiled for these.
    signature : numba signature
    where : str
        What it is called on the command line, e.g. ``policy.scheme``.
    takes : str
        Dotted name of the signature, for the message.

    Raises
    ------
    ValueError
        With one line, if it is no compiled function of that signature.
    """
    from numba.core.errors import NumbaError

    told = given if isinstance(given, str) else getattr(given, "__name__", given)
    allowed = f"a function compiled as @models.kernels.compiling.kernel({takes}) does it, or its dotted name"
    try:
        function = dotted.imported(given) if isinstance(given, str) else given
    except (ImportError, AttributeError, ValueError) as error:
        checks.refuse(where, f"{told}, which cannot be imported ({error})", allowed)
    if not hasattr(function, "nopython_signatures"):
        checks.refuse(where, f"{told}, which is not compiled", allowed)
    try:
        if signature.args not in function.overloads:
            function.compile(signature.args)
        fits = function.overloads[signature.args].signature.return_type == signature.return_type
    except (NumbaError, TypeError, RuntimeError, KeyError):  # declared for other types, or too few
        fits = False
    if not fits:
        checks.refuse(where, f"{told}, which takes or returns something else", allowed)
    return function
