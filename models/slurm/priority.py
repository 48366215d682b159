"""The part of each job's priority that does not change with time (priority/multifactor), and the tree of
accounts by which the fair-share factor does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.slurm.asked import Asked
from models.slurm.configuration import Configuration, Node, Settings
from models.slurm.configuration.accounting import ROOT, above
from models.slurm.kernel import tables
from models.slurm.limits import amounts, labels, sizes


def associations(wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, Ints]:
    """Return the tree of accounts and users that submit, and the association of each job.

    A share is relative to all siblings that the configuration names; an account that it does not name is
    below the root and has one share. The contents of an account with ``Fairshare=parent`` count for the
    account above it.
    """
    account, user = wanted.request.account.tolist(), labels(wanted, configuration).tolist()
    if not configuration.settings.weight_fair or wanted.jobs.user is None:
        return np.zeros(0, tables.ASSOCIATION), np.full(len(account), tables.NONE)
    known = {one.name: one for one in configuration.associations if not one.is_user}
    pairs = [(name or ROOT, of, True) for name, of in zip(account, user, strict=True)]
    shares = {(one.parent, one.label, one.is_user): one.share for one in configuration.associations}
    shares |= {(ROOT, name, False): 1.0 for name, _, _ in pairs if name not in known}
    shares |= {pair: 1.0 for pair in pairs if pair not in shares}
    children: dict[str, list[tuple[str, str, bool]]] = {}
    for member, share in shares.items():
        over = (one for one in above(member[0], known) if one not in known or known[one].share < math.inf)
        if (member[1] != ROOT or member[2]) and (member[2] or share < math.inf):
            children.setdefault(next(over, ROOT), []).append(member)
    rows, spans, seen = [(-1, 1.0, 1.0, ("", ROOT, False))], [], set()
    for place, (_, _, norm, (_, name, is_user)) in enumerate(rows):  # the list grows meanwhile
        mine = [] if is_user or name in seen else children.get(name, [])
        seen |= set() if is_user else {name}  # an account that is in itself has its children once
        spans.append((len(rows), len(rows) + len(mine)))
        total = sum(shares[one] for one in mine if shares[one] < math.inf) or 1.0
        for one in mine:
            share = shares[one] / total
            rows.append((place, share, norm * min(share, 1.0), one))
    fair = np.zeros(len(rows), tables.ASSOCIATION)
    fair["parent"], fair["share"], fair["norm"] = np.array([row[:3] for row in rows]).T
    fair["first"], fair["last"] = np.array(spans).T
    fair["is_user"] = [row[3][2] for row in rows]
    fair["place"] = fair["held"] = np.arange(len(rows))
    fair["factor"], fair["level"] = 1.0, np.where(fair["is_user"], np.nan, 0.0)
    at = {row[3]: place for place, row in enumerate(rows)}
    return fair, np.array([at.get(pair, tables.NONE) for pair in pairs], np.int64)


def add_usage(
    fair: np.ndarray, association: Ints, wanted: Asked, usage: Mapping[tuple[str, str], float]
) -> None:
    """Add the usage of users and accounts before the first event to their associations and all above them.

    Usage of an association without jobs here counts for its account, or else for the root.
    """
    if not len(fair):
        return
    pairs = list(zip(wanted.request.account.tolist(), wanted.user.tolist(), strict=True))
    of_pair = dict(zip(pairs, association.tolist(), strict=True))
    of_account = {account: int(fair["parent"][place]) for (account, _), place in of_pair.items()}
    for (account, user), used in usage.items():
        place = of_pair.get((account, user), of_account.get(account, 0))
        while place != tables.NONE:
            fair["usage"][place] += used
            place = int(fair["parent"][place])


def fixed_parts(wanted: Asked, configuration: Configuration) -> tuple[Floats, Floats]:
    """Return the constant part of the priority of each record: at submission, and after the first test.

    The size of a job counts the CPUs that it asked for at submission, and those that it would get once the
    selection of nodes has seen it; they differ for jobs on whole nodes (seen on Slurm 22.05.8).
    """
    settings, of_job, place = configuration.settings, wanted.of_record, wanted.place
    request = wanted.request[of_job]
    most = max((one.job_factor for one in configuration.partitions), default=1) or 1
    factor = np.array([one.job_factor for one in configuration.partitions], np.float64)
    common = settings.of_partition * (factor if settings.raw_partitions else factor / most)[place]
    common = common - request.nice + settings.of_qos * _qos_factor(request.qos, configuration)
    if settings.of_association:
        common = common + settings.of_association * _association_factor(wanted, configuration)[of_job]
    found = []
    for cpus in sizes(request, configuration, place)[1:]:
        size = _size_factor(settings, configuration, request.nodes, cpus, wanted.limit[of_job] / 60)
        value = common + settings.of_size * size
        for name, weight in (settings.of_tres or {}).items():
            asked = amounts(request, name, request.nodes, cpus)
            of_all = 1 if settings.raw_tres else _totals(configuration, name)[place]
            value = value + weight * np.asarray(asked / np.maximum(of_all, 1), float)
        found.append(np.asarray(value, np.float64))
    return found[0], found[1]


def _qos_factor(names: np.ndarray, configuration: Configuration) -> np.ndarray:
    """Return the priority of each job's QOS, ``normal`` if it has none: with NO_NORMAL_QOS as it is, else
    as a share of the highest one."""
    highest = max((one.priority for one in configuration.qos.values()), default=0) or 1
    highest = 1 if configuration.settings.raw_qos else highest
    known = {name: one.priority / highest for name, one in configuration.qos.items()}
    return np.array([known.get(name or "normal", 0.0) for name in names.tolist()], np.float64)


def _association_factor(wanted: Asked, configuration: Configuration) -> Floats:
    """Return the priority of each job's user or account, as a share of the highest one of all except
    NO_NORMAL_ASSOC; what has none has the one above it."""
    every = configuration.associations
    highest = max((one.priority or 0 for one in every), default=0) or 1
    accounts = {one.name: one for one in every if not one.is_user}
    users = {(one.parent, one.label): one.priority for one in every if one.is_user}

    def priority(account: str, user: str) -> int:
        over = (accounts[name].priority for name in above(account, accounts) if name in accounts)
        return next((one for one in (users.get((account, user)), *over) if one is not None), 0)

    pairs = list(zip(wanted.request.account.tolist(), labels(wanted, configuration).tolist(), strict=True))
    known = {pair: priority(*pair) for pair in dict.fromkeys(pairs)}
    divisor = 1 if configuration.settings.raw_associations else highest
    return np.array([known[pair] / divisor for pair in pairs], np.float64)


def _size_factor(
    settings: Settings, configuration: Configuration, nodes: Ints, cpus: Any, limit_min: Floats
) -> np.ndarray:
    """Return the factor of the job's size, 0 to 1 (priority_multifactor.html, "Job size factor")."""
    n_nodes, n_cpus = len(configuration.nodes), sum(node.cpus for node in configuration.nodes)
    if settings.by_time:
        size = np.maximum(nodes * n_cpus / n_nodes, cpus) / np.maximum(limit_min, 1) / n_cpus
        return np.clip(1 - size if settings.favor_small else size, 0, 1)
    if settings.favor_small:
        return np.clip(((n_nodes - nodes) / n_nodes + (n_cpus - cpus) / n_cpus) / 2, 0, 1)
    return np.clip((nodes / n_nodes + cpus / n_cpus) / 2, 0, 1)


def _totals(configuration: Configuration, resource: str) -> Floats:
    """Return the amount of a resource in each partition."""
    of_node: dict[str, Callable[[Node], int]] = {
        "cpu": lambda node: node.cpus,
        "node": lambda node: 1,
        "mem": lambda node: node.memory,
    }
    of = of_node.get(resource, lambda node: node.devices(resource.removeprefix("gres/")))
    every = ((configuration.nodes[node] for node in one.nodes) for one in configuration.partitions)
    return np.array([sum(map(of, nodes)) for nodes in every], float)
