"""How a site configures a policy: the lines for Slurm or PBS, for policies that have such lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.paper import content
from analysis.study import Study
from models.counting import counted

MANAGERS = {"slurm": "Slurm", "pbs": "PBS"}

FORMULA = {
    "wait": "{:g} * eligible_time / 3600", "expansion": "{:g} * eligible_time / walltime",
    "processors": "{:g} * ncpus", "shortness": "{:g} * 3600 / walltime",
}  # fmt: skip
"""Terms of PBS's job_sort_formula by the weights of a policy; a constant term changes no order."""

QUEUE = "queue"
NAMED = {"smallest_area_first": "saf", "wfp3": "wfp3", "shortest_first": "sjf_backfill"}
"""A published order -> the policy whose lines set it."""

MAX_AGE_H, LARGEST = 168, 100_000
"""PriorityMaxAge by default, and the largest weight that is proposed."""


def lines(study: Study, policy: str) -> Mapping[str, Sequence[str]]:
    """Return the lines that configure a policy, by resource manager; empty if there are none."""
    given = study.config.get("policy", {}).get(policy) or {}
    if str(given.get("family", "")).endswith(".slurm"):
        return {"slurm": _of_slurm(given)}
    beyond = [
        given.get("immediate"),
        given.get("backfill_order", QUEUE) != QUEUE,
        given.get("reservations", 1) != 1,
    ]
    named = policy if any(beyond) else NAMED.get(str(given.get("priority")), policy)
    known: Mapping[str, Sequence[str]] | None = content(Path(__file__).parent / "deploying.yaml").get(named)
    return _of_weights(study, policy, given) if known is None else known


def can_be_set(study: Study, policy: str) -> bool:
    """Whether some resource manager can be configured for a policy."""
    return bool(lines(study, policy))


def where(study: Study, policy: str) -> str:
    """Return the resource managers that can be configured for a policy, in words."""
    return ", ".join(MANAGERS[name] for name in lines(study, policy)) or "neither Slurm nor PBS"


def _of_weights(study: Study, policy: str, given: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Return the lines of weights of priority, if the policy has nothing beyond them."""
    weights = {name: float(value) for name, value in (given.get("weights") or {}).items() if value}
    beyond = [given.get("priority"), given.get("immediate"), given.get("backfill_order", QUEUE) != QUEUE]
    if (
        not weights
        or any(beyond)
        or given.get("discipline") != "backfill"
        or not weights.keys() <= FORMULA.keys()
    ):
        return {}
    formula = " + ".join(FORMULA[name].format(value) for name, value in weights.items())
    slurm = ["PriorityType=priority/multifactor"]
    if weights.keys() <= {"wait", "processors"}:
        total = next((int(log["processors"]) for log in study.facts.get("logs", [])), 1)
        full = {
            "Age": MAX_AGE_H * weights.get("wait", 0.0),
            "JobSize": total * weights.get("processors", 0.0),
        }
        scale = LARGEST / max(full.values())
        slurm += [f"PriorityWeight{name}={scale * value:.0f}" for name, value in full.items() if value]
    else:
        slurm.append(f"PrioritySiteFactorPlugin=site_factor/{policy} (a plug-in of the site)")
    pbs = ["qmgr: set server eligible_time_enable = true", f'qmgr: set server job_sort_formula = "{formula}"']
    return {
        "slurm": slurm,
        "pbs": [*pbs, f"qmgr: set server backfill_depth = {given.get('reservations', 1)}"],
    }


def _of_slurm(given: Mapping[str, Any]) -> list[str]:
    """Return the lines by which a policy changes the site's slurm.conf."""
    from models.slurm.policies import Rules

    try:
        rules = Rules.of(given)
    except ValueError:  # it is from another version
        return []
    words = ",".join(f"{key}={value}" for key, value in rules.given("word").items())
    moved = ((source, to, n) for source, of in (rules.moved or {}).items() for to, n in of.items() if n)
    found = [
        *(
            f"Nodes= of PartitionName={a} and {b}: move {counted(n, 'node')} from the first to the second"
            for a, b, n in moved
        ),
        *rules.lines,
        *rules.given("line").values(),
        *([f"SchedulerParameters={words}"] if words else []),
    ]
    return found or ["slurm.conf unchanged"]
