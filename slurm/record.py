"""The record of an array element: one small file, with a line when an attempt starts and one when it ends."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sweep.store.writing import open_log

WHY = {
    "done": "all its tasks are done",
    "failed": "all its tasks were run, and some failed",
    "time": "its time was running out",
    "signal": "Slurm signalled that its time was running out",
    "terminated": "it was cancelled, pre-empted, or out of time",
    "attempts": "it had failed as often as the profile allows",
    "error": "it could not continue",
}
"""Why an attempt ended."""


@dataclass(frozen=True)
class Element:
    """An element, as its record describes it.

    Parameters
    ----------
    attempts : int
        How often the element was started.
    fruitless : int
        Attempts since the last one that is known to have finished a task.
    job, host : str
        Slurm's name for the last attempt, ARRAY_INDEX, and its node.
    cores : int
        Cores that the attempt used there.
    why : str, optional
        Why it ended, a key of `WHY`; None if it has not ended or its end is not recorded.
    report : str
        More about the reason.
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
        """Whether the element has finished its share."""
        return self.why in ("done", "failed")

    @classmethod
    def of(cls, events: Sequence[dict[str, Any]]) -> Self:
        """Return an element from the lines of its record."""
        starts = [event for event in events if "started" in event]
        last, end, fruitless = starts[-1], events[-1] if "ended" in events[-1] else {}, 0
        for event in events:
            fruitless = fruitless + ("started" in event) if not event.get("fruitful") else 0
        why, report = end.get("why"), end.get("report", "")
        return cls(len(starts), fruitless, last["job"], last["host"], last["cores"], why, report)


def file(submission: Path, element: int) -> Path:
    """Return the file of an element."""
    return submission / "elements" / f"{element:05d}.jsonl"


def append(path: Path, **event: Any) -> None:
    """Add a line to an element's file and wait until it is on disk."""
    descriptor = open_log(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, json.dumps({"element": int(path.stem), **event}).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> Element | None:
    """Return the element of a file, or None if it was never started."""
    return _read([path]).get(int(path.stem))


def read_all(submission: Path) -> dict[int, Element]:
    """Return every element that was started, by number."""
    return _read((submission / "elements").glob("*.jsonl"))


def _read(paths: Iterable[Path]) -> dict[int, Element]:
    events: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for path in paths:
        with suppress(FileNotFoundError):
            for line in path.read_bytes().splitlines():
                with suppress(ValueError):  # the line was cut off by a crash
                    event = json.loads(line)
                    events[event["element"]].append(event)
    return {number: Element.of(found) for number, found in events.items() if "started" in found[0]}
