"""How the sentences of the paper are tested (``claims.yaml``): policies month by month, and generated months.

The generated months are built to meet most of the text's statements on the workload: such a claim tests the
generated months, not the logs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from analysis.chiang2001 import labels
from analysis.chiang2001.labels import month, months, sample, table_4, table_of_month
from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of, level_of, ratio_of
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester as Base
from analysis.claims.testers import listed
from analysis.study import Study
from analysis.study.axes import ALL
from analysis.study.curve import DONE, Sample, together
from models.counting import counted
from sweep.policy_names import label

ROWS = Rows(Path(__file__).parent)

SECTIONS = {
    "ncsa_lsf": ("lsf", "backfill"),
    "lxf_w_soon": ("immediate_service",),
    "eq_spatial_5m": ("eq_spatial",),
}
"""Sections of the rows by the policy that they need."""

WEEKDAYS = slice(0, 5)


class Tester(Base):
    """Compares policies month by month."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, labels.KEY)
        self.months = months(study)

    def sample(self, metric: str, policy: str, month: str, **group: str) -> Sample:
        """Return a metric of a group of jobs in a month, see `labels.sample`."""
        return sample(self.study, metric, policy, month, **group)

    def together(self, metric: str, policy: str, **group: str) -> Sample:
        """Return a metric averaged over all months of the grid."""
        return together([self.sample(metric, policy, one, **group) for one in self.months])

    def of_workload(self, metric: str, name: str, job_class: str = ALL) -> Sample:
        """Return a metric of the generated jobs of a month."""
        return self.at(metric, self.study.policies[0], workload=name, **{labels.TABLE_CLASS: job_class})


def _measured(metric: str, group: Mapping[str, str]) -> str:
    named = labels.MEASURES.get(metric, metric.replace("_", " "))
    of = ", ".join(value.replace("_", "-") for value in group.values())
    return f"{named} ({of})" if of else named


def _ratios(
    test: Tester, metrics: Any, of: Any, over: Any, only: Any = None, runtime: Any = None, **limits: float
) -> list[Part]:
    """Compare each of some policies with each of others by each of some metrics in each month."""
    names = listed(only) if only else test.months
    samples = {month(name): partial(test.sample, month=name) for name in names}
    return _compared(samples, metrics, of, over, runtime, **limits)


def _together(
    test: Tester, metrics: Any, of: Any, over: Any, runtime: Any = None, **limits: float
) -> list[Part]:
    """Compare policies as `_ratios` does, over all months together."""
    return _compared({"all months": test.together}, metrics, of, over, runtime, **limits)


def _compared(
    samples: Mapping[str, Callable[..., Sample]],
    metrics: Any,
    of: Any,
    over: Any,
    runtime: Any,
    **limits: float,
) -> list[Part]:
    groups: list[dict[str, str]] = [{"runtime": one} for one in listed(runtime)] if runtime else [{}]
    return [
        ratio_of(
            f"{label(a)} / {label(b)}, {_measured(metric, group)}, {when}",
            get(metric, a, **group),
            get(metric, b, **group),
            **limits,
        )
        for group in groups
        for metric, a, b in product(listed(metrics), listed(of), listed(over))
        for when, get in samples.items()
    ]


def _low_only_in(test: Tester, in_month: str, limit: float, metric: str, of: str, over: str) -> list[Part]:
    """Ask that a ratio is below a limit in one month and above it in each other."""
    return [
        part
        for one in test.months
        for part in _ratios(test, metric, of, over, one, **{"high" if one == in_month else "low": limit})
    ]


def _against_all(
    test: Tester, metric: str, of: str, runtime: Any, low: float, over: str = "", only: str = ""
) -> list[Part]:
    """Compare a wait of the jobs of a range of runtimes with the same (or another) wait of all jobs."""
    wait = {"delay": "average wait", "delay_max": "maximum wait"}[metric]
    beside = "95th percentile of all" if over else "of all"
    return [
        ratio_of(
            f"{label(of)}, {wait} of jobs {name} / {beside}, {month(one)}",
            test.sample(metric, of, one, runtime=name),
            test.sample(over or metric, of, one),
            low,
        )
        for one in ([only] if only else test.months)
        for name in listed(runtime)
    ]


def _hours(
    test: Tester, metric: str, of: Any, low: float, high: float = np.inf, only: str = "", **group: str
) -> list[Part]:
    """Ask for limits, in hours, on a wait in each month."""
    return [
        level_of(
            f"{label(policy)}, {_measured(metric, group)}, {month(one)}",
            test.sample(metric, policy, one, **group),
            low * labels.HOUR,
            high * labels.HOUR,
            1 / labels.HOUR,
            " h",
        )
        for policy in listed(of)
        for one in ([only] if only else test.months)
    ]


def _waits_of_classes(test: Tester, low: float, high: float) -> list[Part]:
    """Ask for limits on the average wait of each class in each month under NCSA-LSF*."""
    return [
        part
        for one in test.months
        for job_class in labels.CLASSES
        for part in _hours(test, "delay", "ncsa_lsf", low, high, one, job_class=job_class)
    ]


def _share(test: Tester, metric: str, of: str, low: float = -np.inf, high: float = np.inf) -> list[Part]:
    """Ask for limits on a share in each month, shown in percent."""
    return [
        level_of(f"{label(of)}, {month(one)}", test.sample(metric, of, one), low, high, 100.0, " %")
        for one in test.months
    ]


def _overdue_jobs(test: Tester, of: str) -> str:
    """Return how many jobs wait beyond the reserve wait time in each month, and which part of them is mj."""
    texts = []
    for name in test.months:
        paper = table_4(name, test.study)
        samples = [test.sample("overdue", of, name, job_class=one) for one in labels.CLASSES]
        if paper is None or any(one.reason for one in samples):
            continue
        jobs = {
            one: number * np.nan_to_num(np.nanmean(found.values))
            for one, number, found in zip(labels.CLASSES, paper.jobs[1:], samples, strict=True)
        }
        total, mj = sum(jobs.values()), sum(n for one, n in jobs.items() if one.endswith("mj"))
        texts.append(
            f"{month(name)} {counted(round(total), 'job')}"
            + (f", {mj / total:.0%} of them mj" if total else "")
        )
    return f"Jobs beyond the threshold, on average: {'; '.join(texts) or 'none'}."


def _spread(test: Tester, metrics: list[str], over: list[str], relative: bool) -> list[Part]:
    """Ask that NCSA-LSF* varies more over the months than other policies, replication by replication."""

    def spread(*months: np.ndarray) -> np.ndarray:
        found = np.std(months, axis=0, ddof=1)
        return found / np.mean(months, axis=0) if relative else found

    parts: list[Part] = []
    scale, unit = (100.0, " %") if relative else (1 / labels.HOUR, " h")
    for metric, other in product(metrics, over):
        name = f"{label('ncsa_lsf')} − {label(other)}, standard deviation over months of the "
        name += labels.MEASURES[metric]
        if len(test.months) < 2:
            parts.append(Open(name, "one month only"))
            continue
        first, second = (
            Sample.computed(spread, *(test.sample(metric, policy, one) for one in test.months))
            for policy in ("ncsa_lsf", other)
        )
        parts.append(difference_of(name, first, second, 0.0, scale=scale, unit=unit))
    return parts


def _long_jobs(test: Tester, in_month: str, than: str) -> list[Part]:
    """Ask that lt jobs wait longer, relative to all jobs, in one month than in another."""
    name = f"{label('ncsa_lsf')}, average wait of lt jobs / of all jobs, {month(in_month)} − {month(than)}"
    relative = []
    for one in (in_month, than):
        lt = together(
            [test.sample("delay", "ncsa_lsf", one, job_class=f"lt_{size}") for size in labels.SIZES]
        )
        relative.append(Sample.computed(np.divide, lt, test.sample("delay", "ncsa_lsf", one)))
    return [level_of(name, Sample.computed(np.subtract, *relative), 0.0)]


def _high_load(test: Tester, metric: str, of: str, over: str) -> list[Part]:
    """Ask that two policies differ more in the months of high load than in the others."""
    name = f"{label(of)} − {label(over)}, 95th percentile: high-load months − others"
    gaps: dict[bool, list[Sample]] = {True: [], False: []}
    for one in test.months:
        pair = (test.sample(metric, policy, one) for policy in (of, over))
        gaps[one in labels.HIGH_LOAD].append(Sample.computed(np.subtract, *pair))
    if not all(gaps.values()):
        return [Open(name, "this grid lacks one of the two kinds of months")]
    high, low = (together(gaps[kind]) for kind in (True, False))
    return [difference_of(name, high, low, 0.0, scale=1 / labels.HOUR, unit=" h")]


def _table_4(test: Tester, metric: str, words: str, high: float) -> list[Part]:
    """Ask that no class differs by more from Table 4, in each month."""
    parts: list[Part] = []
    for name in test.months:
        title = f"largest difference of the {words}, {month(name)}"
        paper = table_4(name, test.study)
        first = test.of_workload(metric, name)
        if paper is None or first.reason:
            parts.append(Open(title, first.reason or "Table 4 has no such month"))
            continue
        expected = getattr(paper, "jobs" if metric == "number_of_jobs" else metric)[1:]
        found = np.array([test.of_workload(metric, name, one).values for one in labels.CLASSES])
        largest = Sample(np.abs(found - expected[:, None, None]).max(axis=0), DONE)
        parts.append(level_of(title, largest, high=high))
    return parts


def _demand(
    test: Tester, job_class: Any, label: str, low: float = -np.inf, high: float = np.inf
) -> list[Part]:
    """Ask for limits on the processor demand of some classes together, percent, in each month."""
    parts = []
    for name in test.months:
        samples = (test.of_workload(labels.DEMAND, name, one) for one in listed(job_class))
        demand = Sample.computed(lambda *found: np.nansum(found, axis=0), *samples)
        parts.append(level_of(f"{label}, {month(name)}", demand, low, high, unit=" %"))
    return parts


def _level(
    test: Tester, metric: str, low: float = -np.inf, high: float = np.inf, percent: bool = False
) -> list[Part]:
    """Ask for limits on a number of the generated jobs, in each month."""
    scale, unit = (100.0, " %") if percent else (1.0, "")
    return [
        level_of(month(name), test.of_workload(metric, name), low, high, scale, unit) for name in test.months
    ]


def _summary(test: Tester, metric: str, summarise: Callable[..., np.ndarray], job_class: str = ALL) -> Sample:
    """Return the smallest, the largest or the median of the months' values, replication by replication."""
    samples = (test.of_workload(metric, name, job_class) for name in test.months)
    return Sample.computed(lambda *months: summarise(months, axis=0), *samples)


def _over_months(test: Tester, metric: str, of_months: str, around: float) -> list[Part]:
    """Ask that the smallest or the largest share of all months is the text's, within a point."""
    found = _summary(test, metric, {"smallest": np.min, "largest": np.max}[of_months])
    point = ROWS.names["point"] / 100
    return [level_of(of_months, found, around - point, around + point, 100.0, " %")]


def _typical(test: Tester, metric: str, classes: str, low: float, high: float) -> list[Part]:
    """Ask for limits on the median over the months, by class."""
    chosen: Sequence[str] = (
        labels.CLASSES if classes == "every" else [f"{classes}_{size}" for size in labels.SIZES]
    )
    return [
        level_of(one.replace("_", "-"), _summary(test, metric, np.median, one), low, high, 100.0, " %")
        for one in chosen
    ]


def _periods(test: Tester, in_month: str) -> list[Part]:
    """Ask that fewer jobs arrive in an hour of each period than of the one before it."""
    names = ("peak − intermediate", "intermediate − low")
    if in_month not in test.months or test.study.data["arrivals"].isnull().all():
        return [Open(name, f"{month(in_month)} is not in this grid") for name in names]
    found = table_of_month(test.study, "arrivals", in_month)[WEEKDAYS].mean(axis=0)
    workload, hours = test.study.parameters("workload", in_month), np.arange(24)
    peak, intermediate = (
        (hours >= workload[key][0]) & (hours < workload[key][1])
        for key in ("peak_hours", "intermediate_hours")
    )
    levels = [found[chosen].mean(axis=0) for chosen in (peak, intermediate, ~peak & ~intermediate)]
    return [
        level_of(f"arrivals in an hour, {name}", Sample(levels[i] - levels[i + 1], DONE), 0.0)
        for i, name in enumerate(names)
    ]


def _shares_without_memory(test: Tester) -> str:
    """Return how many jobs do not fit into memory, and how few any policy must let wait."""
    shares = []
    for name in test.months:
        pair = [test.of_workload(metric, name) for metric in ("memory_is_full", "fewest_waiting_for_memory")]
        if not any(one.reason for one in pair):
            full, fewest = (f"{100 * np.nanmean(one.values):.2g} %" for one in pair)
            shares.append(f"{month(name)} {full} and {fewest}")
    return (
        "Share of jobs that would not fit if every job began at once, and the smallest share that must wait "
        f"under any policy, a few of the largest jobs: {'; '.join(shares) or 'none'}."
    )


TESTERS: Mapping[str, Callable[..., Any]] = {
    "ratios": _ratios, "together": _together, "low_only_in": _low_only_in, "against_all": _against_all,
    "hours": _hours, "waits_of_classes": _waits_of_classes, "share": _share, "spread": _spread,
    "overdue_jobs": _overdue_jobs,
    "long_jobs": _long_jobs, "high_load": _high_load, "table_4": _table_4, "demand": _demand, "level": _level,
    "over_months": _over_months, "typical": _typical, "periods": _periods,
    "shares_without_memory": _shares_without_memory,
}  # fmt: skip


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's policies or metrics can decide, tested under one reading."""
    sections = [one for policy, some in SECTIONS.items() if policy in study.policies for one in some]
    if labels.DEMAND in study.data:
        sections = ["workload"]
    return ROWS.claims(Tester(study), TESTERS, *sections) if sections else ()
