"""How the sentences on the Cray T3D are tested (``claims.yaml``): samples computed from weeks, compared."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import AxisRange, difference_of, level_of, ratio, ratio_of
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester as Base
from analysis.jette1997 import derived, labels
from analysis.study import Study
from analysis.study.curve import Sample

ROWS = Rows(Path(__file__).parent)

REPORTED = (44.5e6 + 289.5e6, 21 * 86400.0)
"""CPU-seconds of interactive and batch jobs from July 23 to August 12, and the seconds of that time."""

NUMBERS = {
    "interactive jobs": (labels.CLASS_JOBS, True, 2659.0),
    "batch jobs": (labels.CLASS_JOBS, False, 1328.0),
    "CPU-seconds of interactive jobs": (labels.CLASS_WORK, True, 44.5e6),
    "CPU-seconds of batch jobs": (labels.CLASS_WORK, False, 289.5e6),
}
"""Name -> metric, whether of interactive (and debug) jobs, and the number of July 23 to August 12."""

USUAL_COST = "1"
"""About one second per preempted processor."""


def multipliers(study: Study) -> list[str]:
    """Return the multipliers of the grid, ascending, without the value at which no job is preempted."""
    return sorted((value for value in study.values_of(labels.MULTIPLIER) if value != labels.NEVER), key=float)


def costs(study: Study) -> list[str]:
    """Return the costs of a switch, ascending, s per processor."""
    return sorted(study.values_of(labels.SWITCH_COST), key=float)


class Tester(Base):
    """Tests sentences on one study; most samples serve several of them."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, labels.KEY)
        self.weeks, self.periods = labels.reported(study), labels.periods(study)
        self.names = {
            "weeks": self.weeks, "months": labels.long_one(study), "periods": list(self.periods),
            "benchmark_week": labels.benchmark(study), "day": labels.DAY, "night": labels.NIGHT,
        }  # fmt: skip
        if study.varies(labels.MULTIPLIER):
            found, of_switch = multipliers(study), costs(study)
            cost = USUAL_COST if USUAL_COST in of_switch else of_switch[0]
            self.names |= {"least": found[0], "most": found[-1], "cost": cost}

    def get(self, fn: str, policy: str, workload: str, **arguments: Any) -> Sample:
        """Return the sample that a function of `derived`, or of `SAMPLES`, computes from the study."""
        compute = SAMPLES.get(fn) or getattr(derived, fn)
        return compute(self.study, policy=policy, workload=workload, **arguments)


def _mean(study: Study, metric: str, policy: str, workload: str, **point: object) -> Sample:
    at = {"workload": workload} if workload and not point else {}
    return study.sample(metric, policy, **at, **point)


def _preempted_of_class(study: Study, policy: str, workload: str) -> Sample:
    """Return the share of the interactive jobs that are ever preempted."""
    share, jobs = (
        derived.raw(study, metric, policy, workload, **{labels.SITE_CLASS: labels.INTERACTIVE})
        for metric in (labels.CLASS_PREEMPTED, labels.CLASS_JOBS)
    )
    return derived.ratio(derived.product(share, jobs), jobs)


def _largest_at(study: Study, policy: str, workload: str, hours: Sequence[str]) -> Sample:
    """Return the largest slowdown of the interactive jobs that are submitted in some hours."""
    every = derived.raw(study, labels.by("slowdown_max", labels.HOUR), policy, workload)
    return derived.largest(derived.at(study, every, labels.HOUR, hours))


def _largest_of(study: Study, metric: str, policy: str, workload: str) -> Sample:
    """Return the largest value of a metric in each run."""
    return derived.largest(derived.raw(study, metric, policy, workload))


def _share_of_sizes(study: Study, policy: str, workload: str, sizes: Sequence[str]) -> Sample:
    """Return the share of the processor time that jobs of some sizes take."""
    work = derived.raw(study, labels.PARTITION_WORK, policy, workload)
    return derived.ratio(derived.total(derived.at(study, work, labels.PARTITION, sizes)), derived.total(work))


def _paged_out(study: Study, policy: str, workload: str) -> Sample:
    """Return the share of the processors of begun batch jobs whose images are on disk, in working hours."""
    hours = derived.raw(study, "working_hours", policy, workload)
    out, begun = (
        derived.product(derived.raw(study, metric, policy, workload), hours)
        for metric in ("day_paged_out", "day_batch")
    )
    return derived.ratio(out, begun)


def _hours_of(study: Study, policy: str, workload: str, **of: Any) -> Sample:
    """Return a time in hours."""
    return Sample.computed(
        lambda seconds: seconds / 3600.0, derived.raw(study, policy=policy, workload=workload, **of)
    )


SAMPLES: Mapping[str, Callable[..., Sample]] = {
    "mean": _mean,
    "largest_of": _largest_of,
    "hours_of": _hours_of,
    "share_of_sizes": _share_of_sizes,
    "paged_out": _paged_out,
    "preempted_of_class": _preempted_of_class,
    "largest_at": _largest_at,
}


def _on(test: Tester, workloads: Any) -> list[str]:
    """Return the workloads on which a sentence is tested, the three weeks by default."""
    return workloads if isinstance(workloads, list) else [test.weeks if workloads is None else workloads]


def _level(
    test: Tester, label: str, of: Mapping[str, Any], policy: str = labels.GANG, workloads: Any = None,
    low: float = -math.inf, high: float = math.inf, percent: bool = False,
) -> list[Part]:  # fmt: skip
    """Ask for limits on a sample."""
    unit = (100.0, " %") if percent else (1.0, "")
    return [
        level_of(
            label.replace("%s", labels.workload_title(one)),
            test.get(policy=policy, workload=one, **of),
            low,
            high,
            *unit,
        )
        for one in _on(test, workloads)
    ]


def _compared(
    compare: Callable[..., Part], test: Tester, label: str, of: Mapping[str, Any], a: Mapping[str, Any],
    b: Mapping[str, Any], workloads: Any = None, **limits: float,
) -> list[Part]:  # fmt: skip
    """Compare two samples on each workload, paired by the same jobs."""
    found = []
    for one in _on(test, workloads):
        pair = (test.get(**{"policy": labels.GANG, "workload": one, **of, **side}) for side in (a, b))
        found.append(compare(label.replace("%s", labels.workload_title(one)), *pair, **limits))
    return found


def _larger(label: str, a: Sample, b: Sample) -> Part:
    """Ask that one share is larger than another, in points."""
    return difference_of(label, a, b, 0.0, scale=100.0, unit=" points")


def _over_unicos_max(test: Tester, of: Mapping[str, Any], workloads: Any, **limits: float) -> list[Part]:
    """Compare a rate under the gang scheduler with the same rate under UNICOS MAX."""
    rate = "interactive jobs ended" if "classes" in of else "processor time delivered"
    a, b = {"policy": labels.GANG}, {"policy": labels.UNICOS_MAX}
    return _compared(ratio_of, test, f"{rate}, gang / UNICOS MAX, %s", of, a, b, workloads, **limits)


def _compensated(test: Tester) -> list[Part]:
    """Ask that UNICOS MAX loses more to packing than the gang scheduler to packing and switching."""
    parts: list[Part] = []
    for one in test.periods:
        label = (
            f"packing under UNICOS MAX minus packing and switching under gang, {labels.workload_title(one)}"
        )
        before, packing, switching = (
            test.get("of_months", policy, one, metric=metric, first=1, last=labels.MONTHS)
            for metric, policy in (
                (labels.PACKING, labels.UNICOS_MAX),
                (labels.PACKING, labels.GANG),
                (labels.SWITCHING, labels.GANG),
            )
        )
        parts.append(_larger(label, before, Sample.computed(np.add, packing, switching)))
    return parts


def _never_preempted(test: Tester, of_class: str) -> list[Part]:
    """Ask that no job of a class is ever preempted, which needs no interval."""
    parts: list[Part] = []
    for workload in test.periods:
        label = f"{of_class} jobs ever preempted, {labels.workload_title(workload)}"
        jobs, found = (
            test.get("raw", labels.GANG, workload, metric=metric, **{labels.SITE_CLASS: of_class})
            for metric in (labels.CLASS_JOBS, labels.CLASS_PREEMPTED)
        )
        reason = jobs.reason or found.reason
        if not reason and not np.nansum(jobs.values) > 0:
            reason = "no such job was run"
        parts.append(
            Open(label, reason) if reason else Fact(f"no {label}", bool(np.nanmax(found.values) == 0))
        )
    return parts


def _numbers(test: Tester, part: float) -> list[Part]:
    """Ask that each number of the three weeks is within a relative tolerance."""
    parts = []
    for name, (metric, interactive, number) in NUMBERS.items():
        whole = test.get("raw", labels.GANG, test.weeks, metric=metric)
        mine = derived.of_terminals(test.study, whole)
        others = Sample.computed(lambda all_, some: all_ - np.nan_to_num(some), derived.total(whole), mine)
        counted = derived.of_runs(mine if interactive else others)
        expected = Sample.computed(partial(np.full_like, fill_value=number), counted)
        parts.append(ratio_of(f"{name} / {number:,.0f}", counted, expected, 1 - part, 1 + part))
    return parts


def _late_at_night(test: Tester, high: float) -> list[Part]:
    """Ask how many jobs are submitted per hour of the late night, relative to working hours."""
    jobs = test.get("raw", labels.GANG, test.weeks, metric=labels.by("jobs", labels.HOUR))
    late, working = (
        derived.of_runs(derived.total(derived.at(test.study, jobs, labels.HOUR, hours)))
        for hours in (labels.LATE_NIGHT, labels.WORKING_HOURS)
    )
    label = f"interactive jobs per hour, late night / working hours, {labels.workload_title(test.weeks)}"
    hours = len(labels.WORKING_HOURS) / len(labels.LATE_NIGHT)
    return [ratio_of(label, Sample.computed(lambda jobs: hours * jobs, late), working, high=high)]


def _described(test: Tester, **level: Any) -> str:
    """Return a measurement in words."""
    return " ".join(
        part.describe(test.study.confidence).partition(" (required")[0] for part in _level(test, **level)
    )


def _demand(test: Tester, share: float) -> str:
    """Return the utilization of the other two reported weeks if one of the three has a given one."""
    work, seconds = REPORTED
    mean = work / (labels.PE * seconds)
    rest = (3 * mean - share) / 2
    return (
        f"The jobs of July 23 to August 12 are {work / 1e6:.1f} M CPU-seconds, {100 * mean:.1f} % of "
        f"{labels.PE} processors in three weeks: if one of these weeks had {100 * share:.0f} %, the other "
        f"two had {100 * rest:.0f} % on average. So weeks above {100 * share:.0f} % have more demand than "
        "the weeks whose slowdowns the paper reports."
    )


def _over_loads(
    test: Tester, label: str, metric: str, a: Mapping[str, str], b: Mapping[str, str], **limits: float
) -> list[Part]:
    """Ask for limits on the ratio of a metric at two points, at each load of every workload."""
    return [
        ratio(
            f"{label}, {labels.workload_title(one)}",
            test.curve(metric, workload=one, **a),
            test.curve(metric, workload=one, **b),
            AxisRange(f"load {load}", only=(float(load),)),
            **limits,
        )
        for one in labels.workloads(test.study)
        for load in test.study.values_of("load")
    ]


TESTERS: Mapping[str, Callable[..., Any]] = {
    "level": _level, "ratio": partial(_compared, ratio_of), "difference": partial(_compared, _larger),
    "over_unicos_max": _over_unicos_max,
    "compensated": _compensated, "never_preempted": _never_preempted, "numbers": _numbers,
    "late_at_night": _late_at_night, "described": _described, "demand": _demand,
    "over_loads": _over_loads,
}  # fmt: skip


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's axes can decide, tested under one reading."""
    for name, section in ((labels.TC2000, "tc2000"), (labels.ALPHA, "alpha")):
        if name in study.policies and study.varies("load"):
            return ROWS.claims(Tester(study), TESTERS, section)
    if labels.GANG not in study.policies or labels.CLASS_RUNTIME not in study.data:
        return ()
    if study.varies(labels.MULTIPLIER):
        return ROWS.claims(Tester(study), TESTERS, "tradeoff")
    if set(study.policies) - set(labels.SCHEDULERS):
        return ()  # a comparison with other families, in which users do not wait for answers
    return ROWS.claims(Tester(study), TESTERS, "workload", "utilization", "responsiveness", "sizes", "losses")
