"""Limits of associations and QOS on the resources of their jobs (resource_limits.html).

A limit counts what its running jobs ask for, or what jobs have used (`models.slurm.kernel.budgets`); a job
that would exceed one waits, and stops no job behind it. Licences are counted likewise. Limits of submissions
count jobs from their submission to their end, and refuse others. Limits of one job are in
`models.slurm.one_job`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.requests import Requests
from models.jobs.trace import Trace
from models.slurm.asked import Asked
from models.slurm.configuration import Configuration
from models.slurm.configuration.accounting import JOBS, OF_MINUTES, OF_RUNNING, ROOT, SUBMITTED, WALL, Qos
from models.slurm.configuration.accounting import above as parents_of
from models.slurm.configuration.settings import RESETS
from models.slurm.kernel import tables

OF_NODES = ("cpu", "node", "mem", "billing")
"""Resources that are counted, with ``jobs``, ``gres/...`` and ``license/...``; others have no effect."""

NOUNS = {"cpu": "CPU", "node": "node", JOBS: "job", SUBMITTED: "submitted job", WALL: "wall minute"}
KINDS = {OF_RUNNING: tables.RUNNING_MINUTES, OF_MINUTES: tables.MINUTES}

FOLLOWS = -(2**40)

TESTS_S = 60
"""Seconds within which time limits are tested twice."""

MOST_NAMED = 3
"""Limits that a note names."""


def sizes(request: Requests, configuration: Configuration, place: Ints) -> tuple[Ints, Ints, np.ndarray]:
    """Return the nodes and CPUs that each job asks for, and the CPUs that it gets: all those on whole
    nodes."""
    cpus_of = np.array([node.cpus for node in configuration.nodes])
    each = np.array([np.median(cpus_of[list(one.nodes)]) for one in configuration.partitions])[place]
    whole = request.whole | np.array(configuration.exclusive)[place]
    cpus = np.maximum(request.tasks * request.task_cpus, request.nodes)
    nodes = np.where(whole, np.maximum(request.nodes, np.ceil(cpus / each)), request.nodes)
    return nodes.astype(np.int64), cpus, np.where(whole, nodes * each, cpus)


def amounts(request: Requests, resource: str, nodes: Ints, cpus: Any) -> Any:
    """Return how much of a resource jobs ask for, given their nodes and CPUs."""
    if resource == "cpu":
        return cpus
    if resource == "node":
        return nodes
    if resource == "mem":
        return request.node_memory * nodes + request.cpu_memory * cpus
    if resource.startswith("license/"):
        return request.licences.get(resource.removeprefix("license/"), np.zeros_like(nodes))
    return request.devices(resource.removeprefix("gres/")) * nodes


def billed(request: Requests, configuration: Configuration, place: Ints, nodes: Ints, cpus: Any) -> Ints:
    """Return the billing of jobs in partitions: resources by TRESBillingWeights, or else their CPUs."""
    found = np.asarray(cpus, np.float64).copy()
    for number, one in enumerate(configuration.partitions):
        here = place == number
        if one.billing is not None and here.any():
            every = [
                weight * np.asarray(amounts(request, name, nodes, cpus), np.float64)[here]
                for name, weight in one.billing.items()
            ]
            most = configuration.settings.bills_most
            found[here] = np.max([*every, 0 * found[here]], axis=0) if most else sum(every)
    return found.astype(np.int64)


def factors(request: Requests, configuration: Configuration) -> Floats:
    """Return the factor by which each job's use is multiplied (UsageFactor of its QOS)."""
    known = {name: one.factor for name, one in configuration.qos.items()}
    return np.array([known.get(name or "normal", 1.0) for name in request.qos.tolist()], np.float64)


@dataclass(frozen=True)
class Limit:
    """How much of a resource some jobs may have at once; `counted` and `checked` have the shape (n_jobs,).

    Parameters
    ----------
    label : str
        The entity that sets the limit.
    kind : int
        What the limit counts, as a number of `kernel.tables`.
    decays : bool
        Whether what jobs have used is forgotten with time.
    checked : ndarray of bool
        Jobs that the limit can delay: not those with the same limit of a QOS, although these count.
    qos : int
        Number of the QOS, from 1 on, if all of its jobs count together; otherwise 0.
    """

    label: str
    resource: str
    cap: int
    counted: np.ndarray
    checked: np.ndarray
    qos: int = 0
    kind: int = tables.AT_ONCE
    decays: bool = True

    @property
    def amount(self) -> str:
        """The limit in words: 1 job, 8 CPUs."""
        noun = NOUNS.get(self.resource, "")
        if ending := next((text for text, kind in KINDS.items() if kind == self.kind), ""):
            minutes = counted(self.cap, f"{noun or self.resource} minute")
            return minutes + ending.removeprefix(OF_MINUTES)
        return counted(self.cap, noun) if noun else f"{self.cap:,} {self.resource}"

    @classmethod
    def of(cls, label: str, counted: str, *given: Any, decays: bool = True) -> Self:
        """Return a limit by the name of what it counts and the values of `cap` to `qos`."""
        if counted in (WALL, SUBMITTED):
            kind = tables.WALL if counted == WALL else tables.SUBMITTED
            return replace(cls(label, counted, *given), kind=kind, decays=decays)
        ending = next((one for one in KINDS if counted.endswith(one)), "")
        made = cls(label, counted.removesuffix(ending), *given)
        return replace(made, kind=KINDS.get(ending, tables.AT_ONCE), decays=decays)


def limited(wanted: Asked, configuration: Configuration) -> Iterator[Limit]:
    """Yield each limit.

    A limit of the partition's QOS replaces the limit of the job's QOS, unless the latter has ``OverPartQOS``,
    and either one replaces the limit of associations (resource_limits.html, "Hierarchy").
    """
    if not configuration.settings.enforces:
        return
    levels = configuration.qos
    first, _ = qos_order(wanted, configuration)
    of_job, of_partition = _levels(wanted, configuration)
    setting: dict[tuple[str, str], list[str]] = {}
    for name, one in levels.items():
        for kind, caps in one.limits.items():
            for resource in caps:
                setting.setdefault((kind, resource), []).append(name)
    for number, (name, one) in enumerate(levels.items(), start=1):
        counted = (of_job == name) | (of_partition == name)
        for kind, label, caps, these in _of_qos(name, one, wanted, counted):
            for resource, cap in caps.items():
                replaced = (first != name) & np.isin(first, setting[kind, resource])
                qos = number if kind == "all" else 0
                yield Limit.of(label, resource, cap, these, these & ~replaced, qos, decays=one.decays)
    for kinds, label, caps, these in _of_associations(wanted, configuration):
        for resource, cap in caps.items():
            names = [name for kind in kinds for name in setting.get((kind, resource), [])]
            replaced = np.isin(of_job, names) | np.isin(of_partition, names)
            yield Limit.of(label, resource, cap, these, these & ~replaced)


def _levels(wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, np.ndarray]:
    """Return the QOS of each job and of its partition."""
    of_partition = np.array([configuration.partitions[place[0]].qos for place in wanted.partitions], str)
    return wanted.request.qos.astype(str), of_partition


def qos_order(wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, np.ndarray]:
    """Return the QOS whose limits count first for each job, and the other one."""
    levels, (of_job, of_partition) = configuration.qos, _levels(wanted, configuration)
    over = [name for name, one in levels.items() if one.over_partition]
    is_first = np.isin(of_job, over) | ~np.isin(of_partition, list(levels))
    return np.where(is_first, of_job, of_partition), np.where(is_first, of_partition, of_job)


def labels(wanted: Asked, configuration: Configuration) -> np.ndarray:
    """Return the user of each job, with its partition where an association is of the user there."""
    apart = {(one.parent, one.label) for one in configuration.associations if one.partition}
    if not apart:
        return wanted.user
    names = [configuration.partitions[place[0]].name for place in wanted.partitions]
    pairs = zip(wanted.request.account.tolist(), wanted.user.tolist(), names, strict=True)
    own = [(account, user, f"{user} in {name}") for account, user, name in pairs]
    return np.array([label if (account, label) in apart else user for account, user, label in own], object)


def _of_associations(
    wanted: Asked, configuration: Configuration
) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, int], np.ndarray]]:
    """Yield the limits of accounts and users, with the kinds of a QOS's limits that replace them."""
    accounts = {one.name: one for one in configuration.associations if not one.is_user}
    own = {(one.parent, one.label): one for one in configuration.associations if one.is_user}
    account, user = wanted.request.account, labels(wanted, configuration)
    chains = {name: list(parents_of(name, accounts)) for name in set(account.tolist())}
    for name, one in accounts.items():
        if one.group:
            below = [each for each, chain in chains.items() if name in chain]
            yield ("all",), f"account {name}", one.group, np.isin(account.astype(str), below)
    for pair in dict.fromkeys(zip(account.tolist(), user.tolist(), strict=True)):
        these = (account == pair[0]) & (user == pair[1])
        mine = own.get(pair)
        label = f"user {pair[1]} of account {pair[0]}"
        if mine is not None and mine.group:
            yield ("all",), label, mine.group, these
        inherited: dict[str, int] = {}
        over = [accounts[each] for each in chains[pair[0]] if each in accounts]
        for one in [*([mine] if mine else []), *over]:
            inherited = {**one.each, **inherited}
        if inherited:
            yield ("user", "account"), label, inherited, these


def _of_qos(
    name: str, one: Qos, wanted: Asked, these: np.ndarray
) -> Iterator[tuple[str, str, Mapping[str, int], np.ndarray]]:
    """Yield the limits of a QOS with their kinds: on all of its jobs, and on each user's and account's."""
    yield "all", f"QOS {name}", one.limits["all"], these
    for kind, of in (("user", wanted.user), ("account", wanted.request.account)):
        caps = one.limits[kind]
        for each in dict.fromkeys(of[these].tolist()) if caps else ():
            yield kind, f"QOS {name} of {kind} {each}", caps, these & (of == each)


def above(wanted: Asked, configuration: Configuration) -> np.ndarray | None:
    """Return which jobs ask for more than a limit allows, shape (n_jobs,); None if no limit is enforced."""
    if not configuration.settings.enforces:
        return None
    found = np.zeros(len(wanted.jobs), bool)
    for limit, mine, _, need in _counts(wanted, configuration):
        found[mine] |= limit.checked[mine] & _too_large(limit, need, configuration)
    return found


def _too_large(limit: Limit, need: Ints, configuration: Configuration) -> np.ndarray:
    """Return which jobs ask for more than all that a limit allows; a budget of 0 is spent, not too small."""
    if limit.kind == tables.SUBMITTED:
        return np.zeros(len(need), bool)
    safe = configuration.settings.safe and limit.cap > 0
    counts = limit.kind in (tables.AT_ONCE, tables.RUNNING_MINUTES) or safe
    return (need > limit.cap) & counts


def _counts(wanted: Asked, configuration: Configuration) -> Iterator[tuple[Limit, Ints, Ints, Ints]]:
    """Yield each limit that is modelled, the jobs that count for it, what each of them has, and what it asks
    for: that, or of minutes that for the time of its limit (by UsageFactorSafe of its QOS)."""
    first = np.array([place[0] for place in wanted.partitions], np.int64)
    nodes, _, cpus = sizes(wanted.request, configuration, first)
    nodes, cpus = np.maximum(nodes, 1), cpus.astype(np.int64)
    safe = {name for name, one in configuration.qos.items() if one.factor_is_safe}
    factor = np.where(
        np.isin(wanted.request.qos.astype(str), [*safe]), factors(wanted.request, configuration), 1
    )
    minutes = (wanted.limit // 60 * factor).astype(np.int64)
    for limit in limited(wanted, configuration):
        if limit.resource in (JOBS, WALL, SUBMITTED):
            every = np.ones_like(cpus)
        elif limit.resource == "billing":
            every = billed(wanted.request, configuration, first, nodes, cpus)
        elif limit.resource in OF_NODES or limit.resource.startswith(("gres/", "license/")):
            every = amounts(wanted.request, limit.resource, nodes, cpus)
        else:
            continue
        mine = np.flatnonzero(limit.counted)
        need = every if limit.kind == tables.AT_ONCE else every * minutes
        need = submitted_with(wanted, mine) if limit.kind == tables.SUBMITTED else need[mine]
        yield limit, mine, every[mine], need


def submitted_with(wanted: Asked, mine: Ints) -> Ints:
    """Return how many jobs of a limit are submitted with each one of these: of an array or a heterogeneous
    job, which Slurm refuses as a whole, all with the first one, and `FOLLOWS` for the others."""
    array = wanted.request.array
    follows = (array[1:] >= 0) & (array[1:] == array[:-1]) & (np.diff(wanted.jobs.submit) == 0)
    first = np.flatnonzero(np.append(True, ~follows))[: len(array)]
    found = np.full(len(array), FOLLOWS)
    found[first] = np.diff(np.append(first, len(array)))
    found, het_job = found[mine], wanted.request.het_job[mine]
    _, first, n = np.unique(het_job, return_index=True, return_counts=True)
    of_jobs = het_job[first] >= 0
    found[het_job >= 0] = FOLLOWS
    found[first[of_jobs]] = n[of_jobs]
    return found


def exceeded(wanted: Asked, configuration: Configuration, waited: Floats) -> str:
    """Return a note on jobs of a log that started although today's limits would have delayed them, or "".

    Parameters
    ----------
    waited : ndarray of float, shape (n_jobs,), seconds
        Recorded waits; NaN for a job without one.
    """
    submit = wanted.jobs.submit
    started = submit + waited
    end = started + wanted.jobs.runtime
    beyond, worst = np.zeros(len(waited), bool), [(0.0, "")]  # the excess, and the limit
    limits = _counts(wanted, configuration) if configuration.settings.enforces else ()
    for limit, mine, count, _ in limits:
        if limit.kind not in (tables.AT_ONCE, tables.SUBMITTED):
            continue
        begin = submit if limit.kind == tables.SUBMITTED else started
        ran = (end > begin)[mine] & (count <= limit.cap)
        jobs, each = mine[ran], count[ran]
        # Resources of jobs that end at a time are free for jobs that start then.
        order = np.lexsort((np.repeat([0, 1], len(jobs)), np.concatenate([end[jobs], begin[jobs]])))
        level = np.cumsum(np.concatenate([-each, each])[order])
        over = order[(level > limit.cap) & (order >= len(jobs))] - len(jobs)
        over = over[limit.checked[jobs[over]]]
        beyond[jobs[over]] = True
        if len(over):
            had = int(level.max())
            text = f"{limit.label} may have {limit.amount} and had {had}"
            worst.append((had / max(limit.cap, 1), text))
    if not beyond.any():
        return ""
    named = [text for _, text in sorted(worst, reverse=True)[:MOST_NAMED] if text]
    left, n = len(worst) - 1 - len(named), int(beyond.sum())
    return (
        f"{configuration.name}: {counted(n, 'job')} ({beyond.mean():.1%}) started in the log although a "
        f"limit forbids it here: {'; '.join(named)}{f'; and {left} more' * (left > 0)}. The limits must have "
        "been different then, and such jobs wait longer here; set the limits of that time "
        "(policy.lines=['QosName=NAME MaxJobsPU=N'] replaces the line of a QOS)"
    )


def spent(wanted: Asked, configuration: Configuration, log: Trace) -> Iterator[str]:
    """Yield a note on each budget that is spent for good, if jobs of a log start in order of submission and
    have their runtimes. O(limits x jobs)."""
    settings = configuration.settings
    minutes = np.minimum(wanted.runtime, wanted.limit) * factors(wanted.request, configuration) / 60
    stays = settings.counts_usage and settings.usage_reset not in RESETS
    for limit, mine, count, need in _counts(wanted, configuration):
        returns = limit.cap > 0 and (not stays or (limit.decays and settings.decay_per_s < 1))
        if limit.kind not in (tables.MINUTES, tables.WALL) or returns:
            continue
        used, needing = minutes[mine] * count, (need > 0) | (limit.kind == tables.WALL)
        late = mine[(np.cumsum(used) - used >= limit.cap) & limit.checked[mine] & needing]
        if len(late):
            lasts, remedy = "", "raise the limit"
            if limit.cap:
                lasts = ", which neither decay nor are reset"
                remedy = f"add policy.lines=['PriorityUsageResetPeriod=MONTHLY'], or {remedy}"
            n, named = f"{counted(len(late), 'job')} ({len(late) / len(minutes):.1%})", log.names_of(late)
            yield (
                f"{configuration.name}: {limit.label} may use {limit.amount}{lasts}: "
                f"about {n} will find them spent and never start ({named}), and will count in refused_share "
                f"and in no other average over jobs; {remedy}"
            )


def overdue(wanted: Asked, configuration: Configuration, log: Trace) -> Iterator[str]:
    """Yield a note on jobs of a log that ran for longer than they can here."""
    over = [np.inf if one.over_time is None else one.over_time for one in configuration.partitions]
    most = wanted.limit + np.array([max(over[one] for one in place) for place in wanted.partitions])
    beyond = wanted.runtime - most
    late = np.flatnonzero(beyond > configuration.settings.kill_wait + TESTS_S)
    if len(late):
        n, named = f"{counted(len(late), 'job')} ({len(late) / len(most):.1%})", log.names_of(late)
        mean, longest = beyond[late].mean() / 60, beyond[late].max() / 60
        yield (
            f"{configuration.name}: {n} ran in the log for longer than the time limit, OverTimeLimit and "
            f"KillWait, by {mean:,.0f} min on average and {longest:,.0f} min at most ({named}): scontrol may "
            "have changed the limits, and here such jobs end at them (killed_share); add "
            "policy.lines=['OverTimeLimit=UNLIMITED'], with which jobs run for as long as they did in "
            "partitions without an OverTimeLimit of their own"
        )


def counters(wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, np.ndarray, Ints, list[str]]:
    """Return the limits, what each job counts for them, the position of its first count, and notes.

    A job that asks for more than a limit allows did run in the log, under another limit, so it runs alone.
    """
    caps: list[tuple[Any, ...]] = []
    jobs, rows, notes = [np.zeros(0, np.int64)], [np.zeros((0, 5), np.int64)], list[str]()
    seconds = (wanted.limit * factors(wanted.request, configuration)).astype(np.int64)
    for limit, mine, count, need in _counts(wanted, configuration):
        is_checked = limit.checked[mine]
        larger = is_checked & _too_large(limit, need, configuration)
        if n := int(larger.sum()):
            notes.append(
                f"{configuration.name}: {limit.label} may have {limit.amount}, and "
                f"{counted(n, 'job', 'asks', of=len(mine))} for more: each of these runs while no other job "
                "of this limit does"
            )
        number, safe = np.full(len(mine), len(caps)), configuration.settings.safe
        at_once, of_jobs = limit.kind == tables.AT_ONCE, limit.resource in (JOBS, WALL, SUBMITTED)
        ends = limit.kind in (tables.MINUTES, tables.WALL) and not safe and limit.label != f"account {ROOT}"
        caps.append((0, limit.cap, 0, of_jobs, limit.qos, 0, limit.kind, safe, ends, limit.decays))
        need = np.where(larger, limit.cap, need)
        held = 0 * need if limit.kind in (tables.WALL, tables.SUBMITTED) else count * seconds[mine]
        jobs.append(mine)
        rows.append(np.column_stack((number, need if at_once else count, is_checked, need, held)))
    for name, cap in (configuration.settings.licences or {}).items():
        count = wanted.request.licences.get(name, np.zeros(len(wanted.jobs), np.int64))
        mine = np.flatnonzero(count)
        caps.append((0, cap, 0, 0, 0, 0, tables.LICENCE, 0, 0, 0))
        jobs.append(mine)
        rows.append(
            np.column_stack([np.full(len(mine), len(caps) - 1), count[mine], *np.zeros((3, len(mine)))])
        )
    every, columns = np.concatenate(jobs), np.concatenate(rows).astype(np.int64)
    order = np.argsort(every, kind="stable")
    limits = np.array(caps, tables.LIMIT)
    charges = np.zeros(len(every), tables.CHARGE)
    for name, values in zip(tables.CHARGE.names or (), columns[order].T, strict=True):
        charges[name] = values
    begins = np.searchsorted(every[order], np.arange(len(wanted.jobs) + 1)).astype(np.int64)
    return limits, charges, begins, notes
