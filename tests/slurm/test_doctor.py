"""The doctor finds the faults of a cluster, reports each in one line, and leaves no job and no file."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slurm import checks, doctor, profile
from slurm import cli as command
from slurm.answers import Partition
from slurm.checks import Finding
from slurm.commands import Slurm
from slurm.profile import Profile
from slurm.testcluster import PROFILE, TestCluster, missing

Examine = Callable[..., dict[str, Finding]]


def chosen(**overrides: object) -> Profile:
    """Return the test cluster's profile with some other values."""
    return profile.load(str(PROFILE), overrides)


@pytest.fixture
def examine(cluster: TestCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """Return a function that examines the test cluster and checks that no job and no file remain."""
    # One machine: files are seen at once. MPI is a job more, and has a test of its own.
    monkeypatch.setattr(doctor, "GRACE_S", 0.5)
    monkeypatch.setattr(doctor, "mpi_is_installed", lambda: False)

    def examine(given: Profile, folder: Path | None = None, wait_s: float = 300) -> dict[str, Finding]:
        place = tmp_path / "results" if folder is None else folder
        findings = list(doctor.examine(given, place, wait_s, cluster.slurm))
        assert all("\n" not in str(finding) for finding in findings)
        assert cluster.slurm.jobs(name="doctor") == []
        assert not place.exists()
        return {finding.subject: finding for finding in findings}

    return examine


def test_a_cluster_in_good_health(examine: Examine) -> None:
    found = examine(chosen())
    assert {finding.level for finding in found.values()} == {"ok"}
    subjects = "slurm limits partition job folder locks python cores threads network mpi"
    assert list(found) == subjects.split()


@pytest.mark.parametrize(
    ("overrides", "subject", "expected"),
    [
        ({"partition": "nosuch"}, "partition", "nosuch does not exist, .* there are: main, short"),
        ({"partition": "short", "time": "30"}, "partition", "its limit is 1 min; lower time=30"),
        ({"options": ["--nosuch"]}, "job", "sbatch: unrecognized option '--nosuch'"),
        ({"options": ["--hold"]}, "job", "not started after .*JobHeldUser: it is held: scontrol release"),
        ({"setup": ["echo gone >&2", "exit 3"]}, "setup", r"setup lines end the job on .*: gone$"),
        ({"python": "/nosuch/python"}, "python", "/nosuch/python on .*No such file.*set python or setup"),
        ({"setup": ["cd /", "export PYTHONHOME=/nosuch"]}, "python", "set python or setup in the profile"),
        ({"interface": "nosuch0"}, "network", "interface=nosuch0 has no address here"),
    ],
)
def test_jobs_that_do_not_answer_or_answer_badly(
    examine: Examine, overrides: dict[str, object], subject: str, expected: str
) -> None:
    found = examine(chosen(**overrides), wait_s=1 if "options" in overrides else 20)
    assert found[subject].level == "wrong"
    assert re.search(expected, found[subject].text)


@pytest.mark.exhaustive
def test_a_folder_that_nodes_do_not_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes get a file system of their own in the folder's place."""
    if text := missing():
        pytest.skip(f"tests with a real Slurm: {text}")
    if subprocess.run(["unshare", "-m", "true"], check=False, timeout=100).returncode:
        pytest.skip("mounting is not allowed here: run as root to test a folder that is not shared")
    monkeypatch.setattr(doctor, "GRACE_S", 0.5)
    apart = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(tmp_path))
    with TestCluster(nodes=1, wrap=apart) as cluster:
        findings = list(doctor.examine(chosen(), tmp_path, 20, cluster.slurm))
    assert findings[-1].level == "wrong"
    assert "compute nodes do not have it or cannot write there" in findings[-1].text
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_doctor_cancels_the_job(
    cluster: TestCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = doctor.examine(chosen(setup=["sleep 600"]), tmp_path / "results", 20, cluster.slurm)
    waiting = iter(findings)
    assert [next(waiting).subject for _ in range(3)] == ["slurm", "limits", "partition"]

    class ImpatientError(Exception):
        """In the place of Ctrl-C."""

    def leave(self: Slurm, *_: object, **__: object) -> list[object]:
        raise ImpatientError

    monkeypatch.setattr(doctor, "_state", leave)
    with pytest.raises(ImpatientError):
        next(waiting)
    assert cluster.slurm.jobs(name="doctor") == []
    assert not (tmp_path / "results").exists()


def test_the_exit_status_and_the_words(
    cluster: TestCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_CONF", cluster.env["SLURM_CONF"])
    assert command.main(["doctor", f"profile={PROFILE}"]) == 0  # with MPI, where that is installed
    expected = capsys.readouterr().out.splitlines()
    assert expected[0].startswith("ok       slurm      cluster testcluster answers")
    assert expected[-1].endswith(f"ready for executor=slurm slurm={PROFILE}")
    assert command.main(["doctor", "profile=lab"]) == 1
    assert "correct it and run the doctor again" in capsys.readouterr().out


def test_a_cluster_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    down = Slurm({**os.environ, "PATH": str(tmp_path)})
    found = list(doctor.examine(chosen(), tmp_path / "results", 20, down))
    assert [(one.level, one.subject) for one in found] == [
        ("wrong", "slurm"),
        ("ok", "folder"),
        ("skipped", "job"),
    ]


MAIN = Partition("main", True, True, None, 4, 4, 64, 250000)
OLD = Partition("old", False, True, 3600, 2, 2, 8, 16000)


@pytest.mark.parametrize(
    ("found", "asked", "level", "expected"),
    [
        ([MAIN, OLD], {"partition": None}, "ok", "main: up, 4 of 4 nodes usable"),
        ([OLD], {"partition": None}, "wrong", "no default; set partition in the profile, there are: old"),
        ([MAIN, OLD], {"partition": "main,old", "cpus_per_task": 16}, "warning", "old: its largest node"),
        ([MAIN, OLD], {"partition": "main,old", "cpus_per_task": 65}, "wrong", "main: .*; old: "),
        ([Partition("main", True, False, None, 4, 4, 64, 9)], {}, "wrong", "main is down"),
        ([Partition("main", True, True, None, 4, 0, 64, 9)], {}, "wrong", "none of its 4 nodes is usable"),
        ([MAIN], {"mem": "245G"}, "wrong", "lower mem=245G"),
    ],
)
def test_partitions(found: list[Partition], asked: dict[str, object], level: str, expected: str) -> None:
    finding = checks.partitions(found, chosen(**asked))
    assert finding.level == level
    assert re.search(expected, finding.text)


HERE = {"versions": {"python": "3.11.7", "numba": "0.68.1"}, "sources": "abc"}
THERE = {
    "node": "n7",
    "executable": "/usr/bin/python",
    "versions": HERE["versions"],
    "sources": "abc",
    "cores": 4,
    "granted": "4",
    "threads": {},
    "reached": [["ib0", "10.0.0.1", 5000]],
    "locked": True,
}
LISTENING = [("ib0", "10.0.0.1", 5000)]


@pytest.mark.parametrize(
    ("differing", "subject", "level", "expected"),
    [
        ({}, "python", "ok", "n7"),
        ({"versions": {"python": "3.11.7"}}, "python", "wrong", "numba None, not 0.68.1: set python"),
        ({"sources": "abd"}, "python", "wrong", "different code of the same version"),
        ({"cores": 1}, "cores", "wrong", "cpus_per_task=4, but a job on n7 may use 1"),
        ({"cores": 64}, "cores", "ok", "not bound to their cores: 64 are visible"),
        ({"granted": "8"}, "cores", "warning", "Slurm granted 8"),
        ({"locked": False}, "locks", "warning", "nothing keeps two runs"),
        ({"reached": []}, "network", "wrong", r"does not reach this node \(ib0 10.0.0.1\)"),
    ],
)
def test_what_a_node_answers(differing: dict[str, Any], subject: str, level: str, expected: str) -> None:
    mine = chosen(cpus_per_task=4, interface="ib0")
    found = {one.subject: one for one in checks.answer({**THERE, **differing}, HERE, mine, LISTENING)}
    assert found[subject].level == level
    assert re.search(expected, found[subject].text)
    assert all(one.level == "ok" for one in found.values() if one.subject != subject)
