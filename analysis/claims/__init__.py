"""Sentences of a paper as tests: parts that each hold, fail or stay open, and the verdict over all of them.

A part is judged by a confidence interval, never by a point estimate. For a sentence that asserts all its
parts (the usual form), the two verdicts need different levels. It `holds` if every part's interval at the
nominal level lies where the sentence requires: if one part is false, its interval errs with probability 5 %,
however many parts there are (an intersection-union test). It `fails` if any part's interval lies where the
sentence forbids: each part can err, so these intervals are widened (Bonferroni). Equivalence is the same rule
with limits on both sides: an interval inside the margin holds (as TOST does), an interval outside it fails,
and an interval across its edge is inconclusive. A part with a limit on one side only ("better") errs on that
side only: its limit is one-sided, the end of an interval that excludes the same probability on each side.
Evidence shows both intervals of a part, the nominal one and the one corrected for the number of parts.

A word of degree ("significantly", "slightly": ``words.yaml``) asks for a direction and a size. Where all
parts hold in direction and some part's size is refuted, the verdict is `direction holds`.

So each verdict by itself is wrong with probability 5 % at most, and some verdict among many claims more
often. Each claim answers its own question, and a reader who consults one claim wants its own error. A reader
of all claims wants the joint error: `Claim.error` is the smallest error at which the verdict would still be
given, and `beyond_chance` names the verdicts that stand with the error over all claims together at 5 %
(Bonferroni). Holm's steps would gain nothing provable: of a sentence and its negation one is always true, so
there are as many true hypotheses as claims, however many have been refuted before.

References
----------
R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982, 295-300.
D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", Journal of
Pharmacokinetics and Biopharmaceutics 15(6), 1987, 657-680.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from models.counting import counted
from sweep.statistics import Interval

Verdict = Literal["holds", "direction holds", "fails", "inconclusive"]
VERDICTS: tuple[Verdict, ...] = ("holds", "direction holds", "fails", "inconclusive")

Measure = Callable[[float], Interval]
"""An estimate whose interval can be computed at any confidence level."""


UNTESTED = ": not tested, "
"""In the evidence of a comparison that the dataset cannot make."""


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper and its verdict.

    Parameters
    ----------
    id : str
        Stable, e.g. ``feitelson1996-4.2-first-four-identical``.
    source : str
        Section and the sentence, quoted.
    statement : str
        What is tested, in terms of the dataset.
    verdict : {"holds", "direction holds", "fails", "inconclusive"}
    evidence : tuple of str
        A summary, then a line for each part with its numbers and intervals.
    reading : str
        The reading of the paper under which it was tested.
    error : float or None
        The smallest error probability at which the verdict would still be given, at least
        `SMALLEST_ERROR`; None without a verdict.
    figures : tuple of str
        Names of the figures that show it.
    is_fact : bool
        Whether the claim is deterministic.
    calibrated : str
        Empty, or the values fitted to make the sentence true: then it is an input, not a finding, and is
        counted apart.
    """

    id: str
    source: str
    statement: str
    verdict: Verdict
    evidence: tuple[str, ...]
    reading: str
    error: float | None = None
    figures: tuple[str, ...] = ()
    is_fact: bool = False
    calibrated: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether the dataset has the points of some comparison."""
        return len(self.evidence) < 2 or not all(UNTESTED in line for line in self.evidence[1:])

    def as_json(self) -> dict[str, object]:
        """Return plain data."""
        return asdict(self) | {"evidence": list(self.evidence), "figures": list(self.figures)}


class Part:
    """One comparison of a claim."""

    def holds(self, confidence: float) -> bool:
        """Whether the data confirm it."""
        return False

    def fails(self, confidence: float) -> bool:
        """Whether the data refute it."""
        return False

    def describe(self, confidence: float) -> str:
        """Return the measurement in one line."""
        raise NotImplementedError

    def at_level(self, confidence: float) -> str:
        """Return the interval at a level without its mean; empty where there is none."""
        return ""

    def direction(self) -> "Part":
        """Return the same comparison without the size that its word of degree asks for."""
        return self

    def miss(self, confidence: float) -> str:
        """Return on which side of its margin the size is refuted, "below" or "above", or nothing."""
        return ""


@dataclass(frozen=True)
class Within(Part):
    """An estimate should lie strictly between two limits; leave one out for a one-sided test.

    Parameters
    ----------
    label : str
        The measured quantity and the loads.
    measure : callable
        Confidence level -> Interval.
    scale : float
        Numbers are shown times this: 100 for percent.
    unit : str
        Shown after the numbers.
    equal : float, optional
        The value of no difference: 1 of a ratio, 0 of a difference. Limits on one side of it are a direction
        and a size.
    """

    label: str
    measure: Measure
    low: float = -math.inf
    high: float = math.inf
    scale: float = 1.0
    unit: str = ""
    equal: float | None = None

    def holds(self, confidence: float) -> bool:
        """Whether the whole interval lies between the limits."""
        found = self._interval(confidence)
        return self.low < found.low and found.high < self.high

    def fails(self, confidence: float) -> bool:
        """Whether the whole interval lies beyond a limit."""
        found = self._interval(confidence)
        return found.high <= self.low or found.low >= self.high

    def describe(self, confidence: float) -> str:
        """Return the numbers and their limits."""
        return (
            f"{self.label}: {shown(self._interval(confidence), self.scale)}{self.unit} ({self._required()})"
        )

    def at_level(self, confidence: float) -> str:
        """Return the half-width at a level, or the ends."""
        found = reach(self._interval(confidence), self.scale)
        return found and f"{found}{self.unit}"

    def _interval(self, confidence: float) -> Interval:
        """Return the interval whose ends are the limits at a level."""
        one_sided = math.isinf(self.low) or math.isinf(self.high)
        return self.measure(2 * confidence - 1 if one_sided else confidence)

    def _required(self) -> str:
        low, high = f"{self.low * self.scale:.4g}", f"{self.high * self.scale:.4g}"
        if math.isinf(self.low):
            return f"required: below {high}{self.unit}, one-sided"
        if math.isinf(self.high):
            return f"required: above {low}{self.unit}, one-sided"
        return f"required: between {low} and {high}{self.unit}"

    def direction(self) -> "Within":
        """Return the same estimate, to lie on the same side of no difference."""
        if self.equal is not None and self.low >= self.equal:
            return replace(self, low=self.equal, high=math.inf)
        if self.equal is not None and self.high <= self.equal:
            return replace(self, low=-math.inf, high=self.equal)
        return self

    def miss(self, confidence: float) -> str:
        """Return "below" or "above" where the difference is too small or too large."""
        if self.equal is None or not self.fails(confidence):
            return ""
        too_low = self._interval(confidence).high <= self.low
        return "below" if too_low == (self.low >= self.equal) else "above"


@dataclass(frozen=True)
class Decided(Part):
    """A comparison that needs no interval; its label contains the result."""

    label: str
    is_so: bool

    def holds(self, confidence: float) -> bool:
        return self.is_so

    def fails(self, confidence: float) -> bool:
        return not self.is_so

    def describe(self, confidence: float) -> str:
        return self.label


@dataclass(frozen=True)
class Fact(Decided):
    """A deterministic statement, e.g. on the engine's schedule of five given jobs.

    Parameters
    ----------
    missed : {"", "below", "above"}
        Set if only the size of a difference misses its margin, while the direction is as stated.
    """

    missed: str = ""

    def direction(self) -> "Fact":
        """Return the statement without the size."""
        return replace(self, is_so=self.is_so or bool(self.missed), missed="")

    def miss(self, confidence: float) -> str:
        """Return on which side of its margin the size is."""
        return self.missed

    def describe(self, confidence: float) -> str:
        return f"{self.label}: {'true' if self.is_so else 'false'}"


@dataclass(frozen=True)
class Open(Part):
    """A comparison that the dataset cannot make: points missing, saturated, unfinished or failed."""

    label: str
    reason: str

    def describe(self, confidence: float) -> str:
        return f"{self.label}{UNTESTED}{self.reason}"


def judge(
    parts: Sequence[Part], confidence: float, needed: int | None = None
) -> tuple[Verdict, tuple[str, ...]]:
    """Return verdict and evidence of a claim.

    Parameters
    ----------
    confidence : float
        Nominal level, e.g. 0.95.
    needed : int, optional
        How many parts the sentence requires; all by default. With fewer ("more than most"), both verdicts
        use widened intervals, because the data then choose which parts count.

    Notes
    -----
    Without parts there is no verdict: an empty conjunction is not evidence. Having fewer parts than the
    sentence requires does not refute it: a larger grid may have the others.
    """
    wanted = len(parts) if needed is None else needed
    level, widened = _levels(parts, confidence, needed)
    held = [part.holds(level) for part in parts]
    failed = [part.fails(widened) for part in parts]
    n = max(len(parts), 1)
    lines = []
    for part, yes, no in zip(parts, held, failed, strict=True):
        only = no and part.direction().holds(level)
        line = f"{'✓' if yes else '≈' if only else '✗' if no else '?'} {part.describe(confidence)}"
        if n > 1 and (width := part.at_level(widened)):
            line += f"; {width} corrected for {n} comparisons"
        lines.append(line)
    verdict, summary = _verdict(parts, confidence, needed), _summary(held, failed, wanted)
    if verdict == "direction holds":
        sides = sorted({side for part in parts if (side := part.miss(widened))}, reverse=True)
        summary = f"Direction holds, size {' and '.join(sides)} the margin; {summary}"
    return verdict, (summary, *lines)


SMALLEST_ERROR = 1e-6
"""Lower bound of the search, far below the error that any number of claims requires."""

SEARCH_STEPS = 10
"""Bisections of the error's logarithm: they leave a factor of 1.01."""


def smallest_error(parts: Sequence[Part], confidence: float, needed: int | None = None) -> float | None:
    """Return the smallest error probability at which the verdict of `judge` stays, None without a verdict."""
    verdict = _verdict(parts, confidence, needed)
    if verdict == "inconclusive":
        return None

    def stays(error: float) -> bool:
        return _verdict(parts, 1 - error, needed) == verdict

    if stays(SMALLEST_ERROR):
        return SMALLEST_ERROR
    wrong, right = math.log(SMALLEST_ERROR), math.log(1 - confidence)
    for _ in range(SEARCH_STEPS):
        middle = (wrong + right) / 2
        wrong, right = (wrong, middle) if stays(math.exp(middle)) else (middle, right)
    return math.exp(right)


def _levels(parts: Sequence[Part], confidence: float, needed: int | None) -> tuple[float, float]:
    """Return the levels at which parts have to hold and to fail."""
    widened = 1 - (1 - confidence) / max(len(parts), 1)
    return confidence if needed is None else widened, widened


def _verdict(parts: Sequence[Part], confidence: float, needed: int | None) -> Verdict:
    """Return the verdict of `judge`."""
    level, widened = _levels(parts, confidence, needed)
    held, failed = (part.holds(level) for part in parts), (part.fails(widened) for part in parts)
    if parts and (all(held) if needed is None else sum(held) >= needed):
        return "holds"
    if not (any(failed) if needed is None else sum(failed) > len(parts) - needed >= 0):
        return "inconclusive"
    directions = [part.direction() for part in parts]
    if directions != list(parts) and _verdict(directions, confidence, needed) == "holds":
        return "direction holds"
    return "fails"


def _summary(held: Sequence[bool], failed: Sequence[bool], wanted: int) -> str:
    n_open = sum(not yes and not no for yes, no in zip(held, failed, strict=True))
    n = len(held)
    asked = f"; at least {wanted} required" if wanted != n else ""
    return f"{counted(n, 'comparison')}: {sum(held)} hold, {sum(failed)} fail, {n_open} inconclusive{asked}"


def shown(interval: Interval, scale: float = 1.0) -> str:
    """Return an interval as text, rounded according to its width.

    Examples
    --------
    >>> shown(Interval(1.23456, 0.0312, 0.0, 30, "batch means", False))
    '1.235 ± 0.031'
    >>> shown(Interval(1.0567, math.nan, math.nan, 3, "withheld", True))
    '1.06 (interval withheld: 3 batches are too few)'
    >>> shown(Interval(0.8, 0.05, math.nan, 8, "replications", False, ends=(0.76, 0.86)))
    '0.800 (0.760 to 0.860)'
    """
    mean, half = interval.mean * scale, interval.half_width * scale
    if math.isnan(mean):
        return "no value"
    if math.isnan(half):
        known = math.isfinite(interval.lag1)
        why = (
            f"lag-1 correlation {interval.lag1:.2f}"
            if known
            else f"{counted(interval.n, 'batch', 'is')} too few"
        )
        return f"{mean:.3g} (interval withheld: {why})"
    text, width = f"{mean:.{_digits(half)}f}" if half else f"{mean:.4g}", reach(interval, scale)
    return f"{text} {width}" if width.startswith("±") else f"{text} ({width})"


def reach(interval: Interval, scale: float = 1.0) -> str:
    """Return the half-width of an interval, or the ends of one that is not symmetric; empty for none.

    Examples
    --------
    >>> reach(Interval(1.23456, 0.0312, 0.0, 30, "batch means", False), scale=100)
    '± 3.1'
    """
    half = interval.half_width * scale
    if math.isnan(half) or math.isnan(interval.mean):
        return ""
    if half == 0:
        return "± 0"
    if interval.ends is None:
        return f"± {half:.{_digits(half)}f}"
    return " to ".join(f"{scale * end:.{_digits(half)}f}" for end in interval.ends)


def _digits(half: float) -> int:
    """Return the digits after the point for two significant digits of a half-width."""
    return max(0, min(6, 1 - math.floor(math.log10(half))))
