"""What a switch costs: the part of each slice in which no job runs.

Gang scheduling is taken as fluid: between events each of n used slots has 1 / n of the time. With slices of q
seconds and switches of c seconds, the slot of a slice has q - c of its q seconds. So everything takes
1 / (1 - c / q) times as long as without a cost, for any n > 1 and whatever the length of a job, up to one
round of slices. With one used slot nothing is switched.

A switch is one of the whole machine, as the clock signal of a gang scheduler demands: all PEs stop, messages
on their way are seen to, and the next slot begins everywhere at once. So a job that also runs in foreign
slots (alternation) loses the switch in each of these slots, and one that runs in all of them does, too,
though its own PEs change nothing. Were only those PEs charged that change their job, such a job would lose
less, by a share of c / q of its time at most. Virtual time (`models.gang.alternation`) advances by less in a
second, and what is delivered is work done: a switch counts as idle time.
"""

from models.kernels.compiling import part


def stretch(slice_s: float | None, switch_cost: float) -> float:
    """Return how many times as long everything takes where slots are switched."""
    return 1.0 if slice_s is None or not switch_cost else 1.0 / (1.0 - switch_cost / slice_s)


@part()
def seconds_per_unit(n_slots, stretch):
    """Return the seconds in which virtual time advances by one, with `n_slots` used slots."""
    return n_slots * stretch if n_slots > 1 else n_slots * 1.0
