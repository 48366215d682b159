"""Which reading of the dissertation an experiment took, in words."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.mccann1994.labels import BLOW_UP, EFFICIENCY, MACHINE_SIZE, MOST_LOADED, REALLOCATIONS, RESPONSE
from analysis.report.choices import choices, varied
from analysis.study import Study

MEANINGS = {
    "leftover": {
        "smallest": "columns left over go to the section with the smallest partitions, of equal ones to the "
        "regular",
        "smallest_remainder": "columns left over go to the section with the smallest partitions, of equal "
        "ones to the remainder",
        "fair_share": "columns left over go to the section whose wider partition is closer to the fair share",
        "regular": "columns left over go to the regular section",
        "remainder": "columns left over go to the remainder section",
    },
    "overhead": {
        "printed": "the share of time that rotating takes is equation 5.4, as printed",
        "derived": "the share of time that rotating takes is what the terms of equation 5.3 multiply out to, "
        "with the rotations of all subsystems",
    },
    "reallocation_cost": {
        "true": "jobs stand still while processors change hands at arrivals and departures, by the D, C and "
        "X of section 5.1",
        "false": "processors change hands at arrivals and departures in no time, as in the birth-death model",
    },
    "groups": {
        "smallest_first": "the jobs with the largest requirements go to the smallest groups, as the text has "
        "it",
        "largest_first": "the jobs with the largest requirements go to the largest groups",
        "none": "the number of jobs must be a power of two",
    },
}

CHOICES = {
    "policy": (
        "leftover",
        "overhead",
        "reallocation_cost",
        "admission.interval",
        "admission.overhead",
        "groups",
        "allocations",
    ),
    "workload": (
        "compute_time",
        "delta",
        "communication_time",
        "code_bytes",
        "data_bytes",
        "isolated_time",
        "short_time",
        "long_time",
        "short_fraction",
        "knee",
        "requirements",
        "mean",
    ),
    "machine": (MACHINE_SIZE, "context_switch", "bandwidth", "memory_limit"),
}

UNITS = ("KB and MB", "1 KB = 1024 bytes and 1 MB = 1024 KB, of memory and of links (machine.bandwidth)")

TAKEN = {
    EFFICIENCY: (
        (
            "Fig. 3.1",
            "is not in the text: 1 - exp(-x / knee) of the fraction x of the machine, with a knee below "
            "1 / (8 ln 4) = 0.090, which the words on Fig. 3.2 ask for",
        ),
        UNITS,
        (
            "equation 5.2",
            "lacks the number of processors in its denominator, as equation 3.1 has it; it falls out of "
            "equation 3.2. The text swaps the names of the terms for context switches and communication.",
        ),
        (
            "Z_m below one column",
            "the text has no rule: a partition of the remainder section has at least one column of "
            "processors",
        ),
        ("equations 4.4 and 4.5", "their condition is the parity of the processor row"),
    ),
    MOST_LOADED: (
        (
            "the last rotation cycle",
            "is never complete: where whole cycles fit exactly (q = 8/15 at multiples of 8 jobs, 4/15 at "
            "multiples of 4, 1 always), the limit from longer intervals is meant, “just greater than” E/2 "
            "and E/4",
        ),
    ),
    BLOW_UP: (
        UNITS,
        (
            "completion rate",
            "EP(S) / E: the text of section 5.3 has 1 / (E EP(S)), which would fall as efficiency "
            "preservation rises",
        ),
        (
            "unstable",
            "without a limit, a policy counts as unstable from the load on at which the last doubling of "
            "the number of jobs no longer makes a state less likely",
        ),
    ),
    RESPONSE: (
        UNITS,
        ("rotation of several runs", "all 'sb' pairs of a string at once, cyclically"),
        ("uniprogramming under PS", "processor sharing without overhead"),
        ("progress", "continuous, at the rate of the expected step time on the job's partition"),
        (
            "preemption",
            "every Q seconds the jobs that have been in memory for longest make place for as many waiting "
            "ones",
        ),
        (
            "interval between medium-term decisions",
            "Q is not in section 5.4.2, which has the overhead O/Q alone; 10, 60 and 120 s are compared. The "
            "1,152 MB of a job's threads take 5.8 s over one link, so that O/Q = 3 % asks for 19 links at "
            "once with Q = 10 s, and for 2 with 120 s",
        ),
    ),
    REALLOCATIONS: (
        (
            "Fig. 6.3",
            "max_height_exp is log2(J/P) plus min_width_exp, and the frontier rises by a box's height once",
        ),
        (
            "Fig. 6.6",
            "the last job of an epoch may need as many processors as its share: min[start + j - 1] <= P/j",
        ),
        ("Fig. 6.7", "the jobs of its last epoch have 6 processors each, not the 8 of the text"),
    ),
}
"""What models take for granted, by a metric that depends on it; see also what their files say."""


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the dissertation leaves open and what this dataset took."""
    rows = varied(study)
    simulated = RESPONSE in study.data
    for metric, pairs in TAKEN.items():
        if metric in study.data and not (metric == BLOW_UP and simulated):
            rows += pairs
    return rows + choices(study, CHOICES, MEANINGS)
