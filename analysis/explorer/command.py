"""``python -m analysis explore RESULTS``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import AnalysisError

PORT = 5006
KEYS = ("port", "browser", "logs")
PACKAGES = ("panel", "hvplot")
"""What the extra brings."""

HELP = f"""\
python -m analysis explore RESULTS [key=value ...]
    Opens a page in your browser to look into a dataset, also while it is still being filled: choose what is
    drawn over what, see the numbers of a point, draw its schedule, save picture and numbers.
    RESULTS is a results folder of python -m sweep, or a dataset. Nothing leaves this machine.

    port=N         where to serve it, default {PORT}; the next free one if that is in use
    browser=false  do not open a browser, only print the address
    logs=FOLDER    where job logs (SWF) are, for drawings; default: as for python -m analysis

    It takes the extra [explore]: pip install 'schedsweep[explore]'

Example
    python -m analysis explore results/packing"""


def main(arguments: Sequence[str]) -> None:
    """Open the page and serve it until Ctrl-C.

    Raises
    ------
    AnalysisError
        With one line for what cannot be shown.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP)
        if not arguments:
            raise AnalysisError("explore: name a results folder, e.g. results/packing")
        return
    settings = _settings(arguments[1:])
    port, browser, logs = _port(settings), _browser(settings), _logs(settings)
    from analysis.explorer.source import Source

    source = Source(Path(arguments[0]))
    print(f"{arguments[0]}: the page is being prepared, a few seconds", flush=True)
    _check_packages()  # to import them takes most of that
    from analysis.explorer.server import serve

    serve(source, port, logs, browser=browser)


def _settings(arguments: Sequence[str]) -> dict[str, str]:
    found = {}
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if not sign or key not in KEYS:
            raise AnalysisError(
                f"explore: {argument!r} is not understood; valid: {', '.join(f'{key}=' for key in KEYS)}"
            )
        found[key] = value
    return found


def _port(settings: dict[str, str]) -> int:
    given = settings.get("port", str(PORT))
    if not given.isdecimal() or not 1024 <= int(given) <= 65535:
        raise AnalysisError(f"port={given}: give a number from 1024 to 65535")
    return int(given)


def _browser(settings: dict[str, str]) -> bool:
    given = settings.get("browser", "true")
    if given not in ("true", "false"):
        raise AnalysisError(f"browser={given}: give true or false")
    return given == "true"


def _logs(settings: dict[str, str]) -> list[Path]:
    from analysis.command import log_folder

    folder = log_folder(settings)
    return [] if folder is None else [folder]


def _check_packages() -> None:
    """Refuse in one line where the extra is not installed."""
    for package in PACKAGES:
        try:
            importlib.import_module(package)
        except ImportError:
            raise AnalysisError(
                f"explore needs {package}, which is not installed: pip install 'schedsweep[explore]'"
            ) from None
