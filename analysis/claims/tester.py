"""Shortcuts from a study to curves, samples and claims."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.claims import Claim, Fact, Part, judge, smallest_error
from analysis.study import Study
from analysis.study.curve import Curve, Sample
from sweep import policy_names


class Tester:
    """Tests the sentences of a paper on one study.

    Parameters
    ----------
    study : Study
        Under one reading.
    paper : str
        Key of the paper, the prefix of its claims' ids.
    reading : str, optional
        The reading in words under which claims are tested; by default the study's label.
    """

    def __init__(self, study: Study, paper: str, reading: str | None = None) -> None:
        self.study = study
        self.paper = paper
        self.reading = study.label if reading is None else reading
        self.names: dict[str, Any] = {}
        """Names that rows may use in addition to their file's, e.g. the months of the study."""

    def label(self, policy: str) -> str:
        """Return the name of a policy in evidence."""
        return policy_names.label(policy)

    def curve(self, metric: str, policy: str, along: str = "load", **point: object) -> Curve:
        """Return a curve, see `Study.curve`."""
        return self.study.curve(metric, policy, along=along, **point)

    def at(self, metric: str, policy: str, **point: object) -> Sample:
        """Return a sample, see `Study.sample`."""
        return self.study.sample(metric, policy, **point)

    def claim(
        self,
        name: str,
        source: str,
        statement: str,
        parts: Sequence[Part],
        *,
        needed: int | None = None,
        note: str = "",
        also: Mapping[str, Sequence[Part]] | None = None,
        figures: Sequence[str] = (),
        calibrated: str = "",
    ) -> Claim:
        """Return the verdict over some parts.

        Parameters
        ----------
        needed : int, optional
            How many of them the sentence requires; all by default.
        note : str
            Evidence that bears on the sentence but decides nothing.
        also : dict of str to sequence of Part
            The same comparisons under another reading of a word, by its name; they decide nothing.
        figures : sequence of str
            Names of the figures that show it.
        calibrated : str
            See `Claim`.
        """
        confidence = self.study.confidence
        verdict, evidence = judge(parts, confidence, needed)
        about = f"Calibrated, an input: {calibrated}" if calibrated else ""
        evidence = (*evidence, *filter(None, (about, note)))
        for reading, others in (also or {}).items():
            other, lines = judge(others, confidence, needed)
            evidence = (*evidence, f"{reading}: {other}; {lines[0]}", *lines[1:])
        error = smallest_error(parts, confidence, needed)
        return Claim(
            f"{self.paper}-{name}", source, statement, verdict, evidence, self.reading, error, tuple(figures),
            bool(parts) and all(isinstance(part, Fact) for part in parts),
            calibrated,
        )  # fmt: skip
