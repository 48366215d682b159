"""Tables of nodes: what they have, offer and are for jobs, now and in a view of the future."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.arrays import Ints
from models.kernels.bits import WORD_BITS, words
from models.slurm.configuration import Configuration
from models.slurm.kernel import tables


def records(kind: np.dtype, **columns: Any) -> np.ndarray:
    """Return records with these columns, all others 0."""
    made = np.zeros(np.size(next(iter(columns.values()))), kind)
    for name, values in columns.items():
        made[name] = values
    return made


def in_words(groups: Sequence[Sequence[int]], n_nodes: int) -> np.ndarray:
    """Return sets of nodes as rows of words."""
    members = np.zeros((len(groups), words(n_nodes) * WORD_BITS), bool)
    for row, nodes in zip(members, groups, strict=True):
        row[list(nodes)] = True
    return np.packbits(members, axis=1, bitorder="little").view(np.uint64)


def nodes(configuration: Configuration) -> dict[str, np.ndarray]:
    """Return the tables of nodes."""
    every, n, linear = configuration.nodes, len(configuration.nodes), configuration.settings.linear
    line, cpus = _lines(configuration), [node.cpus for node in every]
    of_nodes = records(
        tables.NODE,
        cpus=cpus,
        sockets=[node.sockets for node in every],
        memory=[node.memory for node in every],
        weight=[0 if linear else node.weight for node in every],
        rows=jobs_of_nodes(configuration),
        first_core=np.cumsum([0, *cpus])[:-1],
        line=line,
        ranked=np.argsort(line, kind="stable"),
    )
    shared = _jobs_of_cores(configuration) if configuration.settings.in_rows else of_nodes["rows"]
    free = records(tables.SUPPLY, cpus=of_nodes["cpus"] * shared, memory=of_nodes["memory"])
    gres = np.array([node.devices(kind) for node in every for kind in configuration.gres], np.int64)
    sets = np.zeros((tables.N_SETS, words(n)), np.uint64)
    sets[tables.FREE] = in_words([range(n)], n)
    return {
        "nodes": of_nodes,
        "free": free,
        "future": free.copy(),
        "free_gres": gres,
        "future_gres": gres.copy(),
        "usable": np.zeros(n, tables.SUPPLY),
        "offers": np.zeros(n, tables.OFFER),
        "reserved_from": np.zeros(n, np.int64),
        "groups": np.zeros(n, tables.GROUP),
        "choices": np.zeros(n, tables.CHOICE),
        "sets": sets,
    }


def jobs_of_nodes(configuration: Configuration) -> Ints:
    """Return how many jobs may have each node at once, by one of its partitions, which are alike; 1 but with
    `select/linear`."""
    found = np.ones(len(configuration.nodes), np.int64)
    for one in configuration.partitions if configuration.settings.linear else ():
        found[list(one.nodes)] = one.sharing.rows
    return found


def _jobs_of_cores(configuration: Configuration) -> Ints:
    """Return how many jobs may have each core of a node at once, where they have rows of cores."""
    found = np.zeros(len(configuration.nodes), np.int64)
    for one in configuration.partitions:
        found[list(one.nodes)] += one.sharing.rows
    return found


def _lines(configuration: Configuration) -> Ints:
    """Return the place of each node's line in the order in which `select/linear` adds them; all of a weight
    together where jobs preempt others."""
    preempts = configuration.settings.preempts
    keys = [(node.weight, 0 if preempts else node.line) for node in configuration.nodes]
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
