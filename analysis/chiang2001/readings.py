"""Which reading of the paper an experiment took, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.chiang2001.labels import month
from analysis.report.choices import choices, varied
from analysis.study import Study

MEANINGS = {
    "ties": {
        "instant": "all ends of an instant, then all its submissions, then one pass of the scheduler",
        "event": "a pass after each event, submissions first",
    },
    "kill": {
        "true": "jobs are ended when they have run for their requested time",
        "false": "jobs run on when they have run for their requested time",
    },
    "keep_start": {
        "true": "the job that holds a reservation goes before all others until it runs",
        "false": "the reservation passes to the waiting job with the highest priority",
    },
    "ncsa_lsf.host_order": {
        "fullest": "the host with the fewest free processors takes waiting jobs first, as in section 2.2",
        "listed": "the machine's first host takes waiting jobs first",
    },
    "ncsa_lsf.barred_hold_back": {
        "false": "a waiting job that a system-wide limit bars keeps no other job from a host",
        "true": "a waiting job that a system-wide limit bars keeps smaller size classes from a host",
    },
    "immediate.kind": {
        "preempt": "a job that cannot start has a quantum at once, on idle processors or by preemption",
        "soon": "a job that cannot start has a quantum as soon as there are idle processors",
    },
    "immediate.keep_promises": {
        "true": "with soon, a quantum does not use processors that are reserved for other jobs",
        "false": "with soon, a quantum may delay the job that holds a reservation",
    },
    "immediate.beyond_memory": {
        "stays": "a job that uses more memory than it was given stays to the end of its quantum",
        "leaves": "a job that uses more memory than it was given has no quantum",
    },
    "immediate.keep_quantum": {
        "true": "work done in the quantum counts later",
        "false": "after its quantum a job starts anew",
    },
    "catch_up": {
        "true": "a job that waited for memory gets all processors that it asks for until it has caught up",
        "false": "a job that waited for memory gets an equal share",
    },
    "odd_processors": {
        "first": "the odd processors of a division go to the jobs that were submitted first",
        "last": "the odd processors of a division go to the jobs that were submitted last",
    },
    "waiting": {
        "first_fit": "memory goes to the first submitted of the waiting jobs that fit",
        "fcfs": "memory goes to the first waiting job only",
    },
    "quantum_processors": {
        "share": "a quantum runs on an equal part of the host",
        "requested": "a quantum runs on all processors that its job asks for",
    },
    "keep_quantum": {
        "true": "work done in the quantum counts later",
        "false": "after its quantum a job starts anew",
    },
}

CHOICES = {
    "policy": (
        *MEANINGS,
        "immediate.quantum",
        "immediate.memory_gb",
        "immediate.uninterrupted",
        "quantum",
        "quantum_memory_gb",
    ),
    "workload": (
        "warmup_days",
        "peak_hours",
        "intermediate_hours",
        "rates",
        "weekend",
        "together",
        "closed_loop.limit",
        "closed_loop.jobs",
        "short_enough",
        "memory_under_tenth",
        "under_a_minute_below_1gb",
        "serial_over_512mb",
        "size_correlation",
        "used_memory_correlation",
        "stiffness",
    ),
}
"""Keys of the files that the paper leaves open; what Tables 1 to 3 say is in the files too."""

TAKEN = (
    (
        "the logs",
        "of the six months were never published: jobs are generated so that each class has the number, the "
        "processor demand and the memory demand of Table 4. Results can be compared in direction and rank",
    ),
    (
        "a month",
        "is simulated from seven days before it until all its jobs have ended, and the jobs that arrive in "
        "it count (section 4). Replications are independent months",
    ),
    (
        "waits",
        "of preempted and of malleable jobs are the time in the system less the runtime on the processors "
        "that were asked for (section 4.4)",
    ),
    (
        "ranges of the actual runtime",
        "are decades from one minute up (section 4.2: equal-sized and logarithmic)",
    ),
    (
        "similar, significantly, greatly",
        "are numbers, named in each statement: within 20 %, beyond that, to less than half",
    ),
)


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the paper leaves open and what this dataset took."""
    return [*varied(study), *TAKEN, *_early_ends(study), *choices(study, CHOICES, MEANINGS)]


def _early_ends(study: Study) -> list[tuple[str, str]]:
    """Return what share of the jobs ends within a minute, of each month."""
    rows = []
    for name in study.config.get("workload", {}):
        file = study.parameters("workload", name)
        shares = file.get("under_a_minute")
        if isinstance(shares, Mapping):
            shares = shares.get(str(file.get("month")), {})
            text = ", ".join(f"{share:.1%} of {kind}" for kind, share in shares.items())
        elif shares is None:
            continue
        else:
            text = f"{shares:.1%} of all"
        rows.append(f"{month(name)}: {text}")
    return [("workload.under_a_minute", "; ".join(rows))] if rows else []
