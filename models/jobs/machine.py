"""The machine: hosts with processors and memory, or one pool of processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.arrays import Ints
from models.family import Parameters

UNLIMITED_KB = 2**60
KB_IN_GB = 1024 * 1024


@dataclass(frozen=True, eq=False)
class Machine:
    """Hosts; a job runs on one of them.

    Parameters
    ----------
    names : tuple of str
    processors : ndarray of int, shape (n_hosts,)
    memory : ndarray of int, shape (n_hosts,), KB
        `UNLIMITED_KB` where memory does not matter.
    """

    names: tuple[str, ...]
    processors: Ints
    memory: Ints

    @property
    def total(self) -> int:
        """Processors of all hosts."""
        return int(self.processors.sum())

    @property
    def largest(self) -> int:
        """Processors of the largest host: no job can have more."""
        return int(self.processors.max())

    @property
    def limits_memory(self) -> bool:
        """Whether memory matters on any host."""
        return bool((self.memory < UNLIMITED_KB).any())

    def takes(self, size: Ints, memory: Ints) -> np.ndarray:
        """Tell which jobs fit on at least one host, given their processors and their KB of memory."""
        able = (size[:, None] <= self.processors) & (memory[:, None] <= self.memory)
        return np.asarray(able.any(axis=1))


def pool(processors: int) -> Machine:
    """Return one host without limit on memory."""
    return Machine(("pool",), np.array([processors], np.int64), np.array([UNLIMITED_KB], np.int64))


def of(machine: Parameters, processors_of_log: int | None = None) -> Machine:
    """Return the machine of a YAML file.

    Parameters
    ----------
    machine : mapping
        Either ``hosts``, a list of ``{name, processors, memory_gb}``, or ``n_pes``, where null stands for the
        processors that the log's header names.
    processors_of_log : int, optional
        None where the workload is no log.

    Raises
    ------
    ValueError
        With one line that says what is allowed.
    """
    if (hosts := machine.get("hosts")) is not None:
        if machine.get("n_pes") is not None:
            raise ValueError(
                f"machine.n_pes={machine['n_pes']} and machine.hosts: give one of them, the other null"
            )
        if not isinstance(hosts, list) or not hosts:
            raise ValueError(f"machine.hosts={hosts}; allowed: a list of {{name, processors, memory_gb}}")
        parsed = [_host(number, host) for number, host in enumerate(hosts)]
        names = tuple(name for name, _, _ in parsed)
        if len(set(names)) < len(names):
            raise ValueError(f"machine.hosts: {', '.join(names)}; give each host a name of its own")
        return Machine(names, *(np.array([host[i] for host in parsed], np.int64) for i in (1, 2)))
    processors = machine.get("n_pes", "(none)")
    if processors is None:
        if processors_of_log is None:
            raise ValueError(
                "machine.n_pes=null takes the processors from a log's header, and the workload is no log; "
                "give a number, for instance grid.machine=[pe128]"
            )
        return pool(processors_of_log)
    if isinstance(processors, bool) or not isinstance(processors, int) or processors < 1:
        raise ValueError(
            f"machine.n_pes={processors}; allowed: a positive whole number of processors, null (as the log's "
            "header says), or machine.hosts"
        )
    return pool(processors)


def _host(number: int, host: Any) -> tuple[str, int, int]:
    known = ("name", "processors", "memory_gb")
    if not isinstance(host, Mapping) or set(host) - set(known) or "processors" not in host:
        raise ValueError(
            f"machine.hosts[{number}]={host}; allowed: {{name, processors, memory_gb}}, memory_gb may be null"
        )
    processors, memory = host["processors"], host.get("memory_gb")
    if isinstance(processors, bool) or not isinstance(processors, int) or processors < 1:
        raise ValueError(f"machine.hosts[{number}].processors={processors}; allowed: a positive whole number")
    if memory is None:
        return str(host.get("name", number)), processors, UNLIMITED_KB
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not 0 < memory < 2**30:
        raise ValueError(f"machine.hosts[{number}].memory_gb={memory}; allowed: a positive number, or null")
    return str(host.get("name", number)), processors, round(memory * KB_IN_GB)
