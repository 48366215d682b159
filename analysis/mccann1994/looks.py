"""How McCann's policies look in every figure: equipartition is blue, folding goes from yellow to dark red."""

from __future__ import annotations

from analysis.style import SchemeStyle, scheme_style

EQUIPARTITION = ("equi", "equi_plus")
FOLDING = ("fold_20", "fold_50", "fold_200", "fold_15j", "fold_20j", "fold_never")

LOOKS = {
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

SMALL, LARGE, REST = "#f7d9b9", "#e8a87c", "#b9d7ee"
"""Fills of partitions: folding's smaller and larger ones; equipartition's remainder section is `LARGE` among
`REST`. Black text can be read on all of them."""


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy; those that somebody adds get one by their name."""
    return LOOKS.get(policy) or scheme_style(policy)


def label(policy: str) -> str:
    """Return a policy's name in text."""
    return look(policy).label


def shade(color: str, light: float) -> str:
    """Return a colour mixed with white: 0 is the colour itself, 1 is white.

    Examples
    --------
    >>> shade("#000000", 0.5)
    '#808080'
    """
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * light):02x}" for part in parts)
