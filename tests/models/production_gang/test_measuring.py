"""What a run has beyond its schedule, by hand: when jobs begin, which are delayed, weekends without work."""

import numpy as np
import pytest
from family_cases import jobs_of

from models.jobs.calendar import DAY, WEEK
from models.jobs.division import Division
from models.jobs.job_classes import INTERACTIVE, PRODUCTION
from models.jobs.machine import pool
from models.production_gang.measuring import of_run
from models.production_gang.metrics import METRICS
from models.production_gang.systems import Levels, Run

HOUR = 3600.0


def run(clock: float = 0.0, share: float = 0.06) -> Run:
    """Return ten processors: five interactive jobs at 9:00 on Monday, and a job of a day on Saturday."""
    submit = np.array([9 * HOUR] * 5 + [5 * DAY])
    start = submit + np.array([0, 10, 11, 60, 61, 0])
    runtime = np.array([7200.0, 5, 5, 5, 10, DAY])
    job_class = np.array([INTERACTIVE] * 5 + [PRODUCTION])
    jobs = jobs_of(submit, runtime, [1, 1, 1, 1, 1, 10], job_class=job_class)
    end = start + runtime
    end[0] += share * runtime[0]  # it is preempted for that long
    waited = end - submit - runtime
    nothing = np.zeros(1)
    levels = Levels(np.zeros(1), nothing, nothing, nothing)
    return Run(
        jobs, pool(10), start, end, np.zeros(6, np.int64), waited=waited,
        levels=levels, preemptions=np.array([1, 0, 0, 0, 0, 0]), clock=clock,
    )  # fmt: skip


def measured(clock: float = 0.0) -> dict[str, np.ndarray]:
    made = run(clock)
    division = Division(slice(None), np.zeros(6, np.int64), np.array([0.0, WEEK]))
    return of_run(made, division, np.array([0.0, WEEK]))


def test_jobs_that_begin_within_seconds_are_those_by_the_hour_of_their_submission() -> None:
    found = measured()
    assert found["interactive_jobs_by_hour"][0, 9] == 5
    assert found["interactive_begun_10s_by_hour"][0, 9] == pytest.approx(2 / 5)
    assert found["interactive_begun_60s_by_hour"][0, 9] == pytest.approx(4 / 5)
    assert found["interactive_preempted_by_hour"][0, 9] == pytest.approx(1 / 5)
    assert np.isnan(found["interactive_begun_10s_by_hour"][0, 10])


def test_a_job_is_delayed_from_five_percent_on() -> None:
    """Of two hours 6 % are too much; of jobs of five seconds any wait is, as of one of ten."""
    found = measured()
    assert found["interactive_jobs_by_length"][0].tolist() == [3, 1, 0, 0, 1]
    assert found["interactive_undelayed_by_length"][0].tolist()[0] == 0
    assert found["interactive_undelayed_by_length"][0].tolist()[4] == 0
    made = run(share=0.04)
    division = Division(slice(None), np.zeros(6, np.int64), np.array([0.0, WEEK]))
    again = of_run(made, division, np.array([0.0, WEEK]))
    assert again["interactive_undelayed_by_length"][0, 4] == 1


def test_a_weekend_with_a_job_of_one_of_its_days_is_half_without_work() -> None:
    """On weekdays five jobs have 7,632 + 3 x 5 + 10 processor seconds of 10 x 5 days."""
    found = measured()
    assert found["no_work_weekends"][0] == pytest.approx(0.5)
    assert found["no_work_weekdays"][0] == pytest.approx(1 - 7657 / (50 * DAY))


def test_days_of_a_batch_count_for_their_time_in_it() -> None:
    """The second batch has an hour of Friday and the weekend; both together have what one batch has."""
    made, whole = run(), measured()
    edges = np.array([0.0, 5 * DAY - HOUR, WEEK])
    division = Division(slice(None), np.array([0, 0, 0, 0, 0, 1]), edges)
    found = of_run(made, division, edges)
    weights = {metric.name: metric.weight for metric in METRICS}
    assert found["weekdays"].tolist() == [5 * DAY - HOUR, HOUR]
    assert found["weekends"].tolist() == [0, 2 * DAY]
    for name in ("no_work_weekdays", "no_work_weekends"):
        weight = found[weights[name]]
        both = np.nansum(found[name] * weight) / weight.sum()
        assert both == pytest.approx(whole[name][0])
