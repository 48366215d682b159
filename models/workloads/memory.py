"""Memory for jobs without a request: ``workload.memory``, for any workload."""

from dataclasses import replace

import numpy as np

from models import checks
from models.arrays import Ints
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine
from models.jobs.stream import Stream
from models.point import Parameters, Point
from models.units import KB_IN_MB


def wanted(workload: Parameters) -> bool:
    """Return whether memory is filled in; ``ValueError`` with one line for a value that is not allowed."""
    if workload.get("memory") is None:
        return False
    allowed = "MB for each processor of a job that asks for none, or null"
    checks.number(workload, "workload", "memory", allowed, least=0, most=1e9)
    return True


def of_log(name: str, jobs: Jobs, workload: Parameters) -> tuple[Jobs, list[str]]:
    """Return a log's jobs, with this memory per processor for jobs without a request, and notes on it."""
    if not wanted(workload):
        return jobs, []
    lacking = int((jobs.memory == 0).sum())
    if not lacking:
        return jobs, [
            f"{name}: every job asks for memory, so none is filled in (memory={workload['memory']:g})"
        ]
    note = (
        f"{name}: {counted(lacking, 'job', 'has')} no memory request: {workload['memory']:g} MB for each "
        "processor are taken"
    )
    return _filled(jobs, workload), [note]


def of_stream(stream: Stream, point: Point) -> Stream:
    """Return a stream whose jobs without a request take this memory per processor, if the option is set.

    A stream leaves no job out: if the hosts do not have that much, a job takes the memory that they offer.
    """
    workload, machine = point.workload, stream.machine
    if not wanted(workload):
        return stream

    def filled(jobs: Jobs) -> Jobs:
        found = _filled(jobs, workload)
        return replace(found, memory=np.minimum(found.memory, offered(machine, jobs.size)))

    note = f"{stream.name}: jobs without a memory request take {workload['memory']:g} MB for each processor"
    size = np.arange(1, machine.largest + 1)
    if (beyond := np.ceil(size * _each(workload)) > offered(machine, size)).any():
        note += (
            f", jobs of {size[beyond][0]:,} processors or more at most what the smallest host that has "
            "their processors offers"
        )
    return replace(stream.mapped(filled), notes=(*stream.notes, note))


def offered(machine: Machine, size: Ints) -> Ints:
    """Return the KB that every host with a job's processors offers, shape (n_jobs,).

    If jobs span hosts, each processor offers as much as on the host with the least memory per processor.
    """
    if machine.spans:
        each = int((machine.memory // machine.processors).min())
        return np.asarray(size * min(each, UNLIMITED_KB // machine.total))
    has_processors = machine.processors >= size[:, None]
    of_hosts = np.where(has_processors, machine.memory, np.iinfo(np.int64).max).min(axis=1)
    if machine.memory_each == UNLIMITED_KB:
        return np.asarray(of_hosts)
    return np.asarray(np.minimum(of_hosts, size * machine.memory_each))


def _each(workload: Parameters) -> float:
    return float(workload["memory"]) * KB_IN_MB


def _filled(jobs: Jobs, workload: Parameters) -> Jobs:
    asked = np.ceil(jobs.size * _each(workload)).astype(np.int64)
    used = jobs.used_memory
    if used is not None:
        used = np.where((jobs.memory == 0) & (used == 0), asked, used)
    return replace(jobs, memory=np.where(jobs.memory == 0, asked, jobs.memory), used_memory=used)
