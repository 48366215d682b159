"""The command line of ``python -m slurm``: one module a command, imported only when it is asked for."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from sweep.errors import INTERRUPTED, SweepError, unknown

COMMANDS = {
    "doctor": "find out what is wrong with a cluster, or with its profile, before a night is lost",
    "testcluster": "start a throw-away Slurm of emulated nodes on this machine",
}
"""Command and what it does. A command is a module here with a function ``main(arguments) -> status``."""


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status: 0, 1 failed, 2 wrong arguments, 130 interrupted."""
    command, *rest = arguments or ["--help"]
    if command in ("-h", "--help", "help"):
        print("usage: python -m slurm COMMAND [key=value ...]\n\ncommands (COMMAND --help says more)")
        for name, text in COMMANDS.items():
            print(f"  {name:<12}{text}")
        return 0
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        if command not in COMMANDS:
            raise SweepError(unknown("command", command, COMMANDS))
        status: int = importlib.import_module(f"slurm.{command}").main(rest)
        return status
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("stopped; nothing is left behind", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
