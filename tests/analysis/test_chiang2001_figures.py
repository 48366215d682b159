"""Every figure of the Origin 2000 experiments draws, whatever state the dataset is in, and shows its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricated_chiang2001 import EXPERIMENTS, LEVELS, PRESSURE, dataset
from matplotlib.figure import Figure

from analysis.chiang2001 import PAPER
from analysis.chiang2001.figures.backfill import month_of_jobs
from analysis.chiang2001.figures.panels import sample
from analysis.chiang2001.labels import AVERAGE, AXES, HOUR, JANUARY, MONTHS, NOVEMBER, short_month
from analysis.errors import DrawingError
from analysis.figures import style
from analysis.study import Study
from analysis.study.sample import together
from models.workloads.o2k.table4 import TABLE_4

NAMES = {
    "o2k_backfill": ["fig3", "fig4", "fig5", "fig5-months", "fig6", "fig7", "fig7-runtimes"],
    "o2k_immediate": ["fig8", "fig8-not-shown", "fig8-runtimes"],
    "o2k_equipartition": ["fig9", "fig9-months", "fig10", "fig10-all"],
    "o2k_workload": ["table4-1", "table4-2", "fig1", "fig2"],
}
OF_THE_MODEL = "fig4"
"""Needs the policy's own run."""


def study(name: str, **made: Any) -> Study:
    return Study(dataset(name, **made).squeeze("machine"), Path("results") / name, axes=AXES)


def draw(found: Study, *names: str, render: bool = False) -> dict[str, Figure]:
    """Return the figures that can be drawn, but those for which policies would have to be run."""
    figures = {}
    with style.styled():
        for picture in PAPER.pictures(found, None):
            if picture.name == OF_THE_MODEL or (names and picture.name not in names):
                continue
            try:
                figures[picture.name] = picture.draw()
            except DrawingError:
                continue
            if render:
                # Layout takes most of the time, and draws as well as without.
                figures[picture.name].set_layout_engine(None)
                figures[picture.name].draw_without_rendering()
    return figures


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_figures_draw_and_have_units(name: str) -> None:
    found = study(name)
    pictures = PAPER.pictures(found, None)
    assert [picture.name for picture in pictures] == NAMES[name]
    assert all(picture.title and picture.caption for picture in pictures)
    drawn = draw(found, render=True)
    assert set(drawn) == set(NAMES[name]) - {OF_THE_MODEL}
    for key, figure in drawn.items():
        shown = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
        assert all(axes.get_xlabel() or axes.get_shared_x_axes() for axes in shown), key
        assert any(axes.get_ylabel() for axes in shown) or key.startswith("table"), key


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_figures_of_half_a_run_draw_or_say_why_not(name: str) -> None:
    draw(study(name, unfinished=lambda at: at["workload"] in tuple(MONTHS)[::2]))
    assert draw(study(name, unfinished=lambda at: True)) == {}


def test_each_reading_has_its_figures() -> None:
    names = [p.name for p in PAPER.pictures(study("o2k_immediate", ties=["instant", "event"]), None)]
    assert names == [f"{name}-{letter}" for letter in "AB" for name in NAMES["o2k_immediate"]]


def test_a_missing_month_is_told() -> None:
    few = study("o2k_equipartition", months=(JANUARY,))
    picture = next(p for p in PAPER.pictures(few, None) if p.name == "fig9")
    with pytest.raises(DrawingError, match="add o2k_1999_11"):
        picture.draw()
    picture = next(
        p for p in PAPER.pictures(study("o2k_backfill", months=(NOVEMBER,)), None) if p.name == "fig4"
    )
    with pytest.raises(DrawingError, match="add o2k_2000_01"):
        picture.draw()


def test_bars_of_fig_6_are_improvements_in_percent() -> None:
    (figure,) = draw(study("o2k_backfill", noise=1e-6), "fig6").values()
    average = figure.axes[0]
    easy = [patch.get_height() for patch in average.patches][: len(MONTHS)]  # type: ignore[attr-defined]
    lsf = LEVELS["ncsa_lsf"]["wait"] * np.array(list(PRESSURE.values()))
    mine = LEVELS["easy"]["wait"] * (1 + 0.1 * (np.array(list(PRESSURE.values())) - 1))
    assert easy == pytest.approx(list(100 * (1 - mine / lsf)), rel=1e-4)
    assert [label.get_text() for label in average.get_xticklabels()] == [short_month(m) for m in MONTHS]


def test_fig_3_has_the_waits_of_each_class_in_hours() -> None:
    (figure,) = draw(study("o2k_backfill", noise=1e-6), "fig3").values()
    heights = [patch.get_height() for patch in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert heights == pytest.approx([LEVELS["ncsa_lsf"]["wait"]] * 12, rel=1e-4)


def test_table_4_has_the_papers_numbers_above_the_generated_ones() -> None:
    figures = draw(study("o2k_workload"), "table4-1")
    texts = [text.get_text() for text in figures["table4-1"].axes[0].texts]
    october = TABLE_4["1999-10"]
    for number in (october.overall_jobs, *october.jobs):
        assert texts.count(f"{number:,}") >= 2
    lines = PAPER.brief(study("o2k_workload"))
    assert len(lines) == 1 + len(MONTHS) * 3 * 2
    assert lines[1].split()[-13:] == lines[2].split()[-13:]  # the numbers of jobs
    assert PAPER.brief(study("o2k_backfill")) == ()


def test_months_together_are_averaged_replication_by_replication() -> None:
    found = study("o2k_backfill")
    each = [sample(found, AVERAGE, "easy", month) for month in MONTHS]
    assert together(each).values == pytest.approx(np.mean([one.values for one in each], axis=0))
    assert each[0].interval(0.95).mean / HOUR == pytest.approx(6, rel=0.05)
    assert sample(found, AVERAGE, "easy", "o2k_2001_01").reason == "not in this grid"
    assert together([each[0], sample(found, AVERAGE, "nobody", JANUARY)]).reason == "not in this grid"


def test_a_group_without_jobs_is_left_out_of_the_average() -> None:
    found = study("o2k_backfill")
    first, second = (sample(found, AVERAGE, "easy", month) for month in (JANUARY, NOVEMBER))
    first.values[0] = np.nan
    assert together([first, second]).values[0] == second.values[0]


def test_fig_4_runs_the_policy_under_the_datasets_reading() -> None:
    """The waits that the model gives back are those from which the dataset's average was made."""
    from models.backfill import FAMILY
    from models.point import Batches, Point

    found = study("o2k_backfill", months=(JANUARY,), ties=["event", "instant"]).readings["B"]
    policy = {"discipline": "backfill", "family": "models.backfill", "ties": "event"}
    workload, machine = _january(), _origin()
    found.config["policy"]["easy"] = policy
    with_files = Study(
        found.data.assign_attrs(config=_with(found, policy, workload, machine)),
        found.folder,
        found.reading,
        axes=AXES,
    )
    wait, runtime = month_of_jobs(with_files, "easy", JANUARY)
    from sweep.plan.seeds import seed

    outcome = FAMILY.simulate(
        Point(
            {**policy, "ties": "instant"}, {**workload, "name": JANUARY}, machine,
            batches=Batches(None, 0, (1,)), seed=seed(1, JANUARY, 0),
        )
    )  # fmt: skip
    assert len(wait) == len(runtime) == TABLE_4["2000-01"].overall_jobs
    assert wait.mean() == pytest.approx(outcome.metrics["delay"][0])


def _january() -> dict[str, Any]:
    from analysis.drawings.composition import parameters

    return parameters("workload", JANUARY)


def _origin() -> dict[str, Any]:
    from analysis.drawings.composition import parameters

    return parameters("machine", "o2k")


def _with(found: Study, policy: dict[str, Any], workload: dict[str, Any], machine: dict[str, Any]) -> str:
    import json

    files = {"policy": {"easy": policy}, "workload": {JANUARY: workload}, "machine": {"o2k": machine}}
    return json.dumps({**found.config, **files})


def test_readings_say_what_was_taken_and_what_was_varied() -> None:
    rows = dict(PAPER.readings(study("o2k_backfill", ties=["instant", "event"])))
    assert rows["ties"] == "varied: instant, event"
    assert "never published" in rows["the logs"]
    rows = dict(PAPER.readings(study("o2k_backfill")))
    assert rows["policy.ties"].startswith("instant: all ends of an instant")
