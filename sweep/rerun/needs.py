"""The parts of a study beside its dataset: the logs, found by their content, and the user's code."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sweep.config.settings import GROUPS, Config
from sweep.errors import SweepError
from sweep.logs import VARIABLE, folders
from sweep.plan import finding, sources
from sweep.plan.plan import Plan
from sweep.rerun.original import Original


def logs(original: Original, given: Path | None) -> tuple[dict[str, str], list[str]]:
    """Look for each log by its name, and know it by its content.

    Parameters
    ----------
    given : Path, optional
        Folder that is looked into first.

    Returns
    -------
    found : dict of str to str
        Path as the dataset has it -> file here.
    wrong : list of str
        A line for each log that is not here.
    """
    found, wrong = {}, []
    for log, digest in original.logs.items():
        there = dict.fromkeys(file for file in _places(log, original, given) if file.is_file())
        right = next((file for file in there if _digest(file) == digest), None)
        if right is not None:
            found[log] = str(right.absolute())
        elif there:
            other = next(iter(there))
            hashes = f"SHA-256 {digest[:12]}… in the dataset, {_digest(other)[:12]}… here"
            wrong.append(
                f"log {Path(log).name}: {other} has another content ({hashes}): get the one that was used "
                "and name its folder, logs=FOLDER or TRACES"
            )
        else:
            wrong.append(
                f"log {Path(log).name} (SHA-256 {digest[:12]}…) is not here, nor at {log}: name the folder "
                "that holds it, logs=FOLDER or TRACES"
            )
    return found, wrong


def _places(log: str, original: Original, given: Path | None) -> Iterator[Path]:
    path = Path(log)
    if given is not None:
        yield given / path.name
    yield path.expanduser()
    for folder in (*folders(), original.path.parent, Path()):
        yield folder / path.name


def _digest(file: Path) -> str:
    with suppress(OSError), file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
    return "cannot be read"


def refuse_foreign_code(original: Original, brings_code: bool) -> None:
    """Refuse a study that names a module outside this project: to expand its plan is to import that module.

    A file from a stranger may name any module of the working folder, of an installed package or of Python.

    Parameters
    ----------
    brings_code : bool
        Whether the code that the file carries may be run (``modules=FOLDER``): that, and no other.

    Raises
    ------
    SweepError
        With one line that names the modules, and the two ways to allow them.
    """
    carried = {Path(place).parts[0].removesuffix(".py") for place in original.modules}
    if names := foreign_names(asdict(original.config), carried if brings_code else ()):
        raise SweepError(
            f"{original.path} runs code from outside this project ({', '.join(names)}): look at that code, "
            "then add trust=true, or modules=FOLDER to run only the code that the file carries"
        )


def foreign_names(config: Mapping[str, Any], allowed: Collection[str] = ()) -> list[str]:
    """Return the modules outside this project, and variables of the environment, that a config names."""
    packages = {*sources.OURS, "__main__", *allowed}
    modules = [
        name
        for name in sorted({*sources.dotted_names(config), *_families(config)})
        if (package := name.partition(".")[0]) not in packages
        and (package in sys.stdlib_module_names or finding.find(package) is not None)
    ]
    variables = {name for name in re.findall(r"oc\.env:\s*(\w*)", str(config)) if name != VARIABLE}
    return [*modules, *(f"${name}" for name in sorted(variables))]


def refuse_other_files(config: Config, plan: Plan) -> None:
    """Refuse a recipe that names a file which is none of its logs: a stranger's may name any file here."""
    known = set(config.logs.values())
    for group in GROUPS:
        for variant in plan.variants[group]:
            if variant.parameters.get("path") not in (None, *known):
                there = variant.parameters["path"]
                raise SweepError(f"the recipe names {there}, which is none of its logs: not rerun")


def _families(value: Any) -> Iterator[str]:
    """Yield the families that a config names, however deep: they are packages, mostly without a dot."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "family" and isinstance(item, str):
                yield item
            yield from _families(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _families(item)


def missing_modules(original: Original) -> list[str]:
    """Return the modules that the study names and that cannot be found here; none is imported for that."""
    for name in (names := list(original.attribute("sources"))):
        if name.startswith("__main__."):
            raise SweepError(
                f"{original.path} used {name.removeprefix('__main__.')}, a function of a notebook, which no "
                "file has: run that notebook again"
            )
    finding.look_again()  # files may have gone since this session found them
    return [name for name in names if finding.find(name) is None]


def write_modules(modules: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a study's own code into a folder, and have it found there, by workers as well.

    Raises
    ------
    SweepError
        If a file of that name is there with another content: nothing is written over.
    """
    written = []
    for place, text in modules.items():
        file = folder / place
        if ".." in Path(place).parts or Path(place).is_absolute():
            raise SweepError(
                f"modules: {place} lies outside of any folder; this dataset is not to be trusted"
            )
        if file.exists() and file.read_text(encoding="utf-8") != text:
            raise SweepError(f"modules={folder}: {file} is there and is another; give a new folder")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SweepError(f"modules={folder}: {error.strerror}; give another folder") from None
        written.append(file)
    here = str(folder.absolute())
    sys.path.insert(0, here)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = here + (os.pathsep + before if before else "")
    finding.look_again()
    return written
