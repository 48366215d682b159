"""Names of metrics and of the log's own values, and the styles of verdicts."""

from analysis.figures.style import VERDICT_COLORS, SchemeStyle

WAIT, WAIT_P95, WAIT_MAX = "delay", "delay_p95", "delay_max"
"""Operators call a wait the time in the system beyond the runtime: the wait of a preempted job does not end
with its first start."""

SLOWDOWN, RESPONSE = "bounded_slowdown", "response_time"
PERIOD = "period"
UTILIZATION, LOSS, REFUSED = "utilization", "loss_of_capacity", "refused_share"

MEASURES = {
    WAIT: "Mean wait",
    WAIT_P95: "95th percentile of wait",
    WAIT_MAX: "Longest wait",
    SLOWDOWN: "Mean bounded slowdown",
    UTILIZATION: "Utilization",
    LOSS: "Loss of capacity",
}
"""Measures of a policy, in the order of tables and pictures."""

AS_IT_WAS = "as recorded"
"""Row and line of the values that the log recorded, beside the policies."""

BETTER, WORSE, OPEN = (VERDICT_COLORS[name] for name in ("holds", "fails", "inconclusive"))

VERDICTS = {
    name: SchemeStyle(name, color, marker, "")
    for name, color, marker in (
        ("better", BETTER, "v"), ("mostly better", BETTER, "v"), ("worse", WORSE, "^"),
        ("mostly worse", WORSE, "^"), ("mixed", OPEN, "X"), ("no difference shown", OPEN, "o"),
        ("identical", OPEN, "o"), ("no interval", OPEN, "D"),
    )
}  # fmt: skip
"""Verdict -> its colour and marker."""
