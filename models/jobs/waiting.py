"""The causes of the recorded waiting in a log, before any policy is simulated.

Each second that a job waited counts under the first cause that holds at that time: the job could not be
started yet (begin times, dependencies, holds); no job ran at all for an hour or more (downtime); too few
processors were free for it (busy); too few of its partition, given the most that it ever had in use
(partition); too few whole nodes, if jobs share none (nodes); otherwise enough were free (idle). A policy that
orders the queue changes the waits behind busy processors; limits of users, QOS and partitions, reservations,
and processors that are kept free for a larger job explain the idle ones. Under EASY on one pool the idle
share is 10 % on KTH-SP2 and 19 % on SDSC-SP2, where 50 % is recorded.
"""

from functools import lru_cache

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.trace import Trace

CAUSES = ("not eligible", "downtime", "busy", "partition", "nodes", "idle")

LONG_S = 3600.0
"""Minimum seconds without any running job that count as a downtime."""

MOST_SIZES, MOST_PARTITIONS = 24, 12
"""Numbers of sizes and partitions that are distinguished: a class's largest size stands for all in it."""


@lru_cache(maxsize=4)
def explained(trace: Trace) -> dict[str, float]:
    """Return the share of all recorded waiting under each of `CAUSES`; empty where a log has none.

    O(jobs × sizes × partitions), a second for half a million jobs.
    """
    if trace.waited is None or not np.nansum(trace.waited) > 0:
        return {}
    jobs, known = trace.jobs, ~np.isnan(trace.waited)
    submit, size = jobs.submit[known], jobs.size[known]
    start = submit + trace.waited[known]
    end = start + jobs.runtime[known]
    request = jobs.request
    delay = np.zeros(len(submit)) if request is None else request.delay[known]
    eligible = np.minimum(submit + delay, start)
    instants = np.unique(np.concatenate([start, end, eligible]))
    seconds = np.diff(instants)
    first, last = (np.searchsorted(instants, when) for when in (eligible, start))

    def in_use(amount: Ints, these: np.ndarray) -> Ints:
        change = np.zeros(len(instants) + 1, np.int64)
        np.add.at(change, np.searchsorted(instants, start[these]), amount[these])
        np.subtract.at(change, np.searchsorted(instants, end[these]), amount[these])
        return np.cumsum(change)[: len(seconds)]

    everyone = np.ones(len(submit), bool)
    free = trace.machine.total - in_use(size, everyone)
    down = _downtime(in_use(np.ones_like(size), everyone), seconds)
    spent = dict.fromkeys(CAUSES, 0.0)
    spent["not eligible"] = float((eligible - submit).sum())
    nodes = np.ones_like(size) if request is None else np.maximum(request.nodes[known], 1)
    has_nodes = bool((nodes > 1).any())
    used_nodes = in_use(nodes, everyone)
    free_nodes = used_nodes.max(initial=0) - used_nodes
    place = _classes(jobs.partition[known], MOST_PARTITIONS) if jobs.partition is not None else everyone * 0
    steps = np.unique(size)
    if len(steps) > MOST_SIZES:
        steps = np.unique(np.quantile(size, np.linspace(0, 1, MOST_SIZES), method="higher"))
    of_size = np.searchsorted(steps, size)
    for one in np.unique(place):
        mine = place == one
        used = in_use(size, mine)
        room = used.max(initial=0) - used if one < MOST_PARTITIONS and np.ptp(place) else free
        for number in np.unique(of_size[mine]):
            these = np.flatnonzero(mine & (of_size == number))
            busy = free < steps[number]
            full = ~busy & (room < steps[number])
            narrow = ~busy & ~full & (free_nodes < nodes[these].min()) if has_nodes else np.zeros_like(busy)
            masks = {"downtime": down, "busy": busy, "partition": full, "nodes": narrow}
            left = float((start - eligible)[these].sum())
            for cause, mask in masks.items():
                until = np.concatenate(
                    [[0.0], np.cumsum(seconds * (mask & (down if cause == "downtime" else ~down)))]
                )
                found = float((until[last[these]] - until[first[these]]).sum())
                spent[cause] += found
                left -= found
            spent["idle"] += max(left, 0.0)
    total = sum(spent.values())
    return {cause: value / total for cause, value in spent.items()}


def _downtime(running: Ints, seconds: Floats) -> np.ndarray:
    """Return in which intervals no job ran for `LONG_S` or more."""
    none = running == 0
    begin = np.flatnonzero(np.diff(np.concatenate([[False], none])))
    run = np.cumsum(np.isin(np.arange(len(none)), begin))
    lasts = np.bincount(run, seconds, run.max(initial=0) + 1)
    found: np.ndarray = none & (lasts[run] >= LONG_S)
    return found


def _classes(values: Ints, most: int) -> Ints:
    """Return the rank of each value by its frequency; `most` for all values beyond."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    found: Ints = np.minimum(rank[which], most)
    return found
