"""A family small enough to know by heart: customers of an M/M/1 queue, and switches that break it."""

import os

from fake_family.metrics import COORDS, METRICS
from models.family import Family
from models.point import Point


class Breakable(Family):
    """A family whose disk can fill in the middle of a file (``policy.torn``)."""

    def export(self, point: Point, path: str | os.PathLike[str]) -> None:
        super().export(point, path)
        if point.policy["torn"]:
            os.truncate(path, os.path.getsize(path) // 2)
            raise OSError(28, "No space left on device")


FAMILY = Breakable(
    package=__name__,
    name="fake",
    version=1,
    metrics=METRICS,
    headline="response",
    coords=COORDS,
    schedules=True,
)
