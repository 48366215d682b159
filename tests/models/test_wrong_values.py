"""A value of a wrong kind or out of bounds for a key of ``conf`` is refused in a line that names the key."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, reduce
from operator import getitem
from typing import Any

import pytest
from family_cases import Case, every_case

from models.packing.scheme import SCHEMES
from models.point import Point
from sweep.plan import families

WRONG = {"no": "such value"}

NOT_READ = {
    "policy": {"name", "family"},
    "workload": {
        "name", "fit", "few_jobs", "least_jobs", "ranges", "under_a_minute",
    },
    "machine": {"name"},
}  # fmt: skip
"""Part of a point -> names, and keys that matter only with other values than the cases have."""

SIGNED = {"priority", "run_length_order", "size_order"}
"""Keys whose numbers may be negative: priorities of classes, and powers."""

OF_SCHEMES = {key for scheme in SCHEMES.values() for key in scheme.parameters}
"""Keys of a policy that belong to one packing scheme."""


@cache
def taken() -> list[Case]:
    """Return a case of each policy's file and of each workload's."""
    found: dict[tuple[str, ...], Case] = {}
    for case in every_case():
        for file in ((case.package, case.policy), (case.workload,)):
            if file not in found and case.taken()[0] is not None:
                found[file] = case
    return list(dict.fromkeys(found.values()))


def keys_of(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths to all keys of a mapping, and of those within."""
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from keys_of(inner, (*path, key))


def changed(given: Any, path: tuple[str, ...], value: Any) -> Any:
    return {**given, path[0]: changed(given[path[0]], path[1:], value)} if path else value


def refusal(case: Case, changed_point: Point) -> str:
    """Return why a family refuses a point; nothing, if it does not."""
    try:
        families.check(case.family, changed_point)
    except ValueError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("part", NOT_READ)
def test_a_wrong_value_is_refused_in_one_line(part: str) -> None:
    read: dict[tuple[str, ...], bool] = {}
    for case in taken():
        point, _ = case.taken()
        for path in keys_of(getattr(point, part)):
            if path[0] in NOT_READ[part]:
                continue
            line = refusal(case, replace(point, **{part: changed(getattr(point, part), path, WRONG)}))
            if line:
                assert "\n" not in line
                assert path[-1] in line, (path, line)
            read[path] = read.get(path, False) or bool(line)
    assert [path for path, is_read in read.items() if not is_read] == []


@pytest.mark.parametrize("value", [-7, -1e300, 1e300, 10**400, float("inf"), float("nan")])
@pytest.mark.parametrize("part", NOT_READ)
def test_a_number_out_of_bounds_is_refused_in_one_line(part: str, value: float) -> None:
    """All numbers have both bounds: what a simulation steps by, allocates by or loops over has an end."""
    refused: dict[tuple[str, ...], bool] = {}
    for case in taken():
        point, _ = case.taken()
        for path in keys_of(given := getattr(point, part)):
            number = type(reduce(getitem, path, given)) in (int, float)
            free = NOT_READ[part] | (SIGNED if value == -7 else set())
            if not number or refused.get(path) or path[0] in free:
                continue
            line = refusal(case, replace(point, **{part: changed(given, path, value)}))
            assert "\n" not in line
            named = line.lower().replace("_", "")  # PriorityWeightAge is the key weight_age
            assert not line or any(key.replace("_", "") in named for key in path), (path, line)
            refused[path] = bool(line)
    assert [path for path, is_refused in refused.items() if not is_refused] == []


def without(given: Any, path: tuple[str, ...]) -> Any:
    key, *rest = path
    if rest:
        return {**given, key: without(given[key], tuple(rest))}
    return {name: value for name, value in given.items() if name != key}


def test_each_key_of_a_policys_file_is_declared_by_its_family_without_a_default() -> None:
    """One that is missing is refused by its name; a key that no file has would leave a policy no case."""
    policies = {case.policy for case in taken()}
    assert policies >= {case.policy for case in every_case()}
    for case in taken():
        point, _ = case.taken()
        for path in keys_of(point.policy):
            if path[-1] in OF_SCHEMES or path[0] in NOT_READ["policy"] or "system_limits" in path[:-1]:
                continue
            line = refusal(case, replace(point, policy=without(point.policy, path)))
            assert path[-1] in line, (str(case), path, line)
            assert "\n" not in line
