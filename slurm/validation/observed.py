"""What a real controller did, read from its log: submissions, starts, ends, passes, cycles and plans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from models.slurm.gang import GRACE_S
from models.slurm.scheduler import Phases

STAMP = re.compile(r"\[(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+)\] (?:debug\d?: +)?(.*)")
SUBMITTED = re.compile(r"_slurm_rpc_submit_batch_job: JobId=(\d+) ")
STARTED = re.compile(r"sched: Allocate JobId=(\d+) ")
BACKFILLED = re.compile(r"sched/backfill: _start_job: Started JobId=(\d+) in ")
ENDED = re.compile(r"_job_complete: JobId=(\d+) done")
PREEMPTED = re.compile(r"preempted JobId=(\d+) has been (requeued|killed) to reclaim")
REQUEUED = re.compile(r"Requeuing JobId=(\d+)")
TIMED_OUT = re.compile(r"(?:Time limit exhausted for|slurm_job_preempt: preempted) JobId=(\d+)")
EPILOG = re.compile(r"_slurm_rpc_epilog_complete: JobId=(\d+) ")
PASS = re.compile(r"sched: Running job scheduler (for full queue|for default depth)")
SUSPENDED = re.compile(r"gang: (suspending|resuming) JobId=(\d+)$")
LEFT = re.compile(r"GANG: gang: entering gs_job_fini for JobId=(\d+)$")
CALCULATED = "priority/multifactor: decay_apply_weighted_factors: priority for job"
PLAN = re.compile(r"sched/backfill: _dump_job_sched: JobId=(\d+) to start at (\S+?), end at")

INSTANTS = {
    "sched/backfill: _attempt_backfill: beginning": "cycles",
    "node_did_resp": "answers",
    "GANG: gang: _timeslicer_thread: scanning partitions": "slices",
    "Testing job time limits": "limits",
}
"""Lines of which only the instant is kept."""

DAY_S = 86400

USUAL_PERIOD_S = 1.0017
"""Seconds between two wake-ups of the background thread on an idle machine: ten sleeps of 0.1 s, and its
work."""

ORDERED_S = 1e-4
"""Seconds from a submission to a cycle that follows it within the same millisecond of the log."""

COARSE_S = 0.004
"""The controller reads the coarse clock of the kernel's last tick, which is 4 ms old at most, and writes the
line of the log later."""

AT_ONCE_S = 0.01
"""A pass within this time of an epilog's message was called by it, the message of the last node of a job."""

CALLED_S = 0.02
"""A pass within this time of an epilog's message may have been called by it, and shows no wake-up."""


@dataclass
class Observed:
    """Instants are seconds of the controller's clock since the epoch; by number of the job.

    Parameters
    ----------
    started_by : dict of int to str
        ``main`` or ``backfill``.
    passes, full_passes, cycles, limits : list of float
        Passes of the main scheduler, full ones among them, backfill cycles, tests of limits.
    plans : list of (cycle, job, planned start)
    slices : list of float
        Begins of time slices of gang scheduling.
    suspended : dict of int to list of float
        Instants at which each job was suspended and resumed, in turn.
    preempted : list of (instant, job)
        Of jobs that run again only the last run is in `started`, `ended`, and the like.
    """

    submitted: dict[int, float] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    started_by: dict[int, str] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    killed: dict[int, float] = field(default_factory=dict)
    freed: dict[int, float] = field(default_factory=dict)
    passes: list[float] = field(default_factory=list)
    full_passes: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    plans: list[tuple[float, int, float]] = field(default_factory=list)
    calculations: list[float] = field(default_factory=list)
    preempted: list[tuple[float, int]] = field(default_factory=list)
    slices: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)  # from a job's end until its nodes have answered
    suspended: dict[int, list[float]] = field(default_factory=dict)
    calls: list[float] = field(default_factory=list)  # messages that call the scheduler
    kill_times: list[float] = field(default_factory=list)  # from a kill to them
    _message: tuple[float, int] = (0.0, 0)  # the last one of an epilog, and its job

    @classmethod
    def of(cls, lines: Iterable[str]) -> Observed:
        """Return what a log of level debug2 with DebugFlags=Backfill records."""
        found = cls()
        for line in lines:
            if stamp := STAMP.match(line):
                found._add(_seconds(stamp[1]), stamp[2])
        return found

    def _add(self, now: float, text: str) -> None:
        if match := SUBMITTED.match(text):
            self.submitted[int(match[1])] = now
        elif (match := STARTED.match(text)) or (match := BACKFILLED.match(text)):
            job = int(match[1])
            self.started.setdefault(job, now)
            self.started_by.setdefault(job, "main" if text.startswith("sched:") else "backfill")
        elif match := ENDED.match(text):
            self.ended[int(match[1])] = now
        elif match := TIMED_OUT.match(text):
            self.killed[int(match[1])] = self.ended[int(match[1])] = now
        elif match := PREEMPTED.match(text):
            job = int(match[1])
            self.preempted.append((now, job))
            self.ended[job] = now
            if match[2] == "killed":
                self.killed[job] = now
        elif match := REQUEUED.match(text):
            job = int(match[1])
            self.calls.append(now)
            self.kill_times.append(now - self.ended[job])
            for known in (self.started, self.started_by, self.ended, self.freed):
                known.pop(job, None)
        elif match := EPILOG.match(text):
            self._message = now, int(match[1])
        elif match := PASS.match(text):
            # Only the message of a job's last node calls a pass.
            if now - self._message[0] < AT_ONCE_S:
                self._free(*self._message)
            self.passes.append(now)
            if match[1] == "for full queue":
                self.full_passes.append(now)
        elif match := SUSPENDED.match(text):
            self.suspended.setdefault(int(match[2]), []).append(now)
        elif (match := LEFT.match(text)) and int(match[1]) in self.ended:
            self.left.append(now - self.ended[int(match[1])])
        elif name := next((name for begin, name in INSTANTS.items() if text.startswith(begin)), ""):
            getattr(self, name).append(now)
        elif text.startswith(CALCULATED) and now - max(self.calculations, default=0) > 1:
            self.calculations.append(now)
        elif match := PLAN.match(text):
            self.plans.append((self.cycles[-1] if self.cycles else now, int(match[1]), _seconds(match[2])))

    def _free(self, now: float, job: int) -> None:
        if job in self.ended and job not in self.freed:
            self.freed[job] = now
            self.calls.append(now)
            if job in self.killed:
                self.kill_times.append(now - self.ended[job])

    @property
    def jobs(self) -> list[int]:
        """Numbers of the jobs that were submitted, started and ended, in order of submission."""
        return sorted(job for job in self.submitted if job in self.started and job in self.ended)

    def ran(self, job: int) -> float:
        """Return the seconds that a job ran, which it does for a while after it is suspended.

        It started with the pass, which takes no time in the model. Where it ended while it was suspended it
        ran: the message that resumed it came after the next one that suspended it.
        """
        started = (
            max(at for at in (*self.passes, *self.cycles, -np.inf) if at <= self.started[job]) - COARSE_S
        )
        times = self.suspended.get(job, [])
        stopped = (
            max(end - begin - GRACE_S, 0.0) for begin, end in zip(times[::2], times[1::2], strict=False)
        )
        return self.ended[job] - started - sum(stopped)

    def phases(self, zero: float) -> Phases:
        """Return the phases of the timers from `zero` on, just before the first submission.

        The background thread sleeps ten times 0.1 s between two wake-ups, and then works: how long that takes
        depends on what else the machine does. So its wake-ups are taken from the log as far as it shows them,
        and the others are interpolated.
        """
        wake_ups = self.wake_ups() - COARSE_S - zero
        cycles = [self._begun(cycle) for cycle in self.cycles]
        return Phases(
            clock=zero % DAY_S,
            tick=float(wake_ups[0]),
            backfill=_first_after(cycles, zero),
            calculation=_first_after(self.calculations, zero),
            full=_last_before(self.full_passes, 60.0, zero),
            passed=_last_before(self.passes, 60.0, zero),
            limits=_last_before(self.limits, 30.0, zero),
            period=float(np.diff(wake_ups).mean()),
            completing=self._answer_time(),
            killing=float(np.median(self.kill_times)) if self.kill_times else Phases.killing,
            cycle_time=self._cycle_time(),
            cycles=tuple(cycle - zero for cycle in cycles),
            slices=tuple((np.array(self.slices)[np.array(self.slices) > zero] - zero).tolist()),
            looks=tuple(wake_ups[wake_ups > 0].tolist()),
        )

    def _begun(self, cycle: float) -> float:
        """Return when a cycle begins by the coarse clock, after the submissions that it has seen."""
        seen = max((at for at in self.submitted.values() if at <= cycle), default=-np.inf)
        return max(cycle - COARSE_S, min(seen + ORDERED_S, cycle))

    def _answer_time(self) -> float:
        """Return the time from the end of a job until its nodes have answered.

        The log has an answer only when the controller next polls, after 5 ms, then 10, and so on: the first
        quartile is nearer to the answer itself than the median.
        """
        if self.left:
            return float(np.median(self.left))
        answers = np.array(self.answers)
        after = [answers[answers > end][:1] - end for job, end in self.ended.items() if job not in self.freed]
        return float(np.quantile(np.concatenate(after), 0.25)) if after and len(answers) else 0.02

    def messages(self, jobs: Sequence[int]) -> np.ndarray:
        """Return the seconds from the end of each job to the message of its epilog, -1 without one.

        Usually a node has finished with a job when the controller asks for it; otherwise it sends a message
        later, which calls the scheduler. Which of the two happens depends on the node's load.
        """
        return np.array([self.freed[job] - self.ended[job] if job in self.freed else -1.0 for job in jobs])

    def _cycle_time(self) -> float:
        """Return the seconds that a cycle takes beyond the whole ones to the next, or 0."""
        beyond = np.diff(self.cycles)
        beyond = beyond - np.rint(beyond)
        return max(float(np.median(beyond)), 0.0) if len(beyond) else 0.0

    def wake_ups(self) -> np.ndarray:
        """Return when the background thread woke up: at passes and tests of limits, and between them."""
        after_kills = np.array(self.calls)

        def timed(instant: float) -> bool:
            return not ((after_kills <= instant) & (instant < after_kills + CALLED_S)).any()

        seen = np.array(sorted({*self.limits, *filter(timed, self.passes)}))
        seen = seen[np.append(True, np.diff(seen) > 0.5)]
        steps = np.rint(np.diff(seen) / USUAL_PERIOD_S).astype(int)
        parts = [
            np.linspace(begin, end, n, endpoint=False)
            for begin, end, n in zip(seen, seen[1:], steps, strict=False)
        ]
        return np.concatenate([*parts, seen[-1:]])


def _first_after(instants: list[float], zero: float) -> float:
    return next((instant - zero for instant in instants if instant > zero), 0.0)


def _last_before(instants: list[float], default: float, zero: float) -> float:
    earlier = [instant - zero for instant in instants if instant < zero]
    if not instants:
        return 0.0  # the log is shorter than until the next one
    return earlier[-1] if earlier else _first_after(instants, zero) - default


def _seconds(text: str) -> float:
    form = "%Y-%m-%dT%H:%M:%S.%f" if "." in text else "%Y-%m-%dT%H:%M:%S"
    return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
