"""Use of the time of a PE under each scheduler, from one simulation of each: ``draw pe_time``."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.drawings.settings import positive, valid
from analysis.silva1999.engine.scene import FAMILY, SOURCE, point, title
from analysis.silva1999.figures.pe_time import Shares, shares, stacked
from analysis.silva1999.labels import LOCAL_SHARE, PE_TIME, SCHEDULERS, STATES
from sweep.plan import families

PE_TIMES = {**{key: value for key, value in SOURCE.items() if key != "policy"}, "time": "20000"}


def pe_time(settings: Mapping[str, str]) -> Figure:
    """Draw a bar for each scheduler."""
    until = positive(settings, "time")
    bars = {name: valid(_shares, {**settings, "policy": name}, until) for name in SCHEDULERS}
    return stacked({f"{title(settings)}, until {until:,.0f} s": bars}, "Use of the time of a PE")


def _shares(settings: Mapping[str, str], until: float) -> Shares:
    metrics = families.find(FAMILY).simulate(point(settings, horizon=until)).metrics
    time = dict(zip(STATES, metrics[PE_TIME][0].tolist(), strict=True))
    return shares(time, float(metrics[LOCAL_SHARE][0]) * time[STATES[0]])
