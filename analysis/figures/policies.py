"""How policies are called and look in every figure, whichever paper or log it is about."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from analysis.figures.style import SchemeStyle, shade

# Colours after Okabe and Ito (2008) and Tol (2021), safe for the usual colour vision deficiencies. Relatives
# share a hue and differ in marker and dashes; those that a paper singles out are the darkest.
PACKING = {
    "first_fit": SchemeStyle("First fit", "#56b4e9", "o"),
    "best_fit": SchemeStyle("Best fit", "#0072b2", "s", "--"),
    "left_right_size": SchemeStyle("Left-right by size", "#009e73", "<"),
    "left_right_slots": SchemeStyle("Left-right by slots", "#999933", ">", "--"),
    "min_max_load": SchemeStyle("Minimal maximum load", "#e69f00", "^"),
    "min_avg_load": SchemeStyle("Minimal average load", "#d55e00", "v", "--"),
    "buddy": SchemeStyle("Buddy", "#882255", "D"),
    "migration": SchemeStyle("Migration", "#111111", "X"),
}

# Equipartition is blue, folding goes from yellow to dark red.
PARTITIONING = {
    "equi": SchemeStyle("EQUI", "#56b4e9", "o", "--"),
    "equi_plus": SchemeStyle("EQUI+", "#0072b2", "s"),
    "fold_20": SchemeStyle("FOLD 20 s", "#ddaa33", "<", ":"),
    "fold_50": SchemeStyle("FOLD 50 s", "#e69f00", ">", "--"),
    "fold_200": SchemeStyle("FOLD 200 s", "#d55e00", "^", "--"),
    "fold_15j": SchemeStyle("FOLD 15 s × J", "#cc79a7", "v", "-."),
    "fold_20j": SchemeStyle("FOLD 20 s × J", "#aa4499", "p", "-."),
    "fold": SchemeStyle("FOLD, own time", "#b35900", "h", "-."),
    "fold_q": SchemeStyle("FOLD", "#d55e00", "d"),
    "fold_never": SchemeStyle("FOLD∞", "#7a1f00", "D"),
    "static_4": SchemeStyle("4 static partitions", "#999999", "o", "--"),
    "static_8": SchemeStyle("8 static partitions", "#555555", "s", "--"),
    "ideal_dynamic": SchemeStyle("Ideal dynamic", "#009e73", "D"),
    "one_at_a_time": SchemeStyle("Uniprogramming, FCFS", "#555555", "X", "--"),
    "processor_sharing": SchemeStyle("Uniprogramming, PS", "#009e73", "P", "-."),
    "buddy_schedule": SchemeStyle("BUDDY", "#7a1f00", "D"),
    "buddy_schedule_reversed": SchemeStyle("BUDDY, groups reversed", "#d55e00", "d", "--"),
    "equi_epoch": SchemeStyle("EQUI-EPOCH", "#0072b2", "s"),
    "greedy_largest": SchemeStyle("Greedy from the largest", "#56b4e9", "o", "--"),
    "optimal_buddy": SchemeStyle("Optimum, powers of two", "#cc79a7", "v", ":"),
    "optimal_epoch": SchemeStyle("Optimum of epochs", "#44aa99", "^", ":"),
    "optimal_schedule": SchemeStyle("Optimum of all", "#111111", "X", ":"),
}

BACKFILLING = {
    "ncsa_lsf": SchemeStyle("NCSA-LSF*", "#555555", "X", "--"),
    "fcfs": SchemeStyle("FCFS", "#999999", "P", ":"),
    "easy": SchemeStyle("EASY", "#0072b2", "s"),
    "conservative": SchemeStyle("Conservative", "#661100", "h", "-."),
    "priority_backfill": SchemeStyle("Priority-backfill", "#d55e00", "^"),
    "lxf_w_backfill": SchemeStyle("LXF&W-backfill", "#009e73", "o"),
    "lxf_backfill": SchemeStyle("LXF-backfill", "#999933", "<", ":"),
    "sjf_backfill": SchemeStyle("SJF-backfill", "#cc79a7", "v", "-."),
    "easy_sjbf": SchemeStyle("EASY-SJBF", "#6699cc", "8", "--"),
    "wfp3": SchemeStyle("WFP3", "#117733", "*", "--"),
    "unicef": SchemeStyle("UNICEF", "#44aa99", "H", ":"),
    "f1": SchemeStyle("F1", "#7a1f00", ">"),
    "f2": SchemeStyle("F2", "#b35900", "d", "--"),
    "f3": SchemeStyle("F3", "#e69f00", "D", "-."),
    "f4": SchemeStyle("F4", "#aa4499", "p", ":"),
    "saf": SchemeStyle("Smallest area first", "#882255", "h"),
    "lxf_w_immediate": SchemeStyle("LXF&W-backfill/immediate", "#332288", "D"),
    "lxf_w_soon": SchemeStyle("LXF&W-backfill/soon", "#56b4e9", "p", "--"),
    "easy_immediate": SchemeStyle("EASY/immediate", "#88ccee", "d", "--"),
    "eq_spatial_0m": SchemeStyle("EQspatial-0m", "#ddaa33", "<", ":"),
    "eq_spatial_5m": SchemeStyle("EQspatial-5m", "#aa3377", "s"),
    "eq_spatial_5m_50h": SchemeStyle("EQspatial-5m/>50hr", "#e69f00", "^", "--"),
}

# Schedulers of tasks: gang scheduling is blue, Concurrent Gang the darkest, the reference grey and thin.
TASKS = {
    "gang": SchemeStyle("Gang scheduling", "#0072b2", "s"),
    "concurrent_gang_rr": SchemeStyle("Concurrent Gang, round robin", "#e69f00", "^", "--"),
    "concurrent_gang": SchemeStyle("Concurrent Gang", "#882255", "o"),
    "uncoordinated": SchemeStyle("Uncoordinated", "#999999", "d", ":"),
}

# Schedulers of production machines: what Livermore had before in grey and yellow, its gang schedulers dark.
LIVERMORE = {
    "unicos_max": SchemeStyle("UNICOS MAX", "#888888", "s", "--"),
    "djm": SchemeStyle("DJM", "#e69f00", "^", "-."),
    "llnl_gang": SchemeStyle("LLNL gang scheduler", "#332288", "o"),
    "tc2000_gang": SchemeStyle("Gang scheduler, TC2000", "#117733", "D"),
    "alpha_gang": SchemeStyle("Gang scheduler, Alpha", "#aa4499", "v"),
}

LOOKS = PACKING | PARTITIONING | BACKFILLING | TASKS | LIVERMORE

# For policies that are not listed; the name decides, so that a policy looks the same in every figure and run.
SPARE_COLORS = ("#332288", "#cc79a7", "#117733", "#aa4499", "#6699cc", "#661100", "#44aa99", "#ddaa33")
SPARE_MARKERS = ("P", "p", "h", "*", "8", "d", "H")


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy, the same in every figure; one made from its name if it is not listed."""
    folder, _, name = policy.rpartition("/")
    if name in LOOKS:
        return replace(LOOKS[name], label=f"{LOOKS[name].label} ({policy})") if folder else LOOKS[name]
    number = zlib.crc32(policy.encode())
    color, marker = SPARE_COLORS[number % len(SPARE_COLORS)], SPARE_MARKERS[number % len(SPARE_MARKERS)]
    return SchemeStyle(policy, color, marker, "-.")


def apart(names: Sequence[str]) -> dict[str, SchemeStyle]:
    """Return the styles of policies of any families: where two of them look alike, the later one changes.

    Of more than there are looks, some share one.
    """
    found: dict[str, SchemeStyle] = {}
    for name in names:
        one = look(name)
        spare = iter([*zip(SPARE_COLORS, SPARE_MARKERS, strict=False), *product(SPARE_COLORS, SPARE_MARKERS)])
        while (one.color, one.marker) in {(other.color, other.marker) for other in found.values()}:
            color, marker = next(spare, ("", ""))
            if not color:
                break
            one = SchemeStyle(one.label, color, marker, one.dashes)
        found[name] = one
    return found


def label(policy: str) -> str:
    """Return a policy's name in text, the same in figures, reports, the explorer and on the terminal.

    Examples
    --------
    >>> label("easy"), label("gang/buddy"), label("mine")
    ('EASY', 'Buddy (gang/buddy)', 'mine')
    """
    return look(policy).label


def named(policy: str) -> str:
    """Return a policy's name in text with the name that a user types beside it.

    Examples
    --------
    >>> named("first_fit"), named("gang/buddy"), named("mine")
    ('First fit (first_fit)', 'Buddy (gang/buddy)', 'mine')
    """
    text = label(policy)
    return text if policy in text else f"{text} ({policy})"


def shaded(policy: str, details: Sequence[str], lightest: float = 0.65) -> list[SchemeStyle]:
    """Return the styles of several lines of a policy, from light to dark.

    Parameters
    ----------
    details : sequence of str
        What distinguishes each line, after the policy's name.
    lightest : float
        How much white the first has, see `style.shade`.
    """
    one, last = look(policy), max(1, len(details) - 1)
    return [
        SchemeStyle(
            f"{one.label}, {detail}", shade(one.color, lightest * (1 - n / last)), one.marker, one.dashes
        )
        for n, detail in enumerate(details)
    ]
