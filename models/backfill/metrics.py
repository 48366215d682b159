"""What backfilling is measured by: see `models.jobs.measures`."""

from models.jobs.groups import GROUPS
from models.jobs.measures import METRICS

COORDS = {dim: group.labels for dim, group in GROUPS.items()}

__all__ = ["COORDS", "METRICS"]
