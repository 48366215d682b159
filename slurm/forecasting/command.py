"""``python -m slurm forecast``: quantiles of starts, what would bring one forward, and a backtest."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from models import workloads
from models.arrays import Floats
from models.counting import counted
from models.jobs import bundle
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Batches, Point
from models.slurm import policies
from models.workloads.sacct import fields
from slurm.commands import Slurm as Commands
from slurm.forecasting import queue
from slurm.forecasting.calibrating import FIRST_SHARE, TESTED_SHARE, Cases, cases, features, quantiles, scores
from slurm.forecasting.drawing import DAY
from slurm.forecasting.reporting import report, span, write
from slurm.forecasting.simulating import Easy, Futures, Scheduler, Slurm
from slurm.forecasting.state import State, of_log, past_of
from sweep import compiling
from sweep.errors import SweepError, one_line, unknown
from sweep.notebook import choices

CALIBRATION = 200
"""Earlier instants from which a forecast of a log without slurm.conf is calibrated."""

FEW = 20
"""Replications at an instant that is used for calibration only."""

NEW = "new"
"""Name of a job that has not been submitted."""

LEAST_CYCLE_S = 300
"""Least number of seconds between backfill cycles."""

SOONER_S = 60.0
"""Least number of seconds by which a start counts as earlier."""

KEYS = ("nodes", "cpus", "time", "partition", "user", "account", "qos")


@dataclass(frozen=True)
class Options:
    """The arguments, as the help explains them."""

    log: str
    conf: str
    queue: str
    at: str
    machine: str
    job: str
    replications: int
    calibrate: str
    backtest: int
    seed: int
    output: str


def forecast(given: Options) -> int:
    """Print and write a forecast, or a backtest; return 0."""
    place = Path(given.output).expanduser()
    try:
        place.mkdir(parents=True, exist_ok=True)
        trace, scheduler = _opened(given)
        n_before = int(given.calibrate or (0 if isinstance(scheduler, Slurm) else CALIBRATION))
        if given.backtest:
            return _backtest(given, trace, scheduler, n_before, place)
        state, notes = _state(given, trace, scheduler)
        is_new = "=" in given.job
        state = _with_job(given.job, state, scheduler) if is_new else state
        target = _target(NEW if is_new else given.job, state)
        for note in notes:
            print(note)
        if not state.n_waiting:
            print("no job is waiting; add job=cpus=4,time=60 for a job that you may submit")
            return 0
        futures = Futures(state, scheduler.at(state), given.replications, given.seed)
        at = state.zero - _zero(trace)
        period = (FIRST_SHARE * at, at)
        before = cases(trace, scheduler, n_before, FEW, given.seed, period, is_new) if n_before else None
        watched = np.arange(state.n_running, len(state.jobs)) if target is None else np.array([target])
        starts = futures.starts(watched)
        found = _quantiles(state.jobs.part(watched), starts, before, at)
        changes = {} if target is None else _changes(state, target, scheduler)
        gains = []
        for what, changed in changes.items():
            other = futures.starts(watched, changed)
            sooner = float((other < starts - SOONER_S).mean())
            gains.append((what, _quantiles(changed.jobs.part(watched), other, before, at)[:, 0], sooner))
    except (ValueError, OSError) as error:
        raise SweepError(one_line(error)) from None
    report(state, watched, found, gains, 0 if before is None else before.n_known(at), place)
    return 0


def _opened(given: Options) -> tuple[Trace, Scheduler]:
    """Return the log and the scheduler that the arguments name."""
    where = choices.folders()
    path = Path(given.log).expanduser()
    if not path.is_file():
        work = choices.workload(given.log, where)
    elif bundle.is_bundle(path) or ".swf" not in path.suffixes:
        work = choices.workload({"name": "sacct", "path": str(path)}, where)
    else:
        work = choices.workload({"name": "swf", "path": str(path)}, where)
    conf = given.conf or (str(path) if bundle.is_bundle(path) else "")
    machine = choices.machine(
        int(given.machine) if given.machine.isdecimal() else given.machine or None, where
    )
    settings = {"path": conf, "over_limit": "cap"} if conf else {"kill": False, "unrequested": "runtime"}
    policy = choices.policy({"name": "slurm" if conf else "easy", **settings}, where)
    point = Point(policy, work, machine, None, Batches(None, 0, (1,)), (given.seed,))
    trace = policies.open_log(point) if conf else workloads.open_log(point)
    if trace is None:
        raise SweepError(
            f"log={given.log}: is not a log; give what sacct prints, or one in the Standard Workload Format"
        )
    compiling.ready(point)
    if not conf:
        return trace, Easy(trace.machine, policy)
    configuration = policies.configuration_of(policy, machine)
    if configuration.settings.gang:
        raise SweepError(
            f"{configuration.name}: PreemptMode=GANG is not modelled in forecasts; give a copy of the file "
            "without it"
        )
    if trace.jobs.submit[-1] > DAY:  # a minute more or less does not matter, and cycles take most of the time
        least = max(configuration.settings.bf_interval, LEAST_CYCLE_S)
        configuration = replace(configuration, settings=replace(configuration.settings, bf_interval=least))
    return trace, Slurm(configuration, policy)


def _zero(trace: Trace) -> float:
    return 0.0 if trace.origin is None or trace.origin.zero is None else trace.origin.zero


def _state(given: Options, trace: Trace, scheduler: Scheduler) -> tuple[State, list[str]]:
    """Return the queue and notes about it."""
    text, name = "", given.queue
    if given.queue == "now":
        text = queue.reduced(Commands().run("squeue", "--json"), time.time())
    elif given.queue:
        text = Path(given.queue).expanduser().read_text(encoding="utf-8", errors="replace")
    elif not given.at and bundle.is_bundle(given.log):
        name = queue.FILE
        text = bundle.read(given.log, log=False).get(name, b"").decode(errors="replace")
    if text:
        if not isinstance(scheduler, Slurm):
            raise SweepError(f"queue={given.queue}: add conf=slurm.conf, whose scheduler it is")
        zero = queue.instant(name, text)
        past = past_of(trace, zero - _zero(trace))
        return queue.of_squeue(name, text, past, zero, trace.users, scheduler.configuration)
    last = float(trace.jobs.submit[-1])
    return of_log(trace, _at(given.at, trace) if given.at else last), []


def _at(text: str, trace: Trace) -> float:
    """Return an instant of the log, in seconds from its first submission."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
        at = found.replace(tzinfo=found.tzinfo or UTC).timestamp() - _zero(trace)
    except ValueError:
        at = -1.0
    if not at > 0 or not _zero(trace):
        raise SweepError(
            f"at={text}: give a time of the log (UTC), at=2024-03-01T08:00, or seconds from its beginning"
        )
    return at


def _target(job: str, state: State) -> int | None:
    """Return the position of the job that is asked for."""
    names = list(state.names[state.n_running :])
    if job and job not in names:
        raise SweepError(
            f"job={job}: does not wait; {counted(len(names), 'job', 'does')}: {', '.join(names[:8])}"
        )
    return state.n_running + names.index(job) if job else None


def _with_job(text: str, state: State, scheduler: Scheduler) -> State:
    """Return the queue with a job that one may submit, described by KEY=VALUE between commas."""
    pairs = [part.partition("=") for part in text.split(",")]
    values = {key: value for key, _, value in pairs}
    if wrong := [key for key in values if key not in KEYS]:
        raise SweepError(unknown("key of job", wrong[0], list(KEYS)))
    counts = {}
    for key in ("nodes", "cpus"):
        if not (number := values.get(key, "1")).isdecimal() or int(number) < 1:
            raise SweepError(f"job: {key}={number}: give a whole number, 1 or more")
        counts[key] = int(number)
    limit = fields.limit(values.get("time", ""))
    size = max(counts["cpus"], counts["nodes"])
    user = state.users.index(values["user"]) + 1 if values.get("user") in state.users else 0
    if values.get("user", "").isdecimal() and not state.users:
        user = int(values["user"])
    request: dict[str, Any] = {name: values.get(name, "") for name in ("partition", "account", "qos")}
    request |= {"nodes": counts["nodes"], "most_nodes": counts["nodes"] * ("nodes" in values)}
    made = state.with_job(NEW, limit, size, user, **request)
    if isinstance(scheduler, Slurm):
        policies.wanted(
            made.jobs, scheduler.policy, scheduler.configuration, made.users
        )  # raises an error that names what the job lacks
    elif isinstance(scheduler, Easy) and size > scheduler.machine.total:
        raise SweepError(f"job: cpus={size}: the machine has {scheduler.machine.total:,} processors")
    return made


def _changes(state: State, job: int, scheduler: Scheduler) -> dict[str, State]:
    """Return the queues with changes that may bring a job forward, each under its description."""
    size, limit, request = int(state.jobs.size[job]), float(state.jobs.requested[job]), state.jobs.request
    nodes = 1 if request is None else int(request.nodes[job])
    found: dict[str, State] = {}
    if size > 1:
        half = {"nodes": -(-nodes // 2), "most_nodes": -(-nodes // 2)} if nodes > 1 else {}
        tasks = 0 if request is None else -(-int(request.tasks[job]) // 2)
        what = counted(half["nodes"], "node", of=nodes) if half else counted(-(-size // 2), "CPU", of=size)
        found[what] = state.changed(job, {"size": -(-size // 2)}, {**half, "tasks": tasks})
    for part in (2, 4) if limit >= 240 else ():
        found[f"time limit {span(limit / part)}"] = state.changed(job, {"requested": limit / part}, {})
    if isinstance(scheduler, Slurm) and request is not None:
        mine = str(request.partition[job]) or scheduler.configuration.default_partition.name
        for one in scheduler.configuration.partitions:
            allows = one.max_time is None or not limit > one.max_time  # otherwise its limit would be cut
            if one.name not in mine.split(",") and not one.restricted and allows:
                other = state.changed(job, {}, {"partition": one.name})
                try:
                    policies.wanted(other.jobs, scheduler.policy, scheduler.configuration, other.users)
                except ValueError:
                    continue  # the job never fits there
                found[f"partition {one.name}"] = other
    return found


def _quantiles(jobs: Jobs, starts: Floats, before: Cases | None, at: float) -> Floats:
    """Return the quantiles of starts, shape (3, n_jobs), calibrated if cases are given."""
    simulated = quantiles(starts)
    return simulated if before is None else before.calibrated(simulated, features(jobs, simulated), at)


def _backtest(given: Options, trace: Trace, scheduler: Scheduler, n_before: int, place: Path) -> int:
    """Compare forecasts at random instants of the log with what happened, and print the scores."""
    last = float(trace.jobs.submit[-1])
    period = (TESTED_SHARE * last, last)
    tested = cases(trace, scheduler, given.backtest, given.replications, given.seed + 1, period)
    if not len(tested.start):
        raise SweepError(f"{trace.name}: jobs hardly ever wait, so there is nothing to forecast")
    methods = {"simulation alone": tested.simulated, "mean of ten waits": np.tile(tested.last, (3, 1))}
    if n_before:
        # Twice as many are spread over the whole log, because each forecast has only those before it.
        before = cases(trace, scheduler, 2 * n_before, FEW, given.seed, (FIRST_SHARE * last, last))
        found = np.empty_like(tested.simulated)
        for instant in np.unique(tested.instant):
            here = tested.instant == instant
            at = float(tested.at[here][0])
            found[:, here] = before.calibrated(tested.simulated[:, here], tested.features[here], at)
        methods = {"calibrated": found, **methods}
    n = len(np.unique(tested.instant))
    print(f"{trace.name}: {counted(len(tested.start), 'waiting job')} at {counted(n, 'random instant')}")
    print(f"{'':>18}  80 % interval covers   too early  too late  error of median  pinball loss")
    results = {name: scores(tested, quantity) for name, quantity in methods.items()}
    for name, score in results.items():
        covered, half = score["covered"]
        errors = [
            f"{score[key][0] / 3600:.2f} ± {score[key][1] / 3600:.2f} h" for key in ("median", "pinball")
        ]
        early, late = score["too_early"][0], score["too_late"][0]
        print(f"{name:>18}  {f'{covered:.1%} ± {half:.1%}':>20}  {early:>9.1%}  {late:>8.1%}", end="")
        print(f"  {errors[0]:>15}  {errors[1]:>12}")
    write({"log": trace.name, "instants": n, "jobs": len(tested.start), "scores": results}, place)
    return 0
