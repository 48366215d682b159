"""Why an analysis cannot be made or a figure cannot be drawn."""

from __future__ import annotations


class AnalysisError(Exception):
    """A mistake in what was asked for: one line on what was given, what is allowed and what to do next."""


class DrawingError(Exception):
    """A figure that these data cannot give; the message says why and what would change that."""
