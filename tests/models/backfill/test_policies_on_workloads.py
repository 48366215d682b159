"""Policies of the family on workloads of rigid jobs: memory, other machines, and what is refused."""

import re
from functools import cache

import pytest
from family_cases import refused

from models.backfill import FAMILY
from models.point import Point
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand


@cache
def point_of(policy: str, workload: str, load: float | None, options: str, machine: str = "o2k") -> Point:
    """Return the point of a study with few jobs."""
    keys = [key if "." in key.partition("=")[0] else f"workload.{key}" for key in options.split()]
    arguments = [
        "+experiment=replay", f"grid.policy=[{policy}]", f"grid.workload=[{workload}]",
        f"grid.load=[{'null' if load is None else load}]", f"grid.machine=[{machine}]",
        "batch_size=100", "batches=2", "replications=1", *keys,
    ]  # fmt: skip
    return expand(compose.load(parsed(arguments), locate.conf_folder())).task(0).point


def test_a_machine_of_ones_own() -> None:
    """NCSA-LSF runs on any machine whose hosts have rows; the others on any."""
    hosts = "machine.hosts=[{name:a,processors:64,memory_gb:16},{name:b,processors:32}]"
    rows = "policy.ncsa_lsf.hosts=[{host:a,sizes:[lj,mj,sj],limits:{lj:1}},{host:b,sizes:[mj,sj]}]"
    for policy, more in (("ncsa_lsf", rows), ("easy_immediate", ""), ("eq_spatial_0m", "")):
        options = f"largest_job=32 memory_mb=100 {hosts} {more}"
        made = FAMILY.schedule(point_of(policy, "synthetic", 0.7, options))
        assert made.machine.names == ("a", "b")
        assert set(made.host.tolist()) == {0, 1}


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
    with refused(re.compile(words)):
        FAMILY.check(point_of(policy, workload, 0.7, options, machine))
