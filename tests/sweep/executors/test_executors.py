"""Every executor keeps the contract; and what is special about each of them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import ClassVar

import pytest
from executor_contract import Contract, clean
from study_commands import PYTHON_PATH

from sweep.executors.bundles import Bundles
from sweep.store.costs import keys


class TestSerial(Contract):
    settings: ClassVar = ("executor=serial",)
    starts_workers = False


class TestDask(Contract):
    settings: ClassVar = ("executor=dask", "executor.workers=2")
    replaces_workers = True


SCHEDULER = """
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    print(cluster.scheduler_address, flush=True)
    input()
"""


@pytest.mark.exhaustive
class TestDaskScheduler(Contract):
    """A scheduler that was there before, with workers in another folder, serving one run after the other."""

    replaces_workers = True
    ends_workers = False

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def scheduler(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        elsewhere = tmp_path_factory.mktemp("scheduler")
        (elsewhere / "cluster.py").write_text(SCHEDULER)
        with subprocess.Popen(
            [sys.executable, "cluster.py"],
            cwd=elsewhere,
            env={**os.environ, "PYTHONPATH": PYTHON_PATH},
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as cluster:
            cls.settings = ("executor=dask", f"executor.address={cluster.stdout.readline().strip()}")
            yield
            cluster.communicate("end\n")


@pytest.mark.exhaustive
def test_sigterm_is_as_clean_as_ctrl_c(command):
    run = command("executor=serial", "policy.waits_at=0.3", "policy.waits_for=never")
    run.wait_for_results(1)
    run.process.terminate()
    clean(run.finish(), status=130)


@pytest.mark.exhaustive
def test_a_task_that_always_kills_its_worker_is_given_up(command, sweep):
    """The others are not, though they were on their way to the same worker when it died."""
    arguments = ("policy=quick", "replications=1", "policy.dies_at=0.6")
    answer = command("executor=dask", "executor.workers=1", *arguments).finish()
    clean(answer, status=1)
    assert "3 of 6 tasks failed" in answer.out
    status = sweep(*arguments, "action=status")
    assert "3 tasks failed with: the worker died each time it ran this task" in status.out


SLOW_START = """
import sys, threading, time
from multiprocessing import reduction

begun = threading.Event()

def slow(socket, fds):  # the fork server has been called, and waits for what it is to do
    starts.append(fds)
    if len(starts) == 5:
        print("the fifth worker starts")
        begun.set()
        time.sleep(seconds)
    send(socket, fds)

def close(executor, quickly):  # not before that worker is begun: to be quicker would be another case
    begun.wait(600)
    end(executor, quickly)

if __name__ == "__main__":
    from sweep import cli
    from sweep.executors import dask

    send, starts, seconds = reduction.sendfds, [], float(sys.argv.pop(1))
    reduction.sendfds, dask.CLOSE_S = slow, 3
    end, dask.Executor._close = dask.Executor._close, close
    sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("seconds", [1, 60], ids=["while closing", "for longer than closing may take"])
def test_a_run_that_ends_while_a_worker_is_replaced_says_nothing_of_it(command, tmp_path, seconds):
    """Of a single task, which kills four workers."""
    (tmp_path / "slow_start.py").write_text(SLOW_START)
    one_task = ("policy=quick", "replications=1", "grid.load=[0.6]", "grid.preemption=[none]")
    one = command(
        "executor=dask", "executor.workers=1", "policy.dies_at=0.6", *one_task,
        program=["slow_start.py", str(seconds)],
    )  # fmt: skip
    answer = one.finish()
    clean(answer, status=1)
    assert answer.err == ""
    assert "the fifth worker starts" in answer.out
    assert "1 of 1 task failed" in answer.out
    assert one.survivors() == []


@pytest.mark.exhaustive
def test_no_scheduler_at_the_address(command):
    with socket.socket() as taken:  # no other process can have this port, and none listens to it
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        answer = command("executor=dask", f"executor.address={address}").finish()
    assert answer.status == 1
    assert answer.err.startswith(f"error: Dask: executor.address={address} did not start")
    assert answer.err.count("\n") == 1


@pytest.mark.exhaustive
def test_a_scheduler_without_workers_is_not_waited_for_for_ever(sweep, monkeypatch):
    from distributed import LocalCluster

    from sweep.executors import dask

    monkeypatch.setattr(dask, "PATIENCE_S", 0.05)
    monkeypatch.setattr(dask, "COUNT_EVERY_S", 0.02)
    with LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as cluster:
        answer = sweep("executor=dask", f"executor.address={cluster.scheduler_address}")
    clean(answer, status=1)
    assert "no worker for 0.05 s; start workers" in answer.err


def test_bundles_are_of_even_size_and_the_longest_come_first(expand, tmp_path, costs):
    plan = expand()
    for policy, work_s in [("quick", 0.01), ("slow", 0.08)]:
        for at in ("0.3", "0.6"):
            key = ("fake_family", "one", policy, "poisson", at)
            costs.add(key, (work_s + float(at) / 1000) / plan.longest.jobs)
    made = Bundles(plan, range(24), costs, tmp_path, 0.05)
    for number in range(24):  # much came back already, as predicted
        made.learn(number, costs.seconds_a_job(keys(plan)(number)) * plan.longest.jobs)
    bundles = list(made)
    sizes = [len(bundle.tasks) for bundle in bundles]
    assert sizes == [1] * 12 + [5, 5, 2]
    first = [bundle.tasks[0] for bundle in bundles]
    assert [task.point.policy["name"] for task in first] == ["slow"] * 12 + ["quick"] * 3
    assert [task.point.load for task in first[:12]] == [0.6] * 6 + [0.3] * 6
    assert sorted(task.id for bundle in bundles for task in bundle.tasks) == sorted(plan.ids)


@pytest.mark.parametrize("workers", [1, 2])
def test_of_whole_logs_one_worker_takes_the_longest_and_others_the_shortest(tmp_path, expand, costs, workers):
    plan = expand("batch_size=null", "grid.load=[0.3,0.4,0.5,0.6]", "replications=1")
    assert plan.longest.to_the_end
    key, cells = keys(plan), range(plan.n_cells)
    for number in cells:
        costs.add(key(number), (10.0 + number) / plan.measurement(number).jobs)
    made = Bundles(plan, cells, costs, tmp_path, 0.5, workers=lambda: workers)
    order = [plan.ids.index(task.id) for bundle in made for task in bundle.tasks]
    taken = [costs.seconds_a_job(key(number)) for number in order]
    assert sorted(order) == [*cells]
    assert taken == (sorted(taken) if workers == 1 else [max(taken), *sorted(taken)[:-1]])
    again = Bundles(plan, cells, costs, tmp_path, 0.5, workers=lambda: 2)
    for _ in range(2):  # the first one is back, so the longest again
        (task,) = next(again).tasks
        number = plan.ids.index(task.id)
        assert costs.seconds_a_job(key(number)) == max(taken)
        again.ended(number)


@pytest.mark.exhaustive
def test_only_holders_of_the_keys_connect_to_the_embedded_cluster():
    """Who connects may run code; other users of the machine reach its ports."""
    from distributed import Client
    from distributed.security import Security

    from sweep.executors.dask import Executor

    with Executor(workers=1) as executor:
        own = executor._ready()
        address = own.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        for tried, keys in ((address.replace("tls:", "tcp:"), None), (address, Security.temporary())):
            with pytest.raises((OSError, TimeoutError)):
                Client(tried, security=keys, timeout=5)
        with Client(address, security=own.security, timeout=60) as another:
            assert another.submit(sum, [1, 2]).result() == 3
