"""Sentences of a paper as tests: claims, their parts, and the verdict over all of them."""

from analysis.claims.claim import (
    VERDICTS,
    Claim,
    Decided,
    Fact,
    Open,
    Part,
    Within,
    beyond_chance,
    count,
    count_calibrated,
    findings,
    judge,
    shown,
    smallest_error,
)

__all__ = [
    "VERDICTS", "Claim", "Decided", "Fact", "Open", "Part", "Within",
    "beyond_chance", "count", "count_calibrated", "findings", "judge", "shown", "smallest_error",
]  # fmt: skip
