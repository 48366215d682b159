"""Which reading of the paper an experiment took, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.feitelson1996.labels import MACHINE_SIZE
from analysis.report.choices import choices, explained, varied
from analysis.study import Study

MEANINGS = {
    "alternation": {
        "shared": "a job runs in every slot whose mapped jobs leave its PEs free, even if other jobs do too; "
        "PEs that two jobs so fill at once count twice, so that utilization can exceed 1",
        "exclusive": "a PE of a slot serves one job, so that no more is delivered than there is",
        "none": "jobs run only in the slot to which they are mapped",
    },
    "unification": {
        "true": "slots whose PEs have become disjoint are united",
        "false": "slots are never united",
    },
    "precedence": {
        "arrival": "free PEs go to the earliest job first (only under exclusive), as tentative mappings "
        "made “to begin with” would (section 5)",
        "largest": "free PEs go to the largest job first (only under exclusive)",
        "smallest": "free PEs go to the smallest job first (only under exclusive)",
    },
    "repetition": {
        "feedback": "the next run of a job is submitted when the previous one ends",
        "sequence": "each run is one more arrival",
    },
    "rerun_runtime": {
        "same": "each run takes as long as the first",
        "redrawn": "each run's runtime is drawn anew",
    },
    "load_reference": {
        "expected": "the offered load is that of the model",
        "sequence": "the offered load is that of the very sequence of jobs",
    },
    "slot_choice": {
        "first": "of several slots with the controller's PEs free, the first",
        "fullest": "of several slots with the controller's PEs free, the fullest",
    },
    "controller_load": {
        "paths": "jobs of the controller, maximum below it, sum above it (Fig. 2)",
        "recursive": "the text to the letter, children's loads with their ancestors in them",
        "pes": "the PEs' own loads (the paper's “simplified scheme”)",
    },
}
CHOICES = {
    "policy": ("precedence", "slot_choice", "controller_load", "threshold"),
    "workload": (
        "model",
        "size_order",
        "emphasis",
        "short_mean",
        "long_mean",
        "long_probability_small",
        "long_probability_full",
        "run_length_order",
        "run_length_max",
        "repetition",
        "rerun_runtime",
        "load_reference",
    ),
    "machine": (MACHINE_SIZE,),
}


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the paper leaves open and what this dataset took, with its meaning."""
    rows = varied(study, MEANINGS)
    several = dict(rows)
    for axis, value in study.usual().items():
        if axis in several:
            continue
        others = [other for other in study.values_of(axis) if other != value]
        tail = f" (also in this dataset: {', '.join(others)})" if others else ""
        rows.append((axis, f"{explained(axis, value, MEANINGS)}{tail}"))
    return rows + choices(study, CHOICES, MEANINGS)
