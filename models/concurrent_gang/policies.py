"""The rules of a scheduler and its hardware, read from a policy's and a machine's YAML file and checked.

Nothing is compiled here, so that a plan can be checked without loading a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models import keys, workloads
from models.counting import counted
from models.jobs.machine import one_pool
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.packing import scheme as packing
from models.packing.scheme import Scheme
from models.point import Parameters, Point
from models.topology.links import Network
from models.topology.torus import Torus
from models.workloads.statements import Statements

A_NUMBER = "a number, 0 or more"

LONGEST_S = 1e9
"""Of a horizon."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A policy's YAML file, checked; kernels take the choices as `keys.codes` numbers them."""

    BASE = "_concurrent_gang"

    scheme: Scheme  # chooses the cells of the trace diagram
    name: str  # of the scheme
    parameters: tuple[int, ...]  # of the scheme, see `models.packing.scheme.Scheme.arguments`
    # Whether a clock signal makes all PEs change to the next slot; otherwise each PE is round robin by
    # itself.
    coordinated: bool = keys.switch()
    # The local task scheduler; none is gang scheduling.
    local: str = keys.choice("priority", "none", "round_robin")
    slice: float = keys.interval()
    alpha: float = keys.number(A_NUMBER, least=0)  # of equation 1
    beta: float = keys.number(A_NUMBER, least=0)  # the priority that a local task must exceed
    newcomer_priority: float = keys.number(A_NUMBER, least=0)  # of a task that was not measured yet
    # When the owner of a slot that has woken gets its PE back.
    returns: str = keys.choice("at_once", "at_decision", "at_signal")
    # Whether a local task gives way to one of higher priority that wakes.
    local_preemption: bool = keys.switch()
    cells: str = keys.choice("task", "job")  # the end that frees a cell of the diagram
    # Seconds that a central controller takes to notify one PE of a new slot; 0 is a distributed clock.
    central_cost: float = keys.seconds()
    # Maximum of rows of the trace diagram, None for no limit: beyond it jobs wait until a row is free.
    slots_limit: int | None = keys.whole("a whole number of rows from 1 on, or null (no limit)", null=True)
    waits: str = keys.choice("block", "spin")  # whether a task that waits for others keeps its PE
    first_load: str = keys.choice("free", "switch")  # what the first task that a PE runs costs
    arrivals: str = keys.choice("at_once", "at_signal")  # when a newcomer owns its slot of the running row
    turns: str = keys.choice("served", "local", "ready")  # what counts in round robin, see `order`
    idle_cause: str = keys.choice("owner", "last")  # the task whose cause of waiting an idle PE counts by
    measured: str = keys.choice("scheduled", "ran", "owned")  # the slices in which a task is measured
    window: int = keys.whole("a whole number of measures, 1 to 10", most=10)  # whose mean is a grade
    # Seconds at which the run ends; it is then one batch.
    horizon: float | None = keys.number(
        "a positive number of seconds, or null", null=True, above=0, most=LONGEST_S
    )
    # With more jobs in the system the run ends, because the policy does not keep up. A trace runs to its end.
    job_limit: int = keys.whole("a positive whole number of jobs")

    @classmethod
    def of(cls, policy: Parameters) -> Rules:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        scheme = packing.of_scheme(policy)
        if scheme["scheme"].migrates:
            raise ValueError(
                f"policy.scheme={scheme['name']} maps all jobs again at each change, and tasks here stay on "
                "their PE; give another one, for instance policy.scheme=first_fit"
            )
        return cls(**scheme, **keys.read(cls, policy, "policy"))

    @property
    def turn(self) -> float:
        """Minimum seconds of a task before another one may take its place."""
        return self.slice

    @property
    def codes(self) -> dict[str, int]:
        """The choices as numbers, see `keys.codes`."""
        return {"quantum_from": 0} | keys.codes(self)

    def __str__(self) -> str:
        local = {
            "none": "gang scheduling",
            "round_robin": "Concurrent Gang without priorities",
            "priority": f"Concurrent Gang, alpha {self.alpha:g}, beta {self.beta:g}",
        }[self.local]
        spins = ", local tasks that wait for others keep their PE" if self.waits == "spin" else ""
        return (
            f"{local}, slices of {self.slice:g} s, packing scheme {self.name}, owners return {self.returns}"
            + spins
        )


@dataclass(frozen=True, kw_only=True)
class Uncoordinated(Rules):
    """Round robin on each PE, independent of the others."""

    BASE = "uncoordinated"

    # Seconds of round robin; None is the length of a slice.
    quantum: float | None = keys.interval(
        "a positive number of seconds, or null for the length of a slice", null=True
    )
    quantum_from: str = keys.choice("computing", "dispatch")  # when a quantum begins

    @property
    def turn(self) -> float:
        """Minimum seconds of a task before another one may take its place."""
        return self.slice if self.quantum is None else self.quantum

    def __str__(self) -> str:
        waits = "keep their PE" if self.waits == "spin" else "give their PE away"
        return (
            f"no coordination: round robin on each PE, quantum {self.turn:g} s, tasks that wait for "
            f"others {waits}; packing scheme {self.name}"
        )


def rules_of(policy: Parameters) -> Rules:
    """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
    return (Uncoordinated if policy.get("coordinated") is False else Rules).of(policy)


@dataclass(frozen=True, kw_only=True)
class Hardware(Network):
    """A machine's YAML file, checked."""

    torus: Torus

    @classmethod
    def of(cls, machine: Parameters) -> Hardware:
        """Return the hardware of a machine; ``ValueError`` with one line for a value not allowed."""
        return cls(torus=Torus.of(machine), **keys.read(cls, machine, "machine"))


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    rules = rules_of(point.policy)
    workloads.refuse_feedback(point)
    workloads.refuse_weeks(point)
    opened = workloads.open_workload(until_horizon(point))
    statements = Statements.of(point.workload)
    n_pes = one_pool(opened.machine, point.machine, point.policy)
    rules.scheme.check(n_pes)
    notes = () if rules.horizon is None else _notes_on_horizon(point, opened, rules.horizon)
    hardware = Hardware.of(machine_of(point.machine, n_pes))
    turn, switch = rules.turn, hardware.context_switch
    cost = switch + rules.central_cost * n_pes
    if cost >= turn:
        key = "slice" if rules.coordinated else "quantum"
        central = f" and {rules.central_cost * n_pes:g} s to notify {n_pes} PEs" if rules.central_cost else ""
        raise ValueError(
            f"policy.{key}={turn:g} s is not longer than a switch, "
            f"machine.context_switch={switch:g} s{central}: no task would ever compute; give a "
            f"longer {key} or a cheaper switch"
        )
    return (*opened.notes, *notes, f"statements: {statements}")


def _notes_on_horizon(point: Point, opened: Stream | Trace, horizon: float) -> Sequence[str]:
    """Return a note on a log's jobs before the horizon; ``ValueError`` for batches that it excludes."""
    if point.batches.checkpoints != (1,) or point.batches.warmup:
        raise ValueError(
            f"policy.horizon={horizon:g} makes each run one batch from the start; add batches=1 warmup=0, "
            "and replications=5 or more: each is one sample"
        )
    if not isinstance(opened, Trace):
        return ()
    n_jobs, last = len(opened.jobs), float(opened.jobs.submit[-1])
    before = int((opened.jobs.submit <= horizon).sum())
    note = (
        f"{opened.name}: {counted(before, 'job', 'is', of=n_jobs)} submitted before the horizon of "
        f"{horizon:,.0f} s"
    )
    if before == n_jobs:
        note += f"; the last one comes at {last:,.0f} s, and the rest of the time is counted too"
    return (note,)


def until_horizon(point: Point) -> Point:
    """Return a point whose workload can be opened: with a horizon all jobs are one batch."""
    if point.batches.size is None and point.policy.get("horizon") is not None:
        return replace(point, batches=replace(point.batches, size=1))
    return point


def machine_of(machine: Parameters, n_pes: int) -> Parameters:
    """Return a machine's parameters; its processors may come from a log's header."""
    if any(machine.get(key) is not None for key in ("processors", "torus", "mesh", "hosts")):
        return machine
    return {**machine, "processors": n_pes}


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: statements may be random where the workload is not."""
    return (
        workloads.is_stochastic(point.workload, reads_requests=False)
        or Statements.of(point.workload).is_stochastic
    )
