"""The report of an experiment, and what goes into it."""
