"""Versions of Slurm: what each row of the table says, on runs that real controllers of them have recorded."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from models.slurm.building import timers
from models.slurm.configuration import ConfigurationError, versions
from models.slurm.configuration.reading import of_lines, read
from models.slurm.configuration.versions import DEFAULTS, RULES, VALIDATED, Version
from models.slurm.scheduler import Phases
from slurm.cli import main
from slurm.testcluster import missing
from slurm.validation.cases import workload
from slurm.validation.comparing import Comparison, compare
from slurm.validation.observed import Observed

RUNS = Path(__file__).parents[1] / "data" / "slurm" / "runs"
"""Of ``python -m slurm validate jobs=60``, as VERSION_CASE_SEED: slurm.conf with what it includes, and of the
controller's log the lines that are read."""

EXACT = sorted(path.name.removesuffix(".tar.xz") for path in RUNS.iterdir())
CONF = ["NodeName=n[1-2] CPUs=4 RealMemory=4000", "PartitionName=all Nodes=ALL"]


def compared(run: str, folder: Path) -> Comparison:
    with tarfile.open(RUNS / f"{run}.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    _, rest = run.split("_", 1)
    case, _, seed = rest.rpartition("_")
    return compare(case, workload(int(seed), 60), folder)


@pytest.mark.parametrize("run", EXACT)
def test_each_job_starts_when_it_did_in_a_recorded_run(run: str, tmp_path: Path) -> None:
    found = compared(run, tmp_path)
    assert found.version.startswith(run.partition("_")[0])
    assert len(found.real) + found.left_out[0] == 60
    assert len({*found.left_out}) == 1, "the same jobs are refused or wait for ever"
    off = np.abs(found.model - found.real)
    assert off.max() < 0.3, f"starts differ by {off.round(2)} s"
    assert found.same_scheduler.all()
    assert found.preempted[0] == found.preempted[1]
    assert found.plans[0] >= 0.95 * found.plans[1] > 0


@pytest.mark.parametrize(
    ("rule", "run"),
    [
        ("rounds_up", "24.11_shares_3"),
        ("bounded", "24.11_shares_3"),
        ("last_relevant", "26.05_backfill_1"),
        ("first_node", "26.05_preemption_2"),
        ("completing_last", "26.05_devices_2"),
        ("switch_cpus", "24.11_switches_cpus_1"),
        ("first_with_few", "24.11_blocks_cpus_1"),
        ("ended_at", "26.05_licences_1"),
        ("merges_lines", "26.05_linear_1"),
        ("asked_sharing", "24.11_oversubscribe_1"),
        ("in_use", "26.05_oversubscribe_1"),
        ("ends_pass", "24.11_heterogeneous_at_once_1"),
        ("tests_on", "26.05_heterogeneous_1"),
        ("off_by_weight", "24.11_power_cpus_1"),
        ("always_decays", "24.11_multifactor_1"),
        ("checks_change", "24.11_power_cpus_1"),
        ("later_checks", "24.11_power_cpus_1"),
        ("token_rates", "24.11_power_cpus_1"),
        ("counts_active", "24.11_power_cpus_1"),
    ],
)
def test_without_a_rule_of_its_version_a_recorded_run_is_another_one(
    rule: str, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row of the table is needed: with the behaviour before it plans or starts differ."""
    since, before, _ = RULES[rule]
    monkeypatch.setitem(RULES, rule, (since, before, before))
    found = compared(run, tmp_path)
    same = found.plans[0] == found.plans[1] and np.abs(found.model - found.real).max() < 0.3
    assert not same, "plans and starts are alike without it"


def test_defaults_are_those_of_the_version() -> None:
    def settings(*lines: str) -> tuple[bool, bool, bool]:
        made = of_lines("slurm.conf", [*CONF, *lines]).settings
        return made.multifactor, made.linear, made.track_memory

    known = {"22.05.8": (False, True, False), "23.11.4": (True, False, True), "26.05": (True, False, True)}
    assert {one: settings(f"SLURM_VERSION={one}") for one in known} == known
    assert settings() == (False, False, True), "no version is named: select/cons_tres"
    assert settings("SelectTypeParameters=CR_Core", "SLURM_VERSION=24.11") == (True, False, False)
    assert settings("SLURM_VERSION=23.02", "SelectType=select/cons_tres")[1:] == (False, True)
    without_memory = of_lines("slurm.conf", ["NodeName=n[1-2] CPUs=4", CONF[1]])
    assert not without_memory.settings.track_memory
    assert {key for _, key, _ in DEFAULTS} == {"PriorityType", "SelectType", "SelectTypeParameters"}


def test_a_version_is_read_from_a_comment_from_scontrol_and_from_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("# Slurm 23.11.4 of the site\n" + "\n".join(CONF))
    assert read(path).settings.version == Version(23, 11, "23.11.4")
    assert not [note for note in read(path).notes if "VERSION" in note]
    path.write_text("# built from slurm-22-05-8-1\n" + "\n".join(CONF))
    assert read(path).settings.version is None
    given = {"policy.slurm_version": "SLURM_VERSION=24.11"}
    assert read(path, given).settings.version == Version(24, 11, "24.11")
    path.write_text("Configuration data as of 2026\nSLURM_VERSION           = 26.05.5\n\n" + "\n".join(CONF))
    assert read(path).settings.version == Version(26, 5, "26.05.5")
    with pytest.raises(ConfigurationError, match=r"SLURM_VERSION=new.* 26.05, or .* such as 22.05.8"):
        of_lines("slurm.conf", [*CONF, "SLURM_VERSION=new"])
    assert all(one in versions.note("slurm.conf", None) for one in (*VALIDATED, "policy.slurm_version="))
    of_log = versions.note("slurm.conf", None, "Slurm's sacct --json, version 23.11.4")
    assert "Slurm 23.11.4 printed the log: add policy.slurm_version=23.11.4" in of_log
    assert "Slurm 24.11;" in versions.note("slurm.conf", Version.of("24.11"))
    assert "Slurm 27.05 with the rules of 26.05;" in versions.note("slurm.conf", Version.of("27.05"))


def test_times_of_a_dump_that_begins_with_qos_are_seconds() -> None:
    line = "QOS - 'bulk':Description='bulk':GraceTime=3680:MaxTRESPerUser=cpu=20:Preempt='normal':Priority=20"
    made = of_lines("slurm.conf", [*CONF, line, "QOS - 'normal':Description='Normal QOS default'"])
    assert (made.qos["bulk"].grace, made.qos["bulk"].user_tres) == (3680, {"cpu": 20})


LOG = """\
[2026-11-24T12:00:00.100] slurmctld version 26.05.5 started on cluster lab(0)
[2026-11-24T12:00:10.200] _slurm_rpc_submit_batch_job: JobId=1 SLUID=s1 InitPrio=1 usec=508
[2026-11-24T12:00:30.500] sched/backfill: _attempt_backfill: BACKFILL: beginning
[2026-11-24T12:00:30.500] debug2: select/cons_tres: select_p_job_test: evaluating JobId=1
[2026-11-24T12:00:30.501] debug2: Spawning RPC agent for msg_type REQUEST_BATCH_JOB_LAUNCH
[2026-11-24T12:00:30.501] sched/backfill: _start_job: BACKFILL: Jobs backfilled since boot: 1
[2026-11-24T12:00:30.502] debug2: Tree head got back 0 looking for 1
[2026-11-24T12:00:30.5] sched/backfill: _dump_job_sched: BACKFILL: JobId=3 to start at 2026-11-24T12:02:00, e
[2026-11-24T12:00:40.000] debug2: Spawning RPC agent for msg_type REQUEST_TERMINATE_JOB
[2026-11-24T12:00:40.000] _job_complete: JobId=1 SLUID=s1 done
[2026-11-24T12:00:40.001] debug2: Tree head got back 0 looking for 2
[2026-11-24T12:00:40.002] debug2: Tree head got back 1
[2026-11-24T12:00:40.030] debug2: Tree head got back 2
[2026-11-24T12:00:50.000] slurm_job_preempt: preempted JobId=4 SLUID=s4 had to be killed
"""


def test_the_log_of_a_newer_version_is_read() -> None:
    found = Observed.of(LOG.splitlines())
    zero = found.submitted[1]
    assert found.version == Version(26, 5, "26.05.5")
    assert found.started_by == {1: "backfill"}
    assert found.started[1] - zero == pytest.approx(20.301)
    assert [(job, at - zero) for _, job, at in found.plans] == [(3, pytest.approx(109.8))]
    assert [job for _, job in found.preempted] == [*found.killed] == [4]
    np.testing.assert_allclose(found.answers([1]), [[0.03, 0.036]], atol=1e-6)


@pytest.mark.parametrize(("passes", "early"), [((3, 5), [3]), ((3, 6), []), ((3, 7), [6])])
def test_a_wake_up_takes_the_second_that_explains_its_passes(
    passes: tuple[int, ...], early: list[int]
) -> None:
    """A job is submitted in each second, so that a pass is due three seconds after the last one: a gap of two
    shows that the first wake-up saw the second before, one of four that the one between did."""
    base = 1_795_000_000.0
    submitted = {k: base + k - 0.5 for k in range(1, 9)}
    found = Observed(
        submitted=submitted, passes=[base + at + 0.001 for at in passes], version=Version.of("24.11")
    )
    readings = {round(at - base): at % 1 > 0.5 for at in found.clock_readings()}
    assert [
        second for second, is_early in readings.items() if is_early and 3 <= second <= passes[-1]
    ] == early


@pytest.mark.parametrize(("version", "tick", "first"), [("22.05", 1.0017, 0.3), ("23.11", 1.0, 1.0)])
def test_the_background_thread_looks_as_its_version_does(version: str, tick: float, first: float) -> None:
    configuration = of_lines("slurm.conf", [*CONF, f"SLURM_VERSION={version}"])
    made = timers(configuration, Phases(clock=0.3), 1, 0)
    assert (made["settings"]["tick"][0], made["state"]["next_tick"][0]) == (tick, first)
    own = timers(configuration, Phases(period=0.5), 1, 0)
    assert own["settings"]["tick"][0] == 0.5


def test_a_folder_without_slurm_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "not in" in missing(root=tmp_path) or "only root" in missing(root=tmp_path)
    for folder in (tmp_path / "none", tmp_path):
        assert main(["validate", "cases=builtin", f"slurm={folder}"]) != 0
        assert capsys.readouterr().err.count("\n") == 1
