"""A slurm.conf as it is written on real clusters, and one clear line for each mistake."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed

from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.slurm import building, gang, power
from models.slurm.asked import MisfitError, asked
from models.slurm.configuration import (
    ConfigurationError,
    Partition,
    Settings,
    hostlist,
    read,
    reading,
    values,
)
from models.slurm.configuration.accounting import Association, Qos
from models.slurm.configuration.configuration import ALONE
from models.slurm.configuration.keys import LINES
from models.slurm.configuration.nodes import NodeKeys
from models.slurm.configuration.reading import of_lines
from models.slurm.configuration.settings import Preempt, requeue_wait
from models.slurm.configuration.values import NEVER
from models.slurm.configuration.versions import RULES
from models.slurm.fitting import limited
from models.slurm.kernel import tables
from models.slurm.policies import Rules, as_pool, wanted, with_moved
from models.slurm.preemption import levels_of
from models.slurm.scheduler import LIMITS

SLURM = Path(__file__).parents[2] / "data" / "slurm"

CONF = """\
# A comment
ClusterName=test   # and one behind a line
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=2880,\\
defer,bf_max_job_test=200
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
Include nodes.conf
NodeSet=gpus Feature=a100
PartitionName=DEFAULT MaxTime=2-0 DefaultTime=60 State=UP
PartitionName=batch Nodes=n[001-004] Default=YES PriorityTier=2 OverTimeLimit=5
PartitionName=gpu Nodes=gpus MaxTime=12:30:00 OverSubscribe=EXCLUSIVE AllowAccounts=physics
"""

NODES = """\
NodeName=DEFAULT CPUs=8 RealMemory=32000
NodeName=n[001-004] Weight=2
NodeName=g[1-2] Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CPUs=64 RealMemory=256000 \\
  Gres=gpu:a100:4(S:0-1),nvme:1 Feature=a100
NodeName=n005 State=DOWN Reason="fan broken"
"""


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "nodes.conf").write_text(NODES)
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


def test_a_file_with_everything(conf: Path) -> None:
    made = read(conf)
    assert [node.name for node in made.nodes] == ["n001", "n002", "n003", "n004", "g1", "g2", "n005"]
    assert (made.nodes[0].cpus, made.nodes[0].memory, made.nodes[0].weight) == (8, 32000, 2)
    assert made.nodes[4].gres == {"gpu:a100": 4, "nvme": 1}
    assert not made.nodes[6].up
    batch, gpu = made.partitions
    assert (batch.nodes, batch.tier, batch.max_time, batch.default_time) == ((0, 1, 2, 3), 2, 172_800, 3600)
    assert (gpu.nodes, gpu.max_time, gpu.sharing, gpu.restricted) == (
        (4, 5),
        45_000,
        ("EXCLUSIVE", 1),
        ("allowaccounts",),
    )
    assert batch.over_time == 300
    assert made.default_partition is batch
    found = made.settings
    assert (found.bf_interval, found.bf_window, found.bf_max_job_test) == (60, 172_800, 200)
    assert (found.defer, found.track_memory) == (True, True)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("ShedulerType=sched/backfill", "ShedulerType is not a key of slurm.conf .*did you mean Scheduler"),
        ("NodeName=n2 CPU=4", "CPU is not a key of a line NodeName=.*did you mean CPUs"),
        ("PartitionName=b Nodes=n1 Colour=red", "Colour is not a key of a line PartitionName=.* no effect$"),
        ("SchedulerParameters=rl_enable", "rl_enable is not a word of SchedulerParameters known here"),
        ("User - 'ann':Colour=red", "Colour is not a key of a line User="),
        ("NodeName=n2 Feature= Gres=gpu:1", "Feature= is followed by Gres=, which Slurm takes as its value"),
        ('Epilog="/x', "Epilog begins with an unmatched quotation mark"),
    ],
)
def test_what_is_unknown_is_noted(line: str, note: str) -> None:
    """A newer version may have it, and Slurm takes it."""
    made = of_lines("slurm.conf", [NODE, PARTITION, line])
    assert [one for one in made.notes if re.search(note, one)]


OLD = "CacheGroups CheckpointType JobCheckpointDir SchedulerPort SchedulerRootFilter MemLimitEnforce"
NEW = "PrologFlags ResumeTimeout EnforcePartLimits MaxTasksPerNode DependencyParameters TLSType"


@pytest.mark.parametrize(
    "line",
    [
        *(f"{key}=1" for key in f"{OLD} {NEW}".split()),
        "SchedulerParameters=kill_invalid_depend,enable_job_state_cache,assoc_limit_continue,bf_yield_rpc_cnt=9",
        "PluginDir = /usr/lib64/slurm",
        "jobcomploc =/var/log/x",
        "PrologFlags= Alloc",
    ],
)
def test_keys_without_part_in_schedules_say_nothing(line: str) -> None:
    assert of_lines("slurm.conf", [NODE, PARTITION, line]).notes == ()


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("SchedulerParameters==bf_max_job_user=20,bf_window=4320", "bf_max_job_user", 20),
        ('SchedulerParameters = "bf_continue, bf_max_job_user=7"', "bf_max_job_user", 7),
        ("SchedulerParameters=max_job_bf=50", "bf_max_job_test", 50),
        ("SchedulerParameters=bf_max_job_user=7,bf_max_job_user=9", "bf_max_job_user", 7),
        ("SchedulerParameters=bf_continue;bf_max_job_user=7s", "bf_max_job_user", 7),
        ("KillWait = 2k", "kill_wait", 2048),
        ("KillWait = 40", "kill_wait", 40),
        ('killwait="50" Epilog=o\'brien', "kill_wait", 50),
        ("Epilog=", "epilog", False),
        ("Epilog=/a\\#b", "epilog", True),
        ("PriorityFavorSmall=FALSE", "favor_small", False),
        ("PriorityFavorSmall=true", "favor_small", True),
        ("PriorityWeightTRES=cpu=800,mem=-100M", "of_tres", {"cpu": 800, "mem": -100}),
        (
            "PriorityWeightTRES=CPU=.5,Mem=1G,gres/gpu=2K",
            "of_tres",
            {"cpu": 0.5, "mem": 2**-10, "gres/gpu": 2**-9},
        ),
    ],
)
def test_values_as_slurm_parses_them(line: str, key: str, value: Any) -> None:
    """See src/common/parse_config.c and `_tres_weight_item` of src/common/slurm_protocol_api.c."""
    assert getattr(of_lines("slurm.conf", [NODE, PARTITION, line]).settings, key) == value


def test_includes(tmp_path: Path) -> None:
    """An absolute path that is not there, a pattern, the name of the cluster, and a folder in a folder."""
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.conf").write_text("NodeName=n1 CPUs=4 # of b \\\nInclude conf.d/b.conf\n")
    (tmp_path / "conf.d" / "b.conf").write_text("NodeName=n2 \\\n  CPUs=4\n")
    (tmp_path / "test.conf").write_text("PartitionName=all Nodes=ALL\n")
    path = tmp_path / "slurm.conf"
    path.write_text("ClusterName=Test\nInclude conf.d/a*.conf\ninclude /etc/no_such_folder/%c.conf\n")
    made = read(path)
    assert [len(made.nodes), len(made.partitions[0].nodes)] == [2, 2]
    assert made.notes == (
        "slurm.conf, line 3 includes /etc/no_such_folder/%c.conf, which does not exist: test.conf "
        "beside it is read instead",
    )


@pytest.mark.parametrize(
    ("keys", "cpus", "threads"),
    [
        ("CPUs=8 CPUSpecList=0,1", 6, 1),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 cpuspeclist=0-2,15", 10, 2),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=3", 10, 2),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=3", 5, 1),
        ("CPUs=8 CoreSpecCount=8", 7, 1),
        ("CPUs=8 CPUSpecList=0,8", 8, 1),
        ("CPUs=12 Sockets=2 CoresPerSocket=4", 8, 1),
        ("CPUs=2 Sockets=2 CoresPerSocket=4", 2, 1),
        ("CPUs=12 CoresPerSocket=5", 5, 1),
        ("CPUs=16 CoresPerSocket=4 ThreadsPerCore=2", 16, 2),
        ("CPUs=0 Sockets=0 CoresPerSocket=0 ThreadsPerCore=0", 1, 1),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16, 1),
    ],
)
def test_cpus_of_a_node(keys: str, cpus: int, threads: int) -> None:
    """As `_parse_nodename` and `_init_node_record` of Slurm 22.05 have them."""
    (node,) = of_lines("slurm.conf", [f"NodeName=n1 {keys}", PARTITION]).nodes
    assert (node.cpus, node.threads) == (cpus, threads)


def test_cpus_that_fit_nothing_are_noted() -> None:
    made = of_lines("slurm.conf", ["NodeName=n1 CPUs=12 Sockets=2 CoresPerSocket=4", PARTITION])
    (note,) = made.notes
    assert "CPUs=12 is neither 2 sockets, 8 cores nor 8 threads: Slurm takes CPUs=8" in note


def test_memory_that_is_set_aside() -> None:
    lines = ["NodeName=n1 RealMemory=9 MemSpecLimit=4", "NodeName=n2 RealMemory=9 MemSpecLimit=9"]
    assert [node.memory for node in of_lines("slurm.conf", [*lines, PARTITION]).nodes] == [5, 9]


@pytest.mark.parametrize(
    ("line", "up"),
    [
        ("DownNodes=n[2-3] State=DOWN Reason=power", [1, 0, 0]),
        ("downnodes=n3", [1, 1, 0]),
        ("DownNodes=n3 State=DRAIN", [1, 1, 0]),
        ("DownNodes=n3 State=FUTURE", [1, 1]),
        ("DownNodes=n9", [1, 1, 1]),
        ("NodeName=n4 State=FUTURE", [1, 1, 1]),
        ("NodeName=n4 State=CLOUD", [1, 1, 1, 1]),
        ("NodeName=n4 State=IDLE*+DRAIN", [1, 1, 1, 0]),
        ("NodeName=n4 State=IDLE+CLOUD+POWERED_DOWN", [1, 1, 1, 1]),
    ],
)
def test_nodes_that_are_down_or_absent(line: str, up: list[int]) -> None:
    made = of_lines("slurm.conf", ["NodeName=n[1-3] CPUs=4", "PartitionName=all Nodes=n[1-3]", line])
    assert [node.up for node in made.nodes] == [bool(one) for one in up]
    known = ("no NodeName line names n9: it has no effect", "1 node has State=CLOUD, but all nodes are up")
    assert not [note for note in made.notes if not any(one in note for one in known)]
    pool = as_pool(made, {"processors": None})
    assert pool["processors"] == sum(node.cpus for node in made.nodes if node.up)


@pytest.mark.parametrize("keys", ["", 'Nodes=""', "Nodes=", "State=DOWN", "Nodes=f1"])
def test_partitions_without_nodes_are_left_out(keys: str) -> None:
    lines = [NODE, PARTITION, "NodeName=f1 State=FUTURE", f"PartitionName=spare {keys}"]
    made = of_lines("slurm.conf", lines)
    assert ([one.name for one in made.partitions], len(made.notes)) == (["all"], 1)
    assert "partition spare has no nodes: it is left out" in made.notes[0]


def test_of_several_default_partitions_the_last_one_counts() -> None:
    lines = [NODE, *(f"PartitionName={name} Nodes=n1 Default=YES" for name in "ab"), PARTITION]
    assert of_lines("slurm.conf", lines).default_partition.name == "b"


@pytest.mark.parametrize("no", ["NO", "False", "FALSE", "0", "no"])
def test_rules_that_are_off_restrict_nothing(no: str) -> None:
    keys = " ".join(
        f"{key}={no}" for key in ("ExclusiveUser", "ReqResv", "LLN", "Default", "Hidden", "RootOnly")
    )
    (made,) = of_lines("slurm.conf", [NODE, f"{PARTITION} {keys}"]).partitions
    assert (made.restricted, made.least_loaded, made.default) == ((), False, False)


@pytest.mark.parametrize(
    ("key", "noted"),
    [("State=UP", ()), ("State=DOWN", ("state",)), ("State=inactive", ("state",))],
)
def test_a_key_of_a_partition_without_effect_is_noted(key: str, noted: tuple[str, ...]) -> None:
    (made,) = of_lines("slurm.conf", [NODE, f"{PARTITION} {key}"]).partitions
    assert made.restricted == noted


@pytest.mark.parametrize(
    ("period", "first"),
    [
        ("none", []),
        ("NOW", []),
        ("Daily", ["2024-03-02", "2024-03-03"]),
        ("WEEKLY", ["2024-03-03", "2024-03-10"]),  # on Sundays
        ("MONTHLY", ["2024-04-01", "2024-05-01"]),
        ("QUARTERLY", ["2024-04-01", "2024-07-01"]),
        ("YEARLY", ["2025-01-01"]),
    ],
)
def test_usage_is_reset_at_midnight(period: str, first: list[str]) -> None:
    begin, end = np.array(["2024-03-01", "2025-03-01"], "datetime64[s]").astype(float)
    settings = of_lines("slurm.conf", [NODE, PARTITION, f"PriorityUsageResetPeriod={period}"]).settings
    found = settings.resets(begin, end).astype("datetime64[s]")
    assert [str(at) for at in found[:2]] == [f"{day}T00:00:00" for day in first]


def test_devices_are_compared_without_case() -> None:
    made = of_lines("slurm.conf", ["NodeName=n1 CPUs=4 Gres=gpu:A100:2", PARTITION])
    zero = np.zeros(1)
    two = np.full(1, 2)
    request = Requests.of(two, two, gres={"GPU:a100": two})
    jobs = Jobs(zero, zero + 60, zero + 60, two, two, request=request)
    found = asked(jobs, made)
    assert (made.gres, {name: n.tolist() for name, n in found.request.gres.items()}) == (
        ("gpu:a100", "gpu"),
        {"gpu:a100": [2]},
    )


OF_SHOWN = """\
ClusterName=t
SlurmctldHost=head(127.0.0.1)
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters==bf_max_job_user=20,bf_window=4320
NodeName=DEFAULT Sockets=2 CoresPerSocket=4
NodeName=c1 CPUs=8 ThreadsPerCore=2 CoreSpecCount=3 RealMemory=1000 MemSpecLimit=100 Weight=7
NodeName=n[1-3] CPUs=12 Sockets=2 CoresPerSocket=4 RealMemory=32000 Feature=a,b
NodeName=s1 CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CPUSpecList=0-2,15 RealMemory=32000 Feature=ib
NodeName=f1 CPUs=4 State=FUTURE
DownNodes=n3 State=DOWN Reason="no power"
PartitionName=DEFAULT State=UP
PartitionName=batch Nodes=n[1-3],f1 Default=YES MaxTime=INFINITE OverTimeLimit=5
PartitionName=spec Nodes=s1,c1 MaxTime=2-0 DefaultTime=30 PriorityTier=3 Shared=FORCE:2 DefMemPerCPU=100
PartitionName=spare
PartitionName=admin Nodes=""
Epilog= KillWait=77
"""


@pytest.mark.parametrize("file", ["scontrol.txt", "scontrol_oneline.txt"])
def test_what_a_real_slurm_makes_of_a_file(file: str) -> None:
    """Slurm 22.05.8 read `OF_SHOWN`; `scontrol show` of config, partition, node and so on printed this."""
    shown = read(SLURM / file)
    more = ["DownNodes=n2 State=DRAIN", *["SLURM_VERSION=22.05.8"] * (file == "scontrol.txt")]
    given = of_lines("slurm.conf", [*OF_SHOWN.splitlines(), *more])
    assert [replace(node, line=0) for node in shown.nodes] == [replace(node, line=0) for node in given.nodes]
    off = Preempt()
    assert shown.partitions == tuple(replace(one, preempt=off) for one in given.partitions)
    assert [one.name for one in given.partitions] == ["batch", "spec"]
    assert shown.settings == given.settings
    assert (shown.settings.bf_window, shown.settings.kill_wait, shown.settings.epilog) == (259_200, 30, True)
    (reserved,) = shown.reservations
    assert (reserved.name, reserved.nodes, reserved.end - reserved.begin) == ("m", (1,), 3600)
    assert [note for note in shown.notes if "n2 State=IDLE" in note or "f1, which scontrol" in note] != []


def test_keys_that_a_real_slurm_shows_are_known() -> None:
    """All except keys of its state; `[0]` marks one of several."""
    text = (SLURM / "scontrol.txt").read_text().partition("Cgroup Support")[0]
    shown = set(re.findall(r"^(\w+)(?:\[0\])? += ", text, re.MULTILINE))
    assert len(shown) > 170
    known = {*ALONE, *LINES}
    assert {one for one in shown if one.lower() not in known} == {
        "BOOT_TIME", "HASH_VAL", "MULTIPLE_SLURMD", "NEXT_JOB_ID", "SLURM_CONF",
    }  # fmt: skip


RECORDS = """\
PartitionName=batch
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO ExclusiveTopo=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED
   NodeSets=ALL
   Nodes=n[1-2]
   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=8 TotalNodes=2 SelectTypeParameters=NONE
   JobDefaults=(null)
   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED
   ResumeTimeout=GLOBAL SuspendTimeout=GLOBAL SuspendTime=GLOBAL PowerDownOnIdle=NO

No reservations in the system
NodeName=n1 Arch=x86_64 CoresPerSocket=4
   CPUAlloc=0 CPUTot=4 CPULoad=N/A
   AvailableFeatures=(null)
   Gres=gpu:A100:2(S:0-1)
   OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC
   RealMemory=32000 AllocMem=0 FreeMem=N/A Sockets=1 Boards=1
   State=IDLE+CLOUD+POWERED_DOWN ThreadsPerCore=1 TmpDisk=0 Weight=3 Owner=N/A MCS_label=N/A
   Comment=bought = later

NodeName=n2 CPUs=4
   KillWait=50
ReservationName=lic StartTime=2024-03-05T08:00:00 EndTime=2024-03-05T09:00:00 Duration=01:00:00
   Nodes= NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) Flags=ANY_NODES,LICENSE_ONLY
   Users=root Groups=(null) Accounts=(null) Licenses=matlab:2 State=ACTIVE BurstBuffer=(null)
ReservationName=cores StartTime=2024-03-05T08:00:00 EndTime=2024-03-05T09:00:00 Duration=01:00:00
   Nodes=n2 NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=(null) Flags=SPEC_NODES
     NodeName=n2 CoreIDs=0-1
   TRES=cpu=2
"""


def test_records_of_other_versions_beside_lines(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(f"OverTimeLimit=7\nDefMemPerNode=5\n{RECORDS}")
    made = read(tmp_path / "slurm.conf")
    assert [(node.name, node.cpus, node.weight, node.up) for node in made.nodes] == [
        ("n1", 4, 3, True),
        ("n2", 4, 1, True),
    ]
    assert made.nodes[0].gres == {"gpu:a100": 2}
    (batch,) = made.partitions
    assert (batch.over_time, batch.memory_node, batch.max_time, batch.restricted) == (420, 5, 86_400, ())
    assert made.settings.kill_wait == 50
    assert [one.name for one in made.reservations] == ["cores"]
    assert [note.partition(": ")[2] for note in made.notes if "State=CLOUD" not in note] == [
        "reservation lic of licences has no effect here",
        "reservation cores of some cores takes all cores of its nodes here",
    ]


def test_further_lines_win(conf: Path) -> None:
    made = read(conf, {"first": "SchedulerType=sched/builtin", "second": "PartitionName=gpu Nodes=g1"})
    assert not made.settings.backfill
    assert made.partitions[1].nodes == (4,)


def test_what_scontrol_shows(tmp_path: Path) -> None:
    path = tmp_path / "config.txt"
    path.write_text(
        "Configuration data as of 2026-11-24T12:00:00\nKillWait                = 30 sec\n"
        "SchedulerParameters     = bf_interval=45\nBOOT_TIME               = 2026-11-24T11:00:00\n"
        "EpilogSlurmctld         = (null)\n\nSlurmctld(primary) at host is UP\n"
    )
    made = read(path, {"a": "NodeName=n1 CPUs=4", "b": "PartitionName=all Nodes=n1"})
    assert (made.settings.bf_interval, made.settings.kill_wait) == (45, 30)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[08-10],login", ["n08", "n09", "n10", "login"]),
        ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
        ("n[001-003]-ib", ["n001-ib", "n002-ib", "n003-ib"]),
    ],
)
def test_lists_of_nodes(text: str, names: list[str]) -> None:
    assert hostlist.expand(text) == names


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 3600), ("0:30", 30), ("12:30:00", 45_000), ("1-12:30", 131_400), ("INFINITE", None)],
)
def test_durations(text: str, seconds: int | None) -> None:
    assert values.minutes(text) == seconds


OTHER = "PartitionName=b Nodes=n[1-2]"


@pytest.mark.parametrize(
    ("lines", "saves", "idle", "kept"),
    [
        ([], False, None, None),
        (["SuspendTime=600"], True, [600] * 4, [-1] * 4),
        (["SuspendTime=-1"], False, None, None),
        (["SuspendTime=600", "PreemptMode=GANG"], False, None, None),
        ([f"{OTHER} SuspendTime=90"], True, [90, 90, NEVER, NEVER], [-1] * 4),
        (["SuspendTime=60", f"{OTHER} SuspendTime=NONE"], True, [NEVER] * 2 + [60] * 2, [-1] * 4),
        (["SuspendTime=60", "SuspendExcNodes=n[1,3]", "SuspendExcParts=all,b"], True, [60] * 4, [0] * 4),
        (["SuspendTime=60", "SuspendExcNodes=n[1,3]:1,n4:2"], True, [60] * 4, [1, -1, 1, 2]),
    ],
)  # fmt: skip
def test_which_nodes_are_powered_down(lines: list[str], saves: bool, idle: object, kept: object) -> None:
    nodes = ["NodeName=n[1-4] CPUs=2", "PartitionName=all Nodes=ALL"]
    made = of_lines("slurm.conf", ["SuspendProgram=/off", "ResumeProgram=/on", *nodes, *lines])
    assert made.saves_power == saves
    assert any("SuspendTime=600 has no effect" in note for note in made.notes) == (
        "PreemptMode=GANG" in lines
    )
    if saves:
        assert power.longest(made, "suspend_time").tolist() == idle
        assert power.kept(made)[0].tolist() == kept
        assert "boot in 60 s" in power.check(made)[0]
        with pytest.raises(ConfigurationError, match=r"boot_time=61, and ResumeTimeout of .* is 60 s"):
            power.check(replace(made, boot_time=61.0))


NODE, PARTITION = "NodeName=n1 CPUs=4", "PartitionName=all Nodes=n1"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([NODE, "PartitionName=all Nodes=n[1-2]"], ["n2", "no NodeName line"]),
        ([NODE, "PartitionName=all Nodes=n[1-"], ["Nodes=n[1-", "bracket"]),
        (["NodeName=n1 CPUs=four"], ["CPUs=four", "a whole number"]),
        ([NODE, f"{PARTITION} MaxTime=soon"], ["MaxTime=soon", "minutes"]),
        ([NODE, PARTITION, "KillWait 30"], ["KillWait is not KEY=VALUE; write KillWait=..."]),
        ([NODE, PARTITION, "SchedulerType sched/x"], ["slurm.conf: SchedulerType is not KEY=VALUE"]),
        ([NODE, PARTITION, 'Epilog="/x\' y"z'], ["a word is not KEY=VALUE", "quotes around blanks"]),
        ([NODE, PARTITION, "PriorityWeightTRES=cpu=few"], ["cpu=few", "weights such as"]),
        ([NODE, PARTITION, "PriorityUsageResetPeriod=HOURLY"], ["ResetPeriod=HOURLY; allowed: NONE, NOW"]),
        ([NODE, f"{PARTITION} OverTimeLimit=abc"], ["OverTimeLimit=abc; allowed: minutes"]),
        ([NODE, f"{PARTITION} OverSubscribe=FORCE:65536"], ["OverSubscribe=FORCE:65536", "1 to 1,000"]),
        ([NODE, f"{PARTITION} OverSubscribe=YES:0"], ["OverSubscribe=YES:0", "1 to 1,000"]),
        (["NodeName=n1 CPUs=99999999"], ["CPUs=99999999", "0 to 65,535"]),
        (["NodeName=n1 Sockets=99999999"], ["Sockets=99999999", "0 to 65,535"]),
        (["NodeName=n1 CPUs=4 Gres=gpu:999999999G"], ["Gres=gpu:999999999G", "at most 999,999,999,999"]),
    ],
)
def test_a_mistake_is_one_line(lines: list[str], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        of_lines("slurm.conf", lines)
    line = str(raised.value)
    assert "\n" not in line
    assert "faults" not in line
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("PreemptType=preempt/qos", ["PreemptType=qos with PreemptMode=OFF", "preempt/none"]),
        ("SchedulerParameters=bf_interval=often", ["bf_interval=often", "a whole number"]),
        ("PreemptMode=GANG\nSchedulerTimeSlice=0", ["SchedulerTimeSlice=0", "1 to 65,533"]),
        (f"PreemptMode=GANG\n{PARTITION} OverSubscribe=YES:2", ["OverSubscribe=YES", "FORCE:n"]),
        (f"PreemptMode=GANG\n{NODE} ThreadsPerCore=2", ["4 CPUs, 2 on a core", "policy.lines"]),
        (
            "PreemptMode=GANG\nPartitionName=b Nodes=n1 OverSubscribe=FORCE",
            ["partition b", "PreemptMode=OFF"],
        ),
        (
            "PreemptMode=GANG\nSelectType=select/linear\nNodeName=n9 Weight=2\n"
            "PartitionName=q Nodes=n1,n9 OverSubscribe=FORCE:4",
            ["partition q", "on nodes of several weights", "PreemptMode=OFF"],
        ),
        ("PreemptMode=GANG,REQUEUE", ["PreemptMode=REQUEUE", "policy.lines"]),
        (f"SelectType=select/linear\n{PARTITION} OverSubscribe=FORCE:4", ["FORCE:4", "with select/linear"]),
        (f"PreemptMode=REQUEUE\nPreemptType=preempt/qos\n{PARTITION} OverSubscribe=FORCE", ["h preemption"]),
        (f"{NODE} ThreadsPerCore=2\n{PARTITION} OverSubscribe=FORCE", ["as n1 has", "OverSubscribe=NO"]),
        ("PreemptMode=SUSPEND", ["PreemptMode=SUSPEND is not", "REQUEUE, CANCEL"]),
        ("PreemptMode=SUSPEND,GANG\nPreemptType=preempt/qos", ["preemption with GANG", "partition_prio"]),
    ],
)
def test_what_is_not_modelled_is_refused(line: str, words: list[str]) -> None:

    def check() -> None:
        made = of_lines("slurm.conf", [NODE, PARTITION, *line.splitlines()])
        levels_of(made)
        gang.check(made)

    with pytest.raises(ConfigurationError) as raised:
        check()
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("SelectTypeParameters=CR_Foo", "CR_Foo; allowed: one of CR_CPU, .*SelectTypeParameters=CR_Core_M"),
        ("SelectTypeParameters=CR_CPU,CR_Core", "=CR_CPU,CR_Core; allowed: one of"),
        ("SelectTypeParameters=CR_CPU,CR_ONE_TASK_PER_CORE", "; allowed: one of"),
        ("SLURM_VERSION=23.11\nSelectType=select/cons_res", "cons_res since 23.11, and 23.11 is its version"),
        ("SelectType=cons_tres", "SelectType=cons_tres; allowed: select/cons_tres"),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_Memory,CR_LLN", "=CR_Core_Memory,CR_LLN'"),
        ("PriorityCalcPeriod=0", "PriorityCalcPeriod=0; allowed: a duration of at least 1 s"),
        ("EnforcePartLimits=MAYBE", "EnforcePartLimits=MAYBE; allowed: NO, ANY, ALL"),
        ("AccountingStorageEnforce=limit", "Enforce=limit; allowed: associations, limits"),
        ("SLURM_VERSION=13.12", "13.12; allowed: 14.03, .*, 26.05, or a correction"),
        ("SLURM_VERSION=99.05", "99.05; allowed: 14.03, .*; later ones up to 29.11 have the rules of 26.05"),
        ("KillWait=30 MinJobAge=300", "line 3: MinJobAge= follows KillWait=, with which Slurm does not"),
        ("SchedulerParameters=defer, bf_window=9", "bf_window= follows .*; delete the blank after the comma"),
        ("NodeName=n1 Weight=3", "line 3: NodeName=n1 is defined twice, first in slurm.conf, line 1"),
        ("NodeName=n2 State=FUTURE\nNodeName=n[2-3]", "line 4: NodeName=n2 is defined twice, first in .* 3"),
        ("PartitionName=all Nodes=ALL", "PartitionName=all is defined twice, first in slurm.conf, line 2"),
        ("PartitionName=b Nodes=ALL,n1", "has node ALL, which no NodeName line names"),
        ("PartitionName=b Nodes=n1 State=SLEEPY", "State=SLEEPY; allowed: UP, DOWN, DRAIN, INACTIVE"),
        ("NodeName=n2 State=SLEEPY", "line 3: State=SLEEPY; allowed: DOWN, "),
    ],
)
def test_what_slurm_does_not_start_with_is_refused(tmp_path: Path, lines: str, answer: str) -> None:
    """As slurmctld 22.05.8, 24.11.5 and 26.05.5 refuse it; a line of a policy may replace one of a file."""
    path = tmp_path / "slurm.conf"
    path.write_text(f"{NODE}\n{PARTITION}\n{lines}\n")
    with pytest.raises(ConfigurationError, match=f"^(?!.*faults).*{answer}"):
        read(path)
    path.write_text(f"{NODE}\n{PARTITION}\n")
    read(path, {"policy.lines[1]": "NodeName=n1 CPUs=8", "policy.lines[2]": PARTITION})


@pytest.mark.parametrize("text", ["limits,", "associations,,limits", "LIMITS"])
def test_a_comma_too_many_is_no_fault(tmp_path: Path, text: str) -> None:
    """As slurmctld 22.05.8 starts with it."""
    path = tmp_path / "slurm.conf"
    path.write_text(f"{NODE}\n{PARTITION}\nAccountingStorageEnforce={text}\n")
    assert read(path).settings.enforces


TREE = "TopologyPlugin=topology/tree\nSwitchName=s Nodes=n1\n"
WEIGHTS = "PriorityType=priority/multifactor\nPriorityWeightAge=9\nPriorityWeightFairshare=9\n"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ("Weight=3", "line 3: Weight= has no effect at the beginning of a line; is the backslash missing"),
        ("Epilog=", "line 3: Epilog= has no value, with which Slurm does not start"),
        ("SelectTypeParameters=CR_Socket", "=CR_Socket has no effect here; not simulated: whole sockets"),
        ("PriorityFlags=INCR_ONLY,MAX_TRES", "PriorityFlags=INCR_ONLY has no effect here"),
        ("TopologyPlugin=topology/tree", "without topology.conf, which is not beside slurm.conf; copy it"),
        (f"{TREE}NodeName=n7\nPartitionName=b Nodes=ALL", "1 node is below no switch, such as n7: no job"),
        (f"{WEIGHTS}# Slurm 13.12", "WeightAge and PriorityWeightFairshare have no effect, as in Slurm with"),
        ("SuspendTime=300\nSuspendProgram=/off", "SuspendTime=300 has no effect, as in .* without Resume"),
    ],
)
def test_what_has_no_effect_or_a_wrong_place_is_noted(tmp_path: Path, lines: str, note: str) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(f"{NODE}\n{PARTITION}\n{lines}\n")
    (found,) = read(path).notes
    assert re.search(note, found)


def test_all_faults_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    """Each with its line, in one line, and no more than a terminal takes."""
    path = tmp_path / "slurm.conf"
    lines = [
        f"{NODE} Gres=gpu:999999999G Weight=heavy",
        f"{PARTITION} MaxTime=soon Default=maybe by the way",
        "KillWait=-3",
    ]
    path.write_text("\n".join([*lines, "SelectType=select/alien", "QosName=q Priority=high GrpJobs=few"]))
    with pytest.raises(ConfigurationError) as raised:
        read(path, {"policy.lines[1]": "ReservationName=r Nodes=n1"}, words={"bf_interval": 5})
    shown = str(raised.value)
    assert shown.startswith("10 faults: (1) ")
    assert "\n" not in shown
    faults = (
        *(
            "line 1: Gres=",
            "line 1: Weight=heavy",
            "line 2: MaxTime=soon",
            "line 2: Default=maybe",
            "line 2: a word is",
        ),
        *("line 3: KillWait=-3", "line 4: SelectType=select/alien", "line 5: Priority=high"),
        *("line 5: GrpJobs=few", "policy.lines[1]: reservation r needs StartTime="),
    )
    assert [fault for fault in faults if fault not in shown] == []
    path.write_text("\n".join(f"NodeName=n{number} CPUs=few" for number in range(50)))
    with pytest.raises(ConfigurationError, match=r"50 faults: .*; and 30 more$"):
        read(path)


def test_every_number_that_the_kernel_has_is_bounded() -> None:
    """It steps, allocates and loops by them: a number without both bounds can be one that ends no run."""
    declared = {one.name: one for one in fields(Settings)}
    bounded = {name for name, one in declared.items() if "most" in one.metadata or is_between(one.metadata)}
    switches = {name for name, one in declared.items() if isinstance(one.default, bool)}
    switches |= {name for name in tables.SETTINGS.names if isinstance(getattr(Settings(), name, None), bool)}
    switches |= RULES.keys()
    made = {  # of what is bounded: of other keys, of the phases, of the nodes and partitions
        "weight_age", "weight_fair", "decay_per_s", "requeue_wait", "suspend_grace", "suspends", "by_core",
        "by_block", "used_at_end", "n_gres", "record_plans", "most_rows", "first_licence", "budgets",
        "most_cpus", "unshared", "threads", "counts_cores", "saves_power", "power_period",
        "hetjob_prio", "uptime",
    }  # fmt: skip
    of_phases = {
        "tick": "period",
        "completing": "completing",
        "killing": "killing",
        "cycle_time": "cycle_time",
        "job_time": "job_time",
    }
    assert set(tables.SETTINGS.names) - bounded - switches - made - {*of_phases} == set()
    assert bounded >= {"of_age", "of_fair_share"}
    assert [requeue_wait(f"cred_expire={seconds}") for seconds in (4, 5, 10**11)] == [121, 6, 121]
    assert all(0 <= LIMITS[phase][0] < LIMITS[phase][1] < 1e6 for phase in of_phases.values())
    numbers = [one for record in (NodeKeys, Partition, Association, Qos) for one in fields(record)]
    numbers = [one for one in numbers if "key" in one.metadata and str(one.type).startswith("int")]
    assert len(numbers) > 20
    assert [one.name for one in numbers if not is_bounded(one.metadata["parse"])] == []


def is_between(metadata: Mapping[str, Any]) -> bool:
    return isinstance(metadata.get("parse"), values.Between)


def is_bounded(parse: Callable[[str], Any]) -> bool:
    """Return whether a parser refuses a number of 13 digits and one below -1, which means no limit."""
    for text in ("9" * 13, "-7"):
        with pytest.raises(ValueError, match=r"whole number|duration|minutes"):
            parse(text)
    return True


@pytest.mark.parametrize(
    ("word", "seconds"), [("bf_interval", 30), ("bf_window", 86_400), ("sched_interval", 60)]
)
def test_words_that_slurm_ignores_have_their_defaults(word: str, seconds: int) -> None:
    made = of_lines("slurm.conf", [NODE, PARTITION, f"SchedulerParameters={word}=99999999"])
    assert getattr(made.settings, word) == seconds
    (note,) = made.notes
    assert f"{word}=99999999 is outside 0 to" in note


def test_who_may_preempt_whom() -> None:
    lines = ["PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", "AuthInfo=cred_expire=30"]
    lines += ["PreemptParameters=strict_order,reorder_count=3", "SchedulerParameters=preempt_youngest_first"]
    parts = [
        "low",
        "mid PriorityTier=2 PreemptMode=CANCEL GraceTime=60",
        "top PriorityTier=3 PreemptMode=OFF",
    ]
    made = of_lines("slurm.conf", [NODE, *lines, *(f"PartitionName={part} Nodes=n1" for part in parts)])
    levels, preempts = levels_of(made)
    assert preempts.reshape(3, 3).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert levels["mode"].tolist() == [tables.REQUEUE, tables.CANCEL, tables.OFF]
    found = made.settings
    assert (levels["grace"].tolist(), found.requeue_wait) == ([0, 60, 0], 31)
    assert (found.strict_order, found.youngest_first, found.reorder_count) == (True, True, 3)
    lines = ["PreemptType=preempt/qos", "PreemptMode=REQUEUE", "QosName=a Preempt=b", "QosName=b Preempt=a"]
    with pytest.raises(ConfigurationError, match="QOS a lists itself in Preempt"):
        levels_of(of_lines("slurm.conf", [NODE, PARTITION, *lines]))
    with pytest.raises(ConfigurationError, match="QOS b preempts c, which is not a QOS; there are a, b"):
        levels_of(of_lines("slurm.conf", [NODE, PARTITION, *lines[:3], "QosName=b Preempt=c"]))


@pytest.mark.parametrize(
    ("rest", "answer"),
    [
        ("", "reservation m has no nodes; give Nodes="),
        ("Nodes=ALL Flags=MAINT,MONTHLY", "reservation m with Flags=MONTHLY is not modelled"),
        ("Nodes=ALL Flags=DAILY,WEEKLY", "reservation m with Flags=WEEKLY is not modelled"),
    ],
)
def test_reservations_without_nodes_and_with_other_flags_are_refused(rest: str, answer: str) -> None:
    line = f"ReservationName=m StartTime=2024-03-05T08:00:00 EndTime=2024-03-05T09:00:00 {rest}"
    with pytest.raises(ConfigurationError, match=answer):
        of_lines("slurm.conf", [NODE, PARTITION, line])


def test_what_has_no_effect_is_listed() -> None:
    lines = ["PrologSlurmctld=/etc/p", "MCSPlugin=mcs/user", "TopologyPlugin=topology/none", NODE, PARTITION]
    made = of_lines("slurm.conf", [*lines, "SchedulerParameters=pack_serial_at_end"])
    found = "\n".join(made.notes)
    assert all(key in found for key in ("PrologSlurmctld", "MCSPlugin=mcs/user", "pack_serial_at_end"))
    assert "Topology" not in found
    switches = ["SwitchName=a Nodes=n1", "SwitchName=b Switches=a", "BlockName=c Nodes=n1", "BlockSizes=1"]
    for plugin, is_listed in (("block", False), ("3d_torus", True), ("tree", False)):
        made = of_lines("slurm.conf", [f"TopologyPlugin=topology/{plugin}", NODE, PARTITION, *switches])
        assert any("TopologyPlugin" in note for note in made.notes) == is_listed
        assert len(made.notes) == is_listed
    found = made.topologies[0].switches
    assert [(one.level, one.nodes, one.below) for one in found] == [(0, (0,), ()), (1, (0,), (0,))]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["SwitchName=a Nodes=n1", "SwitchName=a Nodes=n1"], "switch a is defined twice"),
        (["SwitchName=a Switches=b"], "switch a has switch b, which no SwitchName line names"),
        (["SwitchName=a LinkSpeed=1"], "switch a has neither Nodes= nor Switches="),
        (["SwitchName=a Switches=b", "SwitchName=b Switches=a"], "switch a is below itself"),
        (["BlockName=a Nodes=n1", "BlockName=a Nodes=n1"], "block a is defined twice"),
        (["BlockName=a Nodes=n1", "BlockSizes=2,6"], "BlockSizes has 6; allowed: 2 times a power of two"),
        (["BlockName=a Nodes=n1", "BlockSizes=few"], "BlockSizes=few; allowed: numbers of nodes such as 8"),
        (["BlockName=a Nodes=gone"], "block a has no node of this slurm.conf; add BlockSizes=N"),
        (["BlockName=a Nodes=n1", "BlockSizes=16,8,4"], "16 times a power of two; .* has 4; allowed: 16"),
        (["BlockName=a Nodes=n1 BlockSize=0"], "BlockSize=0; allowed: numbers of nodes such as 8"),
        (["BlockName=a Nodes=n1", f"BlockSizes={'9' * 20}"], "99; allowed: numbers of nodes such as 8"),
    ],
)
def test_wrong_switches_and_blocks_are_refused(lines: list[str], answer: str) -> None:
    plugin = f"TopologyPlugin=topology/{'tree' if lines[0].startswith('Switch') else 'block'}"
    with pytest.raises(ConfigurationError, match=answer):
        of_lines("slurm.conf", [plugin, NODE, PARTITION, *lines])


def blocks(base: int, levels: int, *nodes: range) -> tuple[str, int, int, list[tuple[int, ...]]]:
    return "block", base, levels, [tuple(one) for one in nodes]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["BlockName=b[1-2]"], None),
        (["BlockName=a", "BlockName=b Nodes=n[5-8]"], blocks(4, 31, range(0), range(4, 8))),
        (["BlockName=a Nodes=n[1-4]", "BlockName=b Nodes=n[5-8]"], blocks(4, 31, range(4), range(4, 8))),
        (["BlockName=a Nodes=n[1-18]", "BlockSizes=16,64"], blocks(16, 5, range(18))),
        (["BlockName=a Nodes=n[1-4] # i", "BlockName=b", "BlockSizes=4"], blocks(4, 1, range(4), range(0))),
        (
            [  # as scontrol show topology prints them
                "BlockName=a BlockIndex=0 Nodes=n[1-4] BlockSize=4",
                "BlockName=b BlockIndex=1 Nodes=n[5-9] BlockSize=4",
                "AggregatedBlock=[a-b] BlockIndex=2 Nodes=n[1-9] BlockSize=16",
            ],
            blocks(4, 5, range(4), range(4, 9)),
        ),
    ],
)  # fmt: skip
def test_blocks_are_read(lines: list[str], expected: tuple | None, tmp_path: Path) -> None:
    """From topology.conf or from what scontrol shows, in the forms that sites publish."""
    path = tmp_path / "slurm.conf"
    path.write_text("TopologyPlugin=topology/block\nNodeName=n[1-20] CPUs=4\nPartitionName=all Nodes=ALL\n")
    (tmp_path / "topology.conf").write_text("\n".join(lines))
    if expected is None:
        with pytest.raises(ConfigurationError, match="has no node of this"):
            read(path)
        return
    found = read(path)
    (one,) = found.topologies
    assert (one.kind, one.block_nodes, one.levels, [block.nodes for block in one.switches]) == expected
    outside = 20 - sum(len(block.nodes) for block in one.switches)
    assert re.match(f"{outside} nodes are in no block, such as n1?[0-9]: as in Slurm", "".join(found.notes))


# As topology.yaml(5) of Slurm 26.05 shows them.
TOPOLOGIES = """\
---
- topology: racks
  cluster_default: false
  block:
    block_sizes:
      - 4
      - 16
    blocks:
      - block: b1
        nodes: n[01-04]
      - block: b2
        nodes: n[05-08]
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - {switch: root, children: "s[1-2]"}  # of all
      - switch: s1
        nodes: n[01-02]
      - switch: s2
        nodes: n[03-08]
- topology: plain
  flat: true
- topology: loop
  ring: {rings: [{ring: r1, nodes: "n[01-08]"}]}
"""


@pytest.mark.parametrize(
    ("version", "nodes", "segment", "why"),
    [
        ("24.11", 5, 0, ""),
        ("24.11", 4, 2, ""),
        ("24.11", 4, 3, "asks for 4 nodes in segments of 3, which no switch and no block of partition all"),
        ("24.11", 8, 4, "asks for 8 nodes in segments of 4"),
        ("25.11", 8, 4, ""),
        ("25.11", 2, 4, "asks for 2 nodes in segments of 4"),
        ("25.11", 0, 4, "asks for 1 node in segments of 4"),
        ("26.05", 0, 4, ""),
        ("26.05", 2, 4, ""),
        ("24.11", 9, 0, "asks for 9 nodes"),
    ],
)
def test_jobs_that_fit_in_no_block_are_named(version: str, nodes: int, segment: int, why: str) -> None:
    lines = ["TopologyPlugin=topology/block", "NodeName=n[1-9] CPUs=1", "PartitionName=all Nodes=ALL"]
    lines += [f"BlockName=b{k} Nodes=n[{2 * k - 1}-{2 * k}]" for k in range(1, 5)]
    made = of_lines("slurm.conf", [*lines, "BlockSizes=2,4,8", f"SLURM_VERSION={version}"])
    stated = np.array([nodes])
    size = np.maximum(stated, 1)
    request = Requests.of(size, 0 * size, nodes=stated, most_nodes=stated, segment=np.array([segment]))
    given = asked(Jobs(0.0 * size, 1.0 + size, 60.0 + size, size, 0 * size, request=request), made)
    if not why:
        limited(given, "error", made)
        return
    with pytest.raises(MisfitError, match=f"job 1 {why}.*add policy.lines=.'TopologyPlugin=topology/flat'"):
        limited(given, "error", made)
    flat = of_lines("slurm.conf", [*lines, "TopologyPlugin=topology/flat", f"SLURM_VERSION={version}"])
    limited(given, "error", flat)


def test_topologies_of_partitions_are_read(tmp_path: Path) -> None:
    lines = ["TopologyPlugin=topology/flat", "NodeName=n[01-08] CPUs=4", "PartitionName=a Nodes=ALL"]
    lines += [f"PartitionName={name} Nodes=ALL Topology={name}" for name in ("racks", "plain")]
    path, beside = tmp_path / "slurm.conf", tmp_path / "topology.yaml"
    path.write_text("\n".join(lines) + "\n")
    before = reading.digest(path)
    beside.write_text(TOPOLOGIES)
    assert reading.digest(path) != before
    found = read(path)
    kinds = [(one.name, one.kind, len(one.switches)) for one in found.topology_of]
    assert kinds == [("fabric", "tree", 3), ("racks", "block", 2), ("plain", "flat", 0)]
    assert [note.partition(";")[0] for note in found.notes] == [
        "TopologyPlugin=topology/ring has no effect here",
        "topology.yaml sets how jobs get nodes (fabric, racks, plain, loop), as since Slurm 25.05",
    ]
    made = building.partitions(found, [])["partitions"]
    for name, column in (("first_switch", [0, 3, 0]), ("n_switches", [3, 2, 0]), ("block_nodes", [0, 4, 0])):
        assert made[name].tolist() == column
    switches = building.switches(found)["switches"]
    assert switches["level"].tolist() == [1, 0, 0, 0, 0]
    assert switches["parent"].tolist() == [0, 0, 0, 3, 3]
    for more, why in (
        ("SLURM_VERSION=24.11", "Slurm 24.11 does not read it"),
        ("TopologyPlugin=topology/flat", "policy.lines[1] sets TopologyPlugin"),
    ):
        other = read(path, {"policy.lines[1]": more})
        assert {one.kind for one in other.topology_of} == {"flat"}
        assert any(note.startswith(f"topology.yaml has no effect: {why}") for note in other.notes)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("- topology: [", "topology.yaml, line 1: not YAML"),
        ("- topology: a\n  tree: {}\n  flat: true", "topology 1: allowed: topology: NAME, cluster_default"),
        ("- topology: a\n  tree: {switches: [{nodes: n1}]}", "an entry of switches without switch: NAME"),
        ("- {topology: a, flat: true}\n- {topology: a, flat: true}", "topology a is defined twice"),
        ("- {topology: b, flat: true}", "partition p has Topology=a, which topology.yaml lacks; allowed: b"),
        ("- topology: a\n  tree: {switches: [{switch: s}]}", "switch s has neither Nodes= nor Switches="),
        ("- {topology: a, block: {block_sizes: [3, 7], blocks: []}}", "BlockSizes has 7; allowed: 3 times"),
        ("- {topology: a, block: {block_sizes: [16, 8], blocks: []}}", "BlockSizes has 8; allowed: 16 times"),
        ("- {topology: a, block: {block_sizes: 0}}", "BlockSizes=0; allowed: numbers of nodes such as 8,16"),
        ("topologies: [{topology: a, flat: true}]", "topology 1: has 'topologies'; allowed: topology: NAME,"),
        ("SwitchName=s1 Nodes=n1", "topology.yaml is not a list of topologies; allowed: for each, topology"),
        ("", "topology.yaml is not a list of topologies"),
        ("[" * 9999, "lists in too many lists"),
        ("- {topology: a, trees: {}}", "has 'trees'; allowed: topology: NAME, cluster_default, and one of"),
        ("- {topology: a, flat: false}", "topology 1: allowed: topology: NAME, cluster_default, and one of"),
        (
            "- {topology: a, flat: 3, cluster_default: [1]}\n- {topology: b, flat: [], cluster_default: no}",
            "cluster_default is a list; allowed: true and false; (2) topology.yaml, topology 1: flat is '3'; "
            "allowed: alpha_step_rank below it; (3) topology.yaml, topology 2: flat is a list",
        ),
        ("- {topology: a, tree: SwitchName=s}", "tree is 'SwitchName=s'; allowed: switches below it"),
        (
            "- {topology: a, block: {block: [], block_sizes: {x: 1}, blocks: b=n1}}",
            "block has 'block'; allowed: block_sizes and blocks; (2) topology.yaml, topology 1: block_sizes "
            "is a mapping; allowed: a list of numbers of nodes such as [8, 16]; (3) topology.yaml, topology "
            "1: blocks is 'b=n1'; allowed: a list with block: NAME in each entry",
        ),
        ("- {topology: a, ring: {rings: r=n1}}", "rings is 'r=n1'; allowed: a list with name: NAME"),
        ("- {topology: a, tree: {switches: [{switch: s, nodes: [n1]}]}}", "has nodes: a list; allowed: text"),
    ],
)
def test_a_wrong_topology_yaml_is_one_line(text: str, answer: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(f"{NODE}\nPartitionName=p Nodes=ALL Topology=a\n")
    (tmp_path / "topology.yaml").write_text(text)
    with pytest.raises(ConfigurationError) as error:
        read(tmp_path / "slurm.conf")
    assert answer in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "kind", "n", "levels"),
    [
        ("{topology: 2024-13-45, tree: {switches: {nodes: n1, switch: 007, children: }}}", "tree", 1, 0),
        ("- {topology: a, block: {block_sizes: 1, blocks: {block: b, nodes: n1}}, flat: no}", "block", 1, 1),
        ("- {topology: a, flat: {alpha_step_rank: true}}", "flat", 0, 0),
        ("- {topology: b, flat: true}\n- {topology: a, cluster_default: 1, ring: {rings: []}}", "ring", 0, 0),
        ("- {topology: a, torus3d: {toruses: [{name: t, dims: {x: 1, y: 1, z: 1}}]}}", "torus3d", 0, 0),
    ],
)
def test_every_form_of_a_topology_yaml_is_read(
    text: str, kind: str, n: int, levels: int, tmp_path: Path
) -> None:
    """One entry in place of a list of one, names that other readers of YAML take as dates or numbers."""
    (tmp_path / "slurm.conf").write_text(f"{NODE}\nPartitionName=p Nodes=ALL\n")
    (tmp_path / "topology.yaml").write_text(text)
    first, *_ = read(tmp_path / "slurm.conf").topologies
    assert (first.kind, len(first.switches), first.levels) == (kind, n, levels)
    if kind == "tree":
        assert (first.name, first.switches[0].name) == ("2024-13-45", "007")


def test_switches_are_read_from_the_file_beside_slurm_conf(tmp_path: Path) -> None:
    """As Slurm reads it, or as scontrol shows it in a file that is included."""
    path, beside = tmp_path / "slurm.conf", tmp_path / "topology.conf"
    path.write_text("\n".join(["TopologyPlugin=topology/tree", NODE, PARTITION, ""]))
    assert any("TopologyPlugin" in note for note in read(path).notes), "without topology.conf there are none"
    before = reading.digest(path)
    beside.write_text("SwitchName=leaf Nodes=n1 # of the rack\nSwitchName=top Switches=leaf\n")
    assert [one.name for one in read(path).topologies[0].switches] == ["leaf", "top"]
    assert reading.digest(path) != before
    shown = "SwitchName=top Level=1 LinkSpeed=1 Nodes=n1 Switches=leaf"
    (tmp_path / "shown.txt").write_text(f"{shown}\nSwitchName=leaf Level=0 LinkSpeed=1 Nodes=n1\n")
    with path.open("a") as file:
        file.write("Include shown.txt\n")
    found = read(path).topologies[0].switches
    assert [(one.name, one.level) for one in found] == [("top", 1), ("leaf", 0)]


def test_a_missing_include(conf: Path) -> None:
    (conf.parent / "nodes.conf").unlink()
    with pytest.raises(ConfigurationError, match=r"slurm.conf, line 8 includes nodes.conf"):
        read(conf)


def test_files_that_include_each_other(conf: Path) -> None:
    (conf.parent / "nodes.conf").write_text("Include slurm.conf\n")
    with pytest.raises(ConfigurationError, match="circle"):
        read(conf)


def test_what_is_included_counts_for_the_identity(conf: Path) -> None:
    planned = reading.digest(conf)
    assert planned == reading.digest(conf) != hashlib.sha256(conf.read_bytes()).hexdigest()
    read(conf, sha256=planned)
    (conf.parent / "nodes.conf").write_text(f"{NODES}NodeName=n006\n")
    assert reading.digest(conf) != planned
    with pytest.raises(ConfigurationError, match="or a file that it includes, has changed"):
        read(conf, sha256=planned)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"slurm.conf": "NodeName=n[1-999999][1-999999]\n"}, "to at most 100,000 names"),
        ({"slurm.conf": "Include a\n" * 40, "a": "Include b\n" * 40, "b": "\n"}, "more than 1,000 files"),
        ({"slurm.conf": "Include secret\n", "secret": "root:x7\n"}, "secret, line 1: a word is not KEY="),
    ],
)
def test_what_a_strangers_file_may_not_do(tmp_path: Path, files: dict[str, str], line: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=line) as error:
        read(tmp_path / "slurm.conf")
    assert "x7" not in str(error.value)


def test_a_job_that_its_features_and_devices_leave_no_nodes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text(
        "NodeName=a CPUs=4 Feature=x,y Gres=gpu:a100:2\nNodeName=b CPUs=4 Feature=x\n"
        "PartitionName=all Nodes=ALL\n"
    )
    configuration, policy = read(path), composed("policy", "slurm") | {"path": str(path)}
    one, none = np.ones(1, np.int64), np.zeros(1, np.int64)

    def check(constraint: str, **gres: int) -> None:
        request = Requests.of(
            one,
            none,
            constraint=np.array([constraint], object),
            gres={name.replace("_", ":"): count * one for name, count in gres.items()},
        )
        times = np.array([60.0])
        wanted(Jobs(0 * times, times, times, one, none, request=request), policy, configuration)

    check("x&(y|z)", gpu_a100=2)
    check("[x|z]", gpu=2)  # on several nodes together: without effect
    with pytest.raises(ValueError, match="0 MB on each node, features x&z, which part"):
        check("x&z")
    with pytest.raises(ValueError, match="on each node, 3 gpu, which partition all of"):
        check("", gpu=3)
    with pytest.raises(ValueError, match="have gpu:a100, gpu; add Gres="):
        check("", nvme=1)


@pytest.mark.parametrize(
    ("moved", "batch", "gpu"),
    [
        ({}, (0, 1, 2, 3), (4, 5)),
        ({"batch": {"gpu": 2}}, (0, 1), (2, 3, 4, 5)),
        ({"batch": {"gpu": -1}}, (0, 1, 2, 3, 5), (4,)),
        ({"batch": {"gpu": 2}, "gpu": {"batch": 3}}, (0, 1, 3, 4, 5), (2,)),
    ],
)
def test_nodes_are_moved_between_partitions(conf: Path, moved: Any, batch: Any, gpu: Any) -> None:
    made = with_moved(read(conf), moved)
    assert [one.nodes for one in made.partitions] == [batch, gpu]
    assert made.default_partition.max_time == 2 * 86400, "all else stays"


@pytest.mark.parametrize(
    ("moved", "line"),
    [
        ({"batch": {"gpu": 4}}, "batch.gpu=4; allowed: at most 3 nodes of batch, because one has to stay"),
        ({"batch": {"long": 1}}, "policy.moved=long; allowed: partitions of slurm.conf: batch, gpu"),
        ({"batch": 1}, "allowed: whole numbers of nodes by partition, {FROM: {TO: 4}}"),
        ({"batch": {"gpu": 1.5}}, "allowed: whole numbers of nodes by partition, {FROM: {TO: 4}}"),
    ],
)
def test_nodes_that_cannot_be_moved(conf: Path, moved: Any, line: str) -> None:
    policy = {**composed("policy", "slurm"), "moved": moved}
    with pytest.raises(ValueError, match=re.escape(line)):
        with_moved(read(conf), Rules.of(policy).moved or {})


def test_no_node_is_moved_to_a_partition_that_has_them_all(conf: Path) -> None:
    made = read(conf, {"policy.lines[1]": "PartitionName=gpu Nodes=n[001-002]"})
    with pytest.raises(ValueError, match="gpu=-1; allowed: 0 or more, because batch has all nodes of gpu"):
        with_moved(made, {"batch": {"gpu": -1}})
