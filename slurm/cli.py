"""The command line of ``python -m slurm``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import NoReturn

from sweep.errors import INTERRUPTED, SweepError, unknown

HELP = """\
usage: python -m slurm doctor [profile=default] [folder=results] [wait_s=120]

Checks a Slurm cluster as a sweep will use it, and submits one short job (two where mpi4py is installed).
One line a check: ok, warning, wrong (with what to do) or skipped. Exit status 1 if anything is wrong.

  profile=NAME  a profile of slurm/profiles ({names}), or the path of a YAML file
  folder=DIR    the results folder: every node must be able to write into it
  wait_s=N      seconds that the job may wait in the queue before it is cancelled"""

DEFAULTS = {"profile": "default", "folder": "results", "wait_s": "120"}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status: 0, 1 failed, 2 wrong arguments, 130 interrupted."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        if not arguments or {"-h", "--help", "help"}.intersection(arguments):
            from slurm import profile

            print(HELP.format(names=", ".join(profile.names())))
            return 0
        if arguments[0] != "doctor":
            raise SweepError(unknown("command", arguments[0], ["doctor"]))
        return _examine(**_options(arguments[1:]))
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("stopped; no job and no file is left", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Return the defaults, replaced where an argument ``key=value`` is given."""
    given = dict(DEFAULTS)
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in DEFAULTS:
            raise SweepError(unknown("argument", key, [f"{name}=" for name in DEFAULTS]))
        if not value:
            raise SweepError(f"{argument}: give a value, {key}=VALUE")
        given[key] = value
    if not given["wait_s"].isdecimal() or int(given["wait_s"]) < 1:
        raise SweepError(f"wait_s={given['wait_s']}: give a whole number, 1 or more")
    return given


def _examine(profile: str, folder: str, wait_s: str) -> int:
    """Print findings as they are made and return 1 if anything is wrong, else 0."""
    from slurm import doctor
    from slurm import profile as profiles

    levels = []
    found = doctor.examine(profiles.load(profile), Path(folder).expanduser().absolute(), int(wait_s))
    with closing(found) as findings:
        for finding in findings:
            print(finding, flush=True)
            levels.append(finding.level)
    wrong = "wrong" in levels
    advice = "correct it and run the doctor again" if wrong else f"ready for executor=slurm slurm={profile}"
    print(f"\nwrong: {levels.count('wrong')}, warnings: {levels.count('warning')}; {advice}")
    return int(wrong)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
