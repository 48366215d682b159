"""Backfilling with gang scheduling (Zhang et al. 2003), and two ways of backfilling (Mu'alem 2001)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim, Part
from analysis.families.claims.margins import ALL
from analysis.families.claims.tester import Entry, Tester, bounded
from analysis.families.labels import (
    CONSERVATIVE,
    EASY,
    EXACT,
    FCFS_QUEUE,
    MEASURES,
    REAL,
    RESPONSE,
    SLOWDOWN,
)

ZHANG = (
    "Zhang, Franke, Moreira and Sivasubramaniam, TPDS 14(3), 2003, abstract: “the benefits of combining the "
    "various techniques are shown over a spectrum of performance criteria.”"
)
MUALEM = "Mu'alem and Feitelson, TPDS 12(6), 2001, abstract: "
DEPENDS = f"{MUALEM}“the relative performance of the two schemes depends on the workload”"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences, as far as the grid has who they are about."""
    if test.levels and test.among(EASY):
        yield from _combined(test)
    if test.among(EASY) and test.among(CONSERVATIVE):
        yield from _backfilling(test)
    if test.among(EASY):
        yield _overestimates(test)


def _combined(test: Tester) -> Iterator[Claim]:
    for level in test.levels:
        both = bounded(test.scheme, level)
        alone = (("backfilling", Entry(EASY)), ("gang", bounded(test.scheme, level, FCFS_QUEUE)))
        for name, other in alone:
            against = "EASY" if name == "backfilling" else f"the same {level} slots with an FCFS queue"
            yield test.claim(
                f"zhang2003-beats-{name}-{level}",
                ZHANG,
                f"Gang scheduling in {level} slots with a backfilled queue has a lower mean bounded "
                f"slowdown and a lower mean response time than {against}, under every workload, over all "
                "loads at which both keep up.",
                test.better((SLOWDOWN, RESPONSE), both, other),
                figures=("levels-slowdown", "levels-response"),
            )


def _backfilling(test: Tester) -> Iterator[Claim]:
    def parts(low: float, high: float) -> list[Part]:
        return [
            test.ratio(
                metric, Entry(EASY, requests=asked), Entry(CONSERVATIVE, requests=asked), name, ALL, low, high
            )
            for metric in MEASURES for asked in (REAL, EXACT) for name in test.workloads
        ]  # fmt: skip

    for name, who, low, high in (
        ("easy-somewhere", "EASY is better than conservative backfilling", -float("inf"), 1.0),
        ("conservative-somewhere", "Conservative backfilling is better than EASY", 1.0, float("inf")),
    ):
        yield test.claim(
            f"mualem2001-{name}",
            DEPENDS,
            f"{who} under one workload, one measure and one kind of requests at least, over all loads at "
            "which both keep up. With its counterpart: which of the two is better depends on these.",
            parts(low, high),
            needed=1,
        )


def _overestimates(test: Tester) -> Claim:
    return test.claim(
        "mualem2001-overestimates-help",
        f"{MUALEM}“Backfilling actually works better when users overestimate the runtime by a substantial "
        "factor.”",
        "The mean bounded slowdown under EASY is lower with requests as users make them than with exact "
        "ones, under every workload, over all loads at which both keep up.",
        [
            test.ratio(SLOWDOWN, Entry(EASY, requests=REAL), Entry(EASY, requests=EXACT), name, high=1.0)
            for name in test.workloads
        ],
    )
