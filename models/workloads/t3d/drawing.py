"""The jobs of a replication: sessions and batch jobs, drawn and put in order of submission."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.job_classes import BENCHMARK, DEBUG, EXPRESS, INTERACTIVE, PRODUCTION, STANDBY
from models.jobs.jobs import Jobs
from models.point import Seed
from models.streams import stream
from models.units import KB_IN_MB
from models.workloads.t3d import runtimes
from models.workloads.t3d.keys import FEEDBACK, HOUR, LIMIT, Keys, Sizes
from models.workloads.t3d.site import Site

MINUTE = 60.0
ROUND = MINUTE * np.array(
    [1, 2, 5, 10, 15, 20, 30, *(60 * hours for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18, 24, 30, 36))]
)
"""Seconds that users request, as far as their queue allows."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the jobs, arrays of one length, in any order in which a job follows the job that it waits for.

    Parameters
    ----------
    submit, runtime, limit : ndarray of float, seconds
    size, user, job_class : ndarray of int
    after : ndarray of int
        Place in this part of the job whose answer is waited for, -1 for none.
    think : ndarray of float, seconds
    """

    submit: Floats
    runtime: Floats
    limit: Floats
    size: Ints
    user: Ints
    job_class: Ints
    after: Ints
    think: Floats


def draw(keys: Keys, site: Site, factor: float, seed: Seed) -> tuple[Jobs, int]:
    """Return the jobs of a replication in order of submission, and how many come before the measured period.

    Notes
    -----
    O(n log n) in the number of jobs.
    """
    parts = interactive(keys, site, factor, seed), batch(keys, site, factor, seed)
    n_first = parts[0].submit.size
    submit, runtime, limit, size, user, job_class, think = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("submit", "runtime", "limit", "size", "user", "job_class", "think")
    )
    after = np.concatenate([parts[0].after, np.full(submit.size - n_first, -1)])
    order = np.argsort(submit, kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    after = np.where(after >= 0, place[after], -1)
    memory, each = keys.memory_per_processor, stream(seed, "memory").random((order.size, 2))
    megabytes = np.where(
        each[:, 0] < memory.share,
        _between(memory.most, each[:, 1]),
        _between(memory.others, each[:, 1]),
    )
    requested = limit
    if keys.requests != LIMIT:
        sure = runtime / (1 - stream(seed, "requests").random(order.size))
        longest = np.append(ROUND, np.inf)
        requested = np.minimum(longest[np.searchsorted(ROUND, sure)], limit)
    jobs = Jobs(
        submit[order],
        runtime[order],
        requested[order],
        size[order],
        np.ceil(megabytes * KB_IN_MB * size).astype(np.int64)[order],
        user=user[order],
        job_class=job_class[order],
        after=after[order] if keys.repetition == FEEDBACK else None,
        think=think[order] if keys.repetition == FEEDBACK else None,
    )
    return jobs, int(np.searchsorted(jobs.submit, site.since))


def interactive(keys: Keys, site: Site, factor: float, seed: Seed) -> Part:
    """Return the interactive jobs that are submitted before the end of the period.

    Each job of a session is submitted a think time after the previous one would have ended if it had not
    waited. Closed users begin a session when they have ended another.
    """
    closed = keys.interactive.closed_users is not None
    begin: Floats = (
        np.zeros(keys.interactive.closed_users or 0)
        if closed
        else moments(site.sessions * factor, seed, "sessions")
    )
    n_sessions = begin.size
    names = (
        "session ends",
        "session sizes",
        "session classes",
        "session users",
        "session runtimes",
        "thoughts",
    )
    ends, size_of, class_of, people, times, thoughts = (stream(seed, name) for name in names)
    user = 1 + np.arange(n_sessions) if closed else users_by_activity(keys.users, people.random(n_sessions))
    columns: dict[str, list[Any]] = {name: [] for name in Part.__dataclass_fields__}
    continued, submit = np.arange(n_sessions), begin
    begins = np.ones(n_sessions, bool)
    size, job_class = np.zeros((2, n_sessions), np.int64)
    after, think, n_jobs = np.full(n_sessions, -1), np.zeros(n_sessions), 0
    while not columns["submit"] or continued.size:  # the first jobs of all, the second ones, and so on
        n = continued.size
        fresh_size = sizes(keys.interactive.sizes, size_of.random(n))
        fresh_class = np.where(class_of.random(n) < keys.interactive.debug, DEBUG, INTERACTIVE)
        size, job_class = np.where(begins, fresh_size, size), np.where(begins, fresh_class, job_class)
        limit = np.full(n, keys.interactive.hours)
        runtime = runtimes.drawn(limit, site.interactive_scale, keys.interactive.spread, times.random(n))
        made = Part(submit, runtime, limit, size, user[continued], job_class, after, think)
        for name, values in columns.items():
            values.append(getattr(made, name))
        after, n_jobs = np.arange(n_jobs, n_jobs + n), n_jobs + n
        think = thoughts.exponential(keys.interactive.think_time, n)
        submit = submit + runtime + think
        begins = ends.random(n) * keys.interactive.session_jobs < 1
        continues = (submit < site.until) & (closed | ~begins)
        continued, after, begins = continued[continues], after[continues], begins[continues]
        submit, think = submit[continues], think[continues]
        size, job_class = size[continues], job_class[continues]
    return Part(*(np.concatenate(values) for values in columns.values()))


def batch(keys: Keys, site: Site, factor: float, seed: Seed) -> Part:
    """Return the batch jobs."""
    submit = moments(site.batch * factor, seed, "batch jobs")
    n = submit.size
    uniforms = {
        name: stream(seed, f"batch {name}").random(n)
        for name in ("queues", "sizes", "runtimes", "users", "classes")
    }
    which = np.searchsorted(
        np.cumsum([queue.share for queue in keys.batch.queues])[:-1], uniforms["queues"], side="right"
    )
    size = np.empty(n, np.int64)
    for number, queue in enumerate(keys.batch.queues):
        these = which == number
        size[these] = sizes(queue.sizes, uniforms["sizes"][these])
    limit = np.array([queue.limit for queue in keys.batch.queues])[which]
    runtime = runtimes.drawn(limit, site.batch_scale, keys.batch.spread, uniforms["runtimes"])
    named = np.array([EXPRESS, BENCHMARK, STANDBY, PRODUCTION])
    job_class = named[np.searchsorted(np.cumsum(keys.batch.classes), uniforms["classes"], side="right")]
    user = users_by_activity(keys.users, uniforms["users"])
    none, at_once = np.full(n, -1), np.zeros(n)
    return Part(submit, runtime, limit, size, user, job_class, none, at_once)


def moments(rate: Floats, seed: Seed, cause: str) -> Floats:
    """Return the moments of a Poisson process with the given means for each hour, seconds, in no order."""
    random = stream(seed, cause)
    until = np.concatenate([[0.0], np.cumsum(rate)])
    n = random.poisson(until[-1])
    drawn = np.interp(random.random(n) * until[-1], until, HOUR * np.arange(until.size))
    return np.minimum(drawn, np.nextafter(HOUR * rate.size, 0))  # a rounded number may be the end itself


def sizes(of: Sizes, uniforms: Floats) -> Ints:
    """Return numbers of processors."""
    return np.asarray(of.values[np.searchsorted(of.below, uniforms, side="right")])


def users_by_activity(n_users: int, uniforms: Floats) -> Ints:
    """Return users from 1 on, the r-th as active as 1 / r."""
    activity = np.cumsum(1 / np.arange(1, n_users + 1))
    return 1 + np.searchsorted(activity[:-1] / activity[-1], uniforms, side="right")


def _between(span: tuple[float, float], uniforms: Floats) -> Floats:
    return span[0] + (span[1] - span[0]) * uniforms
