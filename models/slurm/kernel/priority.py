"""Fair-share factors from decayed usage: the classic formula, and Fair Tree.

Usage is CPU seconds, halved in every half-life; it is added to a user's association and to all accounts
above.

References
----------
Slurm's documentation, priority_multifactor.html and classic_fair_share.html ("The Slurm Fair-Share Formula",
F = 2 ** (-U / S)), fair_tree.html ("Level FS = S / U", users ranked by the tree, children in order of
Level FS). Ranks of accounts that tie, and when classic factors are computed, are as in Slurm 22.05.8.
"""

import math

from models.kernels.compiling import part
from models.slurm.kernel.budgets import reset_usage, spend_all
from models.slurm.kernel.running import RUNNING
from models.slurm.kernel.tables import NONE


@part(inline=False)
def add_usage(system, job, since, until):
    """Add what a job used from one instant to another; O(depth of the tree)."""
    association = system.jobs[job].association
    seconds = math.floor(until) - math.floor(max(since, system.fate[job].start))
    if association == NONE or seconds <= 0:
        return
    billing = system.jobs[job].billing if system.jobs[job].billing >= 0 else system.fate[job].cpus
    used = seconds * system.settings[0].decay_per_s ** seconds * billing * system.jobs[job].factor
    while association != NONE:
        system.fair[association].usage += used
        association = system.fair[association].parent


@part(inline=False)
def recalculate(system):
    """Update usage and all factors, once in each PriorityCalcPeriod. O(running jobs + A).

    Classic factors of accounts are computed before the usage of the period is added, a user's factor when its
    first waiting job comes up in order of submission; so a job affects the jobs behind it. O(jobs + A).
    """
    state, settings, fair = system.state[0], system.settings[0], system.fair
    since = state.last_calc
    state.last_calc = state.now
    state.last_update = math.floor(state.now)
    n = len(fair)
    decay = settings.decay_per_s ** (math.floor(state.now) - math.floor(since))
    reset_usage(system)
    if settings.budgets:
        spend_all(system, since, decay)
    if settings.weight_fair <= 0 or n == 0:
        return
    if not settings.fair_tree:
        for a in range(1, n):
            fair[a].level = math.nan
            if not fair[a].is_user:
                classic(fair, a, settings.damping)
    for a in range(n):
        fair[a].usage *= decay
    if settings.fair_tree:
        for k in range(state.n_running):
            add_usage(system, system.running[k], since, state.now)
        fair_tree(fair)
        return
    for job in range(state.arrived):
        if system.fate[job].status == RUNNING:
            add_usage(system, job, since, state.now)
        elif 0 < system.fate[job].status < RUNNING and system.jobs[job].association != NONE:
            classic(fair, system.jobs[job].association, settings.damping)


@part(inline=False)
def classic(fair, a, damping):
    """Compute missing factors F = 2 ** (-U / S); a user's U contains its share of the account's U."""
    if not math.isnan(fair[a].level):
        return
    # On a site that has used nothing yet, all shares of usage are 0, not NaN.
    own, above = fair[a].usage / max(fair[0].usage, 1e-300), fair[fair[a].parent].level
    if fair[a].parent == 0:
        fair[a].level = own
    elif math.isinf(fair[a].share):
        fair[a].level = above
    else:
        fair[a].level = own + (above - own) * fair[a].share
    fair[a].factor = 2.0 ** (-fair[a].level / fair[a].norm / damping) if fair[a].norm > 0 else 0.0


@part(inline=False)
def fair_tree(fair):
    """Rank users: an account's children come in order of Level FS, users before accounts.

    Users that tie have the same rank; the first user of an account that ties has the last rank before it.
    """
    n_users = 0
    for a in range(1, len(fair)):
        above = fair[fair[a].parent].usage
        used = fair[a].usage / above if above > 0 else 0.0
        fair[a].level = 0.0 if fair[a].share <= 0 else fair[a].share / used if used > 0 else math.inf
        n_users += fair[a].is_user
    for a in range(len(fair)):
        sort_children(fair, a)
    place, rank, left, ties = fair[0].first, n_users, n_users, False
    while True:
        a = fair[place].held
        if fair[a].is_user:
            if not ties:
                rank = left
            fair[a].factor = rank / n_users
            left -= 1
        elif fair[a].first < fair[a].last:
            place = fair[a].first
            continue
        while place == fair[fair[a].parent].last - 1:
            a = fair[a].parent
            if a == 0:
                return
            place = fair[a].place
        place += 1
        ties = fair[fair[place].held].level == fair[a].level


@part(inline=False)
def sort_children(fair, parent):
    """Sort children by Level FS: an insertion sort, because most of them keep their place."""
    for begin in range(fair[parent].first, fair[parent].last):
        a, at = fair[begin].held, begin
        while at > fair[parent].first:
            other = fair[at - 1].held
            if fair[other].level > fair[a].level or (
                fair[other].level == fair[a].level and fair[other].is_user >= fair[a].is_user
            ):
                break
            fair[at].held, fair[other].place = other, at
            at -= 1
        fair[at].held, fair[a].place = a, at
