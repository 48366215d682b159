"""What recorded waiting was spent on, against a recount second by second."""

import numpy as np
import pytest

from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.requests import Requests
from models.jobs.trace import Trace
from models.jobs.waiting import CAUSES, LONG_S, explained

N, PROCESSORS = 40, 16


def recount(trace: Trace) -> dict[str, float]:
    jobs, request = trace.jobs, trace.jobs.request
    start = (jobs.submit + trace.waited).astype(int)
    end, submit = start + jobs.runtime.astype(int), jobs.submit.astype(int)
    seconds = np.arange(end.max())
    runs = (start <= seconds[:, None]) & (seconds[:, None] < end)
    free, nodes = PROCESSORS - runs @ jobs.size, (runs @ request.nodes).max() - runs @ request.nodes
    room = {p: (used := runs @ (jobs.size * (jobs.partition == p))).max() - used for p in (1, 2)}
    stopped = [~runs.any(axis=1)[second] for second in seconds]
    down = np.zeros(len(seconds), bool)
    begin = 0
    for second in (*seconds, len(seconds)):
        if second == len(seconds) or not stopped[second]:
            down[begin:second] = second - begin >= LONG_S
            begin = second + 1
    spent = dict.fromkeys(CAUSES, 0)
    for job in range(N):
        for second in range(submit[job], start[job]):
            spent[
                "not eligible" if second < min(submit[job] + request.delay[job], start[job])
                else "downtime" if down[second]
                else "busy" if free[second] < jobs.size[job]
                else "partition" if room[int(jobs.partition[job])][second] < jobs.size[job]
                else "nodes" if nodes[second] < request.nodes[job]
                else "idle"
            ] += 1  # fmt: skip
    return {cause: number / sum(spent.values()) for cause, number in spent.items()}


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 2, 3))])
def test_every_second_of_waiting_has_one_cause(seed: int) -> None:
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, 3000, N)).astype(float)
    submit[N // 2 :] += 6000  # a queue that lasts through an hour without a job
    waited = rng.integers(0, 1500, N).astype(float)
    waited[N // 2 - 3 : N // 2] = 9000 - submit[N // 2 - 3 : N // 2]
    size = 2 ** rng.integers(0, 4, N)
    jobs = Jobs.bare(
        submit, rng.integers(1, 900, N).astype(float), size, partition=rng.integers(1, 3, N),
        request=Requests.of(size, size, nodes=np.ones(N, int), delay=rng.integers(0, 200, N).astype(float)),
    )  # fmt: skip
    trace = Trace("log", jobs, pool(PROCESSORS), waited=waited)
    found = explained(trace)
    assert found == pytest.approx(recount(trace))
    assert found["downtime"] > 0.1
    assert sum(found.values()) == pytest.approx(1)


def test_nothing_is_said_of_a_log_without_waits() -> None:
    jobs = Jobs.bare(np.zeros(2), np.ones(2), np.ones(2, int))
    assert explained(Trace("log", jobs, pool(2))) == {}
    assert explained(Trace("log", jobs, pool(2), waited=np.zeros(2))) == {}
