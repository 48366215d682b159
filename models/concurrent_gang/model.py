"""Concurrent Gang as the sweep sees it: plain data in, batches out."""

from dataclasses import replace

import numpy as np

from models import workloads
from models.arrays import Floats
from models.concurrent_gang import codes
from models.concurrent_gang.metrics import CAUSES, STATES
from models.concurrent_gang.policies import Hardware, machine_of, rules_of, until_horizon
from models.concurrent_gang.recording import Recorder
from models.concurrent_gang.simulation import Simulation
from models.counting import counted
from models.family import Outcome
from models.jobs.ended import Ended
from models.jobs.jobs import Jobs
from models.jobs.machine import one_pool
from models.jobs.measures import Measures, of_jobs
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.packing.driver import BATCHES_DONE, ENDLESS, TABLE_FULL, Measured
from models.point import Point
from models.workloads.statements import Statements

LONG_TAIL, BEHIND = 4, 0.25
"""A run does not wait for the ends of a schedule's last jobs once `LONG_TAIL` times as many jobs came after
them, and a share `BEHIND` of all submitted jobs is in the system."""

SECONDS_IN_HOUR = 3600.0


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`.

    Notes
    -----
    A batch is a fixed number of measured jobs in order of termination; for a workload that ends,
    `models.jobs.trace.Trace.divided` gives this number. With ``policy.horizon`` the only batch lasts from 0
    to that time and has the jobs that end in it.
    """
    rules = rules_of(point.policy)
    opened = _open(point)
    if rules.horizon is not None:
        simulation = _simulation(point, opened, Measured())
        simulation.run(1, until=rules.horizon)
        simulation.cut(rules.horizon)
        return Outcome(_metrics(point, opened, simulation, ENDLESS, 1, 0), simulation.n_terminated)
    batches, available = point.batches, point.batches.checkpoints[-1]
    if isinstance(opened, Trace):
        batches, available = opened.divided(batches)
    assert batches.size is not None  # a trace's batches are divided, a stream needs a size
    simulation = _simulation(point, opened, Measured.of(opened, batches))
    size = batches.size
    status, metrics = simulation.run_to_checkpoints(
        batches,
        available,
        lambda: _metrics(point, opened, simulation, size, simulation.n_batches, batches.warmup),
    )
    return Outcome(metrics, simulation.n_terminated, status == TABLE_FULL)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures, see `models.family.Family.schedule`.

    For a stream it contains all jobs that are submitted before the last batch ends, or before the horizon,
    each to its end; ``ValueError`` with one line if more jobs are in the system at a time than the table can
    hold.
    A piece belongs to one PE.
    """
    rules = rules_of(point.policy)
    opened = workloads.open_workload(until_horizon(point))
    recorder = Recorder(only_busy=True)
    in_batches = rules.horizon is None and not isinstance(opened, Trace)
    measured = Measured.of(opened, point.batches) if in_batches else Measured()
    simulation = _simulation(point, opened, measured, recorder)
    status = BATCHES_DONE
    if rules.horizon is not None:
        status = simulation.run(ENDLESS, until=rules.horizon)
    elif not isinstance(opened, Trace):
        status = simulation.run(point.batches.most)
    whole = isinstance(opened, Trace) and rules.horizon is None
    n_jobs = len(opened.jobs) if isinstance(opened, Trace) and whole else simulation.n_submitted
    simulation.record_only(n_jobs)

    def check() -> None:
        submitted = simulation.n_submitted
        behind = submitted - simulation.n_terminated > BEHIND * submitted
        if not isinstance(opened, Trace) and behind and submitted > (1 + LONG_TAIL) * n_jobs + 400:
            raise ValueError(
                f"some of {counted(n_jobs, 'job')} have not ended when {submitted - n_jobs:,} "
                "more have been submitted, so the machine does not keep up; give a lower load, shorter "
                "slices, or shorter waits of tasks (disks, io_time)"
            )

    # Jobs that are still running are slowed down by later arrivals.
    try:
        simulation.run_out(n_jobs, status, rules.job_limit, check)
    except ValueError as refused:
        raise ValueError(f"{point}: {refused}") from None
    ended = simulation.ended()
    order = np.argsort(ended.number)
    ended = Ended(*(column[order[ended.number[order] < n_jobs]] for column in ended))
    jobs = opened.first(n_jobs).part(ended.number)
    return Schedule(
        jobs,
        opened.machine,
        start=ended.start,
        end=ended.end,
        host=np.zeros(n_jobs, np.int64),
        waited=ended.end - ended.submit - ended.runtime,
        pieces=recorder.pieces(n_jobs),
        # The rows of a log match its jobs only if all of them are there.
        trace=opened if isinstance(opened, Trace) and n_jobs == len(opened.jobs) else None,
        notes=(str(rules), str(Statements.of(point.workload))),
    )


def prepare(point: Point, recorder: Recorder | None = None) -> Simulation:
    """Return a simulation of a point at time 0 that is not measured."""
    return _simulation(point, _open(point), Measured(), recorder)


def _open(point: Point) -> Stream | Trace:
    """Return the jobs of a point; with requested times only if measures may read them."""
    point = until_horizon(point)
    if Measures.of(point.measures).reads_columns:
        return workloads.open_workload(point)
    return workloads.open_workload(replace(point, workload={**point.workload, "estimates": None}))


def _simulation(
    point: Point, opened: Stream | Trace, measured: Measured, recorder: Recorder | None = None
) -> Simulation:
    n_pes = one_pool(opened.machine, point.machine, point.policy)
    rules = rules_of(point.policy)
    return Simulation(
        rules,
        Hardware.of(machine_of(point.machine, n_pes)),
        Statements.of(point.workload),
        opened.chunks(),
        point.seed,
        measured,
        ends=isinstance(opened, Trace) or rules.horizon is not None,
        recorder=recorder,
    )


def _metrics(
    point: Point, opened: Stream | Trace, simulation: Simulation, size: int, n_batches: int, warmup: int
) -> dict[str, Floats]:
    """Return the metrics of the batches that have ended after the warm-up."""
    ended = simulation.ended()
    n_ended = min(len(ended.number), n_batches * size)
    ended = Ended(*(column[:n_ended] for column in ended))
    batch = np.arange(n_ended) // size
    measures = Measures.of(point.measures)
    values = {"wait": ended.start - ended.submit, "response_time": ended.end - ended.submit}
    all_jobs = opened.jobs.part(opened.measured) if isinstance(opened, Trace) else None
    found = of_jobs(
        _as_they_ran(ended, opened, measures.reads_columns), values, batch, n_batches, measures, all_jobs
    )
    found |= _of_machine(simulation.batches[:n_batches], found["jobs"], simulation.n_pes)
    return {name: values[warmup:] for name, values in found.items()}


def _as_they_ran(ended: Ended, opened: Stream | Trace, grouped: bool) -> Jobs:
    if not grouped:
        return Jobs.bare(ended.submit, ended.runtime, ended.size)
    return opened.first(int(ended.number.max(initial=-1)) + 1).part(ended.number)


def _of_machine(sums: np.ndarray, n_jobs: Floats, n_pes: int) -> dict[str, Floats]:
    """Return the metrics of machine and tasks from the sums over each batch."""
    period = sums["now"] - sums["batch_start"]
    pe_time, task_wait = sums["pe_time"], sums["task_wait"]
    idle = pe_time[:, codes.EMPTY :].sum(axis=1)
    assert (len(STATES), len(CAUSES)) == (codes.N_STATES, codes.N_CAUSES)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "throughput": SECONDS_IN_HOUR * n_jobs / period,
            "period": period,
            "pe_time": pe_time,
            "idle_time": idle,
            "idle_share": idle / (n_pes * period),
            "idle_time_of_tasks": pe_time[:, codes.EMPTY] + task_wait.sum(axis=1),
            "task_wait": task_wait,
            "local_share": sums["local_of"].sum(axis=1) / pe_time[:, codes.BUSY],
            "busy_of_class": sums["busy_of"],
            "local_of_class": sums["local_of"],
            "jobs_of_class": sums["jobs_of"],
            "response_of_class": sums["response_of"] / sums["jobs_of"],
            "idling_ratio": sums["idling"] / sums["idling_time"],
            "used_slots": sums["slot_time"] / period,
            "switches": sums["switches"],
            "workload_changes": sums["changes"],
            "pes_notified": sums["notified"],
            "utilization": pe_time[:, codes.BUSY] / (n_pes * period),
            "jobs_in_system": sums["job_time"] / period,
        }
