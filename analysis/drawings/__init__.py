"""Pictures of schedules on request: ``python -m analysis draw gantt policy=easy workload=swf path=LOG``."""

from analysis.drawings import gantt, queue
from analysis.drawings.scene import SOURCE
from analysis.paper import Drawing

WINDOW = {"from": "", "to": ""}


def drawings(policy: str, workload: str) -> dict[str, Drawing]:
    """Return the drawings of any schedule, with the policy and the workload that are drawn by default."""
    source = {**SOURCE, "policy": policy, "workload": workload}
    return {
        "gantt": Drawing(
            gantt.gantt,
            {**source, **WINDOW},
            "a Gantt chart of a schedule, hosts apart, between two times (36h, 2d; default: the first three "
            "days)",
        ),
        "queue": Drawing(
            queue.queue, {**source, **WINDOW}, "utilization and queue length of a schedule over time"
        ),
        "waits": Drawing(
            queue.waits,
            {**source, "share": "0.05"},
            "Fig. 4: the largest waits of a schedule over the actual runtime",
        ),
    }
