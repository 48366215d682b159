"""From jobs, a machine and a policy to a run of fixed slices: the engine's system, and the run made of it."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, check_pieces
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.kernels import standstill
from models.point import Point
from models.production_gang.slices import engine, state
from models.production_gang.slices.rules import AlphaRules, Tc2000Rules, rules_of
from models.production_gang.slices.state import NONE, SPANS, Cluster, Hosts, Lists, Settings, System, Tc2000
from models.production_gang.slices.tc2000 import BITS
from models.production_gang.systems import (
    Levels,
    Run,
    as_they_ran,
    clock_of,
    link_children,
    order_of_submission,
    steps,
    twice,
)
from models.workloads.phases import Phases

RECORDED = ("pieces", "switches", "levels")
CAPACITY = 200_000
FEWER_PIECES = "take fewer jobs, with a smaller batch_size=… or workload.end=…, or a longer policy.slice=…"

ROUNDING = 1e-12
"""Relative error up to which a job that was never stopped counts as ended when its runtime was over."""


class Tickets(NamedTuple):
    """Numbers of tickets issued and revoked."""

    issued: int
    revoked: int


@dataclass(frozen=True, eq=False)
class Detail:
    """Results that only fixed slices have; jobs are in the order of the schedule.

    Parameters
    ----------
    switches : recarray of `state.PIECE`
        Times at which processors waited for a switch.
    pes : ndarray of bool, shape (n_jobs, n_pes), optional
        TC2000: the PEs that each job had at its end.
    tickets : Tickets, optional
        Alpha: the tickets of the run.
    """

    switches: np.recarray
    pes: np.ndarray | None = None
    tickets: Tickets | None = None


def run(point: Point, opened: Stream | Trace, jobs: Jobs, machine: Machine, pieces: bool = True) -> Run:
    """Run all jobs to their ends; ``ValueError`` with one line if one of them can never run, or for more
    pieces than can be kept.

    `opened` may have a time of the week. Without `pieces` the schedule's pieces, and the levels, are means
    from one mark to the next, which give the same measures, see `recording`.
    """
    rules = rules_of(point.policy)
    rules.adjustments(jobs, machine)
    phases = Phases.of(point.workload)
    given = state.Phases(np.array(phases.share), np.array(phases.processors))
    if isinstance(rules, Tc2000Rules):
        system = _tc2000(jobs, machine, rules, given)
    else:
        system = _alpha(jobs, machine, rules, given)
    if not pieces:
        system = _with_sums(system, opened)
    while not engine.run(system):
        system = _with_room(system)
    standstill.check(system.state[0], len(system.jobs))
    check_pieces(int(system.state["n_pieces"][0]), FEWER_PIECES)
    used, switches, lost = (
        getattr(system, name)[: system.state[f"n_{name}"][0]].copy().view(np.recarray) for name in RECORDED
    )
    levels = Levels(*(lost[name].copy() for name in state.LEVEL.names or ()))
    if not pieces:
        group, job = np.unique(system.jobs["group"], return_index=True)
        used["job"] = job[np.searchsorted(group, used["job"])]  # one job stands for all jobs of the group
    if isinstance(rules, Tc2000Rules):
        detail = Detail(switches, pes=_pes(system, machine.total))
    else:
        detail = Detail(switches, tickets=Tickets(*system.state[["issued", "revoked"]][0].tolist()))
    return _run(jobs, machine, system, rules, used, detail, levels, clock_of(opened))


def _with_sums(system: System, opened: Stream | Trace) -> System:
    """Return a system that records sums; batches begin days after the first job, weekends at midnight."""
    until, first = (opened.until, opened.measured.start or 0) if isinstance(opened, Trace) else (None, 0)
    midnight = -clock_of(opened)
    days = np.array([midnight, midnight, midnight if until is None else until])
    system.state["next_mark"] = 0.0
    settings = system.settings._replace(sums=True, first_measured=first)
    return system._replace(sums=system.sums._replace(days=days), settings=settings)


def _with_room(system: System) -> System:
    """Return a system with larger arrays (the half-used ones, or all); `TooManyPiecesError` for too many
    pieces."""
    used = {name: int(system.state[f"n_{name}"][0]) for name in RECORDED}
    check_pieces(used["pieces"], FEWER_PIECES)
    full = [name for name in RECORDED if 2 * used[name] > len(getattr(system, name))]
    larger: dict[str, Any] = {name: twice(getattr(system, name)) for name in full or RECORDED}
    return system._replace(**larger)


def _tc2000(jobs: Jobs, machine: Machine, rules: Tc2000Rules, phases: state.Phases) -> System:
    n_jobs, n_pes = len(jobs), machine.total
    table = _table(jobs, jobs.size)
    if rules.fair_share == "user" and jobs.user is not None:
        table["owner"] = np.unique(jobs.user, return_inverse=True)[1]
    elif rules.fair_share != "none":
        table["owner"] = np.arange(n_jobs)
    words = -(-n_pes // BITS)
    pool = Tc2000(
        _zeros(n_jobs * words), _zeros(n_pes), _zeros(words), _zeros(words), _zeros(n_jobs), _zeros(n_jobs),
        words, rules.newcomer_slices, rules.fair_share != "none", rules.placement == "blocks",
    )  # fmt: skip
    hosts = _hosts(machine.processors, machine.processors, _zeros(1), 0)
    table["group"] = 2 * rules.job_classes(jobs)
    settings = Settings(rules.slice, rules.switch, 1.0, rules.adapts, 0, False, 0)
    return _system(jobs, settings, phases, table, hosts, pool)


def _alpha(jobs: Jobs, machine: Machine, rules: AlphaRules, phases: state.Phases) -> System:
    n_hosts = len(machine.names)
    gang, memory, most = rules.gang(machine), rules.room(machine), rules.most(jobs, machine)
    ranks = np.unique(-np.array(rules.priority), return_inverse=True)[1]
    each = -(-jobs.memory // most)
    alone = ((most[:, None] <= gang) & ((each * most)[:, None] <= memory)).any(axis=1)
    spans = (jobs.size >= rules.gang_from) & ~alone
    n_rows = int(spans.sum())
    table = _table(jobs, most)
    job_class = rules.job_classes(jobs)
    table["group"] = 2 * job_class + (jobs.size >= rules.gang_from)
    table["owner"], table["memory"], table["home"] = ranks[job_class], each, SPANS
    table["row"] = np.where(spans, np.cumsum(spans) - 1, NONE)
    pool = Cluster(
        _zeros(n_rows * rules.frame), _zeros(rules.frame * n_hosts), far_apart(rules.frame),
        *map(_zeros, ((int(ranks.max()) + 1) * n_hosts, n_hosts, n_hosts, max(n_rows, 1))),
    )  # fmt: skip
    hosts = _hosts(machine.processors, gang, memory, n_rows)
    settings = Settings(rules.slice, rules.switch, rules.delivered, rules.adapts, rules.gang_from, False, 0)
    return _system(jobs, settings, phases, table, hosts, pool)


def _hosts(processors: Ints, gang: Ints, memory: Ints, n_rows: int) -> Hosts:
    n = len(processors)
    return Hosts(
        processors, gang, memory, _zeros(n), _zeros(n_rows * n), _zeros(n), *np.zeros((3, n)),
        *np.full((2, n), np.inf),
    )  # fmt: skip


def _system(
    jobs: Jobs, settings: Settings, phases: state.Phases, table: np.ndarray, hosts: Hosts, pool: Any
) -> System:
    n_jobs = len(jobs)
    independent = np.arange(n_jobs) if jobs.after is None else np.flatnonzero(jobs.after < 0)
    lists = (_zeros(n_jobs) for _ in range(6))
    scalars = np.zeros(1, state.STATE)
    scalars["boundary"] = scalars["decided"] = NONE
    scalars["next_mark"] = np.inf
    return System(
        settings,
        phases,
        table,
        jobs.submit.copy(),
        Lists(next(lists), next(lists), next(lists), independent, *lists),
        hosts,
        pieces=np.zeros(CAPACITY, state.PIECE),
        switches=np.zeros(CAPACITY, state.PIECE),
        levels=np.zeros(CAPACITY, state.LEVEL),
        sums=state.Sums(*map(np.zeros, (2 * len(JOB_CLASSES), 3, 3, 3))),
        state=scalars,
        pool=pool,
    )


def _with_limits(levels: Levels, time: Floats, withheld: Floats) -> Levels:
    """Return the levels, with the processors withheld from gangs counted as lost to limits."""

    def at(when: Floats, values: Floats) -> Floats:
        return np.append(0.0, values)[np.searchsorted(when, both, side="right")]

    both = np.union1d(levels.time, time)
    lost = (levels.switching, levels.packing, levels.limits)
    switching, packing, limits = (at(levels.time, each) for each in lost)
    return Levels(both, switching, packing, limits + at(time, withheld))


def far_apart(frame: int) -> Ints:
    """Return the slices of a frame by their bit-reversed numbers, so that consecutive ones lie far apart.

    Examples
    --------
    >>> far_apart(6).tolist()
    [0, 4, 2, 1, 5, 3]
    """
    bits = max((frame - 1).bit_length(), 1)
    backwards = [int(f"{slot:0{bits}b}"[::-1], 2) for slot in range(frame)]
    return np.argsort(backwards, kind="stable")


def _zeros(n: int) -> Ints:
    return np.zeros(n, np.int64)


def _table(jobs: Jobs, most: Ints) -> np.ndarray:
    """Return the jobs in the form that the engine takes, none of them admitted."""
    table = np.zeros(len(jobs), state.JOB)
    table["runtime"], table["size"], table["most"] = jobs.runtime, jobs.size, most
    table["due"] = np.inf
    for name in ("start", "end"):
        table[name] = np.nan
    for name in ("first_child", "sibling", "last", "row"):
        table[name] = NONE
    link_children(table, jobs)
    return table


def _pes(system: System, n_pes: int) -> np.ndarray:
    words = system.pool.pes.reshape(len(system.jobs), -1).view(np.uint64)
    each = np.arange(n_pes)
    found = (words[:, each // BITS] >> (each % BITS).astype(np.uint64)) & np.uint64(1)
    return np.asarray(found.astype(bool))


def _run(
    jobs: Jobs, machine: Machine, system: System, rules: Tc2000Rules | AlphaRules, used: np.ndarray,
    detail: Detail, levels: Levels, clock: float,
) -> Run:  # fmt: skip
    """Return the run, with its jobs in order of their submission."""
    order, position = order_of_submission(system.submit)
    for recorded in (used, detail.switches):
        recorded["job"] = position[recorded["job"]]
    table, submit = system.jobs[order], system.submit[order]
    start, end, stops = (table[name].copy() for name in ("start", "end", "stops"))
    as_ran = as_they_ran(jobs, order, position, submit=submit, job_class=rules.job_classes(jobs)[order])
    # The wait of a job that was never kept from its processors has the bits of its wait before the start.
    whole = np.abs(end - start - as_ran.runtime) <= ROUNDING * np.maximum(end, 1.0)
    used = used[used["used"] > 0]
    pieces = Pieces(*(used[name].copy() for name in ("job", "host", "begin", "end", "used")))
    if (delivered := system.settings.delivered) < 1:
        share = np.where(as_ran.size[pieces.job] < system.settings.gang_from, 1.0, delivered)
        withheld = pieces.processors * (1 - share)
        levels = _with_limits(levels, *steps(pieces.begin, pieces.end, withheld))
        pieces = replace(pieces, processors=pieces.processors * share)
    host = np.zeros(len(jobs), np.int64)
    host[pieces.job] = pieces.host  # in order of the ends, so that the last one stays
    if detail.pes is not None:
        detail = replace(detail, pes=detail.pes[order])
    return Run(
        as_ran, machine, start, end, host,
        waited=np.where(whole, start - submit, end - submit - as_ran.runtime), preempted=stops > 0,
        pieces=pieces, notes=(str(rules),), levels=levels, preemptions=stops, clock=clock,
        detail=detail,
    )  # fmt: skip
