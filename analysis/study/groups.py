"""Groups of jobs as metrics have them: a dimension of their own, and names that end alike."""

from dataclasses import dataclass

ALL = "all"


@dataclass(frozen=True)
class Grouping:
    """A way to sort jobs into groups.

    Parameters
    ----------
    dim : str
        Dimension of the metrics.
    suffix : str
        Of their names.
    title : str
        What the groups are of.
    """

    dim: str
    suffix: str
    title: str = ""


RUNTIME = Grouping("runtime_range", "_by_runtime", "runtime")
SIZE = Grouping("size_range", "_by_size", "processors")
USER = Grouping("user_rank", "_by_user", "user")
GROUPINGS = (RUNTIME, SIZE, USER)
"""The groups of conf/groups, in the order of tables and figures."""
