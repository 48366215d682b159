"""What became of an array element: one small file, a line when an attempt starts and one when it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WHY = {
    "done": "all its tasks are done",
    "failed": "all its tasks were run, and some failed",
    "time": "its time was running out",
    "signal": "Slurm said that its time is running out",
    "terminated": "it was cancelled, pre-empted, or out of time",
    "attempts": "it had been run as often as the profile allows",
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
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return None
    events = list(_events(lines))
    starts = [event for event in events if "started" in event]
    if not starts:
        return None
    last, end = starts[-1], events[-1]
    ended = "ended" in end
    return Element(
        attempts=len(starts),
        job=last["job"],
        host=last["host"],
        cores=last["cores"],
        why=end["why"] if ended else None,
        report=end.get("report", "") if ended else "",
    )


def read_all(submission: Path) -> dict[int, Element]:
    """Return what is known of every element that was started."""
    found = {}
    for path in (submission / "elements").glob("*.jsonl"):
        if (element := read(path)) is not None:
            found[int(path.stem)] = element
    return found


def _events(lines: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # torn by a crash
            continue
