"""``python -m slurm forecast``: cases solved by hand, a twin that knows the future, and the command."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.backfill import engine as backfilling
from models.backfill.policies import rules_of
from models.jobs import bundle
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.requests import Requests
from models.jobs.trace import Trace
from models.slurm import engine, policies
from models.slurm.configuration.reading import of_lines
from models.slurm.scheduler import Phases
from slurm import cli
from slurm.forecasting import calibrating, command, queue
from slurm.forecasting.drawing import WEEK, Arrivals, Past, runtimes
from slurm.forecasting.simulating import Easy, Futures, Slurm, usage_of
from slurm.forecasting.state import joined, of_log, past_of
from sweep.notebook import choices

HALF_MINUTE = 31.0
"""Seconds that Slurm's timers may need to start a job that has room."""

EASY = choices.policy({"name": "easy", "kill": False}, choices.folders())


def slurm(*lines: str) -> Slurm:
    """Return Slurm's scheduler with these lines of a slurm.conf."""
    policy = choices.policy({"name": "slurm", "lines": list(lines), "over_limit": "cap"}, choices.folders())
    return Slurm(of_lines("slurm.conf", list(lines), {}), policy)


NODES = ("NodeName=n[1-8] CPUs=1 RealMemory=1000", "PartitionName=main Nodes=ALL Default=YES")


def a_log(jobs: Jobs, waited: np.ndarray, processors: int = 8) -> Trace:
    """Return jobs with their waits as a log."""
    return Trace("log", jobs, pool(processors), waited=waited)


def some_jobs(n: int, rng: np.random.Generator, processors: int = 8) -> Jobs:
    """Return jobs that keep a queue, with requests of whole minutes."""
    runtime = rng.integers(60, 4000, n).astype(float)
    requested = np.ceil(runtime * rng.choice([1, 1.5, 4], n) / 60) * 60
    size = rng.choice([1, 2, 3, processors], n, p=[0.5, 0.2, 0.2, 0.1])
    submit = np.floor(np.cumsum(rng.exponential(520.0, n)))
    none = np.zeros(n, np.int64)
    request = Requests.of(size, none, nodes=size, most_nodes=size)
    return Jobs(
        submit - submit[0], runtime, requested, size, none, user=rng.integers(1, 4, n), request=request
    )


@pytest.mark.parametrize("scheduler", ["easy", "slurm"])
def test_a_forecast_with_the_true_future_is_the_replay(scheduler: str) -> None:
    jobs = some_jobs(400, np.random.default_rng(5))
    if scheduler == "easy":
        chosen: Easy | Slurm = Easy(pool(8), EASY)
        start = backfilling.schedule(jobs, pool(8), rules_of(EASY)).start
    else:
        # A cycle each second, half a second after all events, so that any instant is like any other.
        every = Phases(
            tick=0.5, backfill=0.5, full=-0.5, passed=-0.5, limits=-0.5, period=1.0, cycle_time=0.0
        )
        chosen = replace(slurm(*NODES, "SchedulerParameters=bf_interval=1,batch_sched_delay=0"), phases=every)
        found = policies.wanted(jobs, chosen.policy, chosen.configuration)
        start = engine.run(found, chosen.configuration, every).start
    trace, n_waiting = a_log(jobs, start - jobs.submit), 0
    for minute in (600, 1200, 1800, 2400, 3000):
        at = 60.0 * minute
        state = of_log(trace, at)
        assert state.rows is not None
        waiting = state.rows[state.n_running :]
        later = jobs.part(jobs.submit >= at)
        later = replace(later, submit=later.submit - at)
        watched = np.arange(state.n_running, len(state.jobs))
        found_start = chosen.starts(state, state.jobs.runtime, later, watched, None)
        np.testing.assert_allclose(found_start + at, start[waiting], atol=1e-6)
        n_waiting += len(waiting)
    assert n_waiting > 50


def as_declared(requested: list[float], size: list[int], submit: list[float]) -> tuple[Trace, float]:
    """Return a log of three weeks in which all jobs run for their limits, with four more jobs at its end.

    The first of them starts at once, an instant before the others: all that follows is known.
    """
    at = 3 * WEEK
    limits = np.array(sorted(set(requested)))
    n = 12 * len(limits)
    old = np.linspace(0.0, at - 2 * max(limits) - 60.0, n)
    limit = np.concatenate([np.tile(limits, 12), requested])
    count = np.concatenate([np.ones(n, np.int64), size])
    arrived = np.concatenate([old, at + np.array(submit)])
    none = np.zeros(len(limit), np.int64)
    request = Requests.of(count, none, nodes=count, most_nodes=count)
    jobs = Jobs(arrived, limit, limit, count, none, user=none + 1, request=request)
    waited = np.zeros(len(limit))
    waited[n + 1 :] = 1e6  # not read
    return a_log(jobs, waited, 4), at


@pytest.mark.parametrize("scheduler", ["easy", "slurm"])
def test_starts_that_are_known_by_hand(scheduler: str) -> None:
    # On 4 processors 3 run until 3,600 s: the job of 4 waits for them, one of 1 fits beside them now, and one
    # of 1 that is too long for that waits until the job of 4 has ended.
    trace, at = as_declared([7200.0, 1800.0, 1800.0, 5400.0], [3, 4, 1, 1], [-3600.0, -10.0, -5.0, -1.0])
    state = of_log(replace(trace, jobs=trace.jobs.part(trace.jobs.submit < at)), at)
    assert (state.n_running, state.n_waiting) == (1, 3)
    chosen: Easy | Slurm = Easy(pool(4), EASY)
    if scheduler == "slurm":
        chosen = slurm(NODES[0].replace("8", "4"), NODES[1])
    quantiles = calibrating.quantiles(Futures(state, chosen, 5).starts())
    known = np.array([3600.0, 0.0, 5400.0])
    late = quantiles - known
    assert (late >= 0).all()
    assert late.max() <= (0 if scheduler == "easy" else HALF_MINUTE)
    # Without the running job, an hour after the last submission.
    jobs = replace(state.jobs.part(slice(1, None)), submit=state.jobs.submit[1:] - 3600.0)
    idle = replace(state, jobs=jobs, start=state.start[:0], nodes=())
    late = calibrating.quantiles(Futures(idle, chosen, 2).starts()) - np.array([0.0, 1800.0, 1800.0])
    assert ((late >= 0) & (late <= (0 if scheduler == "easy" else 2 * HALF_MINUTE))).all()


def test_a_forecast_reads_nothing_of_the_future() -> None:
    jobs = some_jobs(500, np.random.default_rng(6))
    start = backfilling.schedule(jobs, pool(8), rules_of(EASY)).start
    at = float(jobs.submit[400]) + 1.0
    other = jobs.submit >= at
    runs = start + jobs.runtime > at  # runs or waits then, or comes later
    runtime = np.where(runs, jobs.runtime + 12_345.0, jobs.runtime)
    size = np.where(other, 9 - jobs.size, jobs.size)
    changed = replace(jobs, runtime=runtime, size=size)
    waited = np.where(start >= at, start + 777.0, start) - jobs.submit
    logs = (a_log(jobs, start - jobs.submit), a_log(changed, waited))
    found = [Futures(of_log(log, at), Easy(pool(8), EASY), 8).starts() for log in logs]
    np.testing.assert_array_equal(*found)


def test_runtimes_are_of_the_same_user_beyond_what_has_passed_and_within_the_limit() -> None:
    rng, n = np.random.default_rng(1), 400
    user = rng.integers(1, 3, n)
    runtime = np.where(user == 1, rng.uniform(100, 200, n), rng.uniform(1000, 2000, n))
    none = np.zeros(n, np.int64)
    jobs = Jobs(np.arange(n) - 1e5, runtime, np.full(n, 3000.0), none + 1, none, user=user)
    past = Past(jobs, jobs.submit)
    asked = replace(
        jobs.part(slice(0, 4)), user=np.array([1, 2, 2, 3]), requested=np.array([3000, 3000, 1500, 60.0])
    )
    drawn = runtimes(past, asked, np.array([0.0, 1500.0, 0.0, 0.0]), 300, rng)
    bounds = [(100, 200), (1500, 2000), (500, 1000), (2, 40)]  # another limit: as a share of it
    for column, (least, most) in zip(drawn.T, bounds, strict=True):
        assert least <= column.min() < column.max() <= most
    alike = runtimes(
        past, replace(asked, user=np.full(4, 1), requested=np.full(4, 3000.0)), np.zeros(4), 50, rng
    )
    order = np.argsort(jobs.submit + runtime)
    first = order[user[order] == 1][-200:]
    place = [int(np.flatnonzero(runtime[first] == one)[0]) for one in alike[0]]
    assert [(place[0] + k) % len(first) for k in range(4)] == place  # jobs that followed each other


def test_arrivals_are_of_earlier_weeks_at_the_same_time_of_the_week() -> None:
    submit = np.arange(-4 * WEEK - 3600.0, 0.0, 3600.0)
    n = len(submit)
    jobs = Jobs(submit, np.full(n, 60.0), np.full(n, 60.0), np.arange(1, n + 1), np.zeros(n, np.int64))
    arrivals = Arrivals.of(Past(jobs, submit), np.random.default_rng(1))
    short, long = (arrivals.until(horizon, (1, 2)) for horizon in (WEEK / 2, 2 * WEEK))
    assert len(long) == 2 * 168
    np.testing.assert_array_equal(long.submit % WEEK, submit[long.size - 1] % WEEK)
    np.testing.assert_array_equal(short.size, long.size[: len(short)])
    weeks = {tuple(arrivals.until(WEEK, (1, k)).size.tolist()) for k in range(40)}
    assert len(weeks) == 4
    # Each copy of a heterogeneous job is one of its own, also beside the jobs of the queue.
    none = jobs.memory
    jobs = replace(jobs, request=Requests.of(jobs.size, none, het_job=np.arange(n) // 2 - 1))
    arrivals = Arrivals.of(Past(jobs, submit), np.random.default_rng(1))
    now = replace(jobs.part(slice(4)), request=Requests.of(none[:4] + 1, none[:4], het_job=none[:4] + 5))
    both = joined(now, arrivals.until(8 * WEEK, (1, 2))).request
    assert both is not None
    assert np.unique(both.het_job, return_counts=True)[1].max() == both.het_job.tolist().count(5) == 4


def test_calibrated_intervals_cover_starts_that_a_simulation_misses() -> None:
    rng, n = np.random.default_rng(2), 600
    median = rng.uniform(600, 40_000, n)
    start = median * 3 * rng.lognormal(0, 0.5, n)  # three times as late as simulated
    simulated = np.stack([0.9 * median, median, 1.1 * median])
    none = np.zeros(n)
    jobs = Jobs(none - 60, none + 1, none + 3600, np.ones(n, np.int64), none.astype(np.int64))
    alike = calibrating.features(jobs, simulated)
    known = calibrating.Cases(np.arange(n), none, start, simulated, alike, none)
    found = known.calibrated(simulated[:, 400:], alike[400:], 1e9)
    tested = calibrating.Cases(
        np.arange(200), none[:200], start[400:], simulated[:, 400:], alike[400:], none[400:]
    )
    scores = [calibrating.scores(tested, each) for each in (found, simulated[:, 400:])]
    assert 0.73 < scores[0]["covered"][0] < 0.87
    assert scores[1]["covered"][0] < 0.1
    assert scores[0]["pinball"][0] < scores[1]["pinball"][0]
    few = known.calibrated(simulated[:, :3], alike[:3], float(np.sort(start)[5]))
    np.testing.assert_array_equal(few, simulated[:, :3])  # five starts are known by then


SQUEUE = Path(__file__).parents[1] / "data" / "slurm" / "squeue.json"
SITE = (
    "NodeName=alp[01-04] CPUs=4 RealMemory=4000",
    "PartitionName=main Nodes=ALL Default=YES",
    "PartitionName=few Nodes=alp[01-02]",
    "SelectTypeParameters=CR_CPU_Memory",
)


def as_24_05(text: str) -> str:
    """Return squeue's output in the form of later versions: wrapped numbers, lists of states."""
    jobs = json.loads(text)["jobs"]
    for job in jobs:
        if resources := job.pop("job_resources", None):
            cores = [len(node["sockets"]) for node in resources["allocated_nodes"]]
            names = [node["nodename"] for node in resources["allocated_nodes"]]
            each = [{"name": name, "cpus": {"count": n}} for name, n in zip(names, cores, strict=True)]
            job["job_resources"] = {
                "nodes": {"list": resources["nodes"], "allocation": each},
                "cpus": sum(cores),
            }
        for key, value in job.items():
            if type(value) is int and key != "job_id":
                job[key] = {"set": True, "infinite": False, "number": value}
        job["job_state"] = [job["job_state"]]
        job["shared"] = [job["shared"]] if "shared" in job else []
    return json.dumps({"jobs": jobs, "last_update": {"set": True, "number": 1_800_000_000}})


def test_the_queue_of_a_real_slurm(tmp_path: Path) -> None:
    text, chosen = SQUEUE.read_text(), slurm(*SITE)
    text = re.sub(r'("job_id": [57],)', r'\1 "het_job_id": 5,', text)
    zero = queue.instant("queue.json", text)
    trace, _ = as_declared([120.0, 180.0, 300.0, 60.0], [1, 1, 1, 1], [0.0, 0.0, 0.0, 0.0])
    past = past_of(trace, 3 * WEEK)
    state, notes = queue.of_squeue("queue.json", text, past, zero, ("ada",), chosen.configuration)
    assert state.names == ("1", "2", "3", *(f"4_{task}" for task in range(1, 7)), "5", "7")
    assert state.nodes == ({0: 4, 1: 2}, {1: 2, 2: 2})
    assert state.jobs.request is not None
    assert state.jobs.request.throttle.tolist() == [-1, -1, 0, *[2] * 6, 0, 0]
    assert state.jobs.request.after.tolist() == [-1] * 9 + [2, -1]
    assert state.jobs.request.het_job.tolist() == [-1] * 9 + [5, 5]
    assert state.users == ("ada", "carla")
    assert notes == ["left out, because they are held until someone changes them: 6 (1)"]
    reduced = queue.reduced(text, zero)
    assert "secret" not in reduced
    again, _ = queue.of_squeue("queue.json", reduced, past, zero, ("ada",), chosen.configuration)
    np.testing.assert_array_equal(again.jobs.submit, state.jobs.submit)
    newer, _ = queue.of_squeue("queue.json", as_24_05(text), past, zero, ("ada",), chosen.configuration)
    assert (newer.nodes, newer.names, newer.start.tolist()) == (
        state.nodes,
        state.names,
        state.start.tolist(),
    )
    assert newer.jobs.request is not None
    for column in ("nodes", "tasks", "cpu_memory", "delay", "after", "throttle", "whole", "het_job"):
        assert getattr(newer.jobs.request, column).tolist() == getattr(state.jobs.request, column).tolist()
    # Jobs run for their limits, so job 3, of all nodes, starts when 1 and 2 have ended; 5 after it.
    starts = Futures(state, chosen, 3).starts()
    second = state.jobs.requested[1] + state.start[1]
    assert (np.abs(starts[:, 0] - second) <= HALF_MINUTE).all()
    after = starts[:, -2] - starts[:, 0] - 300.0
    assert ((after >= 0) & (after <= 2 * HALF_MINUTE)).all()


def test_nodes_of_running_jobs_and_usage_of_the_past_decide() -> None:
    lines = (
        "NodeName=n[1-2] CPUs=4 RealMemory=1000",
        NODES[1],
        "PriorityType=priority/multifactor",
        "AccountingStorageType=accounting_storage/slurmdbd",
        "PriorityWeightFairshare=1000",
    )
    chosen = slurm(*lines)
    size, none = np.array([2, 2, 4, 4]), np.zeros(4, np.int64)
    limit = np.array([600.0, 1200.0, 600.0, 600.0])
    account = np.full(4, "ice", object)
    request = Requests.of(size, none, nodes=none + 1, most_nodes=none + 1, account=account)
    jobs = Jobs(
        np.array([-60.0, -60.0, -20.0, -10.0]),
        limit,
        limit,
        size,
        none,
        user=np.array([1, 1, 1, 2]),
        request=request,
    )
    start, watched = np.array([-60.0, -60.0]), np.array([2, 3])
    wanted = policies.wanted(jobs, chosen.policy, chosen.configuration, ("ada", "bob"))
    found = {}
    for name, nodes in {"one": ({0: 2}, {0: 2}), "two": ({0: 2}, {1: 2})}.items():
        for first, usage in (
            ("bob", {("ice", "ada"): 1e6, ("ice", "bob"): 1.0}),
            ("ada", {("ice", "bob"): 1e6}),
        ):
            present = engine.Present(start, nodes, watched, usage)
            found[name, first] = engine.run(wanted, chosen.configuration, present=present).start[2:]
    # On one node: the other one is free now. On a node each: the first one is free after 540 s.
    expected = {
        ("one", "ada"): (0, 600),
        ("one", "bob"): (600, 0),
        ("two", "ada"): (540, 1140),
        ("two", "bob"): (1140, 540),
    }
    for case, starts in expected.items():
        late = found[case] - np.array(starts)
        assert ((late >= 0) & (late <= 2 * HALF_MINUTE)).all(), (case, found[case])
    past = Past(jobs, np.array([-7200.0, -600.0, np.inf, np.nan]))
    used = usage_of(past, chosen.configuration, ("ada", "bob"))
    assert used == {("ice", "ada"): pytest.approx(2 * 600 + 2 * 600, rel=0.02)}


def test_running_jobs_that_share_cores_have_rows() -> None:
    """A third one waits for one of two, whether it is known which nodes these have or not."""
    chosen = slurm("NodeName=n1 CPUs=4", "PartitionName=all Nodes=n1 OverSubscribe=FORCE:2")
    size, none, limit = np.full(3, 4), np.zeros(3, np.int64), np.array([600.0, 1200.0, 600.0])
    request = Requests.of(size, none, most_nodes=none + 1)
    jobs = Jobs(np.array([-60.0, -60.0, -20.0]), limit, limit, size, none, request=request)
    wanted = policies.wanted(jobs, chosen.policy, chosen.configuration)
    for nodes in (({0: 4}, {0: 4}), ({}, {})):
        present = engine.Present(np.array([-60.0, -60.0]), nodes, np.array([2]), {})
        start = engine.run(wanted, chosen.configuration, present=present).start[2]
        assert 540 <= start <= 540 + 2 * HALF_MINUTE


def test_partitions_that_take_a_job_only_in_part_do_not_bring_it_forward() -> None:
    others = {"wide": "MaxTime=1-0", "short": "MaxTime=60", "small": "MaxNodes=1", "closed": "State=DOWN"}
    chosen = slurm(*NODES, *(f"PartitionName={name} Nodes=ALL {keys}" for name, keys in others.items()))
    two, none = np.array([2]), np.zeros(1, np.int64)
    request = Requests.of(two, none, nodes=two, most_nodes=two)
    limit = np.array([7200.0])
    jobs = Jobs(np.array([-60.0]), limit, limit, two, none, user=none + 1, request=request)
    state = of_log(a_log(replace(jobs, submit=np.zeros(1)), np.array([60.0])), 30.0)
    offered = [what for what in command._changes(state, 0, chosen) if what.startswith("partition")]
    assert offered == ["partition wide"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = some_jobs(700, np.random.default_rng(8))
    start = backfilling.schedule(jobs, pool(8), rules_of(EASY)).start
    rows = zip(jobs.submit, start - jobs.submit, jobs.runtime, jobs.size, jobs.requested, strict=True)
    log, output = tmp_path / "log.swf", f"output={tmp_path / 'out'}"
    lines = [
        f"{n} {at:.0f} {wait:.0f} {ran:.0f} {size} -1 -1 {size} {limit:.0f} -1 1 {n % 3}{' -1' * 6}\n"
        for n, (at, wait, ran, size, limit) in enumerate(rows, start=1)
    ]
    log.write_text("".join(["; MaxProcs: 8\n", *lines]))
    few = [f"log={log}", output, "replications=10", "calibrate=25"]
    at = f"at={float(np.median(start[start - jobs.submit > 3000])) - 1000:.0f}"
    assert cli.main(["forecast", *few, at, "job=cpus=6,time=60,user=1"]) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("new", "3 of 6 CPUs", "time limit 30.0 min", "sooner in"))
    assert "earlier instants: quantiles depend little on what a job asks for; add calibrate=200" in printed
    made = json.loads((tmp_path / "out/forecast.json").read_text())
    assert made["jobs"][0]["start_s"] == sorted(made["jobs"][0]["start_s"])
    assert (tmp_path / "out/forecast.png").stat().st_size > 5000
    for name in ("forecast.json", "forecast.png"):  # a link is replaced, not followed
        (tmp_path / "mine").write_text("mine")
        (tmp_path / "out" / name).unlink()
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
    assert cli.main(["forecast", *few, at]) == 0
    assert (tmp_path / "mine").read_text() == "mine"
    names = [job["job"] for job in json.loads((tmp_path / "out/forecast.json").read_text())["jobs"]]
    assert names
    assert cli.main(["forecast", *few, at, f"job={names[0]}"]) == 0
    assert cli.main(["forecast", *few, "backtest=20"]) == 0
    assert "80 % interval covers" in capsys.readouterr().out
    scores = json.loads((tmp_path / "out/forecast.json").read_text())["scores"]
    # Under the very scheduler and with the log's own users a simulation beats a mean of waits.
    assert scores["simulation alone"]["pinball"][0] < scores["mean of ten waits"]["pinball"][0]
    wrong = {
        (): "log=FILE", ("at=noon",): "at=noon: give a time", ("job=9999",): "job=9999: does not wait",
        ("job=cores=2",): "cores", ("job=cpus=9",): "the machine has 8 processors", ("queue=q.json",): "q.js",
        ("job=cpus=x",): "whole number", ("calibrate=x",): "whole number", ("conf=none.conf",): "none.conf",
    }  # fmt: skip
    for given, text in wrong.items():
        assert cli.main(["forecast", *(few if given else []), *given]) == 2
        assert text in capsys.readouterr().err


def test_a_bundle_with_its_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zero = np.datetime64(int(queue.instant("", SQUEUE.read_text())), "s")
    names = (
        "JobID|User|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem|Account"
    )
    rows = [names]
    for n in range(1, 400):
        at = zero - np.timedelta64(3600 * n, "s")
        rows.append(
            f"{n}|carla|main|COMPLETED|{at}|{at}|{60 * (n % 3 + 1)}|{n % 4 + 2}|{n % 9 + 1}|1|40M|glacier"
        )
    files = {
        "slurm.conf": "\n".join(SITE),
        "sacct.txt": "\n".join(rows) + "\n",
        queue.FILE: SQUEUE.read_text(),
    }
    place = tmp_path / "site.tar.gz"
    place.write_bytes(bundle.packed({name: text.encode() for name, text in files.items()}, {}))
    given = [f"log={place}", f"output={tmp_path}", "replications=20"]
    assert cli.main(["forecast", *given]) == 0
    printed = capsys.readouterr().out
    assert "2 running jobs and 9 waiting jobs at" in printed
    assert "Slurm plans" in printed
    assert "until someone changes them: 6 (1)" in printed
    made = {job["job"]: job for job in json.loads((tmp_path / "forecast.json").read_text())["jobs"]}
    assert made["7"]["planned_s"] <= made["7"]["start_s"][0] + 1  # its begin time
    assert max(made["3"]["start_s"]) <= 180 + HALF_MINUTE  # the limits of the running jobs
    assert min(made["5"]["start_s"]) > min(made["3"]["start_s"])
    assert cli.main(["forecast", *given, "job=nodes=4,cpus=16,time=5,user=carla,account=glacier"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 4 nodes" in printed
    assert "partition few" not in printed  # which has two nodes
    wrong = {
        "job=nodes=9,cpus=9": "never has",
        "job=partition=x": "partition x",
        f"queue={place}": "squeue --json",
    }
    for job, text in wrong.items():
        assert cli.main(["forecast", *given, job]) == 2
        assert text in capsys.readouterr().err
    assert (
        cli.main(["forecast", *given, f"queue={SQUEUE}", "conf=", "machine=16"]) == 2
    )  # conf= needs a value
