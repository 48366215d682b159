"""The steps from the jobs of a log to a trace: memory, hosts that can run them, resampling, and a load."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.calendar import DAY, MOST_YEARS, YEAR
from models.jobs.jobs import Jobs
from models.jobs.machine import SHAPES, Machine
from models.jobs.trace import Origin, Trace
from models.point import Parameters, Point
from models.workloads import estimates, memory, resampling

WORTH_A_NOTE = DAY
"""Length of a log in seconds from which a growing queue is reported: a shorter burst is supposed to queue."""


HOUR = 3600.0
HOLDS = 0.999
"""Share of a log's time, and of its work, for which the proposed machine size suffices."""
ONE_POOL = "one pool of processors for what its site may schedule separately"
PARTITIONS = "partitions"

KEEP = "keep"
"""The value of ``workload.downtime`` and of ``workload.cancelled`` that keeps what a log has of them."""

MISFITS = DROP, CAP, REFUSE = ("drop", "cap", "refuse")
"""Treatments of jobs that can never start on the machine."""

CANCELLED = "cancelled"
"""Declared by families that simulate jobs which are cancelled while they wait."""

NO_DOWNTIME = np.empty((0, 2))

EACH = "each"
"""The value of ``workload.partition`` with which each partition is simulated separately."""

LEAST_SHARE = 0.01
"""Share of a log's jobs from which a partition is simulated separately."""

Read = TypeVar("Read")

ANY_FITTING = repr
"""Stands for the `Point.fitting` of any policy, if only its existence matters."""


def of_file(path: str) -> tuple[int, int] | None:
    """Return the state of a file, None if it cannot be read: a log is cached until its state changes."""
    try:
        stat = os.stat(path)
    except OSError:
        return None  # reading it will raise the error
    return stat.st_mtime_ns, stat.st_size


def read_once(read: Callable[[str, str | None], Read]) -> Callable[[Parameters], Read]:
    """Return a function that reads a workload's log once for all tasks of a process, and again if it changes.

    A study's plan adds the log's SHA-256 to the workload (``sha256``): any other content is refused.
    """

    @lru_cache(maxsize=2)
    def read_in_state(path: str, sha256: str | None, state: object) -> Read:
        return read(path, sha256)

    def read_log(workload: Parameters) -> Read:
        if workload.get("path") is None:
            raise ValueError(
                f"workload {workload.get('name', '')} has no path of a log; begin its file with defaults: "
                f"[{workload.get('model')}, _self_], and give workload.path=FILE"
            )
        path = str(workload["path"])
        return read_in_state(path, workload.get("sha256"), of_file(path))

    return read_log


def kept(opening: Callable[[Point], Read]) -> Callable[[Point], Read]:
    """Cache the last workload that was opened: a plan opens the same jobs for one policy after another.

    Parameters
    ----------
    opening : callable
        A function of the workload, the machine, the load, the seed and the length of a point; its only file
        is ``workload.path``.
    """

    last: dict[str, Read] = {}

    @wraps(opening)
    def last_or_opened(point: Point) -> Read:
        path, length = point.workload.get("path"), (point.batches.size, point.batches.most)
        state = None if path is None else of_file(str(path))
        machine = dict(point.machine)
        key = repr((dict(point.workload), machine, point.load, point.seed, length, state, point.fitting))
        if key not in last:
            made = opening(point)
            last.clear()
            last[key] = made
        return last[key]

    return last_or_opened


def opened(reading: Callable[[Point], tuple[Trace, Ints]]) -> Callable[[Point], Trace]:
    """Return a function that opens a log, whose jobs are read once for all policies on the same nodes.

    Parameters
    ----------
    reading : callable
        Returns the jobs of the log, and the line of each.
    """
    read_jobs = kept(reading)

    @kept
    @wraps(reading)
    def open_trace(point: Point) -> Trace:
        fits_nodes = None if point.fitting is None else ANY_FITTING
        return trace_of(point, *read_jobs(replace(point, fitting=fits_nodes)))

    return open_trace


def oversized(workload: Parameters) -> str:
    """Return the treatment of jobs larger than the machine: ``workload.oversized``, if null that for
    misfits."""
    misfits = checks.choice({"misfits": DROP, **workload}, "workload", "misfits", MISFITS)
    return str(workload.get("oversized") or ("error" if misfits == REFUSE else misfits))


def largest(point: Point, machine: Machine) -> int | None:
    """Return the processors of the largest job that is accepted; None if the policy's nodes decide."""
    by_nodes = point.fitting is not None and point.workload.get("oversized") is None
    return None if by_nodes else machine.largest


def not_larger(
    machine: Machine, start: np.ndarray, runtime: np.ndarray, size: Ints
) -> tuple[np.ndarray, np.ndarray, Ints]:
    """Return the columns of the jobs that are not larger than the machine."""
    fits = size <= machine.largest
    return start[fits], runtime[fits], size[fits]


def keeps_cancelled(workload: Parameters) -> bool:
    """Return whether jobs that were cancelled while they waited are in the queue until then."""
    return checks.choice({"cancelled": DROP, **workload}, "workload", "cancelled", (DROP, KEEP)) == KEEP


def names_no_machine(machine: Parameters) -> bool:
    """Return whether a machine takes its number of processors from the log's header."""
    return all(machine.get(key) is None for key in ("processors", "hosts", *SHAPES))


def most_at_once(start: np.ndarray, runtime: np.ndarray, size: Ints) -> int:
    """Return the most processors that jobs had at once; processors of a job are free at its end.

    Parameters
    ----------
    start, runtime : ndarray, shape (n_jobs,), seconds
    size : ndarray of int, shape (n_jobs,)
    """
    return int(_usage(start, runtime, size)[0].max(initial=0))


def machine_size(start: np.ndarray, runtime: np.ndarray, size: Ints) -> int:
    """Return the number of processors that a log's machine may have had.

    Clocks of records differ by seconds, so that jobs may seem to overlap briefly: the result is the least
    number that suffices for `HOLDS` of the time and of the work, and for every job.
    """
    used, seconds = _usage(start, runtime, size)
    if not used.size:
        return 0
    order = np.argsort(used, kind="stable")
    level, lasts = used[order].astype(float), seconds[order]
    later = np.cumsum(lasts[::-1])[::-1]
    above = np.append(later[1:], 0.0)  # seconds with more in use than each level
    # Work beyond a level: the sum over higher levels of their excess.
    beyond = np.append(np.cumsum((level * lasts)[::-1])[::-1][1:], 0.0) - level * above
    holds = (above <= (1 - HOLDS) * lasts.sum()) & (beyond <= (1 - HOLDS) * (level @ lasts))
    return max(int(level[int(np.argmax(holds))]), int(size.max()))


def in_use(start: np.ndarray, runtime: np.ndarray, size: Ints) -> str:
    """Return in words how many processors the jobs of a log had at once."""
    most, proposed = most_at_once(start, runtime, size), machine_size(start, runtime, size)
    used, seconds = _usage(start, runtime, size)
    if most <= proposed:
        return f"its jobs had {counted(most, 'processor')} at once"
    return (
        f"its jobs had {proposed:,} processors at once or fewer for {HOLDS:.1%} of the time and of the "
        f"work, and up to {most:,} for {seconds[used > proposed].sum():,.0f} s in all"
    )


def _usage(start: np.ndarray, runtime: np.ndarray, size: Ints) -> tuple[Ints, Floats]:
    """Return the processors in use between any two changes, and for how many seconds."""
    if not len(size):
        return np.empty(0, np.int64), np.empty(0)
    instant = np.concatenate([start, start + runtime])
    change = np.concatenate([size, -size])
    order = np.lexsort((change, instant))
    return np.cumsum(change[order])[:-1], np.diff(instant[order]).astype(float)


def most_of_each(
    name: str, partition: np.ndarray, start: np.ndarray, runtime: np.ndarray, size: Ints
) -> dict[Any, int]:
    """Return the most processors that the jobs of each large partition had at once.

    Parameters
    ----------
    partition, start, runtime, size : ndarray, shape (n_jobs,)
        As recorded.

    Raises
    ------
    ValueError
        With one line if there are not two partitions.
    """
    names, counts = np.unique(partition, return_counts=True)
    order = np.argsort(counts, kind="stable")[::-1]
    chosen = [names[i].item() for i in order if counts[i] >= LEAST_SHARE * partition.size]
    if len(chosen) < 2:
        raise ValueError(
            f"{name}: workload.partition=each, but {counts.max() / partition.size:.1%} of its jobs are in "
            "one partition; omit it"
        )
    return {one: machine_size(*(of[partition == one] for of in (start, runtime, size))) for one in chosen}


def notes_of_pool(
    name: str, start: np.ndarray, runtime: np.ndarray, size: Ints, machine: Machine
) -> list[str]:
    """Return a note if a machine has fewer processors than the log's jobs used at once; see
    `machine_size`."""
    if (proposed := machine_size(start, runtime, size)) <= machine.total:
        return []
    return [
        f"{name}: {in_use(start, runtime, size)}, as recorded, but the machine has {machine.total:,}: waits "
        f"will be longer than on the log's own machine; add machine.processors={proposed}"
    ]


def notes_of_merged(name: str, apart: Mapping[str, np.ndarray]) -> list[str]:
    """Return one note on kinds of jobs that a site may schedule separately, and that share one pool here.

    Parameters
    ----------
    apart : mapping of str to ndarray, shape (n_jobs,)
        Kind, in the plural -> each job's value; an empty string means none.
    """
    merged, how = [], ""
    for kind, values in apart.items():
        names, counts = np.unique(values, return_counts=True)
        shares = counts / counts.sum()
        if counts.size < 2:
            continue
        if names[0] == "":  # the first is the largest
            merged.append(f"{kind} ({1 - shares[0]:.1%} of the jobs)")
            continue
        largest = int(np.argmax(shares))
        merged.append(
            f"{counts.size} {kind} ({1 - shares[largest]:.1%} of the jobs outside {names[largest]})"
        )
        if kind == PARTITIONS:
            how = (
                f"; workload.partition={names[largest]} keeps one of them, workload.partition=each simulates "
                "each separately, with as many processors as its jobs had at once"
            )
    return [f"{name}: {ONE_POOL}: {', '.join(merged)}{how}"] * bool(merged)


def downtimes(
    name: str, arrival: Floats, start: Floats, runtime: Floats, workload: Parameters
) -> tuple[Floats, list[str]]:
    """Find the times of an hour or more in which no job of a log ran although some waited.

    Parameters
    ----------
    arrival, start, runtime : ndarray, shape (n_jobs,), seconds
        Columns of all jobs that ran, whether they are simulated or not.

    Returns
    -------
    ndarray, shape (n_downtimes, 2)
        When each begins and ends, none unless ``workload.downtime`` keeps them.
    list of str
        A note on them.
    """
    keeps = checks.choice(workload, "workload", "downtime", (None, KEEP)) == KEEP
    if start.size < 2:
        return NO_DOWNTIME, []
    order = np.argsort(start, kind="stable")
    all_ended = np.maximum.accumulate((start + runtime)[order])[:-1]
    waits_since = np.minimum.accumulate(arrival[order][::-1])[::-1][1:]  # of all jobs that start from then on
    begin, end = np.maximum(all_ended, waits_since), start[order][1:]
    is_long = end - begin >= HOUR
    if not is_long.any():
        return NO_DOWNTIME, []
    begin, end = begin[is_long], end[is_long]
    down = end - begin
    share = down.sum() / ((start + runtime).max() - start.min())
    # The time down until an instant; between its arrival and its start a job waited through the difference.
    instants, until = np.stack([begin, end]).T.ravel(), np.repeat(np.cumsum(down), 2)
    until[::2] -= down
    through = np.interp(start, instants, until) - np.interp(arrival, instants, until)
    of_waiting = through.sum() / (start - arrival).sum()
    then = "kept as reservations of the whole machine" if keeps else "which is not simulated"
    note = (
        f"{name}: no job ran for an hour or more although some were waiting: {counted(down.size, 'time')}, "
        f"{down.sum() / HOUR:,.0f} h in all ({share:.1%} of its time; at most {down.max() / HOUR:,.1f} h): "
        f"downtime or maintenance, {then} (workload.downtime={KEEP if keeps else 'null'}); "
        f"{of_waiting:.1%} of all waiting in the log was in these times"
    )
    return np.stack([begin, end], axis=1) if keeps else NO_DOWNTIME, [note]


def may_be_its_own(machine: Machine, at_once: int, named: int | None) -> bool:
    """Return whether a machine may be the one on which a log was recorded.

    Parameters
    ----------
    at_once : int
        The most processors that the log's jobs had at once.
    named : int, optional
        Processors of the machine according to the log, which may show more in use; None if the log does not
        name them, or if only a part of that machine's jobs is read.
    """
    if named is None:
        return at_once <= machine.total
    return named <= machine.total <= max(named, at_once)


def trace_of(point: Point, read: Trace, place: Ints, unit: str = "line") -> Trace:
    """Return the jobs that some host can run, resampled if the workload asks for it, at a load.

    Parameters
    ----------
    point : Point
        Its load rescales the time between submissions, nothing else.
    place : ndarray of int, shape (n_jobs,)
        Position of each job in the log, counted in `unit`.

    Raises
    ------
    ValueError
        With one line that names the mistake.
    """
    name, machine = read.name, read.machine
    _check_submissions(name, read.jobs.submit, place, unit)
    jobs, limited = estimates.with_longest(read, point.workload)
    jobs = estimates.with_predictions(jobs, read.waited, point.workload)
    jobs, filled = memory.of_log(name, jobs, point.workload)
    notes = [*read.notes, *limited, *filled]
    taken = replace(read, jobs=jobs)
    fits = machine.takes(jobs.size, jobs.memory) | (largest(point, machine) is None)
    if not fits.all():
        lost = int((~fits).sum())
        if (
            "error" in (given := oversized(point.workload))
            or given == point.workload.get("oversized") == CAP
            or lost == len(fits)
        ):
            first = int(np.argmin(fits))
            raise ValueError(
                f"{name}: {unit} {place[first]} asks for {counted(jobs.size[first], 'processor')} with "
                f"{jobs.memory[first]:,} KB, which no host has; add workload.oversized=drop, or give a "
                "larger machine or one with more memory"
            )
        lacks = "memory" if (jobs.size <= machine.largest).all() else "processors or memory"
        notes.append(
            f"{name}: {counted(lost, 'more job', 'was')} dropped, because no host has the {lacks} "
            "(oversized=drop)"
        )
        taken = taken.part(fits)
    if point.fitting is not None:
        before = len(taken.jobs)
        taken = point.fitting(replace(taken, notes=tuple(notes)))
        notes = [*taken.notes]
        if (lost := before - len(taken.jobs)) and (origin := taken.origin) is not None:
            account = f"{origin.account}; then {counted(lost, 'misfit')}, {len(taken.jobs):,} left"
            notes = [account if note == origin.account else note for note in notes]
            taken = replace(taken, origin=replace(origin, account=account))
    jobs, waited = taken.jobs, taken.waited
    natural = _load(jobs, machine)
    facts = []
    if waited is not None and (known := ~np.isnan(waited)).any():
        whose = "these jobs" if known.all() else f"{int(known.sum()):,} of these jobs"
        facts.append(f"{name}: in the log, {whose} waited for {_in_words(waited[known].mean())} on average")
    if natural is not None:
        facts.append(f"{name}: its own load is {natural:.3f} on {counted(machine.total, 'processor')}")
    elif point.load is not None:
        raise ValueError(
            f"{name}: {counted(len(jobs), 'job', 'is')} submitted at one instant, so it has no load to "
            "rescale; simulate it at its own load, grid.load=[null]"
        )
    if natural is not None and natural > 1 and point.load is None and float(jobs.submit[-1]) >= WORTH_A_NOTE:
        notes.append(
            f"{name}: its jobs are {natural:.3g} times what {counted(machine.total, 'processor')} can do "
            "while they are submitted: the queue grows, and mean waits depend mainly on the length of the "
            "log; give more processors, or a load, grid.load=[0.9]"
        )
    origin = None if taken.origin is None else _placed(taken.origin, jobs, natural, facts)
    if taken.cancelled is not None and len(taken.cancelled.jobs):
        left = f"{name}: {counted(len(taken.cancelled.jobs), 'job', 'was')} cancelled while waiting"
        if resampling.wanted(point.workload) is not None:
            notes.append(f"{left}, which a resampled log leaves out")
            taken = replace(taken, cancelled=None)
        else:
            notes.append(
                f"{left}: such jobs hold their places in the queue until then (cancelled=keep); all measures "
                "cover only the jobs that ran"
            )
    taken = replace(taken, notes=(*notes, *facts), origin=origin, partition=None)
    made = resampling.resampled(taken, point.workload, point.seed)
    natural = _load(made.jobs, machine)
    stretch = 1.0 if point.load is None or natural is None else natural / point.load
    first = made.jobs.submit[0]
    if len(machine.down):
        if point.load is not None or resampling.wanted(point.workload) is not None:
            raise ValueError(
                f"{name}: workload.downtime={KEEP} needs the log at its own load; add grid.load=[null] "
                "workload.resample=null, or omit it"
            )
        made = replace(made, machine=replace(machine, down=machine.down - first))
    cancelled = None if made.cancelled is None else made.cancelled.moved(first, stretch)
    moved = replace(made.jobs, submit=(made.jobs.submit - first) * stretch)
    return _begun(replace(made, jobs=moved, cancelled=cancelled), point.workload)


def _begun(trace: Trace, workload: Parameters) -> Trace:
    """Return the jobs submitted in the first ``workload.duration`` seconds of a log."""
    if (given := workload.get("duration")) is None:
        return trace
    allowed = "a positive number of seconds, or null (all of the log)"
    until = checks.number(workload, "workload", "duration", allowed, above=0)
    kept = trace.part(trace.jobs.submit < until)
    cancelled = kept.cancelled and kept.cancelled.part(kept.cancelled.jobs.submit < until)
    days, load = float(kept.jobs.submit[-1]) / DAY, _load(kept.jobs, kept.machine)
    origin = kept.origin and replace(kept.origin, days=days, load=load)
    note = (
        f"{kept.name}: the {counted(len(kept.jobs), 'job')} of its first {_in_words(given)} "
        "(workload.duration)"
    )
    return replace(kept, cancelled=cancelled, origin=origin, notes=(*kept.notes, note))


def _check_submissions(name: str, submit: Floats, place: Ints, unit: str) -> None:
    """Raise ``ValueError`` if submit times cannot belong to one log."""
    gaps = np.diff(submit)
    if not gaps.size or (gaps <= MOST_YEARS * YEAR).all():
        return
    at = int(np.argmax(gaps))
    raise ValueError(
        f"{name}: {unit} {place[at + 1]} is submitted {gaps[at] / YEAR:,.0f} years after {unit} {place[at]}, "
        "the job before it; submit times are in seconds: correct or delete such lines"
    )


def _placed(origin: Origin, jobs: Jobs, load: float | None, facts: Sequence[str]) -> Origin:
    """Return the origin with the facts about the jobs that are taken."""
    first, last = float(jobs.submit[0]), float(jobs.submit[-1])
    return replace(
        origin,
        zero=None if origin.zero is None else origin.zero + first,
        days=(last - first) / 86400,
        load=load,
        reported=(origin.account, *facts),
    )


def _in_words(seconds: float) -> str:
    """Return a time with three digits, in minutes as in most tables, unless it is short or takes days."""
    name, size = ("s", 1.0) if seconds < 200 else ("min", 60.0) if seconds < 2 * DAY else ("h", HOUR)
    return f"{seconds / size:.3g} {name}"


def _load(jobs: Jobs, machine: Machine) -> float | None:
    """Return the offered load from the first to the last submission; None if these are one instant."""
    period = float(jobs.submit[-1] - jobs.submit[0])
    if period <= 0:
        return None
    return float(jobs.size @ jobs.runtime) / (machine.total * period)
