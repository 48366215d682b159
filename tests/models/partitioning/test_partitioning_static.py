"""Partitioning with a fixed number of jobs, and the birth-death chain (McCann 1994, 3, 5.2 and 5.3)."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import comb, exp, factorial, floor, log2
from typing import Any

import numpy as np
import pytest
from family_cases import composed, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from partitioning_cases import step_time

from models.family import Family, Outcome
from models.partitioning.geometry import mapping
from models.partitioning.geometry.allocation import allocate
from models.partitioning.geometry.equipartition import LEFTOVER, partition
from models.partitioning.geometry.rotation import cycle_length, rotations_per_job, share_of_time
from models.partitioning.rules import Partitioning
from models.partitioning.static import birth_death, efficiency, fairness
from models.point import Batches, Point
from models.topology.mesh import Mesh
from models.workloads.speedup import irwin_hall
from models.workloads.speedup.cycle import loads

MACHINE, SPMD = composed("machine", "mesh16x16"), composed("workload", "spmd")
CURVE = composed("workload", "speedup_curve")
MESH = Mesh.of(MACHINE)
ONE_MOVE = (2 * 4096 + 512) / (200 * 1024)  # s to fold one thread and to unfold another
EXACT = Batches(size=1, warmup=0, checkpoints=(10,))


def policy(discipline: str, **keys: Any) -> dict[str, Any]:
    """Return the file of a policy of a discipline."""
    names = {"fold": "fold_never", "static": "static_4", "fcfs": "one_at_a_time"}
    return composed("policy", names.get(discipline, discipline), name=discipline, **keys)


def value(
    family: Family,
    given_policy: dict[str, Any],
    load: float | None = None,
    machine: dict[str, Any] = MACHINE,
    **workload: Any,
) -> float:
    """Return the headline metric of one point: one number, without randomness."""
    outcome = run(family, given_policy, load, machine, **workload)
    found = outcome.metrics[family.metrics[0].name]
    assert found.shape == (1,)
    return float(found[0])


def run(
    family: Family,
    given_policy: dict[str, Any],
    load: float | None = None,
    machine: dict[str, Any] = MACHINE,
    model: str = "spmd",
    **workload: Any,
) -> Outcome:
    files = {"spmd": SPMD, "speedup_curve": CURVE}
    return family.simulate(Point(given_policy, files[model] | workload, machine, load, EXACT, (1, 1, 0)))


def saturated(*given: Any) -> bool:
    return run(*given).overflowed


def preserved(given_policy: dict[str, Any], jobs: int, **workload: Any) -> float:
    return value(efficiency.FAMILY, given_policy, jobs=jobs, **workload)


def processors_of_threads(mesh: Mesh, height: int, width: int, snake: bool) -> np.ndarray:
    """Return the processor of each thread by equations 4.1 and 4.3 to 4.5, thread by thread."""
    if snake and mesh.rows % height:
        turned = replace(mesh, rows=mesh.columns, columns=mesh.rows)
        column, row = np.divmod(processors_of_threads(turned, width, height, snake=True).T, height)
        return row * width + column
    found = np.empty((mesh.rows, mesh.columns), int)
    for i in range(mesh.rows):
        for j in range(mesh.columns):
            row, column = i * height // mesh.rows, j * width // mesh.columns
            if snake:
                depth = mesh.rows // height
                offset = i % depth if row % 2 else depth - i % depth - 1
                index = j // 2 * 2 * depth + j % 2 * depth + offset
                column = index * width // (depth * mesh.columns)
            found[i, j] = row * width + column
    return found


@pytest.mark.parametrize("snake", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (4, 16), (16, 8)])
def test_loads_are_those_of_the_mapping(rows: int, columns: int, snake: bool) -> None:
    mesh = Mesh(rows, columns, context_switch=0.0, bandwidth=1.0)
    for height in range(1, rows + 1):
        for width in range(1, columns + 1):
            if snake and rows % height and columns % width:
                continue
            where = processors_of_threads(mesh, height, width, snake)
            mapped = (mapping.snake if snake else mapping.contraction)(rows, columns, height, width)
            assert (mapped == where).all()
            threads = np.bincount(where.ravel(), minlength=height * width)
            found: Counter[int] = Counter()
            for (_, _, n), processors in loads(mesh, height, width, snake).items():
                found[n] += processors
            assert found == Counter(threads.tolist())


@pytest.mark.parametrize(
    ("height", "width", "snake"),
    [
        (16, 16, False), (4, 5, False), (1, 2, False), (5, 4, True), (8, 11, True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("delta", [0.0, 5.0, pytest.param(20.0, marks=pytest.mark.exhaustive)])
def test_a_step_with_spread_agrees_with_drawn_threads(
    height: int, width: int, snake: bool, delta: float
) -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    where = processors_of_threads(MESH, height, width, snake)
    threads = np.bincount(where.ravel(), minlength=height * width)
    sides = np.empty(height * width)  # rows and columns of threads on each processor
    for processor in range(height * width):
        if snake:
            depth = 16 // height if 16 % height == 0 else 16 // width
            sides[processor] = depth + -(-threads[processor] // depth)
        else:
            i, j = np.nonzero(where == processor)
            sides[processor] = len(set(i)) + len(set(j))
    belongs = np.zeros((256, height * width), np.float32)
    belongs[np.arange(256), where.ravel()] = 1
    steps = np.empty(20_000)
    for part in np.split(steps, 5):
        drawn = rng.uniform(100 - delta, 100 + delta, (len(part), 256)).astype(np.float32)
        part[:] = (drawn @ belongs / 1000 + (threads - 1) * 0.0005 + sides * 0.001).max(axis=1)
    computed = step_time(MESH, SPMD | {"delta": delta}, height, width, snake=snake)
    assert abs(steps.mean() - computed) < 4 * steps.std() / np.sqrt(len(steps)) + 1e-6


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 13, 14, 25, 64, 150])
def test_the_sum_of_uniform_numbers_has_the_distribution_of_irwin_and_hall(n: int) -> None:
    x = np.linspace(-n, n, 41)
    expected = []
    for point in x.tolist():
        u = (Fraction(point) + n) / 2
        terms = ((-1) ** k * comb(n, k) * (u - k) ** n for k in range(n + 1) if u > k)
        expected.append(float(sum(terms, Fraction(0)) / factorial(n)))
    assert irwin_hall.below(x, n) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (8, 32), (32, 4)])
def test_folding_splits_the_largest_partition_in_turns(rows: int, columns: int) -> None:
    mesh = Mesh(rows, columns, context_switch=0.0, bandwidth=1.0)
    fold = Partitioning.of(policy("fold"))
    shapes = [(rows, columns)]
    for jobs in range(1, 65):
        assert allocate(fold, mesh, jobs) == Counter(shapes)
        height, width = max(shapes, key=lambda shape: shape[0] * shape[1])
        shapes.remove((height, width))
        halvings = round(log2(rows * columns / (height * width)))
        along_rows = (rows >= columns) == (halvings % 2 == 0)
        if (height if along_rows else width) == 1:
            along_rows = not along_rows
        half = (height // 2, width) if along_rows else (height, width // 2)
        shapes += [half, half]


@pytest.mark.parametrize("leftover", LEFTOVER)
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (4, 64), (32, 8)])
def test_equipartition_has_the_shapes_of_its_partitions(rows: int, columns: int, leftover: str) -> None:
    equi = Partitioning.of(policy("equi", leftover=leftover))
    for jobs in range(1, rows * columns + 1):
        shapes = [(p.height, p.width) for p in partition(rows, columns, jobs, leftover)]
        assert allocate(equi, Mesh(rows, columns, context_switch=0.0, bandwidth=1.0), jobs) == Counter(shapes)


def test_three_jobs_by_hand() -> None:
    eight_by_sixteen, eight_by_eight = 0.2 + 0.0005 + 3 * 0.001, 0.4055
    expected = 0.102 / eight_by_sixteen + 2 * 0.102 / eight_by_eight
    assert preserved(policy("fold"), 3) == pytest.approx(expected)
    # Two 8 × 11 and one 16 × 5: 4 threads by contraction; along a snake 256 / 88 and 256 / 80, rounded up.
    fullest = 0.4 + 3 * 0.0005
    expected = 0.102 * (2 / (fullest + 4 * 0.001) + 1 / (fullest + 5 * 0.001))
    assert preserved(policy("equi"), 3) == pytest.approx(expected)
    expected = 0.102 * (2 / (0.3 + 2 * 0.0005 + 4 * 0.001) + 1 / (fullest + 5 * 0.001))
    assert preserved(policy("equi_plus"), 3) == pytest.approx(expected)


def test_the_policies_of_chapter_3_on_a_speedup_curve() -> None:
    def speedup(processors: float) -> float:
        return (1 - exp(-processors / 256 / 0.08)) / (1 - exp(-1 / 0.08))

    for jobs in (1, 3, 4, 5, 64):
        static = preserved(policy("static"), jobs, model="speedup_curve")
        assert static == pytest.approx(min(jobs, 4) * speedup(64))
    ideal = preserved(policy("ideal_dynamic"), 5, model="speedup_curve")
    assert ideal == pytest.approx(4 * speedup(51) + speedup(52))


def rotate(text: str) -> str:
    """Replace each 'sb' of a ring by 'bs' (section 4.4.2)."""
    if text[-1] + text[0] == "sb":
        return "s" + text[1:-1].replace("sb", "bs") + "b"
    return text.replace("sb", "bs")


def exchanges(jobs: int) -> int:
    """Count the rotations of a system of jobs in a cycle, by rewriting its string until all is as it was."""
    doublings = jobs.bit_length() - 1
    small = 2 * (jobs - 2**doublings)
    text = "s" * small + "b" * (jobs - small)
    for _ in range(jobs):  # past the transient
        text = rotate(text)
    start, count = text, 0
    while True:
        count += sum(text[i - 1] + text[i] == "sb" for i in range(jobs))
        text = rotate(text)
        if text == start:
            return count


@pytest.mark.parametrize("jobs", [3, 5, 6, 7, 10, 12, 13, 22, 43, 64])
def test_rotation_takes_the_share_of_equations_5_3_and_5_4(jobs: int) -> None:
    doublings = floor(log2(jobs))
    printed = Partitioning.of(policy("fold", rotation=20.0))
    share = 1 / 20 * rotations_per_job(jobs) * 2 ** (4 - doublings // 2 - 1) * ONE_MOVE
    assert share_of_time(printed, MESH, jobs, 20.0, 8704 * 1024) == pytest.approx(share)

    derived = Partitioning.of(policy("fold", rotation=20.0, overhead="derived"))
    found = share_of_time(derived, MESH, jobs, 20.0, 8704 * 1024)
    odd = jobs // (jobs & -jobs)
    if odd == 1:
        assert found == 0
        return
    subsystems = jobs // odd
    seconds = 128 / 2 ** (4 - doublings // 2) * ONE_MOVE
    processors = 256 / 2**doublings
    busy = subsystems * exchanges(odd) * processors * seconds
    assert found == pytest.approx(busy / (256 * cycle_length(jobs) * 20.0))


def test_processor_sharing_is_the_queue_m_m_1() -> None:
    for load in (0.1, 0.5, 0.9, 0.99):
        for limit in (None, 1, 5, 256):
            machine = MACHINE | {"memory_limit": limit}
            for name in ("processor_sharing", "fcfs"):
                found = value(birth_death.FAMILY, policy(name), load, machine)
                assert found == pytest.approx(1 / (1 - load), rel=1e-9)


@settings(max_examples=40)
@given(rates=st.lists(st.floats(0.3, 2.0), min_size=1, max_size=12), part=st.floats(0.05, 0.6))
def test_the_chain_solved_as_linear_equations(rates: list[float], part: float) -> None:
    load = part * rates[-1]
    states = len(rates) + 60  # beyond them lies less than 0.6^60 of the probability
    generator = np.zeros((states, states))
    for state in range(states - 1):
        generator[state, state + 1] = load
        generator[state + 1, state] = rates[min(state, len(rates) - 1)]
    np.fill_diagonal(generator, -generator.sum(axis=1))
    equations = np.vstack([generator.T[:-1], np.ones(states)])
    probabilities = np.linalg.solve(equations, np.eye(states)[-1])
    expected = probabilities @ np.arange(states)
    assert birth_death.mean_jobs(np.array(rates), load) == pytest.approx(expected, rel=1e-6)


def notes(given_policy: dict[str, Any], load: float, **machine: Any) -> list[str]:
    return list(birth_death.FAMILY.check(Point(given_policy, SPMD, MACHINE | machine, load)))


def test_a_limit_at_which_equipartition_gives_way() -> None:
    bound = preserved(policy("equi"), 3)  # 0.75: more arrives than three jobs at a time get done
    machine = MACHINE | {"memory_limit": 3}
    assert not saturated(birth_death.FAMILY, policy("equi"), bound - 0.01, machine)
    beyond = run(birth_death.FAMILY, policy("equi"), bound + 0.01, machine)
    assert saturated(birth_death.FAMILY, policy("equi"), bound + 0.01, machine)
    assert np.isnan(beyond.metrics["blow_up"]).all()
    assert notes(policy("equi"), bound - 0.01, memory_limit=3) == []
    (note,) = notes(policy("equi"), bound + 0.01, memory_limit=3)
    assert f"gives way at a load of {bound:.3g} with 3 jobs in memory" in note


def test_folding_with_a_constant_time_between_rotations_gives_way() -> None:
    constant = policy("fold", rotation=20.0)
    rates = [preserved(constant, jobs) for jobs in range(129, 257)]
    bound = float(np.exp(np.mean(np.log(rates))))
    assert bound < 0.9
    for load in (bound - 0.001, bound + 0.001):
        assert saturated(birth_death.FAMILY, constant, load) == (load > bound)
        assert len(notes(constant, load)) == (load > bound)
    # Where it gives way, 256 jobs are as likely as 128: only that there are no more processors holds them.
    logarithms = np.log(bound) * 128 - np.sum(np.log(rates))
    assert logarithms == pytest.approx(0, abs=1e-9)
    for cured in (policy("fold", rotation=20.0, rotation_unit="jobs"), policy("fold", rotation=200.0)):
        assert not saturated(birth_death.FAMILY, cured, 0.98)


def both(given_policy: dict[str, Any], jobs: int) -> tuple[float, float]:
    metrics = run(fairness.FAMILY, given_policy, jobs=jobs).metrics
    return float(metrics["most_loaded_ratio"][0]), float(metrics["least_loaded_ratio"][0])


def test_fairness_of_a_few_jobs_by_hand() -> None:
    # EQUI, 3 jobs: 8 × 11 and 16 × 5 processors, so 2 × 2 and 1 × 4 threads; EQUI+: 3 (of 256 / 88) and 4.
    assert both(policy("equi"), 3) == pytest.approx((4 / 3, 4 / 3))
    assert both(policy("equi_plus"), 3) == pytest.approx((4 / 3, 1))
    # The text's 11 jobs: eight 4 × 6 (4 × 3 threads), two 5 × 4 (4 × 4), one 6 × 4 (3 × 4).
    assert both(policy("equi"), 11) == pytest.approx((16 / 11, 12 / 11))
    assert both(policy("equi_plus"), 11) == pytest.approx((13 / 11, 11 / 11))
    assert both(policy("fold"), 5) == pytest.approx((8 / 5, 4 / 5))
    assert both(policy("fold"), 8) == (1, 1)


def test_rotation_leaves_unequal_what_complete_cycles_do_not_cover() -> None:
    def bounds(jobs: int, q: float) -> tuple[float, float]:
        return both(policy("fold", rotation=q, rotation_unit="runtime"), jobs)

    # q = 8/15: five jobs have one complete cycle, six (two systems of three) have three.
    assert bounds(5, 8 / 15) == pytest.approx((1 + 7 / 15 * 3 / 5, 1 - 7 / 15 * 1 / 5))
    assert bounds(5, 4 / 15) == pytest.approx((1 + 3 / 15 * 3 / 5, 1 - 3 / 15 * 1 / 5))
    assert bounds(6, 8 / 15) == pytest.approx((1 + 3 / 15 * 2 / 6, 1 - 3 / 15 * 2 / 6))
    # "For q >= 1 the bounds are equivalent to no rotation."
    for q in (1.0, 1.5, 100.0):
        assert bounds(5, q) == both(policy("fold"), 5)
    assert bounds(5, 1e-6) == pytest.approx((1, 1), abs=1e-5)
    assert bounds(4, 8 / 15) == bounds(1, 8 / 15) == (1, 1)


# Bad input

EP, FAIR, CHAIN = efficiency.FAMILY, fairness.FAMILY, birth_death.FAMILY
REFUSED: list[tuple[Family, dict[str, Any], dict[str, Any], dict[str, Any], float | None, str]] = [
    (EP, policy("static", partitions=512), SPMD, {}, None, "partitions=512; allowed: up to 256, one for"),
    (EP, policy("ideal_dynamic"), SPMD, {}, None, "use workload speedup_curve"),
    (EP, policy("fold", rotation=20.0), CURVE, {}, None, "no threads that rotation could move"),
    (EP, policy("fold"), SPMD | {"jobs": 257}, {}, None, "jobs=257; allowed: 1 to 256, one for"),
    (EP, policy("equi"), SPMD, {"mesh": "12x16"}, None, "12 × 16 processors; allowed: powers of two"),
    (EP, policy("equi"), SPMD, {}, 0.5, "the number of jobs is fixed, nothing arrives"),
    (FAIR, policy("static"), SPMD, {}, None, "allowed: equi, equi_plus, fold"),
    (FAIR, policy("equi"), CURVE, {}, None, "no threads to count; allowed: spmd"),
    (CHAIN, policy("equi"), SPMD, {}, None, "load=null: jobs arrive at a rate that the load gives"),
    (CHAIN, policy("equi"), SPMD, {"memory_limit": 300}, 0.5, "memory_limit=300; allowed: 1 to 256"),
    (CHAIN, policy("equi"), SPMD, {"mesh": "1024x16"}, 0.5, "solved for up to 4096: set a lower limit"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[-1])
def test_bad_input_is_refused_with_one_line(case: Any) -> None:
    family, given_policy, workload, machine, load, line = case
    with refused(re.escape(line)):
        family.check(Point(given_policy, workload, MACHINE | machine, load))
