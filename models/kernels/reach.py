"""The code that a kernel can reach: its module, and all code imported from there, directly or not.

Numba's disk cache checks only the file of the kernel that it loads: after a change of a callee or a constant
in another file, or of a part that is chosen by type, it would silently continue with the old code.
Imports are read from the source, because the module may not be loaded yet. An import anywhere in the text
counts, even in a docstring, so that too much may be reached but never too little.
"""

import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent

FINDERS = frozenset({"models.kernels.cache", "models.kernels.locating", "models.kernels.reach"})
"""Modules that find and keep kernels, without an influence on the compiled code."""

INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Folders of modules that are installed, with a version."""

_COMMENT = re.compile(r"#[^\n]*")
_IMPORT = re.compile(r"(?:\bfrom[\s\\]*(\.*[\w.]*)[\s\\]*)?\bimport\b[\s\\]*(\([^)]*\)|(?:[^\n\\;]|\\\n)*)")


@cache
def digest(module: str) -> str:
    """Return the hash of the code that the kernels of a module of ``models`` can reach."""
    return hashed(reached(module))


def hashed(files: dict[str, Path]) -> str:
    """Return the hash of modules by name and content; their location does not count."""
    whole = hashlib.sha256()
    for name, file in sorted(files.items()):
        whole.update(f"{name} {len(data := file.read_bytes())}\n".encode() + data)
    return whole.hexdigest()[:16]


def reached(module: str) -> dict[str, Path]:
    """Return the files of a module and of all code that it can reach, by name, without installed packages.

    In a user's module that is loaded, values count as well, wherever they come from.
    """
    waiting, found = [module], dict[str, Path]()
    while waiting:
        name = waiting.pop()
        if name in found or name in FINDERS or (file := _file_of(name)) is None:
            continue
        found[name] = file
        text = file.read_text(encoding="utf-8", errors="replace")
        waiting.extend(_imported(text, name if file.stem == "__init__" else name.rpartition(".")[0]))
        if name.partition(".")[0] != "models":
            waiting.append(name.rpartition(".")[0])
            for value in list(vars(sys.modules.get(name, ModuleType(name))).values()):
                is_module = isinstance(value, ModuleType)
                waiting.append(str(value.__name__ if is_module else getattr(value, "__module__", "")))
    return found


@cache
def _imported(text: str, package: str) -> tuple[str, ...]:
    """Return the names that a module's text imports; not all of them are modules."""
    found = _IMPORT.findall(_COMMENT.sub("", text))
    return tuple(name for source, names in found for name in _named(source, names, package))


def _named(source: str, names: str, package: str) -> Iterator[str]:
    """Yield the names of one import statement.

    For a package, the modules taken from it are reached, and its ``__init__`` if any other name is taken.
    """
    parts = [part.split()[0] for part in names.strip("()").replace("\\", " ").split(",") if part.split()]
    if not source:
        for part in parts:
            yield part
            yield from (part[:i] for i, sign in enumerate(part) if sign == ".")
        return
    base = source.lstrip(".")
    if level := len(source) - len(base):
        above = package.split(".")[: len(package.split(".")) - level + 1]
        base = ".".join([*above, *filter(None, [base])])
    for part in parts:
        of_part = f"{base}.{part}"
        yield base if _file_of(of_part) is None else of_part


def _file_of(name: str) -> Path | None:
    """Return the source of a module without importing it, None if it is installed or not a module."""
    top, *_ = parts = name.split(".")
    if top == "models":
        return _file_of_ours(name)
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None and top not in sys.stdlib_module_names and all(map(str.isidentifier, parts)):
        folders = None
        for i in range(len(parts)):
            spec = PathFinder.find_spec(".".join(parts[: i + 1]), folders)
            if spec is None:
                return None
            folders, file = spec.submodule_search_locations, spec.origin
    if not isinstance(file, str) or not file.endswith(".py") or file.startswith(INSTALLED):
        return None
    return Path(file)


@cache
def _file_of_ours(name: str) -> Path | None:
    place = ROOT.parent.joinpath(*name.split("."))
    return next(filter(Path.is_file, (place.parent / f"{place.name}.py", place / "__init__.py")), None)
