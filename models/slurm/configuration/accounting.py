"""Associations, QOS and reservations: what sacctmgr and scontrol print, as lines beside slurm.conf's.

- ``sacctmgr dump CLUSTER``: ``Account - 'physics':Fairshare=10:GrpTRES=cpu=100``, see sacctmgr(1).
- ``sacctmgr -P show qos``: a table, whose rows are read as lines ``QosName=normal Priority=10 MaxJobsPU=4``.
- ``scontrol -o show reservation``: ``ReservationName=maintenance StartTime=2024-03-05T08:00:00 ...``.
- ``sacctmgr -P show event``: a table of when nodes were down.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from models.counting import counted
from models.slurm.configuration import hostlist, values
from models.slurm.configuration.keys import KNOWN, Line, key
from models.slurm.configuration.settings import Preempt
from models.slurm.configuration.values import duration, number, whole

DUMPED = re.compile(r"(Cluster|Parent|Account|User|QOS) - '(.*?)'(?::([A-Z]\w*=.*)?)?$", re.DOTALL)
"""A line of ``sacctmgr dump``."""

OF_TYPE = re.compile(r"(gres/\w+):")

ROOT = "root"
JOBS = "jobs"
SUBMITTED = "submitted jobs"
OF_MINUTES, OF_RUNNING, WALL = " minutes", " minutes of running jobs", "wall minutes"
"""What limits count."""

DAY_S = 86400

LONGEST_S = 366 * DAY_S

WEEK = tuple(range(7))

PERIODS: dict[str, tuple[int, tuple[int, ...]]] = {
    "HOURLY": (3600, WEEK), "DAILY": (DAY_S, WEEK), "WEEKDAY": (DAY_S, WEEK[:5]),
    "WEEKEND": (DAY_S, WEEK[5:]), "WEEKLY": (7 * DAY_S, WEEK),
}  # fmt: skip
"""Flags of reservations -> seconds until they come back, and on which days."""

WITHOUT_EFFECT = frozenset({
    "MAINT", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "PART_NODES", "ANY_NODES", "OVERLAP", "FLEX", "STATIC",
    "STATIC_ALLOC", "REPLACE", "REPLACE_DOWN", "FIRST_CORES", "NO_HOLD_JOBS_AFTER", "NO_HOLD_JOBS_AFTER_END",
    "PURGE_COMP", "MAGNETIC", "USER_DELETE", "USER_DEL", "FORCE_START", "GRES_REQ", "TRES_PER_NODE",
    "LICENSE_ONLY",
})  # fmt: skip
"""Flags of reservations by which these nodes are as unavailable to all jobs as without them."""

NEUTRAL = ("", "-1", "(null)")

TRES = ("cpu", "node", "mem", "gres", "billing", "bb", "energy", "fs", "ic", "license", "pages", "vmem")
"""Kinds of resources that Slurm can limit; those after gres have no effect here."""


def amounts(text: str) -> dict[str, int]:
    """Return how much of each resource, ``cpu=64,mem=2T`` in MB; -1 means unlimited."""
    found = {}
    for name, amount in values.options(text).items():
        if name.partition("/")[0] not in TRES:
            raise ValueError(f"{', '.join(TRES[:3])} and gres/NAME, or {', '.join(TRES[4:])} without effect")
        if amount not in NEUTRAL:
            found[name] = values.memory(amount) if name == "mem" else values.count(amount)
    return found


def level_mode(text: str) -> Preempt | None:
    """Return how jobs of a QOS are preempted; None if PreemptMode decides."""
    return None if text.upper() == "CLUSTER" else Preempt.of(text)


def share_of(text: str) -> float:
    """Return a number of shares: ``parent`` is infinite, and a value that sacctmgr omits is one."""
    return math.inf if text == "parent" else float(text) if re.fullmatch("[0-9]{1,9}", text) else 1.0


def partition_flags(text: str) -> frozenset[str]:
    """Return the limits of partitions that the flags of a QOS lift: ``PartitionMaxNodes`` and the like."""
    names = {"maxnodes": "maxnodes", "minnodes": "minnodes", "timelimit": "maxtime"}
    return frozenset(limit for flag, limit in names.items() if f"partition{flag}" in text.lower())


COUNT = whole(0, values.MOST)

PER_JOB = {
    "job_tres": "MaxTRESPerJob", "node_tres": "MaxTRESPerNode", "job_minutes": "MaxTRESMinsPerJob",
    "least_tres": "MinTRESPerJob", "job_wall": "MaxWall",
}  # fmt: skip
"""Fields with limits of one job -> their names in Slurm."""


@dataclass(frozen=True, kw_only=True)
class Association:
    """An account, or a user in an account: the options of a line of ``sacctmgr dump``.

    Parameters
    ----------
    share : float
        Infinite for ``Fairshare=parent``.
    group_tres, group_jobs, max_jobs : optional
        How much all jobs below may have at once, and how many jobs each user's association below may have.
    ignored : tuple of str
        Options that change schedules, but have no effect here.
    """

    name: str
    parent: str
    is_user: bool
    share: float = key("Fairshare", share_of, 1.0)
    group_tres: Mapping[str, int] | None = key("GrpTRES", amounts, None)
    group_jobs: int | None = key("GrpJobs", COUNT, None)
    max_jobs: int | None = key("MaxJobs", COUNT, None)
    minutes: Mapping[str, int] | None = key("GrpTRESMins", amounts, None)
    running_minutes: Mapping[str, int] | None = key("GrpTRESRunMins", amounts, None)
    wall: int | None = key("GrpWall", duration(), None)
    group_submitted: int | None = key("GrpSubmitJobs GrpSubmit", COUNT, None)
    max_submitted: int | None = key("MaxSubmitJobs MaxSubmit", COUNT, None)
    job_tres: Mapping[str, int] | None = key("MaxTRESPerJob MaxTRES MaxTRESPJ", amounts, None)
    node_tres: Mapping[str, int] | None = key("MaxTRESPerNode MaxTRESPN", amounts, None)
    job_minutes: Mapping[str, int] | None = key("MaxTRESMinsPerJob MaxTRESMins", amounts, None)
    job_wall: int | None = key("MaxWallDurationPerJob MaxWall", duration(), None)
    priority: int | None = key("Priority", COUNT, None)
    partition: str = key("Partition", str, "")
    ignored: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The association's name, with its partition if it is for one."""
        return f"{self.name} in {self.partition}" if self.partition else self.name

    @property
    def group(self) -> dict[str, int]:
        """Limits on all jobs below together, by resource."""
        return limits(self.group_tres, self.group_jobs, self.group_submitted, self)

    @property
    def each(self) -> dict[str, int]:
        """Limits on each user below."""
        return limits(None, self.max_jobs, self.max_submitted)


@dataclass(frozen=True, kw_only=True)
class Qos:
    """A QOS: the columns of ``sacctmgr show qos``, with limits on all its jobs, each user and each account.

    Its limits replace the limits of a partition's QOS if it has the flag ``OverPartQOS``.

    Parameters
    ----------
    preempts : tuple of str
        QOS whose jobs its jobs preempt.
    preempt : Preempt, optional
        How its own jobs are preempted, after `grace` seconds; None if PreemptMode decides.
    exempt : int, optional
        Seconds that each job may run before it can be preempted; None if PreemptExemptTime decides.
    refuses : bool
        Whether a job beyond a limit is refused at its submission; otherwise it waits for ever.
    free_of : frozenset of str
        Limits of partitions, in lower case, that its jobs may exceed.
    ignored : tuple of str
        Columns that change schedules, but have no effect here.
    """

    priority: int = key("Priority", whole(0, 2**32 - 1), 0)
    over_partition: bool = key("Flags", lambda text: "overpartqos" in text.lower(), False)
    group_tres: Mapping[str, int] | None = key("GrpTRES", amounts, None)
    group_jobs: int | None = key("GrpJobs", COUNT, None)
    minutes: Mapping[str, int] | None = key("GrpTRESMins", amounts, None)
    running_minutes: Mapping[str, int] | None = key("GrpTRESRunMins", amounts, None)
    wall: int | None = key("GrpWall", duration(), None)
    factor: float = key("UsageFactor", number(), 1.0)
    factor_is_safe: bool = key("Flags", lambda text: "usagefactorsafe" in text.lower(), False)
    decays: bool = key("Flags", lambda text: "nodecay" not in text.lower(), True)
    user_tres: Mapping[str, int] | None = key("MaxTRESPU MaxTRESPerUser", amounts, None)
    user_jobs: int | None = key("MaxJobsPU MaxJobsPerUser", COUNT, None)
    account_tres: Mapping[str, int] | None = key("MaxTRESPA MaxTRESPerAccount", amounts, None)
    account_jobs: int | None = key("MaxJobsPA MaxJobsPerAccount", COUNT, None)
    group_submitted: int | None = key("GrpSubmitJobs GrpSubmit", COUNT, None)
    user_submitted: int | None = key("MaxSubmitPU MaxSubmitJobsPU MaxSubmitJobsPerUser", COUNT, None)
    account_submitted: int | None = key("MaxSubmitPA MaxSubmitJobsPA MaxSubmitJobsPerAccount", COUNT, None)
    job_tres: Mapping[str, int] | None = key("MaxTRESPerJob MaxTRES MaxTRESPJ", amounts, None)
    node_tres: Mapping[str, int] | None = key("MaxTRESPerNode MaxTRESPN", amounts, None)
    job_minutes: Mapping[str, int] | None = key("MaxTRESMinsPerJob MaxTRESMins", amounts, None)
    least_tres: Mapping[str, int] | None = key("MinTRESPerJob MinTRES", amounts, None)
    job_wall: int | None = key("MaxWallDurationPerJob MaxWall", duration(), None)
    refuses: bool = key("Flags", lambda text: "denyonlimit" in text.lower(), False)
    free_of: frozenset[str] = key("Flags", partition_flags, frozenset())
    preempts: tuple[str, ...] = key("Preempt", lambda text: tuple(filter(None, text.split(","))), ())
    preempt: Preempt | None = key("PreemptMode", level_mode, None)
    grace: int = key("GraceTime", duration(0), 0)
    exempt: int | None = key("PreemptExemptTime", duration(), None)
    ignored: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, Mapping[str, int]]:
        """Limits by kind: on all its jobs, on each user, on each account."""
        return {
            "all": limits(self.group_tres, self.group_jobs, self.group_submitted, self),
            "user": limits(self.user_tres, self.user_jobs, self.user_submitted),
            "account": limits(self.account_tres, self.account_jobs, self.account_submitted),
        }


QOS_LIMITS = (
    "group_tres", "group_jobs", "user_tres", "user_jobs", "account_tres", "account_jobs", "minutes",
    "running_minutes", "wall", "group_submitted", "user_submitted", "account_submitted", *PER_JOB,
)  # fmt: skip
"""Fields of a QOS that limit its jobs."""


@dataclass(frozen=True)
class Reservation:
    """Nodes (positions) that no job may use for some time, seconds since the epoch.

    A log does not record which of its jobs ran in a reservation: all of them run outside.

    Parameters
    ----------
    period : int
        Seconds after which the reservation is repeated, on `days` of the week (0 is Monday, UTC); 0 for
        never.
    known : float
        The time from which the scheduler knows about it.
    """

    name: str
    nodes: tuple[int, ...]
    begin: float
    end: float
    period: int = 0
    days: tuple[int, ...] = ()
    known: float = -math.inf

    def occurrences(self, since: float, until: float) -> list[tuple[float, float, float]]:
        """Return when each occurrence begins, ends, and is known: Slurm sees one once the one before has
        ended."""
        if not self.period:
            return [(self.begin, self.end, self.known)]
        found, known = [], -math.inf
        last = math.ceil((until - self.begin) / self.period)
        for n in range(math.floor((since - self.end) / self.period) + 1, last + 1):
            begin, end = self.begin + n * self.period, self.end + n * self.period
            if (begin // DAY_S + 3) % 7 in self.days:  # the epoch began on a Thursday
                found.append((begin, end, known))
                known = end
        return found


def above(name: str, accounts: Mapping[str, Association]) -> Iterator[str]:
    """Yield an account and the accounts that contain it, each once."""
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        yield name
        name = accounts[name].parent if name in accounts else ""


def limits(
    tres: Mapping[str, int] | None,
    jobs: int | None,
    submitted: int | None,
    budgets: Association | Qos | None = None,
) -> dict[str, int]:
    """Return limits on TRES and on jobs together, and limits on what jobs have used, in minutes."""
    numbers = {JOBS: jobs, SUBMITTED: submitted}
    found = {**{name: n for name, n in numbers.items() if n is not None}, **(tres or {})}
    if budgets is not None:
        found |= {f"{name}{OF_MINUTES}": cap for name, cap in (budgets.minutes or {}).items()}
        found |= {f"{name}{OF_RUNNING}": cap for name, cap in (budgets.running_minutes or {}).items()}
        found |= {} if budgets.wall is None else {WALL: budgets.wall // 60}
    return found


def of_job(one: Association | Qos) -> dict[tuple[str, str], int]:
    """Return limits on single jobs, by their name in Slurm and resource; limits on time are in minutes."""
    found: dict[tuple[str, str], int] = {}
    for name, label in PER_JOB.items():
        caps = getattr(one, name, None)
        each = {"minutes": caps // 60} if isinstance(caps, int) else caps or {}
        found |= {(label, resource): cap for resource, cap in each.items()}
    return found


def ignored(line: Line, declared: Any, section: str) -> tuple[str, ...]:
    """Return the options or columns that are set but not modelled, as Slurm writes them."""
    names = KNOWN[section]["not_modelled"].split()
    line.check(
        (declared,), section, [*names, *line.given.keys() & {"account", "user", "cluster", "qosname", ""}]
    )
    neutral = (*NEUTRAL, "1.000000")  # as UsageFactor is printed
    small = {name.lower(): name for name in names}
    return tuple(small[one] for one, text in line.given.items() if one in small and text not in neutral)


def association_of(line: Line, parent: str, is_user: bool) -> Association:
    """Return an account or a user from the options of its line; the first account is the root."""
    without = ignored(line, Association, "associations")
    name = ROOT if "cluster" in line.given else line.name
    return Association(name=name, parent=parent, is_user=is_user, ignored=without, **line.record(Association))


def qos_of(line: Line) -> Qos:
    """Return the QOS that a line of columns describes."""
    return Qos(ignored=ignored(line, Qos, "qos"), **line.record(Qos))


def reservation_of(
    line: Line, numbers: Mapping[str, int], absent: Collection[str] = ()
) -> Reservation | None:
    """Return a reservation, or None if it has faults; its times are UTC, as the log's have to be."""
    if line.text("nodes") in NEUTRAL and line.text("licenses") not in NEUTRAL:
        line.faults.note(f"{line.where}: reservation {line.name} of licences has no effect here")
        return None
    if line.text("coreids"):
        line.faults.note(
            f"{line.where}: reservation {line.name} of some cores takes all cores of its nodes here"
        )
    try:
        return _reservation(line, numbers, absent)
    except ValueError as fault:
        line.fault(f"reservation {line.name} {fault}")
        return None


AWAY = re.compile(r"DOWN|DRAIN|FAIL")
"""States of a node on which no job starts."""


def events_of(
    lines: Iterable[Line], numbers: Mapping[str, int], absent: Collection[str] = ()
) -> tuple[Reservation, ...]:
    """Return when nodes were down, drained or failing, according to the lines of `sacctmgr show event`.

    An event that is not over yet has no end. Nodes that went down and came back together are one event.
    """
    nodes: dict[tuple[float, float], set[int]] = {}
    unknown: dict[str, Line] = {}
    for line in lines:
        if not line.name or not AWAY.search(line.text("state").upper()) or line.name in absent:
            continue  # it concerns the whole cluster, or a node that exists
        if line.name not in numbers:
            unknown.setdefault(line.name, line)
            continue
        try:
            begin = _instant(line.text("starttime"))
            end = math.inf if line.text("endtime") in OPEN else _instant(line.text("endtime"))
        except (ValueError, OverflowError):
            line.fault(f"event of node {line.name} needs TimeStart and TimeEnd like 2024-03-05T08:00:00")
            continue
        if end > begin:
            nodes.setdefault((begin, end), set()).add(numbers[line.name])
    for name, line in [*unknown.items()][:1]:
        line.faults.note(
            f"{line.where}: events name {counted(len(unknown), 'node')} outside slurm.conf, such as {name}"
        )
    return tuple(
        Reservation(f"event_{n}", tuple(sorted(nodes[times])), *times, known=times[0])
        for n, times in enumerate(sorted(nodes))
    )


OPEN = ("", "Unknown", "None", "N/A")
"""Ends of an event that is not over."""


def _instant(text: str) -> float:
    """Return seconds since the epoch; times without a zone are UTC, as the log's have to be."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=found.tzinfo or UTC).timestamp()


def _reservation(line: Line, numbers: Mapping[str, int], absent: Collection[str]) -> Reservation:
    listed = line.text("nodes")
    names: Sequence[str] = [*numbers] if listed.upper() == "ALL" else []
    try:
        names = names or [one for one in hostlist.expand(listed) if one not in absent]
        begin, end = (_instant(line.text(one)) for one in ("starttime", "endtime"))
    except (ValueError, OverflowError):
        raise ValueError("needs StartTime= and EndTime= like 2024-03-05T08:00:00, and Nodes=") from None
    if not names:
        raise ValueError("has no nodes; give Nodes=")
    if missing := [one for one in names if one not in numbers]:
        raise ValueError(f"has node {missing[0]}, which does not exist")
    if not 0 < end - begin <= LONGEST_S:
        raise ValueError("has to end after its start, within a year")
    flags = [flag.partition("=")[0] for flag in line.text("flags").upper().split(",") if flag]
    periods = [flag for flag in flags if flag in PERIODS]
    if other := [flag for flag in [*flags, *periods[1:]] if flag not in WITHOUT_EFFECT | {*periods[:1]}]:
        raise ValueError(
            f"with Flags={other[0]} is not modelled; allowed: one of {', '.join(PERIODS)}; and "
            f"{', '.join(sorted(WITHOUT_EFFECT))}"
        )
    period, days = PERIODS[periods[0]] if periods else (0, WEEK)
    if period and end - begin > period:
        raise ValueError("repeats before it has ended")
    return Reservation(line.name, tuple(numbers[one] for one in names), begin, end, period, days)
