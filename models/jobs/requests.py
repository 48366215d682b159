"""Requests of jobs to a cluster beyond processors, memory and time: nodes, tasks, devices, a partition, …"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from models.arrays import Floats, Ints

T = TypeVar("T")

LICENCE = re.compile(r"([^\s:*=]+)(?:[:*=]([0-9]{1,9}))?")

COUNTED = ("gres", "licences")
"""Fields with counts by name."""


def of_kind(counts: Mapping[str, T], kind: str) -> list[T]:
    """Return the counts of devices of one type (``gpu:a100``), or of all types of a name (``gpu``)."""
    return [count for name, count in counts.items() if kind in (name, name.partition(":")[0])]


def licences(text: str) -> dict[str, int]:
    """Return licences by name: ``matlab:10,solver`` is {"matlab": 10, "solver": 1}; {} for a choice (``|``).

    ``ValueError`` for another text.
    """
    found = {}
    for part in [] if "|" in text else filter(None, re.split(r"[,;]", text)):
        if not (pair := LICENCE.fullmatch(part.strip())):
            raise ValueError("licences such as matlab:10,solver:2")
        found[pair[1]] = int(pair[2] or 1)
    return found


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests of jobs; every array has the shape (n_jobs,).

    Parameters
    ----------
    nodes, most_nodes : ndarray of int
        Minimum and maximum of its nodes; 0 means any number.
    tasks, task_cpus, node_tasks : ndarray of int
        Tasks, CPUs of each, and tasks on each node; 0 leaves the last one open.
    node_memory, cpu_memory : ndarray of int, MB
        Memory of each node, or of each CPU; one of them is 0.
    whole, shares : ndarray of bool
        Whether it wants whole nodes; whether it lets other jobs have its CPUs (``--oversubscribe``).
    gres : mapping of str to ndarray of int
        Devices on each node, by name: ``gpu``, ``gpu:a100``.
    licences : mapping of str to ndarray of int
        Licences of the whole job, by name.
    partition, account, qos : ndarray of str
        Names; several partitions between commas, and empty for the default.
    constraint : ndarray of str
        Features that its nodes must have, ``fast&(amd|intel)``; empty for any nodes.
    delay : ndarray of float, seconds
        From its submission to its earliest start.
    nice : ndarray of int
    array, throttle : ndarray of int
        Number of the array that it belongs to, -1 for none; how many jobs of this array may run at once, 0
        for any number.
    after : ndarray of int
        Position of a job that has to end first, -1 for none.
    segment : ndarray of int
        Nodes of each segment, which are in one block; 0 for none.
    switches, switch_wait : ndarray of int
        Leaf switches that its nodes are on at most, 0 for any number, and for how many seconds it waits for
        that.
    het_job : ndarray of int
        Number of the heterogeneous job of which it is a component, -1 for none.
    """

    nodes: Ints
    most_nodes: Ints
    tasks: Ints
    task_cpus: Ints
    node_tasks: Ints
    node_memory: Ints
    cpu_memory: Ints
    whole: np.ndarray
    shares: np.ndarray
    delay: Floats
    nice: Ints
    array: Ints
    throttle: Ints
    after: Ints
    het_job: Ints
    partition: np.ndarray
    account: np.ndarray
    qos: np.ndarray
    constraint: np.ndarray
    segment: Ints
    switches: Ints
    switch_wait: Ints
    gres: Mapping[str, Ints] = field(default_factory=dict)
    licences: Mapping[str, Ints] = field(default_factory=dict)

    @classmethod
    def of(cls, size: Ints, memory: Ints, **given: Any) -> Requests:
        """Return requests of `size` tasks of one CPU each on any nodes, with KB in total, except as given."""
        n = len(size)
        zero, none = np.zeros(n, np.int64), np.full(n, -1)
        empty = np.full(n, "", object)
        made = cls(
            zero + 1, zero, size, zero + 1, zero, zero, -(-memory // (size * 1024)), np.zeros(n, bool),
            np.zeros(n, bool), np.zeros(n), zero, none, zero, none, none, empty, empty, empty, empty,
            zero, zero, zero,
        )  # fmt: skip
        return replace(made, **given)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def components(self) -> Ints:
        """Positions of the components of heterogeneous jobs, in order of these."""
        return np.argsort(self.het_job, kind="stable")[np.count_nonzero(self.het_job < 0) :]

    def devices(self, kind: str) -> Ints:
        """Return how many devices of one type, or of all types of a name, each job has on a node."""
        return np.sum([np.zeros(len(self), np.int64), *of_kind(self.gres, kind)], axis=0)

    def __getitem__(self, chosen: slice | np.ndarray) -> Requests:
        """Return the requests of some jobs, in their order, without `after`, which refers to all jobs."""
        columns = {
            each.name: getattr(self, each.name)[chosen]
            for each in fields(self)
            if each.name not in (*COUNTED, "after")
        }
        n = len(columns["nodes"])
        counted: dict[str, Any] = {
            kind: {name: count[chosen] for name, count in getattr(self, kind).items()} for kind in COUNTED
        }
        return Requests(**columns, **counted, after=np.full(n, -1))

    @classmethod
    def concatenated(cls, parts: Sequence[Requests]) -> Requests:
        """Return the requests of several parts, one after the other, without `after`, as in a part."""
        columns: dict[str, Any] = {
            each.name: np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(cls)
            if each.name not in (*COUNTED, "after")
        }
        none, counted = np.full(len(columns["nodes"]), -1), dict[str, Any]()
        for kind in COUNTED:
            of_parts = [(getattr(part, kind), np.zeros(len(part), np.int64)) for part in parts]
            names = dict.fromkeys(name for counts, _ in of_parts for name in counts)
            counted[kind] = {
                name: np.concatenate([counts.get(name, zero) for counts, zero in of_parts]) for name in names
            }
        return cls(**columns, **counted, after=none)
