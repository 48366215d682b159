"""The family as the sweep sees it: a point in, batches or a schedule out."""

import os
import resource
import signal
import time
from itertools import islice
from pathlib import Path

import numpy as np

from fake_family import engine
from models.family import Outcome
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.schedule import Schedule
from models.point import Parameters, Point


def simulate(point: Point) -> Outcome:
    """Return the response times of batches, unless a switch of the policy has something break."""
    break_something(point.policy, point.load)
    batches, done = point.batches, []
    for customers in islice(engine.batches(point), batches.most):
        response = customers.wait + customers.service
        short = customers.service <= 1
        done.append((response.mean(), [mean(response[short]), mean(response[~short])]))
        measured = done[batches.warmup :]
        metrics = {
            "response": np.array([mean for mean, _ in measured]),
            "response_by_class": np.array([by_class for _, by_class in measured]).reshape(-1, 2),
        }
        look = len(measured) in batches.checkpoints[:-1]
        if look and batches.enough is not None and batches.enough(metrics):
            break
    saturated = point.load is not None and point.load >= 1
    return Outcome(metrics, batches.jobs(len(done)), saturated)


def schedule(point: Point) -> Schedule:
    """Return who is served when, the customers of the warm-up included."""
    gap, service, wait = map(
        np.concatenate, zip(*islice(engine.batches(point), point.batches.most), strict=True)
    )
    submit, n = np.cumsum(gap), len(gap)
    jobs = Jobs(submit, service, service, np.ones(n, np.int64), np.zeros(n, np.int64))
    start = submit + wait
    return Schedule(jobs, machines.pool(1), start, start + service, np.zeros(n, np.int64), waited=wait)


def break_something(policy: Parameters, load: float | None) -> None:
    """Do what the switches of a policy ask for."""
    time.sleep(policy["seconds"])
    if policy["waits_at"] is not None and policy["waits_at"] == load:
        wait_for(Path(policy["waits_for"]))
    if policy["raises_at"] is not None and policy["raises_at"] == load:
        raise ArithmeticError(f"no answer at load {load}")
    if policy["dies_once"]:
        die_once(Path(policy["dies_once"]))
    if policy["full_disk"]:
        fill_disk(Path(policy["full_disk"]))
    if policy["dies_at"] is not None and policy["dies_at"] == load:
        os.kill(os.getpid(), signal.SIGKILL)


def mean(values: np.ndarray) -> float:
    """Mean, NaN where a batch has no customer of a class."""
    return float(values.mean()) if len(values) else float("nan")


def wait_for(marker: Path) -> None:
    """Take as long as it takes until there is such a file: something else has to end this task."""
    while not marker.exists():
        time.sleep(0.01)


def die_once(marker: Path) -> None:
    """Kill this very process, the first time that it gets here."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def fill_disk(marker: Path) -> None:
    """Let no file of this process grow beyond 16 KiB for as long as the marker exists."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14 if marker.exists() else hard, hard))
