"""Why the reference does not match a site: the causes of its recorded waiting, and the next step."""

from collections.abc import Mapping

from analysis.operators.case import Case

WORDS = {
    "busy": "while too few processors were free",
    "idle": "while enough processors were idle (limits, reservations, or kept free for a larger job)",
    "partition": "while the job's partition was full but the machine was not",
    "nodes": "while enough processors but too few whole nodes were free (fragmentation)",
    "downtime": "during downtime",
    "not eligible": "before jobs were eligible to start (begin times, dependencies, holds)",
}
"""Causes of `models.jobs.waiting` in words."""

STEPS = {
    "downtime": "simulate the downtime as maintenance, with workload.downtime=keep",
    "not eligible": "let jobs arrive when they become eligible to start, with workload.arrival=eligible",
    "partition": "simulate each partition separately, with workload.partition=each",
    "nodes": "describe the nodes in a machine file (hosts, see docs/what_if.md)",
}
"""Cause -> the option that models it."""

LEAST, MAIN = 0.01, 0.25
"""Shares of the waiting from which on a cause is named, and is the one to model next."""


def shares(case: Case) -> Mapping[str, float]:
    """Return the shares of the recorded waiting by cause; empty if unknown."""
    known = [log.get("waiting") or {} for log in case.study.facts.get("logs", [])]
    return known[0] if len(known) == 1 else {}


def explained(case: Case) -> str:
    """Return the causes of the recorded waiting, in a sentence; empty if unknown."""
    found = sorted(((share, cause) for cause, share in shares(case).items() if share >= LEAST), reverse=True)
    parts = [f"{100 * share:.0f} % {WORDS[cause]}" for share, cause in found]
    return f"Jobs spent their recorded waiting time as follows: {'; '.join(parts)}." if parts else ""


def next_step(case: Case) -> str:
    """Return the next step towards a simulation that matches the site."""
    known = dict(shares(case))
    busy = known.pop("busy", 0.0)
    first = max(known, key=lambda cause: known[cause], default="idle")
    if known and known[first] >= MAIN and first in STEPS:
        return f"Next step: {STEPS[first]}."
    is_slurm = str(
        (case.study.config.get("policy", {}).get(case.reference) or {}).get("family", "")
    ).endswith(".slurm")
    whole = (
        "simulate the limits, reservations and priorities of that time: include sacctmgr's dump in "
        "slurm.conf, or bundle everything with python -m slurm capture and add policy.bundle=FILE"
        if is_slurm
        else "use +experiment=slurm_what_if with the site's slurm.conf and limits, or make the site's own "
        "priorities the first policy (docs/what_if.md)"
    )
    reason = (
        "" if not known or busy >= 1 - MAIN else "the order of the queue alone does not explain these waits; "
    )
    return f"Next step: {reason}{whole}."
