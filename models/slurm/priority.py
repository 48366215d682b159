"""Weights of priority/multifactor, and the part of each job's priority that does not change with time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.slurm.configuration import Configuration, values
from models.slurm.kernel import tables

if TYPE_CHECKING:
    from models.slurm.build import Asked

WEEK_S = 7 * 86400


@dataclass(frozen=True)
class Weights:
    """Keys PriorityWeight* and those beside them.

    Parameters
    ----------
    recalculated : bool
        Whether priorities are calculated again each period: only with an accounting database (slurmdbd),
        without which age and fair-share have no weight either (seen on Slurm 22.05.8).
    decay_per_s : float
        1 - 0.693 / half-life, as Slurm computes it; 1 is no decay.
    """

    age: float
    fair: float
    size: float
    partition: float
    qos: float
    tres: Mapping[str, float]
    max_age: float
    period: float
    decay_per_s: float
    damping: float
    favor_small: bool
    relative: bool
    normal_tres: bool
    normal_partition: bool
    fair_tree: bool
    recalculated: bool
    shares: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, configuration: Configuration) -> Self:
        """Return the weights of a configuration."""

        def number(key: str) -> float:
            return float(configuration.value(key, values.number, 0.0))

        def seconds(key: str, default: float) -> float:
            found = configuration.value(key, values.minutes, default)
            return 0.0 if found is None else float(found)

        flags = {word.strip().upper() for word in configuration.settings.get("priorityflags", "").split(",")}
        recalculated = configuration.word("AccountingStorageType", "none") == "slurmdbd"
        half_life = seconds("PriorityDecayHalfLife", WEEK_S)
        tres = {
            name: _number(configuration, text)
            for name, text in values.options(configuration.settings.get("priorityweighttres", "")).items()
        }
        return cls(
            number("PriorityWeightAge") * recalculated,
            number("PriorityWeightFairshare") * recalculated,
            number("PriorityWeightJobSize"),
            number("PriorityWeightPartition"),
            number("PriorityWeightQOS"),
            tres,
            seconds("PriorityMaxAge", WEEK_S) or WEEK_S,
            seconds("PriorityCalcPeriod", 300) or 300,
            1 - 0.693 / half_life if half_life > 0 else 1.0,
            float(configuration.value("FairShareDampeningFactor", values.whole, 1)) or 1.0,
            bool(configuration.value("PriorityFavorSmall", values.yes, False)),
            "SMALL_RELATIVE_TO_TIME" in flags,
            "NO_NORMAL_TRES" not in flags and "NO_NORMAL_ALL" not in flags,
            "NO_NORMAL_PART" not in flags and "NO_NORMAL_ALL" not in flags,
            "NO_FAIR_TREE" not in flags,
            recalculated,
        )

    def associations(self, jobs: Jobs, request: Requests) -> tuple[np.ndarray, Ints]:
        """Return the tree of accounts and users with equal shares, and the association of each job.

        The root has the accounts of the log, and each of them the users that submit under it.
        """
        n = len(jobs)
        if not self.fair or jobs.user is None:
            return np.zeros(0, tables.ASSOCIATION), np.full(n, tables.NONE)
        pairs = list(zip(request.account.tolist(), jobs.user.tolist(), strict=True))
        accounts = list(dict.fromkeys(account for account, _ in pairs))
        users = list(dict.fromkeys(pairs))
        number = {account: place for place, account in enumerate(accounts, start=1)}
        members = {account: sum(name == account for name, _ in users) for account in accounts}
        at = {pair: place for place, pair in enumerate(users, start=1 + len(accounts))}
        parent = np.array([-1, *([0] * len(accounts)), *(number[account] for account, _ in users)])
        share = np.array(
            [1.0, *([1 / len(accounts)] * len(accounts)), *(1 / members[account] for account, _ in users)]
        )
        norm = share.copy()
        for place in range(1, len(norm)):
            norm[place] *= norm[parent[place]]
        fair = np.zeros(len(norm), tables.ASSOCIATION)
        fair["share"], fair["norm"], fair["parent"], fair["factor"] = share, norm, parent, 1.0
        fair["is_user"][1 + len(accounts) :] = 1
        return fair, np.array([at[pair] for pair in pairs], np.int64)


def _number(configuration: Configuration, text: str) -> float:
    return float(configuration.value("PriorityWeightTRES", lambda _: values.number(text), 0.0))


def fixed_parts(
    wanted: Asked, configuration: Configuration, weights: Weights, of_job: Ints, place: Ints
) -> tuple[Floats, Floats]:
    """Return the constant part of the priority of each record: at submission, and after the first test.

    The size of a job counts the CPUs that it asked for at submission, and those that it would get once the
    selection of nodes has seen it; they differ for jobs on whole nodes (seen on Slurm 22.05.8).
    """
    request = wanted.request
    most = max((one.job_factor for one in configuration.partitions), default=1) or 1
    factor = np.array([one.job_factor for one in configuration.partitions], np.float64)
    common = weights.partition * (factor / most if weights.normal_partition else factor)[place]
    common = common - request.nice[of_job]
    asked_cpus = np.maximum(request.tasks * request.task_cpus, request.nodes)
    n_nodes, n_cpus = len(configuration.nodes), sum(node.cpus for node in configuration.nodes)
    cpus_of = np.array([node.cpus for node in configuration.nodes])
    each = np.array([np.median(cpus_of[list(one.nodes)]) for one in configuration.partitions])
    linear = configuration.word("SelectType", "select/cons_tres") == "linear"
    exclusive = np.array([linear or one.sharing == "EXCLUSIVE" for one in configuration.partitions])
    whole = request.whole[of_job] | exclusive[place]
    cpus = asked_cpus[of_job]
    given_nodes = np.maximum(request.nodes[of_job], np.ceil(cpus / each[place]))
    got = np.where(whole, given_nodes * each[place], cpus)
    found = []
    for counted in (cpus, got):
        value = common + weights.size * _size_factor(
            weights, request.nodes[of_job], counted, wanted.limit[of_job] / 60, n_nodes, n_cpus
        )
        for name, weight in weights.tres.items():
            value = value + weight * _share(wanted, configuration, weights, name, of_job, place, counted)
        found.append(np.asarray(value, np.float64))
    return found[0], found[1]


def _size_factor(
    weights: Weights, nodes: Ints, cpus: Any, limit_min: Any, n_nodes: int, n_cpus: int
) -> np.ndarray:
    """Return the factor of the job's size, 0 to 1 (priority_multifactor.html, "Job size factor")."""
    if weights.relative:
        size = np.maximum(nodes * n_cpus / n_nodes, cpus) / np.maximum(limit_min, 1) / n_cpus
        return np.clip(1 - size if weights.favor_small else size, 0, 1)
    if weights.favor_small:
        return np.clip(((n_nodes - nodes) / n_nodes + (n_cpus - cpus) / n_cpus) / 2, 0, 1)
    return np.clip((nodes / n_nodes + cpus / n_cpus) / 2, 0, 1)


def _share(
    wanted: Asked,
    configuration: Configuration,
    weights: Weights,
    name: str,
    of_job: Ints,
    place: Ints,
    cpus: Any,
) -> np.ndarray:
    """Return what a job asks for of one resource, as a share of what its partition has of it."""
    request = wanted.request

    def total(of: Any) -> np.ndarray:
        return np.array(
            [sum(of(configuration.nodes[node]) for node in one.nodes) for one in configuration.partitions],
            float,
        )[place]

    nodes = request.nodes[of_job]
    kind = name.removeprefix("gres/")
    if name == "cpu":
        amount, of_all = cpus, total(lambda node: node.cpus)
    elif name == "node":
        amount, of_all = nodes, total(lambda node: 1)
    elif name == "mem":
        amount = request.node_memory[of_job] * nodes + request.cpu_memory[of_job] * cpus
        of_all = total(lambda node: node.memory)
    else:
        columns = [count for key, count in request.gres.items() if kind in (key, key.partition(":")[0])]
        amount = sum((count[of_job] for count in columns), np.zeros(len(of_job))) * nodes
        of_all = total(
            lambda node: sum(n for key, n in node.gres.items() if kind in (key, key.partition(":")[0]))
        )
    return np.asarray(amount / np.maximum(of_all, 1) if weights.normal_tres else amount, float)
