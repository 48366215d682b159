"""Names: metrics and groups of jobs as the dataset has them; policies are called what the user typed."""

from __future__ import annotations

from dataclasses import replace

from analysis.figures import policies
from analysis.figures.style import VERDICT_COLORS, SchemeStyle
from analysis.study.groups import Grouping

WAIT, WAIT_P95, WAIT_MAX = "delay", "delay_p95", "delay_max"
"""What operators call a wait is the time in the system beyond the runtime: that of a job which is preempted
does not end with its first processor."""

SLOWDOWN = "bounded_slowdown"
PERIOD = "period"
UTILIZATION, LOSS = "utilization", "loss_of_capacity"

MEASURES = {
    WAIT: "Mean wait",
    WAIT_P95: "95th percentile of wait",
    WAIT_MAX: "Longest wait",
    SLOWDOWN: "Mean bounded slowdown",
    UTILIZATION: "Utilization",
    LOSS: "Loss of capacity",
}
"""What a policy is judged by, in the order of tables and pictures."""

AS_IT_WAS = "as it was"
"""What the log recorded itself, beside the policies."""

RUNTIME = Grouping("runtime_range", "_by_runtime", "runtime")
SIZE = Grouping("size_range", "_by_size", "processors")
USER = Grouping("user_rank", "_by_user", "user")
GROUPINGS = (RUNTIME, SIZE, USER)

BETTER, WORSE, OPEN = (VERDICT_COLORS[name] for name in ("holds", "fails", "inconclusive"))

VERDICTS = {
    "better": SchemeStyle("better", BETTER, "v", ""),
    "worse": SchemeStyle("worse", WORSE, "^", ""),
    "no difference shown": SchemeStyle("no difference shown", OPEN, "o", ""),
    "the same": SchemeStyle("the same", OPEN, "o", ""),
    "not judged": SchemeStyle("no interval", OPEN, "D", ""),
}
"""Told by colour and by marker."""


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy under its own name."""
    return replace(policies.look(policy), label=policy)
