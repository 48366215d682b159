"""Random small cases for the gang scheduler, and the kernel and its twin set up for the same one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from family_cases import composed
from gang_twin import Session, Twin
from hypothesis import strategies as st

from models.arrays import Floats
from models.gang.policies import Rules
from models.gang.recording import Recorder
from models.gang.simulation import Simulation
from models.jobs.ended import Ended
from models.jobs.jobs import Jobs
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring
from models.packing.driver import Measured
from models.packing.scheme import of_scheme

# The paper's eight schemes.
EIGHT = [
    "first_fit", "best_fit", "left_right_size", "left_right_slots", "min_max_load", "min_avg_load", "buddy",
    "migration",
]  # fmt: skip

IN_FIRST_TIER = ("min_avg_load", "buddy", "migration")


def schemes(*first: str) -> list[Any]:
    """Return the schemes as parameters of a test: by default three in the first tier, all in the second."""
    kept = first or IN_FIRST_TIER
    return [pytest.param(name, marks=() if name in kept else pytest.mark.exhaustive) for name in EIGHT]


POLICIES: dict[str, dict[str, Any]] = {
    name: composed("policy", f"gang/{name}", alternation="shared", job_limit=1000)
    | {"threshold": 8, "slot_choice": "first", "controller_load": "paths"}
    for name in EIGHT
}

EMPHASIS = {"powers_of_two": 20, "squares": 2, "multiples_of_ten": 2, "full_machine": 1}
WORKLOAD: dict[str, Any] = composed(
    "workload", "feitelson1996", emphasis=EMPHASIS, run_length_max=1000, rerun_runtime="same"
)


@dataclass(frozen=True)
class Case:
    """What to simulate, by the kernel and by `Twin`."""

    scheme: str
    n_pes: int
    sessions: tuple[Session, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    alternation: str = "shared"
    precedence: str = "arrival"
    unification: bool = True
    ties: str = "instant"
    batch_size: int = 1000
    measured: range = range(2**62)
    measured_until: float = np.inf
    slots_limit: int | None = None
    queue: str = "fcfs"
    memory: int | None = None
    slice: float | None = None
    switch_cost: float = 0.0
    kill: bool = False

    @property
    def n_jobs(self) -> int:
        return sum(session.runs for session in self.sessions)

    @property
    def n_measured(self) -> int:
        return sum(session.runs for i, session in enumerate(self.sessions) if i in self.measured)

    def twin(self) -> Twin:
        return Twin(self, self.n_measured)

    def kernel(
        self,
        chunks: Iterable[int] = (),
        recording: bool = False,
        job_limit: int | None = None,
        ends: bool = False,
        **changes: Any,
    ) -> Observed:
        """Return the real simulation of the case with changes; the stream is cut at `chunks`, indices."""
        if changes:
            return replace(self, **changes).kernel(chunks, recording, job_limit, ends)
        rules = Rules(
            **of_scheme({"scheme": self.scheme, **self.parameters}),
            alternation=self.alternation,
            precedence=self.precedence,
            unification=self.unification,
            job_limit=len(self.sessions) + 1 if job_limit is None else job_limit,
            ties=self.ties,
            slots_limit=self.slots_limit,
            queue=self.queue,
            slice=self.slice,
            switch_cost=self.switch_cost,
            memory=self.memory is not None,
            kill=self.kill,
        )
        limit = self.n_jobs // self.batch_size + 1
        measured = Measured(self.batch_size, limit, self.measured, self.n_measured, self.measured_until)
        stream = as_chunks(self.sessions, [*chunks, len(self.sessions)])
        return Observed(rules, self.n_pes, stream, measured, recording, ends, self.memory)

    def finished(self, **changes: Any) -> Observed:
        """Return the real simulation after its last event."""
        simulation = self.kernel(**changes)
        simulation.run_on()
        return simulation

    def scaled(self, factor: float) -> Case:
        """Return the case with all times multiplied."""
        sessions = (s._replace(gap=s.gap * factor, runtime=s.runtime * factor) for s in self.sessions)
        return replace(self, sessions=tuple(sessions))


class Observed(Simulation):
    """A simulation that keeps what it hands out."""

    def __init__(
        self,
        rules: Rules,
        n_pes: int,
        chunks: Iterator[Jobs],
        measured: Measured,
        recording: bool,
        ends: bool,
        memory: int | None,
    ) -> None:
        self.handed_out = HandedOut(Measures(bound=0.5), measured.batch_size)
        self.limit = measured.batch_limit
        self.recorder = Recorder() if recording else None
        super().__init__(
            rules,
            n_pes,
            chunks,
            measured,
            ends=ends,
            recorder=self.recorder,
            measuring=self.handed_out,
            memory=memory,
        )

    def run_on(self, until: float = np.inf) -> int:
        """Go on to a time, or until the last job has ended."""
        return self.run(self.limit + 1, until)

    @property
    def responses(self) -> Floats:
        """Response times of the jobs in batches that have ended, by the job's number; NaN for the others."""
        found = np.full(self.n_submitted, np.nan)
        for ended in self.handed_out.all:
            found[ended.number] = ended.end - ended.submit
        return found

    def times(self) -> tuple[Floats, Floats]:
        """Return the starts and the ends of the jobs in batches that have ended, by the job's number."""
        start, end = np.full(self.n_submitted, np.nan), np.full(self.n_submitted, np.nan)
        for ended in self.handed_out.all:
            start[ended.number], end[ended.number] = ended.start, ended.end
        return start, end

    def metrics(self) -> dict[str, Floats]:
        """Return all metrics of the batches that have ended."""
        own = {name: values[: self.n_batches] for name, values in self.batches._asdict().items()}
        return self.handed_out.metrics() | own


class HandedOut(Measuring):
    """Measures, and keeps what it was given."""

    def __init__(self, measures: Measures, batch_size: int) -> None:
        super().__init__(measures, batch_size)
        self.all: list[Ended] = []

    def measure(self, ended: Ended, wait: Floats) -> None:
        super().measure(ended, wait)
        self.all.append(Ended(*(column.copy() for column in ended)))


def as_chunks(sessions: tuple[Session, ...], ends: list[int]) -> Iterator[Jobs]:
    """Yield the sessions as chunks of jobs."""
    submit = np.cumsum([float(session.gap) for session in sessions])
    begin = 0
    for end in ends:
        part = sessions[begin:end]
        yield Jobs(
            submit[begin:end],
            np.array([float(session.runtime) for session in part], float),
            np.array([float(session.requested) for session in part], float),
            np.array([session.size for session in part], np.int64),
            np.array([session.size * session.memory for session in part], np.int64),
            runs=np.array([session.runs for session in part], np.int64),
            key=np.array([session.key for session in part], np.int64),
        )
        begin = end


def is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def scatter(simulation: Simulation) -> None:
    """Let a new simulation's jobs take the places of its table in another order: places are only names."""
    np.random.default_rng(5).shuffle(simulation.system.table.vacant)


def run_slots(simulation: Simulation) -> dict[int, int]:
    """Return the number of slots in which the kernel lets each job run, by the job's number."""
    jobs = simulation.system.table.jobs[simulation.places]
    return dict(zip(jobs["number"].tolist(), jobs["run_slots"].tolist(), strict=True))


@cache
def machines(scheme: str) -> st.SearchStrategy[int]:
    if scheme == "buddy":
        return st.sampled_from([1, 2, 4, 8, 8, 16, 16, 32, 64, 128, 256])
    # Words of the kernel's sets end at multiples of 64.
    return st.integers(1, 12) | st.integers(1, 70) | st.sampled_from([63, 64, 65, 127, 128, 129])


@cache
def job_sizes(n_pes: int) -> st.SearchStrategy[int]:
    powers = [2**i for i in range(n_pes.bit_length()) if 2**i <= n_pes]
    return st.integers(1, n_pes) | st.sampled_from(powers) | st.integers(1, max(1, n_pes // 4))


@cache
def scheme_parameters(scheme: str, n_pes: int) -> st.SearchStrategy[dict[str, Any]]:
    if scheme == "left_right_size":
        return st.fixed_dictionaries({"threshold": st.integers(1, n_pes)})
    if scheme == "buddy":
        return st.fixed_dictionaries(
            {
                "slot_choice": st.sampled_from(["first", "fullest"]),
                "controller_load": st.sampled_from(["paths", "recursive", "pes"]),
            }
        )
    return st.just({})


@cache
def users(n_pes: int, max_sessions: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Return what draws the size of each session's jobs, and how many there are."""
    sizes = job_sizes(n_pes)
    return st.lists(st.tuples(sizes, st.sampled_from([1, 1, 1, 2, 3])), min_size=1, max_size=max_sessions)


# To make and to validate a strategy takes longer than to draw from it: these are made once, as those above.
BOOLEANS = st.booleans()
SEEDS = st.integers(0, 2**32)
HASTE = st.sampled_from([0.05, 0.3, 1.0])
ALTERNATIONS = st.sampled_from(["none", "shared", "exclusive"])
PRECEDENCES = st.sampled_from(["arrival", "largest", "smallest"])
BATCH_SIZES = st.integers(1, 7)


@st.composite
def cases(draw: st.DrawFn, name: str, max_sessions: int = 14) -> Case:
    """Draw a case of one of the `EIGHT` whose times are continuous, so that no two events coincide.

    Hypothesis draws what matters for packing; the times come from a seed, because it would find round
    numbers, and with them ties that rounding breaks one way in the kernel and another in the twin.
    """
    n_pes = draw(machines(name))
    drawn = draw(users(n_pes, max_sessions))
    times = random.Random(draw(SEEDS))
    haste = draw(HASTE)
    return Case(
        name,
        n_pes,
        tuple(
            Session(haste * times.expovariate(1), size, times.expovariate(1), runs, key)
            for key, (size, runs) in enumerate(drawn)
        ),
        draw(scheme_parameters(name, n_pes)),
        draw(ALTERNATIONS),
        draw(PRECEDENCES),
        draw(BOOLEANS),
        batch_size=draw(BATCH_SIZES),
    )
