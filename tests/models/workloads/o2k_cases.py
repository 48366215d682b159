"""Months, their jobs and the machine for the tests of the generated workload of the Origin 2000."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Point
from models.workloads import o2k

CONF = Path(__file__).parents[3] / "conf"
SEEDS = ((1, 7, 0), (1, 7, 1), (2, 11, 0))


def read(path: str, **keys: Any) -> dict[str, Any]:
    """Return a YAML file of conf/ as the sweep gives it to a model, with some keys set."""
    plain = OmegaConf.to_container(OmegaConf.merge(OmegaConf.load(CONF / path), keys))
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()} | {"name": Path(path).stem}


def workload(month: str, **keys: Any) -> dict[str, Any]:
    return read("workload/_o2k.yaml", month=month, **keys)


MACHINE = read("machine/o2k.yaml")


def open_month(
    workload: dict[str, Any], machine: dict[str, Any], load: float | None, seed: tuple[int, ...]
) -> Trace:
    return o2k.open_trace(Point({}, workload, machine, load, seed=seed))


@cache
def month_of_jobs(month: str, seed: tuple[int, ...]) -> Jobs:
    """Return the jobs submitted in a month."""
    source = open_month(workload(month), MACHINE, None, seed)
    return source.jobs.part(source.measured)
