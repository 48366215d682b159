"""``python -m slurm.gathering SUBMISSION``: the job that writes the dataset when the elements have ended."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from schedsweep import packages
from slurm import submission as submissions
from slurm.element import expanded
from sweep import run
from sweep.errors import SweepError
from sweep.store.folder import Folder, HeldError

PATIENCE_S = 600
"""Seconds that another process may be writing the same dataset."""


def main(arguments: Sequence[str]) -> int:
    """Write the dataset from the results and return the exit status."""
    try:
        submission = submissions.load(Path(arguments[0]))
        plan = expanded(submission)
        folder = Folder(Path(submission.output), plan.settings.name)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return run.gather(plan, folder, Console(), submission.arguments)
            except HeldError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.2)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status


if __name__ == "__main__":
    packages.search_working_folder_last()
    sys.exit(main(sys.argv[1:]))
