"""The identity of each task.

A task's identity has two parts: a hash of the canonical JSON of its scientific config, and a hash of its code
(`sweep.plan.sources`) with the family's version. So a result of earlier code is recognised: its first part
matches a task, its second part does not. Points share most of the text, which is joined from fragments made
once for each policy, workload, machine and load: 100,000 tasks take about a second. Two points that mean the
same simulation (an axis sets a key that a policy lacks) have the same identity, and it is run once.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from models.family import Family
from sweep.config import canonical
from sweep.config.settings import GROUPS, at_load
from sweep.plan import sources
from sweep.plan.data import MEASURES, Plan
from sweep.plan.task import Task

LENGTH = 20
"""Hexadecimal digits of an identity."""

ASKED = 14
"""How many digits hash the config; the others hash the code. With 56 bits, two of a million tasks
coincide with probability 1e-5. The code part only has to distinguish the versions of one task: 24 bits
suffice."""


def _content(plan: Plan, load: float | None) -> Mapping[str, Any]:
    """Return the part of a task's identity that all tasks at a load share."""
    settings = plan.settings
    precision = settings.precision
    stopping = None
    if precision.relative is not None:
        # Only then does the confidence level determine where a run ends.
        stopping = {
            "relative": precision.relative,
            "metric": precision.metric,
            "confidence": settings.confidence,
        }
    return {
        "batch_size": settings.batch_size,
        "checkpoints": list(settings.checkpoints(load)),
        "stopping": stopping,
        "warmup": at_load(settings.warmup, load),
        **({"overloaded": True} if plan.measurements[0].overloaded else {}),
        **({} if plan.measures == MEASURES else {"measures": plan.measures}),
    }


def ids(plan: Plan) -> Iterator[str]:
    """Yield the identity of each task: keys in sorted order, so that the joined text is canonical JSON."""
    shared = [canonical.text(_content(plan, load)) for load in plan.axes["load"]]
    code = _codes(plan)
    # A machine names no code, so policy and workload determine this part.
    for *system, at in zip(*(plan.choices[name].tolist() for name in (*GROUPS, "load")), strict=True):
        policy, workload, machine = (plan.variants[group][i] for group, i in zip(GROUPS, system, strict=True))
        family, load = policy.parameters["family"], plan.axes["load"][at]
        before = (
            f'{{"family":{canonical.text(family)},"load":{canonical.text(load)},"machine":{machine.text},'
            f'"policy":{policy.text},"replication":'
        )
        after = f',"seed":{plan.settings.seed},"statistics":{shared[at]},"workload":{workload.text}}}'
        for replication in range(plan.replications):
            digest = hashlib.sha256(f"{before}{replication}{after}".encode()).hexdigest()
            yield digest[:ASKED] + code(system[0], system[1])


def runs_planned_code(task: Task, family: Family) -> bool:
    """Return whether a task would run, in this process, with the code that its identity names."""
    policy, workload = task.point.policy, task.point.workload
    if isinstance(task.family, Family):  # a program's arguments are data, even if they look like dotted names
        policy = workload = {}
    parts = {family.package: sources.of_family(family)} | sources.of_named(policy)
    parts |= sources.of_workload(str(workload.get("model"))) | sources.of_named(workload)
    parts |= sources.of_named(task.point.measures)
    if task.measurement.stopping is not None:
        parts |= {"sweep.statistics": sources.of_statistics()}
    return sources.hashed(family.version, parts, LENGTH - ASKED) == task.id[ASKED:]


def _codes(plan: Plan) -> Callable[[int, int], str]:
    """Return the last part of identities, by policy and workload; fill in `Plan.sources`."""
    sources.clear_caches()  # a notebook plans again after its user's modules were edited
    by_family = {key: {one.package: sources.of_family(one)} for key, one in plan.families.items()}
    shared = sources.of_named(plan.measures)
    if plan.settings.precision.relative is not None:
        shared |= {"sweep.statistics": sources.of_statistics()}
    is_program = plan.settings.is_program
    policies = [
        (
            plan.families[package].version,
            by_family[package] | sources.of_named({} if is_program else policy.parameters),
        )
        for policy in plan.variants["policy"]
        for package in [policy.parameters["family"]]
    ]
    by_model = {
        model: sources.of_workload(model)
        for model in {str(workload.parameters.get("model")) for workload in plan.variants["workload"]}
    }
    workloads = [
        by_model[str(workload.parameters.get("model"))]
        | sources.of_named({} if is_program else workload.parameters)
        for workload in plan.variants["workload"]
    ]
    for each in (*(parts for _, parts in policies), *workloads, shared):
        plan.sources.update(each)

    @cache
    def code(policy: int, workload: int) -> str:
        version, parts = policies[policy]
        return sources.hashed(version, parts | workloads[workload] | shared, LENGTH - ASKED)

    return code
