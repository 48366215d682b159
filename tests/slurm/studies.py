"""The quick study of ``tests/sweep``, as seen from here: its plan and its command."""

import contextlib
import io
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import xarray as xr

SWEEP = Path(__file__).resolve().parent.parent / "sweep"
ROOT = SWEEP.parent.parent
CONF = SWEEP / "conf"
if str(SWEEP) not in sys.path:
    sys.path.append(str(SWEEP))

from slurm import submission  # noqa: E402
from slurm.submission import Submission  # noqa: E402
from sweep import cli  # noqa: E402
from sweep.config import compose, locate  # noqa: E402
from sweep.config.overrides import parsed  # noqa: E402
from sweep.config.settings import Config  # noqa: E402
from sweep.plan.data import Plan  # noqa: E402
from sweep.plan.expansion import expand as expanded  # noqa: E402
from sweep.store.folder import Folder  # noqa: E402
from sweep.store.loading import loaded  # noqa: E402

TASKS = 24
PROFILE = ROOT / "slurm" / "testcluster.yaml"


@cache
def configured(*overrides: str) -> Config:
    """Return the config of the experiment ``queue``."""
    return compose.load(parsed(("+experiment=queue", *overrides)), locate.conf_folder(), [CONF])


@cache
def expand(*overrides: str) -> Plan:
    """Return the plan of the experiment ``queue``."""
    return expanded(configured(*overrides))


def environment(place: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user who works in a folder and has cached nothing yet."""
    path = os.pathsep.join([str(ROOT), str(SWEEP)])
    return {**os.environ, **more, "PYTHONPATH": path, "XDG_CACHE_HOME": str(place / "cache")}


@dataclass
class Answer:
    """Output and exit status of a command."""

    status: int
    output: str


def sweep(place: Path, env: Mapping[str, str], *arguments: str) -> Answer:
    """Run ``python -m sweep +experiment=queue executor=slurm`` in a folder, with the test cluster's profile.

    In this process, which has imported everything already: a test has half a dozen commands.
    """
    given = [f"--config-dir={CONF}", "+experiment=queue", *arguments]
    if not any(argument.startswith("executor=") for argument in arguments):
        given += ["executor=slurm", f"slurm={PROFILE}"]
    output = io.StringIO()
    # Wide, as if it were a file: lines are not broken where a terminal would end.
    with (
        mock.patch.dict(os.environ, {**env, "COLUMNS": "200"}, clear=True),
        contextlib.chdir(place),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        status = cli.main(given)
    return Answer(status, output.getvalue())


def numbers(folder: Path) -> xr.Dataset:
    """Return all that a study found out: everything but how it was made and how long it took."""
    with loaded(folder / "queue.nc") as stored:
        return stored.load().drop_vars("seconds").drop_attrs()


def submitted(path: Path, **changed: Any) -> Submission:
    """Return a submission of the study in four elements, as if Slurm had taken it."""
    fields: dict[str, Any] = {
        "job": "queue-0123abcd", "created": time.time(), "arguments": [], "output": str(path.parent.parent),
        "place": str(path.parent.parent), "profile": {"max_attempts": 3, "time_s": None, "cpus_per_task": 1},
        "digest": submission.digest(expand()), "n_tasks": TASKS, "n_elements": 4, "seconds": None,
    }  # fmt: skip
    return Submission(path=path, **{**fields, **changed})


def folder(path: Path) -> Folder:
    """Return a results folder of the study."""
    return Folder(path, "queue")
