"""The CPUs that nodes offer to a job, and the number of nodes in a set."""

from models.kernels.bits import ONE, lowest_position, population
from models.kernels.compiling import part


@part(inline=False)
def offered_by(system, job, whole, node, supply, gres):
    """Return the CPUs that a node can give to a job, 0 if it cannot take a part of it. O(G)."""
    nodes, jobs, settings = system.nodes, system.jobs, system.settings[0]
    cpus = supply[node].cpus
    if cpus <= 0 or (whole and cpus < nodes[node].cpus):
        return 0
    if whole and nodes[node].rows > 1:
        if cpus < nodes[node].cpus * (nodes[node].rows - system.state[0].shared):
            return 0
        cpus = nodes[node].cpus
    for kind in range(settings.n_gres):
        if gres[node * settings.n_gres + kind] < system.job_gres[job * settings.n_gres + kind]:
            return 0
    each, per_node = jobs[job].task_cpus, jobs[job].tasks_per_node
    if settings.track_memory:
        if supply[node].memory < jobs[job].node_memory:
            return 0
        if jobs[job].cpu_memory > 0:
            if whole:
                if jobs[job].cpu_memory * cpus > supply[node].memory:
                    return 0
            else:
                most = supply[node].memory // jobs[job].cpu_memory
                if most < cpus:
                    cpus = most - most % nodes[node].threads * settings.counts_cores
    least = each
    if per_node > 0:
        least = each * per_node
        if not whole:
            cpus = min(cpus, least)
    elif jobs[job].max_nodes == 1:
        least = each * jobs[job].tasks
    if each > 1 and not whole:  # a division takes as long as everything else here
        cpus -= cpus % each
    return cpus if cpus >= least else 0


@part()
def is_plain(system, job, whole):
    """Return whether a node offers a job everything that it has free."""
    jobs, settings = system.jobs, system.settings[0]
    bound = whole or jobs[job].max_nodes == 1 or jobs[job].tasks_per_node or settings.track_memory
    return not (bound or settings.n_gres or jobs[job].task_cpus > 1)


@part()
def is_single(system, job):
    """Return whether a job gets the first node on which it fits, as jobs of one node do since Slurm 26.05."""
    jobs, settings = system.jobs, system.settings[0]
    single = jobs[job].max_nodes == 1 or jobs[job].tasks == 1
    return single and settings.first_node and not settings.linear


@part(inline=False)
def count(system, row):
    """Return the number of nodes of a set; O(W)."""
    n = 0
    for w in range(system.sets.shape[1]):
        n += population(system.sets[row, w])
    return n


@part(inline=False)
def free_cpus(system, row):
    """Return how many CPUs are free on the nodes of a set. O(N)."""
    n = 0
    for w in range(system.sets.shape[1]):
        word = system.sets[row, w]
        while word:
            n += system.free[w * 64 + lowest_position(word)].cpus
            word &= word - ONE
    return n
