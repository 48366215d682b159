"""The measures of medium-term schedules, each a mean over the lists of jobs of a batch."""

from models.family import Metric

METRICS = (
    Metric("reallocations", "1", "processors reallocated within T"),
    Metric("epochs", "1", "spans between moments of reallocation within T"),
    Metric("uninterrupted", "1", "fraction of jobs that run the whole of T"),
    Metric("uninterrupted_in_group", "1", "fraction of jobs that run for the whole of their group's time"),
    Metric("processors_per_job", "1", "processors that a job gets"),
    Metric("processors_at_once", "1", "processors reallocated at one moment, on average"),
)
