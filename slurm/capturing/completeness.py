"""Check whether a bundle is complete: one line for each check, with the remedy."""

import re
from datetime import date

from models.counting import counted
from models.jobs.bundle import LOG
from models.workloads.sacct import fields
from slurm.capturing.collecting import COLUMNS, CONFIG, DUMP, NODES, PARTITIONS, QOS, Capture
from slurm.checks import Level

PRIVATE = {PARTITIONS: "partitions", NODES: "nodes", DUMP: "accounts", LOG: "jobs"}
"""File -> the word of PrivateData that hides what it has."""

FIRST_IN_PATH = "put the folder of the real sacct first in PATH"
LOST_DAYS = 2
"""Days without a submission at either end of the period that are worth a note."""


def check(captured: Capture) -> None:
    """Add findings about what was collected; a missing file has a finding already."""
    for name, titles in {CONFIG: 0, PARTITIONS: 0, NODES: 0, QOS: 1, DUMP: 0}.items():
        text = captured.files.get(name)
        if text is not None and len(text.splitlines()) <= titles:
            remedy = _hidden(captured, name) or "; is this the right cluster (SLURM_CONF)?"
            captured.note("warning", name, f"is empty{remedy}")
    if LOG in captured.files:
        _check_jobs(captured)


def _hidden(captured: Capture, name: str) -> str:
    """Return the remedy if the site hides from users what a file contains."""
    kind = PRIVATE.get(name, "")
    if kind not in captured.config.get("PrivateData", "").lower().split(","):
        return ""
    return f": PrivateData={kind} hides it; run this as root, or as a user of AdminLevel=Operator"


def _check_jobs(captured: Capture) -> None:
    header, *rows = captured.files[LOG].splitlines() or [""]
    names, asked = header.split("|"), f"{captured.since:%F} to {captured.until:%F}"
    if len(names) < 2:
        cut = "fixed-width columns, in which long values are cut: an alias or a wrapper drops -P"
        captured.note("wrong", "truncation", f"sacct prints {cut}; {FIRST_IN_PATH}")
        return
    if absent := [name for name in COLUMNS if name not in names]:
        level: Level = "wrong" if set(absent) & {name[0] for name in fields.FIELDS.values()} else "warning"
        version = captured.config.get("SLURM_VERSION", "this version")
        text = f"sacct of {version} lacks {', '.join(absent)}; run this where a newer sacct is installed"
        captured.note(level, "columns", text)
    else:
        captured.note("ok", "columns", f"all {len(names)} are present")
    if not rows:
        text = _hidden(captured, LOG) or "; give another period, -S DATE -E DATE"
        captured.note("wrong", "jobs", f"there are none in {asked}{text}")
        return
    column: dict[str, list[str]] = {name: [] for name in names}
    for row in rows:
        for name, text in zip(names, row.split("|"), strict=False):
            column[name].append(text)
    if cut_jobs := [job for job in column.get("JobID", ()) if re.search(r"\.\.\.|\+$", job)]:
        text = f"{len(cut_jobs):,} of {len(rows):,} JobIDs are cut, such as {cut_jobs[0]}; {FIRST_IN_PATH}"
        captured.note("wrong", "truncation", text)
    utc = captured.is_utc()
    if utc is None:
        captured.note("skipped", "time zone", "sacct prints no seconds since 1970 for comparison")
    elif utc:
        captured.note("ok", "time zone", "UTC")
    else:
        captured.note("wrong", "time zone", f"sacct does not print UTC: a wrapper sets TZ; {FIRST_IN_PATH}")
    if len(users := set(column.get("User", ()))) == 1:
        hidden = _hidden(captured, LOG)
        remedy = hidden or ": slurmdbd.conf may hide others (PrivateData=jobs); run this as root"
        captured.note("wrong" if hidden else "warning", "users", f"all jobs belong to one user{remedy}")
    else:
        captured.note("ok", "users", f"{counted(len(rows), 'job')} of {counted(len(users), 'user')}")
    _check_period(
        captured, asked, [text[:10] for text in column.get("Submit", ()) if fields.TIME.fullmatch(text)]
    )


def _check_period(captured: Capture, asked: str, days: list[str]) -> None:
    if not days:
        text = f"no submission time has the form 2024-03-01T08:00:00: a wrapper changes it; {FIRST_IN_PATH}"
        return captured.note("wrong", "period", text)
    gaps = []
    first, last = (date.fromisoformat(day) for day in (min(days), max(days)))
    if (first - captured.since.date()).days > LOST_DAYS:
        gaps.append(f"no submission before {first}, older jobs may have been purged; if so, give -S {first}")
    if (captured.until.date() - last).days > LOST_DAYS + 1:
        gaps.append(f"no submission after {last}; if there were any, run this where slurmdbd is up to date")
    captured.note("warning" if gaps else "ok", "period", "; ".join([f"asked for {asked}", *gaps]))
