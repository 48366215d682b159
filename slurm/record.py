"""What became of an array element: one small file, a line when an attempt starts and one when it ends.

When the dataset has been gathered, the files of finished elements become one, a line an element.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.store.folder import replace

MERGED = "elements.jsonl"
"""In the submission's folder: the files of finished elements, merged."""

WHY = {
    "done": "all its tasks are done",
    "failed": "all its tasks were run, and some failed",
    "time": "its time was running out",
    "signal": "Slurm said that its time is running out",
    "terminated": "it was cancelled, pre-empted, or out of time",
    "attempts": "it had been run in vain as often as the profile allows",
    "error": "it could not go on",
}
"""Why an attempt ended."""


@dataclass(frozen=True)
class Element:
    """What is known of an element.

    Parameters
    ----------
    attempts : int
        How often it was started.
    fruitless : int
        Attempts since the last one that is known to have finished a task.
    job : str
        Slurm's name of the last attempt, ARRAY_INDEX.
    host : str
        Where that was.
    cores : int
        That it used there.
    why : str, optional
        Why it ended, a key of `WHY`; None if it has not, or without a word.
    report : str
        More on why.
    """

    attempts: int
    fruitless: int
    job: str
    host: str
    cores: int
    why: str | None
    report: str

    @property
    def finished(self) -> bool:
        """Whether nothing is left of its share."""
        return self.why in ("done", "failed")


def file(submission: Path, element: int) -> Path:
    """Return the file of an element."""
    return submission / "elements" / f"{element:05d}.jsonl"


def append(path: Path, **event: Any) -> None:
    """Add a line and wait until it is on disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(descriptor, json.dumps(event).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> Element | None:
    """Return what a file says, None if the element was never started."""
    try:
        return _element(_events(path.read_bytes().splitlines()))
    except FileNotFoundError:
        return _merged(path.parent.parent).get(int(path.stem))


def _element(events: Sequence[dict[str, Any]]) -> Element | None:
    starts = [event for event in events if "started" in event]
    if not starts:
        return None
    last, end = starts[-1], events[-1]
    ended = "ended" in end
    fruitless = 0
    for event in events:
        fruitless = fruitless + ("started" in event) if not event.get("fruitful") else 0
    return Element(
        attempts=len(starts),
        fruitless=fruitless,
        job=last["job"],
        host=last["host"],
        cores=last["cores"],
        why=end["why"] if ended else None,
        report=end.get("report", "") if ended else "",
    )


def read_all(submission: Path) -> dict[int, Element]:
    """Return what is known of every element that was started."""
    found = _merged(submission)
    for path in (submission / "elements").glob("*.jsonl"):
        if (element := read(path)) is not None:
            found[int(path.stem)] = element
    return found


def merge(submission: Path) -> None:
    """Make one file of those of finished elements, which nobody writes to any more."""
    before = [path for path in (submission / "elements").glob("*.jsonl") if _is_finished(read(path))]
    if not before:
        return
    lines = [
        json.dumps({"element": int(path.stem), "events": _events(path.read_bytes().splitlines())}).encode()
        for path in before
    ]
    merged = submission / MERGED
    replace(merged, (merged.read_bytes() if merged.exists() else b"") + b"\n".join(lines) + b"\n")
    for path in before:
        path.unlink()


def _is_finished(element: Element | None) -> bool:
    return element is not None and element.finished


def _merged(submission: Path) -> dict[int, Element]:
    try:
        lines = _events((submission / MERGED).read_bytes().splitlines())
    except FileNotFoundError:
        return {}
    found = ((line["element"], _element(line["events"])) for line in lines)
    return {number: element for number, element in found if element is not None}


def _events(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        with suppress(ValueError):  # torn by a crash
            found.append(json.loads(line))
    return found
