"""What fixed slices refuse, in one line that names the key."""

from typing import Any

import pytest
from family_cases import composed, refused

from models.point import Point
from models.production_gang import FAMILY

TOO_LARGE = {"submit": [0.0], "runtime": [10.0], "processors": [75]}


@pytest.mark.parametrize(
    ("policy", "machine", "keys", "message"),
    [
        ("tc2000", "tc2000", {"policy": {"switch": 10}}, "policy.switch=10; .* than policy.slice=10"),
        ("tc2000", "alpha", {}, "machine alpha has 8 hosts, and policy tc2000_gang "),
        ("alpha", "alpha", {"policy": {"reserved": 8}}, "policy.reserved=8 leaves gangs no CPU of alpha7"),
        ("alpha", "alpha", {"policy": {"gang_from": 13}}, "policy.gang_from=13: .* allowed: 1 to 12"),
        (
            "alpha", "alpha", {"workload": {"phases": [{"share": 0.5, "processors": 1}]}},
            "workload.phases=.* add up to 1",
        ),
        (
            "alpha", "alpha", {"workload": {"jobs": TOO_LARGE}, "policy": {"oversized": "error"}},
            "job 1 asks for 75 processors, but gangs may have 72",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(
    policy: str, machine: str, keys: dict[str, Any], message: str
) -> None:
    workload = "arrays" if "jobs" in keys.get("workload", {}) else "lublin2003"
    names = {"policy": f"{policy}_gang", "workload": workload, "machine": machine}
    parts = [composed(*name) for name in names.items()]
    parts = [part | keys.get(group, {}) for part, group in zip(parts, names, strict=True)]
    with refused(message):
        FAMILY.check(Point(*parts))
