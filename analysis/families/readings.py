"""What the study assumes, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.choices import choices, varied
from analysis.study import Study

CHOICES = {
    "policy": (
        "alternation", "precedence", "unification", "ties", "slice", "memory", "kill", "unrequested",
        "reservations", "reallocation_cost",
    ),
    "workload": ("model", "resample", "with_replacement", "repetition", "longest_request", "estimates_for"),
    "machine": ("processors", "mesh"),
}  # fmt: skip

MEANINGS = {
    "kill": {
        "false": "nobody is ended for running longer than requested, so that all policies have the same work"
    },
    "repetition": {
        "sequence": "each run of a job is one more arrival; policies that plan ahead know of no other"
    },
}

TAKEN = (
    (
        "the jobs",
        "are rigid: gang scheduling and backfilling give each the processors that it asks for. Under "
        "partitioning the same work is malleable, which no log says that it is: EQUI+ and Folding are "
        "bounds, with linear speed-up the lower one",
    ),
    (
        "the ideal",
        "is processor sharing of jobs that each could use the whole machine: no policy for rigid jobs can "
        "come near it",
    ),
    (
        "a switch",
        "of slots takes the same time on all processors at once, whatever the job, and is the same part "
        "of every slice; a single slot is never switched. Caches and paging are in it, or nowhere",
    ),
    (
        "a break-even",
        "is where the mean paired difference is 0, each replication's difference taken to be linear "
        "between points of the grid; its interval has all places at which that mean is not told from 0",
    ),
    (
        "what is measured",
        "are the same jobs but for a few at the ends of a run: batches hold jobs in order of submission "
        "under backfilling, and in order of their ends under the others",
    ),
)


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of an assumption and what this dataset took."""
    return [*varied(study), *TAKEN, *choices(study, CHOICES, MEANINGS)]
