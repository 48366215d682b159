"""The doctor's rules: a check takes plain facts and returns ok, warning or wrong, with what to do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from models.counting import counted
from slurm.answers import Limits, Partition
from slurm.profile import Profile

Level = Literal["ok", "warning", "wrong", "skipped"]

Address = tuple[str, str, int]
"""A network interface's name and address, and a port."""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report; anything ``wrong`` makes its exit status 1."""

    level: Level
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.level:<9}{self.subject:<11}{self.text}"


def limits(found: Limits, profile: Profile) -> Finding:
    """Check that job arrays may be submitted at all."""
    if found.max_array_size < 2:
        text = f"MaxArraySize={found.max_array_size}: job arrays are switched off here; ask your site"
        return Finding("wrong", "limits", text)
    yours = "" if found.max_submit is None else f", {found.max_submit} of them yours"
    text = (
        f"array indices up to {found.max_array_size - 1}, {counted(found.max_jobs, 'job')} at a time{yours}"
    )
    if profile.max_parallel is not None:
        text += f"; the profile lets {counted(profile.max_parallel, 'element')} run at a time"
    return Finding("ok", "limits", text)


def partitions(found: Sequence[Partition], profile: Profile) -> Finding:
    """Check that a partition exists, starts jobs, and has nodes that an array element fits on.

    Slurm accepts most jobs that do not fit, and lets them wait for ever.
    """
    there = {partition.name: partition for partition in found}
    default = [partition.name for partition in found if partition.default]
    names = profile.partition.split(",") if profile.partition else default
    choice = f"set partition in the profile, there are: {', '.join(there) or 'none'}"
    if not names:
        return Finding("wrong", "partition", f"the cluster has no default; {choice}")
    for name in names:
        if name not in there:
            return Finding("wrong", "partition", f"{name} does not exist, or you may not use it; {choice}")
    # Of several partitions Slurm takes the first that can start the job.
    troubles = [trouble for name in names if (trouble := _trouble(there[name], profile))]
    if troubles:
        level: Level = "wrong" if len(troubles) == len(names) else "warning"
        return Finding(level, "partition", "; ".join(troubles))
    shown = (
        f"{name}: up, {counted(there[name].usable, 'node', of=there[name].nodes)} usable" for name in names
    )
    return Finding("ok", "partition", "; ".join(shown))


def _trouble(partition: Partition, profile: Profile) -> str:
    name, cpus, memory = partition.name, partition.cpus, partition.memory_mb
    if not partition.up:
        return f"{name} is down: it accepts jobs but starts none; name another one, or ask your site"
    if not partition.usable:
        return f"{name}: none of its {partition.nodes} nodes is usable; `sinfo -R -p {name}` shows why"
    if profile.cpus_per_task > cpus:
        cores = counted(cpus, "core")
        return f"{name}: its largest node has {cores}; lower cpus_per_task={profile.cpus_per_task}"
    if profile.mem is not None and (megabytes(profile.mem) or 0) > memory:
        return f"{name}: its largest node has {memory} MB; lower mem={profile.mem}"
    if partition.time_s is not None and profile.time_s > partition.time_s:
        return f"{name}: its limit is {partition.time_s / 60:g} min; lower time={profile.time}"
    return ""


def megabytes(text: str) -> float | None:
    """Return an amount of memory in MB as Slurm reads it, or None if Slurm would not accept it.

    Examples
    --------
    >>> megabytes("4000"), megabytes("4G")
    (4000.0, 4096.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", text.upper())
    return float(found[1]) * 1024.0 ** ("KMGT".index(found[2] or "M") - 1) if found else None


def answer(
    given: Mapping[str, Any], here: Mapping[str, Any], profile: Profile, listening: Sequence[Address]
) -> Iterator[Finding]:
    """Check the answer of `slurm.probe.examine` on a compute node.

    Parameters
    ----------
    here : mapping
        ``versions`` and ``sources`` of this node.
    listening : sequence of (interface, address, port)
        Where this node could be reached.
    """
    yield _locks(given)
    yield _code(given, here)
    yield _cores(given, profile)
    yield _threads(given)
    yield _network(given, profile, listening)


def _locks(given: Mapping[str, Any]) -> Finding:
    if given["locked"]:
        return Finding("ok", "locks", f"a file that is locked here is also locked on {given['node']}")
    text = f"{given['node']} ignores locks that are held here, so nothing keeps two runs"
    return Finding("warning", "locks", f"{text} from writing into one folder; start one at a time")


def _code(given: Mapping[str, Any], here: Mapping[str, Any]) -> Finding:
    node, there, mine = given["node"], given["versions"], here["versions"]
    differing = [f"{key} {there.get(key)}, not {mine[key]}" for key in mine if there.get(key) != mine[key]]
    if differing:
        text = f"{given['executable']} on {node} has {'; '.join(differing)}: "
        return Finding("wrong", "python", text + "set python or setup in the profile")
    if given["sources"] != here["sources"]:
        text = f"{node} has different code of the same version; install the same code, or share one checkout"
        return Finding("wrong", "python", text)
    return Finding("ok", "python", f"{mine['python']} with the same packages and code on {node}")


def _cores(given: Mapping[str, Any], profile: Profile) -> Finding:
    node, seen, asked = given["node"], given["cores"], profile.cpus_per_task
    granted = int(given["granted"] or asked)
    if seen < asked:
        text = f"cpus_per_task={asked}, but a job on {node} may use {seen}; lower it, or ask your site"
        return Finding("wrong", "cores", text)
    if granted != asked:
        text = f"cpus_per_task={asked}, but Slurm granted {granted} on {node}; ask for what is granted"
        return Finding("warning", "cores", text)
    unbound = f" (jobs are not bound to their cores: {seen} are visible)" if seen > asked else ""
    return Finding("ok", "cores", f"{asked} requested and granted on {node}{unbound}")


def _threads(given: Mapping[str, Any]) -> Finding:
    many = [f"{name}={value}" for name, value in given["threads"].items() if value != "1"]
    if many:
        text = f"{', '.join(many)} in jobs on {given['node']}: the sweep sets 1 per worker, others may not"
        return Finding("warning", "threads", text)
    return Finding("ok", "threads", "no variable asks libraries for more threads than a worker has cores")


def _network(given: Mapping[str, Any], profile: Profile, listening: Sequence[Address]) -> Finding:
    node, wanted = given["node"], profile.interface
    if wanted is not None and not listening:
        text = f"interface={wanted} has no address here; `ip addr` lists interfaces"
        return Finding("wrong", "network", text)
    if given["reached"]:
        ways = ", ".join(name for name, *_ in given["reached"])
        return Finding("ok", "network", f"{node} reaches this node through {ways}")
    tried = ", ".join(f"{name} {host}" for name, host, _ in listening) or "no interface is up"
    text = f"{node} does not reach this node ({tried}); set interface in the profile; only Dask needs it"
    return Finding("warning" if wanted is None else "wrong", "network", text)


def world(ranks: Sequence[Mapping[str, int]], profile: Profile) -> Finding:
    """Check that two tasks under srun were one MPI world of two.

    If they were not, `srun` ran two separate jobs and both succeeded, which no exit status shows.
    """
    if sorted((rank["rank"], rank["size"]) for rank in ranks) == [(0, 2), (1, 2)]:
        return Finding("ok", "mpi", "two tasks under srun are one world of 2 ranks")
    sizes = " and ".join(str(rank["size"]) for rank in ranks)
    return no_world(f"they were worlds of {sizes}", profile)


def no_world(why: str, profile: Profile) -> Finding:
    """Return a warning, or an error if the profile sets mpi."""
    how = "srun" if profile.mpi is None else f"srun --mpi={profile.mpi}"
    advice = "set mpi in the profile (`srun --mpi=list`), or start with mpiexec; only executor=mpi needs it"
    level: Level = "warning" if profile.mpi is None else "wrong"
    return Finding(level, "mpi", f"two tasks under {how} do not form a world of 2 ({why}); {advice}")
