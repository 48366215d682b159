"""Margins: the paper's words of degree as numbers, each with its reason.

They were set before any month was simulated. What is compared is the mean over independent months with the
demands of Table 4, not the one log that the paper had.
"""

from __future__ import annotations

SIMILAR = 0.2
"""Relative difference of what counts as "similar": curves that lie next to each other in figures whose axes
end at two to five times their values."""

SIGNIFICANT = 1 / (1 + SIMILAR)
"""Ratio below which a number is "significantly" lower: where "similar" ends."""

NEARLY = 0.1
"""Relative difference of what is "nearly the same", or "not adversely" affected: half of what is similar."""

GREAT = 0.5
"""Ratio below which an improvement is "great" or "considerable": to less than half. The one such number that
the paper has is the improvement by "over 50%" of its reference 29."""

SUBSTANTIAL = 0.5
"""Ratio of average slowdowns "as substantial as in [29]": section 2.6 says that was "over 50%"."""

COMPETITIVE = 1.5
"""Up to so many times the other's value is "quite competitive"."""

STARVATION = 1.5
"""Ratio of maximum waits from which starvation shows: half as long again."""

EXTREME = 2.0
"""Ratio from which a maximum wait is "extremely high": twice that of the policy beside it."""

AFFECTED = 0.5
"""Jobs that end within a minute share the waits of all if theirs is at least so much of the average."""

HELD = 0.04
"""Section 2.1: share of the processing time kept idle for special reservations."""

AT_ONCE = 0.99
"""Section 4.4: share of jobs placed for full execution on arrival."""

LONG_WAIT_HOURS = 50.0
"""Section 4.1: two jobs of less than a minute waited longer, in January 2000."""

TENS = (10.0, 100.0)
HUNDREDS = (100.0, 1000.0)
HOURS_OR_TENS = (1.0, 100.0)
"""Hours that are "tens of hours", "hundreds of hours", "hours or tens of hours"."""

POINT = 1.0
"""Points of a percent by which a generated demand may differ from Table 4, which has whole numbers."""

ROUNDING = 0.5
"""The same for limits that the text gives as whole percents."""

NEARLY_ALL = 0.95
MOST = 0.5
LARGE_SHARE = 0.2
"""Shares of the jobs that are "nearly all", "many", and "a large fraction"."""
