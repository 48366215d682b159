"""Names of metrics and axes, and the metrics that are drawn by default."""

from collections.abc import Sequence

from analysis.errors import AnalysisError
from analysis.study import Study
from analysis.study.study import SAMPLES
from analysis.study.view import ALL
from sweep import policy_names
from sweep.errors import unknown

WAIT, RESPONSE = "wait", "response_time"

FIRST = (
    "response_time", "wait", "slowdown", "bounded_slowdown", "bounded_slowdown_p95", "wait_max",
    "utilization", "jobs_in_system",
)  # fmt: skip
"""The common measures that every study draws, in the report's order; a family's own follow."""

GROUPED = ("wait", "bounded_slowdown")
"""Measures that are drawn by groups of jobs, beside the headline."""

DERIVED = ("_p95", "_max")
"""Suffixes of percentiles and maxima."""

OF_GROUPS = "_by_"
COUNTS = ("jobs", "work", "number", "period")
"""Variables other than results: weights of results, and numbers of users."""

SMALLER_IS_BETTER = ("wait", "response_time", "slowdown", "bounded_slowdown", "delay")

CAPTION = (
    "All policies have the same jobs. Under gang scheduling and partitioning, batches hold jobs in the order "
    "in which they end; under backfilling, in the order in which they are submitted. Time slicing starts "
    "every job at once, so its waits mean little: compare response times."
)
NAMELESS = ("policy", "workload", "machine")
"""Axes whose values are shown without the name of the axis."""


def metrics(study: Study) -> tuple[list[str], list[str]]:
    """Return the metrics to draw, the headline first, and the metrics left out.

    Raises
    ------
    AnalysisError
        If a metric was chosen that the dataset lacks.
    """
    known = [str(name) for name, values in study.data.items() if set(SAMPLES) <= set(values.dims)]
    if study.view.metrics:
        for name in study.view.metrics:
            if name not in (*known, ALL):
                raise AnalysisError(f"metrics={name}: {unknown('metric', name, known)}")
        chosen = known if ALL in study.view.metrics else list(study.view.metrics)
        return chosen, [name for name in known if name not in chosen]
    headline = leading(study)
    wanted = [name for name in known if name == headline or _is_wanted(name, known, headline)]
    first = [name for name in (headline, *FIRST) if name in wanted]
    ordered = list(dict.fromkeys([*first, *wanted]))
    chosen = [name for name in ordered if not _is_redundant(study, name)]
    return chosen, [name for name in known if name not in chosen]


def leading(study: Study) -> str:
    """Return the metric that comes first: the headline, unless it is an incomplete wait.

    If a job can be preempted, or shares processors, its wait until the first start is only a part of its
    waiting; the response time is comparable under every policy.
    """
    headline = str(study.headline)
    if headline == WAIT and RESPONSE in study.data and not _jobs_run_through(study):
        return RESPONSE
    return headline


def _jobs_run_through(study: Study) -> bool:
    """Whether every job runs without interruption, so that it waits for its start only."""
    delay = study.data.get("delay")
    return delay is not None and WAIT in study.data and bool(delay.equals(study.data[WAIT]))


def _is_wanted(name: str, known: Sequence[str], headline: str) -> bool:
    base, by, _ = name.partition(OF_GROUPS)
    if base in COUNTS:
        return False
    if by and base in known:
        return base in (headline, *GROUPED)
    derived = any(base.endswith(end) and base.removesuffix(end) in known for end in DERIVED)
    return not derived or base in FIRST


def _is_redundant(study: Study, name: str) -> bool:
    """Whether a metric is 0 everywhere, or equal to another one, as a delay without preemption."""
    values = study.data[name]
    if name.startswith("delay"):
        same = study.data.get(name.replace("delay", "wait", 1))
        if same is not None and same.equals(values):
            return True
    if name.endswith(f"{OF_GROUPS}user") and "user_rank" in values.dims:
        ranked = values.sel(user_rank=values["user_rank"] != "others")
        return not bool(ranked.notnull().any())
    return not bool((values.fillna(0) != 0).any())


def compared(study: Study, drawn: Sequence[str]) -> list[str]:
    """Return the metrics that are compared with the reference: means of all jobs, the headline first."""
    of_jobs = [name for name in drawn if study.data[name].attrs.get("weight") == "jobs"]
    plain = [name for name in drawn if set(study.data[name].dims) == {*study.status.dims, *SAMPLES}]
    return [name for name in plain if name in of_jobs or name == leading(study)][:4] or plain[:1]


def is_better_smaller(metric: str) -> bool:
    """Whether less of a metric is better."""
    return _base(metric) in SMALLER_IS_BETTER


def _base(metric: str) -> str:
    """Return the measure of a metric: a percentile, a maximum, and a mean by groups share one."""
    base = metric.partition(OF_GROUPS)[0]
    for end in DERIVED:
        base = base.removesuffix(end)
    return base


def title(study: Study, metric: str) -> str:
    """Return a metric's name in words."""
    words = str(study.data[metric].attrs.get("long_name") or metric.replace("_", " "))
    if _base(metric) == WAIT and not _jobs_run_through(study):
        words += " for the first start"
    group = metric.rpartition(OF_GROUPS)[2] if OF_GROUPS in metric else ""
    return words[:1].upper() + words[1:] + (f" by {group.replace('_', ' ')}" if group else "")


def panel_word(axis: str, value: str) -> str:
    """Return the name of a value of an axis above a panel or in a legend."""
    if axis == "policy":
        return policy_names.label(value)
    if axis in NAMELESS or axis.endswith("_range"):
        return value
    return f"{axis.replace('_', ' ')} {value}"
