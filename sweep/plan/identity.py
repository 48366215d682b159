"""The identity of each task.

A task's identity has two parts: a hash of the canonical JSON of its scientific config, and a hash of its code
(`sweep.plan.sources`) with the family's version. So a result of earlier code is recognised: its first part
matches a task, its second part does not. Points share most of the text, which is joined from fragments made
once for each policy, workload, machine and load: 100,000 tasks take about a second. Two points that mean the
same simulation (an axis sets a key that a policy lacks) have the same identity, and it is run once.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
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


def identified(plan: Plan) -> Plan:
    """Return a plan with the identities of its tasks, and of its overload runs."""
    own = [*_ids(plan)]
    if (runs := plan.overload) is None:
        return replace(plan, ids=own)
    runs = replace(runs, ids=[*_ids(runs)])
    return replace(plan, overload=runs, ids=[*own, *runs.ids])


def _ids(plan: Plan) -> Iterator[str]:
    """Yield the identity of each task: keys in sorted order, so that the joined text is canonical JSON."""
    shared = [canonical.text(_content(plan, load)) for load in plan.axes["load"]]
    policies, workloads = (
        [one.parameters for one in plan.variants[group]] for group in ("policy", "workload")
    )
    code, used = sources.of_plan(
        plan.families, policies, workloads, plan.measures, LENGTH - ASKED,
        is_program=plan.settings.is_program, stops=plan.settings.precision.relative is not None,
    )  # fmt: skip
    plan.sources.update(used)
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
