"""How an order of the queue is declared: a published one by its name, or weights of a job's measures."""

from typing import NamedTuple

ORDERS = {
    name: f"models.backfill.priority.published.{name}"
    for name in ("wfp3", "unicef", "f1", "f2", "f3", "f4", "smallest_area_first", "shortest_first")
}
"""Name -> dotted name of a published order, for ``policy.priority`` and ``policy.backfill_order`` alike."""


class Weights(NamedTuple):
    """The weight of each measure of a job; the weighted sum is its priority.

    Table 3 of Chiang and Vernon (2001) has six measures. The requested runtime's inverse, by which
    SJF-backfill sorts (section 2.3), is a seventh. FCFS has no weights at all: among equal jobs the first
    submitted is first.

    Parameters
    ----------
    wait : float
        W_w: hours that it has waited.
    expansion : float
        W_x: (hours waited + requested hours) / requested hours.
    processors : float
        W_p: requested processors.
    memory : float
        W_m: requested memory in units of 358.4 MB.
    larger : float
        W_pe: the larger of the two.
    bypass : float
        W_bypass: number of jobs of lower priority that started before it while it waited.
    shortness : float
        1 / requested hours.
    """

    wait: float
    expansion: float
    processors: float
    memory: float
    larger: float
    bypass: float
    shortness: float

    @property
    def change_with_time(self) -> bool:
        """Whether priorities have to be computed at every pass."""
        return any((self.wait, self.expansion, self.bypass))


NO_WEIGHTS = dict.fromkeys(Weights._fields, 0)
