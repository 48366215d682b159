"""Slurm's programs: their output is parsed, and a refusal is one line."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slurm.answers import read_job, read_partition
from slurm.commands import RefusedError, Slurm, SlurmError, UnreachableError
from slurm.reasons import hopeless
from slurm.testcluster import TestCluster

Fake = Callable[..., Slurm]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Return a Slurm whose programs are shell scripts, given by name."""

    def fake(timeout_s: float = 10, **programs: str) -> Slurm:
        for name, body in programs.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
            (tmp_path / name).chmod(0o755)
        return Slurm({"PATH": f"{tmp_path}:/bin:/usr/bin"}, timeout_s)

    return fake


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return a job script that does what its first argument message."""
    file = tmp_path / "a job.sh"
    file.write_text('#!/bin/sh\neval "$1"\n')
    return file


QUIET = "--output=/dev/null"


def until(ready: Callable[[], bool]) -> None:
    """Wait until something is so, with a limit."""
    deadline = time.monotonic() + 200
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("N/A", ()),
        ("3", (3,)),
        ("3-6%2", (3, 4, 5, 6)),
        ("1-7:3", (1, 4, 7)),
        ("0,2-3,10-14:2%5", (0, 2, 3, 10, 12, 14)),
    ],
)
def test_array_indices(text: str, indices: tuple[int, ...]) -> None:
    assert read_job(f"7|{text}|PENDING|Priority||1:00|x").indices == indices


def test_a_partition_of_unlike_nodes() -> None:
    rows = ["main*|up|1-00:00:00|3|64|250000|idle", "main*|up|1-00:00:00|2|16|64000|down*"]
    found = read_partition("main", [row.split("|") for row in rows])
    assert (found.nodes, found.usable, found.cpus, found.memory_mb) == (5, 3, 64, 250000)
    assert (found.default, found.up, found.time_s) == (True, True, 86400)


def test_reasons_that_pass_and_those_that_do_not() -> None:
    for reason in ("Resources", "BeginTime", "JobArrayTaskLimit", "QOSMaxJobsPerUserLimit"):
        assert hopeless(reason) is None
    for reason in ("DependencyNeverSatisfied", "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit"):
        assert hopeless(reason)


# Texts of Slurm 22.05 as it gave them.
CONTROLLER = "Unable to contact slurm controller (connect failure)"


@pytest.mark.parametrize(
    ("output", "kind", "advice"),
    [
        (CONTROLLER, UnreachableError, "the controller is down or out of reach"),
        ("Protocol authentication error", UnreachableError, "munge"),
        ("fatal: Could not establish a configuration source", UnreachableError, "SLURM_CONF"),
        ("error: Batch job submission failed: Invalid job array specification", RefusedError, "MaxArraySize"),
        ("error: invalid partition specified: nosuch", RefusedError, "set partition in the profile"),
        ("error: Something else", RefusedError, "Something else"),
    ],
)
def test_errors_are_told_apart(fake: Fake, output: str, kind: type[SlurmError], advice: str) -> None:
    slurm = fake(scontrol=f'echo "scontrol: {output}" >&2; exit 1')
    with pytest.raises(kind) as error:
        slurm.limits()
    assert type(error.value) is kind
    assert advice in str(error.value)
    assert "\n" not in str(error.value)


def test_no_answer_in_time(fake: Fake, script: Path) -> None:
    slurm = fake(0.2, squeue="echo 'squeue: error: retrying' >&2; exec sleep 60", sbatch="exec sleep 60")
    with pytest.raises(
        UnreachableError, match=r"^squeue: no answer within 0.2 s \(retrying\); try again later$"
    ):
        slurm.jobs()
    with pytest.raises(UnreachableError, match="may have been accepted all the same: check with squeue"):
        slurm.submit(script)


def test_job_ids_in_all_their_forms(fake: Fake, script: Path) -> None:
    assert fake(sbatch="echo 12").submit(script) == 12
    assert fake(sbatch="echo '12;cluster2'").submit(script) == 12
    assert fake(sbatch="echo 'Your project has 4 hours left'; echo 12").submit(script) == 12
    with pytest.raises(SlurmError, match="answered 'hello' instead of a job id"):
        fake(sbatch="echo hello").submit(script)


# As src/scontrol/info_assoc_mgr.c prints it with -o, shortened.
ASSOCIATIONS = """\
ClusterName=lab Account=root UserName=other(99999) ID=1 GrpSubmitJobs=N(0) MaxSubmitJobs=5(0) MaxWallPJ=
ClusterName=lab Account=team UserName=me({uid}) ID=2 GrpSubmitJobs=N(0) MaxSubmitJobs=700(3) MaxWallPJ=
QOS=normal(1) GrpSubmitJobs=N(3) User Limits= me({uid})={{MaxJobsPU=N(0) MaxSubmitJobsPU=300(3) }}
QOS=tiny(2) GrpSubmitJobs=9(3) User Limits=No Users
"""


@pytest.mark.parametrize(("qos", "limit"), [(None, 700), ("normal", 300), ("tiny", 9)])
def test_limit_of_submitted_jobs(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, qos: str | None, limit: int
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)
    text = ASSOCIATIONS.format(uid=1000)
    slurm = fake(scontrol=f"case $2 in config) echo 'MaxArraySize = 50';; *) cat <<'END'\n{text}END\n;; esac")
    found = slurm.limits(qos)
    assert (found.max_array_size, found.max_submit) == (50, limit)


def test_a_job_from_submission_to_cancelling(cluster: TestCluster, script: Path) -> None:
    slurm, options = cluster.slurm, [QUIET, "--array=0-5%2", "--job-name=a|b c", "--time=5"]
    job = slurm.submit(script, options, ["sleep 100"])
    until(lambda: [one.state for one in slurm.jobs([job])].count("RUNNING") == 2)
    found = slurm.jobs(name="a|b c")
    assert sorted(index for one in found for index in one.indices) == [0, 1, 2, 3, 4, 5]
    assert {one.id for one in found} == {job}
    running = [one for one in found if one.state == "RUNNING"]
    assert all(one.left_s and 290 <= one.left_s <= 300 and one.node in cluster.nodes for one in running)
    slurm.cancel([f"{job}_0"])
    until(lambda: any(one.indices == (0,) and one.ended for one in slurm.jobs([job], ended=True)))
    slurm.cancel([job])
    until(lambda: slurm.jobs([job]) == [])
    assert all(one.ended for one in slurm.jobs([job], ended=True))
    slurm.cancel([job])  # twice does no harm
    cluster.clear()
