"""Jobs that are already running when a simulation begins."""

from numba import int64, uint64

from models.kernels.bits import population
from models.kernels.compiling import kernel, part
from models.kernels.types import FLOATS, INTS
from models.slurm.kernel.budgets import count_submitted
from models.slurm.kernel.rows import all_cores, remove_cores, remove_partition, row_at
from models.slurm.kernel.running import ENDED, start_job
from models.slurm.kernel.signatures import PICK
from models.slurm.kernel.tables import FEWEST, FREE, NARROWED, NOW, TRIED, system_at


@part(inline=False)
def free_cores(system, partition):
    """Write the cores that a job may have on its nodes into row `TRIED` of `System.cores`: idle cores,
    otherwise the free cores of one of its partition's rows, otherwise any. O(partitions x rows x N)."""
    n_rows = system.partitions[partition].n_rows
    for place in range(-1, n_rows + 1):
        all_cores(system.cores, TRIED, system.nodes)
        if place == -1:
            for other in range(len(system.partitions)):
                remove_partition(system, TRIED, other, NOW)
        elif place < n_rows:
            remove_cores(system.cores, TRIED, system.row_cores, row_at(system, partition, NOW, place))
        enough = True
        for k in range(system.state[0].n_chosen):
            choice = system.choices[k]
            enough = enough and population(system.cores[TRIED, choice.node]) >= choice.cpus
        if enough:
            return


@kernel(int64(uint64, FLOATS, INTS, INTS, INTS, PICK))
def start_before(address, start, first, node, cpus, pick):
    """Start the first jobs at instants in the past; return how many do not fit and are left out.

    Job j gets `cpus` of each `node` at the places from `first[j]` to before `first[j + 1]`; without such
    places, it gets the nodes that the scheduler would pick for it. O(jobs x nodes).
    """
    system = system_at(address)
    state, records, partitions = system.state[0], system.records, system.partitions
    lost = 0
    for job in range(len(start)):
        state.now = start[job]
        state.arrived += 1
        record = system.jobs[job].first_record
        state.n_chosen = first[job + 1] - first[job]
        for k in range(state.n_chosen):
            system.choices[k].node, system.choices[k].cpus = node[first[job] + k], cpus[first[job] + k]
        if state.n_chosen and system.settings[0].in_rows:
            free_cores(system, records[record].partition)
        if state.n_chosen == 0:
            for w in range(system.sets.shape[1]):
                words = system.partition_words[records[record].words, w]
                system.sets[NARROWED, w] = words & system.sets[FREE, w]
            state.most_shared = FEWEST
            whole = system.jobs[job].whole or partitions[records[record].partition].whole
            state.n_chosen = pick(system, record, whole, NARROWED, NOW)
        if state.n_chosen == 0:
            system.fate[job].status = ENDED
            lost += 1
        else:
            start_job(system, job, records[record].partition, 0)
            count_submitted(system, job, 1)
    return lost
