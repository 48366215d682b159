"""The parts of a study outside its dataset: the logs, found by their content, and the user's code."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path

from models import dotted
from models.family import Family
from models.jobs import bundle
from sweep import plugins
from sweep.errors import SweepError
from sweep.logs import folders
from sweep.plan import families
from sweep.rerun.original import Original


def logs(
    original: Original, given: Path | None, packages: Collection[str] | None = dotted.OURS
) -> tuple[dict[str, str], list[str]]:
    """Find each log by its name, first in a folder that is given, and identify it by its content.

    Parameters
    ----------
    packages : collection of str, optional
        Packages whose families may be imported; None allows any.

    Returns
    -------
    found : dict of str to str
        Path as the dataset has it -> file here.
    wrong : list of str
        A line for each log that is not here.
    """
    found, wrong = {}, []
    digests = _Digests(original, packages)
    for log, digest in original.logs.items():
        there = dict.fromkeys(file for file in _places(log, original, given) if file.is_file())
        right = next((file for file in there if digest in digests.of(file)), None)
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


class _Digests:
    """The hashes by which a file may be known: its own, and with the files that it includes."""

    def __init__(self, original: Original, packages: Collection[str] | None) -> None:
        self._families: list[Family] = []
        with nullcontext() if packages is None else dotted.only(packages):
            for package in original.attribute("families"):
                with suppress(SweepError):  # refused, or missing: the plan reports it
                    self._families.append(families.find(package))

    def of(self, file: Path) -> Iterator[str]:
        """Yield the SHA-256 of a file, and of that file with those that it includes."""
        try:
            if not file.stat().st_size:  # files of /proc may have no end
                return
            with file.open("rb") as opened:
                yield hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            return
        if bundle.is_bundle(file):
            with suppress(bundle.BundleError):
                yield hashlib.sha256(bundle.jobs(file)).hexdigest()
        for family in self._families:
            if (digest := family.digest(file)) is not None:
                yield digest


def write_modules(modules: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a study's own code into a folder from which this process and its workers import it.

    Raises
    ------
    SweepError
        If a file of that name exists with different content: nothing is overwritten.
    """
    written = []
    for place, text in modules.items():
        file = folder / place
        if ".." in Path(place).parts or Path(place).is_absolute():
            raise SweepError(f"modules: {place} lies outside any folder; do not trust this dataset")
        if "\0" in place or (file.exists() and file.read_bytes() != text.encode()):
            raise SweepError(f"modules={folder}: {file} exists with another content; give a new folder")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SweepError(f"modules={folder}: {error.strerror}; give another folder") from None
        written.append(file)
    plugins.bring(folder)
    return written
