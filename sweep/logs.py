"""The default folders of job logs: the same for runs, reruns, figures and drawings."""

import os
from pathlib import Path

VARIABLE = "TRACES"
"""Environment variable that names the folder of job logs; conf/workload reads it, too."""

USUAL = (Path("../shared/traces"), Path("traces"))
"""Folder that is searched without it."""


def folders() -> list[Path]:
    """Return the folders in which a log may be, the user's own first, whether they exist or not."""
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), *USUAL]


def folder() -> Path | None:
    """Return the one folder to read logs from: the user's own if it is named, else a usual one that exists.

    A named folder counts even if it does not exist, so that a message about a missing log names it.
    """
    first, *_ = found = folders()
    if first not in USUAL:
        return first
    return next((one for one in found if one.is_dir()), None)
