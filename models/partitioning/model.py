"""The simulation of section 5.4 for the sweep: plain data in, batches out."""

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from models import dotted
from models.arrays import Floats
from models.family import Outcome
from models.jobs.measures import Measures
from models.jobs.schedule import Pieces, Schedule, check_pieces
from models.partitioning.engine import Status
from models.partitioning.simulation import fold, sharing
from models.partitioning.simulation.measured import measured, metrics, of_trace
from models.partitioning.simulation.run import Curve, Roll, Simulation
from models.partitioning.simulation.shares import shares
from models.partitioning.simulation.source import Source, open_source
from models.partitioning.simulation.state import Settings
from models.point import Point
from models.workloads import redrawn

JOB_LIMIT = 10_000
"""With this many jobs in the system, waiting ones included, a run ends: the policy does not keep up."""

QUEUE_LIMIT = 100_000
"""The same if jobs wait for fixed partitions: queues are then longer, and cost nothing."""

OVERLOAD_BATCH = 100
"""Maximum of jobs in a batch of an overload run: in sixty of them less than `JOB_LIMIT` accumulate."""

WITHOUT_END = 2**62

KERNELS = (redrawn,)
"""Modules of compiled functions that are loaded with this one: compiling their few functions in another
process would take longer."""


def discipline_of(name: str) -> ModuleType:
    """Return the module with the functions of a discipline: all but folding depend on positions alone."""
    return fold if name == "fold" else sharing


def prepare(point: Point, recording: bool = False) -> tuple[Simulation, Roll, Source]:
    """Return a simulation of a point at time 0, the jobs that will enter it, and their source.

    With `recording` the times of jobs on each number of processors are recorded.
    """
    source = open_source(point)
    system, trace = source.system, source.trace
    policy, admission = system.policy, system.policy.admission
    batches = point.batches if trace is None else trace.divided(point.batches)[0]
    assert batches.size is not None  # see `policies.check`
    fixed = policy.has_fixed_partitions
    roll, speedup = Roll(source.parts()), source.speedup
    settings = Settings(
        limit=system.limit(point.machine),
        batch_size=batches.size,
        interval=np.inf if fixed else admission.interval,
        overhead=admission.overhead * admission.interval,
        charged=policy.reallocation_cost,
        rotation=policy.period,
        rotation_per_job=policy.per_job,
        by_shape=system.goes_by_shape,
        draining=trace is not None,
        recording=recording,
    )
    simulation = Simulation(
        discipline_of(policy.discipline),
        partial(shares, system),
        roll.arrivals(),
        settings,
        _job_limit(source),
        Curve() if speedup is None else Curve(dotted.imported(speedup.curve), np.array(speedup.parameters)),
    )
    return simulation, roll, source


def _of_overload(point: Point) -> Point:
    """Return the point of an overload run with small batches: many end before its table of jobs is full."""
    batches = point.batches
    if not batches.overloaded or batches.size is None:
        return point
    return replace(point, batches=replace(batches, size=min(batches.size, OVERLOAD_BATCH)))


def _job_limit(source: Source) -> int:
    """Return the number of places for jobs: all jobs of a trace; for a stream, a number not to be reached."""
    if source.trace is not None:
        return len(source.trace.jobs) + 1
    if source.system.policy.has_fixed_partitions:
        return QUEUE_LIMIT
    # Rigid jobs share a large machine among many.
    return JOB_LIMIT if source.speedup is None else max(JOB_LIMIT, 2 * source.system.mesh.n_processors)


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    A batch is a number of jobs in the order in which they end.
    """
    point = _of_overload(point)
    batches, measures = point.batches, Measures.of(point.measures)
    simulation, roll, source = prepare(point)
    if source.trace is not None:
        return _simulate_trace(point, simulation, source)
    assert batches.size is not None  # see `policies.check`
    n_processors = source.system.mesh.n_processors
    rotating = source.system.policy.period < np.inf and not source.system.transfer.is_free
    most = n_processors if rotating and point.machine.get("memory_limit") is None else np.inf
    parts: list[dict[str, Floats]] = []
    for checkpoint in batches.checkpoints:
        status = Status.RECORD_FULL
        while status == Status.RECORD_FULL:
            status = simulation.run(batches.warmup + checkpoint)
            taken = simulation.take()
            ended = taken.ended[: len(taken.closed) * batches.size]
            jobs = roll.of(ended.number)
            parts.append(measured(ended, jobs, taken.closed, batches.size, n_processors, measures))
            roll.forget(simulation.first_in_system)
        found = metrics(parts, batches.warmup, simulation.n_batches)
        overflowed = status == Status.TABLE_FULL or crowded(found["jobs_in_system"], most)
        if overflowed or status != Status.BATCHES_DONE or batches.is_enough(found):
            break
    return Outcome(found, simulation.n_terminated, overflowed and not batches.overloaded)


def _simulate_trace(point: Point, simulation: Simulation, source: Source) -> Outcome:
    """Run all jobs of a log or a month, and measure those that count."""
    trace = source.trace
    assert trace is not None
    ended, _, _ = _run_out(simulation, WITHOUT_END)
    batches, available = trace.divided(point.batches)
    assert batches.size is not None
    limit, held = source.system.limit(point.machine), simulation.tables.shares.held
    parts = [of_trace(ended, trace, batches.size, held, limit, Measures.of(point.measures))]
    for checkpoint in batches.checkpoints:
        found = metrics(parts, batches.warmup, batches.warmup + min(checkpoint, max(available, 0)))
        if checkpoint >= available or batches.is_enough(found):
            break
    return Outcome(found, len(trace.jobs))


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint ends a stream.

    Notes
    -----
    Of a stream it has all jobs that are submitted before the last batch ends. These are followed to their
    ends, while others continue to arrive; those that never end, because the system is full, are left out.
    A piece is the time of a job on one number of processors: its partition's, or under processor
    sharing its part of all of them.
    """
    simulation, roll, source = prepare(point, recording=True)
    ended, held, n_jobs = _run_out(simulation, WITHOUT_END if source.trace else point.batches.most)
    ended = ended[np.argsort(ended.number, kind="stable")]
    ended = ended[: np.searchsorted(ended.number, n_jobs)]
    jobs = roll.of(ended.number)
    at = np.searchsorted(ended.number, held.number)
    there = (at < len(jobs)) & (ended.number[np.minimum(at, len(jobs) - 1)] == held.number)
    held = held[there]
    order = np.lexsort((held.begin, at[there]))
    pieces = Pieces(
        at[there][order], np.zeros(len(order), np.int64), held.begin[order], held.end[order],
        held.processors[order],
    )  # fmt: skip
    return Schedule(
        jobs,
        source.machine,
        ended.start,
        ended.end,
        np.zeros(len(jobs), np.int64),
        waited=ended.end - jobs.submit - jobs.runtime,
        pieces=pieces,
        trace=source.trace,
        notes=source.notes,
    )


def _run_out(simulation: Simulation, n_batches: int) -> tuple[Any, Any, int]:
    """Simulate batches, and continue until all jobs submitted up to then have ended, or the last job has.

    Returns
    -------
    ended, held : recarray of `state.ENDED`, of `state.HELD`
        All records.
    n_jobs : int
        Jobs submitted when the batches had ended; `WITHOUT_END` if they did not.

    Raises
    ------
    ValueError
        With one line for too many pieces.
    """
    ended, held, n_pieces = [], [], 0
    wanted, n_jobs = n_batches, WITHOUT_END
    while True:
        status = simulation.run(wanted)
        taken = simulation.take()
        ended.append(taken.ended.copy())
        held.append(taken.pieces.copy())
        n_pieces += len(taken.pieces)
        check_pieces(
            n_pieces,
            "give more time between changes of partitions, with a longer policy.rotation=… or "
            "policy.admission.interval=…, or fewer jobs, with a smaller batch_size=… or workload.end=…, "
            "or run it without a schedule",
        )
        if status == Status.BATCHES_DONE:
            n_jobs = min(n_jobs, simulation.n_submitted)
            wanted = simulation.n_batches + 1
        done = status == Status.BATCHES_DONE and simulation.first_in_system >= n_jobs
        if done or status not in (Status.BATCHES_DONE, Status.RECORD_FULL):
            break
    return np.concatenate(ended).view(np.recarray), np.concatenate(held).view(np.recarray), n_jobs


def crowded(jobs_in_system: Floats, processors: float) -> bool:
    """Return whether only the number of processors limits the number of jobs under a rotating policy.

    With a short time between rotations folding does little else when there are many jobs (section 5.3.1), but
    with as many as processors, a power of two, it does not rotate at all. Where memory sets no limit that end
    of the model is not a property of the policy, and half as many jobs on average are too many for it.
    """
    last_third = jobs_in_system[-max(1, len(jobs_in_system) // 3) :]
    return bool(len(last_third) and last_third.mean() > processors / 2)
