"""Names: axes, metrics, classes and policies as the dataset has them, and as text and figures call them."""

from analysis.figures.panels import PlotAxis
from analysis.study import Study
from analysis.study.axes import Axes

KEY = "mccann1994"

AXES = Axes(
    features={
        "workload": "spmd",
        "jobs": "1",
        "delta": "0",
        "q": "null",
        "memory_limit": "null",
        "short_fraction": "0.5",
        "admission_overhead": "0.01",
        "job_class": "all",
        "processors": "16",
    }
)

EFFICIENCY = "efficiency_preservation"
MOST_LOADED, LEAST_LOADED = "most_loaded_ratio", "least_loaded_ratio"
RESPONSE, BLOW_UP, BLOW_UP_CV = "class_response_time", "blow_up", "blow_up_cv"
NAMES = {RESPONSE: "response time", BLOW_UP_CV: "blow up cv"}
"""As claims call them."""

REALLOCATIONS, EPOCHS = "reallocations", "epochs"

EVERY_CLASS = "all"
OVERHEAD = "admission_overhead"


def of_class(metric: str, job_class: str) -> tuple[str, dict[str, object]]:
    """Return the dataset's name of a metric of a class of jobs, and the class's position in it."""
    return metric, {"job_class": job_class}


def on_random_lists(study: Study) -> bool:
    """Whether schedules are of random lists; the dissertation's own lists have their numbers of jobs."""
    return bool(study.values_of(JOBS.name))


POWERS = {"xscale": "log", "xticks": (1, 2, 4, 8, 16, 32, 64, 128, 256), "spacing": 0.045}
"""Folding repeats itself from one power of two to the next: hence a logarithmic axis."""

LOADS = PlotAxis("load")
JOBS = PlotAxis("jobs", {"xlabel": "Jobs in the system (J)", **POWERS})
LIMITS = PlotAxis("memory_limit", {"xlabel": "Multiprogramming limit (L)", **POWERS})
MIXES = PlotAxis(
    "short_fraction", {"xlabel": "Fraction of short jobs (p)", "xlim": (-0.02, 1.02), "dodge": 0.004}
)

EQUIPARTITION = ("equi", "equi_plus")
FOLDING = ("fold_20", "fold_50", "fold_200", "fold_15j", "fold_20j", "fold_never")
ONE_AT_A_TIME = "one_at_a_time"

SMALL, LARGE, REST = "#f7d9b9", "#e8a87c", "#b9d7ee"
"""Fills of partitions: folding's smaller and larger ones; equipartition's remainder section is `LARGE` among
`REST`. Black text can be read on all of them."""
