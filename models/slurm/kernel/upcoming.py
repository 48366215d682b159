"""Expected ends of running jobs, as a backfill cycle reads them: in order, from the first on, for each job.

The list of running jobs and their linked allocations lie scattered over memory, and a cycle scans them for
each start that it tries. So it copies what it needs to consecutive records, each job once a cycle, when a
scan first reaches it. A job that starts, ends or is preempted makes the copy out of date (`forget`).
"""

import numpy as np

from models.kernels.bits import ONE, population
from models.kernels.compiling import part
from models.slurm.kernel.rows import leave_row
from models.slurm.kernel.tables import FUTURE, LATER, NONE


@part()
def forget(system):
    """Declare the view of the future and the copy out of date: what runs has changed."""
    system.state[0].n_ended, system.state[0].n_copied = NONE, 0


@part(inline=False)
def copy_next(system):
    """Copy the next running job. O(nodes of the job)."""
    state, upcoming, words, entries = system.state[0], system.upcoming, system.upcoming_words, system.entries
    k = state.n_copied
    first, at = upcoming[k].first_word, upcoming[k].first_share
    n, entry = first, system.fate[system.running[k]].entry
    upcoming[k].expected, upcoming[k].node_cpus = system.fate[system.running[k]].expected, 0
    while entry != NONE:
        node = entries[entry].node
        upcoming[k].node_cpus = max(upcoming[k].node_cpus, entries[entry].cpus)
        system.upcoming_shares[at].node, system.upcoming_shares[at].cpus = node, entries[entry].cpus
        at += 1
        # Nodes of a job are mostly consecutive, and allocations in their order, so that nodes of a word
        # follow each other. Where they do not, a word has several records, which share no node.
        if n == first or words[n - 1].word != node // 64:
            words[n].word, words[n].bits = node // 64, 0
            n += 1
        words[n - 1].bits |= np.int64(ONE << np.uint64(node % 64))
        entry = entries[entry].next
    upcoming[k + 1].first_word, upcoming[k + 1].first_share = n, at
    state.n_copied = k + 1


@part()
def nodes_within(system, k, row):
    """Return how many nodes of a row of sets the running job at a place has. O(words of the job)."""
    n = 0
    for i in range(system.upcoming[k].first_word, system.upcoming[k + 1].first_word):
        n += population(
            system.sets[row, system.upcoming_words[i].word] & np.uint64(system.upcoming_words[i].bits)
        )
    return n


@part(inline=False)
def end_in_future(system, k, sign):
    """Free what the running job at a place has in the view of the future, or take it again if the sign is -1.

    O(nodes of the job x G). `running.remove_in_future` does it for jobs out of order.
    """
    jobs, future, sets, n_gres = system.jobs, system.future, system.sets, system.settings[0].n_gres
    job = system.running[k]
    for i in range(system.upcoming[k].first_share, system.upcoming[k + 1].first_share):
        node, cpus = system.upcoming_shares[i].node, sign * system.upcoming_shares[i].cpus
        future[node].cpus += cpus
        future[node].memory += sign * jobs[job].node_memory + jobs[job].cpu_memory * cpus
        if future[node].cpus > 0:
            sets[FUTURE, node // 64] |= ONE << np.uint64(node % 64)
        else:
            sets[FUTURE, node // 64] &= ~(ONE << np.uint64(node % 64))
        for kind in range(n_gres):
            system.future_gres[node * n_gres + kind] += sign * system.job_gres[job * n_gres + kind]
    if system.settings[0].in_rows:
        leave_row(system, job, LATER)
