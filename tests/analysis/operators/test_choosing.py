"""The choice of a policy: probabilities, the sample needed for a difference, and the sample of both."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated_operators import dataset

from analysis.operators import choosing
from analysis.operators.case import Case, cases
from analysis.operators.evidence import Evidence
from analysis.operators.labels import SLOWDOWN, WAIT
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


def shown(case: Case) -> dict[str, dict[str, list[str]]]:
    return {
        table.name: {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
        for table in choosing.tables(case)
    }


def test_examples() -> None:
    assert doctest.testmod(choosing).failed == 0


def test_the_best_policy_is_first() -> None:
    case = case_of(lasting(dataset(), WEEK))
    found = shown(case)["choice"]
    assert next(iter(found)) == "quick"
    assert found["quick"][1] == "over 99 %"
    assert found["quick"][2] == "40 of 40"
    assert found["slow"][1] == found["fcfs"][1] == "under 1 %"
    assert found["fcfs"][2] == "0 of 40"
    assert found["easy"][2] == ""
    for metric in (WAIT, SLOWDOWN):
        assert choosing.probabilities(case, metric).sum() == pytest.approx(1)


def test_the_length_of_a_log_that_shows_the_difference() -> None:
    """With eight times the noise of a policy's own, 40 weeks tell nothing of what is seen."""
    noisy = lasting(dataset(("easy", "quick"), noise=0.4), WEEK)
    case = case_of(noisy)
    assert case.difference(WAIT, "quick").verdict == "no significant difference"
    text = shown(case)["settling"]["quick"][1]
    found = re.fullmatch(r"about ([\d,]+) (weeks|years)", text)
    assert found, text
    weeks = float(found[1].replace(",", "")) * (1 if found[2] == "weeks" else 52)
    assert weeks > 40.3
    # As many copies of those weeks show it, if the true difference is the one seen.
    copies = 1 + int(weeks / 40)
    longer = xr.concat([noisy] * copies, "batch", data_vars="minimal")
    assert case_of(longer).difference(WAIT, "quick").verdict == "better"


def test_replications_are_the_sample() -> None:
    case = case_of(replicated(lasting(dataset(noise=1.0), WEEK), 6, "users"))
    evidence = Evidence.of(case)
    assert evidence.by_replications
    assert evidence.describe().startswith(
        "6 replications, each with jobs of its own: the log's users, resampled"
    )
    found = shown(case)
    assert all(text[2] in ("", *(f"{n} of 6" for n in range(7))) for text in found["choice"].values())
    for texts in found.get("settling", {}).values():
        assert texts[1].endswith("resamples") or texts[1] in ("better", "worse", "identical")
    other = case_of(replicated(lasting(dataset(), WEEK), 6))
    assert "resampled" not in Evidence.of(other).describe()
    assert Evidence.of(other).enough(3.0) == "about 18 replications"
