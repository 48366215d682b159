"""Names: the grid's axes, metrics and schemes as the dataset has them, and as text and figures call them."""

from analysis.study.axes import Axes
from sweep import policy_names

KEY = "feitelson1996"

ALTERNATION, PRECEDENCE, UNIFICATION = "alternation", "precedence", "unification"

AXES = Axes(
    features={ALTERNATION: "exclusive", PRECEDENCE: "arrival", UNIFICATION: "true"},
    split={ALTERNATION: ("exclusive", "shared", "none"), PRECEDENCE: ("arrival", "largest", "smallest")},
)
"""The axis `alternation` is both: each value is a reading of the paper, and Fig. 13 compares two."""

SLOWDOWN, UNIFICATIONS, SLOTS_PER_JOB = "slowdown", "unifications", "slots_per_job"
SLOTS_OVER_JOBS = "slots_per_job_over_jobs"
UTILIZATION, USED_SLOTS = "utilization", "used_slots"

YLABELS = {
    SLOWDOWN: "Mean slowdown",
    UNIFICATIONS: "Unifications (% of terminations)",
    SLOTS_PER_JOB: "Slots per job",
    SLOTS_OVER_JOBS: "Slots per job",
    UTILIZATION: "Utilization − offered load (%)",
    USED_SLOTS: "Used slots (time average)",
}

MACHINE_SIZE = "processors"
"""Key of a machine's number of PEs."""


def label(scheme: str) -> str:
    """Return a scheme's name within a sentence."""
    return policy_names.label(scheme).lower()
