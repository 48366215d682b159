"""Where the config folders are."""

import os
from contextlib import suppress
from pathlib import Path

from sweep import plugins
from sweep.errors import SweepError


def conf_folder() -> Path:
    """Return the project's ``conf``: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise SweepError(f"no conf folder with a config.yaml in {package} or beside it; reinstall the package")


def place(given: str) -> Path:
    """Return a path with ``~`` resolved, or unchanged where ``~NAME`` names no user."""
    try:
        return Path(given).expanduser()
    except RuntimeError:
        return Path(given)


VARIABLE = "SCHEDSWEEP_CONFIG_DIR"
"""Environment variable that replaces ``--config-dir`` where the option is not given."""


def folders(given: str | None = None) -> list[Path]:
    """Return the config folders in the order in which they are searched.

    They are the project's, the user's own (`given`, else the one that `VARIABLE` names), ``schedsweep/conf``
    in the user's configuration folder, and the folders of plug-ins.

    Parameters
    ----------
    given : str, optional
        The folder of ``--config-dir``.
    """
    found = [conf_folder()]
    if given is not None:
        found.append(user_folder(given))
    elif named := os.environ.get(VARIABLE):
        found.append(user_folder(named, VARIABLE))
    with suppress(RuntimeError):  # no home
        home = Path(os.environ.get("XDG_CONFIG_HOME", ""))
        own = (home if home.is_absolute() else Path.home() / ".config") / "schedsweep" / "conf"
        if own.is_dir():
            found.append(own)
    return list(dict.fromkeys([*found, *plugins.conf_folders()]))


def user_folder(given: str, where: str = "--config-dir") -> Path:
    """Return a user's own config folder as an absolute path."""
    try:
        folder = Path(given).expanduser().absolute()
        if given and folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError):  # a name that is too long, no such user, a null character
        pass
    raise SweepError(
        f"{where} {given[:300] or '(empty)'}: no such folder; give one with experiment/, policy/, ..., like "
        "conf"
    )
