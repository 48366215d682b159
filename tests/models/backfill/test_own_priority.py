"""A user's own order of priority: a compiled function, or its dotted name."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from backfill_cases import by_twin, cases, rules
from family_cases import composed, refused
from hypothesis import given, settings
from numba import njit

from models.backfill import FAMILY
from models.backfill.engine import schedule
from models.backfill.priority.order import KB_IN_MEMORY_UNIT, PRIORITY_SIGNATURE
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.kernels.compiling import kernel
from models.point import Batches, Point
from sweep import cli

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"

steady = settings(max_examples=8)


@kernel(PRIORITY_SIGNATURE)
def by_all_measures(waited, requested, processors, memory, bypassed):
    """Every argument counts, and nothing is linear."""
    expansion = (waited + requested) / requested
    return math.sqrt(expansion) * (processors + memory / KB_IN_MEMORY_UNIT) + 2.5 * bypassed


@njit
def shortest_first(waited, requested, processors, memory, bypassed):
    """Compiled without a signature, as in a cell of a notebook."""
    return 1.0 / requested


@njit("float64(float64, float64, float64, float64, float64)")
def shortest_of_numbers(waited, requested, processors, memory, bypassed):
    """Declared by the user for numbers of one kind."""
    return 1.0 / requested


@njit
def whole_numbers(waited, requested, processors, memory, bypassed):
    return processors


@njit("float64(float64, float64, int32, int32, int32)")
def of_short_numbers(waited, requested, processors, memory, bypassed):
    return 1.0 / requested


@njit
def of_two_arguments(waited, requested):
    return waited


def in_plain_python(waited: float, requested: float, processors: int, memory: int, bypassed: int) -> float:
    return 0.0


@given(case=cases())
@steady
def test_a_function_of_ones_own_against_the_twin(case: tuple[Jobs, Machine]) -> None:
    for keys in ({}, {"reservations": 2}, {"keep_start": True}):
        how = rules("easy", priority=by_all_measures, **keys)
        made, (expected, _) = schedule(*case, how), by_twin(*case, how)
        np.testing.assert_array_equal(made.start, expected.start)
        np.testing.assert_array_equal(made.host, expected.host)


@given(case=cases())
@steady
def test_the_weights_as_a_function_make_the_same_schedule(case: tuple[Jobs, Machine]) -> None:
    for mine in (shortest_first, shortest_of_numbers, "shortest_first"):
        built_in = rules("sjf_backfill")
        own = rules("easy", priority=mine, keep_start=True)
        np.testing.assert_array_equal(schedule(*case, own).start, schedule(*case, built_in).start)


def test_by_its_dotted_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a module of the user's, on the command line; the same bits as with the function itself."""
    (tmp_path / "my_orders.py").write_text(
        "import numba\n\n\n"
        "@numba.njit('float64(float64, float64, int64, int64, int64)')\n"
        "def narrow_first(waited, requested, processors, memory, bypassed):\n"
        "    return -float(processors)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    results = tmp_path / "results"
    arguments = [
        "+experiment=replay", f"workload.path={LOG}", "grid.policy=[easy]", "grid.ties=[instant]",
        "policy.priority=my_orders.narrow_first", "executor=serial", f"output={results}",
    ]  # fmt: skip
    assert cli.main(arguments) == 0
    from my_orders import narrow_first  # type: ignore[import-not-found]
    from netCDF4 import Dataset

    workload = {"name": "log", "model": "swf", "path": str(LOG), "oversized": "drop"}
    policy = composed("policy", "easy", priority=narrow_first)
    point = Point(policy, workload, {"processors": None}, None, Batches(None, 0, (1,)))
    with Dataset(results / "replay.nc") as stored:
        assert float(stored["wait_mean"][...].flat[0]) == FAMILY.simulate(point).metrics["wait"][0]


@pytest.mark.parametrize(
    ("priority", "words"),
    [
        ("largest", "policy.priority=largest; allowed: null, wfp3, unicef, f1, f2, f3, f4, smallest_area_f"),
        (
            "no.such.module",
            "policy.priority=no.such.module, which cannot be imported (No module named 'no'; modules=FOLDER",
        ),
        ("math.sqrt", "policy.priority=math.sqrt, which is not compiled; allowed: a function compiled as @"),
        (in_plain_python, "policy.priority=in_plain_python, which is not compiled; allowed: a function"),
        (7, "policy.priority=7, which is not compiled; allowed: a function compiled as"),
        (of_two_arguments, "policy.priority=of_two_arguments, which takes or returns something else"),
        (whole_numbers, "policy.priority=whole_numbers, which takes or returns something else"),
        (of_short_numbers, "policy.priority=of_short_numbers, which takes or returns something else"),
    ],
)
def test_what_is_no_order_of_priority(priority: object, words: str) -> None:
    with refused(re.escape(words)):
        rules("easy", priority=priority)
