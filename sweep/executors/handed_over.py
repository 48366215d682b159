"""What a batch system was given to do for a results folder: told to a run that works there at the same time.

Known from the files alone that `slurm` keeps there (RESULTS/slurm/NNN), as nothing here knows of clusters.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

FINISHED = (b'"why": "done"', b'"why": "failed"')
"""In the last line of an element that has nothing left to do."""


def notes(folder: Path) -> Iterator[str]:
    """Yield a line if the latest submission of a results folder may still have elements at work.

    Nothing is lost or doubled by that; only time is.

    Parameters
    ----------
    folder : Path
        With the results, e.g. results/packing.
    """
    for path in sorted((folder / "slurm").glob("[0-9]*/submission.json"), reverse=True)[:1]:
        try:
            made = json.loads(path.read_bytes())
            elements, created, cancelled = made["n_elements"], made["created"], made["cancelled"]
            left = elements - _finished(path.parent)
        except (OSError, ValueError, KeyError):
            continue
        if left and cancelled is None:
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(created))
            yield (
                f"{folder}: Slurm has submission {path.parent.name} of it since {since}, and {left} of its "
                f"{elements} elements have not finished: if they still run, some tasks run twice, which does "
                "no harm; executor=slurm with action=status tells, and action=cancel ends them"
            )


def _finished(submission: Path) -> int:
    """Return the number of elements that have, by their own files, nothing left to do."""
    merged = submission / "elements.jsonl"
    gathered = len(merged.read_bytes().splitlines()) if merged.exists() else 0
    files = (submission / "elements").glob("*.jsonl")
    ends = (file.read_bytes().rstrip(b"\n").rpartition(b"\n")[2] for file in files)
    return gathered + sum(any(word in end for word in FINISHED) for end in ends)
