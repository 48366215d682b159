"""The fields of sacct, and the parsing of their texts.

A string that does not have the field's form raises ``ValueError`` with the expected form.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from models.jobs.calendar import LAST_DATE
from models.jobs.requests import licences
from models.units import BYTES_IN_KB

COMMAND = (
    "TZ=UTC sacct -a -X -D -P --noconvert -S 2024-03-01 -E 2024-04-01 -o "
    "JobID,User,Account,Partition,State,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,AllocCPUS,AllocNodes,"
    "ReqMem,QOS,Reservation,AllocTRES,End,ReqCPUS,ReqNodes,ReqTRES,Constraints"
)
"""The command for the jobs of a month."""

SACCT = "Slurm's sacct"
"""The name of its text form; other formats have instants, not local times."""


class SacctError(ValueError):
    """A file that cannot be used as asked: one line with the file, the line number and a remedy."""


class Faults:
    """The wrong lines of a file, by what is wrong: the first one is named, the others are counted."""

    MOST = 1000
    """Lines that are counted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.first: dict[str, str] = {}
        self.count: Counter[str] = Counter()

    def add(self, kind: str, line: int, what: object) -> None:
        """Keep a wrong line: ``line 3 {what}``."""
        self.first.setdefault(kind, f"line {line} {what}")
        self.count[kind] += 1

    def check(self) -> None:
        """Raise `SacctError` with all kinds of faults, if there are any."""
        found = [
            first + (f" (and {n - 1:,} {'or ' * (n >= self.MOST)}more like it)" if n > 1 else "")
            for first, n in zip(self.first.values(), self.count.values(), strict=True)
        ]
        if found:
            lines = "it or delete the line" if self.count.total() == 1 else "or delete these lines"
            raise SacctError(f"{self.name}: {'; '.join(found)}; correct {lines}")


FIELDS = {
    "JobID": ("JobID", "JobIDRaw"),
    "User": ("User",),
    "Partition": ("Partition",),
    "State": ("State",),
    "Submit": ("Submit",),
    "Start": ("Start",),
    "ElapsedRaw": ("ElapsedRaw", "Elapsed"),
    "TimelimitRaw": ("TimelimitRaw", "Timelimit"),
    "AllocCPUS": ("AllocCPUS", "NCPUS"),
    "AllocNodes": ("AllocNodes", "NNodes"),
    "ReqMem": ("ReqMem",),
}
"""Needed values -> the fields that may hold them."""

OPTIONAL = {
    "Eligible": ("Eligible",),
    "Cluster": ("Cluster",),
    "Account": ("Account",),
    "QOS": ("QOS",),
    "Reservation": ("Reservation",),
    "TRES": ("AllocTRES", "ReqTRES"),
    "End": ("End",),
    "ReqCPUS": ("ReqCPUS",),
    "ReqNodes": ("ReqNodes",),
    "ReqTRES": ("ReqTRES",),
    "Licenses": ("Licenses",),
    "Constraints": ("Constraints",),
    "SubmitLine": ("SubmitOptions", "SubmitLine"),
}
"""Values that a file may have -> the fields that may hold them; SubmitOptions is what `python -m slurm
capture` keeps of SubmitLine."""

PLACED = ("switches", "segment")
PLACES = re.compile(r"([0-9]{1,6})(?:@(\S+))?")
SHARING = ("s", "oversubscribe", "share")
SEGMENTS = ("spread-segments", "consolidate-segments")
"""Options of sbatch that no other field has."""

SOUGHT = re.compile(r"(?<!\S)-(?:[A-Za-z]*s|-(?:s|overs|conso))")
"""A command line without it has none of these options."""

FLAGS = (
    *SHARING, *SEGMENTS, "async", "bcast", "bell", "compress", "contiguous", "debugger-test",
    "disable-status", "exact", "exclusive", "external", "external-launcher", "get-user-env",
    "help", "hold", "ignore-pbs", "immediate", "interactive", "kill-command", "kill-on-bad-exit", "label",
    "multi-prog", "nice", "no-allocate", "no-bell", "no-kill", "no-requeue", "no-shell", "oom-kill-step",
    "overcommit", "overlap", "parsable", "preserve-env", "propagate", "pty", "quiet", "quit-on-interrupt",
    "reboot", "requeue", "resv-ports", "send-libs", "spread-job", "stepmgr", "test-only", "unbuffered",
    "usage", "use-min-nodes", "verbose", "version", "wait", "wait-for-children", "whole", "x11",
)  # fmt: skip
"""Options of sbatch, salloc and srun whose value, if they have one, is optional and follows ``=``
(``slurm_opt.c`` of Slurm 26.05)."""

SHORT, ATTACHED = "EHOQVWXZhlsuv", "IKk"
"""Letters of such options: without a value, and with one that may follow in the same word."""

UNKNOWN_TIMES = frozenset({"Unknown", "None", ""})
"""Missing times: of a job that has not started, or never will."""

UNSET = np.iinfo(np.int64).min
"""The number of numpy's ``NaT``."""

ZERO = np.datetime64("1970-01-03")
"""An earlier instant was never set."""

MOST_WAIT_S = 2**31
"""Seconds that a job waits for few switches without a time of its own; the site's maximum is shorter."""

NO_VAL = 2**32 - 2  # from this number on, a number is not set

NO_LIMIT = frozenset({"UNLIMITED", "Partition_Limit", ""})
"""Time limits of a job without a limit of its own."""

JOB = re.compile(r"\d+(?:_(?:\d+|\[.*))?(?:\+\d+)?")
STATE = re.compile(r"([A-Z][A-Z_]*)(\+?)(?: by \S+)?")
STATES = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "EXPEDITING", "FAILED",
    "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "POWER_UP_NODE", "PREEMPTED", "RECONFIG_FAIL",
    "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD", "REVOKED", "RUNNING", "SIGNALING",
    "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED", "TIMEOUT", "UPDATE_DB",
)  # fmt: skip
"""States of Slurm's jobs; a narrow column cuts them: ``CANCELLE+``."""

TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}")
ZONED = re.compile(rf"{TIME.pattern}(?:Z|[+-]\d{{2}}:?\d{{2}})")
"""A time with its difference from UTC (``SLURM_TIME_FORMAT=%FT%T%z``)."""

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
NUMBER = re.compile(r"[0-9]{1,12}")
DAYS_HOURS = re.compile(r"[0-9]{1,6}-[0-9]{1,2}")
DURATION = re.compile(r"(?:(?:([0-9]{1,6})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(?:\.[0-9]+)?")
COUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)([KMG]?)")
MEMORY = re.compile(r"([0-9]{1,15}(?:\.[0-9]+)?)([KMGTP]?)([cn]?)")
"""A job has no number of more digits."""

_UNKNOWN = "|".join(UNKNOWN_TIMES)
TIMES = re.compile(rf"(?:(?:{TIME.pattern}|{_UNKNOWN})(?:\n|$))*")
SECONDS = re.compile(rf"(?:(?:{NUMBER.pattern}|{_UNKNOWN})(?:\n|$))*")
JOBS = re.compile(rf"(?:{JOB.pattern}(?:\n|$))*")
"""Times and jobs of many rows, one a line."""

TRES = re.compile(r"(?:[^\s,=]+=[^\s,=]*(?:,|$))*")
CONSTRAINT = re.compile(r"(?![|&])[^\s=]*(?<![|&])")
DEVICES = re.compile(r"\bgres/([^=,]+)=([0-9]{1,9})")
LICENCES = re.compile(r"\blicense/([^=,]+)=([0-9]{1,9})")

MOST_KB = 2**50
"""An exabyte."""

PREFIXES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}


def devices(text: str) -> dict[str, int]:
    """Return generic resources of a job by name, by type where it has types: ``gres/gpu=2,gres/gpu:a100=2``
    is {"gpu:a100": 2}."""
    if not TRES.fullmatch(text):
        raise ValueError("a list such as cpu=4,mem=16G,node=1")
    found = {name: int(count) for name, count in DEVICES.findall(text) if int(count)}
    typed = {name.partition(":")[0] for name in found if ":" in name}
    return {name: count for name, count in found.items() if name not in typed}


def of_licences(text: str) -> dict[str, int]:
    """Return licences of a job, of Licenses or of a list of TRES."""
    if "=" in text:
        return {name: int(count) for name, count in LICENCES.findall(text)}
    return licences(text) if text not in UNKNOWN_TIMES else {}


def _given(text: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a command line before its script, which may have options of the same names.

    Slurm joins the words by spaces, without quotes; other programs may have quoted them. A long option may be
    abbreviated. O(length).
    """
    try:
        command, *words = shlex.split(text) or [""]
    except ValueError:  # an apostrophe in a comment
        command, *words = text.split()
    valued = {"W", "wait"} if command.endswith("srun") else set[str]()
    rest = iter(words)
    for word in rest:
        if word == ":":  # the next component of a heterogeneous job
            continue
        if word in ("-", "--") or word[:1] != "-":
            return
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = next((known for known in (*PLACED, *FLAGS) if known.startswith(name)), name)
            takes = not equals and (name not in FLAGS or name in valued)
            yield name, next(rest, "") if takes else value
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter not in SHORT or letter in valued:
                takes = at == len(word) and letter not in ATTACHED
                yield letter, next(rest, "") if takes else word[at:]
                break
            yield letter, ""


def _sought(text: str) -> dict[str, str]:
    """Return the options of a command line that no other field has, with values of their form."""
    given = _given(text) if SOUGHT.search(text) else ()
    return {
        name: value
        for name, value in given
        if name in (*SHARING, *SEGMENTS) or (name in PLACED and PLACES.fullmatch(value))
    }


def placed(text: str) -> tuple[int, int, int, int, int]:
    """Return the options of a command line on where nodes are: nodes of each segment, switches at most, and
    for how many seconds the job waits for that; 0 without one. And whether it lets others have its CPUs, and
    whether it says in which blocks segments are (`SEGMENTS`).

    Examples
    --------
    >>> placed("sbatch -N 4 --switches=1@30 --segment 2 job.sh -s"), placed("srun -N4 -n 9 -s job.sh")[3]
    ((2, 1, 1800, 0, 0), 1)
    """
    found = _sought(text)
    switches, _, wait = found.get("switches", "0").partition("@")
    try:
        seconds = limit(f"{wait}:00:00" if DAYS_HOURS.fullmatch(wait) else wait)
    except ValueError:  # Slurm takes its maximum
        seconds = float("nan")
    most = MOST_WAIT_S if seconds != seconds else int(seconds)
    shares, of_segments = (int(any(name in found for name in names)) for names in (SHARING, SEGMENTS))
    return int(found.get("segment", "0").partition("@")[0]), int(switches), most, shares, of_segments


def constraints_of(text: str) -> set[str]:
    """Return the features for which a command line asks, of each component of a heterogeneous job."""
    return {value for name, value in _given(text) if name in ("C", "constraint")}


def options(text: str) -> str:
    """Return a command line of the options alone that `placed` reads, empty without one."""
    kept = [
        "-s" if name in SHARING else f"--{name}={value}".removesuffix("=")
        for name, value in _sought(text).items()
    ]
    return " ".join(["sbatch", *kept]) if kept else ""


def times(texts: Sequence[str]) -> np.ndarray:
    """Return instants (``datetime64[s]``), also of seconds since 1970 (``SLURM_TIME_FORMAT=%s``); in UTC, of
    times with their difference from it.

    The result is NaT if sacct has no time, or Slurm's zero in some time zone.
    """
    joined = "\n".join(texts)
    if TIMES.fullmatch(joined):
        known: list[str] | list[int] | None = ["NaT" if text in UNKNOWN_TIMES else text for text in texts]
    elif SECONDS.fullmatch(joined):
        known = [UNSET if text in UNKNOWN_TIMES else int(text) for text in texts]
    else:
        known = None
    try:
        if known is None and all(text in UNKNOWN_TIMES or ZONED.fullmatch(text) for text in texts):
            zoned = {text: int(datetime.fromisoformat(text).timestamp()) for text in {*texts} - UNKNOWN_TIMES}
            known = [zoned.get(text, UNSET) for text in texts]
        if known is not None:
            found = np.array(known, dtype="datetime64[s]")
            found[found < ZERO] = np.datetime64("NaT")
            if not (found.astype(np.int64) > LAST_DATE).any():
                return found
    except ValueError:  # a month 13
        pass
    raise ValueError("a time such as 2024-03-01T08:00:00 (is SLURM_TIME_FORMAT set?)")


def seconds(text: str) -> float:
    """Return the seconds of a time that has passed: ``3723``, or ``01:02:03`` or ``1-02:03:04``.

    If the clock was set back, Slurm prints a negative number, or ``INVALID``: the result is then less than 0.
    """
    if text == "INVALID":
        return -1.0
    if NUMBER.fullmatch(text.removeprefix("-")):
        return float(text)
    return _duration(text, "seconds, or a duration such as 1-02:03:04")


def limit(text: str) -> float:
    """Return the seconds of a time limit (minutes, or a duration), NaN if there is none."""
    if text in NO_LIMIT:
        return float("nan")
    if NUMBER.fullmatch(text):
        return 60.0 * int(text) if int(text) < NO_VAL else float("nan")
    return _duration(text, "minutes, a duration such as 1-02:03:04, UNLIMITED or Partition_Limit")


def _duration(text: str, expected: str) -> float:
    if not (found := DURATION.fullmatch(text)):
        raise ValueError(expected)
    days, hours, minutes, left = (int(part or 0) for part in found.groups())
    return float(86400 * days + 3600 * hours + 60 * minutes + left)


def count(text: str) -> int:
    """Return a number of processors or nodes; ``1K`` is 1,024."""
    if not (found := COUNT.fullmatch(text)):
        raise ValueError("a whole number")
    return round(float(found[1]) * PREFIXES[found[2]])


def requested(text: str) -> int:
    """Return a number of processors or nodes as `count` does, 0 for none."""
    return count(text or "0")


def memory(text: str) -> tuple[float, str]:
    """Return KB, and the unit: ``c`` each processor, ``n`` each node, else the whole job (since 21.08).

    Without a unit it is megabytes; an empty field or ``?`` means no memory.
    """
    if text.rstrip("cn") in ("", "?"):
        return 0.0, ""
    if not (found := MEMORY.fullmatch(text)):
        raise ValueError("memory such as 4000M, 16G, 4000Mc or 16Gn")
    kilobytes = float(found[1]) * PREFIXES[found[2] or "M"] / BYTES_IN_KB
    if kilobytes > MOST_KB:
        raise ValueError("memory that any job has")
    return kilobytes, found[3]


def state(text: str) -> str:
    """Return the state, without the user that cancelled the job."""
    if found := STATE.fullmatch(text):
        for known in STATES:
            if known == found[1] or (found[2] and known.startswith(found[1])):
                return known
    raise ValueError("a state of Slurm such as COMPLETED or CANCELLED by 1000")


def constraint(text: str) -> str:
    """Return the features that a job asks for."""
    if not CONSTRAINT.fullmatch(text) or any(text.count(a) != text.count(b) for a, b in ("()", "[]")):
        raise ValueError("features such as a&b or (a|b)&c")
    return text


def job(text: str) -> str:
    """Return the number of a job, a task of an array or a part of a heterogeneous job."""
    if not JOB.fullmatch(text):
        raise ValueError("a job such as 123, 123_4 or 123+0")
    return text


FORMS: dict[str, tuple[Callable[[str], Any], Any]] = {
    "JobID": (lambda text: job(text.partition(".")[0]), None),
    **dict.fromkeys(("Submit", "Start", "Eligible", "End"), (lambda text: times([text]), None)),
    **dict.fromkeys(("AllocCPUS", "AllocNodes"), (count, np.int64)),
    **dict.fromkeys(("ReqCPUS", "ReqNodes"), (requested, np.int64)),
    **dict.fromkeys(("TRES", "ReqTRES"), (devices, object)),
    "ReqMem": (memory, object), "State": (state, object), "Constraints": (constraint, None),
    "ElapsedRaw": (seconds, np.float64), "TimelimitRaw": (limit, np.float64),
}  # fmt: skip
"""How a field's text is parsed, and what it becomes; None where the reader has its own way."""
