"""What is allowed, and what is said aloud."""

from collections.abc import Sequence

from models.point import Point


def check(point: Point) -> Sequence[str]:
    if point.machine["speed"] <= 0:
        raise ValueError(f"machine.speed={point.machine['speed']}: give a positive speed")
    note = point.workload["note"]
    return [note] if note else []


def is_stochastic(point: Point) -> bool:
    return True
