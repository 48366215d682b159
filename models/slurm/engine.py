"""From jobs and a configuration to a schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.schedule import Pieces, TooManyPiecesError
from models.slurm.asked import Asked
from models.slurm.building import system_of
from models.slurm.configuration import Configuration
from models.slurm.kernel import tables
from models.slurm.kernel.tables import MINUTES, REFUSED, SUBMITTED, WALL, System
from models.slurm.power import Drawing
from models.slurm.priority import add_usage
from models.slurm.scheduler import Phases

AT_ZERO = Phases()


class StuckError(ValueError):
    """A job that waits forever: its position, and what the message says after its name."""

    def __init__(self, job: int, why: str) -> None:
        super().__init__(job, why)  # as it is made again in another process
        self.job, self.why = job, why

    def __str__(self) -> str:
        return f"job {self.job + 1}{self.why}"


@dataclass(frozen=True, eq=False)
class Result:
    """The fate of the jobs; arrays of jobs have the shape (n_jobs,), in seconds as in the jobs' submissions.

    A job that was cancelled while it waited has no start and no end (NaN).

    Parameters
    ----------
    by_backfill : ndarray of bool
        Whether backfill started the job; otherwise the main scheduler did.
    planned : ndarray of float
        First planned start; NaN for none. Plans that cannot change a start are made only if they are
        recorded.
    killed : ndarray of bool
        Whether the job was ended at its limit.
    cancelled : ndarray of bool
        Whether preemption ended the job for good.
    refused : ndarray of bool
        Whether a limit on submissions refused the job, or it would wait for ever for a budget that is spent:
        its start and end are its submission.
    preempted : ndarray of bool
        Whether the job was preempted in its last run.
    suspended : ndarray of float
        Seconds that the job was suspended.
    lost : Pieces
        Runs before the one from `start` to `end`, which preemption ended.
    plans : tuple of (ndarray, ndarray, ndarray)
        Recorded plans: instant of the cycle, job, planned start.
    drawing : Drawing
        The power that nodes draw, with all jobs.
    n_passes, n_cycles : int
        Passes of the main scheduler, and backfill cycles.
    """

    start: Floats
    end: Floats
    cpus: Ints
    by_backfill: np.ndarray
    planned: Floats
    killed: np.ndarray
    cancelled: np.ndarray
    refused: np.ndarray
    preempted: np.ndarray
    suspended: Floats
    lost: Pieces
    partition: Ints
    plans: tuple[Floats, Ints, Floats]
    n_passes: int
    n_cycles: int
    drawing: Drawing

    def part(self, these: Ints) -> "Result":
        """Return the results of some of the jobs; the plans are for all jobs."""
        number = np.full(len(self.start), -1)
        number[these] = np.arange(len(these))
        of_these = number[self.lost.job] >= 0
        lost = {each.name: getattr(self.lost, each.name)[of_these] for each in fields(self.lost)}
        columns: dict[str, Any] = {
            each.name: value[these]
            for each in fields(self)
            if isinstance(value := getattr(self, each.name), np.ndarray)
        }
        return replace(self, **columns, lost=Pieces(**{**lost, "job": number[lost["job"]]}))


@dataclass(frozen=True, eq=False)
class Present:
    """The state of the machine at second 0, from which a simulation begins.

    Parameters
    ----------
    start : ndarray of float, shape (n_running,), seconds
        Below 0, of the first jobs, which run.
    nodes : sequence of mappings of int to int
        CPUs that each running job has, by node; empty if unknown: the scheduler then picks nodes for it. For
        the others `Requests.tasks` is the total number of CPUs, with one CPU per task.
    watched : ndarray of int
        Jobs after whose starts the simulation may end.
    usage : mapping of (str, str) to float, CPU seconds
        Decayed usage for fair share up to second 0, by account and user.
    """

    start: Floats
    nodes: Sequence[Mapping[int, int]]
    watched: Ints
    usage: Mapping[tuple[str, str], float]

    def enter(self, system: System, address: int, wanted: Asked, phases: Phases, pick: Any) -> None:
        """Put this state into the tables, found at an address, of a simulation that has not begun."""
        from models.slurm.kernel import present

        add_usage(system.fair, system.jobs["association"][:-1], wanted, self.usage)
        pairs = [pair for nodes in self.nodes for pair in nodes.items()]
        node, cpus = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
        first = np.cumsum([0, *(len(nodes) for nodes in self.nodes)])
        present.start_before(address, self.start + phases.clock, first, node, cpus, pick)
        system.state["now"], system.settings["unshared"] = -np.inf, 0
        there = np.repeat(system.jobs["submit"][:-1] <= phases.clock, np.diff(system.jobs["first_charge"]))
        of_submissions = system.limits["kind"][system.charges["limit"]] == SUBMITTED
        system.charges["checked"][there & of_submissions] = 0  # Slurm has taken these


def _power_scan(configuration: Configuration) -> Any:
    """Return the function that powers nodes down, compiled only if needed; otherwise one that is never
    called."""
    if configuration.saves_power:
        from models.slurm.kernel import powering

        return powering.save_power
    from models.slurm.kernel import backfill

    return backfill.backfill_cycle


def run(
    wanted: Asked,
    configuration: Configuration,
    phases: Phases = AT_ZERO,
    plans: int = 0,
    zero: float = 0.0,
    present: Present | None = None,
) -> Result:
    """Run all jobs to their ends, or until those that are watched have started; `plans` and `zero` as
    `building.system_of` has them.

    ``ValueError`` with one line if a job can never start; with `present` its start is NaN.
    """
    from models.kernels.compiling import function_pointer
    from models.kernels.tables import addresses
    from models.slurm.kernel import backfill, loop, passes, picking, signatures
    from models.slurm.kernel.queue import HELD, QUEUED

    system = system_of(wanted, configuration, phases, plans, zero)
    listed = addresses(system, tables.SYSTEM)
    address = listed.ctypes.data
    parts = (
        function_pointer(passes.main_pass, signatures.PASS_SIGNATURE),
        function_pointer(backfill.backfill_cycle, signatures.CYCLE_SIGNATURE),
        function_pointer(picking.pick, signatures.PICK_SIGNATURE),
        function_pointer(_power_scan(configuration), signatures.CYCLE_SIGNATURE),
    )
    if present is not None:
        present.enter(system, address, wanted, phases, parts[2])
    is_late = present is None
    while (ended := loop.run(address, *parts)) in (loop.PAUSED, loop.STUCK):  # Python acts on Ctrl-C between
        if ended == loop.STUCK:
            if is_late:
                break
            # The last event may be long before second 0, from which on there was no pass yet.
            is_late, system.state["quiet_since"] = True, system.state["now"]
        elif present is not None and not np.isnan(system.fate["start"][present.watched]).any():
            break
    if ended == loop.NO_PROGRESS:
        raise ValueError(
            f"{configuration.name}: time stands still {system.state['now'][0] - phases.clock:,.0f} s after "
            "the beginning, since a timer does not advance; check SchedulerTimeSlice, bf_interval, "
            "PriorityCalcPeriod and policy.phases"
        )
    if ended == loop.STUCK and present is None:
        # A job that was requeued has the start of its last run.
        waiting = np.isin(system.fate["status"], (HELD, QUEUED)) & np.isinf(wanted.leaves)
        if _is_spent(system, waiting):
            if waiting.sum() == np.isinf(wanted.leaves).sum():
                raise ValueError(
                    f"{configuration.name}: no job ever starts, because the budgets of jobs are spent; raise "
                    "GrpTRESMins and GrpWall of their accounts and QOS"
                )
            never, waiting = waiting, np.zeros_like(waiting)
            system.fate["killed"][never], system.fate["reserved"][never] = REFUSED, np.nan
            for name in ("start", "end"):  # a requeued job was submitted again
                system.fate[name][never] = wanted.jobs.submit[never] + phases.clock
        if len(components := np.flatnonzero(waiting & (wanted.request.het_job >= 0))):
            is_least = configuration.settings.hetjob_prio == 1
            remedy = "" if is_least else "add bf_hetjob_prio=min to SchedulerParameters, or "
            raise StuckError(
                int(components[0]),
                ", a component of a heterogeneous job, waits forever for the others under "
                f"{configuration.name}: they never can start at once; {remedy}leave them out of the log",
            )
        if len(stuck := np.flatnonzero(waiting)):
            partition = configuration.partitions[wanted.partitions[stuck[0]][0]]
            raise StuckError(
                int(stuck[0]),
                f" waits forever in partition {partition.name} of {configuration.name}, though nothing else "
                "runs: its nodes never have what it asks for, or the job that it waits for never ends; leave "
                "it out of the log",
            )
    if 0 < len(system.pieces) == system.state["n_pieces"][0]:
        raise TooManyPiecesError(
            f"preemption ends more than {len(system.pieces):,} runs of {len(wanted.jobs):,} jobs; set "
            "PreemptExemptTime, or let fewer jobs preempt others"
        )
    fate, n = system.fate, int(system.state["n_plans"][0])
    lost = system.pieces[: int(system.state["n_pieces"][0])].copy()
    for name in ("begin", "end"):
        lost[name] -= phases.clock
    log, clock = system.log[:n], phases.clock
    return Result(
        fate["start"] - clock, fate["end"] - clock, fate["cpus"], fate["by"] == 1, fate["reserved"] - clock,
        fate["killed"] == 1, fate["killed"] == 2, fate["killed"] == REFUSED, fate["warned"] > 0,
        system.members["lost"].copy() if len(system.members) else np.zeros(len(fate)),
        Pieces(lost["job"], np.zeros_like(lost["job"]), lost["begin"], lost["end"], lost["cpus"]),
        fate["partition"], (log["cycle"] - clock, log["job"], log["start"] - clock),
        int(system.state["n_passes"][0]), int(system.state["n_cycles"][0]),
        _drawing(system, phases, lost) if configuration.watts else Drawing.none(),
    )  # fmt: skip


def _is_spent(system: System, waiting: np.ndarray) -> bool:
    """Return whether waiting jobs find a budget spent, where nothing runs; all others wait for these jobs."""
    limits, charges = system.limits[system.charges["limit"]], system.charges
    left = limits["cap"] - limits["usage"] // 60
    spent = (left <= 0) | ((limits["safe"] > 0) & (charges["need"] > left))
    spent &= np.isin(limits["kind"], (MINUTES, WALL)) & (charges["checked"] > 0)
    return bool((spent & np.repeat(waiting, np.diff(system.jobs["first_charge"]))).any())


def _drawing(system: System, phases: Phases, lost: np.ndarray) -> Drawing:
    """Return the power that nodes draw at the beginning, as they are powered down and boot, and as jobs run.

    A job that is suspended for a part of its time draws its average power all the time."""
    log, power, fate = system.power_log[: int(system.state["n_power_log"][0])], system.power, system.fate
    fate = fate[np.isfinite(fate["start"])]
    ran = np.ones(len(fate))
    if len(system.members):
        time = fate["end"] - fate["start"]
        ran = 1 - np.divide(
            system.members["lost"][np.isfinite(system.fate["start"])], time, where=time > 0, out=ran
        )
    is_up, none = power["begun"] == 0, np.zeros(1 + len(log))
    of_runs = [
        (one, -one["spared"] * share, one["drawn"] * share) for one, share in ((fate, ran), (lost, 1.0))
    ]
    begins = [fate["start"] - phases.clock, lost["begin"]]
    ends = [fate["end"] - phases.clock, lost["end"]]
    idle = np.concatenate([spared for _, spared, _ in of_runs])
    busy = np.concatenate([drawn for *_, drawn in of_runs])
    zero = np.zeros(2 * len(idle))
    return Drawing(
        np.concatenate([[-np.inf], log["at"] - phases.clock, *begins, *ends]),
        {
            "idle": np.concatenate([[power["idle_watts"][is_up].sum()], log["idle"], idle, -idle]),
            "busy": np.concatenate([none, busy, -busy]),
            "boot": np.concatenate([[0.0], log["boot"], zero]),
            "off": np.concatenate([[power["off_watts"][~is_up].sum()], log["off"], zero]),
        },
    )
