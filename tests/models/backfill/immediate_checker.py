"""Is a schedule with immediate service possible, and are its rules kept? Knows the pieces only, not how they
came.

For jobs that start anew after their quantum: where a job ran for longer than its runtime, its first piece was
a quantum that was lost.
"""

from __future__ import annotations

import numpy as np

from models.backfill.priority.immediate import Immediate
from models.jobs.schedule import Schedule

ROUNDING = 1e-6  # s


class Executions:
    """A schedule's pieces job by job, quanta apart from full executions."""

    def __init__(self, made: Schedule) -> None:
        runs = made.runs
        order = np.lexsort((runs.begin, runs.job))
        self.job, self.host, self.begin, self.end, self.processors = (
            column[order] for column in (runs.job, runs.host, runs.begin, runs.end, runs.processors)
        )
        n = len(made.jobs)
        self.total = np.bincount(self.job, self.end - self.begin, n)
        self.first = np.searchsorted(self.job, np.arange(n))
        self.last = np.searchsorted(self.job, np.arange(n), side="right") - 1
        self.lost = self.total > made.jobs.runtime + ROUNDING
        self.is_quantum = np.zeros(len(self.job), bool)
        self.is_quantum[self.first[self.lost]] = True


def most_at_once(begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> float:
    """Return the largest sum of what is taken at one instant; what ends gives back first."""
    instants = np.concatenate([end, begin])
    order = np.argsort(instants, kind="stable")
    return float(np.cumsum(np.concatenate([-amount, amount])[order]).max(initial=0))


def faults(made: Schedule, how: Immediate) -> list[str]:
    """Return what is wrong with a schedule: nothing, one hopes."""
    jobs, machine, runs = made.jobs, made.machine, Executions(made)
    found = []
    if (made.start < jobs.submit).any() or (runs.begin < jobs.submit[runs.job]).any():
        found.append("a job starts before its submission")
    quantum = np.where(runs.lost, (runs.end - runs.begin)[runs.first], 0)
    if not np.allclose(runs.total, jobs.runtime + quantum, rtol=0, atol=ROUNDING):
        found.append("a job does not run for its runtime")
    if (quantum > how.quantum + ROUNDING).any():
        found.append("a quantum is too long")
    if not np.allclose(made.delay, made.end - jobs.submit - jobs.runtime, rtol=0, atol=ROUNDING):
        found.append("a wait is not the time in the system less the runtime")
    lent = np.minimum(jobs.memory, how.memory)
    # It is not visible from outside whether a job that ran once and shortly had all its memory.
    unclear = ~runs.lost & (runs.total <= how.quantum)
    full = runs.first + runs.lost
    for h in range(len(machine.names)):
        here = runs.host == h
        if most_at_once(runs.begin[here], runs.end[here], runs.processors[here]) > machine.processors[h]:
            found.append(f"processors of host {h} used twice")
        of_quanta = runs.first[runs.lost & here[runs.first]]
        of_full = (full <= runs.last) & here[np.minimum(full, runs.last)]
        begin = np.concatenate([runs.begin[of_quanta], runs.begin[full[of_full]]])
        end = np.concatenate([runs.end[of_quanta], runs.end[runs.last[of_full]]])
        memory = np.concatenate([lent[runs.job[of_quanta]], np.where(unclear, lent, jobs.memory)[of_full]])
        if most_at_once(begin, end, memory) > machine.memory[h]:
            found.append(f"memory of host {h} used twice")
    return found + _wrong_victims(made, how, runs)


def _wrong_victims(made: Schedule, how: Immediate, runs: Executions) -> list[str]:
    """Look at every piece of an execution that is not its last one: its end is a preemption."""
    jobs, found = made.jobs, set()
    cut = np.flatnonzero(~runs.is_quantum & (np.arange(len(runs.job)) < runs.last[runs.job]))
    flags = np.zeros(len(jobs), bool)
    flags[runs.job[cut]] = True
    if (flags != (False if made.preempted is None else made.preempted)).any():
        found.add("a job is marked preempted that was not")
    if (runs.end[cut] - runs.begin[cut] < how.uninterrupted - ROUNDING).any():
        found.add("a job is preempted too early")
    if (runs.begin[cut + 1] - runs.end[cut] > how.quantum + ROUNDING).any():
        found.add("a job is kept from its processors for longer than a quantum")
    if (runs.host[cut + 1] != runs.host[cut]).any():
        found.add("a job continues on another host")
    length = np.where(runs.is_quantum, 0.0, runs.end - runs.begin)
    before = np.cumsum(length) - length
    before -= before[runs.first][runs.job]
    for now in np.unique(runs.end[cut]):
        victims = cut[runs.end[cut] == now]
        present = ~runs.is_quantum & (runs.begin <= now - how.uninterrupted) & (runs.end > now)
        for h in np.unique(runs.host[victims]):
            chosen = victims[runs.host[victims] == h]
            spared = np.flatnonzero(present & (runs.host == h))
            slowdown = {
                at: (now - jobs.submit[runs.job[at]]) / (before[at] + now - runs.begin[at])
                for at in (*chosen, *spared)
            }
            least = min((slowdown[at] for at in spared), default=np.inf)
            if max(slowdown[at] for at in chosen) > least + 1e-9:
                found.add("a job with a larger slowdown is preempted")
    return sorted(found)
