"""Parameter sweeps, from the command line (``python -m sweep``) and from notebooks.

In a notebook, `simulate` returns the jobs of one simulation, and `Study` runs a whole grid; wrong arguments
raise an `Error` whose message is one line. See README.md and `sweep.notebook`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from sweep.errors import SweepError as Error
    from sweep.notebook.simulation import simulate
    from sweep.notebook.study import Study
    from sweep.programs import metric, model

__all__ = ["Error", "Study", "metric", "model", "simulate"]

_PLACES = {
    "Error": ("sweep.errors", "SweepError"),
    "Study": ("sweep.notebook.study", "Study"),
    "metric": ("sweep.programs", "metric"),
    "model": ("sweep.programs", "model"),
    "simulate": ("sweep.notebook.simulation", "simulate"),
}


def __getattr__(name: str) -> Any:
    """Import the notebook's functions when they are first used: the command line needs none of them."""
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("schedsweep")
        except PackageNotFoundError:  # a checkout that is not installed
            return "unknown"
    if name not in _PLACES:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    import importlib

    from schedsweep import packages
    from sweep.errors import SweepError

    if name != "Error" and (line := packages.obstacle()) is not None:
        raise SweepError(line)
    module, attribute = _PLACES[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    """List exactly these functions, so that they can be completed before they are imported."""
    return __all__
