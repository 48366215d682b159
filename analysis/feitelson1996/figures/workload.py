"""Fig. 7: a sample of the workload model, with the parameters and the seed of the dataset."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from analysis.errors import DrawingError
from analysis.feitelson1996.labels import KEY, MACHINE_SIZE
from analysis.feitelson1996.logs import count_by_powers, mean_by_size
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.style import ACCENT, NEUTRAL
from analysis.paper import Picture
from analysis.study import Study
from sweep.plan.task import seed

N_JOBS = 30_000
"""Jobs that are drawn from the model, each with the number of its runs: the first ones of the study itself,
as many as the paper's thirty experiments measure."""

SMALL = 0.02
"""Share of the highest bar up to which the inset shows the others."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield Fig. 7 if the study's workload is the paper's model."""
    if study.parameters("workload").get("model") == "feitelson1996":
        yield from captioned(KEY, study, {"fig7": draw}, jobs=N_JOBS, few=FEW)


def draw(study: Study) -> Figure:
    """Draw the three panels of Fig. 7."""
    from models.workloads import feitelson1996 as model

    workload, machine = study.parameters("workload"), study.parameters("machine")
    if MACHINE_SIZE not in machine:
        raise DrawingError("the dataset does not give its machine's number of PEs")
    n_pes = machine[MACHINE_SIZE]
    seed_of_first = seed(int(study.settings.get("seed", 1)), workload["name"], 0)
    chunks = model.standard_sessions({**workload, "repetition": model.FEEDBACK}, n_pes, seed_of_first)
    sample = _first(chunks, N_JOBS)
    figure, (histogram, correlation, runs) = style.page(7.4, 2.9, 1, 3)
    counts = np.bincount(sample["size"], minlength=n_pes + 1)[1:]
    _draw_sizes(histogram, counts)
    histogram.set(title="Sizes", xlabel="Job size (PEs)", ylabel=f"Jobs of {N_JOBS:,}")
    inset = histogram.inset_axes((0.3, 0.34, 0.68, 0.6))
    _draw_sizes(inset, counts)
    inset.set_ylim(0, SMALL * counts.max())
    inset.tick_params(labelsize=6.5)
    inset.patch.set_edgecolor("#bbbbbb")

    sizes = np.arange(1, n_pes + 1)
    drawn, mean, number = mean_by_size(sample["size"], sample["runtime"])
    square = mean_by_size(sample["size"], sample["runtime"] ** 2)[1]
    enough = number >= FEW
    error = NORMAL_95 * np.sqrt(np.maximum(square - mean**2, 0)[enough] / number[enough])
    correlation.errorbar(
        drawn[enough],
        mean[enough],
        error,
        fmt="o",
        color=NEUTRAL,
        ms=3,
        elinewidth=0.8,
        capsize=0,
        label="sample",
    )
    correlation.plot(sizes, model.mean_runtimes(workload, n_pes), color=ACCENT, label="model", zorder=3)
    correlation.set(
        title="Runtimes", xlabel="Job size (PEs)", ylabel="Mean runtime (time units)", xlim=(0, None),
        ylim=(0, None),
    )  # fmt: skip
    correlation.legend(loc="upper right", handlelength=1.2, fontsize=7.5)

    lengths, times = np.unique(sample["runs"], return_counts=True)
    expected = N_JOBS * model.run_length_probabilities(workload)
    runs.loglog(lengths, times, "o", ms=2.8, color=NEUTRAL)
    runs.loglog(np.arange(1, len(expected) + 1), expected, color=ACCENT, linewidth=1.1)
    runs.set(title="Run lengths", xlabel="Run length", ylabel=f"Jobs of {N_JOBS:,}", ylim=(0.7, None))
    count_by_powers(runs)
    return figure


def _first(chunks: Iterator[dict[str, np.ndarray]], n: int) -> dict[str, np.ndarray]:
    """Return the first jobs of consecutive chunks, column by column."""
    taken = [next(chunks)]
    while sum(len(chunk["size"]) for chunk in taken) < n:
        taken.append(next(chunks))
    return {name: np.concatenate([chunk[name] for chunk in taken])[:n] for name in taken[0]}


NORMAL_95 = 1.96
"""Half of the width of a 95 % interval of a mean of many values, in standard errors."""

FEW = 10
"""Number of jobs of a size below which its mean runtime is mostly noise."""


def _draw_sizes(axes: Axes, counts: np.ndarray) -> None:
    sizes = np.arange(1, len(counts) + 1)
    power = sizes & (sizes - 1) == 0
    for chosen, width, color in ((~power, 1.0, NEUTRAL), (power, 1.6, ACCENT)):
        _draw_bars(axes, sizes[chosen], counts[chosen], width, color)
    axes.set_xlim(0, len(counts) + 2)
    axes.grid(visible=False, axis="x")


def _draw_bars(axes: Axes, x: np.ndarray, heights: np.ndarray, width: float, color: str) -> None:
    """Draw bars as one path: `Axes.bar` makes a patch of each, a fifth of the figure's time."""
    left, right, none = x - width / 2, x + width / 2, np.zeros_like(heights)
    corners = [(left, none), (right, none), (right, heights), (left, heights)]
    outlines = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    bars = PathPatch(Path.make_compound_path_from_polys(outlines), facecolor=color, linewidth=0, snap=True)
    bars.sticky_edges.y.append(0)
    axes.add_patch(bars)
    axes.autoscale_view()
