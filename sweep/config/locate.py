"""Where the config folder is, and what it offers, found without Hydra for ``--help``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sweep.errors import SweepError


def conf_folder() -> Path:
    """Return the project's ``conf``: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise SweepError(
        f"no conf folder with a config.yaml in {package} or beside it; install the package again"
    )


def user_folder(given: str) -> Path:
    """Return the folder of ``--config-dir`` as an absolute path."""
    folder = Path(given).expanduser().absolute()
    if not folder.is_dir():
        raise SweepError(
            f"--config-dir {given}: no such folder; it holds experiment/, policy/, ... like conf"
        )
    return folder


def offered(group: str, folders: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield name and one-line description of each YAML file of a config group, sorted by name.

    The description is the file's first comment that is no Hydra directive (``# @package``). Files whose name
    starts with an underscore are bases for others, not choices.
    """
    files = {file.stem: file for folder in reversed(folders) for file in (folder / group).glob("*.yaml")}
    for name, file in sorted(files.items()):
        if not name.startswith("_"):
            yield name, _description(file)


def _description(file: Path) -> str:
    for line in file.read_text(encoding="utf-8").splitlines():
        comment = line.removeprefix("#").strip()
        if not line.startswith("#"):
            break
        if comment and not comment.startswith("@"):
            return comment
    return ""
