"""The family for the sweep: a point in, one batch out."""

from models.family import Outcome
from models.o2k_workload import engine
from models.point import Point
from models.workloads import o2k
from models.workloads.o2k.assumptions import Assumptions


def simulate(point: Point) -> Outcome:
    """Generate one month, see `models.family.Family.simulate`: it is one batch, whatever is requested."""
    trace = o2k.open_trace(point)
    metrics = engine.measure(trace, Assumptions.of(point.workload))
    return Outcome({name: values[None] for name, values in metrics.items()}, len(trace.jobs))
