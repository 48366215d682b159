"""The Ousterhout matrix from the simulator: ``draw matrix policy=buddy time=500``, and ``draw fig9``.

The kernels are imported inside the functions: a report whose figures need none does not wait for them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.claims import Fact
from analysis.drawings.composition import parameters
from analysis.drawings.matrix import FREE, MatrixState, alternates, draw_matrix
from analysis.drawings.scene import MOST, SOURCE, asked, instant, positive, valid, whole
from analysis.drawings.views import Request, View
from analysis.errors import AnalysisError
from analysis.feitelson1996.labels import AXES
from analysis.figures import style
from analysis.figures.policies import style_of
from analysis.paper import Drawing
from models.counting import counted
from models.point import Point
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
            raise AnalysisError(f"policy={name} has no Ousterhout matrix; give a packing scheme, e.g. buddy")
    points = [asked({**settings, "policy": name}) for name in names or [""]]
    states = [valid(state_of, point, time)[0] for point in points]
    n_slots, n_pes = max(len(state.mapped) for state in states), states[0].mapped.shape[1]
    if n_slots == 0:
        raise AnalysisError(f"no job is in the system at time {time:g}: try another time=, or a higher load=")
    if n_pes > MOST:
        raise AnalysisError(f"machine={points[0].machine['name']}: too many PEs to draw; the limit is {MOST}")
    n_slots = max(n_slots, whole(settings, "slots", 0))
    width = 7.4 if len(states) == 1 else 4.2 * len(states)
    figure = Figure(figsize=(width, 0.3 * n_slots + 1.3), layout="constrained")
    places = figure.subplots(1, len(states), sharey=True, squeeze=False).ravel()
    for axes, point, state in zip(places, points, states, strict=True):
        jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
        where = f"{counted(jobs, 'job')} in {counted(len(state.mapped), 'slot')} on {counted(n_pes, 'PE')}"
        load = "" if point.load is None else f"load {point.load:g}, "
        title = f"{label(point.policy['name'])}: {where}"
        if len(states) == 1:
            title = (
                f"{label(point.policy['name'])}, {load}time {time:g}, alternation "
                f"{point.policy['alternation']}: {where} "
                "(hatched: runs here too)"
            )
        draw_matrix(axes, state, title)
        axes.set_ylim(n_slots, 0)
    if len(states) > 1:
        style.put_headline(figure, f"The same jobs, {load}time {time:g} (hatched: runs here too)")
    return figure


def state_of(point: Point, time: float | None = None) -> tuple[MatrixState, float]:
    """Return the matrix in a point's own run, and when that is.

    Parameters
    ----------
    time : float, optional
        In the workload's unit; by default the end of the first measured batch.

    Raises
    ------
    AnalysisError
        If the run ends before that time.
    """
    from models.gang.model import prepare
    from models.packing.driver import TIME_REACHED

    simulation = prepare(point)
    if time is None:
        simulation.run(min(point.batches.warmup + 1, point.batches.most))
    elif simulation.run(point.batches.most, until=time) != TIME_REACHED:
        raise AnalysisError(f"time={time:g}: this run ends at {simulation.now:.0f}; give a time before that")
    mapped = simulation.occupancy()
    return matrix_state(mapped, point.policy["alternation"], point.policy["precedence"]), simulation.now


def matrix_state(mapped: np.ndarray, alternation: str, precedence: str) -> MatrixState:
    """Return the matrix with the foreign slots in which jobs run."""
    jobs = [int(job) for job in np.unique(mapped) if job >= 0]  # numbered by arrival
    sign: Mapping[str, int] = {"arrival": 0, "largest": -1, "smallest": 1}
    size: dict[int, Any] = {job: int((mapped == job).sum()) for job in jobs}
    order = sorted(jobs, key=lambda job: (sign[precedence] * size[job], job))
    return MatrixState(mapped, alternates(mapped, alternation, order))


N_PES = 8
SIZES = (5, 4, 6, 2, 3)
SCHEMES = ("best_fit", "min_max_load")
ENDS_FIRST = 1  # the job of size 4
ALTERNATION = AXES.features["alternation"]

MOMENTS = ("after the third job", "after all five", "after the job of size 4 has ended")


@cache
def states_of(scheme: str, alternation: str) -> tuple[MatrixState, ...]:
    """Return the matrix at each of `MOMENTS`.

    Jobs arrive at times 1 to 5. The one of size 4 needs 4 time units, so it ends after the last arrival
    however many slots it runs in; the others outlast the example.
    """
    from models.gang.policies import Rules
    from models.gang.simulation import Simulation
    from models.jobs.jobs import Jobs

    n = len(SIZES)
    runtimes = np.full(n, 1e6)
    runtimes[ENDS_FIRST] = 4.0
    no, sizes = np.zeros(n, np.int64), np.array(SIZES, np.int64)
    jobs = Jobs(np.arange(1.0, n + 1), runtimes, np.full(n, np.nan), sizes, no)
    policy = parameters("policy", f"gang/{scheme}", {"alternation": alternation})
    simulation, found = Simulation(Rules.of(policy), N_PES, iter([jobs])), []
    for moment in (3.5, 5.5, 100.0):
        simulation.run(1, until=moment)
        found.append(matrix_state(simulation.occupancy(), alternation, "arrival"))
    return tuple(found)


def facts(alternation: str = ALTERNATION) -> Mapping[str, Sequence[Fact]]:
    """Return the paper's statements on the example, checked on the engine's states, by name of the claim."""
    (fit_third, _, fit_end), (load_third, _, load_end) = (states_of(name, alternation) for name in SCHEMES)
    fit_loads, load_loads = pe_loads(fit_third), pe_loads(load_third)
    runners = [SIZES[job] for job in range(len(SIZES)) if job != ENDS_FIRST and load_end.slots_of(job) > 1]
    full = int((fit_end.mapped != FREE).all(axis=1).sum())
    return {
        "4.2-fig9-balance": [
            Fact(
                f"minimal maximum load: at most 2 jobs on a PE (found {load_loads.max()})",
                load_loads.max() <= 2,
            ),
            Fact(f"best fit: 3 jobs on some PE (found {fit_loads.max()})", fit_loads.max() == 3),
            Fact(
                f"best fit: some PE idle (found {int((fit_loads == 0).sum())} idle)",
                bool((fit_loads == 0).any()),
            ),
        ],
        "4.2-fig9-end": [
            Fact(
                f"best fit: two slots, both full (found {len(fit_end.mapped)} slots, {full} full)",
                len(fit_end.mapped) == full == 2,
            ),
            Fact(
                f"minimal maximum load: three slots (found {len(load_end.mapped)})", len(load_end.mapped) == 3
            ),
            Fact(
                f"minimal maximum load: only the job of size 2 runs in more slots (found sizes {runners})",
                runners == [2],
            ),
        ],
    }


def pe_loads(state: MatrixState) -> np.ndarray:
    """Return the number of jobs mapped to each PE, shape (n_pes,)."""
    return (state.mapped != FREE).sum(axis=0)


def draw_fig9(settings: Mapping[str, str] | None = None) -> Figure:
    """Draw three moments under both schemes, six matrices."""
    figure = Figure(figsize=(7.4, 4.3), layout="constrained")
    names = {job: f"{size}" for job, size in enumerate(SIZES)}
    rows = figure.subplots(len(SCHEMES), len(MOMENTS), sharex=True)
    for scheme, row in zip(SCHEMES, rows, strict=True):
        for axes, moment, state in zip(row, MOMENTS, states_of(scheme, ALTERNATION), strict=True):
            draw_matrix(axes, state, moment, names)
            axes.set_ylim(3, 0)  # all have the same height, so that a missing slot is visible
        row[0].set_ylabel(f"{style_of(scheme).label}\n\nSlot")
    for axes in rows[0]:
        axes.set_xlabel("")
    for row in rows:
        for axes in row[1:]:
            axes.set_ylabel("")
    key = [
        Patch(
            facecolor="#dddddd",
            edgecolor="#333333",
            label="job of that size in the slot to which it is mapped",
        ),
        Patch(facecolor="white", edgecolor="#999999", hatch="////", label="also runs here (alternate)"),
    ]
    style.key_below(figure, key, 2)
    style.put_headline(figure, "Jobs of sizes 5, 4, 6, 2, 3 on 8 PEs")
    return figure


DRAWINGS = {
    "fig9": Drawing(
        draw_fig9, {}, "Fig. 9: sizes 5, 4, 6, 2, 3 on 8 PEs under best fit and minimal maximum load"
    ),
    "matrix": Drawing(
        matrix,
        MATRIX,
        "the Ousterhout matrix at a moment of a simulation; policy=buddy,migration draws two side by side",
    ),
}


MOST_SLOTS = 60
"""Slots of a matrix that the explorer draws."""


def matrix_of_point(request: Request) -> Figure:
    """Draw the Ousterhout matrix at a moment."""
    state, time = state_of(request.point, instant(request.begin, "from") if request.begin else None)
    n_slots, n_pes = state.mapped.shape
    if not n_slots:
        raise AnalysisError(f"no job is in the system at {time:g} s: give another time")
    if n_slots > MOST_SLOTS:
        raise AnalysisError(f"{n_slots} slots at {time:g} s are too many for a picture: give an earlier time")
    figure = Figure(figsize=(8.4, 0.3 * n_slots + 1.4), layout="constrained")
    jobs = len(set(state.mapped[state.mapped != FREE].tolist()))
    draw_matrix(
        figure.subplots(),
        state,
        f"{request.title}, at {time:,.0f} s: {counted(jobs, 'job')} in {counted(n_slots, 'slot')} on "
        f"{counted(n_pes, 'PE')} (hatched: runs here too)",
    )
    return figure


VIEWS = {
    "matrix": View(
        "Ousterhout matrix at a moment",
        lambda policy: policy.get("family") == "models.gang",
        matrix_of_point,
        window=False,
    )
}
