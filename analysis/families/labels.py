"""Names of axes, policies and metrics in the dataset, and their names in tables and figures."""

import math
import re

from analysis.study import Study
from analysis.study.axes import Axes

KEY = "families"

WORKLOAD, MACHINE = "workload", "machine"
LEVEL, QUEUE, COST = "level", "queue", "switch_cost"
REQUESTS, SPEEDUP = "requests", "speedup"
"""Axes of the grid."""

UNBOUNDED, FCFS_QUEUE, BACKFILL_QUEUE = "null", "fcfs", "backfill"
FREE = "0"
REAL, EXACT = "real", "exact"
LINEAR, DOWNEY, UNLIMITED = "linear", "downey", "unlimited"
"""Values of these axes as text."""

AXES = Axes(
    features={
        WORKLOAD: "",
        LEVEL: UNBOUNDED,
        QUEUE: FCFS_QUEUE,
        COST: FREE,
        REQUESTS: REAL,
        SPEEDUP: LINEAR,
        MACHINE: "",
    }
)

SLOWDOWN, RESPONSE, WAIT = "bounded_slowdown", "response_time", "wait"
UTILIZATION = "utilization"
MEASURES = {SLOWDOWN: "mean bounded slowdown", RESPONSE: "mean response time"}
"""Measures by which contestants are compared; less is better for both."""

EASY, FCFS, CONSERVATIVE, LXF_W, LXF_W_IMMEDIATE = (
    "easy", "fcfs", "conservative", "lxf_w_backfill", "lxf_w_immediate",
)  # fmt: skip
BUDDY = "buddy"
EQUI_PLUS, FOLD, SHARING = "equi_plus", "fold_200", "processor_sharing"

GANG, SPACE, PARTITIONING = "models.gang", "models.backfill", "models.partitioning"
"""Families as the dataset's config names them."""

WORKLOADS = {
    "feitelson1996_seconds": "Feitelson 1996",
    "lublin2003": "Lublin 2003",
    "kth_sp2": "KTH-SP2",
    "sdsc_sp2": "SDSC-SP2",
    "cea_curie": "CEA-Curie",
    "nasa_ipsc": "NASA-iPSC",
}


def overestimate(requests: str) -> float:
    """Return by how many runtimes requests are too long at most; NaN if they follow no such rule.

    Examples
    --------
    >>> overestimate("exact"), overestimate("f3"), overestimate("real")
    (0.0, 3.0, nan)
    """
    if requests == EXACT:
        return 0.0
    found = re.fullmatch(r"f(\d+(?:\.\d+)?)", requests)
    return float(found[1]) if found else math.nan


def asked(requests: str) -> str:
    """Return requests in words.

    Examples
    --------
    >>> asked("real"), asked("exact"), asked("f3")
    ('requests as users make them', 'exact requests', 'requests of up to 4 times the runtime')
    """
    most = 1 + overestimate(requests)
    if most > 1:
        return f"requests of up to {most:g} times the runtime"
    return "requests as users make them" if requests == REAL else f"{requests} requests"


def at_load(load: float | None) -> str:
    """Return a load after the name of a contestant; nothing for a workload at its own load.

    Examples
    --------
    >>> at_load(0.5), at_load(math.nan)
    (', load 0.5', '')
    """
    return "" if load is None or math.isnan(load) else f", load {load:g}"


def workload(study: Study, name: str) -> str:
    """Return a workload's name in text: of a log in another file than usual, the name of that file."""
    known = WORKLOADS.get(name, name.replace("_", " ").capitalize())
    logs = (log["file"] for log in study.facts.get("logs", []) if log["at"].get("workload", name) == name)
    file = next(logs, known)
    return known if file.lower().startswith(known.lower()) else file.partition(".")[0]
