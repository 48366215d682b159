"""The status of submissions: from the sweep's own files, with Slurm's answers as a hint."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from models.counting import counted
from slurm import packing, record, submission
from slurm.answers import Job
from slurm.commands import Slurm, SlurmError
from slurm.reasons import hopeless
from slurm.record import Element
from slurm.submission import Submission
from sweep.executors import Assignment
from sweep.progress import duration
from sweep.store.folder import Folder

SHOWN = 5
"""Number of elements of a kind that are listed."""

KINDS = ("done", "running", "waiting", "stopped", "cancelled", "lost", "broken", "never started")
"""Kinds of elements, in the order in which their numbers are shown."""


def report(slurm: Slurm, assignment: Assignment) -> tuple[list[str], bool]:
    """Return lines to show on submissions, and whether any job is still pending or running."""
    lines: list[str] = []
    found = list(submission.submissions(assignment.folder))
    if not found:
        return ["nothing has been submitted yet: the same command without an action submits the tasks"], False
    working = False
    for number, made in enumerate(found):
        try:
            jobs, problem = slurm.jobs(name=made.job), ""
        except SlurmError as error:
            jobs, problem = [], str(error)
        if number and not jobs:
            continue  # an earlier submission is shown only if it still has jobs
        view = View(made, record.read_all(made.path), jobs, problem)
        lines.extend(view.lines(assignment))
        working = working or bool(jobs) or bool(problem)
    if not working and _outdated(assignment.folder):
        lines.append("the dataset lacks some of the results: action=gather writes it")
    return lines, working


def _outdated(folder: Folder) -> bool:
    """Whether results are newer than the dataset, as when the gathering job was killed or never started."""
    newest = max((log.stat().st_mtime for log in folder.shards.glob("*.jsonl")), default=0.0)
    return newest > (folder.dataset.stat().st_mtime if folder.dataset.exists() else 0.0)


class View:
    """One submission at one moment.

    Parameters
    ----------
    elements : dict of int to Element
        The elements that were ever started.
    jobs : list of Job
        Slurm's answer.
    problem : str
        Why there is no answer; empty if there is one.
    """

    def __init__(self, made: Submission, elements: dict[int, Element], jobs: list[Job], problem: str) -> None:
        self._made = made
        self._jobs, self._problem = jobs, problem
        self._elements = elements
        self._queue = {index: job for job in jobs for index in job.indices}
        self.kinds = {element: self._kind(element) for element in range(made.n_elements)}

    def _kind(self, element: int) -> str:
        known, job = self._elements.get(element), self._queue.get(element)
        if known is not None and known.finished:
            return "done"
        if job is not None:
            return "waiting" if job.state == "PENDING" else "running"
        if self._made.cancelled is not None and (known is None or known.why in (None, "terminated")):
            return "cancelled"
        if known is not None and known.why is not None:
            return "stopped"
        if self._problem:  # only the sweep's own files are known
            return "waiting" if known is None else "running"
        if known is not None:
            return "lost"
        return "broken" if Path(self._log(element)).exists() else "never started"

    def lines(self, assignment: Assignment) -> Iterator[str]:
        """Yield the lines to show."""
        made = self._made
        counts = Counter(self.kinds.values())
        shown = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
        yield f"submission {made.name} of {made.when}: {counted(made.n_elements, 'element')}: {shown}"
        if made.digest != submission.digest(assignment.plan):
            yield "it was made with a different grid or settings: its tasks may differ from this command's"
        if made.cancelled is not None:
            yield f"it was cancelled at {submission.clock(made.cancelled)}"
        yield from self._slurm()
        yield from self._ended_badly()
        yield from self._time_left(assignment)

    def _slurm(self) -> Iterator[str]:
        if self._problem:
            yield f"Slurm does not answer, so this comes from the sweep's own files ({self._problem})"
            return
        reasons: Counter[str] = Counter()
        for job in self._jobs:
            # The gathering job waits for the elements, which is not worth a line.
            if job.state == "PENDING" and (job.indices or hopeless(job.reason)):
                reasons[job.reason] += max(1, len(job.indices))
        for reason, count in reasons.items():
            if (text := hopeless(reason)) is not None:
                yield (f"{count} will never start, {reason}: {text}; then action=cancel, and submit again")
            else:
                yield f"{count} wait in Slurm's queue: {reason}"
        waits = any(job.id == self._made.gathering and job.state == "PENDING" for job in self._jobs)
        if waits and any(map(hopeless, reasons)):
            yield "the gathering job waits for them: action=gather writes the dataset without it"
        if not self._jobs and (left := [k for k in self.kinds.values() if k != "done"]):
            yield f"Slurm no longer has a job of it; {counted(len(left), 'element', 'is')} not finished"

    def _ended_badly(self) -> Iterator[str]:
        for kind, text in (
            ("lost", "ended without a record (killed, or its node died)"),
            ("broken", "ended before Python started (setup, python?)"),
            ("never started", "vanished from Slurm's queue without a start"),
        ):
            if found := [element for element, other in self.kinds.items() if other == kind]:
                log = "" if kind == "never started" else f", log {self._log(found[0])}"
                yield (
                    f"{counted(len(found), 'element')} {text}: {_some(found)}{log}; the same "
                    "command submits what is missing"
                )
        by_reason: dict[str, list[int]] = {}
        for element in (element for element, kind in self.kinds.items() if kind == "stopped"):
            known = self._elements[element]
            text = record.WHY.get(known.why or "", known.why or "")
            by_reason.setdefault(f"{text}: {known.report}" if known.report else text, []).append(element)
        for text, found in list(by_reason.items())[:SHOWN]:
            yield (
                f"{counted(len(found), 'element')} stopped, {text}: {_some(found)}, log {self._log(found[0])}"
            )
        failed = [e for e, known in self._elements.items() if known.why == "failed"]
        if failed:
            yield f"{counted(len(failed), 'element')} had tasks that failed: {_some(failed)}"

    def _log(self, element: int) -> str:
        if (known := self._elements.get(element)) is not None:
            return str(self._made.logs / f"{known.job}.out")
        return str(self._made.logs / f"{self._made.array}_{element}.out")

    def _time_left(self, assignment: Assignment) -> Iterator[str]:
        failed, ids = assignment.state.failed, assignment.plan.ids
        numbers = [number for number in assignment.left if ids[number] not in failed]
        if not numbers:
            return
        seconds = float(packing.predicted(assignment.plan, np.array(numbers), assignment.costs).sum())
        if np.isnan(seconds):
            yield "time left: unknown, because no such task has been timed yet"
            return
        running = [element for element, kind in self.kinds.items() if kind == "running"]
        # An element that has no record yet will have the cores that were requested.
        asked = int(self._made.profile["cpus_per_task"])
        cores = sum(self._elements[e].cores if e in self._elements else asked for e in running)
        work = f"{duration(seconds)} of work left"
        with_cores = (
            f"{duration(seconds / cores)} ({work}, {counted(cores, 'core')} working)" if cores else ""
        )
        yield f"time left: {with_cores or f'{work}, no core working now'}"


def _some(elements: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(elements)[:SHOWN]))
    return shown if len(elements) <= SHOWN else f"{shown}, ..."
