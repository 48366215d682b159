"""A dataset for an analysis: `Study`, and `open_study` for a results folder."""

from analysis.study.opening import open_study
from analysis.study.study import Study

__all__ = ["Study", "open_study"]
