"""What a message of the family names as a remedy is typed as it stands, and works."""

import re
from pathlib import Path

import numpy as np
import pytest
from family_cases import composed, machine_of

from models.point import Batches, Point
from models.slurm import policies
from models.slurm.model import schedule, simulate
from sweep import cli

CONF = "SelectTypeParameters=CR_CPU_Memory\nNodeName=n[1-2] CPUs=4 RealMemory=8000\n"
ENFORCES = "AccountingStorageEnforce=limits\n"
BATCH = "PartitionName=batch Nodes=n[1-2] Default=YES\n"
FIELDS = (
    "JobID|User|Account|QOS|Partition|State|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|"
    "ReqMem|AllocTRES|Constraints"
)
JOB = "{id}|ann|lab|normal|{to}|COMPLETED|{at}|{at}|{at}|600|60|{cpus}|{nodes}|{mb}M|cpu={cpus},mem={mb}M|"
WORKS = "slurm_what_if.nc"
"""What a plan ends with."""


def job(number: int, to: str = "batch", cpus: int = 1, nodes: int = 1, mb: int = 100) -> str:
    at = f"2024-03-01T00:{number:02}:00"
    return JOB.format(id=1000 + number, at=at, to=to, cpus=cpus, nodes=nodes, mb=mb)


class Site:
    """A folder with a slurm.conf and a log."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def plan(self, *given: str, path: str = "slurm.conf") -> str:
        """Return what a plan prints."""
        command = ["+experiment=slurm_what_if", f"policy.path={path}", "workload.path=log.txt"]
        cli.main([*command, *given, "action=plan"])
        return "".join(self.capsys.readouterr())

    def write(self, conf: str, *jobs: str) -> None:
        (self.folder / "slurm.conf").write_text(conf)
        few = [job(number, "batch" if "PartitionName=batch" in conf else "") for number in range(50, 54)]
        (self.folder / "log.txt").write_text("\n".join([FIELDS, *jobs, *few, ""]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Site:
    monkeypatch.chdir(tmp_path)
    return Site(tmp_path, capsys)


def remedies(text: str) -> list[str]:
    """Return the settings that a message names."""
    return re.findall(r"((?:policy|workload|machine)\.\w+=(?:\[.*?'\]|\[[^'\]]*\]|\{[^}]*\}|[^\s,;]+))", text)


CASES = {
    "partitions": (
        CONF + BATCH,
        [job(1, "old"), job(2, "2080"), job(3, "batch")],
        r"policy\.partitions=\{old: b",
    ),
    "one partition": (CONF + BATCH, [job(1, "old"), job(3, "batch")], r"workload\.partition=batch"),
    "a list": (CONF + BATCH, [job(1, "batch,old"), job(3, "batch")], r"policy\.partitions=\{old: batch\}"),
    "limit": (CONF + BATCH.replace("\n", " MaxTime=30\n"), [job(1)], r"policy\.over_limit=cap"),
    "limit of a QOS": (
        f"{ENFORCES}{CONF}{BATCH}QosName=normal MaxTRES=cpu=2\n",
        [job(1, cpus=4), job(2, cpus=3)],
        r"policy\.lines=\['QosName=normal MaxTRESPerJob=cpu=4'\]",
    ),
    "limit of an account": (
        f"{ENFORCES}{CONF}{BATCH}Parent - 'root'\nAccount - 'lab':MaxTRESPerJob=cpu=2\n",
        [job(1, cpus=4)],
        r"policy\.lines=\['AccountingStorageEnforce=associations'\]",
    ),
    "time of a job": (
        f"{ENFORCES}{CONF}{BATCH}QosName=normal MaxWall=30\n",
        [job(1)],
        r"policy\.over_limit=cap",
    ),
    "budget": (
        f"{ENFORCES}{CONF}{BATCH}AccountingStorageType=accounting_storage/slurmdbd\n"
        "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0\nPriorityUsageResetPeriod=NONE\n"
        "QosName=normal GrpTRESMins=cpu=15\n",
        [job(1), job(2), job(3)],  # of ten minutes each, and four more
        r"policy\.lines=\['PriorityUsageResetPeriod=MONTHLY'\]",
    ),
    "time over the limit": (
        CONF + BATCH,
        [job(1).replace("|600|", "|7200|")],
        r"policy\.lines=\['OverTimeLimit=UNLIMITED'\]",
    ),
    "nodes of a job": (
        CONF + BATCH.replace("\n", " MaxNodes=1\n"),
        [job(1, cpus=4, nodes=2)],
        r"policy\.lines=\['PartitionName=batch Nodes=ALL Default=YES'\]",
    ),
    "nodes": (
        CONF + BATCH,
        [job(1, cpus=8, nodes=1, mb=9999), job(2, mb=12000)],
        r"policy\.lines=\['Nod[^,]*=12000",
    ),
    "nodes of a part": (
        f"{CONF}NodeName=b1 CPUs=2\n{BATCH}PartitionName=big Nodes=b1\n",
        [job(1, "big", cpus=8, nodes=2)],
        r"policy\.lines=.*PartitionName=big Nodes=b1,further\[1-2\]'",
    ),
    "features": (
        f"{CONF.rstrip()} Feature=old Gres=gpu:a100:1\n{BATCH}",
        [
            job(1).replace("cpu=1", "cpu=1,gres/gpu:a100=2") + "fast&(new|newer)",
            job(2).replace("cpu=1", "cpu=1,gres/gpu:a100=1") + "old",
        ],
        r"policy\.lines=.*Feature=fast,new,newer Gres=gpu:a100:2",
    ),
    "components": (
        CONF + BATCH,
        [job(1, nodes=2, cpus=2).replace("|", "+0|", 1), job(1).replace("|", "+1|", 1)],
        r"policy\.lines=\['NodeName=further1 ",
    ),
    "further nodes again": (
        f"{CONF}NodeName=further[4-5] CPUs=1 RealMemory=8000\nPartitionName=batch Nodes=ALL Default=YES\n",
        [job(1, nodes=6, cpus=6)],
        r"policy\.lines=\['NodeName=further\[6-11\] ",
    ),
    "size of the machine": (
        CONF + BATCH,
        [job(1, cpus=4), job(2, cpus=4), job(3, cpus=4)],
        r"policy\.lines=",
    ),
    "sharing": (f"{CONF}{BATCH[:-1]} OverSubscribe=YES:2\n", [job(1)], r"policy\.oversubscribe=\[batch\]"),
    "future": (f"{CONF[:-1]} State=FUTURE\n{BATCH}", [job(1)], r"policy.lines=\['DownNodes=n\[1-2\] State"),
    "no partitions": (CONF, [job(1, "")], r"policy\.lines=\['PartitionName=all Nodes=ALL'\]"),
    "no nodes": ("KillWait=30\n", [job(1, "")], r"policy\.lines=\['NodeName=n\[1-64\] CPUs=32 RealMemory=12"),
    "builtin": (
        f"SchedulerType=sched/builtin\n{CONF}{BATCH}",
        [job(1).replace("|", "+0|", 1), job(1).replace("|", "+1|", 1)],
        r"policy\.lines=\['SchedulerType=sched/backfill'\]",
    ),
    "licences": (
        f"Licenses=m:1\n{CONF}{BATCH}",
        [job(1).replace("cpu=1", "cpu=1,license/m=3")],
        r"policy\.lines=\['Licenses=m:3'\]",
    ),
}
LINEAR = "SelectType=select/linear\n"
SHARED = "PartitionName=s Nodes=n[8-9] OverSubscribe=FORCE:2\nNodeName=n[8-9] CPUs=4 {}\n"
WITHOUT = "lines=['PreemptType=preempt/none','PreemptMode=OFF'"
LINES = {
    "DownNodes=n[1-2]": "lines=['DownNodes=n1,n2 State=IDLE']",
    "NodeName=n3 CPUTot=4 State=DOWN": "lines=['DownNodes=n3 State=IDLE']",
    "PreemptMode=SUSPEND\nPreemptType=preempt/qos": f"{WITHOUT}]",
    "PreemptMode=GANG\nNodeName=n3 CPUs=4 ThreadsPerCore=2\nPartitionName=t Nodes=n3": f"{WITHOUT}]",
    f"PreemptMode=GANG\n{SHARED.format('ThreadsPerCore=2')}": f"{WITHOUT},'PartitionName=s Nodes=n8,n9",
    f"PreemptMode=GANG\n{LINEAR}{SHARED.format('Weight=2')}PartitionName=t Nodes=n1,n8": WITHOUT,
    f"{LINEAR}{SHARED.format('')}": "lines=['PartitionName=s Nodes=n8,n9 OverSubscribe=NO']",
    "KillWait=9": "slurm_version=24.11",
    "PriorityWeightQOS=9": "priority=multifactor",
    "PriorityType=priority/multifactor\nPriorityWeightAge=9": "lines=['AccountingStorageType=accounting_",
    "SuspendTime=9": "lines=['SuspendProgram=/sbin/power','ResumeProgram=/sbin/power']",
    "SelectType=select/alien": "lines=['SelectType=select/cons_tres']",
    "SLURM_VERSION=24.11\nSelectType=select/cons_res": "lines=['SelectType=select/cons_tres']",
    "SelectTypeParameters=CR_Foo": "lines=['SelectTypeParameters=CR_Core_Memory']",
    f"{LINEAR}SelectTypeParameters=CR_Core": "lines=['SelectTypeParameters=CR_Memory']",
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_LLN": "lines=['SelectTypeParameters=CR_Core",
    "PriorityDecayHalfLife=0": "lines=['PriorityDecayHalfLife=7-0']",
}
"""Lines beside two nodes and a partition -> the remedy, or its beginning."""
NODES = CONF.partition("\n")[2]
CASES |= {
    given: (f"{NODES}{BATCH}{given}\n", [job(1)], re.escape(f"policy.{remedy}"))
    for given, remedy in LINES.items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_works_as_it_is_typed(site: Site, name: str) -> None:
    conf, jobs, pattern = CASES[name]
    site.write(conf, *jobs)
    said = site.plan()
    assert re.search(pattern, said)
    remedy = next(one for one in remedies(said) if re.match(pattern, one))
    assert "'" not in remedy or f'"{remedy}"' in said, "a shell would remove its quotes"
    then = site.plan(remedy)
    assert WORKS in then, then
    assert not re.search(pattern, then)
    assert "error:" not in then


def test_a_pool_of_processors_is_no_remedy_where_there_are_nodes(site: Site) -> None:
    site.write(CONF + BATCH, job(1, cpus=4), job(2, cpus=4), job(3, cpus=4))
    assert "machine.processors" not in site.plan()
    site.write("KillWait=30\n", job(1, ""))
    assert "machine.processors=N" in site.plan()
    assert WORKS in site.plan("machine.processors=64")


MISFITS = [
    job(1),
    job(2, nodes=3, cpus=3),
    job(3, cpus=2, mb=9000),
    job(4, "old"),
    job(5, "batch", cpus=8, nodes=2),
    job(6, "old,batch"),
]
LIMITED = CONF + BATCH.replace("\n", " MaxTime=30\n")
FIT = {
    "refuse": (CONF + BATCH, [r"job 4 \(JobID 1004, line 5 of log.txt\) is for partition old"], None),
    "drop": (
        CONF + BATCH,
        ["10 kept; dropped nothing; then 4 misfits, 6 left",
         r"1 job was dropped .* \(old\): JobID 1004; add '?p",
         r"1 job was dropped .* \(old\), among others: Slurm rejects such a list as a whole: JobID 1006",
         r"2 jobs were dropped .* the nodes of their partition have: JobID 1002, 1003; add .policy.lines="],
        6,
    ),
    "cap": (
        CONF + BATCH,
        [r"1 job was dropped \(misfits=cap\); such jobs are", r"2 jobs were cut .*: JobID 1002, 1003"],
        8,
    ),
    "drop, jobs": (
        f"{ENFORCES}{CONF}{BATCH}QosName=normal MaxTRES=cpu=4\n",
        [r"1 job was dropped .* a job may have \(MaxTRESPerJob: QOS normal cpu=4\), which Slurm lets wait"],
        5,
    ),
    "cap, jobs": (
        f"{ENFORCES}{CONF}{BATCH}QosName=normal MaxTRES=cpu=4\n",
        [r"1 job was cut .* than a job may have .*: JobID 1005"],
        8,
    ),
    "drop, limits": (LIMITED, ["no job is left, because all of them ask for more time.*limit=cap"], None),
    "cap, limits": (LIMITED, ["8 time limits were cut to the partition's maximum"], 8),
}  # fmt: skip


@pytest.mark.parametrize("case", FIT)
def test_one_misfit_does_not_refuse_a_study(site: Site, case: str) -> None:
    """Jobs that ran and can never start are left out, cut or refused, and named as their log does."""
    conf, texts, n_jobs = FIT[case]
    site.write(conf, *MISFITS)
    said = site.plan(f"workload.misfits={case.partition(',')[0]}")
    assert all(re.search(text, said) for text in texts), said
    assert (WORKS in said) == (n_jobs is not None)
    if n_jobs is None:
        return
    policy, workload = (
        composed("policy", "slurm", path="slurm.conf"),
        composed("workload", "sacct", path="log.txt", misfits=case.partition(",")[0]),
    )
    point = Point(policy, workload, machine_of("log"), batches=Batches(None, 0, (1,)))
    log, made = policies.open_log(point), schedule(point)
    assert log is not None
    assert log.waited is not None
    assert len(made.jobs) == len(log.jobs) == log.waited.size == n_jobs  # waits are of the same jobs
    assert (made.jobs.size <= 8).all()
    assert not np.isnan(made.start).any()


def test_sharing_that_is_not_modelled_is_noted_with_its_share_of_the_jobs(site: Site) -> None:
    conf = CONF + BATCH.replace("\n", " OverSubscribe=YES:2\n")
    for lines, what in (
        (["ThreadsPerCore=2"], "several CPUs on a core or over 64 cores, as n1 has"),
        ([], ""),
    ):
        site.write("".join([conf.replace("CPUs=4", " ".join(["CPUs=4", *lines]))]), job(1), job(2))
        said = site.plan("policy.oversubscribe=[batch]")
        assert WORKS in said
        assert (f"with {what} (100.0% of the jobs use --oversubscribe there)" in said) == bool(what)
    assert "there is none" in site.plan(
        "policy.oversubscribe=[batch]", "policy.lines=['" + BATCH.strip() + "']"
    )


def test_jobs_that_a_spent_budget_holds_count_in_no_wait(site: Site) -> None:
    site.write(CASES["budget"][0], job(1), job(2), job(3))
    assert "about 5 jobs (71.4%) will find them spent and never start (JobID 1003, 1050" in site.plan()
    given = composed("policy", "slurm", path="slurm.conf"), composed("workload", "sacct", path="log.txt")
    made = simulate(Point(*given, machine_of("log"), batches=Batches(None, 0, (1,)))).metrics
    assert made["jobs"] == made["submitted"] * (1 - made["refused_share"])
    assert 0 < made["refused_share"] < 1
    by_job = simulate(Point(*given, machine_of("log"), batches=Batches(1, 0, (7,)))).metrics
    assert by_job["refused_share"][-1] == 1
    assert (by_job["period"] >= 0).all()
    assert np.isnan(made["energy"]).all(), "without policy.watts"
    site.write(CASES["budget"][0].replace("cpu=15", "cpu=0"), job(1))
    with pytest.raises(ValueError, match=r"slurm\.conf: no job ever starts, .* spent; raise GrpTRESMins"):
        simulate(Point(*given, machine_of("log"), batches=Batches(None, 0, (1,))))
    without = CASES["budget"][0].replace("AccountingStorageType=accounting_storage/slurmdbd", "# Slurm 24.11")
    site.write(without, job(1), job(2), job(3))
    assert "find them spent" not in site.plan(), "without slurmdbd nothing is counted"


@pytest.mark.parametrize("safe", ["", ",safe"])
@pytest.mark.parametrize("lines", ["", "PriorityDecayHalfLife=7-0\n", "PriorityUsageResetPeriod=MONTHLY\n"])
def test_a_budget_of_zero_holds_all_jobs_that_need_it(site: Site, safe: str, lines: str) -> None:
    """It is spent from the beginning, whatever decays or is reset; others, here without a GPU, run."""
    conf = CASES["budget"][0].replace("limits", f"limits{safe}").replace("=cpu=15", "=gres/gpu=0") + lines
    gpu = job(2).replace("cpu=1", "cpu=1,gres/gpu=1")
    site.write(conf.replace("RealMemory=8000", "RealMemory=8000 Gres=gpu:2"), job(1), gpu, job(3))
    said = site.plan()
    assert "about 1 job (14.3%) will find them spent and never start (JobID 1002)" in said
    assert "raise the limit" in said
    assert "PriorityUsageResetPeriod" not in said
    assert "each of these runs" not in said
    given = composed("policy", "slurm", path="slurm.conf"), composed("workload", "sacct", path="log.txt")
    made = simulate(Point(*given, machine_of("log"), batches=Batches(None, 0, (1,)))).metrics
    assert made["submitted"] * made["refused_share"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            "policy.bundle=slurm.conf",
            "error: policy.bundle=slurm.conf is not a bundle, as python -m slurm capture makes",
        ),
        (
            "policy.path=log.txt",
            "error: log.txt: has no line with KEY=VALUE, so it is not a slurm.conf; give",
        ),
        ("workload.misfits=refuse", "asks for --gres=gpu:2, but the nodes of slurm.conf have no generic res"),
    ],
)
def test_a_file_of_another_kind_is_one_fault(site: Site, given: str, words: str) -> None:
    site.write(CONF + BATCH, job(1).replace("cpu=1", "cpu=1,gres/gpu=2"))
    said = site.plan(given)
    assert words in said
    assert "faults" not in said


def test_a_line_of_a_qos_without_jobs_is_noted(site: Site) -> None:
    site.write(CONF + BATCH, job(1, ""))
    assert "policy.lines[1]: no job and no partition has QOS gost" in site.plan(
        "policy.lines=['QosName=gost GrpJobs=3']"
    )


def test_the_policy_file_of_the_guide_is_planned(site: Site) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "slurm_what_if.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(# Nodes are powered down.*?)```", guide, re.DOTALL)
    (site.folder / "own/policy/slurm").mkdir(parents=True)
    (site.folder / "own/policy/slurm/save.yaml").write_text(text)
    site.write(CONF.replace("\n", " Feature=gpu\n").replace(" Feature=gpu", "", 1) + BATCH, job(1))
    assert WORKS in site.plan("--config-dir=own", "grid.policy=[slurm,save]")


def test_no_file_and_no_machine(site: Site) -> None:
    site.write(CONF + BATCH, job(1, ""))
    said = site.plan(path="null")
    assert "replace policy.path=null by policy.path=FILE" in said
    assert WORKS in site.plan("machine.processors=64", path="null")
    assert "SLURM_VERSION=24.10; allowed: 14.03" in site.plan("policy.slurm_version=24.10"), "no number 24.1"
    assert WORKS in site.plan(path="slurm.conf")


@pytest.mark.parametrize("typed", ["{old: batch, 2080: batch}", "{2080: batch, old: batch, new: 3090}"])
def test_partitions_with_numbers_as_names(site: Site, typed: str) -> None:
    """In a policy's file, and on the command line."""
    conf = f"{CONF}{BATCH}PartitionName=3090 Nodes=n1\n"
    site.write(conf, job(1, "old"), job(2, "2080"), *([job(3, "new")] if "new" in typed else []))
    assert WORKS in site.plan(f"policy.partitions={typed}")
    folder = site.folder / "conf" / "policy" / "slurm"
    folder.mkdir(parents=True)
    (folder / "renamed.yaml").write_text(f"defaults: [_slurm, _self_]\npartitions: {typed}\n")
    assert WORKS in site.plan("grid.policy=[renamed]", "--config-dir", "conf")
