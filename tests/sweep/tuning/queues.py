"""Logs of queues with a known best order: one processor, Poisson arrivals, classes of exponential service."""

from pathlib import Path

import numpy as np

DAY = 86_400.0
MEANS = np.array([300.0, 1200.0, 4800.0])
"""Mean service of each class, seconds; a third of the jobs each."""

REQUEST = 30
"""Requested time over the mean: no job is killed."""


def waits(load: float, ordered: bool) -> float:
    """Return the mean wait in seconds: first come first served, or the class with the shortest mean first.

    References
    ----------
    A. Cobham, "Priority assignment in waiting line problems", Operations Research 2, 1954, 70-76.
    """
    rate = load / MEANS.mean()
    residual = rate * (2 * MEANS**2).mean() / 2
    if not ordered:
        return float(residual / (1 - load))
    sums = np.concatenate([[0.0], np.cumsum(rate / 3 * MEANS)])
    return float((residual / ((1 - sums[:-1]) * (1 - sums[1:]))).mean())


def log(path: Path, seed: int, *, load: float = 0.8, days: int = 60, informed: bool = True) -> Path:
    """Write a log in the Standard Workload Format.

    Requested times show the class, or nothing: then all orders have the same expected mean wait.
    """
    rng = np.random.default_rng(seed)
    n = int(days * DAY * load / MEANS.mean())
    submit = np.sort(rng.uniform(0, days * DAY, n)).astype(int)
    of = rng.choice(MEANS, n)
    runtime = np.maximum(rng.exponential(of), 1).astype(int)
    requested = REQUEST * (of if informed else MEANS.max() * rng.integers(1, 20, n)).astype(int)
    rows = (
        f"{job + 1} {submit[job]} -1 {runtime[job]} 1 -1 -1 1 {requested[job]} -1 1 1 1 -1 1 1 -1 -1"
        for job in range(n)
    )
    path.write_text("; MaxProcs: 1\n; UnixStartTime: 1700000000\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path
