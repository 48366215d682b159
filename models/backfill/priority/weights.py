"""The measures of which a job's priority is a weighted sum: those of Table 3, and one more.

Table 3 of Chiang and Vernon (2001) has six measures. The requested runtime's inverse, by which SJF-backfill
sorts (section 2.3), is a seventh. FCFS has no weights at all: of equal jobs the first submitted is first.
"""

from typing import NamedTuple


class Weights(NamedTuple):
    """The weight of each measure of a job.

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
