"""Constraints of jobs on the features of nodes, ``fast&(amd|intel)``, as in sbatch's option."""

import re
from collections.abc import Sequence

import numpy as np

from models.arrays import Ints
from models.jobs.requests import Requests
from models.slurm.configuration import Configuration, Node

TOKEN = re.compile(r"[^&|(),]+|[&|(),]")
ON_SEVERAL = frozenset("[]*")
"""Signs of a constraint on several nodes together (``[a|b]``, ``a*2``), which has no effect here."""


def effective(request: Requests) -> np.ndarray:
    """Return the constraint of each job, empty if it has no effect."""
    texts = {text: "" if ON_SEVERAL & set(text) else text for text in request.constraint.tolist()}
    return np.array([texts[text] for text in request.constraint.tolist()], object)


def nodes_with(constraint: str, nodes: Sequence[Node]) -> set[int]:
    """Return the positions of the nodes that meet a constraint, read from left to right as Slurm does."""
    outer: list[tuple[set[int], str]] = []
    found, operator = set(range(len(nodes))), "&"
    for token in TOKEN.findall(constraint):
        if token == "(":
            outer.append((found, operator))
            found, operator = set(range(len(nodes))), "&"
        elif token in "&,|":
            operator = token
        else:
            value = {place for place, node in enumerate(nodes) if token in node.features}
            if token == ")":
                value = found
                found, operator = outer.pop() if outer else (value, "&")
            found = found | value if operator == "|" else found & value
    return found


def node_sets(
    configuration: Configuration, request: Requests, of_job: Ints, partition: Ints
) -> tuple[Ints, list[list[int]]]:
    """Return the number of each record's set of nodes, and these sets: of partitions first, then of those
    that meet a constraint in one.

    Parameters
    ----------
    of_job, partition : ndarray of int, shape (n_records,)
    """
    constraint = effective(request)[of_job]
    numbers = {(number, ""): number for number in range(len(configuration.partitions))}
    pairs = zip(partition.tolist(), constraint.tolist(), strict=True)
    words = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], np.int64)
    meets = {
        text: nodes_with(text, configuration.nodes) for text in dict.fromkeys(text for _, text in numbers)
    }
    up = {place for place, node in enumerate(configuration.nodes) if node.up}
    return words, [
        sorted(up & set(configuration.partitions[number].nodes) & meets[text]) for number, text in numbers
    ]
