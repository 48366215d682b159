"""The making of schedules: a policy's function with its settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from models import dotted
from models.arrays import Ints
from models.medium_term import policies
from models.medium_term.boxes import Boxes, schedule_of
from models.medium_term.schedule import Schedule
from models.point import Parameters

Fill = Callable[[int, Ints], Boxes]
"""A policy with its settings: from P and the jobs' minimum requirements, ascending, to boxes."""


def prepare(policy: Parameters) -> Fill:
    """Return what makes the schedules of a policy, for numbers that `policies.check` lets pass."""
    found = policies.find(policy)
    make, settings = dotted.imported(found.make), [policy[key] for key in found.settings]
    return lambda processors, minimum: make(processors, minimum, *settings)


def make_schedule(policy: Parameters, processors: int, minimum: Sequence[int]) -> Schedule:
    """Return the schedule of jobs with these minimum requirements, numbered as they come.

    Parameters
    ----------
    policy : mapping
        As in a policy's YAML file: the key ``schedule`` and what belongs to it.
    processors : int
    minimum : sequence of int
        Processors that each job needs at least.

    Raises
    ------
    ValueError
        With one clear line, where the policy or the machine cannot schedule these jobs.

    Examples
    --------
    >>> example = make_schedule({"schedule": "equi_epoch"}, 12, [2, 3, 3, 4, 4, 4, 5, 6])
    >>> [box.width for box in example.boxes], example.epochs
    ([4, 4, 4, 4, 4, 4, 6, 6], 3)
    """
    needs = np.array(minimum, np.int64)
    if needs.ndim != 1 or not needs.size or needs.min() < 1 or needs.max() > processors:
        raise ValueError(
            f"minimum requirements {list(minimum)}; allowed: 1 to {processors} processors for each job"
        )
    policies.check_schedule(policy, processors, len(needs))
    order = np.argsort(needs, kind="stable")
    return schedule_of(prepare(policy)(processors, needs[order]), processors, needs[order], order)
