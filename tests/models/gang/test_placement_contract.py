"""What every packing scheme has to keep, whatever it prefers. A new scheme is one more line in SCHEMES."""

from dataclasses import replace

import numpy as np
import pytest
from family_cases import composed, jobs_of

from models.gang.policies import Rules
from models.gang.simulation import Simulation
from models.jobs.measures import Measures
from models.jobs.measuring import Measuring
from models.kernels.bits import words
from models.packing.driver import Measured
from models.packing.matrix import Books, Matrix
from models.packing.scheme import SCHEMES as BUILT_IN
from models.packing.scheme import find

SCHEMES = list(BUILT_IN)

N_PES = (1, 5, 64, 100, 128, 200)
BUDDY_PES = (1, 4, 64, 128, 256)


def machines(name: str) -> tuple[int, ...]:
    """Return machines that a scheme can serve."""
    return BUDDY_PES if name == "buddy" else N_PES


def arguments(name: str) -> tuple[int, ...]:
    """Return one value for each parameter of a scheme."""
    return tuple(8 if kind is int else 0 for kind in find(name).parameters.values())


def bits(mask: np.ndarray, n_pes: int) -> set[int]:
    """Return the PEs of a set of words."""
    return {pe for pe in range(64 * len(mask)) if int(mask[pe // 64]) >> (pe % 64) & 1}


def check_placements(name: str, n_pes: int, seed: int) -> None:
    """Let a scheme fill an empty matrix with random jobs and look at each mapping."""
    random = np.random.default_rng(seed)
    scheme = find(name)
    place = scheme.compiled().place
    n_jobs = 40
    occupied = np.zeros((n_jobs + 2, words(n_pes)), np.uint64)
    free = np.full(n_jobs + 2, n_pes)
    tags, memory = np.zeros(n_jobs + 2, np.int64), np.zeros(scheme.memory(n_pes), np.int64)
    parameters = np.array([*arguments(name), 0])
    n_slots = 0
    for _ in range(n_jobs):
        size = int(random.integers(1, n_pes + 1)) if random.random() < 0.5 else int(min(n_pes, 2))
        calls = []
        for _ in range(2):  # twice from the same state: a scheme has no memory but the one it is given
            matrix = Matrix(occupied.copy(), free.copy(), tags.copy(), np.zeros_like(occupied))
            books = Books(memory.copy(), parameters)
            chosen = np.full(words(n_pes), 0xDEAD, np.uint64)
            slot = place(size, n_pes, n_slots, matrix, books, np.zeros_like(occupied), chosen)
            calls.append((slot, bits(chosen, n_pes)))
        assert calls[0] == calls[1]
        slot, pes = calls[0]
        assert 0 <= slot <= n_slots
        assert len(pes) == size
        assert pes <= set(range(n_pes))
        assert not pes & bits(occupied[slot], n_pes)
        if slot == n_slots and name != "buddy":  # footnote 2: buddy may open one though there is room
            assert all(free[:n_slots] < size)
        tags, memory = matrix.tags, books.memory
        occupied[slot] |= chosen
        free[slot] -= size
        n_slots = max(n_slots, slot + 1)


@pytest.mark.parametrize("name", SCHEMES)
def test_placements_are_free_fitting_and_repeatable(name: str) -> None:
    for n_pes in machines(name):
        for seed in range(5):
            check_placements(name, n_pes, seed)


def check_work(name: str, alternation: str) -> None:
    """Run some jobs to the end: each is served in full, none faster than on a machine of its own."""
    random = np.random.default_rng(7)
    n_jobs, n_pes = 300, 64
    submit, runtime = np.cumsum(random.exponential(1.0, n_jobs)), random.exponential(2.0, n_jobs)
    jobs = jobs_of(submit, runtime, random.choice([1, 2, 3, 8, 16, 33, 64], n_jobs))
    rules = Rules.of(composed("policy", "first_fit", alternation=alternation, job_limit=n_jobs))
    rules = replace(rules, scheme=find(name), name=name, parameters=arguments(name))
    measuring = Measuring(Measures(bound=1e-9), n_jobs)
    simulation = Simulation(rules, n_pes, iter([jobs]), Measured(n_jobs, 1), measuring=measuring)
    simulation.run(1)
    assert simulation.n_terminated == n_jobs
    ended = simulation.system.ended
    end, submit, runtime = (values[:n_jobs] for values in (ended.end, ended.submit, ended.runtime))
    assert np.all(end - submit >= runtime * (1 - 1e-12))
    delivered = simulation.batches.utilization[0] * n_pes * simulation.now
    assert delivered == pytest.approx(float(jobs.size @ jobs.runtime))
    assert measuring.metrics()["slowdown"][0] >= 1


@pytest.mark.parametrize("alternation", ["none", "exclusive", "shared"])
@pytest.mark.parametrize("name", SCHEMES)
def test_no_work_is_lost(name: str, alternation: str) -> None:
    check_work(name, alternation)
