"""Responsiveness: slowdowns by length and by hour, preemption, throughput against UNICOS MAX."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of
from analysis.jette1997 import derived
from analysis.jette1997.claims.margins import (
    FEW_PERCENT,
    FOUR_DIGITS,
    GREAT_VARIATION,
    MOST,
    POINTS,
    SAME,
    SLOWDOWN_POINTS,
    WELL,
)
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import (
    CLASS_DELIVERED,
    CLASS_ENDED,
    CLASS_JOBS,
    CLASS_PREEMPTED,
    DAY,
    EVENING,
    GANG,
    HISTORY,
    HOUR,
    INTERACTIVE,
    LENGTH,
    LONGEST,
    MORNING,
    NIGHT,
    PREEMPTED,
    SHORTEST,
    SITE_CLASS,
    UNICOS_MAX,
    UTILIZATION,
    by,
    told,
)
from analysis.study.sample import Sample

BEGUN, BEGUN_LATER, UNDELAYED = "begun_10s", "begun_60s", "undelayed"
"""Shares of jobs that begin within ten seconds, and within a minute, and that have a slowdown below 1.05."""


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    yield from _of_three_weeks(test)
    yield from _by_hour(test)
    if UNICOS_MAX in test.study.policies:
        yield from _against_unicos_max(test)


def _of_three_weeks(test: Tester) -> Iterator[Claim]:
    period = told(test.weeks)
    aggregate = test.get(derived.interactive_slowdown, GANG, test.weeks)
    yield test.claim(
        "t3d-slowdown-18-percent",
        "Cray T3D: “The slowdown of the aggregate interactive workload was 18%, which is viewed quite "
        "favorably.”",
        "Response times of all interactive jobs together over their runtimes together lie within "
        f"{100 * SLOWDOWN_POINTS:.0f} points of 1.18.",
        [
            test.slowdown(
                f"interactive slowdown, {period}", aggregate, 1.18 - SLOWDOWN_POINTS, 1.18 + SLOWDOWN_POINTS
            )
        ],
        also={
            "The conclusions' “less than 20 percent”": [test.slowdown(f"{period}", aggregate, high=1 + WELL)]
        },
        figures=("responsiveness",),
    )
    yield test.claim(
        "5-slowdown-under-20-percent",
        "Conclusions: “… providing the aggregate interactive workload with a slowdown of less than 20 "
        "percent.”",
        f"The same ratio is below {1 + WELL:g}, in the three weeks and over all months.",
        [
            test.slowdown(
                f"interactive slowdown, {told(name)}",
                test.get(derived.interactive_slowdown, GANG, name),
                high=1 + WELL,
            )
            for name in test.periods
        ],
        figures=("responsiveness",),
    )
    yield test.claim(
        "t3d-eight-percent-preempted",
        "Cray T3D: “This strategy results in only about eight percent of all jobs ever being preempted.”",
        f"The share of all jobs that are preempted at least once lies within {100 * POINTS:.0f} points of 8 "
        "%.",
        [
            test.share(
                f"jobs ever preempted, {told(name)}",
                _weighed(test, PREEMPTED, name),
                0.08 - POINTS,
                0.08 + POINTS,
            )
            for name in test.periods
        ],
        figures=("responsiveness",),
    )
    yield test.claim(
        "t3d-usually-not-preempted",
        "Cray T3D: “The interactive jobs then usually continue execution until completion without "
        "preemption.”",
        f"Fewer than {MOST:.0%} of the interactive jobs are ever preempted.",
        [test.share(f"interactive jobs ever preempted, {period}", _class_preempted(test), high=MOST)],
        figures=("responsiveness",),
    )
    names = test.periods
    yield test.claim(
        "t3d-long-jobs-few-percent",
        "Cray T3D: “Most longer running interactive jobs enjoy slowdowns of only a few percent.”",
        f"More than {MOST:.0%} of the interactive jobs of an hour or more have a slowdown below "
        f"{1 + FEW_PERCENT:g}.",
        [
            test.share(
                f"interactive jobs of 1 h and more below {1 + FEW_PERCENT:g}, {told(name)}",
                test.get(derived.grouped, UNDELAYED, LENGTH, (LONGEST,), GANG, name),
                MOST,
            )
            for name in names
        ],
        also={
            "Of all of them together": [
                test.slowdown(
                    f"slowdown, {told(name)}",
                    test.get(derived.grouped, "slowdown", LENGTH, (LONGEST,), GANG, name),
                    high=1 + FEW_PERCENT,
                )
                for name in names
            ]
        },
        figures=("by-length",),
    )
    yield test.claim(
        "t3d-variation",
        "Cray T3D: “Further investigation shows a great deal of variation in slowdown.”",
        f"Interactive jobs under ten seconds, as a whole, have more than {GREAT_VARIATION:g} times the "
        "slowdown of those of an hour or more.",
        [
            test.times(
                f"slowdown, {SHORTEST} / {LONGEST}, {period}",
                [
                    test.get(derived.grouped, "slowdown", LENGTH, (length,), GANG, test.weeks)
                    for length in (SHORTEST, LONGEST)
                ],
                GREAT_VARIATION,
            )
        ],
        figures=("by-length",),
    )


def _by_hour(test: Tester) -> Iterator[Claim]:
    period, data = told(test.weeks), set(test.study.data)
    day = f"{MORNING}:00 to {EVENING}:00"
    if by(BEGUN, HOUR) in data:
        begun, later = (
            test.get(derived.grouped, kind, HOUR, DAY, GANG, test.weeks) for kind in (BEGUN, BEGUN_LATER)
        )
        yield test.claim(
            "t3d-daytime-within-seconds",
            "Cray T3D: “Interactive jobs executed during the daytime typically begin execution within "
            "seconds”",
            f"More than {MOST:.0%} of the interactive jobs submitted from {day} begin within ten seconds.",
            [test.share(f"begun within 10 s, {period}", begun, MOST)],
            also={"Within a minute": [test.share(f"begun within 60 s, {period}", later, MOST)]},
            figures=("by-hour",),
        )
    if by("preempted", HOUR) in data:
        yield test.claim(
            "t3d-daytime-not-preempted",
            "Cray T3D: “Interactive jobs executed during the daytime typically … are not preempted.”",
            f"Fewer than {MOST:.0%} of the interactive jobs submitted from {day} are ever preempted.",
            [
                test.share(
                    f"ever preempted, {period}",
                    test.get(derived.grouped, "preempted", HOUR, DAY, GANG, test.weeks),
                    high=MOST,
                )
            ],
            figures=("by-hour",),
        )
    yield test.claim(
        "t3d-four-digits-at-night",
        "Cray T3D: “Interactive jobs executed during late night and early morning hours experienced "
        "slowdowns as high as 1371 (a one second job delayed for about 23 minutes).”",
        f"The largest slowdown of an interactive job that is submitted outside of {day} is "
        f"{FOUR_DIGITS:,.0f} or more, in the mean over independent runs.",
        [
            test.slowdown(
                f"largest slowdown at night, {period}", _largest(test, NIGHT, test.weeks), FOUR_DIGITS
            )
        ],
        also={
            "In 15 months": [
                test.slowdown("largest slowdown at night", _largest(test, NIGHT, test.months), FOUR_DIGITS)
            ]
        },
        note=_shown(test.slowdown(f"by day, {period}", _largest(test, DAY, test.weeks)), test),
        figures=("by-hour",),
    )
    yield test.claim(
        "t3d-worse-at-night",
        "Cray T3D: “However the computer is configured for high utilization and batch job execution during "
        "these hours, so high slowdowns are not unexpected.”",
        f"Interactive jobs submitted outside of {day}, as a whole, have a higher slowdown than those of the "
        "day.",
        [
            test.times(
                f"slowdown, night / day, {period}",
                [
                    test.get(derived.grouped, "slowdown", HOUR, hours, GANG, test.weeks)
                    for hours in (NIGHT, DAY)
                ],
                1.0,
            )
        ],
        figures=("by-hour",),
    )


def _against_unicos_max(test: Tester) -> Iterator[Claim]:
    names, one = test.periods, test.benchmark
    yield test.claim(
        "t3d-21-percent-throughput",
        "Cray T3D: “Benchmarks run against both UNICOS MAX and an early prototype of the LLNL gang scheduler "
        "showed a 21 percent improvement in interactive job throughput”",
        "Interactive jobs ended in a unit of time, gang scheduler over UNICOS MAX, lie within "
        f"{100 * SLOWDOWN_POINTS:.0f} points of 1.21. What was run is lost; here users go on as fast as they "
        "are served, and batch jobs are never short (workload t3d_benchmark).",
        [_more(test, CLASS_ENDED, one, (INTERACTIVE,), 1.21 - SLOWDOWN_POINTS, 1.21 + SLOWDOWN_POINTS)],
        also={
            "Any improvement": [_more(test, CLASS_ENDED, one, (INTERACTIVE,), 1.0)],
            "Of the site's own users": [
                _more(test, CLASS_ENDED, name, (INTERACTIVE,), 1.0) for name in names
            ],
        },
        figures=("responsiveness",),
    )
    yield test.claim(
        "t3d-no-loss-of-total",
        "Cray T3D: “… with no reduction in aggregate throughput.”",
        "Processor time delivered to jobs of all classes in a unit of time, gang scheduler over UNICOS MAX, "
        f"is above {1 - SAME:g}.",
        [_more(test, CLASS_DELIVERED, one, (), 1 - SAME)],
        also={
            "Of the site's own users": [_more(test, CLASS_DELIVERED, name, (), 1 - SAME) for name in names]
        },
        figures=("responsiveness",),
    )
    yield test.claim(
        "t3d-aggregate-improves",
        "Cray T3D: “The current implementation has additional performance enhancements and should show an "
        "aggregate throughput improvement of a few percent.”",
        "The same ratio is above 1; how much above is in the evidence.",
        [_more(test, CLASS_DELIVERED, one, (), 1.0)],
        also={"Of the site's own users": [_more(test, CLASS_DELIVERED, name, (), 1.0) for name in names]},
        figures=("responsiveness",),
    )
    first, last = HISTORY[UNICOS_MAX]
    good = test.get(derived.interactive_slowdown, UNICOS_MAX, test.weeks)
    yield test.claim(
        "t3d-interactivity-good-before",
        "Cray T3D, before gang scheduling: “While interactivity was generally good, …”",
        f"The interactive workload as a whole has a slowdown below {1 + WELL:g} under UNICOS MAX, in the "
        f"three weeks. (The site had it in months {first} to {last}, with less demand.)",
        [test.slowdown(f"interactive slowdown under UNICOS MAX, {told(test.weeks)}", good, high=1 + WELL)],
        figures=("responsiveness",),
    )
    yield test.claim(
        "0-better-responsiveness-and-utilization",
        "Abstract: “Time-slicing of parallel jobs provides for better overall system responsiveness and "
        "utilization than otherwise possible.”",
        "The gang scheduler's utilization is higher than UNICOS MAX's, and the slowdown of the interactive "
        "workload is lower.",
        [
            part
            for name in names
            for part in (
                _utilization(test, name),
                test.times(
                    f"interactive slowdown, gang / UNICOS MAX, {told(name)}",
                    [test.get(derived.interactive_slowdown, one, name) for one in (GANG, UNICOS_MAX)],
                    high=1.0,
                ),
            )
        ],
        figures=("responsiveness",),
    )


def _weighed(test: Tester, metric: str, workload: str, policy: str = GANG) -> Sample:
    return test.at(metric, policy, workload=workload)


def _class_preempted(test: Tester) -> Sample:
    share, jobs = (
        test.get(derived.raw, metric, GANG, test.weeks, **{SITE_CLASS: INTERACTIVE})
        for metric in (CLASS_PREEMPTED, CLASS_JOBS)
    )
    return derived.ratio(derived.product(share, jobs), jobs)


def _largest(test: Tester, hours: tuple[str, ...], workload: str) -> Sample:
    every = test.get(derived.raw, by("slowdown_max", HOUR), GANG, workload)
    return derived.largest(derived.at(test.study, every, HOUR, hours))


def _more(
    test: Tester, metric: str, workload: str, classes: tuple[str, ...], low: float, high: float = float("inf")
) -> Part:
    what = "interactive jobs ended" if classes else "processor time delivered"
    pair = [test.get(derived.rate, metric, one, workload, classes) for one in (GANG, UNICOS_MAX)]
    return test.times(f"{what}, gang / UNICOS MAX, {told(workload)}", pair, low, high)


def _utilization(test: Tester, workload: str) -> Part:
    name = f"utilization, gang minus UNICOS MAX, {told(workload)}"
    a, b = (_weighed(test, UTILIZATION, workload, one) for one in (GANG, UNICOS_MAX))
    if reason := a.reason or b.reason:
        return Open(name, reason)
    return difference_of(name, a.values, b.values, 0.0, scale=100.0, unit=" points")


def _shown(part: Part, test: Tester) -> str:
    return part.describe(test.study.confidence).partition(" (asked")[0]
