"""Short ways from a study to curves, comparisons and claims."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.claims import Claim, Part, judge
from analysis.curve import Curve
from analysis.study import Study


class Tester:
    """Short ways to curves and claims of one study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._curves: dict[tuple[object, ...], Curve] = {}

    def curve(self, metric: str, policy: str, along: str, **point: object) -> Curve:
        """Return a curve; most of them serve several claims."""
        key = (metric, policy, along, *sorted(point.items()))
        if key not in self._curves:
            self._curves[key] = self.study.curve(metric, policy, along=along, **point)
        return self._curves[key]

    def claim(
        self,
        name: str,
        source: str,
        statement: str,
        parts: Sequence[Part],
        *,
        needed: int | None = None,
        note: str = "",
    ) -> Claim:
        """Return the verdict over some parts, with a note that bears on it but decides nothing."""
        verdict, evidence = judge(parts, self.study.confidence, needed)
        evidence = (*evidence, note) if note else evidence
        return Claim(f"mccann1994-{name}", source, statement, verdict, evidence, self.study.label)
