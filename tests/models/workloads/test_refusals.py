"""Workloads that cannot be opened: each refusal is one line that names the key and the allowed values."""

import re
from typing import Any

import numpy as np
import pytest
from family_cases import JANN, LOG, WORKLOADS, composed, merged, refused, workload_of

from models import workloads
from models.jobs.jobs import Jobs
from models.point import Batches, Point
from models.workloads.phases import Phases
from models.workloads.statements import Statements

POOL = {"name": "small", "processors": 64}
ARRAYS: dict[str, Any] = {"submit": [5, 7, 7, 20], "runtime": [10.0, 3, 4, 1], "processors": [2, 8, 1, 4]}
ONES = np.ones(2, np.int64)
UNSORTED = Jobs(np.array([3.0, 1.0]), np.ones(2), np.full(2, np.nan), ONES, ONES)
UNEVEN = {"kinds": {"of": 3, "local": 1}}
FIT = {"path": str(LOG), "fit": None}


def arrays(**columns: Any) -> dict[str, Any]:
    return {"jobs": ARRAYS | columns}


def first_range(**keys: Any) -> dict[str, Any]:
    return {"fit": JANN | {"ranges": [JANN["ranges"][0] | keys]}}


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("lublin2003", {"largest_job": 256}, "workload.largest_job=256; allowed: null, or 2 to the 64"),
    ("lublin2003", {"longest_request": 3600}, "workload.longest_request=3600; allowed: whole seconds from"),
    ("synthetic", {"largest_job": 65}, "workload.largest_job=65, and the largest host has 64"),
    ("synthetic", {"model": "poisson"}, "has model poisson, which has no rigid jobs; those that do: arrays,"),
    ("jann1997", {"fit": None}, "jann1997 has neither a log nor a fit; give workload.path=LOG and"),
    ("jann1997", {"fit": JANN | {"ranges": JANN["ranges"][:1] * 2}}, "workload.fit.ranges: 1-8 and 1-8; "),
    ("jann1997", first_range(range=[0, 8]), "workload.fit.ranges[0].range=[0, 8]; allowed: [least, most]"),
    ("jann1997", first_range(sizes=[[8, -1]]), "workload.fit.ranges[0].sizes.weight=-1; allowed: a number"),
    ("jann1997", FIT | {"ranges": [4, 2]}, "workload.ranges=[4, 2]; allowed: the largest"),
    ("jann1997", {"path": "nowhere.swf", "fit": None}, "nowhere.swf: no such file (looked in "),
    ("arrays", {"jobs": [1, 2]}, "workload.jobs=[1, 2]; allowed: arrays of submit, runtime, processors, req"),
    ("arrays", {"jobs": {"submit": [1]}}, "workload.jobs has no runtime and no processors; needed are "),
    ("arrays", arrays(runtime=[1, 2]), "workload.jobs: arrays of one dimension and one length are needed"),
    ("arrays", arrays(submit=[5, 7, 6, 20]), "workload.jobs.submit[2]=6.0; allowed: ascending seconds; sort"),
    ("arrays", {"jobs": UNSORTED}, "workload.jobs.submit[1]=1.0; allowed: ascending seconds"),
    ("arrays", arrays(runtime=[10, 3, np.nan, 1]), "workload.jobs.runtime[2]=nan; allowed: seconds above 0"),
    ("arrays", arrays(runtime=["a"] * 4), "workload.jobs.runtime holds <U1; allowed: numbers"),
    ("arrays", arrays(processors=[2, 8, 1.5, 4]), "workload.jobs.processors[2]=1.5; allowed: whole numbers"),
    ("swf", {"path": None}, "has no path of a log; begin its file with defaults: [swf, _self_], and give"),
    (
        "arrays",
        {"resample": "users"},
        "days, and workload.resample=users moves whole weeks: it needs at least 14",
    ),
    ("o2k_2000_01", {"peak_hours": [9, 25]}, "peak_hours=[9, 25]; allowed: [from, until]"),
    ("o2k_2000_01", {"requests": {"st": [[5, 1]]}}, "requests.st=[[5, 1]]; allowed: more than 5 hours"),
    ("o2k_2000_01", {"sizes": {"sj": [[2, 1], [1, 1]]}}, "ascending from 1 to 8, weights above 0"),
    ("o2k_2000_01", {"under_a_minute": {"2000-01": 0.2}}, "under_a_minute.2000-01=0.2; allowed: shares of"),
    ("t3d_three_weeks", {"months": 2}, "workload.months=2 and workload.weeks=1; allowed: one of them"),
    ("t3d_three_weeks", {"interactive": {"sizes": [[3, 1]]}}, "powers of two from 2 on, ascending, weights"),
    ("t3d_three_weeks", {"batch": {"classes": {"express": 0.7, "standby": 0.7}}}, "the shares sum to 1.4"),
    ("t3d_three_weeks", {}, "has jobs of 256 processors with up to 15,872 MB, but machine small has no host"),
]


@pytest.mark.parametrize(("name", "keys", "words"), REFUSALS, ids=lambda value: str(value)[:40])
def test_a_key_out_of_range_is_refused_in_one_line(name: str, keys: dict[str, Any], words: str) -> None:
    workload = merged(workload_of(name) | {"estimates": "tsafrir2005"}, keys)
    with refused(re.escape(words)):
        workloads.open_workload(Point({}, workload, POOL, 0.8))


@pytest.mark.parametrize(
    ("name", "keys", "machine", "words"),
    [
        ("o2k_2000_01", {}, {"processors": 32}, "has jobs of 64 processors and of 16 GB, and machine"),
        ("t3d_three_weeks", {"reference": {"batch": {"work": 1e15}}}, {"processors": 256}, "processor sec"),
        ("lublin2003", {"largest_job": None}, {"processors": 8}, "u_med=0.5 is not between 0.8 and 3"),
        ("swf", {}, {"name": "mine", "mash": 3}, "machine mine has no processors; begin its file with defa"),
        ("lublin2003", {}, {"processors": None}, "machine.processors=null takes the processors from a log's"),
        ("arrays", {"jobs": ARRAYS}, {"processors": 4}, "job 1 asks for 8 processors with 0 KB, which no"),
        ("arrays", {}, {"processors": 8, "hosts": [{"processors": 8}]}, "machine.hosts: give one of them"),
    ],
)
def test_a_machine_that_cannot_run_the_jobs_is_refused(
    name: str, keys: dict[str, Any], machine: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        workloads.open_workload(Point({}, merged(workload_of(name), keys), machine, 0.8))


@pytest.mark.parametrize("name", ["feitelson1996", "synthetic", "short_long of a size"])
def test_streams_need_a_load_and_a_size_of_batches(name: str) -> None:
    with pytest.raises(ValueError, match=r"no load of their own|no load of its own: give one, for instance"):
        workloads.open_workload(Point({}, workload_of(name), POOL | {"mesh": None}))
    endless = Point({}, workload_of(name), POOL, 0.8, Batches(size=None))
    with pytest.raises(ValueError, match=r"batch_size=null divides a whole workload .* batch_size=1000"):
        workloads.open_workload(endless)


@pytest.mark.parametrize(
    ("read", "keys", "words"),
    [
        (Phases, {"phases": [{"share": 0.5, "processors": 1}]}, "allowed: null, or a list of {share, proc"),
        (Statements, composed("workload", "arrays", statements=UNEVEN), "the numbers must add up"),
    ],
)
def test_options_out_of_range_are_refused_in_one_line(read: Any, keys: dict[str, Any], words: str) -> None:
    with refused(re.escape(words)):
        read.of(keys)


def test_every_workload_of_rigid_jobs_is_in_the_table_of_cases() -> None:
    assert set(workloads.MODELS) <= {workload_of(name).get("model") for name in WORKLOADS}
