"""Pictures on request: ``python -m analysis draw matrix policy=buddy load=0.9 time=500``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from analysis.errors import AnalysisError
from analysis.feitelson1996 import engine, fig9
from analysis.matrix_drawing import FREE, draw_matrix
from analysis.papers import Drawing
from analysis.study import open_study
from analysis.style import scheme_style
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
    study = open_study(Path(settings["results"]), "feitelson1996").readings["A"]
    load, time = _number(settings, "load"), _number(settings, "time")
    replication = int(_number(settings, "replication"))
    usual = study.usual()
    policy = study.parameters("policy", settings["policy"])
    policy["unification"] = usual.get("unification", str(policy["unification"])).lower() == "true"
    policy["alternation"] = settings["alternation"] or usual.get("alternation", policy["alternation"])
    if policy["alternation"] not in ("none", "shared", "exclusive"):
        raise AnalysisError(f"alternation={policy['alternation']}: give none, shared or exclusive")
    workload, machine = study.parameters("workload"), study.parameters("machine")
    root = seed(int(study.settings["seed"]), workload["name"], replication)
    try:
        state = engine.state_at(policy, workload, machine, load, time, root)
    except ValueError as error:  # what a model says of parameters that it cannot simulate, in one line
        raise AnalysisError(str(error)) from None
    n_slots, n_pes = state.mapped.shape
    if n_slots == 0:
        raise AnalysisError(f"no job is in the system at time {time:g} at load {load:g}: try another time=")
    figure = Figure(figsize=(7.4, 0.3 * n_slots + 1.3), layout="constrained")
    axes = figure.subplots()
    jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
    title = (
        f"{scheme_style(settings['policy']).label}, load {load:g}, time {time:g}, alternation "
        f"{policy['alternation']}: {jobs} jobs in {n_slots} slots on {n_pes} PEs (hatched: runs here too)"
    )
    draw_matrix(axes, state, title)
    return figure


def _number(settings: Mapping[str, str], key: str) -> float:
    try:
        value = float(settings[key])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and (value > 0 or key == "replication")):
        raise AnalysisError(f"{key}={settings[key]}: give a positive number")
    return value


DRAWINGS = {
    "fig9": Drawing(
        fig9.draw, {}, "Fig. 9: sizes 5, 4, 6, 2, 3 on 8 PEs under best fit and minimal maximum load"
    ),
    "matrix": Drawing(
        matrix, MATRIX, "the Ousterhout matrix at a moment of a simulation, under a dataset's own reading"
    ),
}
