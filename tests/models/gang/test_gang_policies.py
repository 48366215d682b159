"""The keys of a packing policy, and the messages for values that are not allowed."""

from dataclasses import replace
from typing import Any

import numba
import pytest
from family_cases import refused
from gang_cases import POLICIES, WORKLOAD

from models.gang import FAMILY
from models.kernels.bits import take_from_left
from models.packing.scheme import Scheme
from models.packing.schemes.capacity import first_fit
from models.point import Batches, Point

MACHINE = {"name": "pe32", "processors": 32}


def point(policy: dict[str, Any], machine: dict[str, Any] = MACHINE) -> Point:
    return Point(POLICIES["first_fit"] | policy, WORKLOAD, machine, 0.7, Batches(100, 1, (3,)), (1,))


def bits(policy: dict[str, Any]) -> dict[str, bytes]:
    outcome = FAMILY.simulate(point(policy))
    return {name: values.tobytes() for name, values in outcome.metrics.items()}


@numba.njit
def plain_first_fit(size, n_pes, n_slots, matrix, books, scratch, chosen):  # type: ignore[no-untyped-def]
    """As one would write it in a notebook cell: compiled, for no types yet."""
    slot = 0
    while slot < n_slots and matrix.free[slot] < size:
        slot += 1
    take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    return slot


@numba.njit
def one_too_few(size, n_pes, n_slots, matrix, books, scratch):  # type: ignore[no-untyped-def]
    return 0


def not_compiled(size, n_pes, n_slots, matrix, books, scratch, chosen):  # type: ignore[no-untyped-def]
    return 0


MY_SCHEME = Scheme(first_fit, parameters={"threshold": int})


@pytest.mark.parametrize(
    "scheme",
    [plain_first_fit, "models.packing.schemes.capacity.first_fit", f"{__name__}.MY_SCHEME"],
    ids=["cell", "dotted", "dotted scheme"],
)
def test_a_scheme_may_be_a_name_or_the_thing_itself(scheme: Any) -> None:
    assert bits({"scheme": scheme}) == bits({"scheme": "first_fit"})
    assert FAMILY.check(point({"scheme": scheme})) == FAMILY.check(point({}))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            {"scheme": "no.such.module"},
            r"policy.scheme=no.such.module, which cannot be imported \(No module named 'no'; modules=FOLDER",
        ),
        ({"scheme": not_compiled}, "policy.scheme=not_compiled, which is not compiled; allowed: a function"),
        ({"scheme": one_too_few}, "policy.scheme=one_too_few, which takes or returns something else;"),
        ({"slice": 5, "switch_cost": 5}, "policy.switch_cost=5 s is not shorter than policy.slice=5 s: no"),
        ({"switch_cost": 1}, "policy.switch_cost=1 and policy.slice=null: .*add policy.slice=SECONDS"),
        ({"memory": True}, "processors is unknown; add machine.memory_gb_per_processor=NUMBER"),
        ({"slots_limit": 2, "queue": "backfill"}, "reads it; add workload.estimates=tsafrir2005"),
    ],
)
def test_bad_values_get_one_line(policy: dict[str, Any], message: str) -> None:
    with refused(message):
        FAMILY.check(point(policy))


def test_memory_is_asked_of_a_workload_that_has_none() -> None:
    message = (
        "policy.memory=true, and the jobs of workload feitelson1996 ask for no memory; add "
        r"workload.memory=MB \(for each processor of a job\), or policy.memory=false"
    )
    with refused(message):
        FAMILY.check(point({"memory": True}, MACHINE | {"memory_gb_per_processor": 1}))


def test_what_never_matters_is_not_asked_for() -> None:
    """A queue in which no job waits needs no requests, a slice without a cost no switch."""
    assert bits({"queue": "backfill", "slice": 10.0, "slots_limit": None}) == bits({})


def test_buddy_refuses_a_machine_that_cannot_be_halved() -> None:
    with pytest.raises(ValueError, match="96 is not a power of two; use 64 or 128 PEs"):
        FAMILY.check(point({"scheme": "buddy"}, {"name": "pe96", "processors": 96}))


def test_a_schedule_of_a_full_system_is_refused_in_one_line() -> None:
    full = replace(point({"job_limit": 20, "alternation": "none"}), load=3.0)
    with pytest.raises(
        ValueError, match=r"first_fit, feitelson1996, pe32, load 3: more than policy"
    ) as refused:
        FAMILY.schedule(full)
    assert "\n" not in str(refused.value)
