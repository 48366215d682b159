"""From jobs, a machine and a policy to a run: the engines' state, and what is read off it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Point
from models.production_gang.slices import tc2000
from models.production_gang.slices.alpha import engine, state
from models.production_gang.slices.course import (
    NOBODY,
    SliceCourse,
    SliceJobs,
    SlicePhases,
    SliceTimes,
    answers,
    no_lists,
    nothing_done,
)
from models.production_gang.slices.noted import Collected, SlicePieces
from models.production_gang.slices.rules import AlphaRules, Tc2000Rules, rules_of
from models.production_gang.systems import Levels, Run, clock_of
from models.workloads.phases import Phases

TO_THE_BIT = 1e-12
"""Relative error up to which a job that was never stopped ended as soon as its runtime was over."""


class Tickets(NamedTuple):
    """How many tickets were issued and revoked."""

    issued: int
    revoked: int


@dataclass(frozen=True, eq=False)
class Detail:
    """What only fixed slices tell; jobs are in the order of the schedule.

    Parameters
    ----------
    rules : Tc2000Rules or AlphaRules
    noted : SlicePieces
        What jobs had and used, on each host, also where they used nothing of it.
    switches : SlicePieces
        When processors waited for a switch.
    admitted : ndarray of float, shape (n_jobs,), seconds
    layout : ndarray of int, shape (n_jobs, n_hosts)
        Processors of each host at most.
    pes : ndarray of bool, shape (n_jobs, n_pes), optional
        TC2000: the PEs that each job had at its end.
    tickets : Tickets, optional
        Alpha.
    """

    rules: Tc2000Rules | AlphaRules
    noted: SlicePieces
    switches: SlicePieces
    admitted: Floats
    layout: Ints
    pes: np.ndarray | None = None
    tickets: Tickets | None = None


def run(point: Point, opened: Stream | Trace, jobs: Jobs, machine: Machine) -> Run:
    """Run all jobs to their ends.

    Parameters
    ----------
    point : Point
    opened : Stream or Trace
        Of which the jobs are; a log says at which time of day it begins.
    jobs : Jobs
    machine : Machine

    Raises
    ------
    ValueError
        With one line, if a job can never run, or there are more pieces than can be kept.
    """
    rules = rules_of(point.policy)
    rules.told_of(jobs, machine)
    clock = clock_of(opened)
    phases = Phases.of(point.workload)
    told = SlicePhases(np.array(phases.share), np.array(phases.processors), rules.tells)
    if isinstance(rules, Tc2000Rules):
        return _tc2000(jobs, machine, rules, told, clock)
    return _alpha(jobs, machine, rules, told, clock)


def _tc2000(jobs: Jobs, machine: Machine, rules: Tc2000Rules, phases: SlicePhases, clock: float) -> Run:
    n_jobs, n_pes = len(jobs), machine.total
    n_words = -(-n_pes // tc2000.BITS)
    owner = np.zeros(n_jobs, np.int64)
    if rules.fair_share == "user" and jobs.user is not None:
        owner = np.unique(jobs.user, return_inverse=True)[1].astype(np.int64)
    elif rules.fair_share != "none":
        owner = np.arange(n_jobs)
    known = _known(jobs, jobs.size, owner)
    pool = tc2000.TcPool(
        np.zeros(n_jobs * n_words, np.int64), np.zeros(n_pes, np.int64),
        np.zeros(n_words, np.int64), np.zeros(n_words, np.int64),
        np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64),
        n_words, rules.newcomer_slices, rules.fair_share != "none", rules.placement == "blocks",
    )  # fmt: skip
    course, lists = nothing_done(n_jobs), no_lists(_after(jobs))
    times = SliceTimes(rules.slice, rules.switch, 1.0)
    notes = Collected()
    while not tc2000.run(known, phases, times, course, lists, pool, notes.room):
        notes.make_room()
    pieces, switches, levels = notes.all()
    words = pool.pes.reshape(n_jobs, n_words).view(np.uint64)
    each = np.arange(n_pes)
    pes = (words[:, each // tc2000.BITS] >> (each % tc2000.BITS).astype(np.uint64)) & np.uint64(1)
    detail = Detail(rules, pieces, switches, course.admitted, jobs.size[:, None], pes=pes.astype(bool))
    return _read_off(jobs, machine, known, course, detail, levels, clock)


def _alpha(jobs: Jobs, machine: Machine, rules: AlphaRules, phases: SlicePhases, clock: float) -> Run:
    n_jobs, n_hosts = len(jobs), len(machine.names)
    gang, room, most = rules.gang(machine), rules.room(machine), rules.most(jobs, machine)
    job_class = rules.classes_of(jobs)
    priority = np.array(rules.priority)
    ranks = np.unique(-priority, return_inverse=True)[1].astype(np.int64)
    known = _known(jobs, most, ranks[job_class])
    each = -(-jobs.memory // most)
    alone = ((most[:, None] <= gang) & ((each * most)[:, None] <= room)).any(axis=1)
    spans = (jobs.size >= rules.gang_from) & ~alone
    row = np.where(spans, np.cumsum(spans) - 1, NOBODY)
    n_rows = int(spans.sum())
    cluster = state.AlphaCluster(
        machine.processors, gang, room, each, np.full(n_jobs, state.SPANS), row,
        _nothing(n_rows * n_hosts), _nothing(n_rows * rules.frame), _nothing(rules.frame * n_hosts),
        far_apart(rules.frame), _nothing((int(ranks.max()) + 1) * n_hosts),
        _nothing(n_hosts), _nothing(n_hosts), _nothing(n_hosts), _nothing(max(n_rows, 1)),
        _nothing(state.N_COUNTS), rules.gang_from,
    )  # fmt: skip
    free = state.AlphaFree(
        _nothing(n_jobs), _nothing(n_jobs), np.zeros(n_jobs), _nothing(n_hosts),
        np.zeros(n_hosts), np.zeros(n_hosts), np.zeros(n_hosts), np.full(n_hosts, np.inf),
        np.full(n_hosts, np.inf), _nothing(state.N_FREE_COUNTS),
    )  # fmt: skip
    course, lists = nothing_done(n_jobs), no_lists(_after(jobs))
    times = SliceTimes(rules.slice, rules.switch, rules.delivered)
    notes = Collected()
    while not engine.run(known, phases, times, course, lists, cluster, free, notes.room):
        notes.make_room()
    pieces, switches, levels = notes.all()
    layout = np.zeros((n_jobs, n_hosts), np.int64)
    layout[spans] = cluster.layout.reshape(n_rows, n_hosts)
    layout[np.flatnonzero(~spans), cluster.home[~spans]] = most[~spans]
    tickets = Tickets(int(cluster.counts[state.ISSUED]), int(cluster.counts[state.REVOKED]))
    detail = Detail(rules, pieces, switches, course.admitted, layout, tickets=tickets)
    return _read_off(jobs, machine, known, course, detail, levels, clock)


def far_apart(frame: int) -> Ints:
    """Return the slices of a frame by their bit-reversed numbers: those that follow each other lie far apart.

    Examples
    --------
    >>> far_apart(6).tolist()
    [0, 4, 2, 1, 5, 3]
    """
    bits = max((frame - 1).bit_length(), 1)
    backwards = [int(f"{slot:0{bits}b}"[::-1], 2) for slot in range(frame)]
    return np.argsort(backwards, kind="stable")


def _nothing(n: int) -> Ints:
    return np.zeros(n, np.int64)


def _after(jobs: Jobs) -> Ints:
    return np.full(len(jobs), NOBODY) if jobs.after is None else np.asarray(jobs.after, np.int64)


def _known(jobs: Jobs, most: Ints, owner: Ints) -> SliceJobs:
    """Return the jobs as an engine sees them, which fills in when some of them are submitted."""
    after = _after(jobs)
    think = np.zeros(len(jobs)) if jobs.think is None else jobs.think
    size = np.ascontiguousarray(jobs.size, np.int64)
    return SliceJobs(
        jobs.submit.copy(), np.ascontiguousarray(jobs.runtime), size, np.ascontiguousarray(most, np.int64),
        *answers(after), np.where(after >= 0, think, 0.0), owner,
    )  # fmt: skip


def _read_off(
    jobs: Jobs,
    machine: Machine,
    known: SliceJobs,
    course: SliceCourse,
    detail: Detail,
    levels: Levels,
    clock: float,
) -> Run:
    """Return the run, with its jobs in order of their submission."""
    n_jobs = len(jobs)
    order = np.lexsort((np.arange(n_jobs), known.submit))
    position = np.empty(n_jobs, np.int64)
    position[order] = np.arange(n_jobs)
    noted, switches = (
        pieces._replace(job=position[pieces.job]) for pieces in (detail.noted, detail.switches)
    )
    submit, start, end = known.submit[order], course.start[order], course.end[order]
    stops = course.stops[order]
    as_ran = replace(jobs.part(order), submit=submit, job_class=detail.rules.classes_of(jobs)[order])
    # A job that nothing kept from its processors has waited to the bit as long as it did before its start.
    whole = np.abs(end - start - as_ran.runtime) <= TO_THE_BIT * np.maximum(end, 1.0)
    runs = noted.used > 0
    pieces = Pieces(noted.job[runs], noted.host[runs], noted.begin[runs], noted.end[runs], noted.used[runs])
    host = np.zeros(n_jobs, np.int64)
    host[pieces.job] = pieces.host  # in order of the ends: the last one stays
    made = Schedule(
        as_ran, machine, start, end, host,
        waited=np.where(whole, start - submit, end - submit - as_ran.runtime), preempted=stops > 0,
        pieces=pieces, notes=(str(detail.rules),),
    )  # fmt: skip
    pes = None if detail.pes is None else detail.pes[order]
    told = replace(
        detail,
        noted=noted,
        switches=switches,
        admitted=detail.admitted[order],
        layout=detail.layout[order],
        pes=pes,
    )
    return Run(made, levels, stops, clock, told)
