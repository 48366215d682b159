"""What the NCSA-LSF policy's YAML file says: Tables 1 and 2 of Chiang and Vernon 2001, checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from models.jobs.machine import KB_IN_GB
from models.workloads.o2k.job_classes import CLASSES, NO_CLASS, SIZE_CLASSES, TIME_CLASSES, classify

if TYPE_CHECKING:
    from models.jobs.jobs import Jobs
    from models.jobs.machine import Machine

HOST_ORDERS = ("fullest", "listed")
KEYS = (
    "reserve_wait_hours", "time_order", "system_limits", "user_limit", "hosts", "host_order",
    "barred_hold_back",
)  # fmt: skip
HOUR = 3600.0


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


@dataclass(frozen=True)
class NcsaLsf:
    """The configuration of the NCSA-LSF scheduler (section 2.1).

    Parameters
    ----------
    reserve_wait : dict of str to float, seconds
        For each time class: who waits longer may be given a special reservation; inf is nobody.
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
    ties : {"instant", "event"}
        As in `models.backfill.rules.Rules`.
    """

    reserve_wait: Mapping[str, float]
    time_order: tuple[tuple[str, ...], ...]
    hosts: Mapping[str, HostRow]
    system_limits: Mapping[str, int]
    user_limit: int | None
    host_order: str = "fullest"
    barred_hold_back: bool = False
    ties: str = "instant"

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> NcsaLsf:
        """Return the configuration of a policy's YAML file.

        Parameters
        ----------
        policy : mapping
            With a mapping ``ncsa_lsf`` (see conf/policy/backfill/ncsa_lsf.yaml) and ``ties``.

        Raises
        ------
        ValueError
            With one line that says what is allowed.
        """
        given = policy.get("ncsa_lsf")
        if not isinstance(given, Mapping) or set(given) - set(KEYS):
            raise ValueError(
                f"policy.ncsa_lsf={given}; allowed: a mapping of {', '.join(KEYS)} "
                "(see conf/policy/backfill/ncsa_lsf.yaml)"
            )
        waits = _mapping(given, "reserve_wait_hours", TIME_CLASSES)
        for name in TIME_CLASSES:
            hours = waits.get(name, "(none)")
            number = isinstance(hours, int | float) and not isinstance(hours, bool) and 0 <= hours < 1e9
            if hours is not None and not number:
                raise ValueError(
                    f"policy.ncsa_lsf.reserve_wait_hours.{name}={hours}; allowed: a number of hours from 0 "
                    "on, or null for no special reservations"
                )
        user_limit = given.get("user_limit")
        if user_limit is not None and (not _is_count(user_limit) or user_limit == 0):
            raise ValueError(
                f"policy.ncsa_lsf.user_limit={user_limit}; allowed: a positive whole number, or null for none"
            )
        host_order = given.get("host_order", cls.host_order)
        if host_order not in HOST_ORDERS:
            raise ValueError(f"policy.ncsa_lsf.host_order={host_order}; allowed: {', '.join(HOST_ORDERS)}")
        hold_back = given.get("barred_hold_back", cls.barred_hold_back)
        if not isinstance(hold_back, bool):
            raise ValueError(f"policy.ncsa_lsf.barred_hold_back={hold_back}; allowed: true, false")
        return cls(
            {name: np.inf if waits[name] is None else waits[name] * HOUR for name in TIME_CLASSES},
            _time_order(given.get("time_order")),
            _hosts(given.get("hosts")),
            _limits(given, "system_limits", TIME_CLASSES),
            user_limit,
            host_order,
            hold_back,
            policy.get("ties", cls.ties),
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
            nobody = len(jobs) if jobs.user is None else int((jobs.user < 0).sum())
            raise ValueError(
                f"{nobody:,} of {len(jobs):,} jobs have no known user, and policy.ncsa_lsf.user_limit="
                f"{self.user_limit} counts by user; allowed with them: null"
            )

    def takes(self, host: str) -> np.ndarray:
        """Tell for each of the job classes whether it may ever run on a host; shape (n_classes,), bool."""
        row = self.hosts[host]
        sizes = [row.limits.get(s, 1) > 0 and s in row.sizes for s in SIZE_CLASSES]
        times = [self.system_limits.get(t, 1) > 0 for t in TIME_CLASSES]
        return np.logical_and.outer(sizes, times).ravel()


def _beyond(jobs: Jobs, these: np.ndarray) -> str:
    """Say which of the limits the jobs without a class are beyond."""
    processors, memory = (max(limits) for limits in zip(*SIZE_CLASSES.values(), strict=True))
    hours = max(TIME_CLASSES.values())
    counts = {
        "have no requested time": np.isnan(jobs.requested),
        f"ask for more than {hours / HOUR:g} h": jobs.requested > hours,
        f"ask for more than {processors} processors": jobs.size > processors,
        f"ask for more than {memory / KB_IN_GB:g} GB of memory": jobs.memory > memory,
    }
    why = ", ".join(f"{int(which.sum()):,} {what}" for what, which in counts.items() if which.any())
    return (
        f"{int(these.sum()):,} of {len(jobs):,} jobs are in no job class of policy ncsa_lsf: {why}; leave "
        "out such jobs, or take another policy"
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _mapping(given: Mapping[str, Any], key: str, classes: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping from some of these classes."""
    value = given.get(key)
    value = {} if value is None else value
    if not isinstance(value, Mapping) or set(value) - set(classes):
        raise ValueError(f"policy.ncsa_lsf.{key}={value}; allowed: a mapping from {', '.join(classes)}")
    return value


def _limits(given: Mapping[str, Any], key: str, classes: Collection[str]) -> dict[str, int]:
    """Return how many jobs of a class may run, for those that have a limit."""
    limits = _mapping(given, key, classes)
    for name, value in limits.items():
        if value is not None and not _is_count(value):
            raise ValueError(
                f"policy.ncsa_lsf.{key}.{name}={value}; allowed: a whole number from 0 on, or null "
                "for no limit"
            )
    return {name: value for name, value in limits.items() if value is not None}


def _time_order(given: object) -> tuple[tuple[str, ...], ...]:
    """Return the groups of time classes; every class is in one of them."""
    if isinstance(given, list) and all(isinstance(group, list) for group in given):
        groups = tuple(tuple(str(name) for name in group) for group in given)
        if sorted(name for group in groups for name in group) == sorted(TIME_CLASSES):
            return groups
    raise ValueError(
        f"policy.ncsa_lsf.time_order={given}; allowed: a list of lists that hold each of "
        f"{', '.join(TIME_CLASSES)} once, such as [[vst], [st, mt, lt]]"
    )


def _hosts(given: object) -> dict[str, HostRow]:
    """Return the rows of Table 2 by host."""
    if not isinstance(given, list) or not given:
        raise ValueError(f"policy.ncsa_lsf.hosts={given}; allowed: a list of {{host, sizes, limits}}")
    rows: dict[str, HostRow] = {}
    for number, row in enumerate(given):
        at = f"hosts[{number}]"
        if not isinstance(row, Mapping) or set(row) - {"host", "sizes", "limits"} or "host" not in row:
            raise ValueError(f"policy.ncsa_lsf.{at}={row}; allowed: {{host, sizes, limits}}")
        name, sizes = str(row["host"]), row.get("sizes")
        if name in rows:
            raise ValueError(f"policy.ncsa_lsf.{at}: host {name} has a row already; give each host one row")
        if not isinstance(sizes, list) or not sizes or set(map(str, sizes)) - set(SIZE_CLASSES):
            raise ValueError(
                f"policy.ncsa_lsf.{at}.sizes={sizes}; allowed: a list of {', '.join(SIZE_CLASSES)}, the "
                "highest priority first"
            )
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"policy.ncsa_lsf.{at}.sizes={sizes}: name each class of host {name} once")
        limits = _limits({f"{at}.limits": row.get("limits")}, f"{at}.limits", SIZE_CLASSES)
        if idle := [size for size in limits if size not in sizes]:
            raise ValueError(
                f"policy.ncsa_lsf.{at}.limits: host {name} does not take {', '.join(idle)}; allowed: limits "
                f"for {', '.join(sizes)}"
            )
        rows[name] = HostRow(tuple(sizes), limits)
    return rows
