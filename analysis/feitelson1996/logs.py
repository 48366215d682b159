"""Figs. 3 to 6: job sizes, runtimes and repeated runs in two logs, or from their counts without the logs.

The paper used six logs. Only one of them, from the NASA Ames iPSC/860, is published as it was; KTH's SP2
replaces the ANL SP1 and the SDSC Paragon, which are not.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter, StrMethodFormatter

from analysis.claims import Fact
from analysis.feitelson1996.labels import KEY
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.style import ACCENT, NEUTRAL
from analysis.paper import Picture
from models.counting import counted
from models.jobs import swf

COUNTED = Path(__file__).with_name("counts.json")
"""The counts of the logs in the Parallel Workloads Archive, by file."""

N_BUCKETS = 10
"""Section 3.2: "dividing the jobs into 10 buckets according to size"."""

RARE_RUNS = 5
"""Run lengths seen fewer times are the "outliers that appear only a small number of times" of section 3.3;
the paper does not define a small number."""


@dataclass(frozen=True, eq=False)
class Source:
    """A log that the figures use.

    Parameters
    ----------
    file : str
        Name in the archive.
    exclude : dict of str to int
        Rows that are not users' jobs, as filters of `models.jobs.swf.select`.
    """

    file: str
    label: str
    n_pes: int
    exclude: dict[str, int] | None = None


# User 3 of the NASA log is a system probe: one PE, every few minutes, 24,025 times.
PROBE = {"user": 3, "processors": 1, "application": 1}
NASA = Source("NASA-iPSC-1993-3.swf.gz", "NASA Ames iPSC/860", 128, PROBE)
KTH = Source("KTH-SP2-1996-2.swf.gz", "KTH SP2", 100)

SMALL = 8
"""Nodes of a small job, the threshold of section 2.2."""

ORDER = (2.1, 2.3)
"""Harmonic orders that are "around 2.2"."""

LOGS = (NASA, KTH)
"""The logs in the order of every figure: the paper's own first."""

IN_PLACE = "KTH SP2 in place of the ANL SP1 and SDSC Paragon logs, which are out of reach."


@dataclass(frozen=True, eq=False)
class Counts:
    """What the figures show of a log, without system probes.

    Parameters
    ----------
    note : str
        What was left out.
    sizes, jobs, mean : ndarray, shape (n_sizes,)
        The sizes that occur, the number of jobs of each and their mean runtime in seconds.
    buckets : ndarray, shape (2, N_BUCKETS)
        Mean size and mean runtime of the parallel jobs, see `buckets`.
    lengths, runs : ndarray, shape (n_lengths,)
        The lengths of runs of repeated executions, and how often each occurs.
    named : bool
        Whether the log names programs; if not, a run has the same user and the same size.
    """

    note: str
    sizes: np.ndarray
    jobs: np.ndarray
    mean: np.ndarray
    buckets: np.ndarray
    lengths: np.ndarray
    runs: np.ndarray
    named: bool


@cache
def load(folder: Path | None, source: Source) -> Counts:
    """Count a log, or take the counts that ship with the project where the log is not in the folder."""
    path = None if folder is None else folder / source.file
    if path is not None and path.is_file():
        return count(path, source)
    shipped = json.loads(COUNTED.read_text(encoding="utf-8"))[source.file]
    known: dict[str, Any] = {key: np.array(x) if isinstance(x, list) else x for key, x in shipped.items()}
    return Counts(**known)


def count(path: Path, source: Source) -> Counts:
    """Count a log: `COUNTED` holds these counts of the logs of the archive."""
    log = swf.read(path)
    selection = swf.select(log, source.n_pes, swf.Filters(exclude=source.exclude))
    probe = sum(rows for reason, rows in selection.dropped.items() if "user" in reason)
    other = sum(selection.dropped.values()) - probe
    left_out = []
    if probe:
        left_out.append(f"{counted(probe, 'row')} of a system probe (user 3, 1 PE)")
    if other:
        left_out.append(f"{counted(other, 'row')} without a runtime or size")
    note = f"{source.label}: {counted(selection.kept, 'job')}" + (
        f", without {' and '.join(left_out)}" if left_out else ""
    )
    user, application = (log.columns[name][selection.rows] for name in ("user", "application"))
    size, runtime = selection.size, selection.runtime
    sizes, mean, jobs = mean_by_size(size, runtime)
    named = bool((application >= 0).any())
    lengths, runs = np.unique(swf.run_lengths(user, application if named else -1, size), return_counts=True)
    of_buckets = np.array(buckets(size[size > 1], runtime[size > 1]))
    return Counts(note, sizes, jobs, mean, of_buckets, lengths, runs, named)


def pictures(folder: Path | None) -> Iterator[Picture]:
    """Yield the figures of section 3.1 to 3.3."""
    drawn = {"fig3": _sizes, "fig4": _nasa_runtimes, "fig5": _bucket_runtimes, "fig6": _run_lengths}
    return captioned(KEY, None, drawn, subject=folder, in_place=IN_PLACE, buckets=N_BUCKETS, rare=RARE_RUNS)


def buckets(size: np.ndarray, runtime: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean size and mean runtime of buckets of equally many jobs in order of size (section 3.2).

    Parameters
    ----------
    size, runtime : ndarray, shape (n_jobs,)

    Returns
    -------
    mean_size, mean_runtime : ndarray, shape (N_BUCKETS,)
    """
    order = np.argsort(size, kind="stable")
    parts = np.array_split(order, N_BUCKETS)
    return np.array([size[p].mean() for p in parts]), np.array([runtime[p].mean() for p in parts])


def mean_by_size(size: np.ndarray, runtime: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sizes that occur, the mean runtime of each, and the number of jobs of each."""
    sizes, where, counts = np.unique(size, return_inverse=True, return_counts=True)
    return sizes, np.bincount(where, weights=runtime) / counts, counts


def zipf_order(lengths: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return the order, and log10 of C, of counts = C / length^order: linear regression in log-log scale."""
    slope, constant = np.polyfit(np.log10(lengths), np.log10(counts), 1)
    return -float(slope), float(constant)


def facts() -> dict[str, list[Fact]]:
    """Return section 3's statements on logs, tested on the counts of both: the sizes, the runtimes, the
    runs."""
    made: dict[str, list[Fact]] = {"small": [], "powers": [], "longer": [], "order": []}
    for source in LOGS:
        found = load(None, source)
        parallel = found.sizes > 1
        jobs, power = found.jobs[parallel], found.sizes[parallel] & (found.sizes[parallel] - 1) == 0
        small, share = (
            found.jobs[found.sizes <= SMALL].sum() / found.jobs.sum(),
            jobs[power].sum() / jobs.sum(),
        )
        made["small"].append(
            Fact(f"{source.label}: {small:.0%} of the jobs have up to {SMALL} nodes", small > 0.5)
        )
        made["powers"].append(Fact(f"{source.label}: {share:.0%} of the parallel jobs", share > 0.5))
        first, last = (half.mean() for half in np.array_split(found.buckets[1], 2))
        text = f"{source.label}: {first:,.0f} s in the lower five buckets, {last:,.0f} s in the upper five"
        made["longer"].append(Fact(text, last > first))
    nasa = load(None, NASA)
    used = nasa.runs >= RARE_RUNS
    order, _ = zipf_order(nasa.lengths[used], nasa.runs[used])
    low, high = ORDER
    made["order"].append(
        Fact(f"{NASA.label}: order {order:.2f} (required: {low} to {high})", low <= order <= high)
    )
    return made


def _of_both(
    folder: Path | None, draw: Callable[[Axes, Source, Counts], None], extra: str = IN_PLACE
) -> Figure:
    """Draw both logs side by side."""
    found = [load(folder, source) for source in LOGS]
    figure = Figure(figsize=(7.4, 3.3), layout="constrained")
    for axes, source, jobs in zip(figure.subplots(1, 2), LOGS, found, strict=True):
        draw(axes, source, jobs)
    _note(figure, *found, extra=extra)
    return figure


def _note(figure: Figure, *sources: Counts, extra: str = "") -> None:
    text = "\n".join([*(source.note for source in sources), *([extra] if extra else [])])
    style.put_note(figure, text)


def _sizes(folder: Path | None) -> Figure:
    def draw(axes: Axes, source: Source, found: Counts) -> None:
        sizes, counts = found.sizes, found.jobs
        power = sizes & (sizes - 1) == 0
        axes.bar(sizes[~power], counts[~power], width=1.0, color=NEUTRAL)
        axes.bar(sizes[power], counts[power], width=1.0, color=ACCENT)
        axes.set(title=source.label, xlabel="Job size (PEs)", ylabel="Jobs", xlim=(0, source.n_pes + 1))
        axes.grid(visible=False, axis="x")

    return _of_both(folder, draw)


def _nasa_runtimes(folder: Path | None) -> Figure:
    nasa = load(folder, NASA)
    sizes, mean, counts = nasa.sizes, nasa.mean, nasa.jobs
    figure, axes = style.page(7.4, 3.5)
    axes.plot(sizes, mean, color=ACCENT, linewidth=1, zorder=2)
    axes.scatter(sizes, mean, s=areas(counts, counts.max()), color=ACCENT, edgecolor="white", zorder=3)
    axes.legend(handles=_size_legend(counts), title="Jobs", loc="upper left", labelspacing=0.9, frameon=False)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FormatStrFormatter("%d"))
    axes.set_ylim(0, None)
    axes.set(title=NASA.label, xlabel="Job size (PEs)", ylabel="Mean runtime (s)")
    _note(figure, nasa)
    return figure


LARGEST_AREA, SMALLEST_AREA = 160.0, 4.0
"""Area of a point, in points squared: in proportion to the jobs, but large enough to be visible."""


def areas(counts: np.ndarray, most: float) -> np.ndarray:
    """Return the area of each point, for its number of jobs."""
    return np.maximum(LARGEST_AREA * np.asarray(counts) / most, SMALLEST_AREA)


def _size_legend(counts: np.ndarray) -> list[Line2D]:
    """Return points of a few round numbers of jobs, as large as those drawn."""
    most = float(counts.max())
    digit = 10 ** np.floor(np.log10(most))
    steps = np.unique(np.maximum(np.array([0.1, 0.4, 1.0]) * digit * round(most / digit), 1).astype(int))
    widths = np.sqrt(areas(steps, most))
    return [
        Line2D([], [], linestyle="none", marker="o", color=ACCENT, mec="white", ms=width, label=f"{step:,}")
        for step, width in zip(steps, widths, strict=True)
    ]


def _bucket_runtimes(folder: Path | None) -> Figure:
    def draw(axes: Axes, source: Source, found: Counts) -> None:
        parallel = found.sizes > 1
        sizes, mean = found.sizes[parallel], found.mean[parallel]
        axes.plot(sizes, mean / 1000, "o", ms=3, color="#aab2b8", label="each size")
        centre, bucket_mean = found.buckets
        axes.plot(
            centre, bucket_mean / 1000, "s-", color=ACCENT, label=f"{N_BUCKETS} buckets of equally many jobs"
        )
        axes.set(
            title=source.label,
            xlabel="Job size (PEs)",
            ylabel="Mean runtime (1000 s)",
            xlim=(0, None),
            ylim=(0, None),
        )

    figure = _of_both(folder, draw, f"Parallel jobs only. {IN_PLACE}")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2)
    return figure


def count_by_powers(axes: Axes) -> None:
    """Label each power of ten on two logarithmic axes with the number: a formula takes far longer to set."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.set_minor_locator(LogLocator(subs=tuple(range(2, 10))))
        axis.set_minor_formatter(NullFormatter())


def _run_lengths(folder: Path | None) -> Figure:
    def draw(axes: Axes, source: Source, found: Counts) -> None:
        lengths, counts, named = found.lengths, found.runs, found.named
        used = counts >= RARE_RUNS
        order, constant = zipf_order(lengths[used], counts[used])
        axes.loglog(lengths[~used], counts[~used], "o", ms=3, color="#aab2b8")
        axes.loglog(lengths[used], counts[used], "o", ms=3.6, color=ACCENT)
        span = np.array([1, lengths[used].max()])
        axes.loglog(span, 10**constant * span**-order, color="#d55e00", linewidth=1.2)
        axes.text(0.97, 0.93, f"order {order:.2f}", transform=axes.transAxes, ha="right", color="#a84400")
        axes.text(
            0.97,
            0.85,
            f"longest run {lengths.max()}",
            transform=axes.transAxes,
            ha="right",
            color="#666666",
            fontsize=8,
        )
        title = source.label if named else f"{source.label} (user and size only)"
        axes.set(title=title, xlabel="Run length", ylabel="Runs", ylim=(0.7, None))
        count_by_powers(axes)

    return _of_both(folder, draw)
