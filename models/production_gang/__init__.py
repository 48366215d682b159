"""Livermore's gang schedulers: job classes, preemption at a cost, machines with constraints (Jette 1997).

Two kinds of systems: `t3d`, driven by events, and `slices`, with time slices of a fixed length. The
declaration loads no kernel, so that a plan can be made and checked at once.
"""

from dataclasses import fields

from models.family import Family
from models.jobs.measures import COMMON
from models.production_gang.metrics import COORDS, METRICS, OF_JOBS
from models.topology.links import Nodes

OF_T3D = frozenset({"workload.stands_at", *(f"machine.{key.name}" for key in fields(Nodes))})

FAMILY = Family(
    package=__name__,
    name="production gang scheduling",
    version=3,
    metrics=METRICS,
    headline="slowdown",
    common=COMMON,
    delivered="utilization",
    of_jobs=OF_JOBS,
    coords=COORDS,
    kernels=(
        "models.production_gang.t3d.simulation",
        "models.production_gang.slices.simulation",
        "models.production_gang.model",
    ),
    schedules=True,
    reads=lambda policy: OF_T3D if policy.get("system") == "t3d" else frozenset({"workload.phases"}),
)
