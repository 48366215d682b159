"""What is computed from the weeks of the Cray T3D: months, aggregates, ratios of sums; parts of a grid."""

import numpy as np
import pytest
from fabricated_jette1997 import WEEK, Point, t3d, used
from papers import claims, study, verdicts

from analysis.jette1997 import derived
from analysis.jette1997.labels import BENCHMARK_WEEK, DAY, FIFTEEN_MONTHS, GANG, HOUR, KEY, THREE_WEEKS


def test_what_is_said_of_months_and_weeks_is_not_asked_of_the_days_of_three_weeks() -> None:
    found = study(KEY, "llnl_t3d", workload=(THREE_WEEKS, BENCHMARK_WEEK), noise=0.0, replications=5)
    verdict = verdicts(KEY, found)
    of_months = {
        "t3d-33-percent-before", "t3d-increased-substantially", "t3d-96-percent-a-week",
        "5-95-percent-while-responsive", "t3d-no-work-on-weekends",
    }  # fmt: skip
    assert {verdict[name] for name in of_months} == {"inconclusive"}
    assert {verdict[name] for name in verdict if name not in of_months} == {"holds"}
    (claim,) = [one for one in claims(KEY, found) if one.id.endswith("33-percent-before")]
    assert all("not in this grid" in line for line in claim.evidence[1:] if line[0] in "✓✗?")
    assert claim.calibrated


def test_a_comparison_with_other_families_claims_nothing() -> None:
    assert claims(KEY, study(KEY, "llnl_compare")) == ()


def test_a_month_is_the_weeks_whose_middle_lies_in_it_weighted_by_time() -> None:
    """Of weeks from October 1, 1995, on: middles are October 4, 11, 18, 25, November 1, 8, 15, 22, 29."""
    found = study(KEY, "llnl_t3d", noise=0.0, replications=5)
    month = derived.months(found, GANG, FIFTEEN_MONTHS)
    assert month.tolist()[:10] == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    assert month.max() == 15
    at = {"policy": GANG, "workload": FIFTEEN_MONTHS}
    weeks = [used({**at, "batch": week}) for week in np.flatnonzero(month == 9)]
    sample = derived.of_months(found, "utilization", GANG, FIFTEEN_MONTHS, 9)
    assert sample.values.mean() == pytest.approx(np.mean(weeks))
    assert sample.values.shape == (5, len(weeks))


def test_weekends_of_a_month_count_for_their_time() -> None:
    """Four weeks, the last of which has a tenth of the weekend: (.1 + .2 + .3 + .1 x .9) / 3.1."""
    found = study(KEY, "llnl_t3d", noise=0.0, replications=5)
    n_weeks = int((derived.months(found, GANG, FIFTEEN_MONTHS) == 1).sum())
    at = {"policy": list(found.policies).index(GANG), "workload": 0, "batch": slice(0, n_weeks)}
    found.data["weekends"] = found.data["period"] * 2 / 7
    found.data["no_work_weekends"].attrs["weight"] = "weekends"
    found.data["weekends"][at | {"batch": 3}] *= 0.1
    found.data["no_work_weekends"][at] = np.array([0.1, 0.2, 0.3, 0.9])
    sample = derived.of_months(found, "no_work_weekends", GANG, FIFTEEN_MONTHS, 1)
    assert sample.values.mean() == pytest.approx((0.1 + 0.2 + 0.3 + 0.09) / 3.1)


def test_a_week_that_is_cut_short_counts_for_its_time_and_is_no_best_week() -> None:
    found = study(KEY, "llnl_t3d", noise=0.0, replications=5)
    at = {"policy": list(found.policies).index(GANG), "workload": 0, "batch": 64}
    found.data["period"][at] = WEEK / 7
    found.data["utilization"][at] = 1.0
    assert derived.best_week(found, GANG, FIFTEEN_MONTHS).values.max() == pytest.approx(0.98)
    month = derived.of_months(found, "utilization", GANG, FIFTEEN_MONTHS, 15)
    n = month.values.shape[1]
    assert month.values.mean() == pytest.approx((0.98 * (n - 1) + 1 / 7) / (n - 1 + 1 / 7))


def test_an_aggregate_slowdown_is_a_ratio_of_sums() -> None:
    """Two hours with 1,000 s and 100 s of runtimes and slowdowns of 1.1 and 5: (1,100 + 500) / 1,100."""

    def truth(metric: str, at: Point) -> float:
        if metric == "interactive_runtime_by_hour":
            return {9: 1000.0, 10: 100.0}.get(at["hour"], 0.0)
        if metric == "interactive_slowdown_by_hour":
            return {9: 1.1, 10: 5.0}.get(at["hour"], np.nan)
        return t3d(metric, at)

    found = study(KEY, "llnl_t3d", truth=truth, noise=0.0, replications=5)
    sample = derived.grouped(found, "slowdown", HOUR, ("9", "10"), GANG, THREE_WEEKS)
    assert np.nanmean(sample.values) == pytest.approx(1600 / 1100)
    every = derived.grouped(found, "slowdown", HOUR, DAY, GANG, THREE_WEEKS)
    assert np.nanmean(every.values) == pytest.approx(1600 / 1100)


def test_weeks_above_a_limit_are_those_of_their_own_run() -> None:
    found = study(KEY, "llnl_t3d", noise=0.0, replications=5)
    policy = list(found.policies).index(GANG)
    at = {"policy": policy, "workload": 0, "batch": 64, "site_class": 1}
    found.data["class_slowdown"][at] = [1.17, 1.17, 1.17, 1.17, 3.0]
    found.data["utilization"][{"policy": policy, "workload": 0, "batch": 64}] = [0.98, 0.98, 0.98, 0.98, 0.9]
    sample = derived.in_full_weeks(found, GANG, FIFTEEN_MONTHS, 0.95)
    assert sample.values.ravel() == pytest.approx(1.17)
