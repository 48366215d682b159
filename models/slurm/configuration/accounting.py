"""Associations, QOS and reservations: what sacctmgr and scontrol print, as lines beside those of slurm.conf.

- ``sacctmgr dump CLUSTER``: ``Account - 'physics':Fairshare=10:GrpTRES=cpu=100``, see sacctmgr(1).
- ``sacctmgr -P show qos``: a table, whose rows are read as lines ``QosName=normal Priority=10 MaxJobsPU=4``.
- ``scontrol -o show reservation``: ``ReservationName=maintenance StartTime=2024-03-05T08:00:00 ...``.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from models.slurm.configuration import hostlist, values
from models.slurm.configuration.errors import ConfigurationError, nearest, parsed

DUMPED = re.compile(r"(Cluster|Parent|Account|User) - '([^']*)'(?::(.*))?$")
"""A line of ``sacctmgr dump``."""

ROOT = "root"
JOBS = "jobs"

DAY_S = 86400

LONGEST_S = 366 * DAY_S

LARGEST_PRIORITY = 2**32 - 1

WEEK = tuple(range(7))

PERIODS: dict[str, tuple[int, tuple[int, ...]]] = {
    "HOURLY": (3600, WEEK), "DAILY": (DAY_S, WEEK), "WEEKDAY": (DAY_S, WEEK[:5]),
    "WEEKEND": (DAY_S, WEEK[5:]), "WEEKLY": (7 * DAY_S, WEEK),
}  # fmt: skip
"""Flags of reservations -> seconds until they come back, and on which days."""

WITHOUT_EFFECT = frozenset({
    "MAINT", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "PART_NODES", "ANY_NODES", "OVERLAP", "FLEX", "STATIC",
    "STATIC_ALLOC", "REPLACE", "REPLACE_DOWN", "FIRST_CORES", "NO_HOLD_JOBS_AFTER", "NO_HOLD_JOBS_AFTER_END",
    "PURGE_COMP", "MAGNETIC", "USER_DELETE",
})  # fmt: skip
"""Flags of reservations by which these nodes are as unavailable to all jobs as without them."""

NEUTRAL = ("", "-1", "(null)")

TRES = ("cpu", "node", "mem", "gres", "billing", "bb", "energy", "fs", "ic", "license", "pages", "vmem")
"""Kinds of resources that Slurm can limit; those after gres have no effect here."""

COMMON = """
    Description FairShare Flags GrpCPUMins GrpCPURunMins GrpCPUs GrpJobs GrpJobsAccrue GrpMem GrpMemory
    GrpNodes GrpSubmit GrpSubmitJobs GrpTRES GrpTRESMins GrpTRESRunMins GrpWall ID MaxCPUMins MaxCPUs MaxNodes
    MaxTRES MaxTRESMins MaxTRESPerNode MaxWall MaxWallDurationPerJob MinPrioThres MinPrioThresh Priority"""
OPTIONS = f"""{COMMON}
    AdminLevel Classification Comment Coordinator DefaultAccount DefaultQOS DefaultWCKey Federation FedState
    Lineage MaxCPUMinsPerJob MaxCPURunMins MaxCPUsPerJob MaxJobs MaxJobsAccrue MaxNodesPerJob MaxSubmit
    MaxSubmitJobs MaxTRESMinsPerJob MaxTRESPerJob MaxTRESRunMins Organization Parent Partition QOS
    QosLevel Shares WCKeys"""
"""Options of a line of ``sacctmgr dump``, also of older versions."""
COLUMNS = f"""{COMMON}
    Descr GraceTime LimitFactor MaxCPURunMinsPU MaxCPUsPU MaxJobsAccruePA MaxJobsAccruePU MaxJobsPA MaxJobsPU
    MaxNodesPU MaxSubmitPA MaxSubmitPU MaxTRESPA MaxTRESPU MaxTRESRunMinsPA MaxTRESRunMinsPU MinCPUs MinTRES
    Preempt PreemptExemptTime PreemptMode QosName UsageFactor UsageThres"""
"""Columns of ``sacctmgr show qos``."""

NAMES = {name.lower(): name for name in f"{OPTIONS} {COLUMNS}".split()}

NOT_MODELLED = """
    grpcpumins grpcpurunmins grpcpus grpjobsaccrue grpmem grpmemory grpnodes grptresmins grptresrunmins
    grpwall maxcpumins maxcpus maxnodes maxtres maxtresmins maxtrespernode minpriothres minpriothresh
    maxcpuminsperjob maxcpurunmins maxcpusperjob maxjobsaccrue maxnodesperjob maxtresminsperjob maxtresperjob
    maxtresrunmins limitfactor maxcpurunminspu maxcpuspu maxjobsaccruepa maxjobsaccruepu maxnodespu
    maxtresrunminspa maxtresrunminspu mincpus mintres usagefactor usagethres"""
"""Options and columns that change schedules, and have no effect here."""


@dataclass(frozen=True)
class Association:
    """An account, or a user in an account.

    Parameters
    ----------
    share : float
        Infinite for ``Fairshare=parent``.
    group, each : mapping of str to int
        Resource (``jobs``, ``cpu``, ``node``, ``mem`` in MB, ``gres/gpu``) -> how much of it all jobs below
        may have at once, and those of each association of a user below.
    ignored : tuple of str
        Options that change schedules, and have no effect here.
    """

    name: str
    parent: str
    is_user: bool
    share: float
    group: Mapping[str, int] = field(default_factory=dict)
    each: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Qos:
    """A QOS, with how much its jobs may have at once: all of them, those of each user, of each account.

    Its limits replace those of a partition's QOS where it has the flag ``OverPartQOS``.

    Parameters
    ----------
    preempts : tuple of str
        QOS whose jobs its jobs preempt.
    preempt_mode : str
        How its own jobs are preempted, empty where PreemptMode decides; after `grace` seconds.
    exempt : int, optional
        Seconds that each of them may run before; None where PreemptExemptTime decides.
    ignored : tuple of str
        Columns that change schedules, and have no effect here.
    """

    priority: int
    over_partition: bool
    group: Mapping[str, int]
    user: Mapping[str, int]
    account: Mapping[str, int]
    preempts: tuple[str, ...] = ()
    preempt_mode: str = ""
    grace: int = 0
    exempt: int | None = None
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reservation:
    """Nodes (positions) that no job may use for some time, seconds since the epoch.

    A log does not record which of its jobs ran in a reservation: all of them run outside.

    Parameters
    ----------
    period : int
        Seconds after which it comes back, on `days` of the week (0 is Monday, UTC); 0 for never.
    """

    name: str
    nodes: tuple[int, ...]
    begin: float
    end: float
    period: int = 0
    days: tuple[int, ...] = ()

    def occurrences(self, since: float, until: float) -> list[tuple[float, float, float]]:
        """Return when it begins, ends, and is known: Slurm sees one once the one before has ended."""
        if not self.period:
            return [(self.begin, self.end, -math.inf)]
        found, known = [], -math.inf
        last = math.ceil((until - self.begin) / self.period)
        for n in range(math.floor((since - self.end) / self.period) + 1, last + 1):
            begin, end = self.begin + n * self.period, self.end + n * self.period
            if (begin // DAY_S + 3) % 7 in self.days:  # the epoch began on a Thursday
                found.append((begin, end, known))
                known = end
        return found


def dumped(text: str) -> list[tuple[str, str]] | None:
    """Return the pairs of a line of a dump: its kind with a name, then its options; None for another line.

    Examples
    --------
    >>> dumped("User - 'ann':DefaultAccount='physics':GrpTRES=cpu=8,gres/gpu:a100=1")
    [('User', 'ann'), ('DefaultAccount', 'physics'), ('GrpTRES', 'cpu=8,gres/gpu:a100=1')]
    """
    if not (found := DUMPED.match(text)):
        return None
    parts = re.split(r":(?=[A-Z]\w*=)", found[3] or "")
    pairs = (part.partition("=") for part in parts if "=" in part)
    return [(found[1], found[2]), *((key, value.strip("'")) for key, _, value in pairs)]


def above(name: str, accounts: Mapping[str, Association]) -> Iterator[str]:
    """Yield an account and those that it is in, each once."""
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        yield name
        name = accounts[name].parent if name in accounts else ""


def limits(place: str, given: Mapping[str, str], tres: str, jobs: str) -> dict[str, int]:
    """Return the limits that two keys set, of TRES and of jobs."""
    found = {}
    if given.get(jobs, "") not in NEUTRAL:
        found[JOBS] = int(parsed(place, NAMES[jobs], given[jobs], values.whole))
    try:
        for name, text in values.options(given.get(tres, "")).items():
            if name.partition("/")[0] not in TRES:
                raise ValueError(
                    f"{', '.join(TRES[:3])} and gres/NAME, or {', '.join(TRES[4:])} without effect"
                )
            if text not in NEUTRAL:
                found[name] = values.memory(text) if name == "mem" else values.whole(text)
    except ValueError as expected:
        raise ConfigurationError(f"{place}: {NAMES[tres]}={given[tres]}; allowed: {expected}") from None
    return found


def ignored(place: str, given: Mapping[str, str], known: str) -> tuple[str, ...]:
    """Return the options or columns that are set and not modelled; refuse those that Slurm does not have."""
    names = {"": ""} | {name.lower(): name for name in known.split()}  # -p prints a bar at the end as well
    for key in given:
        if key not in names:
            near = nearest(key, names)
            hint = f"did you mean {names[near]}?" if near else "correct it or delete it"
            raise ConfigurationError(f"{place}: {key} is none that sacctmgr prints; {hint}")
    neutral = (*NEUTRAL, "1.000000")  # as UsageFactor is printed
    not_modelled = given.keys() & NOT_MODELLED.split()
    return tuple(names[key] for key in given if key in not_modelled and given[key] not in neutral)


def association(place: str, name: str, parent: str, is_user: bool, given: Mapping[str, str]) -> Association:
    """Return an account or a user from the options of its line."""
    share = given.get("fairshare", "1")
    return Association(
        name,
        parent,
        is_user,
        math.inf if share == "parent" else float(share) if share.isdecimal() and len(share) < 10 else 1.0,
        limits(place, given, "grptres", "grpjobs"),
        limits(place, given, "", "maxjobs"),
        ignored(place, given, OPTIONS),
    )


def qos(place: str, given: Mapping[str, str]) -> Qos:
    """Return a QOS; the keys are the columns of ``sacctmgr show qos``."""
    not_modelled = ignored(place, given, COLUMNS)
    priority = parsed(place, "Priority", given.get("priority") or "0", values.between(0, LARGEST_PRIORITY))
    grace, exempt = (
        None if given.get(key, "") in NEUTRAL else parsed(place, key, given[key], values.minutes)
        for key in ("gracetime", "preemptexempttime")
    )
    mode = given.get("preemptmode", "").upper()
    return Qos(
        priority,
        "overpartqos" in given.get("flags", "").lower(),
        limits(place, given, "grptres", "grpjobs"),
        limits(place, given, "maxtrespu", "maxjobspu"),
        limits(place, given, "maxtrespa", "maxjobspa"),
        tuple(name for name in given.get("preempt", "").split(",") if name),
        "" if mode == "CLUSTER" else mode,
        grace or 0,
        exempt,
        not_modelled,
    )


def reservation(place: str, given: Mapping[str, str], numbers: Mapping[str, int]) -> Reservation:
    """Return a reservation; its times are UTC, as those of the log have to be."""
    name, listed = given["reservationname"], given.get("nodes", "")
    names: Sequence[str] = [*numbers] if listed.upper() == "ALL" else []
    try:
        names = names or hostlist.expand(listed)
        times = [datetime.fromisoformat(given.get(key, "")) for key in ("starttime", "endtime")]
    except ValueError:
        raise ConfigurationError(
            f"{place}: reservation {name} needs StartTime= and EndTime= as 2024-03-05T08:00:00, and Nodes="
        ) from None
    if not names:
        raise ConfigurationError(f"{place}: reservation {name} has no nodes; give Nodes=")
    if missing := [one for one in names if one not in numbers]:
        raise ConfigurationError(f"{place}: reservation {name} has node {missing[0]}, which is not there")
    begin, end = (one.replace(tzinfo=one.tzinfo or UTC).timestamp() for one in times)
    if not 0 < end - begin <= LONGEST_S:
        raise ConfigurationError(f"{place}: reservation {name} has to end after its start, within a year")
    flags = [flag.partition("=")[0] for flag in given.get("flags", "").upper().split(",") if flag]
    periods = [flag for flag in flags if flag in PERIODS]
    if other := [flag for flag in [*flags, *periods[1:]] if flag not in WITHOUT_EFFECT | {*periods[:1]}]:
        raise ConfigurationError(
            f"{place}: reservation {name} with Flags={other[0]} is not modelled; allowed: one of "
            f"{', '.join(PERIODS)}; and {', '.join(sorted(WITHOUT_EFFECT))}"
        )
    period, days = PERIODS[periods[0]] if periods else (0, WEEK)
    if period and end - begin > period:
        raise ConfigurationError(f"{place}: reservation {name} comes back before it has ended")
    return Reservation(name, tuple(numbers[one] for one in names), begin, end, period, days)
