"""The parts of a study beside its dataset: the logs, found by their content, and the user's code."""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sweep.errors import SweepError
from sweep.logs import folders
from sweep.plan import finding
from sweep.plan.variants import with_included
from sweep.rerun.original import Original


def logs(original: Original, given: Path | None) -> tuple[dict[str, str], list[str]]:
    """Look for each log by its name, first in a folder that is given, and know it by its content.

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
        right = next((file for file in there if digest in _digests(file)), None)
        if right is not None:
            found[log] = str(right.absolute())
        elif there:
            wrong.append(
                f"log {Path(log).name}: {next(iter(there))} has another content than SHA-256 {digest[:12]}…: "
                "get the one that was used and name its folder, logs=FOLDER or TRACES"
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


def _digests(file: Path) -> tuple[str, ...]:
    """Return the SHA-256 of a file, and that of a slurm.conf together with what it includes."""
    try:
        if not file.stat().st_size:  # of /proc, whose files may have no end
            return ()
        with file.open("rb") as opened:
            plain = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ()
    return plain, *([with_included(file, plain)] if file.suffix == ".conf" else [])


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
