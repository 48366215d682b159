"""The verdict: what is recommended, what it costs, how far it is to be believed, and what would show more."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_operators import dataset

from analysis.operators import fidelity, tables, verdict
from analysis.operators.case import Case, cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import SLOWDOWN, WAIT
from analysis.operators.sample import Sample
from analysis.study import Study
from models.jobs.calendar import WEEK


def case_of(data: xr.Dataset) -> Case:
    (case,) = cases(Study(data, Path("results")))
    return case


def lasting(data: xr.Dataset, seconds: float) -> xr.Dataset:
    """Return a dataset whose batches last so long; the last of 40 goes on to the end of its jobs."""
    period = xr.full_like(data["period"], seconds)
    period[..., 39] *= 1.3
    return data.assign(period=period.where(data["wait"].notnull()))


def replicated(data: xr.Dataset, n: int, resample: str = "") -> xr.Dataset:
    """Return a dataset of replications, each of its own luck but the same for all policies."""
    rng = np.random.default_rng(3)
    luck = xr.DataArray(rng.gamma(20, 0.05, n), dims="replication")
    found = data.isel(replication=[0] * n)
    for name in found.data_vars:
        if str(name).startswith(("wait", "delay", "slowdown", "bounded", "response")):
            found[name] = (found[name] * luck).transpose(*found[name].dims)
    if resample:
        found.attrs["config"] = found.attrs["config"].replace(
            '"model": "sacct"', f'"model": "sacct", "resample": "{resample}"'
        )
    return found


def shown(case: Case) -> dict[str, list[str]]:
    """Return the rows of the table against the reference."""
    return {row[0].text: [cell.text for cell in row[1:]] for row in tables.against(case).rows}


def test_the_best_policy_is_first() -> None:
    case = case_of(lasting(dataset(), WEEK))
    found = shown(case)
    assert next(iter(found)) == "quick"
    assert found["quick"][1:3] == ["40 of 40", "over 99 %"]
    assert found["FCFS"][1:3] == ["0 of 40", "under 1 %"]
    for metric in (WAIT, SLOWDOWN):
        assert sum(case.beside(metric).probabilities.values()) == pytest.approx(1)


def test_one_sentence_recommends_with_its_price() -> None:
    text = verdict.recommendation(case_of(lasting(dataset(), WEEK)))
    assert text.startswith("Try quick in a pilot: jobs wait")
    assert "shorter in 40 of 40 weeks; longer waits for jobs of 10 to 100 min (+60 %)" in text
    assert re.search(
        r"A pilot that alternates it with EASY would take about \d+ weeks, because weeks differ\.$", text
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (dataset(("easy", "slow", "fcfs")), "keep EASY, because jobs wait longer under every other policy"),
        (dataset(("easy", "copy"), batches=7), "the log has 7 batches, and an interval needs 10"),
        (dataset(("easy", "quick"), batches=1, most=1), "all jobs are one batch"),
        (dataset(("easy", "quick"), noise=0.4), "The nearest is quick: jobs wait"),
    ],
)
def test_a_reason_why_nothing_is_recommended(data: xr.Dataset, expected: str) -> None:
    text = verdict.recommendation(case_of(data))
    assert text.startswith("Nothing can be recommended: ")
    assert expected in text


def recorded(data: xr.Dataset, policy: str, factor: float) -> xr.Dataset:
    """Return a dataset whose log recorded a multiple of the waits under a policy."""
    for name in [name for name in data.data_vars if str(name).startswith("delay")]:
        one = factor * data[name].sel(policy=policy).isel(
            replication=0, ties=0, workload=0, machine=0, load=0
        )
        weight = data[name].attrs.get("weight")
        data[f"recorded_{name}"] = one.assign_attrs({"weight": f"recorded_{weight}"} if weight else {})
    for name in [name for name in data.data_vars if str(name).startswith("jobs")]:
        data[f"recorded_{name}"] = data[name].isel(
            policy=0, replication=0, ties=0, workload=0, machine=0, load=0
        )
    return data


def test_a_log_without_waits_gets_less_trust_not_more() -> None:
    """Nothing can be compared: no hours, and the first sentence says so."""
    data = lasting(dataset(), WEEK)
    trusted = case_of(data)
    text = json.dumps({**json.loads(data.attrs.get("facts", "{}")), "logs": [{"waits": 0, "zero": None}]})
    case = case_of(data.assign_attrs(facts=text))
    heading, (line,) = verdict.lead(case.study)[0]
    assert heading == "Does EASY match this site?"
    assert line.startswith("This cannot be checked, because the log records no waits: absolute waits do not")
    assert "cannot be checked" in verdict.recommendation(case)
    assert ["instead of" in verdict.recommendation(one) for one in (trusted, case)] == [True, False]
    assert fidelity.by_batch(case) is None
    assert (
        "absolute waits do not predict"
        in next(table for table in tables.tables(case.study) if table.name == "overview").title
    )


@pytest.mark.parametrize(("factor", "matches"), [(1.1, True), (3.0, False)])
def test_fidelity_comes_before_hours(factor: float, matches: bool) -> None:
    case = case_of(lasting(recorded(dataset(), "easy", factor), WEEK))
    likeness = Fidelity.of(case)
    assert likeness.was == pytest.approx(factor * likeness.simulated, rel=1e-6)
    assert likeness.matches == matches
    assert likeness.near == (40 if matches else 0)
    text = verdict.recommendation(case)
    assert ("does not match this site" not in text) == matches
    assert ("instead of" in text) == matches, "hours only where they predict"
    title = tables.overview(case).title
    assert ("absolute waits do not predict" in title) == (not matches)
    for table in (fidelity.table(case), fidelity.by_batch(case)):
        assert {row[-1].text for row in table.rows} == {"yes" if matches else "no"}
    assert len(table.rows) == 20, "two weeks a row"
    first = [one.name for one in tables.tables(case.study) if one.is_first]
    assert first == ["fidelity", "fidelity-by-time", "against"]
    assert verdict.lead(case.study)[0][0] == "Does EASY match this site?"


def test_a_queue_that_only_grows_is_named() -> None:
    data = lasting(dataset(), WEEK)
    for name in [name for name in data.data_vars if str(name).startswith("delay")]:
        values = data[name].copy()
        at = {"policy": "fcfs"}
        values.loc[at] = values.loc[at] * xr.DataArray(np.arange(1.0, 51.0), dims="batch")
        data[name] = values
    found = verdict.summary(case_of(data).study)
    assert [line for line in found if "only grows under FCFS:" in line]
    assert not [line for line in verdict.summary(case_of(dataset()).study) if "only grows" in line]


def test_the_length_of_a_log_that_shows_the_difference() -> None:
    """With eight times the noise of a policy's own, 40 weeks do not show the difference that is seen."""
    noisy = lasting(dataset(("easy", "quick"), noise=0.4), WEEK)
    case = case_of(noisy)
    assert case.difference(WAIT, "quick").verdict == "no difference shown"
    text = shown(case)["quick"][-1]
    found = re.fullmatch(r"about ([\d,]+) (weeks|years)", text)
    assert found, text
    weeks = float(found[1].replace(",", "")) * (1 if found[2] == "weeks" else 52)
    assert weeks > 40.3
    # As many copies of those weeks show it, if the true difference is the one seen.
    longer = xr.concat([noisy] * (1 + int(weeks / 40)), "batch", data_vars="minimal")
    assert case_of(longer).difference(WAIT, "quick").verdict == "better"


def test_replications_are_the_sample() -> None:
    case = case_of(replicated(lasting(dataset(noise=1.0), WEEK), 6, "users"))
    sample = Sample.of(case)
    assert sample.by_replications
    assert sample.describe().startswith(
        "6 replications, each with jobs of its own: the log's users, resampled"
    )
    for policy, texts in shown(case).items():
        assert texts[1] in [f"{n} of {6 if policy != 'copy' else 0}" for n in range(7)]
    assert ("sample needed" in tables.against(case).columns) == any(
        case.difference(WAIT, policy).verdict == "no difference shown" for policy in case.others
    )
    found = case.difference(WAIT, case.others[0])
    assert "instead of" not in verdict.gain(case, found), "waits of resampled logs do not predict"
    assert "pilot that alternates" not in verdict.recommendation(case), (
        "no pilot lasts as long as all resamples"
    )
    other = case_of(replicated(lasting(dataset(), WEEK), 6))
    assert "instead of" in verdict.gain(other, other.difference(WAIT, other.others[0]))
    assert "resampled" not in Sample.of(other).describe()
    assert Sample.of(other).enough(3.0) == "about 18 replications"


def test_values_of_another_axis_are_compared_under_the_reference() -> None:
    """Less under one of two ties by a fifth, and of short jobs by half; other jobs are not compared."""
    data = dataset(ties=("instant", "event"))
    luck = xr.DataArray(np.random.default_rng(5).normal(0.8, 0.05, data.sizes["batch"]), dims="batch")
    event, short = data["ties"] == "event", data["runtime_range"] == "under 1 min"
    for name in ("delay", "delay_by_runtime"):
        less = luck * xr.where(short, 0.6, 1) if name.endswith("runtime") else luck
        data[name] = (data[name] * xr.where(event, less, 1)).transpose(*data[name].dims)
    *readings, along = cases(Study(data, Path("results")))
    assert [case.along for case in readings] == ["", ""]
    assert (along.policies, along.label) == (["ties=instant", "ties=event"], "EASY by ties")
    found = along.difference(WAIT, "ties=event")
    assert (found.verdict, found.mean / found.reference) == ("better", pytest.approx(-0.2, abs=0.03))
    text = verdict.recommendation(along)
    assert re.match(r"ties=event: −2\d % mean wait against ties=instant \(95 % interval −2", text)
    assert re.search(r"most gain jobs of under 1 min \(−5\d %\)", text)
    assert "instead of" not in text
    for name in ("jobs", "jobs_by_size"):
        data[name] = data[name] + (data["ties"] == "event")
        data[name] = data[name].transpose("policy", "workload", "load", "machine", "ties", ...)
    assert not any(case.along for case in cases(Study(data, Path("results"))))
