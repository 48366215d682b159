"""Load ranges and margins: the paper's words of degree as numbers, each with its reason."""

from __future__ import annotations

from analysis.claims.comparisons import AxisRange

MEDIUM = AxisRange("medium loads (0.5 to 0.8)", 0.5, 0.8)
"""Below 0.5 all curves of Fig. 8 lie on one another near 1, above 0.8 they bend upwards."""

HIGHEST = AxisRange("the two highest loads from 0.85 up", 0.85, highest=2)
"""Where neither of the compared schemes is saturated. Two, so that one load's luck does not decide."""

EACH = (MEDIUM, HIGHEST)
"""Ranges at each of which "better than all" must hold: an average over all loads hides a change of sign."""

TOP = AxisRange("the two highest loads from 0.5 up", 0.5, highest=2)
"""The same as `HIGHEST` where one of the compared schemes may be saturated before 0.85."""

UPPER = AxisRange("loads from 0.5 up", 0.5)
"""Where schemes can differ at all; as far as both compared ones are stable."""

IDENTICAL = 0.10
"""Relative difference of slowdowns below which two schemes count as "essentially identical": curves that are
closer cannot be told apart in figures whose axis goes to 10, and it is what the paper calls no difference
while it does call a difference that of buddy and best fit, which is several times as large."""

SIMILAR = 0.20
"""The same for "similar", which the paper says of two schemes between which it does see a difference."""

RARE = 0.01
"""Unifications per termination: the paper's own "less than one percent"."""

NEARLY_FIVE = (0.04, 0.055)
"""Unifications per termination that one would read off as "nearly 5 %": 1 % below to half a percent above."""

MANY = 1.5
"""Ratio that counts as "many more": half as many again. The paper gives no number."""

SHARP = 1.5
"""Ratio of slowdowns that counts as "sharply": half as slow again."""

STATIC_PARTITIONING = 0.80
"""The upper end of "50–80 %", the utilisation of production systems with static partitioning (section 5)."""
