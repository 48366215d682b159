"""Pictures of one point that the explorer shows, drawn from a simulation with the point's config and seed.

The explorer itself has the pictures of any schedule (`analysis.explorer.views`); papers declare more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from models.point import Batches, Point
from sweep.policy_names import label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Request:
    """A picture that is requested.

    Parameters
    ----------
    view : str
        Its name.
    begin, end : str
        Times as users type them, ``90m``, ``36h``; empty for the default.
    """

    view: str
    point: Point
    begin: str = ""
    end: str = ""

    @property
    def title(self) -> str:
        """Policy, workload, load and replication."""
        point = self.point
        load = "" if point.load is None else f", load {point.load:g}"
        name = label(point.policy["name"])
        return f"{name}, {point.workload['name']}{load}, replication {point.seed[-1]}"


@dataclass(frozen=True)
class View:
    """A kind of picture.

    Parameters
    ----------
    fits : callable
        Parameters of a policy -> whether the picture exists for it.
    window : bool
        Whether it shows a period of time rather than a moment.
    """

    title: str
    fits: Callable[[Mapping[str, object]], bool]
    draw: Callable[[Request], Figure | pd.DataFrame]
    window: bool = True


def counted(point: Point) -> Point:
    """Return a point whose run ends after a number of jobs, where it would end at the policy's horizon."""
    if point.batches.size is None and point.policy.get("horizon") is not None:
        return replace(point, batches=Batches(1000, 0, (1,)))
    return point
