"""The keys of the NCSA-LSF policy's YAML file: Tables 1 and 2 of Chiang and Vernon 2001, checked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from models import checks, keys
from models.backfill.rules import Rules
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.point import Parameters
from models.workloads.o2k.job_classes import CLASSES, NO_CLASS, SIZE_CLASSES, TIME_CLASSES, classify

HOUR = 3600.0


@dataclass(frozen=True)
class HostRow:
    """A row of Table 2.

    Parameters
    ----------
    sizes : tuple of str
        Size classes that run on the host, the one of highest priority first.
    limits : dict of str to int
        Maximum of executing jobs of a size class on this host; classes that are not named have no bound.
    """

    sizes: tuple[str, ...]
    limits: Mapping[str, int]


def _by_class(given: object, where: str, classes: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping from some of these classes; null is an empty mapping."""
    allowed = f"a mapping from {', '.join(classes)}"
    return checks.mapping({} if given is None else given, where, classes, allowed)


def _reserve_wait_hours(given: Parameters, where: str, key: str) -> dict[str, float]:
    """Return the hours after which a job of each time class may be given a special reservation."""
    where = f"{where}.{key}"
    hours = _by_class(given[key], where, TIME_CLASSES)
    allowed = "a number of hours from 0 on, or null for no special reservations"
    waits = {}
    for name in TIME_CLASSES:
        given_hours = {name: hours.get(name, "(none)")}
        if given_hours[name] is None:
            waits[name] = np.inf
        else:
            waits[name] = checks.number(given_hours, where, name, allowed, least=0, below=1e9)
    return waits


def _limits(given: object, where: str, classes: Collection[str]) -> dict[str, int]:
    """Return how many jobs of a class may run, for the classes with a limit."""
    limits = _by_class(given, where, classes)
    allowed = "a whole number from 0 on, or null for no limit"
    limited = [name for name, most in limits.items() if most is not None]
    return {name: checks.whole(limits, where, name, allowed, least=0) for name in limited}


def _time_order(given: Parameters, where: str, key: str) -> tuple[tuple[str, ...], ...]:
    """Return the groups of time classes; every class is in one of them."""
    order = given[key]
    if isinstance(order, list) and all(isinstance(group, list) for group in order):
        groups = tuple(tuple(str(name) for name in group) for group in order)
        if sorted(name for group in groups for name in group) == sorted(TIME_CLASSES):
            return groups
    once = ", ".join(TIME_CLASSES)
    checks.refuse(
        f"{where}.{key}", order,
        f"a list of lists that hold each of {once} once, such as [[vst], [st, mt, lt]]",
    )  # fmt: skip


def _hosts(given: Parameters, above: str, key: str) -> dict[str, HostRow]:
    """Return the rows of Table 2 by host."""
    if not isinstance(given[key], list) or not given[key]:
        checks.refuse(f"{above}.{key}", given[key], "a list of {host, sizes, limits}")
    rows: dict[str, HostRow] = {}
    for number, each in enumerate(given[key]):
        where = f"{above}.{key}[{number}]"
        row = checks.mapping(each, where, ("host", "sizes", "limits"))
        if "host" not in row:
            checks.refuse(where, row, "{host, sizes, limits}")
        name = str(row["host"])
        if name in rows:
            raise ValueError(f"{where}: host {name} has a row already; give each host one row")
        sizes = _sizes(row.get("sizes"), f"{where}.sizes", name)
        limits = _limits(row.get("limits"), f"{where}.limits", SIZE_CLASSES)
        if idle := [size for size in limits if size not in sizes]:
            raise ValueError(
                f"{where}.limits: host {name} does not take {', '.join(idle)}; allowed: limits "
                f"for {', '.join(sizes)}"
            )
        rows[name] = HostRow(sizes, limits)
    return rows


def _sizes(given: object, where: str, host: str) -> tuple[str, ...]:
    """Return the size classes of a host."""
    if not isinstance(given, list) or not given or set(map(str, given)) - set(SIZE_CLASSES):
        checks.refuse(where, given, f"a list of {', '.join(SIZE_CLASSES)}, the highest priority first")
    if len(set(given)) < len(given):
        raise ValueError(f"{where}={given}: name each class of host {host} once")
    return tuple(given)


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The configuration of the NCSA-LSF scheduler (section 2.1).

    Parameters
    ----------
    reserve_wait_hours : dict of str to float
        For each time class, the wait after which a job may have a special reservation; inf disables it.
    time_order : tuple of tuple of str
        Time classes by priority, the highest first; classes in one group are served first come, first served.
    system_limits : dict of str to int
        Maximum of executing jobs of a time class on all hosts.
    user_limit : int or None
        Maximum of executing jobs of a user on all hosts.
    hosts : dict of str to HostRow
        By the hosts' names.
    host_order : {"fullest", "listed"}
        Order in which hosts take waiting jobs: by free processors, the fewest first, or the machine's order.
    barred_hold_back : bool
        Whether a waiting job that a system-wide or per-user limit bars keeps smaller size classes from a
        host.
    """

    BASE = "ncsa_lsf"

    reserve_wait_hours: Mapping[str, float] = keys.checked(_reserve_wait_hours)
    time_order: tuple[tuple[str, ...], ...] = keys.checked(_time_order)
    system_limits: Mapping[str, int] = keys.checked(
        lambda given, where, key: _limits(given[key], f"{where}.{key}", TIME_CLASSES)
    )
    user_limit: int | None = keys.whole("a positive whole number, or null for none", null=True)
    hosts: Mapping[str, HostRow] = keys.checked(_hosts)
    host_order: str = keys.choice("fullest", "listed")
    barred_hold_back: bool = keys.switch()


@dataclass(frozen=True, kw_only=True)
class NcsaLsf(Rules, Configuration):
    """The NCSA-LSF scheduler; its keys are in conf/policy/backfill/ncsa_lsf.yaml."""

    kernels = ("models.backfill.ncsa_lsf.kernel",)

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file, see `Rules.of`."""
        own = keys.below(Configuration, policy.get("ncsa_lsf"), "policy.ncsa_lsf")
        return cls(**keys.read(Rules, policy, "policy"), **own)

    @property
    def reserve_wait(self) -> dict[str, float]:
        """Seconds for each time class, see `Configuration`."""
        return {name: hours * HOUR for name, hours in self.reserve_wait_hours.items()}

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse configurations under which some job could never run.

        These are a host without a row or a row without a host, jobs beyond all job classes, jobs that no host
        takes, and a limit per user if users are unknown.
        """
        unknown = [name for name in self.hosts if name not in machine.names]
        without = [name for name in machine.names if name not in self.hosts]
        if unknown:
            raise ValueError(
                f"policy.ncsa_lsf.hosts: the machine has no host {', '.join(unknown)}, only "
                f"{', '.join(machine.names)}; take a machine with these hosts, or leave these rows out"
            )
        if without:
            raise ValueError(
                f"policy.ncsa_lsf.hosts: no row for {', '.join(without)} of the machine; add one for each "
                "of its hosts"
            )
        classes = classify(jobs.requested, jobs.size, jobs.memory)
        if (classes == NO_CLASS).any():
            raise ValueError(_beyond(jobs, classes == NO_CLASS))
        homeless = np.ones(len(jobs), bool)
        for processors, memory, name in zip(machine.processors, machine.memory, machine.names, strict=True):
            homeless &= ~(self.takes(name)[classes] & (jobs.size <= processors) & (jobs.memory <= memory))
        if homeless.any():
            job = int(np.argmax(homeless))
            raise ValueError(
                f"{counted(int(homeless.sum()), 'job', of=len(jobs))} may run on no host: job {job + 1} of "
                f"class {CLASSES[classes[job]]} ({counted(jobs.size[job], 'processor')}, "
                f"{jobs.memory[job]:,} KB of memory), for instance; leave them out, or see "
                "policy.ncsa_lsf.hosts and system_limits"
            )
        if self.user_limit is not None and (jobs.user is None or (jobs.user < 0).any()):
            unknown_users = len(jobs) if jobs.user is None else int((jobs.user < 0).sum())
            raise ValueError(
                f"{counted(unknown_users, 'job', 'has', of=len(jobs))} no known user, and "
                f"policy.ncsa_lsf.user_limit={self.user_limit} counts by user; allowed with them: null"
            )

    def takes(self, host: str) -> np.ndarray:
        """Return whether each job class may ever run on a host; shape (n_classes,), bool."""
        row = self.hosts[host]
        sizes = [row.limits.get(s, 1) > 0 and s in row.sizes for s in SIZE_CLASSES]
        times = [self.system_limits.get(t, 1) > 0 for t in TIME_CLASSES]
        return np.logical_and.outer(sizes, times).ravel()


def _beyond(jobs: Jobs, these: np.ndarray) -> str:
    """Return which limits the jobs without a class exceed, and the options that keep jobs within them."""
    processors, memory = (max(limits) for limits in zip(*SIZE_CLASSES.values(), strict=True))
    seconds = max(TIME_CLASSES.values())
    reasons = (
        (jobs.requested > seconds, f"{seconds / HOUR:g} h", f"workload.longest_request={seconds:.0f}"),
        (jobs.size > processors, f"{processors} processors", f"workload.largest_job={processors}"),
        (jobs.memory > memory, f"{memory / KB_IN_GB:g} GB of memory", "a smaller workload.memory"),
    )
    met = [
        (f"{counted(int(which.sum()), 'job', 'asks')} for more than {what}", hint)
        for which, what, hint in reasons
        if which.any()
    ]
    if without := int(np.isnan(jobs.requested).sum()):
        met.insert(
            0, (f"{counted(without, 'job', 'has')} no requested time", "workload.estimates=tsafrir2005")
        )
    exceeded, hints = zip(*met, strict=True)
    return (
        f"{counted(int(these.sum()), 'job', 'is', of=len(jobs))} in none of the job classes of policy "
        f"ncsa_lsf: {', '.join(exceeded)}; leave out such jobs of a log (workload.exclude), have none drawn "
        f"({', '.join(hints)}), or take another policy"
    )
