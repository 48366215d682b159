"""The Ousterhout matrix: ``python -m analysis draw matrix policy=buddy load=0.9 time=500``."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.drawings.composition import parameters
from analysis.drawings.matrix import FREE, draw_matrix
from analysis.drawings.scene import SOURCE, asked
from analysis.drawings.settings import MOST, positive, valid, whole
from analysis.errors import AnalysisError
from analysis.feitelson1996.drawings import engine
from analysis.figures import style
from sweep.policy_names import label

MATRIX = {
    **SOURCE,
    "policy": "buddy",
    "workload": "feitelson1996",
    "load": "0.9",
    "jobs": "100000",
    "alternation": "",
    "time": "500",
    "slots": "0",
}


def matrix(settings: Mapping[str, str]) -> Figure:
    """Draw the Ousterhout matrix at a moment of a simulation, the same as an experiment's with that seed.

    Several policies are drawn side by side, with the same jobs.
    """
    time, names = positive(settings, "time"), [name for name in settings["policy"].split(",") if name]
    for name in names:
        if parameters("policy", name, user=settings.get("conf", ""))["family"] != "models.gang":
            raise AnalysisError(
                f"policy={name}: it has no Ousterhout matrix; give a packing scheme, e.g. buddy"
            )
    points = [asked({**settings, "policy": name}) for name in names or [""]]
    states = [valid(engine.state_of, point, time)[0] for point in points]
    n_slots, n_pes = max(len(state.mapped) for state in states), states[0].mapped.shape[1]
    if n_slots == 0:
        raise AnalysisError(f"no job is in the system at time {time:g}: try another time=, or a higher load=")
    if n_pes > MOST:
        raise AnalysisError(f"machine={points[0].machine['name']}: too many PEs to draw; give up to {MOST}")
    n_slots = max(n_slots, whole(settings, "slots", 0))
    width = 7.4 if len(states) == 1 else 4.2 * len(states)
    figure = Figure(figsize=(width, 0.3 * n_slots + 1.3), layout="constrained")
    places = figure.subplots(1, len(states), sharey=True, squeeze=False).ravel()
    for axes, point, state in zip(places, points, states, strict=True):
        jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
        load = "" if point.load is None else f"load {point.load:g}, "
        title = f"{label(point.policy['name'])}: {jobs} jobs in {len(state.mapped)} slots on {n_pes} PEs"
        if len(states) == 1:
            title = (
                f"{label(point.policy['name'])}, {load}time {time:g}, alternation "
                f"{point.policy['alternation']}: {jobs} jobs in {len(state.mapped)} slots on {n_pes} PEs "
                "(hatched: runs here too)"
            )
        draw_matrix(axes, state, title)
        axes.set_ylim(n_slots, 0)
    if len(states) > 1:
        style.put_headline(figure, f"The same jobs, {load}time {time:g} (hatched: runs here too)")
    return figure
