"""The machine: hosts with processors and memory, one pool of processors, or a mesh or torus of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from models import checks
from models.arrays import Floats, Ints
from models.point import Parameters
from models.units import KB_IN_GB

UNLIMITED_KB = 2**60

MOST_PROCESSORS = 100_000_000

SHAPES = {
    "mesh": ((2,), "rows times columns of processors, e.g. 16x16"),
    "torus": ((2, 3), "two or three sides in processors, e.g. 4x4 or 4x4x2"),
}
"""Keys of a pool whose processors are joined by links -> the allowed numbers of sides, also in words."""


@dataclass(frozen=True, eq=False)
class Machine:
    """Hosts; a job runs on one of them, or on several where jobs may span them.

    Parameters
    ----------
    processors : ndarray of int, shape (n_hosts,)
    memory : ndarray of int, shape (n_hosts,), KB
        `UNLIMITED_KB` without a limit.
    memory_each : int, KB
        Memory of each processor, if it is not shared: the limit for a job on each of its processors.
    spans: bool
        Whether a job may have processors of several hosts.
    down : ndarray of float, shape (n_downtimes, 2), seconds
        When reservations of the whole machine begin and end, one after another: no job starts that would run
        into one by its request.
    """

    names: tuple[str, ...]
    processors: Ints
    memory: Ints
    memory_each: int = UNLIMITED_KB
    spans: bool = False
    down: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def total(self) -> int:
        """Processors of all hosts."""
        return int(self.processors.sum())

    @property
    def largest(self) -> int:
        """Processors of the largest host, or of all where jobs span hosts: no job can have more."""
        return self.total if self.spans else int(self.processors.max())

    @property
    def limits_memory(self) -> bool:
        """Whether memory matters on any host."""
        return bool((self.memory < UNLIMITED_KB).any())

    @property
    def has_memory(self) -> bool:
        """Whether memory is limited, of hosts or of each processor."""
        return self.limits_memory or self.memory_each < UNLIMITED_KB

    def takes(self, size: Ints, memory: Ints) -> np.ndarray:
        """Return which jobs fit on a host, or on all together if jobs span hosts.

        Parameters
        ----------
        size : ndarray of int, shape (n_jobs,)
            Processors.
        memory : ndarray of int, shape (n_jobs,), KB
            Each processor of a job that spans hosts needs its share.
        """
        if self.spans:
            each = np.maximum(-(-memory // size), 1)
            return np.asarray(np.minimum(self.processors, self.memory // each[:, None]).sum(axis=1) >= size)
        able = np.zeros(len(size), bool)
        for processors, kilobytes in set(zip(self.processors.tolist(), self.memory.tolist(), strict=True)):
            able |= (size <= processors) & (memory <= kilobytes)
        if self.memory_each < UNLIMITED_KB:
            able &= on_each(size, memory) <= self.memory_each
        return able


def on_each(size: Ints, memory: Ints) -> Ints:
    """Return the KB that jobs take on each of their processors, rounded up, given the KB of whole jobs."""
    return np.asarray(-(-memory // size)) if memory.any() else memory  # division is slow


def pool(processors: int, memory_each: int = UNLIMITED_KB) -> Machine:
    """Return one host without a limit on its memory, but perhaps with one on each processor's (KB)."""
    memory = np.array([UNLIMITED_KB], np.int64)
    return Machine(("pool",), np.array([processors], np.int64), memory, memory_each)


def of(machine: Parameters, processors_of_log: int | None = None) -> Machine:
    """Return the machine of a YAML file; ``ValueError`` with one line for a mistake.

    Parameters
    ----------
    machine : mapping
        ``processors``, or ``hosts``, a list of ``{name, processors, memory_gb}``, or ``mesh``, rows times
        columns of processors, or ``torus``, two or three sides; where all are null, the processors that the
        log's header names are taken. ``memory_gb_per_processor`` for machines without hosts; null means
        unlimited.
    processors_of_log : int, optional
        None where the workload is not a log.
    """
    if (hosts := machine.get("hosts")) is not None:
        return _of_hosts(machine, hosts)
    memory_each = _memory_each(machine)
    shapes = [shape for shape in SHAPES if machine.get(shape) is not None]
    if len(shapes) > 1:
        raise ValueError(
            f"machine.mesh={machine['mesh']} and machine.torus={machine['torus']}: give one of them, the "
            "other null"
        )
    for shape in shapes:
        total = prod(sides(machine, shape))
        if total > MOST_PROCESSORS:
            checks.refuse(f"machine.{shape}", machine[shape], f"at most {MOST_PROCESSORS:,} processors")
        if machine.get("processors") not in (None, total):
            raise ValueError(
                f"machine.processors={machine['processors']} and machine.{shape}={machine[shape]}: give one "
                "of them, the other null"
            )
        return pool(total, memory_each)
    if machine.get("processors") is None:
        if "processors" not in machine and (processors_of_log is None or set(machine) - {"name"}):
            raise ValueError(
                f"machine {machine.get('name', 'without a name')} has no processors; begin its file with "
                "defaults: [_machine, _self_]"
            )
        if processors_of_log is None:
            raise ValueError(
                "machine.processors=null takes the processors from a log's header, and the workload is no "
                "log; give a number, for instance grid.machine=[pe128]"
            )
        return pool(processors_of_log, memory_each)
    allowed = (
        f"a positive whole number of processors, at most {MOST_PROCESSORS:,}, null (as in the log's header), "
        "or machine.hosts"
    )
    return pool(checks.whole(machine, "machine", "processors", allowed, most=MOST_PROCESSORS), memory_each)


def _memory_each(machine: Parameters) -> int:
    if machine.get("memory_gb_per_processor") is None:
        return UNLIMITED_KB
    allowed = "a positive number of GB, or null (no limit)"
    each = checks.number(machine, "machine", "memory_gb_per_processor", allowed, above=0, below=2**30)
    return max(round(each * KB_IN_GB), 1)


def sides(machine: Parameters, shape: str = "mesh") -> tuple[int, ...]:
    """Return the sides of ``machine.mesh`` or ``machine.torus``, e.g. of ``16x16``.

    Raises
    ------
    ValueError
        With one line that names the allowed values.
    """
    numbers, allowed = SHAPES[shape]
    given = str(machine[shape])
    found = given.split("x")
    if len(found) not in numbers or not all(side.isdecimal() and int(side) > 0 for side in found):
        raise ValueError(f"machine.{shape}={given}; allowed: {allowed}")
    return tuple(int(side) for side in found)


def one_pool(machine: Machine, parameters: Parameters, policy: Parameters) -> int:
    """Return the processors of a machine for a policy that has no hosts.

    Raises
    ------
    ValueError
        With one line, if there are several hosts, or one whose memory is limited.
    """
    if len(machine.names) == 1 and not machine.limits_memory:
        return machine.total
    hosts = f"{len(machine.names)} hosts" if len(machine.names) > 1 else "memory"
    raise ValueError(
        f"machine {parameters.get('name', '')} has {hosts}, and policy {policy.get('name', '')} has one "
        f"pool of processors; add machine.hosts=null machine.processors={machine.total}, or another machine"
    )


def _of_hosts(machine: Parameters, hosts: object) -> Machine:
    for key in ("processors", "memory_gb_per_processor", *SHAPES):
        if machine.get(key) is not None:
            raise ValueError(
                f"machine.{key}={machine[key]} and machine.hosts: give one of them, the other null"
            )
    if not isinstance(hosts, list) or not hosts:
        checks.refuse("machine.hosts", hosts, "a list of {name, processors, memory_gb}")
    parsed = [_host(f"machine.hosts[{number}]", number, host) for number, host in enumerate(hosts)]
    names, processors, memory = zip(*parsed, strict=True)
    if len(set(names)) < len(names):
        raise ValueError(f"machine.hosts: {', '.join(names)}; give each host a name of its own")
    spans = checks.switch(machine, "machine", "spans")
    return Machine(names, np.array(processors, np.int64), np.array(memory, np.int64), spans=spans)


def refuse_spanning(machine: Machine, parameters: Parameters, policy: Parameters) -> None:
    """Raise ``ValueError`` with one line where jobs span hosts, for a policy that keeps a job on one."""
    if machine.spans:
        raise ValueError(
            f"machine {parameters.get('name', '')} lets a job span hosts, and policy "
            f"{policy.get('name', '')} runs it on one of them; add machine.spans=false, or "
            f"machine.hosts=null machine.processors={machine.total} for one pool"
        )


def _host(where: str, number: int, host: Any) -> tuple[str, int, int]:
    known = ("name", "processors", "memory_gb")
    if not isinstance(host, Mapping) or set(host) - set(known) or "processors" not in host:
        checks.refuse(where, host, "{name, processors, memory_gb}, memory_gb may be null")
    processors = checks.whole(host, where, "processors", most=MOST_PROCESSORS)
    name = str(host.get("name", number))
    if host.get("memory_gb") is None:
        return name, processors, UNLIMITED_KB
    memory = checks.number(host, where, "memory_gb", "a positive number, or null", above=0, below=2**30)
    return name, processors, round(memory * KB_IN_GB)
