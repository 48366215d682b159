"""The cost of a switch: the part of each slice in which no job runs.

Gang scheduling is taken as fluid: between events each of n used slots has 1 / n of the time. With slices of q
seconds and switches of c seconds, the slot of a slice has q - c of its q seconds. So everything takes 1 / (1
- c / q) times as long as without a cost, for any n > 1 and any length of a job, up to one round of slices.
  With one used slot there are no switches.

A switch concerns the whole machine, as the clock signal of a gang scheduler demands: all PEs stop, messages
in transit are dealt with, and the next slot begins everywhere at once. So a job that also runs in foreign
slots (alternation) loses the switch in each of these slots, and so does a job that runs in all of them,
although its own PEs do not change. If only PEs that change their job were charged, such a job would lose
less, by at most a share of c / q of its time. Virtual time (`models.gang.alternation`) advances by less in a
second, and only work done counts as delivered: a switch is idle time.
"""

from models.kernels.compiling import part


def stretch(slice_s: float | None, switch_cost: float) -> float:
    """Return the factor by which switches between slots lengthen everything."""
    return 1.0 if slice_s is None or not switch_cost else 1.0 / (1.0 - switch_cost / slice_s)


@part()
def seconds_per_unit(n_slots, stretch):
    """Return the seconds in which virtual time advances by one, with `n_slots` used slots."""
    return n_slots * stretch if n_slots > 1 else n_slots * 1.0
