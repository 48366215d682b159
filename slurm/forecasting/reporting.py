"""What ``python -m slurm forecast`` prints, and the files that it writes."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from slurm.forecasting.calibrating import LEAST, LEVELS, NEAREST, SHARE
from slurm.forecasting.state import State
from sweep.store import writing

FULL = int(NEAREST / SHARE)
"""Number of instants of which `NEAREST` are used."""

SHOWN = 40
"""Number of jobs that are printed and drawn."""


def span(seconds: float) -> str:
    """Return a duration as text with two or three digits."""
    if not np.isfinite(seconds):
        return "never"
    for name, size in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= (2 if name == "d" else 1) * size:
            return f"{seconds / size:.1f} {name}"
    return "now" if seconds < 1 else f"{seconds:.0f} s"


def report(
    state: State,
    watched: Ints,
    found: Floats,
    gains: Sequence[tuple[str, Floats, float]],
    n_known: int,
    place: Path,
) -> None:
    """Print a forecast, calibrated by a number of earlier instants, and write it with its picture."""
    names = [state.names[job] for job in watched]
    planned = state.planned[watched - state.n_running]
    rows = [
        {
            "job": name,
            "waited_s": float(-state.jobs.submit[job]),
            "start_s": _finite(of),
            "planned_s": plan or None,
        }
        for name, job, of, plan in zip(names, watched, found.T, np.nan_to_num(planned).tolist(), strict=True)
    ]
    print(
        f"{counted(state.n_running, 'running job')} and {counted(state.n_waiting, 'waiting job')} "
        f"at {date(state.zero)}; starts after then:"
    )
    print(
        f"{'job':>14}  {'waited':>9}  {'10 %':>9}  {'50 %':>9}  {'90 %':>9}"
        + f"  {'Slurm plans':>11}" * bool(np.isfinite(planned).any())
    )
    for row, of in list(zip(rows, found.T, strict=True))[:SHOWN]:
        plan = f"  {span(row['planned_s']):>11}" if row["planned_s"] else ""
        print(
            f"{row['job']:>14}  {span(row['waited_s']):>9}"
            + "".join(f"  {span(each):>9}" for each in of)
            + plan
        )
    if len(rows) > SHOWN:
        print(f"{counted(len(rows) - SHOWN, 'more job', 'is')} in {place / 'forecast.json'}")
    if gains:
        print("what would let it start earlier, in the same futures:")
    for what, of, sooner in gains:
        print(
            f"{what:>25}" + "".join(f"  {span(each):>9}" for each in of) + f"  sooner in {sooner:.0%} of them"
        )
    if n_known < LEAST:
        had = f" ({LEAST} instants are needed, and the jobs of {n_known} have started)" if n_known else ""
        print(
            f"not calibrated{had}: add calibrate=100 or more, to compare with that many earlier instants of "
            "the log"
        )
    elif n_known * SHARE < LEAST:
        print(
            f"calibrated by {LEAST} of only {n_known} earlier instants: quantiles depend little on what a "
            f"job asks for; add calibrate={FULL} or more"
        )
    document = {
        "at": state.zero,
        "levels": LEVELS.tolist(),
        "calibrated": n_known >= LEAST,
        "jobs": rows,
        "changes": [{"change": what, "start_s": _finite(of), "sooner": sooner} for what, of, sooner in gains],
    }
    write(document, place)
    labels = [*names[:SHOWN], *(what for what, *_ in gains)]
    spans = np.column_stack([found[:, :SHOWN], *(of for _, of, _ in gains)])
    _draw(labels, spans, np.append(planned[:SHOWN], [np.nan] * len(gains)), place)


def date(zero: float) -> str:
    return f"{datetime.fromtimestamp(zero, UTC):%F %T} UTC" if zero > 1e8 else f"{zero:,.0f} s"


def _finite(seconds: Floats) -> list[float | None]:
    """Return times for JSON, with None for never."""
    return [each if np.isfinite(each) else None for each in seconds.tolist()]


def write(document: Mapping[str, Any], place: Path) -> None:
    """Write a document as JSON and print its place; a time that never comes is null."""
    text = json.dumps(document, indent=1, allow_nan=False)
    writing.replace(place / "forecast.json", f"{text}\n".encode())
    print(f"written: {place / 'forecast.json'}")


def _draw(labels: Sequence[str], spans: Floats, planned: Floats, place: Path) -> None:
    """Draw the intervals of starts, one below the other."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    hours, at = np.where(np.isfinite(spans), spans, np.nan) / 3600, np.arange(len(labels))
    figure, axes = plt.subplots(figsize=(7, 1 + 0.22 * len(labels)), layout="constrained")
    axes.hlines(at, hours[0], hours[2], linewidth=4, color="C0", alpha=0.4, label="10 to 90 %")
    axes.plot(hours[1], at, "o", markersize=4, color="C0", label="50 %", clip_on=False)
    if np.isfinite(planned).any():
        axes.plot(planned / 3600, at, "x", markersize=4, color="C1", label="Slurm's plan")
    axes.set(yticks=at, yticklabels=labels, xlabel="start, hours from now", ylabel="job", xlim=(0, None))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    figure.legend(frameon=False, loc="outside upper center", ncols=3)
    with writing.private(place / "forecast.png") as made:
        figure.savefig(made, dpi=150)
    plt.close(figure)
    print(f"written: {place / 'forecast.png'}")
