"""How policies and verdicts look: the colours of the backfilling studies, the names that the user typed."""

from __future__ import annotations

from dataclasses import replace

from analysis.figures import policies
from analysis.figures.style import VERDICT_COLORS, SchemeStyle

BETTER, WORSE, OPEN = (VERDICT_COLORS[name] for name in ("holds", "fails", "inconclusive"))

VERDICTS = {
    "better": SchemeStyle("better", BETTER, "v", ""),
    "worse": SchemeStyle("worse", WORSE, "^", ""),
    "no difference shown": SchemeStyle("no difference shown", OPEN, "o", ""),
    "the same": SchemeStyle("the same", OPEN, "o", ""),
    "not judged": SchemeStyle("no interval", OPEN, "D", ""),
}
"""Told by colour and by marker."""


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy under its own name."""
    return replace(policies.look(policy), label=policy)
