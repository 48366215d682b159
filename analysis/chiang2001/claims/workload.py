"""Demands of the classes, asked of the generated months (section 3 and Table 4).

The generated months are built to meet most of it: such a claim says that they do, not that the logs did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.chiang2001.claims.demands import table_4
from analysis.chiang2001.claims.margins import AT_ONCE, POINT, ROUNDING
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import (
    CLASSES,
    DEMAND,
    FEWEST,
    IS_FULL,
    MEMORY_DEMAND,
    MUST_WAIT,
    NUMBER,
    TABLE_CLASS,
    TIMES,
    month,
)
from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import level_of
from analysis.study.curve import DONE
from analysis.study.groups import ALL
from analysis.study.sample import Sample

BUILT = "The workload is built to meet this."
WORDS = {NUMBER: "jobs", DEMAND: "processor demand", MEMORY_DEMAND: "memory demand"}


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on demands."""
    yield from _table(test)
    yield from _demands(test)
    yield from _room_in_memory(test)


def of(test: Tester, metric: str, name: str, job_class: str = ALL) -> Sample:
    """Return a metric of the jobs of a month."""
    return test.at(metric, test.study.policies[0], workload=name, **{TABLE_CLASS: job_class})


def _by_class(test: Tester, metric: str, name: str) -> np.ndarray:
    """Return a metric of all jobs and each class, shape (13, replications, batches)."""
    return np.array([of(test, metric, name, job_class=one).values for one in (ALL, *CLASSES)])


def _table(test: Tester) -> Iterator[Claim]:
    for metric, margin, words in (
        (NUMBER, 0.5, "exactly"),
        (DEMAND, POINT, f"within {POINT:g} point of a percent"),
        (MEMORY_DEMAND, POINT, f"within {POINT:g} point of a percent"),
    ):
        yield test.claim(
            f"3-table-4-{metric.replace('_', '-')}",
            "Table 4: “Total Monthly Processor and Memory Demand By LSF Job Class”",
            f"The {WORDS[metric]} of each class are those of Table 4, {words}: the largest difference over "
            "the twelve classes, in each month.",
            [_largest_difference(test, metric, name, margin) for name in test.months],
            note=BUILT,
        )


def _largest_difference(test: Tester, metric: str, name: str, margin: float) -> Part:
    title = f"largest difference of the {WORDS[metric]}, {month(name)}"
    paper = table_4(name, test.study)
    first = of(test, metric, name)
    if paper is None or first.reason:
        return Open(title, first.reason or "Table 4 has no such month")
    expected = getattr(paper, "jobs" if metric == NUMBER else metric)
    gap = np.abs(_by_class(test, metric, name)[1:] - expected[1:, None, None]).max(axis=0)
    return level_of(title, Sample(gap, DONE), high=margin)


def _demands(test: Tester) -> Iterator[Claim]:
    large = [
        _share(f"lj jobs, {month(name)}", _sum(test, name, [f"{time}_lj" for time in TIMES]), low=30.0)
        for name in test.months
    ]
    yield test.claim(
        "3-large-jobs-demand",
        "3: “the large jobs (lj) have high demand (i.e., over 30% of the total available processing time "
        "during four of the months)”",
        "The processor demand of the lj classes is over 30 % in at least four months.",
        large,
        needed=4,
        note=BUILT,
    )
    usual = [
        _share(f"all jobs, {month(name)}", of(test, DEMAND, name), 80 - ROUNDING, 90 + ROUNDING)
        for name in test.months
    ]
    yield test.claim(
        "3-aggregate-demand",
        "3: “the aggregate execution time of the submitted jobs is typically 80-90% of the total available "
        "time on the O2K hosts.”",
        "The processor demand of all jobs is 80 to 90 %, as whole numbers, in more than half of the months.",
        usual,
        needed=len(usual) // 2 + 1,
        note=BUILT,
    )
    sentence = (
        "3: “the mt-lj jobs demand 10-15% of the processing time available on the hosts each month, while "
        "the lt-mj jobs demand only 1-5% of the available processing cycles.”"
    )
    for job_class, low, high, note in (
        ("mt_lj", 10, 15, BUILT),
        ("lt_mj", 1, 5, "Table 4 itself has 6 % for lt-mj in January 2000. " + BUILT),
    ):
        yield test.claim(
            f"3-demand-of-{job_class.replace('_', '-')}",
            sentence,
            f"The processor demand of {job_class.replace('_', '-')} jobs is {low} to {high} %, as whole "
            "numbers, in each month.",
            [
                _share(
                    f"{job_class.replace('_', '-')}, {month(name)}",
                    of(test, DEMAND, name, job_class=job_class),
                    low - ROUNDING,
                    high + ROUNDING,
                )
                for name in test.months
            ],
            note=note,
        )


def _room_in_memory(test: Tester) -> Iterator[Claim]:
    shares = []
    for name in test.months:
        pair = [of(test, metric, name) for metric in (IS_FULL, FEWEST)]
        if not any(one.reason for one in pair):
            full, fewest = (f"{100 * np.nanmean(one.values):.2g} %" for one in pair)
            shares.append(f"{month(name)} {full} and {fewest}")
    yield test.claim(
        "4.4-room-in-memory",
        "4.4: “More than 99% of the arriving jobs in each workload are placed on a host for full execution "
        "immediately upon arrival”",
        f"That asks for memory: with the memory of all hosts as one, no job slowed by others, and memory for "
        f"the first submitted that fits, less than {1 - AT_ONCE:.0%} of the jobs find no room on arrival, in "
        "each month.",
        [
            level_of(month(name), of(test, MUST_WAIT, name), high=1 - AT_ONCE, scale=100.0, unit=" %")
            for name in test.months
        ],
        note="Share of jobs that would find no room if every job began at once, and the smallest share that "
        f"any policy must let wait, which would choose a few of the largest: {'; '.join(shares) or 'none'}.",
    )


def _sum(test: Tester, name: str, classes: Sequence[str]) -> Sample:
    samples = [of(test, DEMAND, name, job_class=one) for one in classes]
    bad = next((one.status for one in samples if one.status != DONE), DONE)
    return Sample(np.nansum([one.values for one in samples], axis=0), bad)


def _share(title: str, one: Sample, low: float = -np.inf, high: float = np.inf) -> Part:
    return level_of(title, one, low, high, unit=" %")
