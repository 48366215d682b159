"""The torus against breadth-first search on neighbours, and its key in a machine's file."""

import itertools
from collections import deque
from math import prod
from typing import Any

import numpy as np
import pytest
from family_cases import refused

from models.jobs import machine as machines
from models.topology.shapes import most_even
from models.topology.torus import FORWARD, Torus, route_into

SHAPES = ((1, 1), (1, 6), (2, 3), (4, 4), (5, 3), (2, 3, 4), (3, 3, 3))
every_shape = pytest.mark.parametrize("sides", SHAPES, ids=lambda sides: "x".join(map(str, sides)))


def searched(sides: tuple[int, ...], source: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """Return the distance from a processor to all coordinates, by breadth-first search."""
    distance, waiting = {source: 0}, deque([source])
    while waiting:
        at = waiting.popleft()
        for dimension, side in enumerate(sides):
            for step in (1, -1):
                to = (*at[:dimension], (at[dimension] + step) % side, *at[dimension + 1 :])
                if to not in distance:
                    distance[to] = distance[at] + 1
                    waiting.append(to)
    return distance


def route(torus: Torus, source: int, target: int) -> np.ndarray:
    links = np.empty(torus.diameter, np.int64)
    return links[: route_into(torus.array, source, target, links)]


@every_shape
def test_routes_are_shortest_in_the_order_of_dimensions(sides: tuple[int, ...]) -> None:
    torus, longest = Torus(sides), 0
    places = list(itertools.product(*map(range, sides)))  # the last dimension runs first
    assert torus.n_links == 2 * len(sides) * len(places)
    for source, begin in enumerate(places):
        distance = searched(sides, begin)
        for target, place in enumerate(places):
            links = route(torus, source, target)
            assert torus.distance(source, target) == torus.distance(target, source) == distance[place]
            assert len(links) == distance[place]
            at, order = list(begin), []
            for link in links.tolist():
                processor, way = divmod(link, 2 * len(sides))
                assert places[processor] == tuple(at)
                dimension, direction = divmod(way, 2)
                at[dimension] = (at[dimension] + (1 if direction == FORWARD else -1)) % sides[dimension]
                order.append((dimension, direction))
            assert tuple(at) == place
            # One dimension after the other, and in each one way only.
            assert order == sorted(order)
            assert len(set(order)) == len({dimension for dimension, _ in order})
            longest = max(longest, len(links))
    assert longest == torus.diameter


@pytest.mark.parametrize("processors", [1, 7, 12, 64, 100, 256, 997])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_most_even_sides_against_all_there_are(processors: int, dimensions: int) -> None:
    divisors = [side for side in range(1, processors + 1) if processors % side == 0]
    every = [
        shape
        for shape in itertools.combinations_with_replacement(divisors, dimensions)
        if prod(shape) == processors
    ]
    assert most_even(processors, dimensions) == min(every, key=sum)


@pytest.mark.parametrize(("given", "sides"), [("4x4", (4, 4)), ("4x4x2", (4, 4, 2))])
def test_a_machine_is_a_torus_by_its_key(given: str, sides: tuple[int, ...]) -> None:
    machine = {"name": "own", "processors": None, "torus": given}
    assert Torus.of(machine).sides == sides
    assert machines.of(machine).total == prod(sides)


@pytest.mark.parametrize("given", ["4x", "0x4", "4x4x4x4", 16])
def test_a_torus_is_refused_in_one_line(given: Any) -> None:
    for read in (machines.of, Torus.of):
        with refused(r"^machine\.torus=.*; allowed: two or three sides"):
            read({"torus": given})
