"""Weights of priority/multifactor, and the part of each job's priority that does not change with time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.arrays import Floats, Ints
from models.slurm.configuration import Configuration, values
from models.slurm.configuration.accounting import ROOT, above
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

    def associations(self, wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, Ints]:
        """Return the tree of accounts and users that submit, and the association of each job.

        A share is that of all siblings that the configuration names; what it does not name has one share,
        an account below the root. Users without jobs have no rank.
        """
        account, user = wanted.request.account.tolist(), wanted.user.tolist()
        if not self.fair or wanted.jobs.user is None:
            return np.zeros(0, tables.ASSOCIATION), np.full(len(account), tables.NONE)
        known = {one.name: one for one in configuration.associations if not one.is_user}
        own = {(one.parent, one.name): one for one in configuration.associations if one.is_user}
        siblings: dict[str, int] = {}
        for one in configuration.associations:
            siblings[one.parent] = siblings.get(one.parent, 0) + one.share
        pairs = list(dict.fromkeys(zip(account, user, strict=True)))
        accounts: dict[str, str] = {}  # name -> parent, parents first
        for name, _ in pairs:
            chain = [each for each in above(name, known) if each not in ("", ROOT)]
            for each in reversed(chain):
                accounts.setdefault(each, known[each].parent if each in known else ROOT)
        for name, parent in accounts.items():
            siblings[parent] = siblings.get(parent, 0) + (name not in known)
        for name, of in pairs:
            siblings[name] = siblings.get(name, 0) + ((name, of) not in own)
        number = {name: place for place, name in enumerate(accounts, start=1)}
        rows = [(-1, 1.0)]
        for name, parent in accounts.items():
            share = known[name].share if name in known else 1
            rows.append((number.get(parent, 0), share / max(siblings[parent], 1)))
        for pair in pairs:
            share = own[pair].share if pair in own else 1
            rows.append((number.get(pair[0], 0), share / max(siblings[pair[0]], 1)))
        fair = np.zeros(len(rows), tables.ASSOCIATION)
        fair["parent"], fair["share"] = np.array(rows).T
        fair["norm"], fair["factor"] = fair["share"], 1.0
        for place in range(1, len(rows)):
            fair["norm"][place] *= fair["norm"][fair["parent"][place]]
        fair["is_user"][1 + len(accounts) :] = 1
        at = {pair: place for place, pair in enumerate(pairs, start=1 + len(accounts))}
        return fair, np.array([at[pair] for pair in zip(account, user, strict=True)], np.int64)


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
    common = common - request.nice[of_job] + weights.qos * _qos_factor(request.qos, configuration)[of_job]
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


def _qos_factor(names: np.ndarray, configuration: Configuration) -> np.ndarray:
    """Return the priority of each job's QOS, as a share of the highest one; ``normal`` if it has none."""
    highest = max((one.priority for one in configuration.qos.values()), default=0) or 1
    known = {name: one.priority / highest for name, one in configuration.qos.items()}
    return np.array([known.get(name or "normal", 0.0) for name in names.tolist()], np.float64)


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
