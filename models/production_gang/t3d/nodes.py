"""The torus of nodes, and the partitions that jobs may have on it.

"The processors allocated to a job must have a specific shape with specific dimensions for a given problem
size […], the possible locations of the processor assignments are restricted" (Jette 1997, "Cray T3D"). The
shape of a number of nodes results from repeatedly halving the torus, each time along its longest side (the
last of equal ones). On 8 x 4 x 4 nodes of two that gives 32 processors as 8 x 2 x 2, the paper's example.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from models import keys
from models.arrays import Ints
from models.jobs.machine import sides as sides_of
from models.point import Parameters
from models.topology.links import Nodes
from models.topology.shapes import most_even

MOST_NODES_ANYWHERE = 1024
"""With more nodes, a partition that may be anywhere has too many places to examine."""


REMEDY = "machine.processors=null machine.torus=16x4x4"


@dataclass(frozen=True, kw_only=True)
class Hardware(Nodes):
    """The nodes and wires of a machine's YAML file, checked.

    Parameters
    ----------
    sides : tuple of int
        Of the torus of nodes.
    """

    sides: tuple[int, ...]

    @classmethod
    def of(cls, machine: Parameters, processors: int) -> Hardware:
        """Return the hardware of a number of processors; ``ValueError`` with one line if not allowed."""
        read = keys.read(cls, machine, "machine")
        pairs = read["node_processors"]
        given = f"machine.processors={processors}"
        if machine.get("torus") is not None:
            torus, given = sides_of(machine, "torus"), f"machine.torus={machine['torus']}"
        elif processors % pairs == 0:
            torus = most_even(processors // pairs, 3)[::-1]
            torus = (torus[0] * pairs, *torus[1:])
        else:
            torus = (processors,)
        if torus[0] % pairs or any(side & (side - 1) for side in (*torus, pairs)):
            remedy = "machine.node_processors=1" if pairs & (pairs - 1) else REMEDY
            raise ValueError(
                f"{given} in nodes of {pairs}: a partition is the torus halved again and again, so that "
                f"each side, and a node's, is a power of two; add for instance {remedy}"
            )
        nodes = (torus[0] // pairs, *torus[1:])
        if read["places"] == "any" and prod(nodes) > MOST_NODES_ANYWHERE:
            raise ValueError(
                f"machine.places=any on {prod(nodes):,} nodes; it is possible up to {MOST_NODES_ANYWHERE:,}: "
                "take machine.places=aligned or half"
            )
        return cls(sides=nodes, **read)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return prod(self.sides)

    def rounded(self, size: Ints) -> Ints:
        """Return the processors that jobs get: whole nodes, a power of two."""
        nodes = -(-np.asarray(size) // self.node_processors)
        return self.node_processors * 2 ** np.ceil(np.log2(np.maximum(nodes, 1))).astype(np.int64)


class Partitions(NamedTuple):
    """Every possible place of a job, in the form that kernels take; places of 2^k nodes are at level k.

    Parameters
    ----------
    first : ndarray of int, shape (n_levels + 1,)
        The first place of each level.
    corner : ndarray of int, shape (n_places,)
        Node of each place with the least coordinates, before it goes round.
    nodes : ndarray of int
        Nodes of all places, one after the other; the nodes of place p of level k begin at ``node_of[k] + (p -
        first[k]) << k``.
    node_of : ndarray of int, shape (n_levels,)
    border : ndarray of int
        Neighbours outside each place, for all places, one for each link that leads there.
    border_of : ndarray of int, shape (n_places + 1,)
    leaf : ndarray of int, shape (n_nodes,)
        The position of a node if each halving puts one half before the other: the halves of level k are
        ``leaf >> k``.
    """

    first: Ints
    corner: Ints
    nodes: Ints
    node_of: Ints
    border: Ints
    border_of: Ints
    leaf: Ints


def shapes_of(sides: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the shape of a partition of 2^k nodes for each k.

    Examples
    --------
    >>> shapes_of((8, 4, 4))[4:]
    ((4, 2, 2), (4, 4, 2), (4, 4, 4), (8, 4, 4))
    """
    found = [sides]
    while prod(found[-1]) > 1:
        shape = list(found[-1])
        longest = max(axis for axis, side in enumerate(shape) if side == max(shape))
        shape[longest] //= 2
        found.append(tuple(shape))
    return tuple(found[::-1])


@lru_cache(maxsize=8)
def partitions(sides: tuple[int, ...], places: str) -> Partitions:
    """Return every place on a torus of nodes; O(nodes x levels) places and nodes where they are aligned.

    Parameters
    ----------
    sides : tuple of int
        Powers of two.
    places : {"aligned", "half", "any"}
    """
    shapes = shapes_of(sides)
    number = np.arange(prod(sides)).reshape(sides)
    at = np.stack(np.unravel_index(np.arange(prod(sides)), sides), axis=1)
    first, corners, nodes, node_of, borders, n_border = [0], [], [], [0], [], []
    for shape in shapes:
        steps = [_step(side, whole, places) for side, whole in zip(shape, sides, strict=True)]
        origin = at[np.all(at % steps == 0, axis=1)]
        inside = np.stack(np.unravel_index(np.arange(prod(shape)), shape), axis=1)
        its = (origin[:, None, :] + inside) % sides
        corners.append(number[tuple(origin.T)])
        nodes.append(number[tuple(np.moveaxis(its, 2, 0))].ravel())
        first.append(first[-1] + len(origin))
        node_of.append(node_of[-1] + nodes[-1].size)
        links = []
        for axis, side in enumerate(sides):
            for step in (1, -1):
                beside = its.copy()
                beside[:, :, axis] = (beside[:, :, axis] + step) % side
                far = (beside[:, :, axis] - origin[:, None, axis]) % side >= shape[axis]
                links.append(np.where(far, number[tuple(np.moveaxis(beside, 2, 0))], -1))
        around = np.concatenate(links, axis=1)
        borders.append(around[around >= 0])
        n_border.append((around >= 0).sum(axis=1))
    return Partitions(
        np.array(first),
        np.concatenate(corners),
        np.concatenate(nodes),
        np.array(node_of[:-1]),
        np.concatenate(borders),
        np.concatenate([[0], np.cumsum(np.concatenate(n_border))]),
        _leaves(sides, shapes, at),
    )


def _step(side: int, whole: int, places: str) -> int:
    """Return the distance of corners in a dimension."""
    if side == whole:
        return whole
    return {"aligned": side, "half": max(side // 2, 1), "any": 1}[places]


def _leaves(sides: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], at: np.ndarray) -> Ints:
    """Return each node's place in the order of the halvings: one more binary digit for each of them."""
    leaf = np.zeros(len(at), np.int64)
    for smaller, larger in zip(shapes[-2::-1], shapes[:0:-1], strict=True):
        axis = next(axis for axis in range(len(sides)) if smaller[axis] != larger[axis])
        leaf = 2 * leaf + at[:, axis] // smaller[axis] % 2
    return leaf
