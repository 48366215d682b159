"""Errors of the analysis: mistakes in the command, and figures that cannot be drawn."""

from __future__ import annotations


class AnalysisError(Exception):
    """A mistake in the command: one line with what was given, what is allowed and what to do next."""


class DrawingError(Exception):
    """A figure that these data cannot give; the message gives the reason and what would change it."""
