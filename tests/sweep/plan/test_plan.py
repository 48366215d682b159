"""Points, tasks and their identities."""

import hashlib
import itertools
import json

import pytest
from fake_family import FAMILY
from hypothesis import given, settings
from hypothesis import strategies as st

from models import streams
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.errors import SweepError
from sweep.plan import checks, expansion, families, identity, variants
from sweep.store import manifest


def points(plan):
    """Return the points of a plan as tuples of axis values."""
    step = plan.replications
    return [tuple(plan.task(number).at.values()) for number in range(0, len(plan.ids), step)]


def test_points_are_the_product_without_what_is_excluded(expand):
    plan = expand()
    everything = itertools.product(*plan.axes.values())
    expected = [point for point in everything if not (point[4] == "none" and point[5] is False)]
    assert points(plan) == expected
    assert len(plan.ids) == len(expected) * 2


def test_zip_ties_axes(expand):
    plan = expand("zip=[[policy, load]]", "exclude=[]")
    assert {(point[0], point[2]) for point in points(plan)} == {("quick", 0.3), ("slow", 0.6)}
    plan = expand("zip=[[policy, load, preemption]]", "exclude=[]", "grid.preemption=[none,resume]")
    tied = {(point[0], point[2], point[4]) for point in points(plan)}
    assert tied == {("quick", 0.3, "none"), ("slow", 0.6, "resume")}


def test_a_set_key_reaches_every_file_that_has_it(expand, tmp_path):
    log = tmp_path / "a log.swf"
    log.write_text("; jobs")
    plan = expand(
        "grid.workload=[poisson,log]", f"workload.path={log}", "workload.filter.user=7", "machine.speed=2"
    )
    poisson, log_variant = plan.variants["workload"]
    assert "path" not in poisson.parameters
    assert log_variant.parameters["path"] == str(log)
    assert log_variant.parameters["filter"] == {"user": 7, "partition": None}
    assert plan.task(0).point.machine["speed"] == 2


def test_a_set_key_pins_the_axis_that_sets_it(expand):
    plan = expand("policy.preemption=resume")
    assert plan.axes["preemption"] == ("resume",)
    assert {plan.task(number).point.policy["preemption"] for number in range(len(plan.ids))} == {"resume"}


def test_identity_is_the_hash_of_canonical_json(expand):
    plan = expand("policy=slow", "grid.load=0.3")
    task = plan.task(1)
    content = {
        "family": "fake_family",
        "load": 0.3,
        "machine": task.point.machine,
        "policy": task.point.policy,
        "replication": 1,
        "seed": 1,
        "statistics": {"batch_size": 50, "checkpoints": [6], "stopping": None, "warmup": 1},
        "workload": task.point.workload,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    asked = hashlib.sha256(text.encode()).hexdigest()[: identity.ASKED]
    code = json.dumps([FAMILY.version, plan.sources], sort_keys=True, separators=(",", ":"))
    assert plan.sources.keys() == {"fake_family"}
    assert task.id == asked + hashlib.sha256(code.encode()).hexdigest()[:6]


@pytest.mark.parametrize("overrides", [("executor=serial",), ("output=elsewhere",), ("confidence=0.9",)])
def test_what_does_not_change_results_does_not_change_identity(expand, overrides):
    assert expand(*overrides).ids == expand().ids


@pytest.mark.parametrize(
    "overrides",
    [
        ("seed=2",),
        ("batches=7",),
        ("batch_size=51",),
        ("warmup=2",),
        ("policy.seconds=1",),
        ("machine.speed=3",),
        ("workload.note=hello",),
        ("precision.relative=0.1",),
    ],
)
def test_what_changes_results_changes_every_identity(expand, overrides):
    assert not set(expand(*overrides).ids) & set(expand().ids)


def test_a_log_is_its_content_not_its_place(expand, tmp_path):
    for name, text in [("a", "1 2 3"), ("b", "1 2 3"), ("c", "1 2 4")]:
        (tmp_path / name).write_text(text)
    ids = [expand("workload=log", f"workload.path={tmp_path / name}").ids for name in "abc"]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


def test_all_policies_and_loads_share_their_jobs(expand):
    plan = expand()
    seeds = {plan.task(number).point.seed for number in range(len(plan.ids))}
    assert seeds == {(1, streams.key("poisson"), replication) for replication in (0, 1)}


@pytest.fixture(scope="module")
def base():
    """Return a manifest to compare with others."""
    axes = {"axes": {"preemption": "policy.preemption"}, "values": {}}
    return {
        "settings": {"name": "queue", "seed": 1, "precision": {"relative": None}, **axes},
        "policy": {"quick": {"work": 1, "preemption": "none", "deep": {"a": 1}}},
        "workload": {},
        "machine": {},
    }


@given(st.sampled_from(["work", "deep.a"]), st.integers(2, 9))
@settings(max_examples=20)
def test_a_manifest_names_what_differs(base, key, value):
    other = json.loads(json.dumps(base))
    target = other["policy"]["quick"]
    *parents, last = key.split(".")
    for parent in parents:
        target = target[parent]
    target[last] = value
    assert list(manifest.differences(base, other)) == [f"policy.{key}: 1 -> {value} (policy quick)"]
    other["policy"]["quick"] = {**base["policy"]["quick"], "preemption": value}
    assert list(manifest.differences(base, other)) == [], "the key of an axis has several values on purpose"


def test_measures_travel_with_the_task_and_name_it_where_they_are_set(expand):
    plain = expand()
    assert plain.task(0).point.measures == {"bound": 10.0, "groups": {}}
    assert expand("measures.bound=10").ids == plain.ids
    plan = expand("measures.bound=60", "measures.groups=size")
    measures = plan.task(0).point.measures
    assert measures["bound"] == 60
    assert measures["groups"]["size"]["edges"] == [2, 5, 17, 65, 257, 1025]
    assert not set(plan.ids) & set(plain.ids)
    assert expand("measures={bound: 60, groups: [size]}").ids == plan.ids
    there, here = manifest.describe(plain), manifest.describe(plan)
    expected = ["measures.bound: 10.0 -> 60.0"]
    assert list(manifest.differences(there, manifest.describe(expand("measures.bound=60")))) == expected
    assert len(list(manifest.differences(here, there))) == 2


def of_compare(*overrides, policy="easy", workload="lublin2003"):
    """Expand a study of a family that has overload runs."""
    grid = (f"grid.policy=[{policy}]", f"grid.workload=[{workload}]", "grid.load=[0.5]")
    axes = (*grid, "workload.estimates=exact")
    asked = parsed(("+experiment=compare", *axes, *overrides))
    return expansion.expand(compose.load(asked, locate.conf_folder()))


def test_overload_runs_measure_what_is_delivered_and_nothing_else():
    plain, grouped = of_compare(), of_compare("measures={bound: 60, groups: [size]}")
    assert grouped.overload.ids == plain.overload.ids
    assert not set(grouped.ids[: grouped.n_cells]) & set(plain.ids)


def test_each_load_and_each_system_of_a_large_grid_is_checked(expand, monkeypatch):
    seen = set()
    monkeypatch.setattr(checks, "MANY_CHECKS", 1)
    monkeypatch.setattr(
        families, "check", lambda _, point: seen.add((point.policy["name"], point.load)) or ()
    )
    checks.notes(expand())
    policies, loads = zip(*seen, strict=True)
    assert (set(policies), set(loads)) == ({"quick", "slow"}, {0.3, 0.6})


def test_a_log_that_is_not_there_names_the_variable_that_gives_its_folder():
    file = {"model": "swf", "path": "${oc.env:FOLDER_OF_LOGS,no/such}/log.swf"}
    with pytest.raises(SweepError, match=r"workload mine: .*log\.swf: .*set the variable FOLDER_OF_LOGS to"):
        variants.build("workload", {"mine": file}, {}, [])
    with pytest.raises(SweepError) as without:
        variants.build("workload", {"mine": {"path": "no/such.swf"}}, {}, [])
    assert "variable" not in str(without.value)


def test_values_of_an_axis_have_names(expand):
    """The grid and the dataset have the names, models and identities the values."""
    plain = expand("exclude=[]")
    named = expand(
        "exclude=[]", "values.preemption={at once: resume, never: none}", "grid.preemption=[at once]"
    )
    assert named.axes["preemption"] == ("at once",)
    assert {named.task(n).point.policy["preemption"] for n in range(len(named.ids))} == {"resume"}
    assert set(named.ids) < set(plain.ids), "a name changes no result"


def test_a_named_value_may_be_a_list_or_have_keys_of_its_own():
    files = {"log": {"exclude": None, "emphasis": {"squares": 10, "full": 100}, "path2": None}}
    mild, jobs = {"squares": 1}, [{"user": 3}]
    axes = [
        variants.KeyAxis("emphasis", "emphasis", (mild, {"squares": 10})),
        variants.KeyAxis("left_out", "exclude", (None, jobs)),
    ]
    found = [one.parameters for one in variants.build("workload", files, {}, axes)]
    assert [one["emphasis"] for one in found] == [{"squares": n, "full": 100} for n in (1, 1, 10, 10)]
    assert [one["exclude"] for one in found] == [None, jobs, None, jobs]
    with pytest.raises(SweepError, match=r"unknown key of workload log 'emphasis\.cubes'"):
        variants.build("workload", files, {}, [variants.KeyAxis("e", "emphasis", ({"cubes": 1},))])


def test_values_of_an_axis_may_set_keys_of_several_groups(expand):
    plan = expand(
        "exclude=[]",
        "+axes.assumption='*'",
        "values.assumption={default: {}, note: {workload: {note: a/b}}, both: {workload: {note: a/b}, "
        "policy: {preemption: none}}}",
        "grid.preemption=[resume]",
    )
    assert plan.axes["assumption"] == ("default", "note", "both")
    found = {}
    for number in range(len(plan.ids)):
        task = plan.task(number)
        found[task.at["assumption"]] = task.point.policy["preemption"], task.point.workload["note"]
    default = plan.task(0).point.workload["note"]
    assert found == {"default": ("resume", default), "note": ("resume", "a/b"), "both": ("none", "a/b")}


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        (["backfill", "gang"], "response_time"),
        (["gang", "backfill"], "response_time"),
        (["backfill", "o2k_workload"], "wait"),
    ],
)
def test_families_are_told_by_what_means_the_same_under_all(packages, expected):
    """Under time slicing every job starts at once: by the wait any such policy would be the best."""
    assert families.headline(families.find(f"models.{name}") for name in packages) == expected


@pytest.mark.parametrize(("policy", "workload"), [("easy", "lublin2003"), ("first_fit", "feitelson1996")])
def test_no_replication_repeats_the_jobs_of_another(policy, workload):
    """In the data: equal streams would make intervals narrow that are of copies."""
    n = 40
    lengths = (f"replications={n}", "batches=1", "batch_size=20", "warmup=0")
    study = of_compare(*lengths, policy=policy, workload=workload)
    tasks = [study.task(number) for number in range(n)]
    family = families.find(tasks[0].family)
    runs = [family.simulate(task.point).metrics["response_time"].tobytes() for task in tasks]
    assert len(set(runs)) == n
