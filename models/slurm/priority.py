"""Weights of priority/multifactor, and the part of each job's priority that does not change with time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.arrays import Floats, Ints
from models.slurm.configuration import Configuration, Node, values
from models.slurm.configuration.accounting import ROOT, above
from models.slurm.kernel import tables
from models.slurm.limits import amounts, sizes

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
    used_at_end : bool
        See `kernel.tables.SETTINGS`.
    decay_per_s, damping : float
        1 - 0.693 / half-life, as Slurm computes it, 1 is no decay; FairShareDampeningFactor.
    """

    weight_age: float
    weight_fair: float
    size: float
    partition: float
    qos: float
    tres: Mapping[str, float]
    max_age: float
    calc_period: float
    decay_per_s: float
    damping: float
    favor_small: bool
    relative: bool
    normal_tres: bool
    normal_partition: bool
    fair_tree: bool
    recalculated: bool
    used_at_end: bool

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
        return cls(
            number("PriorityWeightAge") * recalculated,
            number("PriorityWeightFairshare") * recalculated,
            number("PriorityWeightJobSize"),
            number("PriorityWeightPartition"),
            number("PriorityWeightQOS"),
            configuration.value("PriorityWeightTRES", _numbers, {}),
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
            configuration.enforces,
        )

    @property
    def settings(self) -> dict[str, float]:
        """Those that the kernel reads."""
        return {name: getattr(self, name) for name in tables.SETTINGS.names or () if hasattr(self, name)}

    def associations(self, wanted: Asked, configuration: Configuration) -> tuple[np.ndarray, Ints]:
        """Return the tree of accounts and users that submit, and the association of each job.

        A share is that of all siblings that the configuration names; what it does not name has one share,
        an account below the root. What is in an account with ``Fairshare=parent`` counts for the one above.
        """
        account, user = wanted.request.account.tolist(), wanted.user.tolist()
        if not self.weight_fair or wanted.jobs.user is None:
            return np.zeros(0, tables.ASSOCIATION), np.full(len(account), tables.NONE)
        known = {one.name: one for one in configuration.associations if not one.is_user}
        pairs = [(name or ROOT, of, True) for name, of in zip(account, user, strict=True)]
        shares = {(one.parent, one.name, one.is_user): one.share for one in configuration.associations}
        shares |= {(ROOT, name, False): 1.0 for name, _, _ in pairs if name not in known}
        shares |= {pair: 1.0 for pair in pairs if pair not in shares}
        children: dict[str, list[tuple[str, str, bool]]] = {}
        for member, share in shares.items():
            over = (one for one in above(member[0], known) if one not in known or known[one].share < math.inf)
            if (member[1] != ROOT or member[2]) and (member[2] or share < math.inf):
                children.setdefault(next(over, ROOT), []).append(member)
        rows, spans = [(-1, 1.0, 1.0, ("", ROOT, False))], []
        for place, (_, _, norm, (_, name, is_user)) in enumerate(rows):  # which grow meanwhile
            mine = [] if is_user else children.get(name, [])
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


def _numbers(text: str) -> dict[str, float]:
    return {name: values.number(number) for name, number in values.options(text).items()}


def fixed_parts(
    wanted: Asked, configuration: Configuration, weights: Weights, of_job: Ints, place: Ints
) -> tuple[Floats, Floats]:
    """Return the constant part of the priority of each record: at submission, and after the first test.

    The size of a job counts the CPUs that it asked for at submission, and those that it would get once the
    selection of nodes has seen it; they differ for jobs on whole nodes (seen on Slurm 22.05.8).
    """
    request = wanted.request[of_job]
    most = max((one.job_factor for one in configuration.partitions), default=1) or 1
    factor = np.array([one.job_factor for one in configuration.partitions], np.float64)
    common = weights.partition * (factor / most if weights.normal_partition else factor)[place]
    common = common - request.nice + weights.qos * _qos_factor(request.qos, configuration)
    found = []
    for cpus in sizes(request, configuration, place)[1:]:
        size = _size_factor(weights, configuration, request.nodes, cpus, wanted.limit[of_job] / 60)
        value = common + weights.size * size
        for name, weight in weights.tres.items():
            asked = amounts(request, name, request.nodes, cpus)
            of_all = _totals(configuration, name)[place] if weights.normal_tres else 1
            value = value + weight * np.asarray(asked / np.maximum(of_all, 1), float)
        found.append(np.asarray(value, np.float64))
    return found[0], found[1]


def _qos_factor(names: np.ndarray, configuration: Configuration) -> np.ndarray:
    """Return the priority of each job's QOS, as a share of the highest one; ``normal`` if it has none."""
    highest = max((one.priority for one in configuration.qos.values()), default=0) or 1
    known = {name: one.priority / highest for name, one in configuration.qos.items()}
    return np.array([known.get(name or "normal", 0.0) for name in names.tolist()], np.float64)


def _size_factor(
    weights: Weights, configuration: Configuration, nodes: Ints, cpus: Any, limit_min: Floats
) -> np.ndarray:
    """Return the factor of the job's size, 0 to 1 (priority_multifactor.html, "Job size factor")."""
    n_nodes, n_cpus = len(configuration.nodes), sum(node.cpus for node in configuration.nodes)
    if weights.relative:
        size = np.maximum(nodes * n_cpus / n_nodes, cpus) / np.maximum(limit_min, 1) / n_cpus
        return np.clip(1 - size if weights.favor_small else size, 0, 1)
    if weights.favor_small:
        return np.clip(((n_nodes - nodes) / n_nodes + (n_cpus - cpus) / n_cpus) / 2, 0, 1)
    return np.clip((nodes / n_nodes + cpus / n_cpus) / 2, 0, 1)


def _totals(configuration: Configuration, resource: str) -> Floats:
    """Return how much of a resource each partition has."""
    of_node: dict[str, Callable[[Node], int]] = {
        "cpu": lambda node: node.cpus,
        "node": lambda node: 1,
        "mem": lambda node: node.memory,
    }
    of = of_node.get(resource, lambda node: node.devices(resource.removeprefix("gres/")))
    every = ((configuration.nodes[node] for node in one.nodes) for one in configuration.partitions)
    return np.array([sum(map(of, nodes)) for nodes in every], float)
