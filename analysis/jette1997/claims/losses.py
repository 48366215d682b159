"""What becomes of the processor time that no job gets: switching, packing, limits, no work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.claims.comparisons import difference_of
from analysis.jette1997 import derived
from analysis.jette1997.claims.margins import SLIGHT
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import (
    BENCHMARK,
    CLASS_JOBS,
    CLASS_PREEMPTED,
    DEBUG,
    GANG,
    LIMITS,
    MONTHS,
    PACKING,
    SITE_CLASS,
    SWITCHING,
    UNICOS_MAX,
    told,
)
from analysis.study.sample import Sample


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    names = test.periods
    yield test.claim(
        "overview-switching-slight",
        "Overview: “The CPU resources sacrificed for context switching is slight”; workload "
        "characterization: “preempt jobs as needed to execute large jobs in a timely fashion with minimal "
        "overhead.”",
        f"Under the gang scheduler less than {SLIGHT:.0%} of all processor time goes into switching.",
        [
            test.share(f"switching, {told(name)}", share(test, SWITCHING, GANG, name), high=SLIGHT)
            for name in names
        ],
        figures=("lost",),
    )
    yield test.claim(
        "t3d-three-things",
        "Cray T3D: “CPU utilization is reduced by three things”: context switches, “sets of processors on "
        "which no job can fit, a packing problem”, and insufficient work.",
        f"Under the gang scheduler less than {SLIGHT:.0%} of all processor time is lost to anything else, "
        "that is to the limits of classes and queues.",
        [test.share(f"limits, {told(name)}", share(test, LIMITS, GANG, name), high=SLIGHT) for name in names],
        figures=("lost",),
    )
    yield from _rules(test, names)
    if UNICOS_MAX not in test.study.policies:
        return
    yield test.claim(
        "t3d-switching-compensated",
        "Cray T3D: “The cost of moving jobs' state between memory and disk to provide responsiveness was "
        "fully compensated for by more efficient packing of the processor torus.”",
        "What UNICOS MAX loses to packing beyond the gang scheduler is more than the gang scheduler loses to "
        "switching.",
        [_compensated(test, name) for name in names],
        figures=("lost",),
    )
    yield test.claim(
        "t3d-held-back-before",
        "Cray T3D, before gang scheduling: “our batch workload was dramatically reduced at 4:00 AM. As batch "
        "jobs completed, their released resources might remain unused by any interactive job for many "
        "hours.”",
        "More processor time is idle because of limits under UNICOS MAX than under the gang scheduler.",
        [
            _difference(
                f"limits, UNICOS MAX minus gang, {told(name)}",
                share(test, LIMITS, UNICOS_MAX, name),
                share(test, LIMITS, GANG, name),
            )
            for name in names
        ],
        figures=("lost",),
    )


def share(test: Tester, metric: str, policy: str, workload: str) -> Sample:
    """Return a share of all processor time over a whole run."""
    return test.get(derived.of_months, metric, policy, workload, 1, MONTHS)


def _difference(label: str, a: Sample, b: Sample) -> Part:
    if reason := a.reason or b.reason:
        return Open(label, reason)
    return difference_of(label, a.values, b.values, 0.0, scale=100.0, unit=" points")


def _compensated(test: Tester, workload: str) -> Part:
    label = f"packing under UNICOS MAX minus packing and switching under gang, {told(workload)}"
    before = share(test, PACKING, UNICOS_MAX, workload)
    now = [share(test, metric, GANG, workload) for metric in (PACKING, SWITCHING)]
    if reason := next((one.reason for one in (before, *now) if one.reason), ""):
        return Open(label, reason)
    return difference_of(
        label, before.values, now[0].values + now[1].values, 0.0, scale=100.0, unit=" points"
    )


def _rules(test: Tester, names: tuple[str, ...]) -> Iterator[Claim]:
    """Yield what is no matter of chance."""
    yield test.claim(
        "classes-never-preempted",
        "Classes: “Debug jobs can not be preempted on the Cray T3D”; benchmark jobs “can not be preempted.”",
        "No debug or benchmark job is ever preempted, in any run.",
        [
            _never(test, name, workload)
            for name in (DEBUG, BENCHMARK)
            for workload in names
            if name == DEBUG or _has(test, name, workload)
        ],
    )


def _has(test: Tester, name: str, workload: str) -> bool:
    """Whether a workload has jobs of a class."""
    found = test.get(derived.raw, CLASS_JOBS, GANG, workload, **{SITE_CLASS: name})
    return not found.reason and bool(np.nansum(found.values) > 0)


def _never(test: Tester, name: str, workload: str) -> Part:
    label = f"{name} jobs ever preempted, {told(workload)}"
    found = test.get(derived.raw, CLASS_PREEMPTED, GANG, workload, **{SITE_CLASS: name})
    if found.reason:
        return Open(label, found.reason)
    return Fact(f"no {label}", bool(np.nanmax(found.values) == 0))
