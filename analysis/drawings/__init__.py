"""Pictures of schedules on request: ``python -m analysis draw gantt policy=easy workload=swf path=LOG``."""

from analysis.drawings import gantt, queue
from analysis.drawings.scene import SOURCE
from analysis.paper import Drawing

WINDOW = {"from": "", "to": ""}

DRAWINGS = {
    "gantt": Drawing(
        gantt.gantt,
        {**SOURCE, **WINDOW},
        "a Gantt chart of a schedule, hosts apart, between two times (36h, 2d; default: the first three "
        "days)",
    ),
    "queue": Drawing(
        queue.queue, {**SOURCE, **WINDOW}, "utilization and queue length of a schedule over time"
    ),
    "waits": Drawing(
        queue.waits,
        {**SOURCE, "share": "0.05"},
        "Fig. 4: the largest waits of a schedule over the actual runtime",
    ),
}
