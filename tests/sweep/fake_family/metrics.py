"""What is measured of the customers."""

from models.family import Metric

COORDS = {"job_class": ("short", "long")}

METRICS = (
    Metric("response", "s", "mean response time"),
    Metric("response_by_class", "s", "mean response time by class", ("job_class",)),
)
