"""One workload on a real Slurm, and on the model with the phases of that run."""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path

import numpy as np

from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.requests import Requests
from models.slurm.asked import Asked, MisfitError, asked
from models.slurm.configuration.reading import TOPOLOGIES, read
from models.slurm.engine import Result, run
from models.slurm.fitting import limited
from slurm.commands import RefusedError, Slurm, SlurmError
from slurm.testcluster import TestCluster
from slurm.validation.accounts import ASSOCIATIONS, LEVELS, QOS, WHO
from slurm.validation.cases import BASE, CASES, CPUS, NODES, SCRIPT, SECOND_BY_SECOND, Job
from slurm.validation.observed import Observed

LONGEST_S = 7200
"""Seconds after which a run is abandoned."""

BEFORE_S = 0.01
"""Seconds from the beginning to the first submission; the phases contain what happened before."""

SAME_S = 0.5
"""Seconds below which two cycles are the same one: two different ones are at least a second apart."""

NEVER_S = 1e6
"""Run time of a job that was killed, because it is not known how long it would have run."""

PATIENCE_S = 130
"""Seconds without a running job after which those that wait do so for ever: longer than between two full
passes."""

NUMBERS = "numbers.json"
"""For each job in order of submission: its number, 0 if it was refused, and why it never starts."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Starts in seconds from shortly before the first submission, shape (n_jobs,); of a job that is requeued
    the last one. `left_out`: jobs that never started, in Slurm, in the model, and in both of them."""

    case: str
    submitted: np.ndarray
    real: np.ndarray
    model: np.ndarray
    same_scheduler: np.ndarray
    n_passes: tuple[int, int]
    plans: tuple[int, int]
    preempted: tuple[int, int]
    version: str = ""
    left_out: tuple[int, int, int] = (0, 0, 0)

    @property
    def line(self) -> str:
        """The result, as one line."""
        off = np.abs(self.model - self.real)
        waits = (float((start - self.submitted).mean()) for start in (self.real, self.model))
        return (
            f"{self.case:15} {len(off):4} jobs, mean wait {next(waits):7.1f} s, model {next(waits):7.1f} s; "
            f"starts differ by {np.percentile(off, 90):.2f} s at most for nine of ten, {off.max():.2f} s "
            f"for all; {self.same_scheduler.mean():.0%} started by the same scheduler; plans alike: "
            f"{self.plans[0]:,} of {self.plans[1]:,}"
            + "; preempted runs: {}, model {}".format(*self.preempted) * any(self.preempted)
            + "; refused or held for ever: {}, model {}, the same {}".format(*self.left_out)
            * any(self.left_out)
        )


def on_slurm(
    case: str, jobs: Sequence[Job], folder: Path, say: Callable[[str], None], root: Path | None = None
) -> None:
    """Run jobs on a throw-away Slurm, of this system or the one in a folder, and keep its log and its
    slurm.conf; as long as the jobs take."""
    chosen = CASES[case]
    settings = {**BASE, **chosen.settings}
    jobs = chosen.workload(jobs)
    cluster = TestCluster(
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
    )
    if chosen.midnight:  # in a time zone that differs by minutes, as the log does then; Slurm counts in these
        west = (int(time.time()) + chosen.midnight) // 60 % 1440
        cluster.env["TZ"] = f"CUT{west // 60}:{west % 60:02}"
    with cluster:
        script = cluster.folder / "job.sh"
        script.write_text(SECOND_BY_SECOND if chosen.suspends else SCRIPT, encoding="utf-8")
        shutil.copy(cluster.folder / "slurm.conf", folder / "slurm.conf")
        for name in TOPOLOGIES:
            if (cluster.folder / name).exists():
                shutil.copy(cluster.folder / name, folder / name)
        if chosen.accounts:
            _include("accounts.txt", cluster.accounting(), folder)
        if chosen.reservation:
            _reserve(chosen.reservation, cluster, folder)
        began, numbers = time.monotonic(), list[int]()
        held, ran_at = dict[str, str](), time.monotonic()
        for number, job in enumerate(jobs, start=1):
            if job.component:  # it was submitted with the first one
                numbers.append(number)
                continue
            time.sleep(max(began + job.submit - time.monotonic(), 0))
            options = ["--output=/dev/null", "--error=/dev/null", *job.options(chosen)]
            for one in takewhile(lambda one: one.component, jobs[number:]):
                options += [":", *one.options(chosen)]
            try:
                numbers.append(cluster.slurm.submit(script, options, [str(job.runtime)]))
            except RefusedError:
                if not chosen.refuses:
                    raise
                numbers.append(0)
            if not chosen.refuses and numbers[-1] != number:
                raise SlurmError(f"{case}: job {number} has the number {numbers[-1]}")
            if number % 20 == 0:
                say(f"{case}: {counted(number, 'job', of=len(jobs))} submitted")
        while left := cluster.slurm.run("squeue", "-h", "-o", "%i %T %r").splitlines():  # of all users
            if any(" PENDING " not in line for line in left):
                ran_at = time.monotonic()
            held = {line.split()[0]: line.split()[2] for line in left}
            if chosen.boot_time and (down := cluster.slurm.run("sinfo", "-h", "-R", "-o", "%N (%E)")):
                raise SlurmError(f"{case}: some nodes are down: {', '.join(down.splitlines())}")
            if chosen.refuses and time.monotonic() > ran_at + PATIENCE_S:
                break
            if time.monotonic() > began + LONGEST_S:
                raise SlurmError(
                    f"{case}: {counted(len(left), 'job', 'has')} not ended after {LONGEST_S // 60} minutes"
                )
            say(f"{case}: {counted(len(left), 'job')} left")
            time.sleep(5)
        shutil.copy(cluster.folder / "log" / "slurmctld.log", folder / "slurmctld.log")
        if chosen.boot_time:  # rates count the periods of a clock that the log does not show
            with open(folder / "slurmctld.log", "a", encoding="utf-8") as file:
                now = datetime.now().isoformat(timespec="milliseconds")
                file.write(f"[{now}] monotonic clock: {time.monotonic():.3f}\n")
        if chosen.refuses:
            text = json.dumps({"numbers": numbers, "held": held})
            (folder / NUMBERS).write_text(text, encoding="utf-8")


def _reserve(wanted: str, cluster: TestCluster, folder: Path) -> None:
    """Make a reservation, and make the saved slurm.conf include what Slurm prints about it."""
    slurm = Slurm({**cluster.env, "TZ": "UTC"})
    slurm.run("scontrol", "create", "reservation", *wanted.split())
    _include("reservations.txt", slurm.run("scontrol", "-o", "show", "reservation"), folder)


def _include(name: str, text: str, folder: Path) -> None:
    """Make the saved slurm.conf include what Slurm prints."""
    (folder / name).write_text(text, encoding="utf-8")
    with open(folder / "slurm.conf", "a", encoding="utf-8") as file:
        file.write(f"Include {name}\n")


def compare(case: str, jobs: Sequence[Job], folder: Path) -> Comparison:
    """Return the comparison of the log in a folder with the model of its slurm.conf."""
    with open(folder / "slurmctld.log", encoding="utf-8", errors="replace") as log:
        observed = Observed.of(log)
    ids, asked_for = observed.jobs, CASES[case].workload(jobs)
    given = [asked_for[job - 1] for job in ids]
    if (folder / NUMBERS).exists():  # includes jobs that never started
        ids = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["numbers"]
        given = asked_for[: len(ids)]
    refused = iter(observed.refused)
    submitted = np.array([observed.submitted[job] if job else next(refused) for job in ids])
    zero = submitted[0] - BEFORE_S
    real = np.array([observed.started.get(job, np.nan) - zero for job in ids])
    kept, result = _model(case, given, ids, observed, folder, submitted - zero, zero)
    model = np.full(len(ids), np.nan)
    model[kept] = np.where(result.refused, np.nan, result.start)
    main = np.array([observed.started_by.get(job) == "main" for job in ids])[kept]
    cycle, job, start = result.plans
    place = {ids[k]: n for n, k in enumerate(kept)}
    plans = [
        (start[(job == place[number]) & (abs(cycle - at + zero) < SAME_S)], planned - zero)
        for at, number, planned in observed.plans
        if number in place
    ]
    alike = sum(bool((abs(mine - theirs) <= 1).any()) for mine, theirs in plans)
    passes = (len(observed.passes), result.n_passes)
    preempted = (len(observed.preempted), len(result.lost.job) + int(result.cancelled.sum()))
    known = observed.version.text if observed.version else ""
    lacking = [np.isnan(real), np.isnan(model)]
    both = ~(lacking[0] | lacking[1])
    return Comparison(
        case,
        (submitted - zero)[both],
        real[both],
        model[both],
        (main != result.by_backfill)[both[kept]],
        passes,
        (alike, len(plans)),
        preempted,
        known,
        (int(lacking[0].sum()), int(lacking[1].sum()), int((lacking[0] & lacking[1]).sum())),
    )


def _model(
    case: str,
    jobs: Sequence[Job],
    ids: Sequence[int],
    observed: Observed,
    folder: Path,
    submitted: np.ndarray,
    zero: float,
) -> tuple[np.ndarray, Result]:
    """Return which jobs are in the queue at some time, and their fate in the model; those that wait for ever
    are cancelled at the end."""
    ran = np.array(
        [
            observed.ran(number) if number in observed.ended else job.runtime
            for number, job in zip(ids, jobs, strict=True)
        ]
    )
    ran[np.isin(ids, [*observed.killed])] = NEVER_S
    chosen = CASES[case]
    nodes = np.array([job.asked_nodes(chosen) for job in jobs])
    threads = np.array([job.threads(chosen) for job in jobs])
    tasks = np.array([job.tasks for job in jobs]) * threads if chosen.shares_nodes else nodes
    none = np.zeros(len(ids), np.int64)
    more: dict[str, np.ndarray] = {"nodes": np.maximum(nodes, 1), "most_nodes": nodes}
    if chosen.shares_nodes:
        more["shares"] = np.array([job.shares(chosen) for job in jobs])
        more["cpu_memory"] = np.array([job.memory for job in jobs]) // threads
    if chosen.heterogeneous:
        leaders = np.array([number - job.component for number, job in zip(ids, jobs, strict=True)])
        of_several = np.bincount(leaders)[leaders] > 1
        more["het_job"] = np.where(of_several, leaders, -1)
    user, users = None, list[str]()
    if chosen.accounts:
        users = sorted({WHO[job.who][0] for job in jobs})
        user = np.array([1 + users.index(WHO[job.who][0]) for job in jobs])
        more["account"] = np.array([WHO[job.who][1] for job in jobs], object)
        more["qos"] = np.array([LEVELS[job.level] for job in jobs], object)
    more["segment"] = np.array([job.segment(chosen) for job in jobs])
    more["switches"] = np.array([int(job.one_switch(chosen)) for job in jobs])
    more["switch_wait"] = 60 * more["switches"]
    if chosen.has_devices:
        more["constraint"] = np.array([job.constraint for job in jobs], object)
    if len(chosen.partitions) > 1:
        more["partition"] = np.array([job.partition(chosen) for job in jobs], object)
    gres = {"accelerator": np.array([job.devices for job in jobs])} if chosen.has_devices else {}
    licences = {name: np.array([job.licences.get(name, 0) for job in jobs]) for name in chosen.licences}
    given = Jobs(
        submitted,
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
    nodes_of = [node.name for node in configuration.nodes]

    def wanted(rows: np.ndarray, leaves: np.ndarray | None = None) -> Asked:
        numbers = [ids[k] for k in rows]
        messages, answers = observed.messages(numbers), observed.answers(numbers)
        of_nodes = observed.node_answers(numbers, nodes_of)
        return asked(given.part(rows), configuration, messages, users, leaves, answers, of_nodes)

    kept, waits = np.arange(len(jobs)), np.zeros(len(jobs), bool)
    while True:
        try:
            places = dict(
                zip(kept.tolist(), limited(wanted(kept), "error", configuration).partitions, strict=True)
            )
            break
        except MisfitError as error:
            waits[kept[error.waits]] = True
            kept = kept[~error.lost]
    rows = np.sort(np.concatenate([kept, np.flatnonzero(waits)]))
    every = wanted(rows, np.where(waits[rows], LONGEST_S, np.inf))
    delay = np.where(waits[rows], 2.0 * LONGEST_S, 0.0)  # until after these jobs are cancelled
    request = replace(every.request, delay=delay)
    partitions = tuple(
        places.get(k, of_job) for k, of_job in zip(rows.tolist(), every.partitions, strict=True)
    )
    return rows, run(
        replace(every, request=request, partitions=partitions),
        configuration,
        observed.phases(zero, configuration.settings.batch_sched_delay),
        plans=100 * len(ids) + 1000,
        zero=zero,
    )
