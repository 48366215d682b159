"""The rules of a scheduler with fixed slices, read from a policy's YAML file and checked. Loads no kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from models import checks, keys, workloads
from models.arrays import Ints
from models.counting import counted
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, one_pool
from models.jobs.stream import CHECKED
from models.point import Parameters, Point
from models.production_gang.systems import first_of
from models.workloads.phases import Phases

MOST_KB = 2**61
"""Maximum memory of a computer: far more than any has, and far below an overflow."""


def _priorities(policy: Parameters, where: str, key: str) -> tuple[float, ...]:
    """Return the checked priority of each class."""
    given = checks.mapping(policy[key], f"{where}.{key}", JOB_CLASSES)
    return tuple(float(checks.number(given, f"{where}.{key}", name, "a number")) for name in JOB_CLASSES)


@dataclass(frozen=True, kw_only=True)
class SliceRules:
    """The rules of both systems; conf/policy/production_gang/_slices.yaml explains each key."""

    BASE = "_slices"

    slice: float = keys.interval()
    switch: float = keys.seconds()
    adapts: bool = keys.switch()
    unclassified: str = keys.choice(*JOB_CLASSES)

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the checked rules; ``ValueError`` with one line for a value not allowed."""
        rules = cls(**keys.read(cls, policy, "policy"))
        if rules.switch >= rules.slice:
            allowed = f"seconds, 0 or more and less than policy.slice={rules.slice:g}"
            checks.refuse("policy.switch", policy["switch"], allowed)
        return rules

    def job_classes(self, jobs: Jobs) -> Ints:
        """Return every job's class: the workload's, else `unclassified`."""
        if jobs.job_class is not None:
            return np.asarray(jobs.job_class, np.int64)
        return np.full(len(jobs), JOB_CLASSES.index(self.unclassified))


@dataclass(frozen=True, kw_only=True)
class Tc2000Rules(SliceRules):
    """Rules of the BBN TC2000; conf/policy/production_gang/tc2000_gang.yaml explains each key."""

    BASE = "tc2000_gang"

    fair_share: str = keys.choice("user", "job", "none")
    newcomer_slices: int = keys.whole("a whole number of slices, 0 or more", least=0)
    placement: str = keys.choice("blocks", "least_crowded")

    def __str__(self) -> str:
        of = {"user": "fair shares for users", "job": "fair shares for jobs", "none": "jobs in turn"}
        return f"slices of {self.slice:g} s, {of[self.fair_share]}, {self.switch:g} s to switch"

    def adjustments(self, jobs: Jobs, machine: Machine) -> Sequence[str]:
        """Return notes on how jobs are adjusted; ``ValueError`` with one line if one could never run."""
        _refuse_beyond(jobs, machine.total)
        if jobs.user is None and self.fair_share == "user":
            return ("the workload names no users: each job has a fair share (policy.fair_share=job)",)
        return ()


@dataclass(frozen=True, kw_only=True)
class AlphaRules(SliceRules):
    """Rules of the DEC Alpha cluster; conf/policy/production_gang/alpha_gang.yaml explains each key."""

    BASE = "alpha_gang"

    reserved: int = keys.whole("a whole number of CPUs of each computer, 0 or more", least=0)
    gang_from: int = keys.whole()
    frame: int = keys.whole("1 to 1000 slices", most=1000)
    delivered: float = keys.number("a share above 0 and up to 1", above=0, most=1)
    memory_room: float = keys.number("a number, 1 or more and up to 1000", least=1, most=1000)
    oversized: str = keys.choice("cut", "error")
    priority: tuple[float, ...] = keys.checked(_priorities)

    def __str__(self) -> str:
        kept = f"{counted(self.reserved, 'CPU')} of each computer in reserve"
        tickets = f"tickets for {self.frame} slices"
        return f"slices of {self.slice:g} s, {kept}, {tickets}, {self.switch:g} s to switch"

    def check_machine(self, machine: Machine) -> None:
        """Raise ``ValueError`` with one line for computers without a CPU for gangs, or for other jobs."""
        least = int(machine.processors.min())
        if self.reserved >= least:
            name = machine.names[int(machine.processors.argmin())]
            raise ValueError(
                f"policy.reserved={self.reserved} leaves gangs no CPU of {name}, which has {least}; "
                f"allowed: 0 to {least - 1}"
            )
        if self.gang_from > (largest := int(machine.processors.max())):
            raise ValueError(
                f"policy.gang_from={self.gang_from}: a job that is not gang scheduled runs on one computer, "
                f"and the largest has {largest} CPUs; allowed: 1 to {largest}"
            )

    def gang(self, machine: Machine) -> Ints:
        """Return the CPUs of each computer that gangs may have, shape (n_hosts,)."""
        return np.asarray(machine.processors - self.reserved)

    def room(self, machine: Machine) -> Ints:
        """Return the KB of each computer that jobs may have together, shape (n_hosts,)."""
        return np.minimum(machine.memory * self.memory_room, MOST_KB).astype(np.int64)

    def most(self, jobs: Jobs, machine: Machine) -> Ints:
        """Return the processors that each job gets at most, shape (n_jobs,)."""
        gang = self.gang(machine)
        largest = int(gang.sum() if machine.spans else gang.max())
        return np.where(jobs.size < self.gang_from, jobs.size, np.minimum(jobs.size, largest))

    def adjustments(self, jobs: Jobs, machine: Machine) -> Sequence[str]:
        """Return notes on how jobs are adjusted; ``ValueError`` with one line if one could never run."""
        self.check_machine(machine)
        _refuse_beyond(jobs, machine.largest)
        gang, room, most = self.gang(machine), self.room(machine), self.most(jobs, machine)
        is_gang = jobs.size >= self.gang_from
        each = np.maximum(-(-jobs.memory // most), 1)[:, None]
        cpus = np.where(is_gang[:, None], gang, machine.processors)
        able = np.minimum(cpus, room // each)
        fits = np.where(is_gang & machine.spans, able.sum(axis=1), able.max(axis=1)) >= most
        first = first_of(~fits)
        if first is not None:
            raise ValueError(
                f"job {first + 1} asks for {jobs.memory[first]:,} KB on "
                f"{counted(jobs.size[first], 'processor')}, more than the computers can hold; leave out such "
                "jobs (workload.oversized=drop, of a log), or give policy.memory_room or machine.hosts with "
                "more memory"
            )
        notes = []
        cut = most < jobs.size
        if cut.any():
            largest = int(most[cut].max())
            if self.oversized == "error":
                first = int(np.argmax(cut))
                raise ValueError(
                    f"job {first + 1} asks for {counted(jobs.size[first], 'processor')}, but gangs may have "
                    f"{largest} beside the reserve (policy.reserved={self.reserved}); leave out such jobs, "
                    "or add policy.oversized=cut"
                )
            notes.append(
                f"{counted(int(cut.sum()), 'job', 'asks', of=len(jobs))} for more than the {largest} CPUs "
                "that gangs may have: such jobs get all of these and run longer (policy.oversized=cut)"
            )
        free = int((~is_gang).sum())
        if free:
            notes.append(
                f"{counted(free, 'job', 'is', of=len(jobs))} not gang scheduled "
                f"(policy.gang_from={self.gang_from})"
            )
        return notes


def rules_of(policy: Parameters) -> Tc2000Rules | AlphaRules:
    """Return the rules of a policy's system; ``ValueError`` with one line for a value not allowed."""
    return Tc2000Rules.of(policy) if policy.get("system") == "tc2000" else AlphaRules.of(policy)


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    rules = rules_of(point.policy)
    Phases.of(point.workload)
    opened = workloads.open_workload(point)
    if isinstance(rules, Tc2000Rules):
        one_pool(opened.machine, point.machine, point.policy)
    return (*opened.notes, *rules.adjustments(opened.first(CHECKED), opened.machine), str(rules))


def _refuse_beyond(jobs: Jobs, largest: int) -> None:
    first = first_of(jobs.size > largest)
    if first is not None:
        raise ValueError(
            f"job {first + 1} asks for {counted(jobs.size[first], 'processor')}, but a job can have "
            f"{largest} here: leave out such jobs, or use a larger machine"
        )
