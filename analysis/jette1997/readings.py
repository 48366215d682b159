"""Which reading of the paper an experiment took, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.choices import choices, varied
from analysis.study import Study

MEANINGS = {
    "order": {
        "largest": "of waiting jobs of one priority the largest goes first",
        "arrival": "of waiting jobs of one priority the first goes first",
    },
    "blocking": {
        "never": "a job that finds no place keeps no other from one",
        "urgent": "a job that has waited for its class's maximum lets no other pass",
        "always": "a job that finds no place lets no other pass",
    },
    "places": {
        "aligned": "a partition's corner is at multiples of its sides",
        "half": "a partition's corner is at multiples of half its sides",
        "any": "a partition may be anywhere",
    },
    "wire_neighbours": {
        "forbidden": "neighbouring jobs never share a barrier wire",
        "allowed": "neighbouring jobs may share a barrier wire",
    },
    "repetition": {
        "feedback": "interactive users wait for an answer before they go on",
        "sequence": "jobs are submitted as if nobody had ever waited",
    },
}

CHOICES = {
    "policy": (
        "prime_time", "preemptive", "swap_out", "swap_in", "order", "blocking", "batch_limit",
        "oversubscribe", "aggregate_limit", "drain_after",
    ),
    "workload": ("first_day", "growth", "repetition", "requests", "users"),
    "machine": ("places", "barrier_wires", "wire_neighbours", "node_processors", "memory_gb_per_processor"),
}  # fmt: skip

TAKEN = (
    (
        "the months",
        "of Fig. 1 are taken to be October 1995 to December 1996, with UNICOS MAX in 1995, DJM in January "
        "and February, and the gang scheduler since March (which the text says). A batch is a week, and a "
        "month the weeks whose middle lies in it",
    ),
    (
        "the demand",
        "of 15 months is lost; it is that of July 23 to August 12 as the text has it, growing exponentially, "
        "from what 33 % of the machine can do to all of it",
    ),
    (
        "the classes",
        "are described in words; their priorities, maximum waits, multipliers and limits are assumed, so "
        "that what the text says of day and night is what happens (conf/policy/production_gang)",
    ),
    (
        "utilization",
        "is the time in which a processor runs a program that is in memory, as the text says; switches are "
        "no part of it",
    ),
    (
        "a slowdown",
        "of the aggregate workload is the sum of response times over the sum of runtimes; 18 % is a ratio of "
        "1.18",
    ),
    ("words of degree", "are numbers, named in each statement (analysis/jette1997/claims/margins.py)"),
)


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the paper leaves open and what this dataset took."""
    return [*varied(study), *TAKEN, *choices(study, CHOICES, MEANINGS)]
