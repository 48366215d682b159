"""Why: unifications and slots per job, and the example of Fig. 9 (section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import AxisRange, level, rise
from analysis.feitelson1996.claims.margins import EACH, HIGHEST, MANY, MEDIUM, NEARLY_FIVE, RARE, UPPER
from analysis.feitelson1996.claims.tester import OVER_JOBS, Tester, incomplete
from analysis.feitelson1996.drawings import fig9
from analysis.feitelson1996.labels import (
    BEST,
    FIRST_FOUR,
    LOAD_BASED,
    SCHEMES,
    SLOTS_OVER_JOBS,
    SLOTS_PER_JOB,
    UNIFICATIONS,
    USED_SLOTS,
    label,
)
from analysis.study.curve import Curve


def load_based(test: Tester) -> Iterator[Claim]:
    oblivious = (*FIRST_FOUR, "buddy")
    impossible: list[Part] = [Open("slots per job", reason)] if (reason := test.without_alternation) else []
    both = SLOTS_OVER_JOBS in test.study.data

    def rises(metric: str) -> list[Part]:
        return [rise(label(scheme), test.curve(metric, scheme), MEDIUM, HIGHEST) for scheme in LOAD_BASED]

    yield test.claim(
        "4.2-load-based-few-unifications",
        "4.2: “it actually becomes harder to unite slots, as can be seen in the low unification counts "
        "for these two schemes in Fig. 10.”",
        "Each load-based scheme unites slots less often than each other scheme, at medium and at the highest "
        "loads.",
        test.differences_at(EACH, UNIFICATIONS, LOAD_BASED, (*FIRST_FOUR, *BEST), high=0.0),
        figures=("fig10",),
    )
    yield test.slots_claim(
        "4.2-load-based-few-slots",
        "4.2: “it is relatively difficult to schedule jobs to run in additional slots … This can be seen "
        "in the low slot counts for these two schemes in Fig. 11”",
        "At medium loads, jobs run in fewer slots under each load-based scheme than under each of the "
        "first four and buddy (migration has fewest by design).",
        LOAD_BASED,
        oblivious,
        (MEDIUM,),
        high=0.0,
    )
    yield test.claim(
        "4.2-load-based-slots-improve",
        "4.2: “… which only improve at the highest sustained loads.”",
        "Under each load-based scheme, slots per job at its two highest stable loads from 0.85 up are "
        "more than at medium loads.",
        impossible or rises(SLOTS_PER_JOB),
        also={OVER_JOBS: rises(SLOTS_OVER_JOBS)} if both and not impossible else None,
        figures=("fig11",),
    )


def example(test: Tester) -> Iterator[Claim]:
    quotes = {
        "4.2-fig9-balance": (
            "4.2: “after the third job arrives … no PE has a load of more than two threads, whereas "
            "under best-fit some PEs have a load of 3 and some are completely idle.”",
            "Sizes 5, 4, 6 on 8 PEs: highest and lowest number of jobs on a PE.",
        ),
        "4.2-fig9-end": (
            "4.2: “If now the job with size 4 terminates, the best fit scheme will end up with two "
            "fully-allocated slots, whereas the minimal maximum load scheme will have three lightly "
            "populated slots, and only the 2-PE job will be able to run in an additional slot.”",
            "Sizes 5, 4, 6, 2, 3 on 8 PEs, then the job of size 4 ends: slots and who runs in more than one.",
        ),
    }
    found = fig9.facts(test.alternation or "exclusive")
    for name, (source, statement) in quotes.items():
        parts: list[Part] = list(found[name])
        if test.without_alternation and name == "4.2-fig9-end":
            parts[-1] = Open("who runs in an additional slot", test.without_alternation)
        yield test.claim(name, source, statement, parts, figures=("fig9",))


def buddy_and_migration(test: Tester) -> Iterator[Claim]:
    others = tuple(scheme for scheme in SCHEMES if scheme != "buddy")
    yield test.claim(
        "4.2-buddy-many-unifications",
        "4.2: “buddy packing achieves many more unifications than most other schemes”",
        f"Buddy unites slots at least {MANY} times as often as 4 of the 7 other schemes, over loads from "
        "0.5 up.",
        test.ratios(UNIFICATIONS, ("buddy",), others, UPPER, low=MANY),
        needed=4,
        figures=("fig10",),
    )
    buddy = test.curve(UNIFICATIONS, "buddy")
    stable = buddy.x[buddy.stable]
    yield test.claim(
        "4.2-buddy-unifications-rare",
        "4.2: “they are still a rare event: less than one percent of job terminations lead to a "
        "unification.”",
        "Under buddy, less than 1 % of terminations lead to a unification, at each load.",
        [level("buddy", buddy, AxisRange(f"load {x:g}", x, x), high=RARE, percent=True) for x in stable]
        if not incomplete(buddy)
        else [Open("buddy", "points are missing")],
        figures=("fig10",),
    )
    yield test.claim(
        "4.2-migration-unifications-5",
        "4.2: “With migration, this jumps to nearly 5%.”",
        f"At the load at which they are most frequent, {NEARLY_FIVE[0]:.1%} to {NEARLY_FIVE[1]:.1%} of "
        "terminations under migration lead to a unification.",
        [_peak(test.curve(UNIFICATIONS, "migration"))],
        figures=("fig10",),
    )
    yield test.claim(
        "4.2-migration-most-unifications",
        "4.2: “With migration, this jumps”",
        "Migration unites slots more often than each other scheme, at medium and at the highest loads.",
        test.differences_at(EACH, UNIFICATIONS, ("migration",), SCHEMES[:-1], low=0.0),
        figures=("fig10",),
    )
    yield test.claim(
        "4.2-migration-fewest-used-slots",
        "4.2: “by using migration the system may keep the number of used slots close to the minimum "
        "necessary”; 5: “re-mapping leads to using the minimal number of scheduling slots possible.”",
        "The time average of used slots is lower under migration than under each other scheme, at medium "
        "and at the highest loads.",
        test.differences_at(EACH, USED_SLOTS, ("migration",), SCHEMES[:-1], high=0.0),
        figures=("used-slots",),
    )
    yield test.slots_claim(
        "4.2-migration-fewest-slots-per-job",
        "4.2: “therefore with migration the average number of slots available to each job is lower than "
        "in any other scheme.”",
        "Jobs run in fewer slots under migration than under each other scheme, at medium and at the highest "
        "loads.",
        ("migration",),
        SCHEMES[:-1],
        EACH,
        high=0.0,
    )
    yield test.slots_claim(
        "4.2-buddy-most-slots-per-job",
        "4.2: “With buddy packing, the average number of available slots is higher than in other schemes”",
        "Jobs run in more slots under buddy than under each other scheme, at medium and at the highest "
        "loads.",
        ("buddy",),
        others,
        EACH,
        low=0.0,
    )
    yield test.claim(
        "4.2-buddy-not-by-fewer-slots",
        "4.2: “Thus buddy packing achieves its performance not by minimizing the number of slots”",
        "Buddy uses more slots than migration, at medium and at the highest loads.",
        test.differences_at(EACH, USED_SLOTS, ("buddy",), ("migration",), low=0.0),
        figures=("used-slots",),
    )


def _peak(curve: Curve) -> Part:
    """Ask for "nearly 5 %" at the load with the most unifications."""
    label = "migration"
    if incomplete(curve):
        return Open(label, "points are missing")
    mean = np.where(curve.stable, curve.intervals().mean, -np.inf)
    load = float(curve.x[int(np.argmax(mean))])
    return level(label, curve, AxisRange(f"load {load:g}", load, load), *NEARLY_FIVE, percent=True)
