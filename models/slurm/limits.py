"""Limits of associations and QOS: how much of what some jobs may have at once (resource_limits.html).

A limit counts what its running jobs ask for; a job that would exceed one waits, and stops no job behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from models.arrays import Ints
from models.slurm.configuration import Configuration
from models.slurm.configuration.accounting import JOBS, above
from models.slurm.kernel import tables

if TYPE_CHECKING:
    from models.slurm.build import Asked

OF_NODES = ("cpu", "node", "mem")
"""Resources that are counted, with ``jobs`` and ``gres/...``; others (billing, licences) have no effect."""


def amounts(wanted: Asked, resource: str) -> Ints:
    """Return how much of a resource each job asks for."""
    request = wanted.request
    nodes = np.maximum(request.nodes, 1)
    cpus = np.maximum(request.tasks * request.task_cpus, nodes)
    if resource == JOBS:
        return np.ones(len(request), np.int64)
    if resource == "cpu":
        return cpus
    if resource == "node":
        return nodes
    if resource == "mem":
        return request.node_memory * nodes + request.cpu_memory * cpus
    kind = resource.removeprefix("gres/")
    found = np.zeros(len(request), np.int64)
    for name, count in request.gres.items():
        if kind in (name, name.partition(":")[0]):
            found += count * nodes
    return found


def limited(wanted: Asked, configuration: Configuration) -> Iterator[tuple[str, str, int, np.ndarray]]:
    """Yield each limit: what sets it, the resource, how much, and which jobs count, shape (n_jobs,)."""
    if not configuration.enforces:
        return
    for label, caps, these in (*_of_associations(wanted, configuration), *_of_qos(wanted, configuration)):
        for resource, cap in caps.items():
            if resource == JOBS or resource in OF_NODES or resource.startswith("gres/"):
                yield label, resource, cap, these


def _of_associations(
    wanted: Asked, configuration: Configuration
) -> Iterator[tuple[str, Mapping[str, int], np.ndarray]]:
    accounts = {one.name: one for one in configuration.associations if not one.is_user}
    own = {(one.parent, one.name): one for one in configuration.associations if one.is_user}
    account, user = wanted.request.account, wanted.user
    chains = {name: list(above(name, accounts)) for name in set(account.tolist())}
    for name, one in accounts.items():
        if one.group:
            below = [each for each, chain in chains.items() if name in chain]
            yield f"account {name}", one.group, np.isin(account.astype(str), below)
    for pair in dict.fromkeys(zip(account.tolist(), user.tolist(), strict=True)):
        these = (account == pair[0]) & (user == pair[1])
        mine = own.get(pair)
        label = f"user {pair[1]} of account {pair[0]}"
        if mine is not None and mine.group:
            yield label, mine.group, these
        inherited: dict[str, int] = {}
        over = [accounts[each] for each in chains[pair[0]] if each in accounts]
        for one in [*([mine] if mine else []), *over]:
            inherited = {**one.each, **inherited}
        if inherited:
            yield label, inherited, these


def _of_qos(
    wanted: Asked, configuration: Configuration
) -> Iterator[tuple[str, Mapping[str, int], np.ndarray]]:
    """Yield the limits of each QOS, of the job's own and of its first partition's."""
    of_partition = np.array([configuration.partitions[place[0]].qos for place in wanted.partitions], object)
    account, user = wanted.request.account, wanted.user
    for name, one in configuration.qos.items():
        these = (wanted.request.qos == name) | (of_partition == name)
        if one.group:
            yield f"QOS {name}", one.group, these
        for kind, caps, of in (("user", one.user, user), ("account", one.account, account)):
            for each in dict.fromkeys(of[these].tolist()) if caps else ():
                yield f"QOS {name} of {kind} {each}", caps, these & (of == each)


def counters(wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, np.ndarray, Ints, list[str]]:
    """Return the limits, what each job counts for them, where that of each job begins, and notes.

    A job that asks for more than a limit allows did run in the log, under another limit: it runs alone.
    """
    caps, jobs, numbers, asked, notes = [], [np.zeros(0, np.int64)], [], [], []
    for label, resource, cap, these in limited(wanted, configuration):
        mine = np.flatnonzero(these)
        count = amounts(wanted, resource)[mine]
        if n := int((count > cap).sum()):
            notes.append(
                f"{configuration.name}: {label} may have {cap} {resource}, and {n} of its {len(mine)} jobs "
                "ask for more: while one of them runs, none of the others does"
            )
        caps.append(cap)
        jobs.append(mine)
        numbers.append(np.full(len(mine), len(caps) - 1))
        asked.append(np.minimum(count, cap))
    every = np.concatenate(jobs)
    order = np.argsort(every, kind="stable")
    limits = np.zeros(len(caps), tables.LIMIT)
    limits["cap"] = caps
    charges = np.zeros(len(every), tables.CHARGE)
    if caps:
        charges["limit"] = np.concatenate(numbers)[order]
        charges["amount"] = np.concatenate(asked)[order]
    begins = np.searchsorted(every[order], np.arange(len(wanted.jobs) + 1)).astype(np.int64)
    return limits, charges, begins, notes
