"""Rows of `select/cons_tres`: the cores of the jobs of a partition, where several jobs may have one core.

A partition has as many rows as jobs may share a core (OverSubscribe=FORCE:n or YES:n), and no two jobs of a
row have a core in common. A job that starts takes the first row in which it fits. When a job has ended, all
jobs of its partition take rows again, in order of their first cores, and the row with most cores in use comes
first; if that leaves a job without a row, all keep theirs (seen in Slurm's source,
`part_data_build_row_bitmaps`).
Rows are opened one by one, because rows behind the first empty one change nothing.

A view is `NOW` or `LATER`, the view of the future; rows of `NOW` come before rows of `LATER`.
"""

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest, lowest_position, population, span
from models.kernels.compiling import part
from models.slurm.kernel.tables import ALL_JOBS, NONE, NOW, VERIFIED, WHO_ASKS


@part()
def row_at(system, partition, view, place):
    """Return the row at a place of a partition's list."""
    first = view * (len(system.rows) // 2) + system.partitions[partition].first_row
    return first + system.rows[first + place].listed


@part(inline=False)
def chosen_cores(system, job, node, free, cpus):
    """Return which of the free cores of a node a job gets. O(cpus x sockets).

    With CR_Core sockets take turns, after as many tasks of several CPUs as each of them holds; otherwise, and
    with CR_CORE_DEFAULT_DIST_BLOCK, the socket of the best fit comes first.
    """
    n_sockets, taken, left = system.nodes[node].sockets, ZERO, cpus
    size = system.nodes[node].cpus // n_sockets
    if n_sockets == 1 or size == 1:
        return lowest(free, cpus)
    if system.settings[0].by_block:
        while left > 0:
            best, most = NONE, 0
            for socket in range(n_sockets):
                n = population(free & ~taken & (span(size) << np.uint64(socket * size)))
                if n > 0 and (best == NONE or (n >= cpus and (most < cpus or n < most)) or most < n < cpus):
                    best, most = socket, n
            n = min(most, left)
            taken |= lowest(free & ~taken & (span(size) << np.uint64(best * size)), n)
            left -= n
        return taken
    each = system.jobs[job].task_cpus
    for socket in range(n_sockets):
        there = free & (span(size) << np.uint64(socket * size))
        n = min(population(there) // each * each, left) if each > 1 else 0
        taken |= lowest(there, n)
        left -= n
    while left > 0:
        for socket in range(n_sockets):
            there = free & ~taken & (span(size) << np.uint64(socket * size))
            if there and left > 0:
                taken |= ONE << np.uint64(lowest_position(there))
                left -= 1
    return taken


@part(inline=False)
def has_room(system, job, row):
    """Return whether no job of a row has a core of a job. O(its nodes)."""
    entry = system.fate[job].entry
    while entry != NONE:
        if system.row_cores[row, system.entries[entry].node] & np.uint64(system.entries[entry].cores):
            return False
        entry = system.entries[entry].next
    return True


@part(inline=False)
def occupy(system, job, row, sign):
    """Add the cores of a job to a row, or remove them if `sign` is -1. O(its nodes)."""
    entry = system.fate[job].entry
    while entry != NONE:
        node, cores = system.entries[entry].node, np.uint64(system.entries[entry].cores)
        if sign > 0:
            system.row_cores[row, node] |= cores
        else:
            system.row_cores[row, node] &= ~cores
        system.rows[row].n_cores += sign * population(cores)
        entry = system.entries[entry].next


@part(inline=False)
def sort_rows(system, partition, view):
    """Put the rows with most cores in use first. O(rows^2)."""
    n = system.partitions[partition].n_rows
    first = view * (len(system.rows) // 2) + system.partitions[partition].first_row
    rows = system.rows
    for i in range(n):
        for j in range(i + 1, n):
            one, other = rows[first + i].listed, rows[first + j].listed
            if rows[first + other].n_cores > rows[first + one].n_cores:
                rows[first + i].listed, rows[first + j].listed = other, one


@part(inline=False)
def join_row(system, job, view):
    """Put a job into the first row of its partition in which it fits, and return whether there is one."""
    partition, at = system.fate[job].partition, view * len(system.fate) + job
    system.places[at].row = NONE
    for place in range(system.partitions[partition].n_rows):
        row = row_at(system, partition, view, place)
        if has_room(system, job, row):
            occupy(system, job, row, 1)
            system.places[at].row, system.places[at].number = row, system.state[0].n_placed
            system.state[0].n_placed += 1
            one = system.partitions[partition]
            if place + 1 == one.n_rows < one.most_rows:
                one.n_rows += 1
            return True
    return False


@part(inline=False)
def clear_rows(system, partition, view):
    """Remove all jobs from the rows of a partition. O(rows x nodes)."""
    first = view * (len(system.rows) // 2) + system.partitions[partition].first_row
    for row in range(first, first + system.partitions[partition].n_rows):
        system.rows[row].n_cores = 0
        for node in range(len(system.nodes)):
            system.row_cores[row, node] = ZERO


@part(inline=False)
def order_by_key(system, n):
    """Sort the first candidates by ascending key; equal keys keep their order."""
    candidates = system.candidates
    for k in range(1, n):
        job, key = candidates[k].job, candidates[k].key
        at = k
        while at > 0 and candidates[at - 1].key > key:
            candidates[at].job, candidates[at].key = candidates[at - 1].job, candidates[at - 1].key
            at -= 1
        candidates[at].job, candidates[at].key = job, key


@part(inline=False)
def first_core(system, job):
    """Return the number of the first core that a job has, over all nodes."""
    first, entry = 1 << 40, system.fate[job].entry
    while entry != NONE:
        core = lowest_position(np.uint64(system.entries[entry].cores))
        first = min(first, system.nodes[system.entries[entry].node].first_core + core)
        entry = system.entries[entry].next
    return first


@part(inline=False)
def leave_row(system, job, view):
    """Remove a job from its row, and assign rows to the other jobs of its partition again.

    O(jobs x (jobs + rows x nodes)).
    """
    state, fate, places, candidates = system.state[0], system.fate, system.places, system.candidates
    partition, of_view = fate[job].partition, view * len(fate)
    rows, n_rows = system.rows, system.partitions[partition].n_rows
    first = view * (len(rows) // 2) + system.partitions[partition].first_row
    row = places[of_view + job].row
    if row == NONE:
        return
    places[of_view + job].row = NONE
    all_in_first = row == first + rows[first].listed
    for place in range(1, n_rows):
        all_in_first = all_in_first and rows[first + rows[first + place].listed].n_cores == 0
    if all_in_first:  # because the others stay in it
        occupy(system, job, row, -1)
        return
    n = 0
    for place in range(n_rows):
        for k in range(state.n_running):
            other = system.running[k]
            if places[of_view + other].row == first + rows[first + place].listed:
                candidates[n].job = other
                # One key for two: the row, then the number in it.
                candidates[n].key = place << 48 | places[of_view + other].number
                n += 1
    order_by_key(system, n)
    for k in range(n):
        other = candidates[k].job
        places[of_view + other].row_before = places[of_view + other].row
        places[of_view + other].number_before = places[of_view + other].number
        # The first core, then the CPUs, of which no job has 2^20.
        candidates[k].key = first_core(system, other) << 20 | fate[other].cpus
    order_by_key(system, n)
    n_rows = min(n_rows + n, system.partitions[partition].most_rows)  # as many as may be opened now
    for place in range(n_rows):
        rows[first + place].before = rows[first + place].listed
    clear_rows(system, partition, view)
    every = True
    for k in range(n):
        every = join_row(system, candidates[k].job, view) and every
        sort_rows(system, partition, view)
    if every:
        return
    clear_rows(system, partition, view)
    for place in range(n_rows):
        rows[first + place].listed = rows[first + place].before
    for k in range(n):
        at = of_view + candidates[k].job
        places[at].row, places[at].number = places[at].row_before, places[at].number_before
        occupy(system, candidates[k].job, places[at].row, 1)


@part(inline=False)
def copy_rows(system):
    """Begin the view of the future with the rows as they are. O(rows x nodes + running jobs)."""
    rows, n = system.rows, len(system.rows) // 2
    for partition in range(len(system.partitions)):
        first = system.partitions[partition].first_row
        for row in range(first, first + system.partitions[partition].n_rows):
            rows[n + row].n_cores, rows[n + row].listed = rows[row].n_cores, rows[row].listed
            for node in range(len(system.nodes)):
                system.row_cores[n + row, node] = system.row_cores[row, node]
    for at in range(len(system.uses) // 2):
        now, then = system.uses[at], system.uses[len(system.uses) // 2 + at]
        then.alone, then.sharing = now.alone, now.sharing
    for k in range(system.state[0].n_running):
        one, later = system.places[system.running[k]], system.places[len(system.fate) + system.running[k]]
        later.row, later.number = one.row if one.row == NONE else one.row + n, one.number


@part(inline=False)
def all_cores(cores, to, nodes):
    """Write all cores of all nodes into row `to` of `System.cores`. O(nodes)."""
    for node in range(len(nodes)):
        cores[to, node] = span(nodes[node].cpus)


@part(inline=False)
def copy_cores(cores, to, source):
    """Copy a row of `System.cores`. O(nodes)."""
    for node in range(cores.shape[1]):
        cores[to, node] = cores[source, node]


@part(inline=False)
def remove_cores(cores, to, row_cores, row):
    """Remove the cores that a row has in use from row `to` of `System.cores`. O(nodes)."""
    for node in range(cores.shape[1]):
        cores[to, node] &= ~row_cores[row, node]


@part(inline=False)
def remove_partition(system, to, partition, view):
    """Remove the cores that jobs of a partition have from row `to` of `System.cores`. O(rows x nodes)."""
    for place in range(system.partitions[partition].n_rows):
        remove_cores(system.cores, to, system.row_cores, row_at(system, partition, view, place))


@part()
def shares(system, job, partition):
    """Return whether a job shares cores in a partition."""
    kind = system.partitions[partition].shares
    return kind == ALL_JOBS or (kind == WHO_ASKS and system.jobs[job].asks and not system.state[0].dedicated)


@part(inline=False)
def use_nodes(system, job, view, sign):
    """Add a job, on each of its nodes, to the jobs that share cores or to those that do not; remove it if
    `sign` is -1. O(its nodes)."""
    partition, entry = system.fate[job].partition, system.fate[job].entry
    if not system.settings[0].shares_cores:
        return
    first = view * (len(system.uses) // 2)
    alone = not shares(system, job, partition)
    while entry != NONE:
        node = system.entries[entry].node
        use = system.uses[first + node]
        use.alone += sign * alone
        use.sharing += sign * (system.jobs[job].asks or system.partitions[partition].shares == ALL_JOBS)
        system.touched[partition, node // 64] |= ONE << np.uint64(node % 64)
        entry = system.entries[entry].next


@part(inline=False)
def has_shared(system, partition, node, view):
    """Return whether jobs of another partition with shared cores are on a node or, in some versions
    (`versions.RULES`), ever were; with `asked_sharing`, only if a job there shares cores or asks for that,
    which no view of the future shows. O(rows of all partitions)."""
    settings = system.settings[0]
    if settings.asked_sharing and (view != NOW or not system.uses[node].sharing):
        return False
    for other in range(len(system.partitions)):
        if other == partition or system.partitions[other].most_rows < 2:
            continue
        if settings.asked_sharing and not settings.in_use:
            if system.touched[other, node // 64] & (ONE << np.uint64(node % 64)):
                return True
            continue
        for place in range(system.partitions[other].n_rows):
            if system.row_cores[row_at(system, other, view, place), node]:
                return True
    return False


@part(inline=False)
def verify(system, job, partition, view, row):
    """Write the nodes of a row of `System.sets` that a job may have into row `VERIFIED`. A job that shares
    cores gets no node with a job that does not share them; a job that does not gets no node with jobs of
    another partition that shares cores (seen in Slurm's source, `_verify_node_state`). O(nodes x rows of all
    partitions)."""
    sharing, first = shares(system, job, partition), view * (len(system.uses) // 2)
    for w in range(system.sets.shape[1]):
        word = kept = system.sets[row, w]
        while word:
            at = lowest_position(word)
            word &= word - ONE
            node = w * 64 + at
            if system.uses[first + node].alone if sharing else has_shared(system, partition, node, view):
                kept &= ~(ONE << np.uint64(at))
        system.sets[VERIFIED, w] = kept
