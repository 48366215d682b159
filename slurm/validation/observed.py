"""Read from a log what a real controller did: submissions, starts, ends, passes, cycles and plans."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, product
from typing import Any

import numpy as np

from models.slurm.configuration import hostlist
from models.slurm.configuration.versions import Version, rules
from models.slurm.gang import GRACE_S
from models.slurm.scheduler import SLEEPS_S, Phases

VERSION = re.compile(r"slurmctld version (\S+) started on cluster")
SLUID = re.compile(r"(JobId=\d+) SLUID=\S+")
"""A second number of a job, since 26.05."""

COMPONENT = re.compile(r"(JobId=)\d+\+\d+\((\d+)\)")
"""A component of a heterogeneous job, with its own number in brackets."""

STAMP = re.compile(r"\[(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+)\] (?:debug\d?: +)?(.*)")
SUBMITTED = re.compile(r"(?:_slurm_rpc_submit_batch_job: JobId=(\d+) |HETJOB: (?:\w+: )?Submit JobId=(\d+)$)")
REFUSED = re.compile(r"_slurm_rpc_submit_batch_job: (?!JobId=)")
STARTED = re.compile(r"sched: Allocate JobId=(\d+) ")
BACKFILLED = re.compile(r"sched/backfill: _start_job: Started JobId=(\d+) in ")
EVALUATED = re.compile(r"(?:select_p_job_test: evaluating|_attempt_backfill: BACKFILL: test for) JobId=(\d+)")
COUNTED = re.compile(r"sched/backfill: _start_job: (?:BACKFILL: )?Jobs backfilled since boot")
"""Jobs tried, and a start by backfill: since 26.05 this log level names only the jobs tried before it."""

ENDED = re.compile(r"_job_complete: JobId=(\d+) done")
PREEMPTED = re.compile(r"preempted JobId=(\d+) has been (requeued|killed) to reclaim")
UNDONE = re.compile(r"Deallocate JobId=(\d+) due to hetjob start failure")
REQUEUED = re.compile(r"Requeuing JobId=(\d+)")
TIMED_OUT = re.compile(
    r"(?:Time limit exhausted for|slurm_job_preempt: preempted) JobId=(\d+)|JobId=(\d+) timed out, "
)
EPILOG = re.compile(r"_slurm_rpc_epilog_complete: JobId=(\d+) (?:Node=(\S+))?")
PASS = re.compile(r"sched: Running job scheduler (for full queue|for default depth)")
SUSPENDED = re.compile(r"gang: (suspending|resuming) JobId=(\d+)$")
LEFT = re.compile(r"GANG: gang: entering gs_job_fini for JobId=(\d+)$")
REGISTERED = re.compile(r"(?:validate_node_specs: node (\S+) registered with |Node (\S+) now responding)")
POWERED = re.compile(
    r"POWER: (?:power_save: (?:pid \d+ )?(suspending|waking) nodes|"
    r"Issued slurmctld power action __(suspend|resume)prog__ on nodes) (\S+)"
)
CHECKED = re.compile(r"avoid nodes \S*$")
"""A check of nodes, since Slurm 24.05 with SuspendExcNodes."""

MONOTONIC = re.compile(r"monotonic clock: (\S+)$")
BOOTED = re.compile(r"Resetting JobId=(\d+) start time for node power up")
CALCULATED = (
    "priority/multifactor: _decay_thread: PRIO: Decay factor over",
    "priority/multifactor: decay_apply_weighted_factors: priority for job",
)
"""The beginning of a calculation of priorities if DebugFlags has Priority, otherwise its end."""
PLAN = re.compile(r"sched/backfill: _dump_job_sched: (?:BACKFILL: )?JobId=(\d+) to start at (\S+?), ")

AGENT = re.compile(r"Spawning RPC agent for msg_type (\w+)$")
TREE = re.compile(r"Tree head got back (\d+)(?: looking for (\d+))?$")
"""An agent that sends a message to nodes, the beginning of its work, and each answer that it receives."""

INSTANTS = {
    "sched/backfill: _attempt_backfill: beginning": "cycles",
    "GANG: gang: _timeslicer_thread: scanning partitions": "slices",
    "Testing job time limits": "limits",
}
"""Lines from which only the instant is kept."""

DAY_S = 86400

ORDERED_S = 1e-4
"""Seconds from a submission to a cycle that follows it within the same millisecond of the log."""

COARSE_S = 0.004
"""The controller reads the coarse clock of the kernel's last tick, which is at most 4 ms old, and writes the
line of the log later."""

BETWEEN_S = 0.02
"""Largest error of a wake-up that the log does not show, which is interpolated."""

ANSWERED_S = 1.0
"""Longest time from the end of a job until an agent asks its nodes, and until they have answered it."""

FIRST_SLEEP_S = 0.005
"""An agent looks for answers after this time, and then after sleeps twice as long each (`_wdog`)."""

BEGUN_S = 0.1
"""Longest time from an agent's line until it begins; some agents begin without another line."""

WITHIN_S = 0.25
"""Seconds after a whole second within which the wake-up for it (23.11 or later) writes its first line."""

BESIDE_S = 5e-4
"""Seconds from a whole second to a wake-up that sees this second or the one before: the clock that it
reads is up to `COARSE_S` late."""

LIMITS_S = 30
"""Seconds between two tests of limits."""

SEEN = ((0,), (1,), (1, 0))
"""Whether a wake-up just after a whole second sees the one before, or that one first and then its own."""

AT_ONCE_S = 0.01
"""A pass within this time of an epilog's message was called by it, if it is from the last node of a job."""

CALLED_S = 0.02
"""A pass within this time of an epilog's message may have been called by it, and proves no wake-up."""


@dataclass
class Observed:
    """What a controller did, by number of the job; instants are seconds since the epoch by its clock.

    Parameters
    ----------
    started_by : dict of int to str
        ``main`` or ``backfill``.
    passes, full_passes, cycles, limits : list of float
        Passes of the main scheduler, full ones among them, backfill cycles, tests of limits.
    plans : list of (cycle, job, planned start)
    slices : list of float
        Beginnings of time slices of gang scheduling.
    suspended : dict of int to list of float
        Instants at which each job was suspended and resumed, in turn.
    preempted : list of (instant, job)
        For jobs that run again, `started`, `ended` and the like contain only the last run.
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
    plans: list[tuple[float, int, float]] = field(default_factory=list)
    calculations: list[float] = field(default_factory=list)
    preempted: list[tuple[float, int]] = field(default_factory=list)
    slices: list[float] = field(default_factory=list)
    pings: list[float] = field(default_factory=list)  # of nodes by the controller
    left: list[float] = field(default_factory=list)  # from a job's end until its nodes have answered
    suspended: dict[int, list[float]] = field(default_factory=dict)
    calls: list[float] = field(default_factory=list)  # messages that call the scheduler
    kill_times: list[float] = field(default_factory=list)  # seconds from a kill to such messages
    answered: dict[int, float] = field(default_factory=dict)  # when the last of a job's nodes had answered
    noticed: dict[int, float] = field(default_factory=dict)  # when the agent that asked them saw that
    node_messages: dict[int, dict[str, float]] = field(default_factory=dict)  # messages of epilogs, by node
    booted: set[int] = field(default_factory=set)  # jobs that waited for their nodes to boot
    registered: list[float] = field(default_factory=list)  # instants at which nodes were up
    powered: list[float] = field(default_factory=list)  # checks of nodes that changed some
    allocations: list[float] = field(default_factory=list)  # by passes, also of nodes that have to boot
    checked: list[float] = field(default_factory=list)  # all checks, in a log that shows them
    uptime: float = 0.0  # of the monotonic clock at the epoch
    woken: dict[str, float] = field(default_factory=dict)
    boot_times: list[float] = field(default_factory=list)
    version: Version | None = None
    refused: list[float] = field(default_factory=list)  # submissions
    _message: tuple[float, int] = (0.0, 0)  # the last message of an epilog, and its job
    _evaluated: int = 0
    _asking: list[int] = field(default_factory=list)  # jobs that ended, whose nodes no agent has asked yet
    _agents: list[tuple[float, bool]] = field(default_factory=list)  # to begin; whether to ask a job's nodes
    _trees: list[list[Any]] = field(default_factory=list)  # job (-1: not known, 0: none), answers, of, begun

    @classmethod
    def of(cls, lines: Iterable[str]) -> Observed:
        """Return what a log of level debug2 with DebugFlags=Backfill records."""
        found = cls()
        for line in lines:
            if stamp := STAMP.match(line):
                found._add(_seconds(stamp[1]), COMPONENT.sub(r"\1\2", SLUID.sub(r"\1", stamp[2])))
        return found

    def _add(self, now: float, text: str) -> None:
        if match := SUBMITTED.match(text):
            self.submitted[int(match[1] or match[2])] = now
        elif REFUSED.match(text):
            self.refused.append(now)
        elif (match := STARTED.match(text)) or (match := BACKFILLED.match(text)):
            job = int(match[1])
            self.started.setdefault(job, now)
            self.allocations += [now] * text.startswith("sched:")
            self.started_by.setdefault(job, "main" if text.startswith("sched:") else "backfill")
        elif match := EVALUATED.search(text):
            self._evaluated = int(match[1])
        elif COUNTED.match(text) and self._evaluated not in self.started:
            self.started[self._evaluated], self.started_by[self._evaluated] = now, "backfill"
        elif match := ENDED.match(text):
            self.ended[int(match[1])] = now
            if asked := [tree for tree in self._trees if tree[0] < 0 and now - tree[3] < AT_ONCE_S]:
                asked[0][0] = int(match[1])
            else:
                self._asking.append(int(match[1]))
        elif match := TIMED_OUT.match(text):
            job = int(match[1] or match[2])
            self.killed[job] = self.ended[job] = now
            self.preempted += [(now, job)] if "preempted" in match[0] else []  # after it was suspended
        elif match := PREEMPTED.match(text):
            job = int(match[1])
            self.preempted.append((now, job))
            self.ended[job] = now
            if match[2] == "killed":
                self.killed[job] = now
        elif match := UNDONE.search(text):
            self.ended[int(match[1])] = now
        elif match := REQUEUED.match(text):
            job = int(match[1])
            self.calls.append(now)
            self.kill_times.append(now - self.ended[job])
            for known in (self.started, self.started_by, self.ended, self.freed, self.node_messages):
                known.pop(job, None)
        elif match := AGENT.match(text):
            self._agents.append((now, match[1] == "REQUEST_TERMINATE_JOB"))
            self.pings += [now] if match[1] == "REQUEST_PING" else []
        elif match := TREE.match(text):
            self._answer(now, int(match[1]), int(match[2] or 0))
        elif match := VERSION.match(text):
            self.version = Version.of(match[1])
        elif match := EPILOG.match(text):
            self._message = now, int(match[1])
            self.node_messages.setdefault(int(match[1]), {})[match[2]] = now
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
        elif match := BOOTED.match(text):
            self.started[int(match[1])] = now
            self.booted.add(int(match[1]))
        elif CHECKED.match(text):
            self.checked.append(now)
        elif match := MONOTONIC.match(text):
            self.uptime = float(match[1]) - now
        elif match := POWERED.match(text):
            self.powered.append(now)
            wakes = (match[1] or match[2]) in ("waking", "resume")
            self.woken |= dict.fromkeys(hostlist.expand(match[3]) if wakes else (), now)
        elif match := REGISTERED.match(text):
            self.registered.append(now)
            if match[2] in self.woken:
                self.boot_times.append(now - self.woken.pop(match[2]))
        elif name := next((name for begin, name in INSTANTS.items() if text.startswith(begin)), ""):
            getattr(self, name).append(now)
        elif text.startswith(CALCULATED) and now - max(self.calculations, default=0) > 1:
            self.calculations.append(now)
        elif match := PLAN.match(text):
            self.plans.append((self.cycles[-1] if self.cycles else now, int(match[1]), _seconds(match[2])))

    def _answer(self, now: float, n: int, of: int) -> None:
        """Record the answer of a node: agents begin in their order, but answers may overtake each other."""
        if of:
            self._agents = [agent for agent in self._agents if now - agent[0] < BEGUN_S]
            asks = self._agents.pop(0)[1] if self._agents else False
            while asks and self._asking and now - self.ended[self._asking[0]] > ANSWERED_S:
                self._asking.pop(0)
            self._trees.append([self._asking.pop(0) if asks and self._asking else -int(asks), 0, of, now])
            return
        self._trees = [tree for tree in self._trees if now - tree[3] < ANSWERED_S]
        fitting = [tree for tree in self._trees if tree[1] < n <= tree[2]]
        if not fitting:
            return
        tree = next((one for one in fitting if one[1] == n - 1), fitting[0])
        tree[1] = n
        if n == tree[2]:
            self._trees.remove(tree)
            if tree[0] > 0:
                self.answered[tree[0]] = now
                sleeps = np.minimum(FIRST_SLEEP_S * 2.0 ** np.arange(20), 1.0)
                seen = tree[3] + np.cumsum(sleeps)
                self.noticed[tree[0]] = float(seen[np.searchsorted(seen, now)])

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
        """Return the seconds that a job ran; it runs on for a while after it is suspended.

        The job started with the pass, which takes no time in the model. If it ended while it was suspended,
        it was in fact running: the message that resumed it came after the next one that suspended it.
        """
        begins = self.limits if job in self.booted else (*self.passes, *self.cycles)
        started = self._begun(max(at for at in (*begins, -np.inf) if at <= self.started[job]))
        times = self.suspended.get(job, [])
        stopped = (
            max(end - begin - GRACE_S, 0.0) for begin, end in zip(times[::2], times[1::2], strict=False)
        )
        return self.ended[job] - started - sum(stopped)

    def phases(self, zero: float, delay: int = 3) -> Phases:
        """Return the phases of the timers from `zero` on, just before the first submission; passes are
        `delay` seconds apart at least.

        The background thread sleeps ten times 0.1 s between two wake-ups, and then works: how long that takes
        depends on what else the machine does. Its wake-ups are therefore taken from the log if it shows them,
        and the others are interpolated.
        """
        readings, done = self._clock(delay)
        _, full, limits = max(each for each in done if each[0] < zero)
        wake_ups = readings - zero
        cycles = [self._begun(cycle) for cycle in self.cycles]
        for k, ends in self._killed_after(np.array(self.cycles), "backfill").items():
            if any((end - math.floor(cycles[k])) % 60 >= LIMITS_S for end in ends):
                cycles[k] = max(cycles[k], math.floor(self.cycles[k]) + ORDERED_S)
        return Phases(
            clock=zero % DAY_S,
            tick=float(wake_ups[0]),
            backfill=_first_after(cycles, zero),
            calculation=_first_after(self.calculations, zero),
            full=full - zero + BESIDE_S,
            passed=_last_before(self.passes, 60.0, zero, readings),
            limits=limits - zero + BESIDE_S,
            period=float(np.diff(wake_ups).mean()),
            **self._power(zero),
            completing=self._answer_time(),
            killing=float(np.median(self.kill_times)) if self.kill_times else Phases.killing,
            cycle_time=self._cycle_time(),
            cycles=tuple(cycle - zero for cycle in cycles),
            slices=tuple((np.array(self.slices)[np.array(self.slices) > zero] - zero).tolist()),
            pings=tuple(ping - zero for ping in self.pings if ping > zero),
            wake_ups=tuple(wake_ups[wake_ups > 0].tolist()),
        )

    def _begun(self, at: float) -> float:
        """Return when a pass or a cycle begins by the coarse clock, after the events that it has seen."""
        known = (self.submitted, self.ended, self.noticed, self.freed)
        times = (*chain(*(one.values() for one in known)), *self.calculations, *self.slices)
        seen = max((time for time in times if time <= at), default=-np.inf)
        return max(at - COARSE_S, min(seen + ORDERED_S, at))

    def _power(self, zero: float) -> dict[str, Any]:
        """Return the phases of the checks of nodes that are powered down: each is a whole number of wake-ups
        after another, and those before the first one that changes a node are 10 or 11 s apart."""
        if not (self.checked or self.powered):
            return {}
        at = np.array(self.checked or self.powered) - zero
        at = at[max(int(np.searchsorted(at, 0)) - 1, 0) :]  # from the last one before the beginning
        number = np.cumsum([0, *np.rint(np.diff(at))])
        apart = 10 + rules(self.version)["later_checks"]
        first = math.ceil(at[0] / apart) * apart  # the wake-ups before that
        known = np.interp(np.arange(number[-1] + 1), number, at)
        idle = max(one for one in self.registered if one <= zero) - zero
        return {
            "power_wake_ups": (*(at[0] - np.arange(first, 0, -1)).tolist(), *known.tolist()),
            "idle": idle,
            "uptime": self.uptime + zero,
        }

    def _answer_time(self) -> float:
        """Return the usual time from the end of a job until its nodes have answered."""
        taken = [
            *self.left,
            *(at - self.ended[job] for job, at in self.answered.items() if job in self.ended),
        ]
        return float(np.median(taken)) if taken else Phases.completing

    def answers(self, jobs: Sequence[int]) -> np.ndarray:
        """Return the seconds from the end of each job until its last node has answered, and until that is
        noticed, -1 if the log does not show it: shape (n_jobs, 2)."""
        taken = {job: at - self.ended[job] for job, at in self.answered.items() if job in self.ended}
        known = [0 <= taken.get(job, -1.0) < ANSWERED_S for job in jobs]
        return np.array(
            [
                (taken[job], self.noticed[job] - self.ended[job]) if is_known else (-1.0, -1.0)
                for job, is_known in zip(jobs, known, strict=True)
            ]
        )

    def messages(self, jobs: Sequence[int]) -> np.ndarray:
        """Return the seconds from the end of each job to the message of its epilog, -1 without one.

        Usually a node has finished with a job when the controller asks about it; otherwise it sends a message
        later, which calls the scheduler. Which of the two happens depends on the node's load.
        """
        return np.array([self.freed[job] - self.ended[job] if job in self.freed else -1.0 for job in jobs])

    def node_answers(self, jobs: Sequence[int], nodes: Sequence[str]) -> np.ndarray:
        """Return the positions of job and node, and the seconds from the job's end, of node messages that
        come before the one in `messages`: shape (n, 3), by job and time."""
        found = [
            (k, nodes.index(node), at - self.ended[job])
            for k, job in enumerate(jobs)
            for node, at in self.node_messages.get(job, {}).items()
            if node in nodes and self.ended[job] <= at < self.freed.get(job, -np.inf)
        ]
        return np.array(sorted(found, key=lambda each: (each[0], each[2]))).reshape(-1, 3)

    def _cycle_time(self) -> float:
        """Return the seconds that a cycle takes beyond the whole seconds to the next one, or 0."""
        beyond = np.diff(self.cycles)
        beyond = beyond - np.rint(beyond)
        return max(float(np.median(beyond)), 0.0) if len(beyond) else 0.0

    def _timed(self, passes: Sequence[float]) -> np.ndarray:
        """Return the passes of the background thread: those that no message has called."""
        found, calls = np.array(sorted(passes)), np.array(sorted(self.calls))
        before = np.searchsorted(calls, found, side="right") - 1
        since = np.where(before >= 0, found - np.append(calls, -np.inf)[before], np.inf)
        return found[since >= CALLED_S]

    def clock_readings(self, delay: int = 3) -> np.ndarray:
        """Return when the background thread wakes up; the fraction shows which whole second it sees.

        It reads the coarse clock, which is up to `COARSE_S` late, so that just after a whole second it may
        see the one before. Which of the two it saw is chosen so that the rules of its timers (passes `delay`
        seconds apart at least, full ones each minute, tests of limits each 30 s) explain which of them are in
        the log, and which are not. O(wake-ups).
        """
        return self._clock(delay)[0]

    def _clock(self, delay: int) -> tuple[np.ndarray, list[tuple[float, float, float]]]:
        """Return these wake-ups; and after each of them, and before all, by the clock that the thread reads,
        when the last full pass and the last test of limits began: (wake-up, full pass, test)."""
        whole_seconds = rules(self.version)["whole_seconds"]
        if whole_seconds:
            timed = [at for at in (*self._timed(self.passes), *self.limits) if at % 1 < WITHIN_S]
            instants = np.arange(math.floor(min(timed)), math.floor(max(timed)) + 3, dtype=float)
        else:
            instants = self.wake_ups()
        ends = instants + (WITHIN_S if whole_seconds else AT_ONCE_S)
        flags = [
            np.searchsorted(at, instants - BESIDE_S) < np.searchsorted(at, ends)
            for at in (self._timed(self.passes), self._timed(self.full_passes), np.array(self.limits))
        ]
        calls = np.array(sorted([*self.submitted.values(), *self.noticed.values(), *self.freed.values()]))
        n_calls = np.searchsorted(calls, instants).tolist()
        second = np.floor(instants).astype(int).tolist()
        beside = instants % 1 < np.where(np.any(flags, axis=0), COARSE_S, BETWEEN_S)
        ends_of, unseen = self._killed_after(instants, "main"), self._unchecked(instants)
        # By the seconds of the last pass, full pass and test, and the calls before that pass: least faults.
        # Before the log they were a period before the first ones in it, or a second more.
        firsts = [
            (second[int(np.argmax(one))] - period, second[int(np.argmax(one))] - period - 1)
            if one.any()
            else second[:1]
            for one, period in zip(flags[1:], (60, 30), strict=True)
        ]
        best: dict[tuple[int, ...], tuple[float, tuple[Any, ...]]] = {
            (0, *begun, 0): (0.0, ((), *begun, ())) for begun in product(*firsts)
        }
        for k, flagged in enumerate(np.array(flags).T.tolist()):
            further: dict[tuple[int, ...], tuple[float, tuple[Any, ...]]] = {}
            ways = SEEN if whole_seconds else SEEN[1::-1] if beside[k] else SEEN[:1]
            for (last, full, limits, called), (faults, chosen) in best.items():
                for cost, early in enumerate(ways):
                    passed, fully, tested = 0, 0, 0
                    for now in (second[k] - one for one in early):
                        fully = fully or now * (now - full >= 60)
                        waits = n_calls[k] > called and not passed
                        passed = passed or fully or now * (now - last >= delay and waits)
                        tested = tested or now * (now - limits >= 30)
                    shown = zip((passed, fully, tested), flagged, strict=True)
                    wrong = sum(bool(due) != is_there for due, is_there in shown)
                    wrong += sum((end - (passed or end)) % 60 >= LIMITS_S for end in ends_of.get(k, ()))
                    wrong += k in unseen and passed == second[k]
                    wrong += 0.5 * (bool(tested) != flagged[2])  # the thread reads its clock again after it
                    state = (
                        passed or now if flagged[0] else last,
                        fully or now if flagged[1] else full,
                        tested or now if flagged[2] else limits,
                        n_calls[k] if flagged[0] else called,
                    )
                    total = faults + wrong + 0.01 * cost
                    if total < further.get(state, (np.inf, ()))[0]:
                        further[state] = total, (early, *state[1:3], chosen)
            best = further
        _, chosen = min(best.values(), key=lambda each: each[0])
        found: list[float] = []
        done: list[tuple[float, float, float]] = []
        for k in reversed(range(len(instants))):
            early, full, limits, chosen = chosen
            done.append((float(instants[k]), full, limits))
            late = float(instants[k]) if whole_seconds else max(self._begun(instants[k]), second[k])
            found += [second[k] - BESIDE_S if one else late + BESIDE_S for one in reversed(early)]
        return np.array(found[::-1]), [*done, (-np.inf, *chosen[1:3])]

    def _killed_after(self, instants: np.ndarray, by: str) -> dict[int, list[int]]:
        """Return when jobs were killed that began with a wake-up or a cycle, by its place: limits are whole
        minutes and are tested each 30 s, so that shows the second in which they began."""
        others = {*self.suspended, *self.booted, *(job for _, job in self.preempted)}
        found: dict[int, list[int]] = {}
        for job, at in self.killed.items():
            if self.started_by.get(job) == by and job not in others:
                k = int(np.searchsorted(instants, self.started[job] + BESIDE_S, side="right")) - 1
                found.setdefault(k, []).append(math.floor(at))
        return found

    def _unchecked(self, instants: np.ndarray) -> set[int]:
        """Return the wake-ups that started a job in the second after a check of nodes and saw the one of the
        check, since no further check followed (`later_checks`)."""
        found, checks = set[int](), np.array([-np.inf, *self.checked, np.inf])
        for at in self.allocations if self.checked else ():
            k = int(np.searchsorted(instants, at + BESIDE_S, side="right")) - 1
            n = int(np.searchsorted(checks, at))
            in_second = math.floor(instants[k]) - 1 <= checks[n - 1] < math.floor(instants[k])
            if in_second and checks[n] > at + 1 + WITHIN_S:
                found.add(k)
        return found

    def wake_ups(self) -> np.ndarray:
        """Return when the background thread woke up: at passes and tests of limits, and between them."""
        seen = np.array(sorted({*self.limits, *self._timed(self.passes)}))
        seen = seen[np.append(True, np.diff(seen) > 0.5)]
        steps = np.rint(np.diff(seen) / SLEEPS_S).astype(int)
        parts = [
            np.linspace(begin, end, n, endpoint=False)
            for begin, end, n in zip(seen, seen[1:], steps, strict=False)
        ]
        return np.concatenate([*parts, seen[-1:]])


def _first_after(instants: list[float], zero: float) -> float:
    return next((instant - zero for instant in instants if instant > zero), 0.0)


def _last_before(instants: list[float], default: float, zero: float, readings: np.ndarray) -> float:
    """Return when something happened last before `zero`, as the time of the wake-up that did it."""
    if not instants:
        return 0.0  # the log ends before the next one
    at = max((instant for instant in instants if instant < zero), default=instants[0])
    reading = readings[max(int(np.searchsorted(readings, at + BESIDE_S, side="right")) - 1, 0)]
    return float(reading if abs(reading - at) < WITHIN_S else at) - zero - default * (at >= zero)


def _seconds(text: str) -> float:
    form = "%Y-%m-%dT%H:%M:%S.%f" if "." in text else "%Y-%m-%dT%H:%M:%S"
    return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
