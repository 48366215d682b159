"""How backfill policies and their rivals are called and look in every figure."""

from __future__ import annotations

from analysis.style import SchemeStyle, scheme_style

LOOKS = {
    "ncsa_lsf": SchemeStyle("NCSA-LSF*", "#555555", "X", "--"),
    "fcfs": SchemeStyle("FCFS", "#999999", "P", ":"),
    "easy": SchemeStyle("FCFS-backfill", "#0072b2", "s"),
    "conservative": SchemeStyle("Conservative", "#661100", "h", "-."),
    "priority_backfill": SchemeStyle("Priority-backfill", "#d55e00", "^"),
    "lxf_w_backfill": SchemeStyle("LXF&W-backfill", "#009e73", "o"),
    "lxf_backfill": SchemeStyle("LXF-backfill", "#999933", "<", ":"),
    "sjf_backfill": SchemeStyle("SJF-backfill", "#cc79a7", "v", "-."),
    "lxf_w_immediate": SchemeStyle("LXF&W-backfill/immediate", "#332288", "D"),
    "lxf_w_soon": SchemeStyle("LXF&W-backfill/soon", "#56b4e9", "p", "--"),
    "easy_immediate": SchemeStyle("FCFS-backfill/immediate", "#88ccee", "d", "--"),
    "eq_spatial_0m": SchemeStyle("EQspatial-0m", "#ddaa33", "<", ":"),
    "eq_spatial_5m": SchemeStyle("EQspatial-5m", "#aa3377", "s"),
    "eq_spatial_5m_50h": SchemeStyle("EQspatial-5m/>50hr", "#e69f00", "^", "--"),
}


def look(policy: str) -> SchemeStyle:
    """Return the style of a policy; those that somebody adds get one by their name."""
    return LOOKS.get(policy) or scheme_style(policy)


def label(policy: str) -> str:
    """Return a policy's name in text."""
    return look(policy).label
