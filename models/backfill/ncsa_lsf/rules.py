"""The keys of the NCSA-LSF policy's YAML file: Tables 1 and 2 of Chiang and Vernon 2001, checked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from models import checks, keys
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine
from models.point import Parameters
from models.workloads.o2k.job_classes import CLASSES, NO_CLASS, SIZE_CLASSES, TIME_CLASSES, classify

HOST_ORDERS = ("fullest", "listed")
KEYS = (
    "reserve_wait_hours", "time_order", "system_limits", "user_limit", "hosts", "host_order",
    "barred_hold_back",
)  # fmt: skip
HOUR = 3600.0
WHERE = "policy.ncsa_lsf"


@dataclass(frozen=True)
class HostRow:
    """A row of Table 2.

    Parameters
    ----------
    sizes : tuple of str
        Size classes that run on the host, the one of highest priority first.
    limits : dict of str to int
        Executing jobs of a size class on this host, at most; classes that are not named have no bound.
    """

    sizes: tuple[str, ...]
    limits: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class NcsaLsf(Rules):
    """The configuration of the NCSA-LSF scheduler (section 2.1).

    Parameters
    ----------
    reserve_wait : dict of str to float, seconds
        For each time class: a job that waits longer may have a special reservation; inf is none.
    time_order : tuple of tuple of str
        Time classes by priority, the highest first; those in one group are served first come first serve.
    hosts : dict of str to HostRow
        By the hosts' names.
    system_limits : dict of str to int
        Executing jobs of a time class on all hosts, at most.
    user_limit : int or None
        Executing jobs of a user on all hosts, at most.
    host_order : {"fullest", "listed"}
        Which host is the first to take waiting jobs: that with the fewest free processors, or in the
        machine's order.
    barred_hold_back : bool
        Whether a waiting job that a system-wide or per-user limit bars keeps smaller size classes from a
        host.
    """

    reserve_wait: Mapping[str, float]
    time_order: tuple[tuple[str, ...], ...]
    hosts: Mapping[str, HostRow]
    system_limits: Mapping[str, int]
    user_limit: int | None
    host_order: str = "fullest"
    barred_hold_back: bool = False

    @property
    def kernels(self) -> tuple[str, ...]:
        """The module that simulates these rules, see `Rules.kernels`."""
        return ("models.backfill.ncsa_lsf.kernel",)

    @classmethod
    def of(cls, policy: Parameters) -> Self:
        """Return the configuration of a policy's YAML file.

        Parameters
        ----------
        policy : mapping
            With a mapping ``ncsa_lsf``, see conf/policy/backfill/ncsa_lsf.yaml.

        Raises
        ------
        ValueError
            With one line that names the value and those allowed.
        """
        allowed = f"a mapping of {', '.join(KEYS)} (see conf/policy/backfill/ncsa_lsf.yaml)"
        given = checks.mapping(policy.get("ncsa_lsf"), WHERE, KEYS, allowed)
        user_limit = given.get("user_limit")
        if user_limit is not None:
            checks.whole(given, WHERE, "user_limit", "a positive whole number, or null for none")
        return cls(
            **keys.read(Rules, policy, "policy"),
            reserve_wait=_reserve_wait(given.get("reserve_wait_hours")),
            time_order=_time_order(given.get("time_order")),
            hosts=_hosts(given.get("hosts")),
            system_limits=_limits(given.get("system_limits"), f"{WHERE}.system_limits", TIME_CLASSES),
            user_limit=user_limit,
            host_order=checks.choice(given, WHERE, "host_order", HOST_ORDERS, cls.host_order),
            barred_hold_back=checks.switch(given, WHERE, "barred_hold_back", cls.barred_hold_back),
        )

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse what could never run.

        Parameters
        ----------
        jobs : Jobs
        machine : Machine

        Raises
        ------
        ValueError
            With one line: a host without a row or a row without a host, jobs beyond all job classes, jobs
            that no host takes, a limit per user where users are not known.
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
                f"{int(homeless.sum()):,} of {len(jobs):,} jobs may run on no host: job {job + 1} of class "
                f"{CLASSES[classes[job]]} ({jobs.size[job]} processors, {jobs.memory[job]:,} KB of memory), "
                "for instance; leave them out, or see policy.ncsa_lsf.hosts and system_limits"
            )
        if self.user_limit is not None and (jobs.user is None or (jobs.user < 0).any()):
            unknown_users = len(jobs) if jobs.user is None else int((jobs.user < 0).sum())
            raise ValueError(
                f"{unknown_users:,} of {len(jobs):,} jobs have no known user, and policy.ncsa_lsf.user_limit="
                f"{self.user_limit} counts by user; allowed with them: null"
            )

    def takes(self, host: str) -> np.ndarray:
        """Return for each of the job classes whether it may ever run on a host; shape (n_classes,), bool."""
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
        (f"{int(which.sum()):,} ask for more than {what}", hint)
        for which, what, hint in reasons
        if which.any()
    ]
    if without := int(np.isnan(jobs.requested).sum()):
        met.insert(0, (f"{without:,} have no requested time", "workload.estimates=tsafrir2005"))
    exceeded, hints = zip(*met, strict=True)
    return (
        f"{int(these.sum()):,} of {len(jobs):,} jobs are in no job class of policy ncsa_lsf: "
        f"{', '.join(exceeded)}; leave out such jobs of a log (workload.exclude), have none drawn "
        f"({', '.join(hints)}), or take another policy"
    )


def _by_class(given: object, where: str, classes: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping from some of these classes; null is from none."""
    allowed = f"a mapping from {', '.join(classes)}"
    return checks.mapping({} if given is None else given, where, classes, allowed)


def _reserve_wait(given: object) -> dict[str, float]:
    """Return for each time class after how many seconds a job may be given a special reservation."""
    where = f"{WHERE}.reserve_wait_hours"
    hours = _by_class(given, where, TIME_CLASSES)
    allowed = "a number of hours from 0 on, or null for no special reservations"
    waits = {}
    for name in TIME_CLASSES:
        given_hours = {name: hours.get(name, "(none)")}
        if given_hours[name] is None:
            waits[name] = np.inf
        else:
            waits[name] = checks.number(given_hours, where, name, allowed, least=0, below=1e9) * HOUR
    return waits


def _limits(given: object, where: str, classes: Collection[str]) -> dict[str, int]:
    """Return how many jobs of a class may run, for those that have a limit."""
    limits = _by_class(given, where, classes)
    allowed = "a whole number from 0 on, or null for no limit"
    limited = [name for name, most in limits.items() if most is not None]
    return {name: checks.whole(limits, where, name, allowed, least=0) for name in limited}


def _time_order(given: object) -> tuple[tuple[str, ...], ...]:
    """Return the groups of time classes; every class is in one of them."""
    if isinstance(given, list) and all(isinstance(group, list) for group in given):
        groups = tuple(tuple(str(name) for name in group) for group in given)
        if sorted(name for group in groups for name in group) == sorted(TIME_CLASSES):
            return groups
    once = ", ".join(TIME_CLASSES)
    checks.refuse(
        f"{WHERE}.time_order", given,
        f"a list of lists that hold each of {once} once, such as [[vst], [st, mt, lt]]",
    )  # fmt: skip


def _hosts(given: object) -> dict[str, HostRow]:
    """Return the rows of Table 2 by host."""
    if not isinstance(given, list) or not given:
        checks.refuse(f"{WHERE}.hosts", given, "a list of {host, sizes, limits}")
    rows: dict[str, HostRow] = {}
    for number, each in enumerate(given):
        where = f"{WHERE}.hosts[{number}]"
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
