"""Figs. 8 and 10 to 13, and the same curves where the paper shows none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.feitelson1996.labels import (
    SLOTS_PER_JOB,
    SLOWDOWN,
    UNIFICATIONS,
    USED_SLOTS,
    UTILIZATION,
    YLABELS,
)
from analysis.figures import load_plot
from analysis.figures.load_plot import Line, LoadPlot, bars
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.curve import EXCLUDED

SLOWDOWN_RANGE = (0.0, 10.0)
"""The range of Figs. 8, 12 and 13."""

REFERENCE = "best_fit"
"""The scheme to which the others are compared: the best of the simple ones, as the conclusions have it."""

FOOTNOTE_5 = "Migration is not plotted: without unifications it would not be migration (paper, footnote 5)."


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures that are curves over the load, as far as the grid has their points."""
    usual = study.usual()
    yield _picture(study, "fig8", "Slowdown", SLOWDOWN, ylim=SLOWDOWN_RANGE)
    if REFERENCE in study.policies:
        yield Picture(
            "fig8-relative",
            "Fig. 8 relative to best fit",
            "Ratio of each scheme's slowdown to that of best fit, from paired batches under the same "
            "sequence of jobs. What all schemes have in common cancels, so differences too small for "
            "Fig. 8 can be told.",
            partial(_relative, study),
        )
    yield _picture(study, "fig10", "Slot unifications", UNIFICATIONS, ylim=(0, None), scale=100)
    yield _picture(study, "fig11", "Slots in which each job runs", SLOTS_PER_JOB)
    if study.values_of("unification") and "false" in study.values_of("unification"):
        yield _picture(study, "fig12", "Slowdown without slot unification", SLOWDOWN, ylim=SLOWDOWN_RANGE,
                       features={"unification": "false"}, without=("migration",))  # fmt: skip
    for value, figure, title in (
        ("none", "fig13", "Slowdown without alternative scheduling"),
        ("exclusive", "exclusive", "Slowdown under exclusive alternation"),
    ):
        if value in study.values_of("alternation") and usual["alternation"] != value:
            yield _picture(
                study, figure, title, SLOWDOWN, ylim=SLOWDOWN_RANGE, features={"alternation": value}
            )
    yield _picture(study, "utilization", "Utilization", UTILIZATION, scale=100,
                   guides={90.0: "90 %", 95.0: "95 %"}, from_load=0.7)  # fmt: skip
    yield _picture(study, "used-slots", "Used slots", USED_SLOTS, ylim=(0, None))


CAPTIONS = {
    "fig8": "Mean slowdown (response time over runtime) of the terminated jobs over the offered load.",
    "fig10": "Share of job terminations that led to the unification of two slots. For migration (footnote "
    "4): terminations after which re-mapping needs fewer slots, unless the job was alone in its slot.",
    "fig11": "Average number of slots in which a job runs, the slot to which it is mapped included.",
    "fig12": f"As Fig. 8, but slots are never united. {FOOTNOTE_5}",
    "fig13": "As Fig. 8, but jobs run only in the slot to which they are mapped.",
    "exclusive": "As Fig. 8, but a PE of a slot serves one job only: the physically strict reading of "
    "alternative scheduling. The paper has no such figure.",
    "utilization": "Delivered PE time over capacity, at the loads where it can reach the 90 % and 95 % of "
    "section 4.2. The paper has no such figure.",
    "used-slots": "Time average of the number of used slots. The paper has no such figure.",
}


def _picture(
    study: Study,
    name: str,
    title: str,
    metric: str,
    *,
    ylim: tuple[float | None, float | None] = (None, None),
    features: dict[str, str] | None = None,
    without: tuple[str, ...] = (),
    scale: float = 1.0,
    guides: Mapping[float, str] | None = None,
    from_load: float = 0.0,
) -> Picture:
    number = f"Fig. {name[3:]}" if name.startswith("fig") else ""
    full_title = f"{number}: {title}" if number else title
    policies = [policy for policy in study.policies if policy not in without]

    def draw() -> Figure:
        curves = {policy: study.curve(metric, policy, **features or {}) for policy in policies}
        curves = {policy: curve for policy, curve in curves.items() if not curve.where(EXCLUDED).all()}
        if not curves:
            raise DrawingError("its points are not in this grid")
        note = f"{FOOTNOTE_5}\n{bars(study)}" if name == "fig12" else bars(study)
        upper = {policy: curve.above(from_load) for policy, curve in curves.items()}
        if any(curve.shown.any() for curve in upper.values()):
            curves = upper
        lines = {policy: Line.of(curve) for policy, curve in curves.items()}
        plot = LoadPlot(lines, YLABELS[metric], title, _range(lines, ylim), note, guides or {}, scale)
        return load_plot.draw(plot)

    return Picture(name, full_title, CAPTIONS[name], draw)


def _range(
    lines: dict[str, Line], ylim: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    """Return the paper's range of slowdowns, or a smaller one where all curves stay far below."""
    if ylim != SLOWDOWN_RANGE:
        return ylim
    highest = max(
        (float(line.mean[line.drawn].max()) for line in lines.values() if line.drawn.any()), default=10.0
    )
    return 0.0, min(10.0, max(4.0, 1.15 * highest))


def _relative(study: Study) -> Figure:
    reference = study.curve(SLOWDOWN, REFERENCE)
    curves = {policy: study.curve(SLOWDOWN, policy) for policy in study.policies}
    lines = {policy: Line.ratio(curve, reference) for policy, curve in curves.items() if policy != REFERENCE}
    if not any(line.drawn.any() for line in lines.values()):
        raise DrawingError("no load has been run at which best fit and another scheme are stable")
    return load_plot.draw(
        LoadPlot(
            lines,
            "Slowdown / slowdown of best fit",
            "Slowdown relative to best fit",
            note=bars(study),
            guides={1.0: "best fit"},
        )
    )
