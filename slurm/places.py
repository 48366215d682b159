"""The files that executors of this package keep in a results folder, see `sweep.executors.places`."""

import shutil
from contextlib import suppress
from pathlib import Path

ARRAYS, WORKERS = "slurm", "dask_slurm"
FOLDERS = (ARRAYS, WORKERS)


def remove_leftovers(results: Path) -> None:
    """Remove the files of killed runs; other folders there may be the user's own."""
    for made in (results / ARRAYS).glob("[0-9]*"):
        is_ours = made.name.isdecimal() and (made / "elements").is_dir()
        if is_ours and not (made / "submission.json").exists():  # nothing was submitted
            shutil.rmtree(made, ignore_errors=True)
    for made in (results / WORKERS).glob("sweep-workers-*"):
        shutil.rmtree(made, ignore_errors=True)
    with suppress(OSError):
        (results / WORKERS).rmdir()
