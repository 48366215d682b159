"""The configuration in a site's bundle (see `models.jobs.bundle`) or in a slurm.conf."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from models.jobs import bundle
from models.slurm.configuration import Configuration, ConfigurationError, reading


def read(
    path: str | os.PathLike[str],
    lines: Mapping[str, str] | None = None,
    sha256: str | None = None,
    words: Mapping[str, int] | None = None,
) -> Configuration:
    """Return `models.slurm.configuration.read` of a slurm.conf, or of the one in a bundle."""
    with _unpacked(path) as configuration:
        return reading.read(configuration, lines, sha256, words)


def digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a slurm.conf, or of a bundle's, followed by the files that it includes."""
    with _unpacked(path) as configuration:
        return reading.digest(configuration)


@contextmanager
def _unpacked(path: str | os.PathLike[str]) -> Iterator[str | os.PathLike[str]]:
    """Yield a slurm.conf; one in a bundle is unpacked, and may include only files of the bundle."""
    if not bundle.is_bundle(path):
        yield path
        return
    contents = bundle.read(path, log=False)
    for name, content in contents.items():
        # The reader's own lines are used, so that both find the same files.
        for number, line, shown in reading.logical_lines(content.decode(errors="replace")):
            word, *rest = [""] if shown else line.split(None, 1)
            if word.lower() == "include" and "".join(rest).strip().strip('"') not in contents:
                raise ConfigurationError(
                    f"{Path(path).name}: {name}, line {number} includes a file outside of the bundle; make "
                    "it with: python -m slurm capture"
                )
    with tempfile.TemporaryDirectory(prefix="bundle-") as folder:
        for name, content in contents.items():
            Path(folder, name).write_bytes(content)
        yield Path(folder, bundle.CONFIGURATION)
