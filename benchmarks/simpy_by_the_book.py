"""The SimPy model as one would first write it: the Ousterhout matrix just as the paper pictures it.

The matrix is a list of slots, and a slot a list with the job on each PE, or None. All else (the processes of
users and jobs, interrupts only where a run fraction changes) is that of `simpy_model`.
"""

from __future__ import annotations

import simpy

from benchmarks.simpy_model import GangScheduler, Job

Slot = list[Job | None]
"""The job on each PE."""


class MatrixScheduler(GangScheduler):
    """Packs jobs into the rows of a matrix of slots and PEs."""

    slots: list[Slot]

    def add(self, size: int, runtime: float) -> simpy.Process:
        """Map a job to the first slot with room, on its free PEs in serial order, and let it run."""
        self.observe()
        slot = next((slot for slot in self.slots if slot.count(None) >= size), None)
        if slot is None:
            slot = [None] * self.n_pes
            self.slots.append(slot)
        pes = [pe for pe, job in enumerate(slot) if job is None][:size]
        job = Job(self, slot, pes, size, runtime)
        for pe in pes:
            slot[pe] = job
        self.jobs.append(job)
        self.share(newcomer=job)
        return job.process

    def remove(self, job: Job) -> None:
        """Free a job's PEs; close its slot if it is empty now, else unite it if that is possible."""
        self.observe()
        slot = job.slot
        self.jobs.remove(job)
        for pe in job.pes:
            slot[pe] = None
        if all(other is None for other in slot):
            self.slots.remove(slot)
        else:
            self.unite(slot)
        self.share()

    def unite(self, slot: Slot) -> None:
        """Merge a slot with the first other one whose PEs are disjoint from its own."""
        for other in self.slots:
            if other is not slot and all(a is None or b is None for a, b in zip(slot, other, strict=True)):
                low, high = sorted((slot, other), key=self.slots.index)
                for pe, job in enumerate(high):
                    if job is not None:
                        low[pe] = job
                        job.slot = low
                self.slots.remove(high)
                self.unifications += 1
                return

    def share(self, newcomer: Job | None = None) -> None:
        """Give each job its run fraction, and interrupt those whose fraction has changed.

        A job runs in its own slot and in every other in which its PEs are idle.
        """
        for job in self.jobs:
            runs_in = [slot for slot in self.slots if all(slot[pe] in (None, job) for pe in job.pes)]
            fraction = len(runs_in) / len(self.slots)
            if fraction != job.fraction:
                job.fraction = fraction
                if job is not newcomer:  # it has not started to wait yet
                    job.process.interrupt()
