"""The verdict: what is recommended, what it costs, how far it is to be believed, and what would show more."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_operators import CONF, dataset
from omegaconf import OmegaConf

from analysis.errors import DrawingError
from analysis.operators import acceptance, deploying, fidelity, tables, verdict
from analysis.operators.case import Case, cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import SLOWDOWN, WAIT
from analysis.operators.sample import Sample
from analysis.study import Study
from analysis.study.axes import USER
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
    assert line.startswith("This cannot be checked, because the log records no waits: absolute waits are not")
    assert "it is unknown whether EASY matches" in verdict.recommendation(case)
    gains = [verdict.gain(one, one.difference(WAIT, "quick")) for one in (trusted, case)]
    assert ["instead of" in gain for gain in gains] == [True, False]
    assert fidelity.by_batch(case) is None
    assert (
        "absolute waits are not predictions"
        in next(table for table in tables.tables(case.study) if table.name == "overview").title
    )


def accepting(data: xr.Dataset, **limits: object) -> xr.Dataset:
    """Return a dataset of a site with other constraints."""
    config = json.loads(data.attrs["config"])
    config["settings"]["accept"] = {"longest_wait": None, "group_wait": None, "least_gain": None, **limits}
    return data.assign_attrs(config=json.dumps(config))


def matching(**settings: object) -> xr.Dataset:
    """Return a dataset whose log recorded what easy does, 40 weeks of it."""
    return lasting(recorded(dataset(**settings), "easy", 1.0), WEEK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, "Try quick (jobs wait "),
        ({"group_wait": 1.7}, "worst for jobs of 10 to 100 min, × 1.6"),
        ({"longest_wait": 1.5, "least_gain": "10min"}, "shorter waits in 40 of 40 weeks; longest wait × 0."),
        (
            {"group_wait": 1.25},
            "Nothing to change: every policy that is shown to be better breaks a limit of this site (mean "
            "wait of each group at most × 1.25): quick (−3",
        ),
        ({"group_wait": 1.25}, ", because waits grow for jobs of 10 to 100 min (× 1.6"),
        ({"least_gain": "30min"}, "it saves 1"),
        ({"least_gain": "2h"}, "the log records a mean wait of 5"),
    ],
)
def test_the_constraints_are_the_site_s(limits: dict[str, object], expected: str) -> None:
    case = case_of(accepting(matching(), **limits))
    text = verdict.recommendation(case)
    assert expected in text
    assert text.startswith("Try quick") != text.startswith(verdict.UNCHANGED)
    assert "with EASY would take" in text or not text.startswith("Try")
    (row,) = tables.trade_offs(case, acceptance.candidates(case)).rows
    assert row[-2].text.startswith(
        "yes" if text.startswith("Try") or "2h" in limits.values() else "no: "
    ) or ("least_gain" in limits)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            lambda: matching(policies=("easy", "slow", "fcfs")),
            "Nothing to change: keep EASY, because jobs wait longer under every other policy",
        ),
        (
            lambda: dataset(("easy", "copy"), batches=7),
            "the log has 7 batches, and an interval needs at least 10",
        ),
        (lambda: dataset(("easy", "quick"), batches=1, most=1), "all jobs are one batch"),
        (
            lambda: matching(policies=("easy", "quick"), noise=0.4),
            "Nothing to change: no policy is shown to be better than EASY. The closest is quick: jobs wait",
        ),
        (lambda: lasting(recorded(dataset(), "easy", 3.0), WEEK), "EASY does not match this site"),
    ],
)
def test_a_reason_why_nothing_is_recommended(data: Callable[[], xr.Dataset], expected: str) -> None:
    text = verdict.recommendation(case_of(data()))
    assert expected in text
    assert "Try" not in text


def test_a_policy_that_cannot_be_set_comes_last() -> None:
    """The same gain twice: only one of them is weights of priority."""
    data = matching(policies=("easy", "quick", "slow"))
    for name in [name for name in data.data_vars if "policy" in data[name].dims and str(name) != "jobs"]:
        data[name].loc[{"policy": "slow"}] = data[name].sel(policy="quick").values
    config = json.loads(data.attrs["config"])
    config["policy"]["quick"] = {"discipline": "backfill", "priority": "f1"}
    case = case_of(accepting(data.assign_attrs(config=json.dumps(config))))
    found = acceptance.candidates(case)
    assert [(one.policy, one.can_be_set) for one in found] == [("slow", True), ("quick", False)]
    assert [one.policy for one in acceptance.short_list(found)] == ["slow"], "the other one is behind"
    rows = [[cell.text for cell in row] for row in tables.settings(case, found).rows]
    assert rows[0][1].startswith(
        "PriorityType=priority/multifactor; PrioritySiteFactorPlugin=site_factor/slow"
    )
    assert '"1 * eligible_time / walltime"' in rows[0][2]
    assert rows[1][1:] == ["cannot be set", "cannot be set"]


@pytest.mark.parametrize(
    ("name", "named"),
    [("f1", "neither Slurm nor PBS"), ("f4", "neither Slurm nor PBS"), ("easy_sjbf", "neither Slurm nor PBS"),
     ("wfp3", "Slurm, PBS"), ("lxf_w_backfill", "Slurm, PBS"), ("sjf_backfill", "Slurm, PBS")],
)  # fmt: skip
def test_which_policies_can_be_set(name: str, named: str) -> None:
    file = OmegaConf.to_container(OmegaConf.load(CONF.parent / "policy/backfill" / f"{name}.yaml"))
    base = OmegaConf.to_container(OmegaConf.load(CONF.parent / "policy/backfill/_backfill.yaml"))
    study = Study(dataset(), Path("results"))
    study.config["policy"][name] = {**base, **file}
    assert deploying.where(study, name) == named


def test_the_week_that_has_the_gain_is_named() -> None:
    """In week 7 a policy gains 99 %, in all others 1 % less."""
    data = matching(policies=("easy", "quick"))
    values = data["delay"].copy()
    usual = values.sel(policy="easy")
    share = xr.where(data["batch"] == 6, 0.01, 0.99)
    values.loc[{"policy": "quick"}] = (usual * share).transpose(*usual.dims).values
    case = case_of(accepting(data.assign(delay=values)))
    (found,) = acceptance.candidates(case) or [acceptance.Candidate(case, "quick")]
    assert [one for one in found.concentration if one.startswith("week 7 of 40 (")]


def test_the_only_user_has_no_share_and_no_group() -> None:
    data = matching(policies=("easy", "quick"))
    several = case_of(data)
    data["jobs_by_user"] = data["jobs_by_user"].where(data["user_rank"] == "1", 0)
    case = case_of(data)
    assert USER in several.groupings
    assert USER not in case.groupings
    assert "user" not in verdict.recommendation(case)


def test_the_diagnosis_names_what_waits_were_spent_on() -> None:
    data = lasting(recorded(dataset(), "easy", 3.0), WEEK)
    for shares, step in (
        ({"busy": 0.9, "idle": 0.1}, "Next step: use +experiment=slurm_what_if"),
        ({"busy": 0.5, "idle": 0.5}, "the order of the queue alone does not explain these waits; use"),
        ({"busy": 0.6, "downtime": 0.4}, "workload.downtime=keep"),
        ({"busy": 0.6, "partition": 0.4}, "workload.partition=each"),
        ({"idle": 0.4, "not eligible": 0.6}, "workload.arrival=eligible"),
    ):
        facts = {"logs": [{"waiting": shares, "processors": 64, "waits": 9, "at": {}}]}
        text = verdict.recommendation(case_of(data.assign_attrs(facts=json.dumps(facts))))
        assert all(f"{100 * share:.0f} %" in text for share in shares.values())
        assert step in text


@pytest.mark.parametrize(("factor", "matches"), [(1.1, True), (3.0, False)])
def test_fidelity_comes_before_hours(factor: float, matches: bool) -> None:
    case = case_of(lasting(recorded(dataset(), "easy", factor), WEEK))
    likeness = Fidelity.of(case)
    assert likeness.was == pytest.approx(factor * likeness.simulated, rel=1e-6)
    assert likeness.matches == matches
    assert likeness.near == (40 if matches else 0)
    text = verdict.gain(case, case.difference(WAIT, "quick"))
    assert ("instead of" in text) == matches, "hours only where they predict"
    title = tables.overview(case).title
    assert ("absolute waits are not predictions" in title) == (not matches)
    for table in (fidelity.table(case), fidelity.by_batch(case)):
        assert {row[-1].text for row in table.rows} == {"yes" if matches else "no"}
    assert len(table.rows) == 20, "two weeks a row"
    first = [one.name for one in tables.tables(case.study) if one.is_first]
    assert first == ["trade-offs", "fidelity", "fidelity-by-time", "against"]
    assert verdict.lead(case.study)[0][0] == "Does EASY match this site?"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(WEEK, ["2024-03-04", "2024-03-18"]), (WEEK / 28, ["2024-03-04 08:00", "2024-03-04 20:00"])],
)
def test_rows_of_fidelity_begin_at_a_day_or_a_time(seconds: float, expected: list[str]) -> None:
    case = case_of(lasting(recorded(dataset(), "easy", 1.1), seconds))
    case.study.facts["logs"] = [{"zero": 1_709_539_200.0}]
    table = fidelity.by_batch(case)
    assert table is not None
    assert [row[0].text for row in table.rows[:2]] == expected


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
    assert sample.describe().startswith("6 replications, each with its own jobs: the log's users, resampled")
    for policy, texts in shown(case).items():
        assert texts[1] in [f"{n} of {6 if policy != 'copy' else 0}" for n in range(7)]
    assert ("sample needed" in tables.against(case).columns) == any(
        case.difference(WAIT, policy).verdict == "no difference shown" for policy in case.others
    )
    found = case.difference(WAIT, case.others[0])
    assert "instead of" not in verdict.gain(case, found), "waits of resampled logs do not predict"
    assert "alternating" not in verdict.recommendation(case), "no pilot lasts as long as all resamples"
    other = case_of(replicated(lasting(dataset(), WEEK), 6))
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
    assert re.match(r"ties=event: mean wait −2\d % against ties=instant \(95 % interval −2", text)
    assert re.search(r"largest gains for jobs of under 1 min \(−5\d %\)", text)
    assert "instead of" not in text
    for name in ("jobs", "jobs_by_size"):
        data[name] = data[name] + (data["ties"] == "event")
        data[name] = data[name].transpose("policy", "workload", "load", "machine", "ties", ...)
    assert not any(case.along for case in cases(Study(data, Path("results"))))


def test_jobs_that_never_start_are_in_the_verdict() -> None:
    data = dataset()
    share = xr.full_like(data["wait"], 0.25).where(data["policy"] == "easy", 0.0)
    text = verdict.recommendation(case_of(data.assign(refused_share=share)))
    assert text.endswith("never start, because of limits (25.0 % under EASY), and count in no wait.")


def test_a_failed_sweep_is_named() -> None:
    data = dataset()
    number = data["state"].attrs["flag_meanings"].split().index("failed")
    data["state"] = xr.full_like(data["state"], data["state"].attrs["flag_values"][number])
    with pytest.raises(DrawingError, match="the sweep failed: its command with action=status shows why"):
        _ = case_of(data).reference
