"""Where Python finds the project's packages, and what may prevent that.

Started as ``python -m``, Python looks for packages in the working folder before it looks anywhere else, and
so do its children. A folder with a ``models`` of its own, a common name, would hide the project's.
This module itself imports nothing that could be hidden.
"""

import importlib
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

NAMES = ("models", "sweep", "analysis", "slurm")

LEAST_MB = 1000
"""Address space, which numba, BLAS and netCDF reserve and do not use up."""

INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")
"""Names of the folders of modules that are installed."""

ROOT = Path(__file__).resolve().parents[1]
"""The folder that all of them are in: a checkout, or site-packages."""


def hidden() -> str | None:
    """Return a line that names a package which hides one of the project's.

    Returns
    -------
    str or None
        None if all packages are the project's own.
    """
    for name in NAMES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        file = Path(found.origin).resolve()
        other = file.parent if file.name == "__init__.py" else file
        if other.parent != ROOT:
            return f"{other} hides this project's {name} ({ROOT / name}): {_way_out(other.parent)}"
    return None


def hiding() -> str | None:
    """Return a line that names an imported module which hides one of Python's or of an installed package."""
    for name, module in list(sys.modules.items()):
        if "." in name or name == "__main__" or (file := getattr(module, "__file__", None)) is None:
            continue
        folder = Path(file).resolve().parents[Path(file).stem == "__init__"]
        if folder == ROOT or str(folder) in map(sysconfig.get_path, INSTALLED):
            continue
        if PathFinder.find_spec(name, [path for path in sys.path if Path(path).resolve() != folder]):
            return f"{file} hides a module that is needed, {name}: rename it, or {_way_out(folder)}"
    return None


def foreign_system() -> str | None:
    """Return a line if this system lacks something that the project needs, else None."""
    if sys.platform != "win32":
        return None
    return (
        "schedsweep runs on Linux and macOS; Windows lacks the file locks that keep results safe: "
        "install it in the Windows Subsystem for Linux (wsl --install)"
    )


def short_of_memory() -> str | None:
    """Return a line if this process may have less address space than the libraries need, else None.

    With less they fail in many ways, for example by threads that wait for each other.
    """
    with suppress(ImportError):  # not on Windows
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if 0 <= limit < LEAST_MB << 20:
            return (
                f"this process may have {limit >> 20} MB of address space, and needs {LEAST_MB} MB; raise "
                "the limit: ulimit -v unlimited"
            )
    return None


def obstacle() -> str | None:
    """Return a line on the obstacle to running the project's code here, None if there is none."""
    return foreign_system() or hidden() or short_of_memory()


def _way_out(folder: Path) -> str:
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() == folder:
        return "start schedsweep in place of python -m, or start it in another folder"
    if str(folder) in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return "that is another project's, so give each of them an environment of its own"
    return f"take {folder} out of PYTHONPATH"


def search_working_folder_last() -> None:
    """Let modules in the working folder be found, but only if nothing else has their names.

    This holds in child processes, too: the children of `multiprocessing` inherit the search path, and no
    other process searches its working folder first.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    with suppress(OSError):  # the folder has been removed
        if not {"", here := os.getcwd()} & set(sys.path):
            sys.path.append(here)


def call(module: str, arguments: Sequence[str]) -> int:
    """Call ``main`` of a module and return its exit status, or 2 if an `obstacle` is known.

    The module is not imported before that is known.
    """
    if (line := obstacle()) is not None:
        print(f"error: {line}", file=sys.stderr)
        return 2
    try:
        status: int = importlib.import_module(module).main(arguments)
    except Exception:
        if (line := hiding()) is None:
            raise
        print(f"error: {line}", file=sys.stderr)
        return 2
    return status
