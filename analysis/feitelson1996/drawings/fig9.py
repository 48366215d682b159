"""Fig. 9: how mapping to the least loaded PEs fragments, run on the engine."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.claims import Fact
from analysis.drawings.matrix import FREE, MatrixState, draw_matrix
from analysis.feitelson1996.drawings.engine import states
from analysis.feitelson1996.labels import AXES
from analysis.figures import style
from analysis.figures.policies import look

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
    runtimes = np.full(len(SIZES), 1e6)
    runtimes[ENDS_FIRST] = 4.0
    return states(scheme, N_PES, SIZES, runtimes, (3.5, 5.5, 100.0), alternation)


def facts(alternation: str = ALTERNATION) -> Mapping[str, Sequence[Fact]]:
    """Return what the paper says of the example, checked on the engine's states, by name of the claim."""
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
    loads: np.ndarray = (state.mapped != FREE).sum(axis=0)
    return loads


def draw(settings: Mapping[str, str] | None = None) -> Figure:
    """Draw three moments under both schemes, six matrices."""
    figure = Figure(figsize=(7.4, 4.3), layout="constrained")
    names = {job: f"{size}" for job, size in enumerate(SIZES)}
    rows = figure.subplots(len(SCHEMES), len(MOMENTS), sharex=True)
    for scheme, row in zip(SCHEMES, rows, strict=True):
        for axes, moment, state in zip(row, MOMENTS, states_of(scheme, ALTERNATION), strict=True):
            draw_matrix(axes, state, moment, names)
            axes.set_ylim(3, 0)  # the same height everywhere, so that a slot less is seen
        row[0].set_ylabel(f"{look(scheme).label}\n\nSlot")
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
    figure.legend(handles=key, loc="outside lower center", ncols=2)
    style.put_headline(figure, "Jobs of sizes 5, 4, 6, 2, 3 on 8 PEs")
    return figure
