"""The common measures as figures name them."""

MEASURES = {
    "response_time": "Mean response time (s)",
    "wait": "Mean wait (s)",
    "slowdown": "Mean slowdown",
    "bounded_slowdown": "Mean bounded slowdown",
    "bounded_slowdown_p95": "95th percentile of the bounded slowdown",
    "wait_max": "Maximum wait (s)",
    "utilization": "Utilization",
    "jobs_in_system": "Jobs in the system",
}
"""Metric -> label of the axis, in the report's order."""

LINEAR = ("wait", "utilization")
"""All others differ by orders of magnitude between policies, and are never 0."""

CAPTION = (
    "{label} over the offered load. All policies have the same jobs. Under gang scheduling and partitioning "
    "a batch holds jobs in order of their ends, under backfilling in order of their submissions; time "
    "slicing lets every job begin at once, so that its wait says little beside its response time."
)
