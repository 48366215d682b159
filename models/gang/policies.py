"""The rules of a gang scheduler, read from a policy's YAML file and checked.

Nothing is compiled here, so that a plan can be checked without loading a kernel; only a scheme of the user's
own is imported. Packing schemes have their names in `models.packing.scheme`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models import checks, keys, workloads
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine, one_pool
from models.jobs.stream import CHECKED
from models.jobs.ties import TIES
from models.packing.scheme import Scheme, of_scheme
from models.point import Parameters, Point

PRECEDENCE = {"arrival": 0, "largest": 1, "smallest": -1}
"""Name -> the sign of sizes, which are sorted in descending order."""

FCFS, BACKFILL = "fcfs", "backfill"

ADMISSION = "models.gang.admission"
"""Module of the queue before a matrix, which only runs with a bound load."""

ALWAYS = ("models.gang.model", "models.workloads.redrawn")
"""Modules whose kernels every run needs."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A policy's YAML file, checked."""

    BASE = "_gang"

    scheme: Scheme
    name: str  # of the scheme
    parameters: tuple[int, ...]  # of the scheme, see `Scheme.arguments`
    alternation: str = keys.choice("exclusive", "none", "shared")  # see `models.gang.alternation`
    precedence: str = keys.choice(*PRECEDENCE)  # which jobs take free PEs first under ``exclusive``
    unification: bool = keys.switch()  # whether slots whose PEs have become disjoint are united
    # With more jobs in the system the run ends, because the policy does not keep up. A trace runs to its end.
    job_limit: int = keys.whole("a positive whole number of jobs")
    # Whether the end or the arrival comes first if both are at one instant, see
    # `models.jobs.ties`. A repetition is submitted as its job ends, before any other event. The queue is
    # processed after all events of an instant, or after each.
    ties: str = keys.choice(*TIES)
    # The multiprogramming level: maximum of used slots, None for no limit. Jobs beyond it wait in a queue.
    slots_limit: int | None = keys.whole(
        "a whole number of slots from 1 on (multiprogramming level), or null (no limit)", null=True
    )
    # Which jobs may enter before a waiting one: none, or the jobs that do not delay it, see `queueing`.
    queue: str = keys.choice(FCFS, BACKFILL)
    # Seconds from one switch to the next; matters only if a switch has a cost.
    slice: float | None = keys.number(f"{checks.SECONDS}, or null", null=True, above=0)
    switch_cost: float = keys.seconds()  # of each slice where there are several slots (`models.gang.slices`)
    memory: bool = keys.switch()  # whether the jobs on a PE, of all slots, have to fit into its memory
    kill: bool = keys.switch()  # whether jobs are ended when they have run for their requested time

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        rules = cls(**of_scheme(policy), **keys.read(cls, policy, "policy"))
        length, cost = rules.slice, rules.switch_cost
        if cost and length is None:
            raise ValueError(
                f"policy.switch_cost={cost:g} and policy.slice=null: a switch takes its part of a "
                "slice; add policy.slice=SECONDS, longer than the switch"
            )
        if length is not None and cost >= length:
            raise ValueError(
                f"policy.switch_cost={cost:g} s is not shorter than policy.slice={length:g} s: "
                "no job would ever run; give a longer slice or a cheaper switch"
            )
        return rules

    @property
    def bounded(self) -> bool:
        """Whether jobs may have to wait."""
        return self.slots_limit is not None or self.memory

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter."""
        return (self.bounded and self.queue == BACKFILL) or self.kill

    def __str__(self) -> str:
        precedence = f", precedence {self.precedence}" if self.alternation == "exclusive" else ""
        return (
            f"gang scheduling, packing scheme {self.name}, alternation {self.alternation}{precedence}"
            f"{'' if self.unification else ', no unification'}, ties {self.ties}{self._bounds()}"
        )

    def _bounds(self) -> str:
        bounds = ""
        if self.slots_limit is not None:
            bounds += f", at most {counted(self.slots_limit, 'slot')}"
        if self.memory:
            bounds += ", memory of the PEs counted"
        if self.bounded:
            bounds += f", queue {self.queue}"
        if self.switch_cost:
            bounds += f", a switch of {self.switch_cost:g} s in each slice of {self.slice:g} s"
        return bounds + (", jobs killed at their requested time" if self.kill else "")


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    workloads.refuse_weeks(point)
    workloads.refuse_feedback(point, known=("repetition",))
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    rules.scheme.check(one_pool(opened.machine, point.machine, point.policy))
    if rules.reads_requests or rules.memory:
        jobs = opened.first(CHECKED)
        check_jobs(rules, point, jobs, opened.machine)
    return opened.notes


def check_jobs(rules: Rules, point: Point, jobs: Jobs, machine: Machine) -> None:
    """Raise ``ValueError`` with one line for jobs that lack a column that the rules need."""
    waits = rules.bounded and rules.queue == BACKFILL
    unknown = int(np.isnan(jobs.requested).sum())
    if waits and unknown:
        raise ValueError(
            f"workload {point.workload.get('name', '')}: {counted(unknown, 'job', 'has', of=len(jobs))} no "
            "requested time, but policy.queue=backfill reads it; add workload.estimates=tsafrir2005 to "
            "draw requests (exact: each asks for its runtime), or policy.queue=fcfs"
        )
    if not rules.memory:
        return
    if machine.memory_each == UNLIMITED_KB:
        raise ValueError(
            "policy.memory=true: the memory of the machine's processors is unknown; add "
            "machine.memory_gb_per_processor=NUMBER, or policy.memory=false"
        )
    if not jobs.memory.any():
        raise ValueError(
            f"policy.memory=true, and the jobs of workload {point.workload.get('name', '')} ask for no "
            "memory; add workload.memory=MB (for each processor of a job), or policy.memory=false"
        )


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: the schedulers draw no random numbers, the workload may."""
    return workloads.is_stochastic(point.workload, reads_requests=Rules.of(point.policy).reads_requests)


def kernels(point: Point) -> set[str]:
    """Return the modules whose kernels a point needs, see `models.family.Family.needed`."""
    rules = Rules.of(point.policy)
    return {*ALWAYS, *rules.scheme.modules, *((ADMISSION,) if rules.bounded else ())}
