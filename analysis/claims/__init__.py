"""Sentences of a paper as tests: claims, their parts, and the verdict over all of them."""

from analysis.claims.claim import VERDICTS, Claim, Fact, Open, Part, Within, count, judge, shown

__all__ = ["VERDICTS", "Claim", "Fact", "Open", "Part", "Within", "count", "judge", "shown"]
