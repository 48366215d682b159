"""Laws of every workload without end: cuts change nothing, and options fill missing columns."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from family_cases import WORKLOADS, composed, workload_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models import workloads
from models.jobs.jobs import Jobs
from models.jobs.stream import Stream, joined
from models.point import Batches, Point

HOSTS = composed(
    "machine",
    "log",
    hosts=[
        {"name": "small", "processors": 16, "memory_gb": 1},
        {"name": "large", "processors": 64, "memory_gb": 8},
    ],
)
POOL = composed("machine", "log", processors=64)
VARIANTS: dict[str, dict[str, Any]] = {
    "feitelson1996 as one more arrival": {"repetition": "sequence", "load_reference": "sequence"},
    "feitelson1996 with runtimes as before": {"rerun_runtime": "same", "load_reference": "expected"},
    "jann1997_nasa": {"sizes_in_range": "uniform", "machine_sizes": "capped"},
    "short_long of two sizes": {"size": {"short": 4, "long": 32}},
}
"""Cases in addition to `family_cases`."""


def read(name: str, **keys: Any) -> dict[str, Any]:
    return workload_of(name) | VARIANTS.get(name, {}) | keys


STREAMS = [
    name
    for name in (*WORKLOADS, *VARIANTS)
    if read(name)["model"] in workloads.MODELS and name != "short_long"
    if hasattr(workloads.module_of(read(name)), "open_stream")
]
OPTIONS: dict[str, dict[str, Any]] = {
    "none": {"estimates": None, "memory": None},
    "exact": {"estimates": "exact"},
    "tsafrir2005": {"estimates": "tsafrir2005", "longest_request": 172_800, "estimated_together": 700},
    "memory": {"estimates": None, "memory": 20},
}
every_option = pytest.mark.parametrize(
    ("name", "option"),
    [
        pytest.param(name, option, marks=() if (at + number) % len(OPTIONS) < 2 else pytest.mark.exhaustive)
        for at, name in enumerate(STREAMS)
        for number, option in enumerate(OPTIONS)
    ],
)


def stream_of(name: str, option: str = "none", *seed: int, load: float | None = 0.8) -> Stream:
    workload = read(name, **OPTIONS[option])
    batches = Batches(size=100, warmup=1, checkpoints=(5, 10))
    machine = POOL if name.startswith("short_long") else HOSTS  # its cycles belong to one mesh
    return workloads.open_workload(Point({}, workload, machine, load, batches, seed or (1, 2)))


def columns(jobs: Jobs) -> Iterator[tuple[str, np.ndarray]]:
    for name in jobs.__dataclass_fields__:
        if (values := getattr(jobs, name)) is not None:
            yield name, values


def same(jobs: Jobs, others: Jobs) -> None:
    for (name, values), (_, others_values) in zip(columns(jobs), columns(others), strict=True):
        np.testing.assert_array_equal(values, others_values, err_msg=name)


@every_option
@settings(max_examples=8)
@given(data=st.data())
def test_the_first_jobs_of_a_longer_stream_are_those_of_a_shorter_one(
    name: str, option: str, data: st.DataObject
) -> None:
    stream = stream_of(name, option)
    short, long = sorted(data.draw(st.tuples(*[st.integers(1, 5000)] * 2)))
    same(stream.first(short), stream.first(long).part(slice(short)))


@every_option
def test_chunks_are_the_stream_however_it_is_cut(
    name: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stream_of(name, option).first(1000)
    monkeypatch.setattr("models.workloads.feitelson1996.CHUNK", 37)
    monkeypatch.setattr("models.workloads.feitelson1996.KEPT_JOBS", 0)
    monkeypatch.setattr("models.jobs.stream.FIRST_CHUNK", 53)
    same(joined(stream_of(name, option).chunks(), 1000), whole)


@every_option
def test_the_columns_it_fills_are_there(name: str, option: str) -> None:
    workload = read(name, **OPTIONS[option])
    stream = stream_of(name, option)
    jobs = stream.first(2000)
    there = {
        "requested": not np.isnan(jobs.requested).any(),
        "memory": (jobs.memory > 0).any(),
        "user": jobs.user is not None,
        "repetition": jobs.repeats,
    }
    assert workloads.fills(workload) == tuple(column for column, filled in there.items() if filled)
    assert workloads.is_stochastic(workload)
    assert stream.machine.takes(jobs.size, jobs.memory).all()
    if option == "exact":
        np.testing.assert_array_equal(jobs.requested, jobs.runtime)


@pytest.mark.parametrize(
    ("name", "n_jobs"),
    # Repetitions make the work of feitelson1996 heavy-tailed: its load is the load of the jobs that are run.
    [
        ("feitelson1996 as one more arrival", 1100),
        ("lublin2003", 40_000),
        ("jann1997", 40_000),
        ("synthetic", 40_000),
    ],
)
@pytest.mark.parametrize("load", [0.4, 1.1])
def test_the_load_is_that_of_all_hosts_together(name: str, n_jobs: int, load: float) -> None:
    jobs = stream_of(name, load=load).first(n_jobs)
    assert jobs.size @ jobs.runtime / (80 * jobs.submit[-1]) == pytest.approx(load, rel=0.1)


def test_memory_beyond_all_hosts_is_cut_with_a_note() -> None:
    stream = stream_of("lublin2003", "memory")
    assert stream.notes[-1] == "lublin2003: jobs without a memory request take 20 MB for each processor"
    workload = read("lublin2003", memory=100)
    stream = workloads.open_workload(Point({}, workload, HOSTS, 0.8))
    assert stream.notes[-1] == (
        "lublin2003: jobs without a memory request take 100 MB for each processor, jobs of 11 processors "
        "or more at most what the smallest host that has their processors offers"
    )
    jobs = stream.first(500)
    kilobytes = np.where(jobs.size <= 16, 2**20, 8 * 2**20)
    np.testing.assert_array_equal(jobs.memory, np.minimum(jobs.size * 100 * 1024, kilobytes))


def test_a_stream_that_depends_on_the_length_of_a_run_differs_between_lengths():
    """By ``load_reference=sequence`` the gaps give this number of jobs the load."""
    workload = read("feitelson1996", load_reference="sequence")
    lengths = [Batches(n, 0, (1,)) for n in (200, 3000)]
    short, long, again = (
        workloads.open_workload(Point({}, workload, POOL, 0.5, batches)).first(5).submit[-1]
        for batches in (*lengths, lengths[0])
    )
    assert short == again != long
