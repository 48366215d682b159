"""How policies are called in text: the same in figures, reports, the explorer and on the terminal."""

LABELS = {
    "first_fit": "First fit",
    "best_fit": "Best fit",
    "left_right_size": "Left-right by size",
    "left_right_slots": "Left-right by slots",
    "min_max_load": "Minimal maximum load",
    "min_avg_load": "Minimal average load",
    "buddy": "Buddy",
    "migration": "Migration",
    "equi": "EQUI",
    "equi_plus": "EQUI+",
    "fold_20": "FOLD 20 s",
    "fold_50": "FOLD 50 s",
    "fold_200": "FOLD 200 s",
    "fold_15j": "FOLD 15 s × J",
    "fold_20j": "FOLD 20 s × J",
    "fold": "FOLD, own time",
    "fold_q": "FOLD",
    "fold_never": "FOLD∞",
    "static_4": "4 static partitions",
    "static_8": "8 static partitions",
    "ideal_dynamic": "Ideal dynamic",
    "one_at_a_time": "Uniprogramming, FCFS",
    "processor_sharing": "Uniprogramming, PS",
    "buddy_schedule": "BUDDY",
    "buddy_schedule_reversed": "BUDDY, groups reversed",
    "equi_epoch": "EQUI-EPOCH",
    "greedy_largest": "Greedy from the largest",
    "optimal_buddy": "Optimum, powers of two",
    "optimal_epoch": "Optimum of epochs",
    "optimal_schedule": "Optimum of all",
    "ncsa_lsf": "NCSA-LSF*",
    "fcfs": "FCFS",
    "easy": "EASY",
    "conservative": "Conservative",
    "priority_backfill": "Priority-backfill",
    "lxf_w_backfill": "LXF&W-backfill",
    "lxf_backfill": "LXF-backfill",
    "sjf_backfill": "SJF-backfill",
    "easy_sjbf": "EASY-SJBF",
    "wfp3": "WFP3",
    "unicef": "UNICEF",
    "f1": "F1",
    "f2": "F2",
    "f3": "F3",
    "f4": "F4",
    "saf": "Smallest area first",
    "lxf_w_immediate": "LXF&W-backfill/immediate",
    "lxf_w_soon": "LXF&W-backfill/soon",
    "easy_immediate": "EASY/immediate",
    "eq_spatial_0m": "EQspatial-0m",
    "eq_spatial_5m": "EQspatial-5m",
    "eq_spatial_5m_50h": "EQspatial-5m/>50hr",
    "gang": "Gang scheduling",
    "concurrent_gang_rr": "Concurrent Gang, round robin",
    "concurrent_gang": "Concurrent Gang",
    "uncoordinated": "Uncoordinated",
    "unicos_max": "UNICOS MAX",
    "djm": "DJM",
    "llnl_gang": "LLNL gang scheduler",
    "tc2000_gang": "Gang scheduler, TC2000",
    "alpha_gang": "Gang scheduler, Alpha",
    "slurm": "Slurm",
    "slurm_builtin": "Slurm, builtin",
    "slurm_multifactor": "Slurm, multifactor",
}
"""Name of a file of conf/policy -> its name in text; how it looks is in `analysis.figures.policies`."""


def label(policy: str) -> str:
    """Return a policy's name in text; with the folder where one is given, as two policies may share a name.

    Examples
    --------
    >>> label("easy"), label("gang/buddy"), label("mine")
    ('EASY', 'Buddy (gang/buddy)', 'mine')
    """
    folder, _, name = policy.rpartition("/")
    found = LABELS.get(name, policy)
    return f"{found} ({policy})" if folder and name in LABELS else found


def named(policy: str) -> str:
    """Return a policy's name in text with the name that a user types beside it.

    Examples
    --------
    >>> named("first_fit"), named("gang/buddy"), named("mine")
    ('First fit (first_fit)', 'Buddy (gang/buddy)', 'mine')
    """
    text = label(policy)
    return text if policy in text else f"{text} ({policy})"
