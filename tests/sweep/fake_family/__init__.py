"""A family small enough to know by heart: customers of an M/M/1 queue, and switches that break it."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.family import Family, Metric, Outcome
from models.point import Batches, Parameters, Seed
from models.streams import stream

CLASSES = ("short", "long")


def simulate(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
) -> Outcome:
    """Response times by Lindley's recursion; service takes 1 on average, divided by the machine's speed."""
    time.sleep(policy["seconds"])
    if policy["raises_at"] is not None and policy["raises_at"] == load:
        raise ArithmeticError(f"no answer at load {load}")
    if policy["dies_once"]:
        die_once(Path(policy["dies_once"]))
    if policy["full_disk"]:
        fill_disk(Path(policy["full_disk"]))
    if policy["dies_at"] is not None and policy["dies_at"] == load:
        os.kill(os.getpid(), signal.SIGKILL)
    load = 0.5 if load is None else load
    arrivals, services = stream(seed, "arrivals"), stream(seed, "services")
    wait, done = 0.0, []
    for _ in range(batches.warmup + batches.looks[-1]):
        gap = arrivals.exponential(1 / load, batches.size)
        service = services.exponential(1 / machine["speed"], batches.size) * policy["work"]
        responses = np.empty(batches.size)
        for job in range(batches.size):
            wait = max(0.0, wait - gap[job])
            responses[job] = wait = wait + service[job]
        done.append((responses.mean(), [mean(responses[service <= 1]), mean(responses[service > 1])]))
        measured = done[batches.warmup :]
        metrics = {
            "response": np.array([mean for mean, _ in measured]),
            "response_by_class": np.array([by_class for _, by_class in measured]).reshape(-1, 2),
        }
        look = len(measured) in batches.looks[:-1]
        if look and batches.enough is not None and batches.enough(metrics):
            break
    jobs = batches.size * len(done)
    return Outcome(metrics, saturated=load >= 1, jobs=jobs)


def export(
    policy: Parameters,
    workload: Parameters,
    machine: Parameters,
    load: float | None,
    batches: Batches,
    seed: Seed,
    path: str | os.PathLike[str],
) -> None:
    """Write the responses of `simulate`, a line a batch; a torn file is one that stops half-way."""
    outcome = simulate(policy, workload, machine, load, batches, seed)
    with open(path, "w") as file:
        for response in outcome.metrics["response"].tolist():
            file.write(f"{response!r}\n")
            if policy["torn"]:
                raise OSError(28, "No space left on device")


def mean(values: np.ndarray) -> float:
    """Mean, NaN where a batch has no customer of a class."""
    return float(values.mean()) if len(values) else float("nan")


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


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    if machine["speed"] <= 0:
        raise ValueError(f"machine.speed={machine['speed']}: give a positive speed")
    return [workload["note"]] if workload["note"] else []


FAMILY = Family(
    name="fake",
    version=1,
    metrics=(
        Metric("response", "s", "mean response time"),
        Metric("response_by_class", "s", "mean response time by class", ("job_class",)),
    ),
    simulate=simulate,
    check=check,
    warm_up=lambda: None,
    coords={"job_class": CLASSES},
    export=export,
)
