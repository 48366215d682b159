"""Requested times for jobs that have none: ``workload.estimates``, for any workload."""

from dataclasses import dataclass, replace

import numpy as np

from models import checks, keys
from models.arrays import Floats
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Parameters, Point, Seed
from models.streams import stream
from models.workloads import tsafrir2005

EXACT, FACTOR, TSAFRIR = "exact", "factor", "tsafrir2005"
FRACTION, LAST_TWO = "fraction", "last_two"
MODELS = (EXACT, FACTOR, TSAFRIR, FRACTION, LAST_TWO)
NO_HISTORY = (
    "workload.estimates=last_two predicts a job's runtime by jobs of its user that ended before, as a log "
    "records them, and this has no users or no waits; take a log that has both, or workload.estimates=exact"
)
LONGEST = "longest"
LONGEST_LIMIT = 366 * 86_400.0
"""Seconds: some logs write a number of years for no limit (LLNL-Atlas 23)."""


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """Keys of a workload, see conf/workload/_rigid.yaml."""

    BASE = "_rigid"

    estimates: str | None = keys.choice(None, *MODELS)
    estimates_factor: float = keys.number("a number, 0 or more", least=0)
    estimates_fraction: float = keys.number(
        "a fraction of what is asked for beyond the runtime, 0 to 1", least=0, most=1
    )
    estimates_for: str = keys.choice("unknown", "all")
    longest_request: int | None = keys.whole(
        f"whole seconds from {tsafrir2005.SHORTEST_LIMIT:,} on (below two hours there are no twenty round "
        "values to ask for), or null",
        null=True,
        least=tsafrir2005.SHORTEST_LIMIT,
        most=2**31 - 1,
    )
    estimated_together: int = keys.whole("a whole number of jobs from 1 on", most=10**7)


def wanted(workload: Parameters) -> Estimates | None:
    """Return how requested times are filled in, None if not; ``ValueError`` for a value not allowed."""
    if "estimates" not in workload:
        return None
    found = Estimates(**keys.read(Estimates, workload, "workload"))
    return None if found.estimates is None else found


def _reduced(jobs: Jobs, fraction: float) -> Jobs:
    """Return jobs that request a fraction of their original excess over the runtime."""
    less = jobs.runtime + fraction * (jobs.requested - jobs.runtime)
    return replace(jobs, requested=np.where(jobs.requested > jobs.runtime, less, jobs.requested))


def with_predictions(jobs: Jobs, waited: Floats | None, workload: Parameters) -> Jobs:
    """Return a log's jobs, each with the mean runtime of its user's last two jobs that ended before.

    That is ``estimates: last_two``, by the recorded ends: what a scheduler would have predicted then. A
    prediction is at most the request, and is the request if fewer than two jobs of the user have ended by the
    submission: D. Tsafrir, Y. Etsion and D. G. Feitelson, "Backfilling using system-generated predictions
    rather than user runtime estimates", IEEE Transactions on Parallel and Distributed Systems 18(6), 2007.
    A job whose wait is unknown (NaN) does not count.
    """
    wish = wanted(workload)
    if wish is None or wish.estimates != LAST_TWO or jobs.user is None or waited is None:
        return jobs
    end, found = jobs.submit + waited + jobs.runtime, jobs.requested.copy()
    by_end = np.lexsort((end, jobs.user))
    _, begin = np.unique(jobs.user[by_end], return_index=True)
    for of_user in np.split(by_end, begin[1:]):
        if jobs.user[of_user[0]] >= 0:
            ended = of_user[~np.isnan(end[of_user])]
            n_ended = np.searchsorted(end[ended], jobs.submit[of_user], "right")
            known, last = of_user[n_ended >= 2], n_ended[n_ended >= 2]
            means = (jobs.runtime[ended[last - 1]] + jobs.runtime[ended[last - 2]]) / 2
            found[known] = np.fmin(means, jobs.requested[known])
    return replace(jobs, predicted=found)


def _overestimated(runtime: Floats, factor: float, seed: Seed) -> Floats:
    """Return requests that are uniform from the runtime to 1 + factor times it.

    The f-model: A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime
    estimates in scheduling the IBM SP2 with backfilling", IEEE Transactions on Parallel and Distributed
    Systems 12(6), 2001.
    """
    return runtime * (1 + factor * stream(seed, "estimates").random(runtime.size))


def are_filled_in(workload: Parameters) -> bool:
    """Return whether jobs without requested times are given some."""
    wish = wanted(workload)
    return wish is not None and wish.estimates not in (FRACTION, LAST_TWO)


def are_drawn(workload: Parameters) -> bool:
    """Return whether requested times are random."""
    wish = wanted(workload)
    return wish is not None and wish.estimates in (FACTOR, TSAFRIR)


def with_longest(trace: Trace, workload: Parameters) -> tuple[Jobs, list[str]]:
    """Return a log's jobs, with the longest limit of the partition for jobs without a limit, and notes on it.

    That is ``unlimited: longest``. A partition in which no job has a limit has the longest of the log, and a
    job that ran for longer is given its runtime. A limit beyond `LONGEST_LIMIT` counts as none. Nothing
    changes if no job has a limit, or if ``estimates`` fill in requested times.
    """
    jobs, unknown = trace.jobs, np.isnan(trace.jobs.requested)
    limited = jobs.requested <= LONGEST_LIMIT
    given = checks.choice(workload, "workload", "unlimited", (LONGEST, None))
    if given is None or are_filled_in(workload) or not unknown.any() or not limited.any():
        return jobs, []
    of_log = float(jobs.requested[limited].max())
    limit = np.full(len(jobs), of_log)
    if trace.partition is not None:
        names, which = np.unique(trace.partition, return_inverse=True)
        longest = np.full(names.size, -np.inf)
        np.maximum.at(longest, which[limited], jobs.requested[limited])
        limit = np.where(np.isfinite(longest), longest, of_log)[which]
    note = (
        f"{trace.name}: {counted(int(unknown.sum()), 'job', 'has', of=len(jobs))} no time limit: the longest "
        f"of the partition is taken, up to {of_log / tsafrir2005.HOUR:g} h (workload.unlimited=longest; "
        "null: no limit, and policies that read limits refuse the log)"
    )
    return replace(jobs, requested=np.where(unknown, np.maximum(limit, jobs.runtime), jobs.requested)), [note]


def of_trace(trace: Trace, point: Point) -> Trace:
    """Return a trace with requested times for jobs without one, or new ones for all jobs, if requested."""
    jobs, notes = fill(trace.name, trace.jobs, point.workload, point.seed)
    return (
        trace if jobs is trace.jobs and not notes else replace(trace, jobs=jobs, notes=(*trace.notes, *notes))
    )


def of_stream(stream: Stream, point: Point) -> Stream:
    """Return a stream with requested times, if requested.

    The requested values are drawn once and dealt out among ``estimated_together`` jobs at a time, so that the
    first jobs of a longer stream equal a shorter one's.
    """
    wish = wanted(point.workload)
    if wish is None:
        return stream
    if wish.estimates == LAST_TWO:
        raise ValueError(f"{stream.name}: {NO_HISTORY}")
    if wish.estimates == EXACT:
        return stream.mapped(lambda jobs: replace(jobs, requested=jobs.runtime))
    if wish.estimates == FRACTION:
        return stream.mapped(lambda jobs: _reduced(jobs, wish.estimates_fraction))
    if wish.estimates == FACTOR:

        def overestimated(n_jobs: int) -> Jobs:
            jobs = stream.first(n_jobs)
            return replace(jobs, requested=_overestimated(jobs.runtime, wish.estimates_factor, point.seed))

        return replace(stream, first=overestimated, chunked=None)
    if wish.longest_request is None:
        raise ValueError(
            "workload.longest_request=null; allowed: whole seconds, for instance 172800 (two days)"
        )
    longest, together = wish.longest_request, wish.estimated_together

    def first(n_jobs: int) -> Jobs:
        jobs = stream.first(-(-n_jobs // together) * together)
        requested = _in_blocks(jobs.runtime, longest, together, point.seed)[0]
        return replace(jobs, requested=requested).part(slice(n_jobs))

    return replace(stream, first=first, chunked=None)


def fill(name: str, jobs: Jobs, workload: Parameters, seed: Seed) -> tuple[Jobs, list[str]]:
    """Return a log's jobs with requested times for jobs without one (or new ones for all), and notes.

    Parameters
    ----------
    workload : mapping
        ``estimates``, ``estimates_for`` and ``longest_request``, see conf/workload/logs/swf.yaml. A longest
        request of null is the log's longest one, or its longest runtime if that is more and some jobs have no
        request, rounded up to a full hour.
    """
    wish = wanted(workload)
    if wish is None:
        return jobs, []
    if wish.estimates == FRACTION:
        reduced = _reduced(jobs, wish.estimates_fraction)
        note = (
            f"{name}: {counted(int((reduced.requested < jobs.requested).sum()), 'job', 'requests')} "
            f"{wish.estimates_fraction:.0%} of the original excess over the runtime (estimates=fraction)"
        )
        return reduced, [note]
    if wish.estimates == LAST_TWO:
        if jobs.predicted is None:
            raise ValueError(f"{name}: {NO_HISTORY}")
        n_less = int((jobs.predicted < jobs.requested).sum())
        note = (
            f"{name}: {counted(n_less, 'job', 'is', of=len(jobs))} planned by less than the request, the "
            "mean runtime of the user's last two jobs (estimates=last_two)"
        )
        return jobs, [note]
    which = np.isnan(jobs.requested)
    if wish.estimates_for == "all":
        which[:] = True
    if wish.estimates == EXACT:
        note = f"{name}: {counted(int(which.sum()), 'job', 'requests')} exactly the runtime (estimates=exact)"
        return replace(jobs, requested=np.where(which, jobs.runtime, jobs.requested)), [note]
    if wish.estimates == FACTOR:
        most = 1 + wish.estimates_factor
        note = (
            f"{name}: {counted(int(which.sum()), 'job', 'requests')} up to {most:g} times the runtime "
            "(estimates=factor)"
        )
        drawn = _overestimated(jobs.runtime, wish.estimates_factor, seed)
        return replace(jobs, requested=np.where(which, drawn, jobs.requested)), [note]
    if not which.any():
        return jobs, [f"{name}: every job has a requested time, so none is drawn (estimates_for=unknown)"]
    longest = wish.longest_request
    if longest is None:
        seen = jobs.requested.max()
        if np.isnan(seen):  # only some jobs are given requests: their runtimes may be the longest
            seen = np.nanmax(np.concatenate([jobs.runtime, jobs.requested]))
        longest = max(int(np.ceil(seen / tsafrir2005.HOUR)) * tsafrir2005.HOUR, tsafrir2005.SHORTEST_LIMIT)
    n, runtime = int(which.sum()), jobs.runtime[which]
    drawn, n_raised = _in_blocks(runtime, longest, n, seed)
    requested = jobs.requested.copy()
    requested[which] = drawn
    notes = [f"{name}: {counted(n, 'requested time', 'is')} drawn (tsafrir2005), at most {longest:,} s"]
    if n_raised:
        notes.append(
            f"{name}: {n_raised:,} of these {'is' if n_raised == 1 else 'are'} raised to the longest: the "
            "model has fewer long ones than there are long jobs"
        )
    if beyond := int((runtime > longest).sum()):
        notes.append(
            f"{name}: {counted(beyond, 'job', 'runs')} longer than the longest request of {longest:,} s"
        )
    return replace(jobs, requested=requested), notes


def _in_blocks(runtime: Floats, longest: int, block: int, seed: Seed) -> tuple[Floats, int]:
    times, shares = tsafrir2005.distribution(block, longest, stream(seed, "values of estimates"))
    values = tsafrir2005.descending(times, shares, block)
    uniforms = stream(seed, "estimates").random(runtime.size)
    requested, n_raised = np.empty(runtime.size), 0
    for first in range(0, runtime.size, block):
        these = slice(first, first + block)
        requested[these], raised = tsafrir2005.deal(runtime[these], values, uniforms[these])
        n_raised += raised
    return requested, n_raised
