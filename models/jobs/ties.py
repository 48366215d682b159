"""The words for what happens first when several events share an instant, for every family that is told.

``instant``
    All ends of an instant, then all its submissions: a newcomer finds the processors free. Where a scheduler
    looks at a queue, it does so once, after all of them.
``event``
    One event after the other: the submissions, then the ends (where it is not said otherwise in order of
    submission), with a look at the queue after each.

Archive logs have whole seconds, so that the order matters there. `models.kernels.ties` is the rule, compiled.
"""

from __future__ import annotations

from models import checks
from models.point import Parameters

INSTANT = "instant"
TIES = (INSTANT, "event")


def ties_of(policy: Parameters) -> str:
    """Return ``ties`` of a policy, `INSTANT` where it has none; ``ValueError`` for other words."""
    return str(checks.choice(policy, "policy", "ties", TIES, default=INSTANT))
