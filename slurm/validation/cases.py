"""The workloads and the configurations on which the model is compared with a real Slurm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from slurm.validation.accounts import ASSOCIATIONS, LEVELS, WHO

NODES, CPUS = 16, 4

ALL = f"n[1-{NODES}]"
WHOLE = (f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=EXCLUSIVE State=UP",)


@dataclass(frozen=True)
class Case:
    """A configuration: lines of slurm.conf, partitions, whether jobs share nodes, and a reservation.

    With accounts the cluster has a database, and jobs have users, accounts and QOS. If jobs are suspended,
    they sleep a second at a time, since a longer sleep would continue meanwhile. If small jobs preempt
    others, the others are small and long, so that there are no idle nodes. If the lines of nodes have further
    settings, some jobs ask for generic resources and some for features; if there are licences, some ask for
    these. Budgets and the like are in other accounts and QOS, and jobs name several partitions if `several`
    is set. If the cluster `refuses` jobs or lets some wait for ever, these are compared, too. Submissions are
    `spread` times as far apart if nodes, which take some time to boot, are powered down. With `one_thread`
    some jobs want one thread of each core. Jobs with an even number of nodes may want `segments` of that
    size, and small ones may wait a minute for nodes on one leaf switch (`one_switch`). If `midnight` is set,
    it is midnight for the controller within the minute before it has run for that many seconds. Some jobs are
    components of the one before if they are `heterogeneous`.
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    partitions: Sequence[str] = WHOLE
    shares_nodes: bool = False
    reservation: str = ""
    accounts: bool = False
    preempts: bool = False
    suspends: bool = False
    further: Sequence[str] = ()
    licences: Sequence[str] = ()
    switches: Sequence[str] = ()
    associations: str = ""
    qos: Sequence[str] = ()
    several: bool = False
    spread: float = 1.0
    boot_time: int = 0
    one_thread: bool = False
    segments: int = 0
    one_switch: bool = False
    refuses: bool = False
    names_nodes: bool = False
    midnight: int = 0
    heterogeneous: bool = False

    @property
    def oversubscribes(self) -> bool:
        """Whether some jobs ask to share CPUs: in partitions without GANG that let jobs do so."""
        return any("OverSubscribe=YES" in line for line in self.partitions)

    @property
    def has_devices(self) -> bool:
        """Whether nodes have generic resources and features."""
        return any("Gres" in words for words in self.further)

    def workload(self, jobs: "Sequence[Job]") -> "list[Job]":
        """Return the jobs as they are submitted in this case: none larger than a limit of CPUs."""
        jobs = [replace(job, submit=job.submit * self.spread) for job in jobs]
        if self.heterogeneous:
            return _joined(jobs, 5 if self.shares_nodes else 3)
        if self.refuses:  # a job that never starts stops others if a tier leaves it too few nodes
            return [replace(job, nodes=min(job.nodes, 8)) for job in jobs]
        if not self.preempts and not (self.accounts and self.shares_nodes):
            return list(jobs)
        longest = 2 if self.associations else max(job.limit for job in jobs)  # within each budget
        some = [replace(job, nodes=min(job.nodes, 4), limit=min(job.limit, longest)) for job in jobs]
        if not self.preempts:
            return some
        return [
            job if job.preempts(self) else replace(job, runtime=2 * job.runtime, limit=2 * job.limit)
            for job in some
        ]


def _joined(jobs: "Sequence[Job]", most: int) -> "list[Job]":
    """Return the jobs, of `most` nodes, half of them as heterogeneous jobs of two or three, which fit on the
    nodes together."""
    found: list[Job] = []
    leader = jobs[0]
    for job in jobs:
        number = found[-1].component + 1 if found else 0
        if number and number < (1, 2, 1, 3)[leader.cpus - 1]:
            found.append(replace(job, submit=leader.submit, runtime=leader.runtime, component=number))
        else:
            found.append(leader := job)
    return [replace(job, nodes=min(job.nodes, most), few=job.few and job.nodes <= 2) for job in found]


def _preempting(sharing: str) -> tuple[str, ...]:
    """Return partitions whose jobs are requeued or cancelled for the jobs of a third partition."""
    return (
        f"PartitionName=main Nodes={ALL} Default=YES State=UP{sharing}",
        f"PartitionName=spare Nodes={ALL} PreemptMode=CANCEL GraceTime=20 State=UP{sharing}",
        f"PartitionName=few Nodes={ALL} PriorityTier=2 State=UP{sharing}",
    )


PREEMPTION = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}

CASES = {
    "builtin": Case({"SchedulerType": "sched/builtin"}),
    "backfill": Case(),
    "backfill_often": Case({"SchedulerParameters": "bf_interval=5"}),
    "multifactor": Case(
        {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": 1000, "PriorityCalcPeriod": 1}
    ),
    "partitions": Case(
        {"SelectTypeParameters": "CR_CPU_Memory"},
        (
            f"PartitionName=main Nodes={ALL} Default=YES State=UP",
            "PartitionName=few Nodes=n[1-6] PriorityTier=2 State=UP",
        ),
        shares_nodes=True,
    ),
    "reservation": Case(
        reservation="StartTime=now+90 Duration=4 Nodes=n[1-9] Flags=MAINT,IGNORE_JOBS Users=root",
    ),
    "limits": Case(
        {"SelectTypeParameters": "CR_CPU_Memory", "AccountingStorageEnforce": "limits"},
        (
            f"PartitionName=main Nodes={ALL} Default=YES QOS=main State=UP",
            "PartitionName=few Nodes=n[1-6] PriorityTier=2 State=UP",
        ),
        shares_nodes=True,
        accounts=True,
    ),
    "shares": Case(
        {
            "DebugFlags": "Backfill,Priority",
            "PriorityType": "priority/multifactor",
            "PriorityCalcPeriod": 1,
            "PriorityDecayHalfLife": 5,
            "PriorityMaxAge": 10,
            "PriorityWeightAge": 1000,
            "PriorityWeightFairshare": 3000,
            "PriorityWeightQOS": 1000,
            "PriorityWeightJobSize": 300,
        },
        accounts=True,
    ),
    "preemption": Case(PREEMPTION, _preempting(" OverSubscribe=EXCLUSIVE"), preempts=True),
    "preemption_cpus": Case(
        {**PREEMPTION, "SelectTypeParameters": "CR_CPU_Memory"},
        _preempting(""),
        shares_nodes=True,
        preempts=True,
    ),
    "preemption_qos": Case({**PREEMPTION, "PreemptType": "preempt/qos"}, accounts=True, preempts=True),
}
CASES["gang"] = Case(
    {
        "DebugFlags": "Backfill,Gang",
        "PreemptMode": "GANG",
        "SchedulerTimeSlice": 10,
        "SelectType": "select/linear",
        "SelectTypeParameters": "CR_ONE_TASK_PER_CORE",  # CR_CPU is not a parameter of select/linear
    },
    (f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=FORCE:2 State=UP",),
    suspends=True,
)
CASES["linear"] = Case(
    {"SelectType": "select/linear", "SelectTypeParameters": "CR_ONE_TASK_PER_CORE"},
    (f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
)
CASES["gang_three"] = replace(
    CASES["gang"],
    partitions=(
        f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=FORCE:3 State=UP",
        f"PartitionName=few Nodes={ALL} PriorityTier=2 OverSubscribe=FORCE:3 State=UP",
    ),
)
CASES["suspension"] = Case(
    {
        **CASES["gang"].settings,
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "SUSPEND,GANG",
    },
    (
        f"PartitionName=main Nodes={ALL} Default=YES State=UP",
        f"PartitionName=few Nodes={ALL} PriorityTier=2 State=UP",
    ),
    preempts=True,
    suspends=True,
)


def _on_cores(case: str, parameters: str) -> Case:
    """Return a case with `select/cons_tres`: its jobs share cores, not nodes."""
    select = {"SelectType": "select/cons_tres", "SelectTypeParameters": parameters}
    return replace(CASES[case], settings={**CASES[case].settings, **select}, shares_nodes=True)


CASES["gang_cores"] = _on_cores("gang", "CR_CPU")
CASES["gang_cores_three"] = _on_cores("gang_three", "CR_Core_Memory")
CASES["suspension_cores"] = _on_cores("suspension", "CR_Core")
CASES["limits_stop"] = replace(
    CASES["limits"],
    settings={**CASES["limits"].settings, "SchedulerParameters": "bf_interval=30,assoc_limit_stop"},
)

CASES["devices"] = Case(
    {"SelectTypeParameters": "CR_CPU_Memory", "GresTypes": "accelerator"},
    (f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
    shares_nodes=True,
    further=["Feature=fast"] * 5
    + ["Feature=fast,wide Gres=accelerator:2"] * 5
    + ["Feature=wide Gres=accelerator:3"] * 6,
)

PARAMETERS = "bf_interval=30,batch_sched_delay=0"
AT_EACH_WAKE_UP = {"SchedulerParameters": PARAMETERS}
"""One pass every second, so that starts do not depend on when the controller of a busy machine wakes up."""

BUDGETS = ASSOCIATIONS.replace("GrpTRES=cpu=32", "GrpTRESMins=cpu=40").replace(
    "GrpTRES=cpu=20", "GrpTRESMins=cpu=20"
)
CASES["budgets"] = Case(
    {
        **AT_EACH_WAKE_UP,
        "AccountingStorageEnforce": "limits,safe",
        "DebugFlags": "Backfill,Priority",
        "PriorityType": "priority/multifactor",
        "PriorityCalcPeriod": 1,
        "PriorityDecayHalfLife": 3,
        "SelectTypeParameters": "CR_CPU_Memory",
    },
    (f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
    shares_nodes=True,
    accounts=True,
    associations=BUDGETS,
    qos=(
        "bulk Priority=20 UsageFactor=0.5 GrpTRESMins=cpu=24 Flags=UsageFactorSafe",
        "urgent Priority=100 UsageFactor=2 GrpTRESRunMins=cpu=40",
    ),
)
CASES["budgets_spent"] = replace(  # whose jobs are ended
    CASES["budgets"],
    settings={**CASES["budgets"].settings, "AccountingStorageEnforce": "limits"},
    partitions=(f"{CASES['budgets'].partitions[0]} TRESBillingWeights=CPU=1.5,Mem=0.5G",),
    associations=BUDGETS.replace("cpu=40", "billing=20").replace("cpu=20", "cpu=12"),
    qos=(
        "bulk Priority=20 UsageFactor=0.5 GrpWall=3",
        "urgent Priority=100 UsageFactor=2 GrpTRESMins=billing=20",
    ),
)

CASES["budgets_reset"] = replace(
    CASES["budgets"],
    settings={**CASES["budgets"].settings, "PriorityUsageResetPeriod": "DAILY"},
    midnight=150,
)

LICENCES = {"solver": 6, "mesher": 3}
CASES["licences"] = Case(
    {**AT_EACH_WAKE_UP, "Licenses": ",".join(f"{name}:{n}" for name, n in LICENCES.items())},
    licences=tuple(LICENCES),
)
CASES["licences_planned"] = replace(
    CASES["licences"],
    settings={**CASES["licences"].settings, "SchedulerParameters": f"{PARAMETERS},bf_licenses"},
)

CASES["switches"] = Case(
    {**AT_EACH_WAKE_UP, "TopologyPlugin": "topology/tree"},
    switches=(
        "SwitchName=s1 Nodes=n[1-3]",
        "SwitchName=s2 Nodes=n[4-8]",
        "SwitchName=s3 Nodes=n[9-12]",
        "SwitchName=s4 Nodes=n[13-16]",
        "SwitchName=above1 Switches=s[1-2]",
        "SwitchName=above2 Switches=s[3-4]",
        "SwitchName=top Switches=above[1-2]",
    ),
)
CASES["switches_cpus"] = replace(
    CASES["switches"],
    settings={**CASES["switches"].settings, "SelectTypeParameters": "CR_CPU_Memory"},
    partitions=(f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
    shares_nodes=True,
    further=[f"Weight={1 + number % 2}" for number in range(NODES)],
)
CASES["one_switch"] = replace(CASES["switches"], one_switch=True)
CASES["blocks"] = Case(
    {**AT_EACH_WAKE_UP, "TopologyPlugin": "topology/block"},
    switches=(
        "BlockName=b1 Nodes=n[1-2]",
        "BlockName=b2 Nodes=n[3-5]",
        *(f"BlockName=b{k} Nodes=n[{2 * k}-{2 * k + 1}]" for k in range(3, 7)),
        "BlockName=b7 Nodes=n[14-16]",
        "BlockSizes=2,4,16",
    ),
)
CASES["blocks_cpus"] = replace(
    CASES["switches_cpus"],
    settings={**CASES["switches_cpus"].settings, "TopologyPlugin": "topology/block"},
    switches=CASES["blocks"].switches,
    further=[f"Weight={1 + (number >= 9)}" for number in range(NODES)],  # of four blocks, and of three
    names_nodes=True,  # without, Slurm takes a job for one of one node, in one base block
)
CASES["segments"] = replace(CASES["blocks"], segments=2)
CASES["topologies"] = Case(
    AT_EACH_WAKE_UP,
    (
        f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=EXCLUSIVE State=UP",
        f"PartitionName=few Nodes={ALL} PriorityTier=2 OverSubscribe=EXCLUSIVE State=UP Topology=racks",
    ),
    switches=(
        "- topology: tree",
        "  cluster_default: true",
        "  tree:",
        "    switches:",
        "      - {switch: s1, nodes: 'n[1-3]'}",
        "      - {switch: s2, nodes: 'n[4-8]'}",
        "      - {switch: s3, nodes: 'n[9-16]'}",
        "      - {switch: top, children: 's[1-3]'}",
        "- topology: racks",
        "  cluster_default: false",
        "  block:",
        "    block_sizes: [4, 16]",
        "    blocks:",
        *(f"      - {{block: b{k}, nodes: 'n[{4 * k - 3}-{4 * k}]'}}" for k in range(1, 5)),
    ),
)
CASES["several"] = Case(
    AT_EACH_WAKE_UP,
    (
        f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=EXCLUSIVE State=UP",
        "PartitionName=few Nodes=n[1-6] PriorityTier=2 OverSubscribe=EXCLUSIVE State=UP",
    ),
    several=True,
)
CASES["several_one_plan"] = replace(
    CASES["several"], settings={"SchedulerParameters": f"{PARAMETERS},bf_one_resv_per_job"}
)

CASES["power"] = Case(
    {
        **AT_EACH_WAKE_UP,
        "DebugFlags": "Backfill,Power",
        "SuspendTime": 30,
        "SuspendTimeout": 15,
        "ResumeTimeout": 90,
        "SuspendExcNodes": "n[1-2]",
    },
    spread=4.0,
    boot_time=12,
)
CASES["power_cpus"] = replace(
    CASES["power"],
    settings={
        **CASES["power"].settings,
        "SelectTypeParameters": "CR_CPU_Memory",
        "SuspendRate": 4,
        "ResumeRate": 8,
        "SuspendExcNodes": "n[1-8]:2",
    },
    partitions=(f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
    shares_nodes=True,
    further=[f"Weight={1 + number % 2}" for number in range(NODES)],
)
THREADS = [f"Sockets=1 CoresPerSocket={CPUS // 2} ThreadsPerCore=2"] * NODES
CASES["threads"] = Case(
    {**AT_EACH_WAKE_UP, "SelectTypeParameters": "CR_Core_Memory"},
    (f"PartitionName=main Nodes={ALL} Default=YES State=UP",),
    shares_nodes=True,
    further=THREADS,
    one_thread=True,
)
CASES["threads_cpu"] = replace(
    CASES["threads"], settings={**AT_EACH_WAKE_UP, "SelectTypeParameters": "CR_CPU_Memory"}, one_thread=False
)
CASES["limits_of_jobs"] = Case(
    {**AT_EACH_WAKE_UP, "SelectTypeParameters": "CR_CPU_Memory", "AccountingStorageEnforce": "limits"},
    (
        f"PartitionName=main Nodes={ALL} Default=YES QOS=main MaxNodes=6 State=UP",
        "PartitionName=few Nodes=n[1-6] PriorityTier=2 MinNodes=2 MaxNodes=4 State=UP",
    ),
    shares_nodes=True,
    accounts=True,
    associations=ASSOCIATIONS.replace("GrpTRES=cpu=32", "MaxTRESPerJob=node=3,mem=20000")
    .replace("GrpJobs=5:MaxJobs=2", "GrpSubmitJobs=8:MaxWallDurationPerJob=3")
    .replace("GrpTRES=cpu=20", "MaxTRESMinsPerJob=cpu=40")
    .replace("Fairshare=3:MaxJobs=2", "Fairshare=3:MaxSubmitJobs=3")
    .replace("Fairshare=1:MaxJobs=3", "Fairshare=1:MaxTRESPerNode=cpu=3"),
    qos=(
        "main MinTRESPerJob=cpu=2",
        "bulk Priority=20 MaxTRESPerJob=cpu=16 MaxSubmitJobsPerUser=3 Flags=PartitionMaxNodes",
        "urgent Priority=100 MaxWall=4 MaxTRESPerJob=cpu=24 MaxSubmitJobsPerAccount=5 Flags=DenyOnLimit",
    ),
    refuses=True,
)
CASES["heterogeneous"] = replace(
    CASES["partitions"],
    settings={
        **CASES["partitions"].settings,
        **AT_EACH_WAKE_UP,
        "DebugFlags": "Backfill,HetJob",
    },
    heterogeneous=True,
)
CASES["heterogeneous_at_once"] = Case(
    {
        "DebugFlags": "Backfill,HetJob",
        "PriorityCalcPeriod": 1,
        "PriorityType": "priority/multifactor",
        "PriorityWeightJobSize": 1000,
        "SchedulerParameters": f"{PARAMETERS},bf_hetjob_immediate,bf_hetjob_prio=avg",
    },
    (
        "PartitionName=main Nodes=n[1-10] Default=YES OverSubscribe=EXCLUSIVE State=UP",
        "PartitionName=few Nodes=n[11-16] OverSubscribe=EXCLUSIVE State=UP",
    ),
    heterogeneous=True,
)

CASES["oversubscribe"] = Case(
    {**AT_EACH_WAKE_UP, "SelectTypeParameters": "CR_CPU_Memory"},
    (
        f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=YES:2 State=UP",
        "PartitionName=few Nodes=n[1-6] State=UP",
    ),
    shares_nodes=True,
    spread=0.6,
)
CASES["oversubscribe_force"] = replace(
    CASES["oversubscribe"],
    settings={**AT_EACH_WAKE_UP, "SelectTypeParameters": "CR_Core"},
    partitions=(
        f"PartitionName=main Nodes={ALL} Default=YES OverSubscribe=FORCE:2 State=UP",
        "PartitionName=few Nodes=n[1-6] PriorityTier=2 OverSubscribe=YES:3 State=UP",
    ),
)

SCRIPT = "#!/bin/sh\nexec sleep $1\n"
SECOND_BY_SECOND = "#!/bin/sh\nfor second in $(seq ${1%.*}); do sleep 1; done\n"

BASE = {
    "SlurmctldDebug": "debug2",
    "DebugFlags": "Backfill",
    "LogTimeFormat": "iso8601_ms",
    "KillWait": 30,
    "SchedulerParameters": "bf_interval=30",
    "SlurmdTimeout": 300,
    "SlurmctldTimeout": 120,
}


@dataclass(frozen=True)
class Job:
    """A job: seconds from the beginning to its submission, and of sleep; limit in minutes; MB of each CPU;
    its number as a component of a heterogeneous job, whose first one is 0."""

    submit: float
    nodes: int
    runtime: float
    limit: int
    cpus: int
    memory: int
    few: bool
    who: int
    level: int
    component: int = 0

    def options(self, case: Case) -> list[str]:
        """Return its options of sbatch."""
        options = [f"--time={self.limit}"]
        if case.accounts:
            user, account = WHO[self.who]
            options += [f"--uid={user}", f"--account={account}", f"--qos={LEVELS[self.level]}", "--chdir=/"]
        if len(case.partitions) > 1:
            options.append(f"--partition={self.partition(case)}")
        if case.licences and self.licences:
            asked = ",".join(f"{name}:{n}" for name, n in self.licences.items())
            options.append(f"--licenses={asked}")
        options += [f"--segment={self.segment(case)}"] * bool(self.segment(case))
        options += ["--switches=1@1"] * self.one_switch(case)
        if not case.shares_nodes:
            return [*options, f"--nodes={self.nodes}"]
        options += ["--hint=nomultithread"] * (self.threads(case) > 1)
        options += ["--oversubscribe"] * self.shares(case)
        if case.has_devices:
            options += [f"--gres=accelerator:{self.devices}"] * bool(self.devices)
            options += [f"--constraint={self.constraint}"] * bool(self.constraint)
        if nodes := self.asked_nodes(case):
            options.append(f"--nodes={nodes}")
        return [*options, f"--ntasks={self.tasks}", f"--mem-per-cpu={self.memory}"]

    def preempts(self, case: Case) -> bool:
        """Return whether it preempts others in a case in which jobs do."""
        return LEVELS[self.level] == "urgent" if case.accounts else self.few

    @property
    def tasks(self) -> int:
        """CPUs that the job requests if nodes are shared."""
        return self.cpus * self.nodes

    def asked_nodes(self, case: Case) -> int:
        """Return the number of nodes that the job names if these are limited, or 0."""
        names = not case.shares_nodes or case.names_nodes or (case.refuses and (self.few or self.who % 2))
        return self.nodes if names else 0

    @property
    def devices(self) -> int:
        """Generic resources on each node, if there are any; Slurm accepts only real GPUs."""
        return self.who % 3 if self.tasks <= 16 else 0

    @property
    def constraint(self) -> str:
        """Features that the job asks for, if nodes have any."""
        texts = ("", "fast", "wide", "fast&wide", "fast|wide")
        return texts[self.level + self.cpus // 4] if self.tasks <= 16 else ""

    def threads(self, case: Case) -> int:
        """Return the CPUs that the job gets for each one that it asks for: a whole core for one thread."""
        return 1 + (case.one_thread and self.level == 1 and self.tasks <= 16)

    def segment(self, case: Case) -> int:
        """Return the nodes of each segment that it asks for, 0 for none. With base
        blocks of three nodes, eight segments of two do not fit on all nodes."""
        return case.segments if case.segments and self.nodes % 2 == 0 and self.nodes < NODES else 0

    def one_switch(self, case: Case) -> bool:
        """Return whether it waits for nodes on one leaf switch."""
        return case.one_switch and self.nodes <= 6

    def shares(self, case: Case) -> bool:
        """Return whether it asks to share CPUs with other jobs that do."""
        return case.oversubscribes and self.level % 2 == 0

    @property
    def licences(self) -> dict[str, int]:
        """Licences that the job asks for, if there are any."""
        asked = {"solver": 1 + self.who % 4, "mesher": 1 + self.who % 2}
        return {name: n for k, (name, n) in enumerate(asked.items()) if self.level & (1 << k)}

    def partition(self, case: Case) -> str:
        """Return the job's partition if there are several; ``few`` takes only small jobs."""
        if case.several:
            return "few,main" if self.nodes <= 6 and self.memory > 100 else "main"
        if self.few and self.tasks <= 6 * CPUS:
            return "few"
        return "spare" if len(case.partitions) > 2 and self.memory == 100 else "main"


def workload(seed: int, n_jobs: int, gap: float = 3.0) -> list[Job]:
    """Return jobs that take seconds to minutes; some exceed their time limit."""
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.exponential(gap, n_jobs))
    nodes = rng.choice([1, 2, 3, 4, 6, 8, 12, 16], n_jobs, p=[0.3, 0.15, 0.1, 0.15, 0.1, 0.1, 0.06, 0.04])
    runtime = np.clip(rng.lognormal(2.6, 0.8, n_jobs), 2, 150).round(2)
    limit = np.maximum(1, np.ceil(runtime * rng.choice([1, 1.2, 2, 4, 8], n_jobs) / 60)).astype(int)
    over = rng.random(n_jobs) < 0.05
    runtime[over] = limit[over] * 60 + rng.uniform(5, 60, over.sum()).round(2)
    cpus, memory = rng.integers(1, 5, n_jobs), rng.choice([100, 250, 500, 1000], n_jobs)
    few = rng.random(n_jobs) < 0.3
    who, level = rng.integers(0, len(WHO), n_jobs), rng.integers(0, len(LEVELS), n_jobs)
    columns = (submit, nodes, runtime, limit, cpus, memory, few, who, level)
    return [Job(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
