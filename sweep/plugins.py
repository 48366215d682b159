"""What a user brings: modules of a folder (``modules=FOLDER``), and packages that are installed as plug-ins.

A plug-in is a package with an entry point in the group ``schedsweep.plugins``, whose value is a module. Its
folder ``conf``, if it has one, is searched like the project's; ``PAPERS`` of the module are dotted names of
papers (`analysis.registry`). Everything else in it is referred to by its dotted name, like any code of a
user.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from pathlib import Path

from models import dotted
from schedsweep import packages
from sweep.errors import SweepError

GROUP = "schedsweep.plugins"

KEY = "modules"

VARIABLE = "SCHEDSWEEP_MODULES"
"""Environment variable that passes the folders of modules on to processes that are started from here."""


def taken(arguments: Sequence[str]) -> list[str]:
    """Return a command line without ``modules=FOLDER``; the modules of these folders are found from now on.

    Raises
    ------
    SweepError
        With one line for a folder that is not there, or that hides a package of the project.
    """
    for given in (one for one in arguments if one.startswith(f"{KEY}=")):
        bring(given.partition("=")[2])
    return [one for one in arguments if not one.startswith(f"{KEY}=")]


def bring(given: str | Path) -> Path:
    """Let this process and those that it starts import the modules of a folder; return the folder."""
    try:
        folder = Path(given).expanduser().absolute()
        is_there = bool(str(given)) and folder.is_dir()
    except (OSError, RuntimeError, ValueError):  # a name that is too long, no such user, a null character
        is_there = False
    if not is_there:
        raise SweepError(
            f"modules={str(given)[:300] or '(empty)'}: no such folder; give the one that holds your modules"
        )
    hiding = [name for name in (*packages.NAMES, "schedsweep") if _holds(folder, name)]
    if hiding and folder != packages.ROOT:
        raise SweepError(
            f"modules={given}: {folder / hiding[0]} would hide this project's {hiding[0]}; "
            "give it another name"
        )
    here = str(folder)
    sys.path[:] = [here, *(place for place in sys.path if place != here)]
    before = os.environ.get("PYTHONPATH", "")
    if here not in before.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, before)))
    known = os.environ.get(VARIABLE, "").split(os.pathsep)
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys(filter(None, (*known, here))))
    importlib.invalidate_caches()
    return folder


def trusted() -> set[str]:
    """Return the packages that a dataset, perhaps a stranger's, may name: ours, and those under ``modules=``.

    The packages of plug-ins are not among them: to install a plug-in does not allow all of its functions.
    """
    folders = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    return {*dotted.OURS, *(name for folder in folders for name in _named(Path(folder)))}


def _holds(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def _named(folder: Path) -> set[str]:
    """Return the names of the modules and packages in a folder, except Python's own."""
    files = folder.iterdir() if folder.is_dir() else ()  # that folder may be gone
    found = {file.stem if file.suffix == ".py" else file.name for file in files}
    return {name for name in found if name.isidentifier()} - set(sys.stdlib_module_names)


def _spec(name: str) -> ModuleSpec | None:
    with suppress(ImportError, ValueError):  # the latter for a module without a spec
        return importlib.util.find_spec(name)
    return None


@cache
def installed() -> tuple[str, ...]:
    """Return the modules of the plug-ins, in the order of their names; none is imported.

    Raises
    ------
    SweepError
        With one line for a plug-in whose module is not there.
    """
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if _spec(point.module) is None:
            package = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
            raise SweepError(
                f"plug-in {point.name}{package}: no module {point.module}; install its package again, or "
                "uninstall it"
            )
        found.append(point.module)
    return tuple(dict.fromkeys(found))


def conf_folders() -> list[Path]:
    """Return the folders ``conf`` of the plug-ins that have one."""
    specs = map(_spec, installed())
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return [folder for place in places if (folder := Path(place) / "conf").is_dir()]
