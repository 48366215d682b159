"""The record of a submission to Slurm, in a folder of its own, RESULTS/slurm/NNN.

Slurm forgets jobs and may use an id twice, so jobs are identified by a name that no other submission has, and
ids are only a hint. The files are:

- ``submission.json``: the time, command, profile, and the array's id
- ``config.json``: the config, from which an element expands the same plan
- ``tasks.npz``: the tasks of each element
- ``array.sh``, ``gather.sh``: the scripts
- ``elements/00012.jsonl``: the record of an element, see `slurm.record`
- ``logs/``: the output of elements; an empty log is removed
"""

import hashlib
import io
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slurm import places
from slurm.packing import Packing
from sweep.config import kept
from sweep.config.settings import Config
from sweep.errors import SweepError
from sweep.plan.data import Plan
from sweep.store.folder import Folder
from sweep.store.writing import inner, replace


@dataclass
class Submission:
    """A submission; see the module's description.

    Parameters
    ----------
    path : Path
        Its folder.
    job : str
        Name of all its jobs.
    created : float
        Seconds since 1970.
    arguments : list of str
        Arguments of the command that submitted it.
    output, place : str
        The results folder and the working folder, absolute.
    profile : dict
        Profile of the cluster; see `slurm.profile.Profile`.
    digest : str
        Digest of the plan; see `digest`.
    n_tasks, n_elements : int
    seconds : float, optional
        Predicted work of all tasks; None if not known.
    array, gathering : int, optional
        Ids of the array and of the job that gathers.
    cancelled : float, optional
        When a user cancelled it, seconds since 1970.
    """

    path: Path
    job: str
    created: float
    arguments: list[str]
    output: str
    place: str
    profile: dict[str, Any]
    digest: str
    n_tasks: int
    n_elements: int
    seconds: float | None
    array: int | None = None
    gathering: int | None = None
    cancelled: float | None = None

    @property
    def name(self) -> str:
        """Number of the submission, which is the name of its folder."""
        return self.path.name

    @property
    def logs(self) -> Path:
        """Folder of its jobs' output."""
        return self.path / "logs"

    @property
    def when(self) -> str:
        """Local time of the submission."""
        return clock(self.created)

    def save(self) -> None:
        """Write the record; at every moment the file is either the old or the new one."""
        data = asdict(self)
        del data["path"]
        replace(self.path / "submission.json", (json.dumps(data, indent=1) + "\n").encode())


def clock(moment: float) -> str:
    """Return a time as text in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def parent(folder: Folder) -> Path:
    """Return the folder of the submissions of a results folder."""
    return folder.path / places.ARRAYS


def claim(folder: Folder) -> Path:
    """Make the folder of a new submission and return it, absolute."""
    number = max((int(path.name) for path in _folders(folder)), default=0) + 1
    path = parent(folder).absolute() / f"{number:03d}"
    for part in ("elements", "logs"):
        inner(path / part)
    return path


def load(path: Path) -> Submission:
    """Return the submission in a folder; raise `SweepError` if there is none."""
    try:
        data = json.loads((path / "submission.json").read_text(encoding="utf-8"))
        return Submission(path=path, **data)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SweepError(
            f"{path}: not a record of a submission ({error!r}); give RESULTS/slurm/NNN"
        ) from None


def submissions(folder: Folder) -> Iterator[Submission]:
    """Yield the submissions of a results folder, the latest first."""
    for path in sorted(_folders(folder), key=lambda path: int(path.name), reverse=True):
        if (path / "submission.json").exists():  # otherwise it ended before anything was submitted
            yield load(path)


def _folders(folder: Folder) -> list[Path]:
    return [path for path in parent(folder).glob("[0-9]*") if path.name.isdecimal()]


def digest(plan: Plan) -> str:
    """Return a hash of the identities of all tasks, which an element's own expansion must reproduce."""
    return hashlib.sha256("\n".join(plan.ids).encode()).hexdigest()[:20]


def write(path: Path, config: Config, packing: Packing) -> None:
    """Write the files that elements read: the config and their tasks."""
    replace(path / "config.json", json.dumps(kept.as_json(config)).encode())
    packed = io.BytesIO()
    np.savez(packed, tasks=packing.tasks, starts=packing.starts)
    replace(path / "tasks.npz", packed.getvalue())


def read(path: Path) -> tuple[Config, Packing]:
    """Return what `write` has written."""
    with np.load(path / "tasks.npz") as stored:
        packing = Packing(stored["tasks"], stored["starts"])
    return kept.from_json(json.loads((path / "config.json").read_text(encoding="utf-8"))), packing
