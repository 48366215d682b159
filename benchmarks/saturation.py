"""How often a point is called saturated, where it is known whether it is: docs/statistics.md.

M/M/1 and M/M/8 on the engine of backfilling, packing schemes at loads that they carry, and all of these when
2 % more is offered than they can deliver. Each point has its replications drawn from runs made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from benchmarks.record import Findings, Table, Target
from models.point import Batches, Point
from models.saturation import Backlog
from sweep import statistics
from sweep.notebook import choices
from sweep.plan import families

SIZE = 1000
REPLICATIONS = (1, 5, 20)
DRAWN = 1000
"""Points that are put together of the runs, for each number of replications."""

EXPONENTIAL: dict[str, Any] = {
    "name": "feitelson1996",
    # Jobs of one processor, each run once, with exponential runtimes.
    "size_order": 60.0, "run_length_order": 60.0, "long_probability_small": 0.0, "long_probability_full": 0.0,
    "load_reference": "expected",
}  # fmt: skip
PACKED: dict[str, Any] = {"name": "feitelson1996"}

Case = tuple[str, Mapping[str, Any], int, float, int]
"""Policy, alternation among its keys; workload; processors; load; batches."""


def _gang(name: str, alternation: str) -> dict[str, Any]:
    return {"name": name, "alternation": alternation}


STABLE = (
    *(({"name": "fcfs"}, EXPONENTIAL, servers, load, 30) for servers in (1, 8) for load in (0.8, 0.95, 0.98)),
    *(
        (_gang(name, alternation), PACKED, 128, load, batches)
        for name, alternation, load in (
            ("min_max_load", "shared", 0.9), ("first_fit", "exclusive", 0.9), ("buddy", "none", 0.7),
        )
        for batches in (30, 300)
    ),
)  # fmt: skip
UNSTABLE = (
    *(({"name": "fcfs"}, EXPONENTIAL, servers, 1.02, 30) for servers in (1, 8)),
    # Under exclusive alternation a long backlog fills the machine: what can be delivered is all of it.
    *((_gang(name, "exclusive"), PACKED, 128, 1.02, 30) for name in ("first_fit", "best_fit", "buddy")),
)


def run(quick: bool) -> Findings:
    """Make runs of every case, draw points from them, and count the verdicts."""
    rows, most, least = [], 0.0, 1.0
    with ProcessPoolExecutor() as pool:
        for known, cases in ((False, STABLE), (True, UNSTABLE)):
            for policy, workload, processors, load, batches in cases:
                n_runs = (20 if quick else 100) if batches == 30 else (5 if quick else 40)
                given = [(policy, workload, processors, load, batches, seed) for seed in range(n_runs)]
                runs = list(pool.map(_backlog, given))
                shares = [_called_saturated(runs, replications) for replications in REPLICATIONS]
                rows.append(
                    [
                        ", ".join(str(value) for value in policy.values()),
                        f"M/M/{processors}" if workload is EXPONENTIAL else "feitelson1996",
                        f"{load:g}",
                        batches,
                        "no" if known else "yes",
                        f"{100 * np.mean([run.suspected for run in runs]):.1f}",
                        *(f"{100 * share:.1f}" for share in shares),
                    ]
                )
                if known:
                    least = min(least, *shares[1:])
                else:
                    most = max(most, *shares)
    columns = ["policy", "workload", "load", "batches", "stable", "suspected %"]
    columns += [f"called saturated %, {n} replications" for n in REPLICATIONS]
    return Findings(
        tables=[Table("Points called saturated", columns, rows)],
        targets=[
            Target("stable points called saturated, at most", most, 0.01, ""),
            Target("unstable points called saturated, 5 and 20 replications", least, 0.95, "", at_least=True),
        ],
    )


def _backlog(given: tuple[Mapping[str, Any], Mapping[str, Any], int, float, int, int]) -> Backlog:
    policy, workload, processors, load, batches, seed = given
    where = choices.folders()
    point = Point(
        choices.policy(dict(policy), where),
        choices.workload(dict(workload), where),
        choices.machine(processors, where),
        load,
        Batches(SIZE, 1, (batches,)),
        (1, seed),
    )
    found = families.find(str(point.policy["family"])).simulate(point)
    assert found.backlog is not None
    return found.backlog


def _called_saturated(runs: list[Backlog], replications: int) -> float:
    """Return the share of points called saturated, their replications drawn without putting back."""
    rng = np.random.default_rng(1)
    if len(runs) < replications:
        return float("nan")
    points = (rng.choice(len(runs), replications, replace=False) for _ in range(DRAWN))
    return float(np.mean([statistics.judge([runs[i] for i in chosen]).saturated for chosen in points]))
