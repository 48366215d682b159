"""Only the kernels that a point needs are compiled, and those are all that it needs."""

import subprocess
import sys
from dataclasses import replace

import pytest

from models import backfill, gang, slurm
from models.point import Batches
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand


def points(*policies, workload="feitelson1996", machine="pe128", **more):
    """Return a point of each policy; all are composed as one study, as each composition takes a while."""
    named = [f"policy.{key}={value}" for key, value in more.items()]
    overrides = (
        "+experiment=compare",
        f"grid.policy=[{','.join(policies)}]",
        f"workload={workload}",
        f"grid.machine=[{machine}]",
        "workload.estimates=exact",
        "grid.load=[0.5]",
        "replications=1",
        *named,
    )
    study = expand(compose.load(parsed(overrides), locate.conf_folder()))
    asked = [study.task(number).point for number in range(len(policies))]
    assert [one.policy["name"] for one in asked] == list(policies)
    return [replace(one, batches=Batches(50, 1, (2,))) for one in asked]


def test_a_gang_needs_its_scheme_and_a_queue_only_with_a_bound():
    """The queue before the matrix takes as long to compile as the engine, and most studies have none."""
    first_fit, buddy = points("first_fit", "buddy")
    plain = gang.FAMILY.needed([first_fit])
    assert plain[0] == "models.gang.model"
    assert [module for module in plain if "schemes" in module] == ["models.packing.schemes.capacity"]
    bounded = gang.FAMILY.needed(points("first_fit", slots_limit=3))
    assert set(bounded) == {*plain, "models.gang.admission"}
    several = gang.FAMILY.needed([first_fit, buddy])
    assert set(several) == {*plain, "models.packing.schemes.buddy"}


@pytest.mark.parametrize(
    ("family", "policy", "more"),
    [
        (gang.FAMILY, "migration", {"slots_limit": 2, "queue": "backfill"}),
        pytest.param(
            backfill.FAMILY, "conservative", {"workload": "lublin2003"}, marks=pytest.mark.exhaustive
        ),
    ],
)
def test_what_a_point_needs_is_all_that_it_loads(family, policy, more):
    """A process that has loaded it makes, and loads from the cache, no further kernel of the project."""
    (asked,) = points(policy, **more)
    code = f"""
from importlib import import_module
import numpy
from models.point import Batches, Point
family = import_module({family.package!r}).FAMILY
point = {asked!r}
for module in family.needed([point]):
    import_module(module)
from numba.core.dispatcher import Dispatcher
def compiled():
    import gc
    found = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return {{f"{{one.py_func.__module__}}.{{one.py_func.__qualname__}} {{types}}"
            for one in found if one.py_func.__module__.startswith("models.") for types in one.overloads}}
before = compiled()
assert before
assert family.simulate(point).jobs >= 100
print(sorted(compiled() - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_nodes_that_are_powered_down_need_a_kernel_of_their_own():
    (plain,) = points("slurm")
    lines = ["SuspendProgram=/off", "ResumeProgram=/on", "SuspendTime=60"]
    saving = replace(plain, policy={**plain.policy, "lines": lines})
    needed = [set(slurm.FAMILY.needed([point])) for point in (plain, saving)]
    assert needed[1] - needed[0] == {"models.slurm.kernel.powering"}
