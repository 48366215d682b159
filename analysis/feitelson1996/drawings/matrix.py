"""The Ousterhout matrix: ``python -m analysis draw matrix policy=buddy load=0.9 time=500``."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.drawings.matrix import FREE, draw_matrix
from analysis.drawings.scene import SOURCE, asked
from analysis.drawings.settings import MOST, positive, valid
from analysis.errors import AnalysisError
from analysis.feitelson1996.drawings import engine
from analysis.figures.policies import label

MATRIX = {
    **SOURCE,
    "policy": "buddy",
    "workload": "feitelson1996",
    "load": "0.9",
    "jobs": "100000",
    "alternation": "",
    "time": "500",
}


def matrix(settings: Mapping[str, str]) -> Figure:
    """Draw the Ousterhout matrix at a moment of a simulation, the same as an experiment's with that seed."""
    time, point = positive(settings, "time"), asked(settings)
    name = point.policy["name"]
    if point.policy["family"] != "models.gang":
        raise AnalysisError(f"policy={name}: it has no Ousterhout matrix; give a packing scheme, e.g. buddy")
    state, _ = valid(engine.state_of, point, time)
    n_slots, n_pes = state.mapped.shape
    if n_slots == 0:
        raise AnalysisError(f"no job is in the system at time {time:g}: try another time=, or a higher load=")
    if n_pes > MOST:
        raise AnalysisError(f"machine={point.machine['name']}: too many PEs to draw; give up to {MOST}")
    figure = Figure(figsize=(7.4, 0.3 * n_slots + 1.3), layout="constrained")
    axes = figure.subplots()
    jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
    load = "" if point.load is None else f"load {point.load:g}, "
    title = (
        f"{label(name)}, {load}time {time:g}, alternation {point.policy['alternation']}: {jobs} jobs in "
        f"{n_slots} slots on {n_pes} PEs (hatched: runs here too)"
    )
    draw_matrix(axes, state, title)
    return figure
