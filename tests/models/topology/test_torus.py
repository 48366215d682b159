"""The torus against breadth-first search on neighbours, and its key in a machine's file."""

from __future__ import annotations

import itertools
from collections import deque
from math import prod
from typing import Any

import numpy as np
import pytest

from models.jobs import machine as machines
from models.topology.shapes import most_even
from models.topology.torus import BACKWARD, FORWARD, Torus

SHAPES = ((1, 1), (1, 6), (2, 3), (4, 4), (5, 3), (2, 3, 4), (3, 3, 3))
every_shape = pytest.mark.parametrize("sides", SHAPES, ids=lambda sides: "x".join(map(str, sides)))


def neighbours(torus: Torus, at: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the coordinates around some, from nothing but the sides."""
    found = []
    for dimension, side in enumerate(torus.sides):
        for step in (1, -1):
            to = list(at)
            to[dimension] = (to[dimension] + step) % side
            found.append(tuple(to))
    return found


def searched(torus: Torus, source: int) -> dict[tuple[int, ...], int]:
    """Return the distance from a processor to all coordinates, by breadth-first search."""
    start = torus.coordinates(source)
    distance, waiting = {start: 0}, deque([start])
    while waiting:
        at = waiting.popleft()
        for to in neighbours(torus, at):
            if to not in distance:
                distance[to] = distance[at] + 1
                waiting.append(to)
    return distance


def pairs(torus: Torus) -> itertools.product[tuple[int, int]]:
    return itertools.product(range(torus.n_processors), repeat=2)


@every_shape
def test_processors_have_places_and_links_have_ends(sides: tuple[int, ...]) -> None:
    torus = Torus(sides)
    assert torus.n_processors == prod(sides)
    places = [torus.coordinates(node) for node in range(torus.n_processors)]
    assert places == list(itertools.product(*map(range, sides)))  # the last dimension runs first
    assert [torus.processor(place) for place in places] == list(range(torus.n_processors))
    ends = [torus.ends(link) for link in range(torus.n_links)]
    numbers = []
    for node, place in enumerate(places):
        around = [torus.processor(to) for to in neighbours(torus, place)]
        own = [(d, way) for d in range(len(sides)) for way in (FORWARD, BACKWARD)]
        assert [torus.neighbour(node, d, way) for d, way in own] == around
        numbers += [torus.link(node, d, way) for d, way in own]
        assert [ends[torus.link(node, d, way)] for d, way in own] == [(node, to) for to in around]
    assert numbers == list(range(torus.n_links))


@every_shape
def test_routes_are_shortest_in_the_order_of_dimensions(sides: tuple[int, ...]) -> None:
    torus = Torus(sides)
    longest = 0
    for source in range(torus.n_processors):
        distance = searched(torus, source)
        assert len(distance) == torus.n_processors
        for place, shortest in distance.items():
            target = torus.processor(place)
            assert torus.distance(source, target) == torus.distance(target, source) == shortest
            route = torus.route(source, target)
            assert len(route) == shortest
            at, order = source, []
            for link in route:
                leaves, enters = torus.ends(link)
                assert leaves == at
                at = enters
                order.append((link // 2 % len(sides), link % 2))
            assert at == target
            # One dimension after the other, and in each one way only.
            assert order == sorted(order)
            assert len(set(order)) == len({dimension for dimension, _ in order})
            longest = max(longest, shortest)
    assert longest == torus.diameter


@pytest.mark.parametrize("sides", [(2, 2), (3, 3), (4, 4), (3, 3, 3)])
def test_all_to_all_uses_every_link_of_a_symmetric_torus_equally(sides: tuple[int, ...]) -> None:
    torus = Torus(sides)
    used = np.zeros(torus.n_links, int)
    for source, target in pairs(torus):
        used[torus.route(source, target)] += 1
    hops = sum(torus.distance(source, target) for source, target in pairs(torus))
    np.testing.assert_array_equal(used, hops / torus.n_links)
    # In closed form: the distances from a processor to all of its ring of k sum to k^2 / 4, rounded down.
    k, n = sides[0], torus.n_processors
    assert hops == n * len(sides) * (n // k) * (k * k // 4)


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


@pytest.mark.parametrize(("given", "sides"), [("4x4", (4, 4)), ("2x8", (2, 8)), ("4x4x2", (4, 4, 2))])
def test_a_machine_is_a_torus_by_its_key(given: str, sides: tuple[int, ...]) -> None:
    machine = {"name": "own", "processors": None, "torus": given}
    assert Torus.of(machine).sides == sides
    assert machines.of(machine).total == prod(sides)
    assert machines.of(machine | {"processors": prod(sides)}).total == prod(sides)
    # A log's machine is asked for where nothing is named, and a torus is something.
    assert machines.of(machine, processors_of_log=999).total == prod(sides)


@pytest.mark.parametrize("given", ["4", "4x", "0x4", "4x4x4x4", "4x-1", 16, "4.0x4"])
def test_a_torus_is_refused_in_one_line(given: Any) -> None:
    for read in (machines.of, Torus.of):
        with pytest.raises(ValueError, match=r"^machine\.torus=.*; allowed: two or three sides") as refused:
            read({"torus": given})
        assert "\n" not in str(refused.value)
