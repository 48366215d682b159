"""The report of an experiment, and its parts."""
