"""Jobs as Slurm's scheduler sees them: what they ask for, with the defaults of their partitions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.slurm.configuration import Configuration
from models.slurm.configuration.settings import YEAR_S

EPILOG_S = 0.1
"""Seconds until the message of an epilog that slurm.conf names; at some sites its own work takes longer."""


class MisfitError(ValueError):
    """Jobs that can never start.

    Parameters
    ----------
    lost : ndarray of bool, shape (n_jobs,)
    why : str
        What the first of these jobs asks for, without its name.
    kind : str
        What the jobs have in common, in the plural.
    remedy : str
        The setting with which they could start.
    waits : ndarray of bool, optional
        Which of the jobs wait for ever; Slurm refuses the others.
    """

    def __init__(
        self, lost: np.ndarray, why: str, kind: str, remedy: str, waits: np.ndarray | None = None
    ) -> None:
        self.job = int(np.argmax(lost))
        super().__init__(f"job {self.job + 1} {why}; {remedy}")
        self.lost, self.why, self.kind, self.remedy = lost, why, kind, remedy
        self.waits = np.zeros_like(lost) if waits is None else waits


def _parts(lists: Iterable[str]) -> list[str]:
    """Return the names in comma-separated lists, each of them once."""
    return list(dict.fromkeys(name for names in lists for name in names.split(",")))


@dataclass(frozen=True, eq=False)
class Asked:
    """Jobs as the scheduler sees them; arrays have the shape (n_jobs,), `partitions` a tuple for each job.

    Parameters
    ----------
    user : ndarray of str
        Name of the job's user, or the user's number if the log has no names.
    limit : ndarray of int, seconds
        Time limit in whole minutes, as Slurm stores it.
    runtime : ndarray of float, seconds
        Until the job ends by itself.
    message : ndarray of float, seconds
        From its end until the message of its epilog, which calls the scheduler; -1 without one, as where a
        node has finished with the job before the controller asks.
    leaves : ndarray of float, seconds
        When the user cancels the job, waiting or not; infinite for never.
    answer : ndarray of float, shape (n_jobs, 2), seconds
        From its end until its nodes have answered where no message comes, and until the controller, which
        looks after 5, 15, 35, ... ms, takes note of it and calls the scheduler; -1 where it is not known.
    node_answers : ndarray of float, shape (n, 3)
        Job, node and seconds from the job's end, where a node answers before the message, by job and time.
    """

    jobs: Jobs
    request: Requests
    user: np.ndarray
    limit: Ints
    runtime: Floats
    partitions: tuple[tuple[int, ...], ...]
    message: Floats
    leaves: Floats
    answer: Floats
    node_answers: Floats

    @cached_property
    def first_record(self) -> Ints:
        """Position of each job's first record (a job has one for each partition), and the number of
        records."""
        return np.cumsum([0, *(len(place) for place in self.partitions)], dtype=np.int64)

    @cached_property
    def of_record(self) -> Ints:
        """The job of each record."""
        return np.repeat(np.arange(len(self.jobs)), np.diff(self.first_record))

    @cached_property
    def place(self) -> Ints:
        """The partition of each record."""
        return np.array([number for numbers in self.partitions for number in numbers], np.int64)


def asked(
    jobs: Jobs,
    configuration: Configuration,
    message: Floats | None = None,
    users: Sequence[str] = (),
    leaves: Floats | None = None,
    answer: Floats | None = None,
    node_answers: Floats | None = None,
) -> Asked:
    """Return what jobs ask for, with the defaults of their partitions: of time else their longest, or a year.

    `leaves` are as in `Asked`; None is never. `users` are the names of the users, if the log has them: the
    n-th for user number n. ``ValueError`` with one line for a job of a partition or with a device that is not
    there.
    """
    request = jobs.request or Requests.of(jobs.size, jobs.memory)
    if any(name != name.lower() for name in request.gres):  # as for nodes
        small = dict.fromkeys(name.lower() for name in request.gres)
        counts = {name: [n for one, n in request.gres.items() if one.lower() == name] for name in small}
        request = replace(request, gres={name: np.sum(each, axis=0) for name, each in counts.items()})
    if len(request.components) and not configuration.settings.backfill:
        raise MisfitError(
            request.het_job >= 0,
            "is a component of a heterogeneous job, which Slurm refuses with sched/builtin",
            "are components of heterogeneous jobs, which Slurm refuses with sched/builtin",
            "add policy.lines=['SchedulerType=sched/backfill']",
        )
    numbers = {one.name: number for number, one in enumerate(configuration.partitions)}
    default = (configuration.partitions.index(configuration.default_partition),)
    known: dict[str, tuple[int, ...]] = {"": default}
    given = dict.fromkeys(request.partition.tolist())
    if missing := [name for name in _parts(given) if name and name not in numbers]:
        unknown = [names for names in given if not set(missing).isdisjoint(names.split(","))]
        alone = [names for names in unknown if numbers.keys().isdisjoint(names.split(","))]
        missing = _parts(alone) or missing
        lost = np.isin(request.partition.astype(str), alone or unknown)
        beside = "" if alone else ", among others: Slurm rejects such a list as a whole"
        renamed = ", ".join(f"{name}: {configuration.default_partition.name}" for name in missing)
        kept = [name for name in _parts(given) if name in numbers]
        raise MisfitError(
            lost,
            f"is for partition {missing[0]}, but {configuration.name} has {', '.join(numbers)}; is this the "
            "log of another cluster?",
            f"are for partitions that {configuration.name} lacks ({', '.join(missing)}){beside}",
            f"add policy.partitions={{{renamed}}}, which renames partitions of the log"
            + (f", or workload.partition={kept[0]}, which keeps that partition only" if kept else ""),
        )
    for names in given:
        if names not in known:
            tier = configuration.partitions
            known[names] = tuple(
                sorted((numbers[name] for name in names.split(",")), key=lambda number: -tier[number].tier)
            )
    for name, count in request.gres.items():
        if name not in configuration.gres and count.any():
            raise MisfitError(
                count > 0,
                f"asks for --gres={name}:{count[np.argmax(count > 0)]}, but the nodes of "
                f"{configuration.name} have "
                f"{', '.join(configuration.gres) or 'no generic resources'}",
                f"ask for --gres={name}, which no node has",
                f"add Gres={name}:{count.max()} to the NodeName lines of slurm.conf",
            )
    for name, total in (configuration.settings.licences or {}).items():
        asked_for = request.licences.get(name, np.zeros(len(jobs), np.int64))
        if (asked_for > total).any():
            raise MisfitError(
                asked_for > total,
                f"asks for {name}:{asked_for.max()} licences, but {configuration.name} has {total}",
                f"ask for more licences {name} than there are",
                f"add policy.lines=['Licenses={name}:{asked_for.max()}']",
            )
    places = tuple(known[names] for names in request.partition.tolist())
    if message is None:
        message = np.full(len(jobs), EPILOG_S if configuration.settings.epilog else -1.0)
    leaves = np.full(len(jobs), np.inf) if leaves is None else leaves
    limit = np.ceil(np.where(np.isnan(jobs.requested), 0, jobs.requested) / 60).astype(np.int64) * 60
    own = [(one.default_time, one.max_time, YEAR_S) for one in configuration.partitions]
    longest = [next(time for time in times if time is not None) for times in own]
    defaults = np.array([longest[place[0]] for place in places], np.int64)
    numbers_of = [0] * len(jobs) if jobs.user is None else jobs.user.tolist()
    user = np.array([users[n - 1] if 0 < n <= len(users) else str(n) for n in numbers_of], object)
    limit = np.where(limit > 0, limit, defaults)
    answer = np.full((len(jobs), 2), -1.0) if answer is None else answer
    node_answers = np.zeros((0, 3)) if node_answers is None else node_answers
    return Asked(jobs, request, user, limit, jobs.runtime, places, message, leaves, answer, node_answers)
