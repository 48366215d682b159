"""``sbatch --array=0-15 slurm/sweep.sbatch +experiment=packing``: an array whose submission has no record.

Each element takes the tasks whose number modulo the array's size is its index, so that elements need not
communicate; their status is in Slurm's log, and `action=gather` writes the dataset.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from schedsweep import packages
from slurm import share
from slurm.commands import SlurmError
from slurm.share import Logs
from slurm.watch import TerminatedError, Watch, end_of_job, queue_again
from sweep import cli
from sweep.config import compose, locate
from sweep.errors import INTERRUPTED, RunError, SweepError
from sweep.plan.plan import expand
from sweep.store import manifest, state
from sweep.store.folder import Folder

ATTEMPTS = 3
"""Times that an element is run in vain before the rest of it waits for the next submission."""

PATIENCE_S = 60
"""Seconds that the other elements may take to write the folder's manifest."""


def main(arguments: Sequence[str]) -> int:
    """Run this element's tasks and return the exit status: 0 if all of them are done."""
    cores = share.own_cores()
    try:
        with Watch(end_of_job(None), share.rounds(cores)) as watch:
            return _run(arguments, cores, watch)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    except TerminatedError:
        print("stopped; the same command continues", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: Sequence[str], cores: int, watch: Watch) -> int:
    overrides, user, *_ = cli.options(arguments)
    plan = expand(compose.load(overrides, locate.conf_folder(), user))
    folder = Folder(Path(plan.settings.output).expanduser(), plan.settings.name)
    index, size = place()
    mine = [number for number in state.read(plan, folder).left() if number % size == index]
    print(f"element {index} of {size}: {len(mine)} tasks to run on {cores} cores", flush=True)
    if not mine:
        return 0
    for note in plan.check():
        print(note, flush=True)
    folder.create()

    def claim() -> None:
        with folder.lock():
            folder.claim(manifest.claim(folder, plan))

    share.patiently(claim, PATIENCE_S)  # all other elements claim it at this moment
    array = os.environ.get("SLURM_ARRAY_JOB_ID", "0")
    logs = Logs(folder, f"array-{array}-{index:05d}")
    share.run(plan, mine, logs, cores, watch)
    done, failed = logs.tried()
    ids = {plan.ids[number] for number in mine}
    left = len(ids - done - failed)
    print(f"{len(ids & done)} done, {len(ids & failed)} failed, {left} left", flush=True)
    fruitful = left < len(ids)
    if left and watch.why and (fruitful or int(os.environ.get("SLURM_RESTART_COUNT", "0")) + 1 < ATTEMPTS):
        try:
            queue_again(f"{array}_{os.environ['SLURM_ARRAY_TASK_ID']}")
        except SlurmError as error:
            print(f"it could not be queued again: {error}", file=sys.stderr)
    return RunError.status if left or ids & failed else 0


def place() -> tuple[int, int]:
    """Return this element's index, from 0, and the number of elements.

    Raises
    ------
    SweepError
        Outside an array.
    """
    try:
        index, first, step, size = (
            int(os.environ[f"SLURM_ARRAY_TASK_{key}"]) for key in ("ID", "MIN", "STEP", "COUNT")
        )
    except (KeyError, ValueError):
        raise SweepError(
            "this is no element of an array: sbatch --array=0-15 slurm/sweep.sbatch +experiment=NAME"
        ) from None
    if (index - first) // step >= size:
        raise SweepError("the array's indices have gaps: give a range, e.g. --array=0-15")
    return (index - first) // step, size


if __name__ == "__main__":
    packages.look_last_in_working_folder()
    sys.exit(main(sys.argv[1:]))
