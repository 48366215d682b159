"""The axes of a grid that an analysis compares along, or takes as readings of a paper; groups of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Axes:
    """A paper's axes of its experiments, beyond ``policy`` and ``load``.

    Parameters
    ----------
    features : dict of str to str
        Axes along which figures are drawn or whose values they compare, in the dataset or not, each with the
        value of the main comparison (as text, see `study.Study.values_of`); where the grid lacks that value,
        its first one. All other axes are readings: every combination of them is a separate study.
    split : dict of str to tuple of str
        Features of which these values are readings as well, the default first.
    every : bool
        All axes are features, with the first value of each in the main comparison: there are no readings.
    """

    features: Mapping[str, str] = field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    every: bool = False


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
        The property that defines the groups.
    """

    dim: str
    suffix: str
    title: str = ""

    def of(self, value: str) -> Group:
        """Return one of the groups."""
        return Group(self, value)


@dataclass(frozen=True)
class Group:
    """Jobs whose means are taken together: one group, or without a grouping all jobs."""

    grouping: Grouping | None = None
    value: str = ""

    def metric(self, name: str) -> str:
        """Return the name of the metric that has these jobs."""
        return name + (self.grouping.suffix if self.grouping else "")

    @property
    def place(self) -> dict[str, str]:
        """Their place on the metric's own axis."""
        return {self.grouping.dim: self.value} if self.grouping else {}


ALL_JOBS = Group()

RUNTIME = Grouping("runtime_range", "_by_runtime", "runtime")
SIZE = Grouping("size_range", "_by_size", "processors")
USER = Grouping("user_rank", "_by_user", "user")
GROUPINGS = (RUNTIME, SIZE, USER)
"""The groups of conf/groups, in the order of tables and figures."""

FIFTH = Grouping("fifth", "_by_fifth", "processors")
PARTITION = Grouping("partition_rank", "_by_partition", "partition")
ACCOUNT = Grouping("account_rank", "_by_account", "account")
QOS = Grouping("qos_rank", "_by_qos", "QOS")
RESERVATION = Grouping("reservation_rank", "_by_reservation", "reservation")
LIMIT = Grouping("limit_class", "_by_limit", "limit")
RANKED = (USER, PARTITION, ACCOUNT, QOS, RESERVATION)
"""Groups that a log names, in the order of their work."""

OF_A_SITE = (RUNTIME, FIFTH, SIZE, PARTITION, ACCOUNT, QOS, RESERVATION, LIMIT, USER)
"""All groups of an operator's log."""
