"""Customers one after the other, by Lindley's recursion."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from models.point import Point
from models.streams import stream


class Customers(NamedTuple):
    """The customers of a batch; every array has the shape (batch size,), seconds."""

    gap: np.ndarray
    service: np.ndarray
    wait: np.ndarray


def batches(point: Point) -> Iterator[Customers]:
    """Yield batches without end; service takes 1 on average, divided by the machine's speed."""
    load = 0.5 if point.load is None else point.load
    arrivals, services = stream(point.seed, "arrivals"), stream(point.seed, "services")
    size = point.batches.size
    response = 0.0
    while True:
        gap = arrivals.exponential(1 / load, size)
        service = services.exponential(1 / point.machine["speed"], size) * point.policy["work"]
        wait = np.empty(size)
        for job in range(size):
            wait[job] = max(0.0, response - gap[job])
            response = wait[job] + service[job]
        yield Customers(gap, service, wait)
