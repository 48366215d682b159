"""Finds the code of modules: they are located and read as files, without importing them."""

import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path


def clear_caches() -> None:
    """Clear the caches: in a session, files appear, disappear and change."""
    find.cache_clear()
    importlib.invalidate_caches()


def below(name: str) -> Iterator[str]:
    """Yield a module, the packages that contain it, and all modules below it."""
    yield from with_parents(name)
    spec = find(name)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        top = Path(folder)
        for file in sorted(top.rglob("*.py")):
            parts = file.relative_to(top).with_suffix("").parts
            yield ".".join([name, *(part for part in parts if part != "__init__")])


def with_parents(name: str) -> Iterator[str]:
    """Yield a module and the packages that contain it, whose code runs when it is imported."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def module_of(dotted: str) -> str | None:
    """Return the module of a dotted name, or None if it has no file to read."""
    name = dotted.rpartition(".")[0]
    while name:
        if find(name) is not None:
            return name
        name = name.rpartition(".")[0]
    return None


@cache
def find(name: str) -> ModuleSpec | None:
    """Find a module without importing it; None if it does not exist or is part of Python itself."""
    parent, _, _ = name.rpartition(".")
    if not parent:
        if name in sys.stdlib_module_names:
            return None
        with suppress(ValueError, ImportError):  # the former is raised for a module without a spec
            return importlib.util.find_spec(name)
        return None
    above = find(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    # PathFinder, as `importlib.util.find_spec` would import the parent package.
    folders = list(above.submodule_search_locations)
    try:
        return PathFinder.find_spec(name, folders)
    except KeyError:  # a folder without __init__, in a package that is not imported
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [f"{folder}/{name.rpartition('.')[2]}" for folder in folders]
        return spec


def is_package(name: str) -> bool:
    spec = find(name)
    return spec is not None and spec.submodule_search_locations is not None


def file_of(name: str) -> Path | None:
    """Return the file of a module that can be read as source."""
    spec = find(name)
    file = None if spec is None or not spec.has_location else spec.origin
    return Path(file) if file is not None and Path(file).suffix == ".py" and Path(file).is_file() else None


def is_installed(file: Path) -> bool:
    """Whether a file belongs to an installed package, which changes only with its version."""
    return any(file.is_relative_to(folder) for folder in _folders_of_packages())


@cache
def _folders_of_packages() -> set[str]:
    """Return where packages are installed; cached, as it would take half the time of a hash."""
    return {sysconfig.get_path(name) for name in ("purelib", "platlib")}
