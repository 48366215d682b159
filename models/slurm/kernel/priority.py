"""Fair-share factors from decayed usage: the classic formula, and Fair Tree.

Usage is CPU seconds, halved in every half-life; it is added to a user's association and to all accounts
above.

References
----------
Slurm's documentation, priority_multifactor.html and classic_fair_share.html ("The Slurm Fair-Share Formula",
F = 2 ** (-U / S)), fair_tree.html ("Level FS = S / U", users ranked by the tree, children in order of
Level FS).
"""

import math

from models.kernels.compiling import part
from models.slurm.kernel.tables import NONE


@part(inline=False)
def add_usage(system, job, since, until):
    """Add what a job used from one instant to another; O(depth of the tree)."""
    association = system.jobs[job].association
    seconds = math.floor(until) - math.floor(max(since, system.fate[job].start))
    if association == NONE or seconds <= 0:
        return
    used = seconds * system.settings[0].decay_per_s ** seconds * system.fate[job].cpus
    while association != NONE:
        system.fair[association].usage += used
        association = system.fair[association].parent


@part(inline=False)
def recalculate(system):
    """Bring usage and all factors up to date; once a period (PriorityCalcPeriod). O(running jobs + A^2)."""
    state, settings, fair = system.state[0], system.settings[0], system.fair
    since = state.last_calc
    state.last_calc = state.now
    state.last_update = math.floor(state.now)
    n = len(fair)
    if settings.weight_fair <= 0 or n == 0:
        return
    decay = settings.decay_per_s ** (math.floor(state.now) - math.floor(since))
    for a in range(n):
        fair[a].usage *= decay
    for k in range(state.n_running):
        add_usage(system, system.running[k], since, state.now)
    if settings.fair_tree:
        fair_tree(fair)
    else:
        classic(fair, settings.damping)


@part(inline=False)
def classic(fair, damping):
    """F = 2 ** (-U / S): U is the effective usage, that of the account included by the user's share of it."""
    total = max(fair[0].usage, 1e-300)
    fair[0].level = 1.0
    for a in range(1, len(fair)):
        own = fair[a].usage / total
        above = fair[fair[a].parent].level
        fair[a].level = own + (above - own) * fair[a].share
        fair[a].factor = 2.0 ** (-fair[a].level / fair[a].norm / damping) if fair[a].norm > 0 else 0.0


@part(inline=False)
def fair_tree(fair):
    """Rank users: an account's children come in order of Level FS, users that tie have the same rank."""
    n = len(fair)
    for a in range(1, n):
        above = fair[fair[a].parent].usage
        used = fair[a].usage / above if above > 0 else 0.0
        fair[a].level = fair[a].share / used if used > 0 else math.inf
    n_users = 0
    for a in range(n):
        n_users += fair[a].is_user
    for a in range(1, n):
        if not fair[a].is_user:
            continue
        better = 0
        for b in range(1, n):
            if fair[b].is_user and b != a and ranks_before(fair, b, a):
                better += 1
        fair[a].factor = (n_users - better) / n_users


@part(inline=False)
def ranks_before(fair, one, other):
    """Return whether a user ranks before another: the order of their ancestors below the first common one."""
    a, b = one, other
    depth_a, depth_b = depth(fair, a), depth(fair, b)
    while depth_a > depth_b:
        a, depth_a = fair[a].parent, depth_a - 1
    while depth_b > depth_a:
        b, depth_b = fair[b].parent, depth_b - 1
    while fair[a].parent != fair[b].parent:
        a, b = fair[a].parent, fair[b].parent
    if a == b:
        return False
    return fair[a].level > fair[b].level


@part()
def depth(fair, a):
    """Return how far an association is below the root."""
    found = 0
    while fair[a].parent != NONE:
        a = fair[a].parent
        found += 1
    return found
