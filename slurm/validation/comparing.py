"""One workload on a real Slurm, and on the model with the phases of that run."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.slurm.asked import asked
from models.slurm.configuration import read
from models.slurm.engine import Result, run
from slurm.commands import Slurm, SlurmError
from slurm.testcluster import TestCluster
from slurm.validation.accounts import ASSOCIATIONS, LEVELS, QOS, WHO
from slurm.validation.cases import BASE, CASES, CPUS, NODES, SCRIPT, SECOND_BY_SECOND, Job
from slurm.validation.observed import Observed

LONGEST_S = 7200
"""Seconds until a run is given up."""

BEFORE_S = 0.01
"""Seconds from the beginning to the first submission: what happened before is in the phases."""

SAME_S = 0.5
"""Seconds between two cycles that are one: the least between two is a second."""

NEVER_S = 1e6
"""Run time of a job that was killed: it is not known how long it would have run."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Starts in seconds from shortly before the first submission, shape (n_jobs,); of a job that is requeued
    the last one."""

    case: str
    submitted: np.ndarray
    real: np.ndarray
    model: np.ndarray
    same_scheduler: np.ndarray
    n_passes: tuple[int, int]
    plans: tuple[int, int]
    preempted: tuple[int, int]
    version: str = ""

    @property
    def line(self) -> str:
        """The result in one line."""
        off = np.abs(self.model - self.real)
        waits = (float((start - self.submitted).mean()) for start in (self.real, self.model))
        return (
            f"{self.case:15} {len(off):4} jobs, mean wait {next(waits):7.1f} s, model {next(waits):7.1f} s; "
            f"starts differ by {np.percentile(off, 90):.2f} s at most for nine of ten, {off.max():.2f} s "
            f"for all; {self.same_scheduler.mean():.0%} started by the same scheduler; plans alike: "
            f"{self.plans[0]:,} of {self.plans[1]:,}"
            + "; preempted runs: {}, model {}".format(*self.preempted)
            * any(self.preempted)
        )


def on_slurm(
    case: str, jobs: Sequence[Job], folder: Path, say: Callable[[str], None], root: Path | None = None
) -> None:
    """Run jobs on a throw-away Slurm, of this system or the one in a folder, and keep its log and its
    slurm.conf; as long as the jobs take."""
    chosen = CASES[case]
    settings = {**BASE, **chosen.settings}
    jobs = chosen.workload(jobs)
    with TestCluster(
        nodes=NODES,
        cpus=CPUS,
        further=chosen.further,
        settings=settings,
        partitions=chosen.partitions,
        associations=(chosen.associations or ASSOCIATIONS) if chosen.accounts else "",
        qos=chosen.qos or QOS,
        switches=chosen.switches,
        boot_time=chosen.boot_time,
        root=root,
    ) as cluster:
        script = cluster.folder / "job.sh"
        script.write_text(SECOND_BY_SECOND if chosen.suspends else SCRIPT, encoding="utf-8")
        shutil.copy(cluster.folder / "slurm.conf", folder / "slurm.conf")
        if chosen.switches:
            shutil.copy(cluster.folder / "topology.conf", folder / "topology.conf")
        if chosen.accounts:
            _include("accounts.txt", cluster.accounting(), folder)
        if chosen.reservation:
            _reserve(chosen.reservation, cluster, folder)
        began = time.monotonic()
        for number, job in enumerate(jobs, start=1):
            time.sleep(max(began + job.submit - time.monotonic(), 0))
            options = ["--output=/dev/null", "--error=/dev/null", *job.options(chosen)]
            if (given := cluster.slurm.submit(script, options, [str(job.runtime)])) != number:
                raise SlurmError(f"{case}: job {number} has the number {given}")
            if number % 20 == 0:
                say(f"{case}: {number} of {len(jobs)} jobs submitted")
        while left := cluster.slurm.run("squeue", "-h", "-o", "%i").split():  # of all users
            if time.monotonic() > began + LONGEST_S:
                raise SlurmError(f"{case}: {len(left)} jobs have not ended after {LONGEST_S // 60} minutes")
            say(f"{case}: {len(left)} jobs left")
            time.sleep(5)
        shutil.copy(cluster.folder / "log" / "slurmctld.log", folder / "slurmctld.log")


def _reserve(wanted: str, cluster: TestCluster, folder: Path) -> None:
    """Make a reservation, and have the kept slurm.conf include what Slurm prints of it."""
    slurm = Slurm({**cluster.env, "TZ": "UTC"})
    slurm.run("scontrol", "create", "reservation", *wanted.split())
    _include("reservations.txt", slurm.run("scontrol", "-o", "show", "reservation"), folder)


def _include(name: str, text: str, folder: Path) -> None:
    """Have the kept slurm.conf include what Slurm prints."""
    (folder / name).write_text(text, encoding="utf-8")
    with open(folder / "slurm.conf", "a", encoding="utf-8") as file:
        file.write(f"Include {name}\n")


def compare(case: str, jobs: Sequence[Job], folder: Path) -> Comparison:
    """Return the comparison of the log in a folder with the model of its slurm.conf."""
    with open(folder / "slurmctld.log", encoding="utf-8", errors="replace") as log:
        observed = Observed.of(log)
    ids = observed.jobs
    zero = observed.submitted[ids[0]] - BEFORE_S
    submitted = np.array([observed.submitted[job] - zero for job in ids])
    real = np.array([observed.started[job] - zero for job in ids])
    asked_for = CASES[case].workload(jobs)
    result = _model(case, [asked_for[job - 1] for job in ids], observed, folder, zero)
    main = np.array([observed.started_by[job] == "main" for job in ids])
    cycle, job, start = result.plans
    plans = [
        (start[(job == ids.index(number)) & (abs(cycle - at + zero) < SAME_S)], planned - zero)
        for at, number, planned in observed.plans
        if number in ids
    ]
    alike = sum(bool((abs(mine - theirs) <= 1).any()) for mine, theirs in plans)
    passes = (len(observed.passes), result.n_passes)
    same = main != result.by_backfill
    preempted = (len(observed.preempted), len(result.lost.job) + int(result.cancelled.sum()))
    known = observed.version.text if observed.version else ""
    return Comparison(
        case, submitted, real, result.start, same, passes, (alike, len(plans)), preempted, known
    )


def _model(case: str, jobs: Sequence[Job], observed: Observed, folder: Path, zero: float) -> Result:
    ids = observed.jobs
    ran = np.array([NEVER_S if job in observed.killed else observed.ran(job) for job in ids])
    shared = CASES[case].shares_nodes
    nodes = np.array([job.nodes for job in jobs])
    threads = np.array([job.threads(CASES[case]) for job in jobs])
    tasks = np.array([job.tasks for job in jobs]) * threads if shared else nodes
    none = np.zeros(len(ids), np.int64)
    more = (
        {"cpu_memory": np.array([job.memory for job in jobs]) // threads}
        if shared
        else {"nodes": nodes, "most_nodes": nodes}
    )
    user, users = None, []
    if CASES[case].accounts:
        users = sorted({WHO[job.who][0] for job in jobs})
        user = np.array([1 + users.index(WHO[job.who][0]) for job in jobs])
        more["account"] = np.array([WHO[job.who][1] for job in jobs], object)
        more["qos"] = np.array([LEVELS[job.level] for job in jobs], object)
    if CASES[case].has_devices:
        more["constraint"] = np.array([job.constraint for job in jobs], object)
    if len(CASES[case].partitions) > 1:
        more["partition"] = np.array([job.partition(CASES[case]) for job in jobs], object)
    gres = {"accelerator": np.array([job.devices for job in jobs])} if CASES[case].has_devices else {}
    licences = {name: np.array([job.licences.get(name, 0) for job in jobs]) for name in CASES[case].licences}
    given = Jobs(
        np.array([observed.submitted[job] - zero for job in ids]),
        ran,
        np.array([job.limit * 60.0 for job in jobs]),
        tasks,
        none,
        user=user,
        request=Requests.of(tasks, none, gres=gres, licences=licences, **more),
    )
    known = {} if observed.version is None else {"the log": f"SLURM_VERSION={observed.version.text}"}
    configuration = read(folder / "slurm.conf", known)
    if observed.boot_times:
        configuration = replace(configuration, boot_time=float(np.median(observed.boot_times)))
    return run(
        asked(
            given,
            configuration,
            observed.messages(ids),
            users,
            answer=observed.answers(ids),
            node_answers=observed.node_answers(ids, [node.name for node in configuration.nodes]),
        ),
        configuration,
        observed.phases(zero, configuration.settings.batch_sched_delay),
        plans=100 * len(ids) + 1000,
        zero=zero,
    )
