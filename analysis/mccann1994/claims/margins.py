"""Ranges and margins: the dissertation's words of degree as numbers, each with its reason."""

from __future__ import annotations

from analysis.claims.comparisons import AxisRange

MOST_JOBS = 256
"""Jobs on the machine of section 5.1; grids end before."""

POWERS = tuple(float(2**k) for k in range(9))
UNEVEN = tuple(float(jobs) for jobs in range(3, MOST_JOBS) if jobs & (jobs - 1))
ODD, EVEN = (tuple(jobs for jobs in UNEVEN if jobs % 2 == part) for part in (1, 0))
"""Numbers of jobs by what they ask of a policy: at powers of two all partitions are equal."""

NO_POWER = AxisRange("all J that are no power of two", only=UNEVEN)
MODERATE = AxisRange("J up to 16 that are no power of two", 3, 16, only=UNEVEN)
"""Section 4.4.5 calls up to 16 "a moderate number of partitions", and Fig. 4.2 ends there."""

MANY = AxisRange("J from 17 on that are no power of two", 17, only=UNEVEN)

OCTAVES = tuple(
    AxisRange(f"J from {low + 1} to {2 * low - 1}", low + 1, 2 * low - 1) for low in (4, 8, 16, 32)
)
"""Between one power of two and the next, equipartition goes through all kinds of remainders once."""

LARGE = 0.05
"""Efficiency preservation: what counts as a "significant" or "large" loss, a "noticeable" gain or "much"
better. A twentieth of the machine, or half a division of a figure that ends at 1."""

SLIGHT = 0.05
"""The same number from the other side: up to so much above 1 is "slightly greater"."""

SOME = 0.01
"""Difference of efficiency preservation that is "some sensitivity": it can just be seen in such a figure."""

DRASTIC = 0.5
"""A drop to less than half is "drastic"."""

NEAR_IDEAL = 0.10
"""Fairness: a ratio so near to 1 on average is "very near the ideal"."""

SIMILAR = 0.10
"""Relative difference of what counts as "comparable", "very similar" or "about the same"."""

ABOUT_TEN = (0.85, 0.95)
"""Ratio that one would call "about 10 % smaller"."""

ACCURATE = 0.05
"""A model is "very accurate" within the precision that section 5.4 asks of its simulation, 5 %."""

PRONOUNCED = 1.5
"""A ratio from which an effect would be "extremely pronounced": half as much again."""

LARGER = 1.1
"""Ratio from which one number is "significantly larger": more than what counts as the same."""

POOR = 1.5
"""Ratio of coefficients of variation from which a policy "has poor behavior": half as much again."""

MODERATE_LOADS = AxisRange("moderate loads (0.4 to 0.7)", 0.4, 0.7)
HIGH_LOADS = AxisRange("high loads (from 0.9 on)", 0.9)
ALL_LOADS = AxisRange("all loads")
ALL = AxisRange("all points")

MIXED = AxisRange("mixes of both classes", 0.01, 0.99)
"""Fractions of short jobs at which both classes exist."""

SMALL_LIMITS = (1.0, 2.0, 3.0)
"""Multiprogramming limits that are "small". At a load of 0.5 without a limit, about one job is in the system
on average, and more than three are for some 5 % of the time: from four on a limit hardly binds."""

LARGE_LIMIT = 16.0
"""A limit that is "large": at a load of 0.5 never reached."""
