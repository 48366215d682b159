"""How policies are called and look in every figure, whichever paper or log it is about."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from analysis.figures.style import SchemeStyle, shade
from sweep.policy_names import label

# Colours after Okabe and Ito (2008) and Tol (2021), safe for the usual colour vision deficiencies. Relatives
# share a hue and differ in marker and dashes; those that a paper singles out are the darkest.
PACKING = {
    "first_fit": ("#56b4e9", "o"),
    "best_fit": ("#0072b2", "s", "--"),
    "left_right_size": ("#009e73", "<"),
    "left_right_slots": ("#999933", ">", "--"),
    "min_max_load": ("#e69f00", "^"),
    "min_avg_load": ("#d55e00", "v", "--"),
    "buddy": ("#882255", "D"),
    "migration": ("#111111", "X"),
}

# Equipartition is blue, folding goes from yellow to dark red.
PARTITIONING = {
    "equi": ("#56b4e9", "o", "--"),
    "equi_plus": ("#0072b2", "s"),
    "fold_20": ("#ddaa33", "<", ":"),
    "fold_50": ("#e69f00", ">", "--"),
    "fold_200": ("#d55e00", "^", "--"),
    "fold_15j": ("#cc79a7", "v", "-."),
    "fold_20j": ("#aa4499", "p", "-."),
    "fold": ("#b35900", "h", "-."),
    "fold_q": ("#d55e00", "d"),
    "fold_never": ("#7a1f00", "D"),
    "static_4": ("#999999", "o", "--"),
    "static_8": ("#555555", "s", "--"),
    "ideal_dynamic": ("#009e73", "D"),
    "one_at_a_time": ("#555555", "X", "--"),
    "processor_sharing": ("#009e73", "P", "-."),
    "buddy_schedule": ("#7a1f00", "D"),
    "buddy_schedule_reversed": ("#d55e00", "d", "--"),
    "equi_epoch": ("#0072b2", "s"),
    "greedy_largest": ("#56b4e9", "o", "--"),
    "optimal_buddy": ("#cc79a7", "v", ":"),
    "optimal_epoch": ("#44aa99", "^", ":"),
    "optimal_schedule": ("#111111", "X", ":"),
}

BACKFILLING = {
    "ncsa_lsf": ("#555555", "X", "--"),
    "fcfs": ("#999999", "P", ":"),
    "easy": ("#0072b2", "s"),
    "conservative": ("#661100", "h", "-."),
    "priority_backfill": ("#d55e00", "^"),
    "lxf_w_backfill": ("#009e73", "o"),
    "lxf_backfill": ("#999933", "<", ":"),
    "sjf_backfill": ("#cc79a7", "v", "-."),
    "easy_sjbf": ("#6699cc", "8", "--"),
    "wfp3": ("#117733", "*", "--"),
    "unicef": ("#44aa99", "H", ":"),
    "f1": ("#7a1f00", ">"),
    "f2": ("#b35900", "d", "--"),
    "f3": ("#e69f00", "D", "-."),
    "f4": ("#aa4499", "p", ":"),
    "saf": ("#882255", "h"),
    "lxf_w_immediate": ("#332288", "D"),
    "lxf_w_soon": ("#56b4e9", "p", "--"),
    "easy_immediate": ("#88ccee", "d", "--"),
    "eq_spatial_0m": ("#ddaa33", "<", ":"),
    "eq_spatial_5m": ("#aa3377", "s"),
    "eq_spatial_5m_50h": ("#e69f00", "^", "--"),
}

# Schedulers of tasks: gang scheduling is blue, Concurrent Gang the darkest, the reference grey and thin.
TASKS = {
    "gang": ("#0072b2", "s"),
    "concurrent_gang_rr": ("#e69f00", "^", "--"),
    "concurrent_gang": ("#882255", "o"),
    "uncoordinated": ("#999999", "d", ":"),
}

# Schedulers of production machines: what Livermore had before in grey and yellow, its gang schedulers dark.
LIVERMORE = {
    "unicos_max": ("#888888", "s", "--"),
    "djm": ("#e69f00", "^", "-."),
    "llnl_gang": ("#332288", "o"),
    "tc2000_gang": ("#117733", "D"),
    "alpha_gang": ("#aa4499", "v"),
}

_LOOKS: dict[str, Any] = PACKING | PARTITIONING | BACKFILLING | TASKS | LIVERMORE
LOOKS = {name: SchemeStyle(label(name), *looks) for name, looks in _LOOKS.items()}

# For policies that are not listed; the name decides, so that a policy looks the same in every figure and run.
SPARE_COLORS = ("#332288", "#cc79a7", "#117733", "#aa4499", "#6699cc", "#661100", "#44aa99", "#ddaa33")
SPARE_MARKERS = ("P", "p", "h", "*", "8", "d", "H")


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy, the same in every figure; one made from its name if it is not listed."""
    if (name := policy.rpartition("/")[2]) in LOOKS:
        return replace(LOOKS[name], label=label(policy))
    number = zlib.crc32(policy.encode())
    color, marker = SPARE_COLORS[number % len(SPARE_COLORS)], SPARE_MARKERS[number % len(SPARE_MARKERS)]
    return SchemeStyle(label(policy), color, marker, "-.")


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
