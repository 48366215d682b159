"""``executor=slurm``: submits the tasks that are left as an array of elements, and returns.

The record of a submission is RESULTS/slurm/NNN (`slurm.submission`); its status is read from the sweep's own
files, with Slurm's answers as a hint (`slurm.status`).
"""

import math
import secrets
import shlex
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from models.counting import counted
from slurm import checks, script, status, submission
from slurm import profile as profiles
from slurm.answers import Limits
from slurm.commands import RefusedError, Slurm, SlurmError
from slurm.packing import Outline, outlined
from slurm.share import n_logs
from slurm.submission import Submission
from sweep.errors import SweepError
from sweep.executors import Assignment
from sweep.store.folder import Folder
from sweep.store.writing import replace

OWN_FILES = 9
"""Files of a submission and of its results folder that do not depend on the number of elements."""

UNKNOWN = Limits("unknown", "unknown", 1001, 10000, None)
"""Limits that are assumed where a cluster does not answer: Slurm's defaults."""


class Executor:
    """Submits tasks to Slurm; see `sweep.executors.Detached`.

    Parameters
    ----------
    profile : str
        Name or path of a cluster's profile.
    max_elements : int
        Largest number of elements that short tasks are packed into.
    **overrides
        Keys of the profile; None keeps the profile's own.
    """

    working = False

    def __init__(
        self, profile: str, max_elements: int, modules: Sequence[str] = (), **overrides: object
    ) -> None:
        del modules
        if not isinstance(max_elements, int) or isinstance(max_elements, bool) or max_elements < 1:
            raise SweepError(f"executor.max_elements={max_elements}: give 1 or more")
        self._max_elements = max_elements
        given = {key: value for key, value in overrides.items() if value is not None}
        self._profile = profiles.load(profile, given)
        self._slurm = Slurm()

    def submit(self, assignment: Assignment) -> Iterator[str]:
        """Submit what is left, as an array and a gathering job, and yield lines on how to continue.

        Raises
        ------
        SweepError
            If an earlier submission still has jobs.
        SlurmError
            If Slurm refuses or does not answer.
        """
        self._refuse_two(assignment.folder)
        outline = outlined(
            assignment, self._profile, self._slurm.limits(self._profile.qos), self._max_elements
        )
        made = self._prepare(assignment, outline)
        try:
            options = [f"--array={outline.array}", script.log_option(made.logs, "%A_%a.out")]
            made.array = self._slurm.submit(made.path / "array.sh", options)
        except RefusedError:
            shutil.rmtree(made.path)
            raise
        made.save()
        job = f"job {made.array} ({made.job})"
        elements = counted(made.n_elements, "array element")
        yield f"submitted {counted(made.n_tasks, 'task')} in {elements}: {job}"
        try:
            options = [f"--dependency=afterany:{made.array}", script.log_option(made.logs, "gather.out")]
            made.gathering = self._slurm.submit(made.path / "gather.sh", options)
            made.save()
            yield f"gathers   job {made.gathering}, when they have ended"
        except SlurmError as error:
            yield f"gathers   no job: {error}; use the same command with action=gather later"
        yield from outline.notes()
        yield from self._never_starts()
        yield f"status    the same command with action=status (or squeue --name={made.job})"
        yield "cancel    the same command with action=cancel"
        yield f"record    {made.path}"

    def outlook(self, assignment: Assignment) -> Iterator[str]:
        """Yield lines on what `submit` would do, including the script."""
        if not assignment.left:
            yield "submits   nothing: all tasks are done"
            return
        try:
            limits = self._slurm.limits(self._profile.qos)
        except SlurmError as error:
            limits = UNKNOWN
            yield f"limits    Slurm's defaults are assumed ({error})"
        outline = outlined(assignment, self._profile, limits, self._max_elements)
        n, cores = outline.packing.n_elements, self._profile.cpus_per_task
        at_a_time = f", at most {self._profile.max_parallel} at a time" if self._profile.max_parallel else ""
        yield (
            f"elements  {n} of {counted(cores, 'core')} each (the cluster's MaxArraySize is "
            f"{limits.max_array_size}){at_a_time}; profile {self._profile.name}"
        )
        yield from outline.cost()
        place = submission.parent(assignment.folder)
        # An element has its results, its record, and Slurm's log, which is removed if it is empty.
        files = OWN_FILES + n * (n_logs(cores) + 2)
        yield f"record    {place}/NNN/*; at most {files:,} files in all, including results and logs"
        yield from outline.notes()
        if limits is not UNKNOWN:
            yield from self._never_starts()
        path, job = place.absolute() / "NNN", f"{assignment.plan.settings.name}-XXXXXXXX"
        options = [f"--array={outline.array}", script.log_option(path / "logs", "%A_%a.out")]
        yield "submits   " + shlex.join(["sbatch", *options, str(path / "array.sh")])
        yield "script    array.sh"
        for line in script.array(self._profile, job, path, Path.cwd()).splitlines():
            yield f"  {line}"

    def status(self, assignment: Assignment) -> Iterable[str]:
        """Return lines on the submissions of a folder."""
        lines, self.working = status.report(self._slurm, assignment)
        return lines

    def cancel(self, folder: Folder) -> Iterator[str]:
        """Cancel the jobs of this folder's submissions, identified by their names, and no others."""
        found = False
        for made, ids in self._living(folder):
            found = True
            self._slurm.cancel(ids)
            made.cancelled = time.time()
            made.save()
            which = ", ".join(map(str, ids))
            yield f"cancelled submission {made.name} of {made.when}: jobs {which} ({made.job})"
        text = "finished tasks are kept: action=gather writes a dataset of them, and the same command "
        text += "without an action submits the remaining ones"
        yield text if found else f"nothing to cancel: Slurm has no job of {submission.parent(folder)}"

    def _never_starts(self) -> Iterator[str]:
        """Yield a note on settings that Slurm would accept without a message, but never start."""
        with suppress(SlurmError):
            found = checks.partitions(self._slurm.partitions(), self._profile)
            if found.level in ("wrong", "warning"):
                yield f"note      {found.subject} {found.text}: until then elements may wait forever"

    def _living(self, folder: Folder) -> Iterator[tuple[Submission, list[int]]]:
        """Yield the submissions of a folder that still have jobs, with the ids of these jobs."""
        for made in submission.submissions(folder):
            if ids := sorted({job.id for job in self._slurm.jobs(name=made.job)}):
                yield made, ids

    def _refuse_two(self, folder: Folder) -> None:
        for made, ids in self._living(folder):
            raise SweepError(
                f"{folder.path}: submission {made.name} of {made.when} still has jobs "
                f"({', '.join(map(str, ids))}); wait for them (action=status), or end them (action=cancel)"
            )

    def _prepare(self, assignment: Assignment, outline: Outline) -> Submission:
        """Write everything that elements read, before the first of them can start."""
        path = submission.claim(assignment.folder)
        asked = self._profile
        job = f"{assignment.plan.settings.name}-{secrets.token_hex(4)}"
        made = Submission(
            path=path,
            job=job,
            created=time.time(),
            arguments=list(assignment.arguments),
            output=str(assignment.folder.path.absolute()),
            place=str(Path.cwd()),
            profile={**asdict(asked), "time_s": asked.time_s if asked.time_s < math.inf else None},
            digest=submission.digest(assignment.plan),
            n_tasks=len(assignment.left),
            n_elements=outline.packing.n_elements,
            seconds=outline.work_s,
        )
        try:
            submission.write(path, assignment.plan.asked, outline.packing)
            replace(path / "array.sh", script.array(asked, job, path, Path.cwd()).encode())
            replace(path / "gather.sh", script.gathering(asked, job, path, Path.cwd()).encode())
            made.save()
        except OSError as error:
            raise assignment.folder.unwritable(error) from None
        return made
