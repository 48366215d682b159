"""Where the config folders are."""

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


def place(given: str) -> Path:
    """Return a path with ``~`` resolved; that of no user is a name like any other."""
    try:
        return Path(given).expanduser()
    except RuntimeError:
        return Path(given)


def user_folder(given: str) -> Path:
    """Return the folder of ``--config-dir`` as an absolute path."""
    try:
        folder = Path(given).expanduser().absolute()
        if given and folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError):  # a name that is too long, no such user, a null character
        pass
    raise SweepError(
        f"--config-dir {given[:300] or '(empty)'}: no such folder; it holds experiment/, policy/, ..., "
        "like conf"
    )
