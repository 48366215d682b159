"""``python -m slurm.gathering SUBMISSION``: the job that writes the dataset when the elements have ended.

It leaves few files: the logs and records of finished elements are joined.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from schedsweep import packages
from slurm import record
from slurm import submission as submissions
from slurm.element import expanded
from slurm.share import logs_of, patiently
from slurm.submission import Submission
from sweep import run
from sweep.errors import SweepError
from sweep.store.folder import Folder
from sweep.store.shards import merge

PATIENCE_S = 600
"""Seconds that another process may be writing the same dataset."""


def main(arguments: Sequence[str]) -> int:
    """Write the dataset from the results and return the exit status."""
    try:
        submission = submissions.load(Path(arguments[0]))
        plan = expanded(submission)
        folder = Folder(Path(submission.output), plan.settings.name)

        def gather() -> int:
            status = run.gather(plan, folder, Console(), submission.arguments)
            with folder.lock():
                tidy(submission, folder)
            return status

        return patiently(gather, PATIENCE_S)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status


def tidy(submission: Submission, folder: Folder) -> None:
    """Merge what finished elements have left; call it with the folder locked, as it renames and removes.

    Whatever happens in between, nothing is lost: a task may then be in two logs, with the same bits.
    """
    finished = [number for number, one in record.read_all(submission.path).items() if one.finished]
    logs = [log for number in finished for log in logs_of(submission, number).files()]
    try:
        if len(logs) > 1:
            merge(folder.shards, sorted(logs), f"slurm-{submission.job}-{secrets.token_hex(4)}")
        record.join(submission.path)
    except OSError as error:  # many files are no failure
        print(f"the files of the elements stay as they are: {error}", file=sys.stderr)


if __name__ == "__main__":
    packages.look_last_in_working_folder()
    sys.exit(main(sys.argv[1:]))
