"""Submissions to Slurm for a results folder, reported to a run in the same folder.

They are read from the files that `slurm` keeps there (RESULTS/slurm/NNN): no module here imports that
package.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

FINISHED = (b'"why": "done"', b'"why": "failed"')
"""In the last line of an element that has finished its tasks."""


def notes(folder: Path) -> Iterator[str]:
    """Yield a line if the latest submission of a results folder may still have running elements.

    Two runs at once lose no result and double none; they only waste time.

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
                "no harm; executor=slurm with action=status shows them, and action=cancel ends them"
            )


def _finished(submission: Path) -> int:
    """Return the number of elements that have finished, by their own files."""
    files = (submission / "elements").glob("*.jsonl")
    ends = (file.read_bytes().rstrip(b"\n").rpartition(b"\n")[2] for file in files)
    return sum(any(word in end for word in FINISHED) for end in ends)
