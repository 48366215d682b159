"""What else the text says of the jobs, asked of the generated months (sections 2.4 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from analysis.chiang2001.claims.demands import table_of_month
from analysis.chiang2001.claims.margins import LARGE_SHARE, MOST, NEARLY_ALL, POINT, ROUNDING
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.claims.workload import BUILT, of
from analysis.chiang2001.labels import CLASSES, MARCH, SIZES, month
from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import level_of
from analysis.study.curve import DONE
from analysis.study.groups import ALL
from analysis.study.sample import Sample

WEEKDAYS = slice(0, 5)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on runtimes, memory, processors and arrivals."""
    yield from _early_ends(test)
    yield from _shapes(test)
    yield from _arrivals(test)


def _early_ends(test: Tester) -> Iterator[Claim]:
    half, point = ROUNDING / 100, POINT / 100
    for metric, hours, low, high, source in (
        ("over_an_hour_ends_in_a_minute", "an hour", 0.12, 0.33,
         "2.4: “12-33% of the jobs that request over an hour of running time terminate in under one "
         "minute.”"),
        ("over_ten_hours_ends_in_a_minute", "ten hours", 0.11, 0.42,
         "2.4: “For jobs that request over ten hours of running time, 11-42% terminate in under one "
         "minute.”"),
    ):  # fmt: skip
        yield test.claim(
            f"2.4-{metric.replace('_', '-')}",
            source,
            f"Of the jobs that request over {hours}, {low:.0%} to {high:.0%} end in under one minute, in "
            "each month.",
            [
                level_of(month(name), of(test, metric, name), low - half, high + half, 100.0, " %")
                for name in test.months
            ],
            note=BUILT,
        )
        yield test.claim(
            f"2.4-{metric.replace('_', '-')}-spread",
            source,
            f"Over the months, the smallest share of the jobs that request over {hours} and end in under one "
            f"minute is {low:.0%}, the largest {high:.0%}, within {POINT:g} point of a percent.",
            [
                level_of(word, _over_months(test, metric, of_months), end - point, end + point, 100.0, " %")
                for word, of_months, end in (("smallest", np.min, low), ("largest", np.max, high))
            ],
            note=BUILT,
        )
    for name, metric, classes, low, high, source in (
        ("under-a-minute", "under_a_minute", CLASSES, 0.15 - half, 0.2 + half,
         "3: “15-20% of the jobs in each class have actual execution time less than one minute.”"),
        ("lt-short-enough-for-st", "short_enough_for_st", [f"lt_{size}" for size in SIZES], 0.5, 1.0 + half,
         "3: “Over 50% of the lt jobs could have requested an st runtime”"),
        ("memory-under-a-tenth", "memory_under_tenth", CLASSES, 0.25 - half, 0.35 + half,
         "3: “25-35% of the jobs in each class have actual (maximum) memory usage that is less than 10% of "
         "the memory requested.”"),
    ):  # fmt: skip
        parts = [
            level_of(
                one.replace("_", "-"),
                _over_months(test, metric, np.median, one),
                low, high, 100.0, " %",
            )
            for one in classes
        ]  # fmt: skip
        statement = (
            "So, by class, in a typical month: the median over the months, of all jobs and not only those of "
            "weekday peaks."
        )
        yield test.claim(f"3-{name}", source, statement, parts, note=BUILT)


def _over_months(
    test: Tester, metric: str, summarise: Callable[..., np.ndarray], job_class: str = ALL
) -> Sample:
    """Return the smallest, the largest or the median of the months' values, replication by replication."""
    samples = [of(test, metric, name, job_class) for name in test.months]
    bad = next((one.status for one in samples if one.status != DONE), "")
    if bad:
        return Sample.absent(bad)
    return Sample(summarise([one.values for one in samples], axis=0), DONE)


def _shapes(test: Tester) -> Iterator[Claim]:
    for name, metric, low, high, source in (
        ("under-a-minute-below-1-gb", "under_a_minute_below_1gb", NEARLY_ALL, 1.01,
         "3: “Nearly all jobs that complete in under one minute use less than one gigabyte of memory.”"),
        ("many-serial-jobs", "serial_share", LARGE_SHARE, np.inf,
         "3: “a large fraction of the jobs are serial”"),
        ("many-powers-of-two", "power_of_two_share", MOST, np.inf,
         "3: “many jobs request power-of-2 processors”"),
        ("serial-jobs-over-512-mb", "serial_over_512mb", 0.45, 0.55,
         "3: “50% of the serial jobs request more than 512 MB”"),
        ("longer-jobs-are-wider", "runtime_size_correlation", 0.0, np.inf,
         "3: “there is a positive correlation between the actual job runtime and the number of processors "
         "requested”"),
        ("shorter-jobs-use-less-memory", "runtime_used_memory_correlation", 0.0, np.inf,
         "3: “Jobs that have shorter actual runtime also tend to have lower ratio of memory used to "
         "processors requested”"),
        ("wider-jobs-request-less-memory", "memory_size_correlation", -np.inf, 0.0,
         "3: “During weekday-peak periods there is a negative correlation between requested memory "
         "per-processor and job parallelism.”"),
        ("serial-jobs-use-more-memory", "serial_memory_ratio", 1.0, np.inf,
         "3: “during the weekday peak periods … serial jobs tend to have higher ratio of peak memory usage "
         "divided by requested number of processors than parallel jobs.”"),
    ):  # fmt: skip
        yield test.claim(
            f"3-{name}",
            source,
            f"{_asked(metric, low, high)}, in each month.",
            [level_of(month(one), of(test, metric, one), low, high) for one in test.months],
        )


def _arrivals(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "3-three-periods",
        "3: “three periods (peak, intermediate, and low) of relatively stable job arrival rate”",
        "In March 2000, from Monday to Friday, more jobs arrive in an hour of the peak than of the "
        "intermediate period, and more in that than in an hour of the low one.",
        _periods(test),
        note=BUILT,
    )


def _asked(metric: str, low: float, high: float) -> str:
    name = metric.replace("_", " ").capitalize()
    if np.isinf(high):
        return f"{name} is above {low:g}"
    return (
        f"{name} is below {high:g}" if np.isinf(low) else f"{name} lies between {low:g} and {min(high, 1):g}"
    )


def _periods(test: Tester) -> list[Part]:
    names = ("peak − intermediate", "intermediate − low")
    if MARCH not in test.months or test.study.data["arrivals"].isnull().all():
        return [Open(name, "March 2000 is not in this grid") for name in names]
    found = table_of_month(test.study, "arrivals", MARCH)[WEEKDAYS].mean(axis=0)
    workload = test.study.parameters("workload", MARCH)
    hours = np.arange(24)
    peak, intermediate = (_between(hours, workload[key]) for key in ("peak_hours", "intermediate_hours"))
    low = ~peak & ~intermediate
    levels = [found[chosen].mean(axis=0) for chosen in (peak, intermediate, low)]
    return [
        level_of(f"arrivals in an hour, {name}", Sample(levels[i] - levels[i + 1], DONE), 0.0)
        for i, name in enumerate(names)
    ]


def _between(hours: np.ndarray, period: Sequence[float]) -> np.ndarray:
    begin, end = period
    inside: np.ndarray = (hours >= begin) & (hours < end)
    return inside
