"""Every policy of the family on any workload of rigid jobs, on hosts with memory and on one pool."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from immediate_checker import most_at_once

from models.backfill import FAMILY
from models.jobs.schedule import Schedule
from models.point import Point
from sweep.config import compose, locate
from sweep.plan import plan

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
SACCT = """JobID|User|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem
1|ada|batch|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:00|3600|120|64|1|9G
2|ada|batch|COMPLETED|2024-03-01T08:10:00|2024-03-01T09:00:00|7200|240|64|1|15G
3|bob|batch|COMPLETED|2024-03-01T08:20:00|2024-03-01T09:00:00|30|60|8|1|1G
4|bob|batch|COMPLETED|2024-03-01T08:30:00|2024-03-01T09:00:00|1800|60|16|1|3G
"""

WORKLOADS = {
    "synthetic": ("synthetic", 0.8, "largest_job=64"),
    "synthetic with memory": ("synthetic", 0.8, "largest_job=64 memory_mb=40"),
    "lublin2003 with memory": ("lublin2003", 0.8, "largest_job=64 memory=250"),
    "lublin2003": ("lublin2003", None, "largest_job=64 estimates=exact"),
    "feitelson1996": ("feitelson1996", 0.6, "repetition=sequence estimates=exact"),
    "swf": ("swf", None, f"path={LOG} end=100000 exclude=[{{processors:128}}]"),
    "swf with memory": ("swf", 0.9, f"path={LOG} end=100000 exclude=[{{processors:128}}] memory=200"),
    "sacct": ("sacct", None, "path=SACCT"),
    "o2k": ("o2k_2000_01", None, "warmup_days=0"),
}
"""File of conf/workload, load, and options."""

POLICIES = (
    "backfill/fcfs", "easy", "lxf_w_backfill", "sjf_backfill", "conservative", "ncsa_lsf", "lxf_w_immediate",
    "lxf_w_soon", "eq_spatial_5m",
)  # fmt: skip
CASES = [
    (policy, machine, workload)
    for policy in POLICIES
    for machine in ("o2k", "pe128")
    for workload in WORKLOADS
    if machine == "o2k" or policy != "ncsa_lsf"  # its rules name hosts
]
COVERING = [
    (POLICIES[i], "pe128" if (i + k) % 2 and POLICIES[i] != "ncsa_lsf" else "o2k", workload)
    for i in range(len(POLICIES))
    for k, workload in enumerate(WORKLOADS)
    if (k - i) % len(WORKLOADS) in (0, 1, 4)
]
"""Each policy with three workloads and both machines, each workload with three policies."""


@cache
def point_of(policy: str, workload: str, load: float | None, options: str, machine: str = "o2k") -> Point:
    """Return the point of a study with few jobs."""
    keys = [key if "." in key.partition("=")[0] else f"workload.{key}" for key in options.split()]
    arguments = [
        "+experiment=replay", f"grid.policy=[{policy}]", f"grid.workload=[{workload}]",
        f"grid.load=[{'null' if load is None else load}]", f"grid.machine=[{machine}]",
        "batch_size=100", "batches=2", "replications=1", *keys,
    ]  # fmt: skip
    made: Point = plan.expand(compose.load(arguments, locate.conf_folder())).task(0).point
    return made


def used_twice(made: Schedule) -> bool:
    """Return whether some processor is."""
    runs = made.runs
    return any(
        most_at_once(*(column[runs.host == h] for column in (runs.begin, runs.end, runs.processors)))
        > made.machine.processors[h]
        for h in range(len(made.machine.names))
    )


@pytest.mark.parametrize(
    ("policy", "machine", "name"),
    [pytest.param(*case, marks=[] if case in COVERING else pytest.mark.exhaustive) for case in CASES],
)
def test_every_policy_takes_every_workload(policy: str, machine: str, name: str, tmp_path: Path) -> None:
    workload, load, options = WORKLOADS[name]
    (tmp_path / "sacct.txt").write_text(SACCT)
    options = options.replace("SACCT", str(tmp_path / "sacct.txt"))
    if (policy, workload) == ("ncsa_lsf", "feitelson1996"):
        # Its largest jobs are as large as the largest host, and NCSA's classes end at 64 processors.
        options += (
            " machine.hosts=[{name:a,processors:64},{name:b,processors:64}]"
            " policy.ncsa_lsf.hosts=[{host:a,sizes:[lj,mj,sj]},{host:b,sizes:[lj,mj,sj]}]"
        )
    if (machine, name) == ("pe128", "o2k"):
        options += " machine.processors=1024"  # a month of eight hosts is too much for 128 processors
    point = point_of(policy, workload, load, options, machine)
    FAMILY.check(point)
    assert np.isfinite(FAMILY.simulate(point).metrics["wait"]).all()
    made = FAMILY.schedule(point)
    assert (made.end > made.jobs.submit).all()
    assert not used_twice(made)
    if machine == "o2k":  # memory is read or filled in where it matters
        has_memory = name in ("o2k", "sacct") or name.endswith("with memory")
        assert (made.jobs.memory > 0).any() == has_memory


def test_jobs_wait_for_memory_that_is_filled_in() -> None:
    """Hosts have more processors than jobs ask for, and memory for a few jobs only."""
    for memory, waits in (("null", False), ("4000", True)):
        point = point_of("eq_spatial_5m", "synthetic", 0.5, f"largest_job=2 memory={memory}")
        made = FAMILY.schedule(point)
        assert bool((made.full_start > made.jobs.submit).any()) == waits


def test_a_machine_of_ones_own() -> None:
    """NCSA-LSF runs on any machine whose hosts have rows; the others on any."""
    hosts = "machine.hosts=[{name:a,processors:64,memory_gb:16},{name:b,processors:32}]"
    rows = "policy.ncsa_lsf.hosts=[{host:a,sizes:[lj,mj,sj],limits:{lj:1}},{host:b,sizes:[mj,sj]}]"
    for policy, more in (("ncsa_lsf", rows), ("easy_immediate", ""), ("eq_spatial_0m", "")):
        options = f"largest_job=32 memory_mb=100 {hosts} {more}"
        made = FAMILY.schedule(point_of(policy, "synthetic", 0.7, options))
        assert made.machine.names == ("a", "b")
        assert set(made.host.tolist()) == {0, 1}
        assert not used_twice(made)


@pytest.mark.parametrize(
    ("policy", "workload", "options", "machine", "words"),
    [
        ("ncsa_lsf", "synthetic", "", "o2k", "ask for more than 64 processors; .*workload.largest_job=64"),
        ("ncsa_lsf", "synthetic", "largest_job=64", "pe128", "the machine has no host eir, .*only pool"),
        ("ncsa_lsf", "synthetic", "largest_job=8 policy.ncsa_lsf.user_limit=3", "o2k", "no known user"),
        ("lxf_w_immediate", "lublin2003", "estimates=null", "o2k", "workload.estimates=tsafrir2005"),
        ("easy", "feitelson1996", "repetition=sequence", "pe128", "feitelson1996: 1,000 of 1,000 jobs have"),
        ("conservative", "feitelson1996", "", "pe128", "add workload.repetition=sequence"),
    ],
)
def test_a_refusal_names_the_option_that_helps(
    policy: str, workload: str, options: str, machine: str, words: str
) -> None:
    with pytest.raises(ValueError, match=re.compile(words)) as refusal:
        FAMILY.check(point_of(policy, workload, 0.7, options, machine))
    assert "\n" not in str(refusal.value)
