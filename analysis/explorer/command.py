"""``python -m analysis explore RESULTS``."""

import importlib
import re
from collections.abc import Sequence
from pathlib import Path

from analysis.arguments import log_folder, parsed
from analysis.errors import AnalysisError
from schedsweep.terminal import wrapped

PORT = 5006
KEYS = ("port", "browser", "hosts", "logs")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?")
PACKAGES = ("panel", "bokeh", "tornado")
"""Packages of the extra ``[explore]``."""

HELP = f"""\
python -m analysis explore RESULTS [RESULTS ...] [key=value ...]
    Opens a page in your browser to explore a dataset, even while a sweep is filling it: choose the axes,
    see the numbers of a point, draw its schedule, save the plot and its numbers.
    RESULTS is a results folder of python -m sweep, or a dataset; several are shown side by side. The address
    holds your choices; the printed address has a token, without which the page is not shown. Nothing leaves
    this machine.

    port=N         port of the page, default {PORT}; the next free one if that is in use
    browser=false  do not open a browser, only print the address
    hosts=NAMES    hosts of a proxy that leads to the page, such as JupyterHub's: hosts=hub.example.org
    logs=FOLDER    folder of job logs (SWF), for drawings; default: as for python -m analysis

    It needs the extra [explore]: pip install 'schedsweep[explore]'

Example
    python -m analysis explore results/packing"""


def main(arguments: Sequence[str]) -> None:
    """Open the page and serve it until Ctrl-C.

    Raises
    ------
    AnalysisError
        With one line, if an argument is not allowed, or the dataset cannot be shown.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(wrapped(HELP))
        if not arguments:
            raise AnalysisError("explore: name a results folder, e.g. results/packing")
        return
    where = [one for one in arguments if "=" not in one and not one.startswith("-")] or [""]
    settings = parsed([one for one in arguments if one not in where], KEYS, command="explore: ")
    port, browser = settings.get("port", str(PORT)), settings.get("browser", "true")
    if not port.isdecimal() or not 1024 <= int(port) <= 65535:
        raise AnalysisError(f"port={port}: give a number from 1024 to 65535")
    if browser not in ("true", "false"):
        raise AnalysisError(f"browser={browser}: give true or false")
    proxies = [name for name in settings.get("hosts", "").split(",") if name]
    if wrong := next((name for name in proxies if not HOST.fullmatch(name)), None):
        raise AnalysisError(f"hosts={wrong}: give names without a path, hosts=hub.example.org or NAME:PORT")
    folder = log_folder(settings)
    from analysis.explorer.source import Source

    sources = [Source(Path(one)) for one in where]
    print(f"{', '.join(where)}: preparing the page, a few seconds", flush=True)
    _check_packages()  # importing them takes most of that time
    from analysis.explorer.server import serve

    serve(sources, int(port), [] if folder is None else [folder], browser=browser == "true", proxies=proxies)


def _check_packages() -> None:
    """Refuse with one line if the extra is not installed."""
    for package in PACKAGES:
        try:
            importlib.import_module(package)
        except ImportError:
            raise AnalysisError(
                f"explore needs {package}, which is not installed: pip install 'schedsweep[explore]'"
            ) from None
