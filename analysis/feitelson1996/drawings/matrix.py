"""The Ousterhout matrix: ``python -m analysis draw matrix policy=buddy load=0.9 time=500``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from analysis.drawings.matrix import FREE, draw_matrix
from analysis.drawings.settings import positive, valid, whole
from analysis.errors import AnalysisError
from analysis.feitelson1996.drawings import engine
from analysis.feitelson1996.labels import AXES
from analysis.figures.policies import label
from analysis.study import open_study
from sweep.plan.seeds import seed

MATRIX = {
    "policy": "buddy",
    "load": "0.9",
    "time": "500",
    "alternation": "",
    "replication": "0",
    "results": "results/packing",
}


def matrix(settings: Mapping[str, str]) -> Figure:
    """Draw the Ousterhout matrix at a moment of one of the dataset's own simulations."""
    study = open_study(Path(settings["results"]), AXES).readings["A"]
    load, time = positive(settings, "load"), positive(settings, "time")
    replication = whole(settings, "replication", 0)
    usual = study.usual()
    policy = study.parameters("policy", settings["policy"])
    policy["unification"] = usual.get("unification", str(policy["unification"])).lower() == "true"
    policy["alternation"] = settings["alternation"] or usual.get("alternation", policy["alternation"])
    policy["precedence"] = usual.get("precedence", policy["precedence"])
    if policy["alternation"] not in ("none", "shared", "exclusive"):
        raise AnalysisError(f"alternation={policy['alternation']}: give none, shared or exclusive")
    workload, machine = study.parameters("workload"), study.parameters("machine")
    root = seed(int(study.settings["seed"]), workload["name"], replication)
    state = valid(engine.state_at, policy, workload, machine, load, time, root)
    n_slots, n_pes = state.mapped.shape
    if n_slots == 0:
        raise AnalysisError(f"no job is in the system at time {time:g} at load {load:g}: try another time=")
    figure = Figure(figsize=(7.4, 0.3 * n_slots + 1.3), layout="constrained")
    axes = figure.subplots()
    jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
    title = (
        f"{label(settings['policy'])}, load {load:g}, time {time:g}, alternation "
        f"{policy['alternation']}: {jobs} jobs in {n_slots} slots on {n_pes} PEs (hatched: runs here too)"
    )
    draw_matrix(axes, state, title)
    return figure
