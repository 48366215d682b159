"""A search for the best settings of a policy on a log, before a study of the settings that it finds."""

from sweep.tuning.search import settled

__all__ = ["settled"]
