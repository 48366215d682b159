"""Backfilling policies, read from their YAML files and checked. Loads no kernel."""

from collections.abc import Mapping, Sequence

from models import checks, dotted, workloads
from models.backfill import requests
from models.backfill.conservative.rules import Conservative
from models.backfill.eq_spatial.rules import EqSpatial
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.priority.rules import QUEUE, WITH_PROFILE, Priority
from models.backfill.rules import Rules
from models.jobs.machine import refuse_spanning
from models.jobs.stream import CHECKED
from models.jobs.trace import Trace
from models.point import Parameters, Point
from models.workloads.estimates import LAST_TWO
from models.workloads.replayed import KEEP

DISCIPLINES: Mapping[str, type[Rules]] = {
    "fcfs": Priority,
    "backfill": Priority,
    "conservative": Conservative,
    "ncsa_lsf": NcsaLsf,
    "eq_spatial": EqSpatial,
}
"""``policy.discipline`` -> the rules. A dotted name is a user's own subclass of `Rules`."""

ALWAYS = ("models.backfill.priority.published", "models.backfill.model")
"""Modules whose kernels every run needs, or that compile quickly."""


def rules_of(policy: Parameters) -> Rules:
    """Return the rules of a policy's YAML file, see `Rules.of`."""
    discipline = str(policy.get("discipline", "(none)"))
    for key, none in (("immediate", None), ("backfill_order", QUEUE)):
        value = policy.get(key, none)
        if value != none and discipline in DISCIPLINES and discipline != "backfill":
            raise ValueError(
                f"policy.{key}={getattr(value, '__name__', value)} needs discipline backfill, but this is "
                f"{discipline}; set it to {checks.shown(none)}"
            )
    return _rules(policy, discipline).of(policy)


def _rules(policy: Parameters, discipline: str) -> type[Rules]:
    """Return the class of a discipline's rules."""
    if discipline in DISCIPLINES:
        return DISCIPLINES[discipline]
    why = ""
    try:
        own = dotted.imported(str(discipline))
        if isinstance(own, type) and issubclass(own, Rules):
            return own
    except ImportError as error:
        why = f" and cannot be imported ({error})" if "." in str(discipline) else ""
    raise ValueError(
        f"policy {policy.get('name', '')} has discipline {discipline}, which is not one of "
        f"models.backfill{why}; allowed: {', '.join(DISCIPLINES)} (see "
        "conf/policy/backfill), or the dotted name of a subclass of "
        "models.backfill.rules.Rules"
    )


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    rules = rules_of(point.policy)
    opened = workloads.open_workload(point)
    refuse_spanning(opened.machine, point.machine, point.policy)
    ends = isinstance(opened, Trace)
    jobs = opened.first(CHECKED)
    requests.check(opened.name, jobs, opened.machine, rules, point)
    notes = (f"{opened.name}: {note}" for note in requests.notes(jobs, rules)) if ends else ()
    return [*opened.notes, *notes]


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: the schedulers draw no random numbers."""
    return workloads.is_stochastic(point.workload)


def kernels(point: Point) -> set[str]:
    """Return the modules whose kernels a point needs, see `models.family.Family.needed`."""
    of_all = point.workload.get("downtime") == KEEP or point.workload.get("estimates") == LAST_TWO
    return {*rules_of(point.policy).kernels, *ALWAYS, *([WITH_PROFILE] if of_all else [])}
