"""How claims are counted, in the same words on the terminal, in reports and in summaries.

Three kinds are counted apart. A *finding* is judged by intervals. A *fact* is deterministic: what a model
does with given jobs, or an exact number. An *input* was calibrated so that its sentence is true.
"""

from collections import Counter
from collections.abc import Sequence

from analysis.claims import VERDICTS, Claim

VERBS = {
    "holds": ("holds", "hold"),
    "direction holds": ("holds in direction only", "hold in direction only"),
    "fails": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
}
"""Verdict -> its verb after one claim, and after several."""

NOUNS = {
    "finding": ("finding", "findings"),
    "fact": ("fact of the model", "facts of the model"),
    "input": ("calibrated input", "calibrated inputs"),
}
"""Kind of claim -> its noun."""


def kind(claim: Claim) -> str:
    """Return the kind of a claim."""
    return "input" if claim.calibrated else "fact" if claim.is_fact else "finding"


def of_kind(claims: Sequence[Claim], name: str) -> list[Claim]:
    """Return the claims of one kind."""
    return [claim for claim in claims if kind(claim) == name]


def count(claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many of the findings have each verdict, all verdicts named."""
    found = Counter(claim.verdict for claim in of_kind(claims, "finding"))
    return {verdict: found[verdict] for verdict in VERDICTS}


def verb(verdict: str, n: int) -> str:
    """Return the verb of a verdict after a number of claims."""
    return VERBS[verdict][n != 1]


def counted(claims: Sequence[Claim]) -> str:
    """Return the counts of each kind that there is.

    Examples
    --------
    >>> fact = Claim("f", "", "", "holds", (), "", is_fact=True)
    >>> claims = [Claim("a", "", "", "fails", (), ""), Claim("b", "", "", "holds", (), ""), fact]
    >>> counted(claims)
    '2 findings: 1 holds, 1 fails; 1 fact of the model: 1 holds'
    """
    texts = []
    for name, nouns in NOUNS.items():
        found = Counter(claim.verdict for claim in of_kind(claims, name))
        n = found.total()
        verdicts = ", ".join(f"{found[one]} {verb(one, found[one])}" for one in VERDICTS if found[one])
        texts += [f"{n} {nouns[n != 1]}: {verdicts}"] if n else []
    return "; ".join(texts)


def beyond_chance(claims: Sequence[Claim], confidence: float) -> frozenset[str]:
    """Return the ids of the verdicts that stand with the error over all findings at its nominal level."""
    found = of_kind(claims, "finding")
    limit = (1 - confidence) / max(len(found), 1)
    return frozenset(claim.id for claim in found if claim.error is not None and claim.error <= limit)
