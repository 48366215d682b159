"""The kernel against its slow twin: random jobs, nodes and partitions, whole nodes and CPUs."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from family_cases import composed, jobs_of, machine_of
from slurm_block_twin import BlockTwin
from slurm_budget_twin import Budget, BudgetTwin, LicenceTwin, SwitchTwin
from slurm_gang_twin import CoreTwin, GangTwin, LinearTwin, ShareTwin
from slurm_power_twin import PowerTwin
from slurm_twin import SUITS, DeviceTwin, Preempting, Twin, TwinJob

from models.jobs import swf
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.requests import Requests
from models.jobs.swf_schedule import write_schedule
from models.point import Batches, Point
from models.slurm import engine
from models.slurm.asked import asked
from models.slurm.building import system_of
from models.slurm.configuration import Configuration
from models.slurm.configuration.reading import of_lines, read
from models.slurm.configuration.switches import Switch, Topology
from models.slurm.engine import Result, run
from models.slurm.kernel import loop, tables
from models.slurm.model import SlurmSchedule, schedule, with_suspension
from models.slurm.policies import with_events
from models.slurm.scheduler import Phases

EACH_SECOND = Phases(tick=0.0, period=1.0, completing=0.0, killing=0.0, cycle_time=0.0)
VERSIONS = ("22.05", "24.11", "26.05")
KINDS = (
    "whole nodes",
    "CPUs and memory",
    "two partitions",
    "builtin",
    "limits",
    "reservations",
    "tiers",
    "QOS",
    "linear",
    "devices",
    "gang",
    "suspension",
    "gang cores",
    "suspension cores",
    "budgets",
    "licences",
    "switches",
    "blocks",
    "threads",
    "power",
    "sharing cores",
    "heterogeneous",
)
CPUS_OR_NODES = (
    "two partitions", "tiers", "QOS", "licences", "switches", "blocks", "power", "heterogeneous"
)  # fmt: skip


def draw(kind: str, seed: int) -> tuple[Twin, list[str]]:
    rng = np.random.default_rng(seed)
    n_nodes, n_jobs = int(rng.integers(3, 9)), int(rng.integers(5, 40))
    cpus, memory = int(rng.integers(1, 5)), 1000
    preempts = kind in ("tiers", "QOS")
    cores = kind.endswith(" cores")
    whole = (
        kind not in ("CPUs and memory", "devices", "threads")
        and not cores
        and not (kind in CPUS_OR_NODES and rng.random() < 0.5)
    )
    nodes = [(cpus, memory)] * n_nodes
    partitions: list[tuple[range, int, bool]] = [(range(n_nodes), 1, whole)]
    lines = [
        f"NodeName=n[0-{n_nodes - 1}] CPUs={cpus} RealMemory={memory}",
        f"PartitionName=all Nodes=ALL Default=YES OverSubscribe={'EXCLUSIVE' if whole else 'NO'}",
        f"SelectTypeParameters={'CR_CPU' if whole else 'CR_CPU_Memory'}",
        "SchedulerParameters=bf_interval=10,bf_resolution=60",
    ]
    if kind == "two partitions":
        partitions.append((range(n_nodes // 2 + 1), 2, whole))
        sharing, most_nodes = lines[1].rpartition(" ")[2], int(rng.integers(1, n_nodes // 2 + 2))
        lines.append(
            f"PartitionName=some Nodes=n[0-{n_nodes // 2}] PriorityTier=2 MaxNodes={most_nodes} {sharing}"
        )
    if kind == "heterogeneous":
        partitions.append((range(n_nodes // 2 + 1), 1, whole))
        lines.append(f"PartitionName=some Nodes=n[0-{n_nodes // 2}] {lines[1].rpartition(' ')[2]}")
    shared = int(rng.integers(2, 5)) if kind == "gang" else int(kind == "suspension")
    if shared:
        partitions.append((range(n_nodes // 2, n_nodes), int(rng.integers(1, 3)), True))
        if kind == "suspension":
            shared, partitions[1] = int(rng.integers(1, 3)), (range(n_nodes // 2, n_nodes), 2, True)
        lines = lines[:2] + lines[3:]
        lines[1] = f"PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:{shared}"
        lines += [
            f"PartitionName=some Nodes=n[{n_nodes // 2}-{n_nodes - 1}] PriorityTier={partitions[1][1]} "
            f"OverSubscribe=FORCE:{shared}",
            "PreemptMode=GANG" if kind == "gang" else "PreemptMode=SUSPEND,GANG", "SchedulerTimeSlice=10",
            "SelectType=select/linear", "" if kind == "gang" else "PreemptType=preempt/partition_prio",
        ]  # fmt: skip
    depths = [int(rng.integers(2, 4)), int(rng.integers(1, 4))] if kind == "gang cores" else [1, 1]
    by_core, sockets = bool(rng.integers(2)), 2 - cpus % 2
    if cores:
        lines[0] += f" Sockets={sockets} CoresPerSocket={cpus // sockets}"
        partitions.append((range(n_nodes // 2, n_nodes), int(rng.integers(1, 3)), False))
        if kind == "suspension cores":
            partitions[1] = (partitions[1][0], 2, False)
        sharing = [f"OverSubscribe=FORCE:{n}" if kind == "gang cores" else "" for n in depths]
        lines[1] = f"PartitionName=all Nodes=ALL Default=YES {sharing[0]}"
        lines[2] = f"SelectTypeParameters={'CR_Core' if by_core else 'CR_CPU'}_Memory"
        lines += [
            f"PartitionName=some Nodes=n[{n_nodes // 2}-{n_nodes - 1}] PriorityTier={partitions[1][1]} "
            f"{sharing[1]}",
            "PreemptMode=GANG" if kind == "gang cores" else "PreemptMode=SUSPEND,GANG",
            "SchedulerTimeSlice=10",
            "" if kind == "gang cores" else "PreemptType=preempt/partition_prio",
        ]
    if kind == "threads":
        lines[0] = (
            f"{lines[0].replace(f'CPUs={cpus}', f'CPUs={2 * cpus}')} CoresPerSocket={cpus} ThreadsPerCore=2"
        )
        lines[0] = lines[0].replace("RealMemory=1000", "RealMemory=2000")
        nodes, cpus = [(2 * cpus, 2000)] * n_nodes, 2 * cpus
        lines[2] = f"SelectTypeParameters={'CR_Core' if by_core else 'CR_CPU'}_Memory"
    if kind == "builtin":
        lines.append("SchedulerType=sched/builtin")
    if kind == "linear":
        lines[1:3] = ["PartitionName=all Nodes=ALL Default=YES", "SelectType=select/linear"]
    if kind == "tiers":
        partitions.append((range(n_nodes), 2, whole))
        sharing = lines[1].rpartition(" ")[2]
        lines.append(f"PartitionName=some Nodes=n[0-{n_nodes - 1}] PriorityTier=2 {sharing}")
    jobs = []
    submit = np.cumsum(rng.integers(0, 20, n_jobs)) + 1
    for k in range(n_jobs):
        place = int(rng.integers(len(partitions)))
        bound = most_nodes if kind == "two partitions" and place else len(partitions[place][0])
        size = int(rng.integers(1, bound + 1))
        most = bound if kind == "two partitions" else size  # nodes that its tasks may need
        tasks = size if whole else int(rng.integers(size, most * cpus + 1))
        limit = 60 * int(rng.integers(1, 6))
        runtime = int(rng.integers(1, limit + 50))
        jobs.append(
            TwinJob(
                k,
                int(submit[k]),
                runtime,
                limit,
                size,
                tasks,
                0 if whole else int(rng.integers(0, 251)),
                place,
                most_nodes=bound,
            )
        )
    further = {
        "budgets": BudgetTwin, "licences": LicenceTwin, "switches": SwitchTwin, "blocks": BlockTwin,
        "power": PowerTwin,
    }  # fmt: skip
    kind_of = GangTwin if shared else further.get(kind, Twin)
    twin = kind_of(nodes, partitions, jobs, backfill=kind != "builtin", interval=10, shared=shared)
    if kind == "threads":
        twin.threads, twin.by_core = 2, by_core
    if kind == "linear":
        cuts = [0, *sorted({int(rng.integers(1, n_nodes)) for _ in range(rng.integers(3))}), n_nodes]
        node_lines = [(int(rng.integers(1, 3)), set(range(*pair))) for pair in pairwise(cuts)]
        lines[:1] = [
            f"NodeName=n[{min(line)}-{max(line)}] CPUs={cpus} RealMemory={memory} Weight={weight}"
            for weight, line in node_lines
        ]
        twin = LinearTwin(nodes, partitions, jobs, interval=10, lines=node_lines)
    if kind == "devices":
        twin = give_devices(twin, lines, rng)
    if cores:
        twin = CoreTwin(nodes, partitions, jobs, interval=10, by_core=by_core, depths=depths, sockets=sockets)
    if kind == "sharing cores":
        twin = give_sharing(twin, lines, rng)
    if kind.startswith("suspension"):
        twin.preempting = Preempting(["SUSPEND"] * 2, [0, 0], [1, 2], {(1, 0)})
        for job in jobs:
            job.level = job.partition
    if kind == "limits":
        give_limits(twin, lines, rng)
    if kind in GIVE:
        GIVE[kind](twin, lines, rng)
    if kind == "reservations":
        for number in range(2):
            begin, length = int(rng.integers(0, 900)), int(rng.integers(60, 1200))
            last = int(rng.integers(n_nodes))
            nodes, hours = set(range(last + 1)), range(-number, 4 * number + 1)  # the second is hourly
            for n in hours:
                known = begin + length + 3600 * (n - 1) if n > hours[0] else 0
                twin.reservations.append((begin + 3600 * n, begin + length + 3600 * n, nodes, known))
            times = [datetime.fromtimestamp(at, UTC).strftime("%FT%T") for at in (begin, begin + length)]
            lines.append(
                f"ReservationName=r{number} StartTime={times[0]} EndTime={times[1]} Nodes=n[0-{last}] "
                f"Flags=MAINT{',HOURLY' * number}"
            )
    if rng.random() < 0.3 and "linear" not in "".join(lines):
        twin.busy_nodes = True
        lines[:] = [line + ",bf_busy_nodes" * line.startswith("SchedulerParameters") for line in lines]
    if preempts:
        give_preemption(twin, lines, rng, kind)
    if rng.random() < 0.3 and kind != "heterogeneous":
        twin.job_time, twin.max_time = 1, int(rng.integers(1, 5))
        words = f",bf_max_time={twin.max_time}"
        lines[:] = [line + words * line.startswith("SchedulerParameters") for line in lines]
    if rng.random() < 0.3 and kind != "heterogeneous":
        twin.space = int(rng.integers(2, 12))
        words = f",bf_node_space_size={twin.space}"
        lines[:] = [line + words * line.startswith("SchedulerParameters") for line in lines]
    return twin, lines


def give_sharing(twin: CoreTwin, lines: list[str], rng: np.random.Generator) -> ShareTwin:
    """Let jobs share cores at the same time, in one partition or in both, if they ask for it or in any case;
    the second one may have whole nodes."""
    kinds = [str(rng.choice(["YES", "FORCE"])), str(rng.choice(["NO", "YES", "FORCE", "EXCLUSIVE"]))]
    depths = [int(rng.integers(2, 4)), int(rng.integers(1, 4)) if kinds[1] in ("YES", "FORCE") else 1]
    alone, (members, tier, _) = kinds[1] == "EXCLUSIVE", twin.partitions[1]
    sharing = [kind + f":{n}" * (kind in ("YES", "FORCE")) for kind, n in zip(kinds, depths, strict=True)]
    lines[1] += f" OverSubscribe={sharing[0]}"
    lines[4:] = [f"PartitionName=some {lines[4].split(maxsplit=1)[1]} OverSubscribe={sharing[1]}"]
    for job in twin.jobs:
        job.asks = bool(rng.integers(2))
        if alone and job.partition:
            job.tasks = job.nodes
    partitions = [twin.partitions[0], (members, tier, alone)]
    return ShareTwin(
        twin.nodes, partitions, twin.jobs, interval=10, by_core=twin.by_core, depths=depths,
        sockets=twin.sockets, sharing=kinds,
    )  # fmt: skip


def give_preemption(twin: Twin, lines: list[str], rng: np.random.Generator, kind: str) -> None:
    """Let a second level of jobs, a partition or a QOS, preempt the jobs of the first."""
    mode, grace = str(rng.choice(["REQUEUE", "CANCEL"])), int(rng.choice([0, 0, 20]))
    own = str(rng.choice(["REQUEUE", "CANCEL"]))
    rules = twin.preempting = Preempting(
        [own, mode], [grace, 0], [1, 2], {(1, 0)}, 60 * int(rng.integers(2)), bool(rng.integers(2)),
        bool(rng.integers(2)), int(rng.integers(3)), int(rng.choice([6, 121])), int(rng.choice([10, 100])),
    )  # fmt: skip
    words = [",preempt_youngest_first" * rules.youngest, ",preempt_strict_order" * rules.strict]
    lines[3] += f",preempt_reorder_count={rules.reorder}{''.join(words)}"
    lines += [
        f"PreemptType=preempt/{'qos' if kind == 'QOS' else 'partition_prio'}",
        f"PreemptMode={mode}",
        f"PreemptExemptTime={rules.exempt // 60}",
        f"MessageTimeout={rules.timeout}",
        "AuthInfo=socket=here,cred_expire=5" if rules.requeue_wait == 6 else "AuthInfo=",
    ]
    if kind == "QOS":
        lines += [
            f"QosName=low Priority=1 PreemptMode={own} GraceTime=00:00:{grace:02}",
            "QosName=high Priority=2 Preempt=low PreemptMode=cluster",
        ]
    else:
        lines[1] += f" PreemptMode={own} GraceTime={grace}"
    for job in twin.jobs:
        if kind == "QOS":
            job.level = int(rng.integers(2))
            job.qos = ("low", "high")[job.level]
        else:
            job.level = job.partition


def give_devices(twin: Twin, lines: list[str], rng: np.random.Generator) -> DeviceTwin:
    """Give nodes features and devices of two types, and jobs some of them, where enough nodes have them."""
    cpus, memory = twin.nodes[0]
    features = [{str(word) for word in "abc" if rng.integers(2)} for _ in twin.nodes]
    devices = [(int(rng.integers(3)), int(rng.integers(2))) for _ in twin.nodes]
    lines[:1] = [
        f"NodeName=n{k} CPUs={cpus} RealMemory={memory} Feature={','.join(sorted(features[k])) or 'none'} "
        f"Gres=gpu:small:{small},gpu:large:{large}"
        for k, (small, large) in enumerate(devices)
    ]
    made = DeviceTwin(
        twin.nodes,
        twin.partitions,
        twin.jobs,
        interval=10,
        features=features,
        devices=[sum(d) for d in devices],
    )
    for job in made.jobs:
        job.constraint, job.devices = str(rng.choice(list(SUITS))), int(rng.integers(3))
        suits = [n for n in made.members(job) if made.devices[n] >= job.devices]
        room = sum(min(cpus, memory // max(job.memory, 1)) for _ in suits)
        if len(suits) < job.nodes or room < job.tasks:
            job.constraint, job.devices = "", 0
    return made


def give_budgets(twin: BudgetTwin, lines: list[str], rng: np.random.Generator) -> None:
    """Give budgets to an account, all of its time, and a QOS; what jobs of another QOS use counts twice."""
    twin.safe, cpus = bool(rng.integers(2)), twin.nodes[0][0]
    caps = {name: int(rng.integers(2, 30)) for name in ("of account", "of high", "of low", "wall")}
    twin.budgets = {
        name: Budget(cap, of_running=name == "of high", of_time=name == "wall") for name, cap in caps.items()
    }
    twin.decay = 1 - 0.693 / 120
    twin.midnight = int(rng.integers(1, 1200))
    factors = {"high": 2.0, "low": 1.0, "free": 0.0}
    lines += [
        f"AccountingStorageEnforce=limits{',safe' * twin.safe}",
        "AccountingStorageType=accounting_storage/slurmdbd",
        "PriorityType=priority/multifactor",
        "PriorityCalcPeriod=1",
        "PriorityDecayHalfLife=2",
        "PriorityUsageResetPeriod=DAILY",
        "Parent - 'root'",
        f"Account - 'a':GrpTRESMins=cpu={caps['of account']}:GrpWall={caps['wall']}",
        f"QosName=high UsageFactor=2 GrpTRESRunMins=node={caps['of high']}",
        f"QosName=low GrpTRESMins=node={caps['of low']}",
        "QosName=free UsageFactor=0",
    ]
    for job in twin.jobs:
        job.account, job.qos = str(rng.choice(["a", "b"])), str(rng.choice([*factors]))
        job.factor = factors[job.qos]
        job.budgets = {"of account": job.nodes * cpus, "wall": 1} if job.account == "a" else {}
        job.budgets |= {} if job.qos == "free" else {f"of {job.qos}": job.nodes}


def give_licences(twin: LicenceTwin, lines: list[str], rng: np.random.Generator) -> None:
    """Give jobs licences of two kinds; in some draws plans have them, too, or begin with running jobs."""
    totals = {"a": int(rng.integers(1, 4)), "b": int(rng.integers(1, 6))}
    twin.licensed = [(name, k) for name, n in totals.items() for k in range(n)]
    lines.append(f"Licenses=a:{totals['a']},b:{totals['b']}")
    twin.plans_licences, runs = bool(rng.integers(2)), bool(rng.integers(2))
    twin.plans_running = twin.plans_licences or runs
    lines[3] += ",bf_licenses" * twin.plans_licences + ",bf_running_job_reserve" * runs
    for job in twin.jobs:
        drawn = {name: int(rng.integers(0, n + 1)) for name, n in totals.items()}
        job.licences = {name: n for name, n in drawn.items() if n}


def give_switches(twin: SwitchTwin, lines: list[str], rng: np.random.Generator) -> None:
    """Put nodes on leaves of a tree of two levels, or of three, and give them one of two weights."""
    n = len(twin.nodes)
    leaf, middle = rng.integers(0, 4, n), rng.integers(0, 2, 4)
    deep = bool(rng.integers(2))
    twin.weights = rng.integers(1, 1 + int(rng.integers(1, 3)), n).tolist()
    leaves = [one for one in range(4) if (leaf == one).any()]
    middles = [one for one in range(2) if any(middle[each] == one for each in leaves)] if deep else []
    top = len(leaves) + len(middles)
    of_leaf = [{*np.flatnonzero(leaf == one).tolist()} for one in leaves]
    above = [len(leaves) + middles.index(middle[one]) if deep else top for one in leaves]
    of_middle = [{*np.flatnonzero(middle[leaf] == one).tolist()} for one in middles]
    twin.switches = [
        *((nodes, up, 0) for nodes, up in zip(of_leaf, above, strict=True)),
        *((nodes, top, 1) for nodes in of_middle),
        ({*range(n)}, top, 1 + deep),
    ]
    lines[:1] = [
        f"NodeName=n{k} CPUs={twin.nodes[k][0]} RealMemory={twin.nodes[k][1]} Weight={twin.weights[k]}"
        for k in range(n)
    ]
    lines.append("TopologyPlugin=topology/tree")
    for s, (nodes, _, level) in enumerate(twin.switches):
        below = [f"s{k}" for k, (_, up, _) in enumerate(twin.switches) if up == s != k]
        children = ",".join([f"n{k}" for k in sorted(nodes)] if level == 0 else below)
        lines.append(f"SwitchName=s{s} {'Switches' if level else 'Nodes'}={children}")
    for job in twin.jobs:
        job.switches, job.patience = int(rng.integers(3)), int(rng.integers(1, 301))


def give_blocks(twin: BlockTwin, lines: list[str], rng: np.random.Generator) -> None:
    """Put nodes, some draws all of them, into blocks of one node or two and more, of one weight or two; some
    jobs ask for segments."""
    n = len(twin.nodes)
    twin.base, inside = int(rng.integers(1, 3)), n - int(rng.integers(2))
    borders = [*range(0, inside - twin.base + 1, twin.base)]
    borders = [one for one in borders if one == 0 or rng.random() < 0.8] + [inside]
    twin.blocks = [{*range(*pair)} for pair in pairwise(borders)]
    twin.sizes = [1, *(size for size in (2, 4, 8) if rng.random() < 0.6)]
    twin.weights = rng.integers(1, 1 + int(rng.integers(1, 3)), n).tolist()
    lines[:1] = [
        f"NodeName=n{k} CPUs={twin.nodes[k][0]} RealMemory={twin.nodes[k][1]} Weight={twin.weights[k]}"
        for k in range(n)
    ]
    lines += [
        "TopologyPlugin=topology/block",
        f"BlockSizes={','.join(str(twin.base * k) for k in twin.sizes)}",
    ]
    lines += [f"BlockName=b{k} Nodes=n[{min(one)}-{max(one)}]" for k, one in enumerate(twin.blocks)]
    for job in twin.jobs:
        job.segment = int(rng.choice([0, 0, *range(1, twin.base + 1)]))
        if job.segment and (job.nodes % job.segment or job.tasks % (job.nodes // job.segment)):
            job.segment = 0
        every = {node: (*twin.nodes[node][:2], 0) for node in range(n)}
        while not twin.pick(job, {*every}, every):  # it would never start
            job.segment, job.nodes = 0, max(job.nodes - 1, 1)
            job.tasks = min(job.tasks, job.nodes * twin.nodes[0][0])


def give_components(twin: Twin, lines: list[str], rng: np.random.Generator) -> None:
    """Make some jobs the components of one, which fit together on nodes that no other job has."""
    twin.jointly_at_once = bool(rng.integers(2))
    lines[3] += ",bf_hetjob_immediate" * twin.jointly_at_once
    leader, left = twin.jobs[0], 0
    for job in twin.jobs:
        if left:
            job.submit, left = leader.submit, left - 1
        else:
            leader, left = job, int(rng.choice([0, 0, 1, 2 if len(twin.nodes) > 3 else 1]))
        if left or job is not leader:
            leader.leader, job.leader, job.nodes = leader.number, leader.number, 1
            job.tasks = min(job.tasks, twin.nodes[0][0])


def give_power(twin: PowerTwin, lines: list[str], rng: np.random.Generator) -> None:
    """Power nodes down after a while, on one line of slurm.conf or two, some of them never; nodes are idle
    between submissions."""
    n, cpus, memory = len(twin.nodes), *twin.nodes[0]
    twin.first_line = int(rng.integers(1, n + 1))
    twin.idle_for, twin.off_for, twin.boots = (
        int(rng.integers(*most)) for most in ((0, 90), (0, 70), (0, 90))
    )
    twin.rates = int(rng.integers(0, 5)), int(rng.integers(0, 5))
    twin.spares, twin.begun = int(rng.integers(0, n)), bool(rng.integers(2))
    words = f" CPUs={cpus} RealMemory={memory} State={'CLOUD' if twin.begun else 'UNKNOWN'}"
    lines[0] = f"NodeName=n[0-{twin.first_line - 1}]{words} Weight=2"
    lines += [f"NodeName=n[{twin.first_line}-{n - 1}]{words}"] * (twin.first_line < n)
    lines += ["SuspendProgram=/bin/true", "ResumeProgram=/bin/true", f"SuspendTime={twin.idle_for}"]
    lines += [f"SuspendTimeout={twin.off_for}", f"ResumeTimeout={twin.boots}"]
    lines += [f"SuspendRate={twin.rates[0]}", f"ResumeRate={twin.rates[1]}"]
    lines += [f"SuspendExcNodes=n[0-{n - 2}]:{twin.spares}"] * (twin.spares > 0)
    for number, job in enumerate(twin.jobs):
        job.submit += 40 * number


GIVE = {
    "budgets": give_budgets,
    "licences": give_licences,
    "switches": give_switches,
    "blocks": give_blocks,
    "power": give_power,
    "heterogeneous": give_components,
}


def give_limits(twin: Twin, lines: list[str], rng: np.random.Generator) -> None:
    """Give limits to an account and those below it, to each user of another one, and to two QOS.

    The one QOS replaces the limit of each user, in half of the draws also the limit of the account, and the
    partition's, in the other half, the first one's limit of jobs of a user.
    """
    n_nodes, cpus = len(twin.nodes), twin.nodes[0][0]
    twin.caps = {
        "above": int(rng.integers(1, n_nodes + 1)), "each": int(rng.integers(1, 3)),
        "qos": cpus * int(rng.integers(1, n_nodes + 1)), "of user": int(rng.integers(1, 4)),
        "nodes": n_nodes,
    }  # fmt: skip
    of_account = bool(rng.integers(2))
    most = int(rng.integers(1, 4))
    twin.most_submitted = {"high": 6, **{f"other {user}": most for user in (1, 2, 3)}}
    lines += [
        "AccountingStorageEnforce=associations,limits,qos",
        "Cluster - 'twin':Fairshare=1",
        "Parent - 'root'",
        f"Account - 'above':GrpTRES=node={twin.caps['above']},energy=7",
        f"Account - 'other':MaxJobs={twin.caps['each']}:MaxSubmitJobs={twin.most_submitted['other 1']}",
        "Parent - 'above'",
        "Account - 'below':Fairshare=3",
        f"QosName=high GrpTRES=cpu={twin.caps['qos']}{f',node={n_nodes}' * of_account} "
        f"MaxJobsPU={twin.caps['of user']} GrpSubmit={twin.most_submitted['high']}",
        "QosName=part MaxJobsPU=3",
    ]
    lines[1] += " QOS=part" * (not of_account)
    for job in twin.jobs:
        job.account, job.user = str(rng.choice(["below", "other", "none"])), int(rng.integers(1, 4))
        job.qos = str(rng.choice(["high", "normal"]))
        nodes = min(job.nodes, twin.caps["above"])
        job.charges |= {"above": nodes} if job.account == "below" else {}
        job.charges |= {f"other {job.user}": 1} if job.account == "other" else {}
        job.counted = {f"other {job.user}"} if job.account == "other" else set()
        job.counted |= {"high"} if job.qos == "high" else set()
        if not of_account:
            job.charges[f"part {job.user}"] = 1
            job.replaced |= {f"other {job.user}", f"high {job.user}"}
        if job.qos == "high":
            job.charges |= {"nodes": job.nodes} if of_account else {}
            job.charges |= {"above": job.nodes} if of_account and job.account == "below" else {}
            job.replaced |= {f"other {job.user}", *(["above"] if of_account else [])}
            job.charges |= {"qos": min(job.nodes * cpus, twin.caps["qos"]), f"high {job.user}": 1}
    for user in (1, 2, 3):
        twin.caps |= {f"other {user}": twin.caps["each"], f"high {user}": twin.caps["of user"]}
        twin.caps[f"part {user}"] = 3
    twin.limit_stop = bool(rng.integers(2))
    lines[3] += ",assoc_limit_stop" * twin.limit_stop


WATTS = {
    "ALL": {"idle": 100.0, "busy": 300.0, "boot": 150.0, "off": 5.0},
    "n0": {"idle": 70.0, "busy": 400.0, "boot": 155.0, "off": 0.0},
}
"""What nodes draw in each state."""


def simulated(
    twin: Twin, lines: list[str], plans: int = 0, configuration: Configuration | None = None
) -> Result:
    jobs = twin.jobs
    column = {
        name: np.array([getattr(job, name) for job in jobs], np.int64)
        for name in (
            "submit",
            "runtime",
            "limit",
            "nodes",
            "tasks",
            "memory",
            "devices",
            "segment",
            "switches",
            "patience",
        )
    }
    names = np.array([("all", "some")[job.partition] for job in jobs], object)
    whole = twin.partitions[0][2]
    request = Requests.of(
        column["tasks"],
        np.zeros(len(jobs), np.int64),
        nodes=column["nodes"],
        most_nodes=column["nodes"] if whole else np.zeros(len(jobs), np.int64),
        cpu_memory=column["memory"],
        shares=np.array([job.asks for job in jobs]),
        gres={"gpu": column["devices"]} if isinstance(twin, DeviceTwin) else {},
        licences={name: np.array([job.licences.get(name, 0) for job in jobs]) for name in "ab"},
        constraint=np.array([job.constraint for job in jobs], object),
        partition=names,
        account=np.array([job.account for job in jobs], object),
        qos=np.array([job.qos for job in jobs], object),
        segment=column["segment"],
        switches=column["switches"],
        switch_wait=column["patience"],
        het_job=np.array([-1 if job.leader is None else job.leader for job in jobs]),
    )
    submit, runtime, limit, tasks = (column[name] for name in ("submit", "runtime", "limit", "tasks"))
    given = jobs_of(submit, runtime, tasks, requested=limit, user=[job.user for job in jobs])
    configuration = configuration or of_lines("twin", lines)
    leaves = np.array([np.inf if job.leaves is None else job.leaves for job in jobs])
    answers = sorted((job.number, at, node) for job in jobs for node, at in job.answers.items())
    wanted = asked(
        replace(given, request=request),
        configuration,
        np.array([job.message or -1.0 for job in jobs]),
        leaves=leaves,
        answer=np.array([(-1.0, job.call) for job in jobs]),
        node_answers=np.array([(job, node, at) for job, at, node in answers], float).reshape(-1, 3),
    )
    zero = 86400.0 - min(getattr(twin, "midnight", 86400), 86400)
    return run(wanted, configuration, replace(EACH_SECOND, job_time=float(twin.job_time)), plans, zero)


FEW = {(0, VERSIONS[0]), (0, VERSIONS[1]), (0, VERSIONS[2]), (1, VERSIONS[0]), (2, VERSIONS[2])}
SEEDS = [
    pytest.param(seed, version, marks=[pytest.mark.exhaustive] * ((seed, version) not in FEW))
    for seed in range(32)
    for version in VERSIONS[: 3 if seed < 3 or seed % 3 == 0 else 1]
]


def of_version(twin: Twin, lines: list[str], version: str) -> tuple[Twin, list[str]]:
    lines += [f"SLURM_VERSION={version}"]
    if "PriorityType=" not in "".join(lines):
        lines.append("PriorityType=priority/basic")
    if "SelectType=" not in "".join(lines):
        lines.append("SelectType=select/cons_tres")
    twin.since_23_11, twin.since_25_11 = version > "23", version > "25.1"
    twin.since_24_11, twin.since_25_05, twin.since_26_05 = version > "24", version > "25", version > "26"
    return twin, lines


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "version"), SEEDS)
def test_every_job_starts_when_the_twin_starts_it(kind: str, seed: int, version: str) -> None:
    twin, lines = of_version(*draw(kind, seed), version)
    configuration = of_lines("twin", lines)
    if isinstance(twin, PowerTwin):
        twin.watts = [WATTS["n0"], *[WATTS["ALL"]] * (len(twin.nodes) - 1)]
        configuration = replace(configuration, watts=WATTS)
    result = simulated(twin, lines, configuration=configuration)
    twin.run()
    assert result.start.tolist() == [job.start for job in twin.jobs]
    assert result.by_backfill.tolist() == [job.by_backfill for job in twin.jobs]
    assert result.end.tolist() == [job.end for job in twin.jobs]
    if isinstance(twin, PowerTwin):
        n = len(twin.drawn) // 2
        found = result.drawing.energy(np.array([0.0, n, 2 * n]))
        for state in WATTS["ALL"]:
            drawn = [sum(one[state] for one in part) for part in (twin.drawn[:n], twin.drawn[n : 2 * n])]
            np.testing.assert_allclose(found[f"{state}_energy"] * 3.6e6, drawn, rtol=1e-9, atol=1e-3)
    assert result.cancelled.tolist() == [job.cancelled for job in twin.jobs]
    assert result.refused.tolist() == [job.refused for job in twin.jobs]
    assert result.suspended.tolist() == [job.late for job in twin.jobs]
    lost = zip(result.lost.job.tolist(), result.lost.begin.tolist(), result.lost.end.tolist(), strict=True)
    assert sorted(lost) == [(job.number, *run) for job in twin.jobs for run in job.runs]


def test_a_job_can_fit_in_blocks_if_the_twin_finds_nodes_for_it() -> None:
    """What a plan leaves out of a log is what never starts."""
    rng, found = np.random.default_rng(1), []
    for _ in range(500):
        base, borders = int(rng.integers(1, 4)), [0]
        while len(borders) < 2 + rng.integers(6):
            borders.append(borders[-1] + base + int(rng.integers(2)))
        free = dict.fromkeys(range(borders[-1]), 2)
        blocks = [{*range(*pair)} for pair in pairwise(borders)]
        sizes = [1, *(size for size in (2, 4, 8) if rng.random() < 0.5)]
        twin = BlockTwin([(2, 1000)] * len(free), [(range(len(free)), 1, True)], [], blocks=blocks, base=base)
        twin.sizes, twin.weights, twin.since_24_11 = sizes, [1] * len(free), True
        nodes, segment = int(rng.integers(1, len(free) + 1)), int(rng.integers(base + 1))
        job = TwinJob(0, 0, 1, 1, nodes, nodes, 0, 0, segment=segment * (nodes % max(segment, 1) == 0))
        members = tuple(Switch("b", tuple(sorted(block))) for block in blocks)
        topology = Topology("racks", "block", members, base, sum(sizes))
        found.append(topology.fits(free, (nodes, nodes, job.segment), longer=False))
        assert found[-1] == bool(twin.fit(job, True, free)), (base, blocks, sizes, job)
    assert {*found} == {True, False}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "budgets"])
@pytest.mark.parametrize(
    "seed", [6, 11, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in (*range(7, 11), *range(12, 24)))]
)
def test_each_node_is_free_when_it_has_answered(kind: str, seed: int) -> None:
    """Some nodes answer before the message that calls the scheduler; the job may not have had all of them."""
    twin, lines = of_version(*draw(kind, seed), VERSIONS[seed % 3])
    rng = np.random.default_rng(seed)
    for job in twin.jobs:
        job.message = int(rng.integers(0, 40)) * int(rng.integers(2))
        job.call = job.number % 7
        early = rng.permutation(len(twin.nodes))[: int(rng.integers(6))] if job.message > 1 else []
        job.answers = {int(node): int(rng.integers(1, job.message)) for node in early}
    result = simulated(twin, lines)
    twin.run()
    assert result.start.tolist() == [job.start for job in twin.jobs]
    assert result.by_backfill.tolist() == [job.by_backfill for job in twin.jobs]
    for job in twin.jobs:
        job.answers = {}
    if seed == 6:
        assert simulated(twin, lines).start.tolist() != result.start.tolist(), "answers at once give the same"


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [("power", 11), ("suspension", 10), ("gang cores", 7), ("switches", 8)])
def test_kernels_can_be_interpreted(case: tuple[str, int]) -> None:
    """A debugger steps through them where numba compiles nothing."""
    command = f"import {__name__} as twin; twin.test_each_node_is_free_when_it_has_answered{case}"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "error", "-c", command], env=environment, check=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [2, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in range(3, 20))])
def test_jobs_that_are_cancelled_leave_the_queue_when_the_log_says(kind: str, seed: int) -> None:
    """Some wait, some are held, some would not have run in the log: these end."""
    twin, lines = draw(kind, seed)
    rng = np.random.default_rng(seed)
    for job in twin.jobs:
        if rng.random() < 0.4:
            job.leaves = job.submit + int(rng.integers(1, 400))
        if job.leader is not None:
            job.leaves = twin.jobs[job.leader].leaves
    result = simulated(twin, lines)
    twin.run()
    starts = [np.nan if job.start is None else job.start for job in twin.jobs]
    np.testing.assert_array_equal(result.start, starts)
    ran = ~np.isnan(result.start)
    assert result.end[ran].tolist() == [job.end for job in twin.jobs if job.start is not None]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "g" not in kind])
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.exhaustive) for s in range(3, 20))])
def test_nodes_that_are_down_take_no_job_until_they_are_back(kind: str, seed: int, tmp_path: Path) -> None:
    """By events as sacctmgr prints them: no scheduler knows of one before, and a running job runs on."""
    twin, lines = draw(kind, seed)
    rng, rows = np.random.default_rng(seed), ["Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"]
    rows.append("twin||1970-01-01T00:00:00|Unknown||Cluster Registered TRES|")
    for n in range(6):
        node, begin, length = (int(rng.integers(*ends)) for ends in ((len(twin.nodes),), (600,), (1, 400)))
        times = [datetime.fromtimestamp(at, UTC).strftime("%FT%T") for at in (begin, begin + length)]
        state = ("DOWN*", "DRAINED", "IDLE+DRAIN", "MIXED+DRAIN", "FAIL", "IDLE")[n]
        rows.append(f"twin|n{node}|{times[0]}|{times[1]}|{state}|out # of \\\\ order, NodeName=n1|root(0)")
        if state != "IDLE":
            twin.reservations.append((begin, begin + length, {node}, begin))
    (tmp_path / "events.txt").write_text("\n".join([*rows, ""]))
    (tmp_path / "slurm.conf").write_text("\n".join([*lines, "Include events.txt", ""]))
    configuration = with_events(read(tmp_path / "slurm.conf"), 0.0, 1e6)
    assert sum(len(one.nodes) for one in configuration.events) == 5
    result = simulated(twin, lines, configuration=configuration)
    twin.run()
    assert result.start.tolist() == [job.start for job in twin.jobs]


@pytest.mark.parametrize("kind", ["backfill", "gang cores"])
def test_a_run_is_interrupted_between_two_calls_of_the_kernel(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel cannot be interrupted: it returns now and then, and goes on where it was."""
    twin, lines = draw(kind, 4)
    whole, calls, run_loop = simulated(twin, lines), [], loop.run

    def run_briefly(system: tables.System, *parts: object) -> int:
        calls.append(run_loop(system, *parts))
        if calls[-1] == loop.PAUSED and len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return calls[-1]

    monkeypatch.setattr(loop, "run", run_briefly)
    for job in twin.jobs:
        job.submit *= 10_000  # each in a call of its own
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            simulated(twin, lines)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [loop.PAUSED] * 3
    assert len(whole.start) == len(twin.jobs)


@pytest.mark.parametrize("timer", ["time_slice", "bf_interval", "tick"])
def test_time_that_stands_still_ends_the_run(timer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*given: object) -> tables.System:
        system = system_of(*given)
        system.settings[timer] = -1e9 if timer == "bf_interval" else 0
        return system

    monkeypatch.setattr(engine, "system_of", stopped)
    with pytest.raises(ValueError, match=r"twin: time stands still [-\d,]+ s after the beginning") as raised:
        simulated(*draw("gang cores", 4))
    assert "\n" not in str(raised.value)


def test_rows_are_opened_as_jobs_need_them() -> None:
    """As many as may be change no start, nor how long a run takes."""
    results = []
    for depth in (40, 1000):
        twin, lines = draw("gang cores", 7)
        lines = [re.sub(r"FORCE:\d", f"FORCE:{depth}", line) for line in lines]
        results.append(simulated(twin, lines))
    np.testing.assert_array_equal(results[0].start, results[1].start)
    np.testing.assert_array_equal(results[0].end, results[1].end)


RARE = {
    ("gang cores", 114): "jobs keep their rows where new ones would leave one without",
    ("gang cores", 290): "the same",
    ("power", 4): "a node is powered down the second after SuspendTimeout",
}
"""Kind and seed -> what few draws have."""


@pytest.mark.parametrize(("kind", "seed"), RARE)
def test_what_few_draws_have(kind: str, seed: int) -> None:
    test_every_job_starts_when_the_twin_starts_it(kind, seed, "22.05")


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_skipped_work_changes_no_start(seed: int) -> None:
    """With plans recorded every cycle tests every job; without, a cycle ends where no job could start."""
    twin, lines = draw(KINDS[seed], 100 + seed)
    np.testing.assert_array_equal(simulated(twin, lines).start, simulated(twin, lines, plans=10_000).start)


def test_a_job_that_never_fits_on_the_nodes_left_stops_none_behind_it() -> None:
    """Where a job of a higher tier waits its nodes are left out; seen on Slurm 22.05.8."""
    sizes = ((600, 1, 1), (60, 2, 1), (60, 4, 0), (60, 2, 0))  # seconds, tasks, partition
    jobs = [TwinJob(k, k + 1, run, run, 1, tasks, 0, place) for k, (run, tasks, place) in enumerate(sizes)]
    twin = Twin([(1, 1000)] * 4, [(range(4), 1, False), (range(2), 2, False)], jobs, backfill=False)
    lines = ["NodeName=n[0-3] CPUs=1 RealMemory=1000", "PartitionName=all Nodes=ALL Default=YES"]
    lines += ["PartitionName=some Nodes=n[0-1] PriorityTier=2", "SchedulerType=sched/builtin"]
    result = simulated(twin, [*lines, "SelectTypeParameters=CR_CPU_Memory"])
    twin.run()
    assert result.start.tolist() == [job.start for job in jobs]
    assert result.start[3] < 60
    assert result.start[2] > 600


def test_of_jobs_that_share_a_node_one_runs_at_a_time() -> None:
    jobs = [TwinJob(k, 1, run, 600, 1, 1, 0, 0) for k, run in enumerate((100, 70, 130))]
    lines = ["NodeName=n[0-3] CPUs=4 RealMemory=1000", "PreemptMode=GANG", "SelectType=select/linear"]
    lines.append("PartitionName=all Nodes=n0 OverSubscribe=FORCE:3")
    twin = Twin([(4, 1000)], [(range(1), 1, True)], jobs)
    result = simulated(twin, lines)
    assert len(set(result.start.tolist())) == 1
    time = result.end - result.start
    assert (time - result.suspended).sum() == time.max()
    size = np.full(3, 4)
    ran = Jobs(np.ones(3), time, time, size, np.zeros(3, np.int64))
    machine = pool(16)
    made = with_suspension(
        SlurmSchedule(ran, machine, result.start, result.end, size, suspended=result.suspended),
        result.preempted,
    )
    assert made.response_time.tolist() == (result.end - 1).tolist()
    assert (made.runs.processors * (made.runs.end - made.runs.begin)).sum() == pytest.approx(4 * time.max())


def test_begin_times_are_tested_at_every_pass() -> None:
    """The message of an epilog calls a pass between two wake-ups, in the second of the begin."""
    made = of_lines("slurm.conf", ["NodeName=n[1-2]", "PartitionName=all Nodes=ALL"])
    one, none = np.ones(2, np.int64), np.zeros(2, np.int64)
    request = Requests.of(one, none, delay=np.array([0.0, 10.5]))
    given = Jobs(np.ones(2), np.array([7.3, 60.0]), np.full(2, 60.0), one, none, request=request)
    phases = Phases(tick=0.9, period=1.0, completing=0.0)
    result = run(asked(given, made, np.array([0.1, -1.0])), made, phases)
    assert result.end[0] % 1 == pytest.approx(0.2)
    assert result.start[1] == pytest.approx(result.end[0] + 0.1)


def test_the_status_of_a_job_that_preemption_cancels(tmp_path: Path) -> None:
    """In the Standard Workload Format it is the status of a cancelled job."""
    rows = ["JobID|User|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem"]
    rows += [
        f"{number}|u|{partition}|COMPLETED|2024-03-01T00:0{number}:00|2024-03-01T00:0{number}:05|600|20|1|1|0"
        for number, partition in ((1, "spare"), (2, "few"))
    ]
    (tmp_path / "sacct.txt").write_text("\n".join([*rows, ""]))
    lines = ["NodeName=n1 CPUs=1", "PartitionName=spare Nodes=n1 PreemptMode=CANCEL"]
    lines += ["PartitionName=few Nodes=n1 PriorityTier=2"]
    lines += ["PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE"]
    point = Point(
        composed("policy", "slurm", lines=lines),
        composed("workload", "sacct", path=str(tmp_path / "sacct.txt")),
        machine_of("log"),
        batches=Batches(None, 0, (1,)),
    )
    write_schedule(tmp_path / "made.swf", schedule(point))
    assert swf.read(tmp_path / "made.swf").columns["status"].tolist() == [5, 1]
