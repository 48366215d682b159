"""Limits on single jobs, by their partitions, QOS and associations (resource_limits.html).

A job that exceeds one is refused at its submission (EnforcePartLimits, DenyOnLimit) or waits for ever. Either
way it never starts: in a log it is a misfit, see `models.slurm.fitting`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.arrays import Ints
from models.counting import counted
from models.jobs.requests import Requests
from models.slurm.asked import Asked, MisfitError
from models.slurm.configuration import Configuration, Settings, versions
from models.slurm.configuration.accounting import Association, Qos, of_job
from models.slurm.configuration.accounting import above as parents_of
from models.slurm.limits import MOST_NAMED, amounts, billed, factors, labels, qos_order, sizes

PER_JOB, PER_NODE, MINUTES, LEAST, WALL = (
    "MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESMinsPerJob", "MinTRESPerJob", "MaxWall",
)  # fmt: skip
OF_TIME, OF_SIZE = (WALL, MINUTES), (PER_JOB, PER_NODE)
SIZES = {
    (PER_JOB, "node"): "nodes", (PER_JOB, "cpu"): "cpus", (PER_JOB, "mem"): "memory",
    (PER_NODE, "cpu"): "each", (PER_NODE, "mem"): "memory",
}  # fmt: skip
"""Limits to which a job that is too large can be cut."""

MOST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Group:
    """Jobs with the same limits.

    Parameters
    ----------
    jobs : ndarray of int
    caps : mapping of (str, str) to (int, str)
        How much of a resource a job may have, by the limit's name and the resource, and what sets the limit.
    most_nodes : int
        Nodes that a job may have.
    """

    jobs: Ints
    caps: Mapping[tuple[str, str], tuple[int, str]]
    most_nodes: int


def groups(wanted: Asked, configuration: Configuration) -> Iterator[Group]:
    """Yield the jobs of each association and pair of QOS; a limit of a QOS replaces the association's."""
    if not configuration.settings.enforces:
        return
    accounts = {one.name: one for one in configuration.associations if not one.is_user}
    users = {(one.parent, one.label): one for one in configuration.associations if one.is_user}
    columns = (wanted.request.account, labels(wanted, configuration), *qos_order(wanted, configuration))
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    number = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    of_key = np.array([number[key] for key in keys], np.int64)
    order = np.argsort(of_key, kind="stable")
    borders = np.searchsorted(of_key[order], np.arange(len(number) + 1))
    for (account, user, *names), begin, end in zip(number, borders, borders[1:], strict=False):
        own = users.get((account, user))
        chain = [accounts[name] for name in parents_of(account, accounts) if name in accounts]
        chain = [*([own] if own else []), *chain]
        levels = [
            (name, configuration.qos[name]) for name in dict.fromkeys(names) if name in configuration.qos
        ]
        caps: dict[tuple[str, str], tuple[int, str]] = {}
        every: list[tuple[str, Association | Qos]] = [(f"QOS {name}", level) for name, level in levels]
        every += [(f"{'user' if one.is_user else 'account'} {one.label}", one) for one in chain]
        for label, setting in every:
            caps = {**{key: (cap, label) for key, cap in of_job(setting).items()}, **caps}
        if caps or levels or chain:
            yield Group(order[begin:end], caps, _most_nodes([one for _, one in levels], chain))


def _most_nodes(levels: Sequence[Qos], chain: Sequence[Association]) -> int:
    """Return how many nodes the limits let a job have, limits of groups included, as
    `acct_policy_get_max_nodes` of Slurm does."""

    def of_qos(name: str) -> int:
        caps = [(getattr(one, name) or {}).get("node") for one in levels]
        return next((cap for cap in caps if cap is not None), MOST)

    of_each = min(of_qos(name) for name in ("account_tres", "job_tres", "user_tres"))
    of_all = of_qos("group_tres")
    found = min(of_each, of_all)
    for one in chain if of_all == MOST else ():
        if (cap := (one.group_tres or {}).get("node", MOST)) < found:
            found = cap
            break
    own = [one.job_tres or {} for one in chain]
    inherited = next((caps["node"] for caps in own if "node" in caps), MOST)
    return min(found, inherited) if of_each == MOST else found


def most_nodes(wanted: Asked, configuration: Configuration) -> Ints:
    """Return how many nodes each job may have by its request, partitions and limits; 0 is any number."""
    request, partitions = wanted.request, configuration.partitions
    found = np.where(request.most_nodes > 0, request.most_nodes, MOST)
    if any(one.max_nodes for one in partitions):
        each = [one.max_nodes or MOST for one in partitions]
        own = np.array([max(each[one] for one in place) for place in wanted.partitions])
        found = np.where(lifts(wanted, configuration, "maxnodes"), found, np.minimum(found, own))
    for group in groups(wanted, configuration):
        found[group.jobs] = np.minimum(found[group.jobs], group.most_nodes)
    found = np.maximum(found, np.maximum(request.nodes, 1))
    return np.where(found < MOST, found, 0)


def lifts(wanted: Asked, configuration: Configuration, limit: str) -> np.ndarray:
    """Return which jobs have a QOS that lifts a limit of partitions."""
    free = [name for name, one in configuration.qos.items() if limit in one.free_of]
    return np.isin(wanted.request.qos.astype(str), free)


def denied(wanted: Asked, configuration: Configuration) -> np.ndarray:
    """Return which jobs are refused at their submission if they exceed a limit (DenyOnLimit)."""
    refusing = [name for name, one in configuration.qos.items() if one.refuses]
    return np.logical_or.reduce([np.isin(names, refusing) for names in qos_order(wanted, configuration)])


def in_partitions(wanted: Asked, configuration: Configuration) -> Asked:
    """Return jobs in the partitions whose limits allow them (MinNodes, MaxNodes, MaxTime).

    Raises
    ------
    MisfitError
        For jobs that none of their partitions allows, or, with EnforcePartLimits=ALL, that one of them does
        not allow.
    """
    request, partitions = wanted.request, configuration.partitions
    few, many = np.maximum(request.nodes, 1), np.maximum(request.nodes, request.most_nodes)
    few = np.where(lifts(wanted, configuration, "minnodes"), MOST, few)
    many = np.where(lifts(wanted, configuration, "maxnodes"), 0, many)
    time = np.where(lifts(wanted, configuration, "maxtime"), 0, wanted.limit)
    place = wanted.place
    least, most, longest = (
        np.array([one.min_nodes for one in partitions])[place],
        np.array([one.max_nodes or MOST for one in partitions])[place],
        np.array([MOST if one.max_time is None else one.max_time for one in partitions])[place],
    )
    job = wanted.of_record
    fits = (few[job] >= least) & (many[job] <= most) & (time[job] <= longest)
    if fits.all():
        return wanted
    n_fit = np.bincount(job[fits], minlength=len(wanted.jobs))
    enforced = configuration.settings.part_limits
    lost = n_fit < (np.diff(wanted.first_record) if enforced == "ALL" else 1)
    if lost.any():
        record = int(np.flatnonzero(~fits & lost[job])[0])
        one, of_it = partitions[place[record]], job[record]
        refuses = f", and EnforcePartLimits={enforced} refuses it" * (enforced != "NO")
        bounds = {"MinNodes": one.min_nodes, "MaxNodes": one.max_nodes}
        allowed = [f"{name}={n}" for name, n in bounds.items() if n]
        if time[of_it] > longest[record]:
            allowed = [f"MaxTime={int(longest[record]) // 60}"]
        raise MisfitError(
            lost,
            f"asks for {counted(max(int(request.nodes[of_it]), 1), 'node')} and "
            f"{counted(wanted.limit[of_it] // 60, 'minute')}, and partition {one.name} of "
            f"{configuration.name} has {' '.join(allowed)}{refuses}",
            "ask for more or fewer nodes, or more time, than their partition allows (PartitionNodeLimit)",
            f"add policy.lines=[{configuration.line_of(one)}], with the other keys of that partition",
            lost & (enforced == "NO"),
        )
    rows = iter(fits.tolist())
    kept = [tuple(one for one in numbers if next(rows)) for numbers in wanted.partitions]
    return replace(wanted, partitions=tuple(kept))


def exceeding(
    wanted: Asked, configuration: Configuration, names: Sequence[str]
) -> Iterator[tuple[str, str, Ints, Ints, int, str]]:
    """Yield limits of one job: name, resource, the jobs beyond it and what they ask for, the limit and what
    sets it."""
    first = np.array([place[0] for place in wanted.partitions], np.int64)
    nodes, cpus, _ = sizes(wanted.request, configuration, first)
    nodes = np.maximum(nodes, 1)
    least = np.array(
        [min(configuration.nodes[node].cpus for node in one.nodes) for one in configuration.partitions]
    )
    whole = wanted.request.whole | np.array(configuration.exclusive)[first]
    cpus = np.where(whole, np.maximum(cpus, nodes * least[first]), cpus).astype(np.int64)
    safe = [name for name, one in configuration.qos.items() if one.factor_is_safe]
    factor = np.where(
        np.isin(wanted.request.qos.astype(str), safe), factors(wanted.request, configuration), 1.0
    )
    minutes = (wanted.limit // 60 * factor).astype(np.int64)
    known: dict[str, Ints] = {"minutes": minutes}
    of_tasks = np.maximum(wanted.request.tasks, nodes)
    most = np.where(wanted.request.most_nodes > 0, np.minimum(wanted.request.most_nodes, of_tasks), of_tasks)
    spread = np.where(denied(wanted, configuration), nodes, np.maximum(most, nodes))
    for group in groups(wanted, configuration):
        for (name, resource), (cap, label) in group.caps.items():
            if name not in names:
                continue
            if resource == "billing" and resource not in known:
                known[resource] = billed(wanted.request, configuration, first, nodes, cpus)
            elif resource.partition("/")[0] in ("cpu", "node", "mem", "gres", "license"):
                known.setdefault(resource, amounts(wanted.request, resource, nodes, cpus))
            if resource not in known:
                continue  # no job here has it
            asked = known[resource][group.jobs]
            asked = asked // spread[group.jobs] if name == PER_NODE else asked
            asked = asked * minutes[group.jobs] if name == MINUTES else asked
            beyond = asked < cap if name == LEAST else asked > cap
            if beyond.any():
                yield name, resource, group.jobs[beyond], asked[beyond], cap, label


def check(wanted: Asked, configuration: Configuration, names: Sequence[str]) -> None:
    """Raise `MisfitError` for the jobs that exceed the first exceeded limit of some names."""
    found = list(exceeding(wanted, configuration, names))
    for name in names:
        of_name = [each for each in found if each[0] == name]
        if not of_name:
            continue
        lost = np.zeros(len(wanted.jobs), bool)
        lost[np.concatenate([jobs for _, _, jobs, *_ in of_name])] = True
        _, resource, _, asked, cap, label = min(of_name, key=lambda each: each[2].min())
        most = asked.min() if name == LEAST else asked.max()
        named = list(dict.fromkeys(f"{label} {what}={n}" for _, what, _, _, n, label in of_name))
        more = f"; and {len(named) - MOST_NAMED} more" * (len(named) > MOST_NAMED)
        waits = lost & ~denied(wanted, configuration)
        ways = ["lets wait for ever"] * bool(waits.any()) + ["refuses (DenyOnLimit)"] * bool(
            (lost & ~waits).any()
        )
        verb = "fewer" if name == LEAST else "more"
        line = f"policy.lines=['{label.replace('QOS ', 'QosName=')} {name}={resource}={most}']"
        raise MisfitError(
            lost,
            f"asks for {resource}={asked[0]}, and {label} has {name}={resource}={cap}",
            f"ask for {verb} than a job may have ({name}: {'; '.join(named[:MOST_NAMED])}{more}), which "
            f"Slurm {' or '.join(ways)}",
            "add policy.over_limit=cap to cut them"
            if name in OF_TIME
            else f"add {line}, with its other limits"
            if label.startswith("QOS ")
            else "add policy.lines=['AccountingStorageEnforce=associations'], with which no limit holds",
            waits,
        )


def segments(request: Requests, settings: Settings) -> Ints:
    """Return the nodes of segments that jobs ask for; none if that exceeds all their nodes: Slurm ignores
    it."""
    ignored = (request.segment > request.nodes) & versions.rules(settings.version)["ignores_segment"]
    return np.where(ignored, 0, request.segment)


def check_network(wanted: Asked, configuration: Configuration) -> None:
    """Raise `MisfitError` for jobs that, or whose segments, fit below no switch and in no block of any of
    their partitions."""
    topologies, nodes, request = configuration.topology_of, configuration.nodes, wanted.request
    if not any(one.is_used for one in topologies):
        return
    longer = versions.rules(configuration.settings.version)["any_segment"]
    cpus, segment = request.tasks * request.task_cpus, segments(request, configuration.settings)
    nodes_asked = np.maximum(request.nodes, 1)
    sizes, fits = np.array([nodes_asked, cpus, segment]), np.zeros(len(request), bool)
    for number, (one, topology) in enumerate(zip(configuration.partitions, topologies, strict=True)):
        here = wanted.of_record[wanted.place == number]
        known, kind = np.unique(sizes[:, here], axis=1, return_inverse=True)
        free = {node: nodes[node].cpus for node in one.nodes if nodes[node].up}
        fit = [topology.fits(free, size, longer) for size in known.T.tolist()]
        fits[here] |= np.array(fit, bool)[kind.reshape(-1)]
    if not fits.all():
        job = int(np.argmin(fits))
        partition = configuration.partitions[wanted.partitions[job][0]]
        parts = f" in segments of {sizes[2, job]}" * bool(sizes[2, job])
        raise MisfitError(
            ~fits,
            f"asks for {counted(sizes[0, job], 'node')}{parts}, which no switch and no block of partition "
            f"{partition.name} of {configuration.name} has",
            "ask for more nodes than are below one switch or in one block, or for other segments (--segment)",
            "add policy.lines=['TopologyPlugin=topology/flat'], with which jobs get nodes anywhere",
        )


def longest(wanted: Asked, configuration: Configuration) -> Ints:
    """Return the time limit that MaxWall and MaxTRESMinsPerJob leave each job, seconds."""
    found = wanted.limit.copy()
    for _, _, jobs, asked, cap, _ in exceeding(wanted, configuration, OF_TIME):
        minutes = found[jobs] // 60
        found[jobs] = 60 * np.maximum(minutes * cap // np.maximum(asked, 1), 1)
    return found
