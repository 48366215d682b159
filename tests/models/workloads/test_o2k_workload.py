"""The generated months of the Origin 2000 against the numbers of the real ones in Chiang and Vernon (2001).

Table 4 is counted again here, with the limits of Table 1 written out, and times by the real calendar.
"""

import calendar
from datetime import datetime, timedelta

import numpy as np
import pytest
from o2k_cases import MACHINE, SEEDS, month_of_jobs, open_month, workload
from scipy.stats import spearmanr

from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.workloads import fills
from models.workloads.o2k.closed_loop import in_turn
from models.workloads.o2k.table4 import MONTHS, TABLE_4, Month, unrounded

CLASSES = [f"{time}_{size}" for size in ("sj", "mj", "lj") for time in ("vst", "st", "mt", "lt")]
GB = 1024 * 1024
each_month = pytest.mark.parametrize("month", MONTHS, ids=TABLE_4)
each_seed = pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in SEEDS[1:])]
)
SHORTEST_JOBS, LONGEST_JOBS = "1999-10", "1999-12"
"""Months of the ends of section 2.4; the others are typical."""


def classes(jobs: Jobs) -> np.ndarray:
    """Return the names of the jobs' classes by Table 1."""
    hours = jobs.requested / 3600
    assert (hours <= 400).all()
    assert ((jobs.size <= 64) & (jobs.memory <= 16 * GB)).all()
    time = np.select([hours <= 5, hours <= 50, hours <= 200], ["vst", "st", "mt"], "lt")
    small = (jobs.size <= 8) & (jobs.memory <= 2 * GB)
    middle = (jobs.size <= 16) & (jobs.memory <= 4 * GB)
    size = np.select([small, middle], ["sj", "mj"], "lj")
    return np.char.add(np.char.add(time, "_"), size)


def period(month: Month) -> tuple[datetime, float]:
    """Return a month's beginning and its seconds."""
    year, number = (int(part) for part in month.name.split("-"))
    return datetime(year, number, 1), calendar.monthrange(year, number)[1] * 86400.0


@each_month
def test_table_4_adds_up(month: Month) -> None:
    assert sum(month.jobs) == month.overall_jobs
    for demands, overall in (
        (month.processor_demand, month.overall_processor_demand),
        (month.memory_demand, month.overall_memory_demand),
    ):
        assert abs(sum(demands) - overall) <= 0.5 * (len(CLASSES) + 1)
        wanted = unrounded(demands, overall)
        assert np.rint(wanted).astype(int).tolist() == list(demands)
        assert round(float(wanted.sum())) == overall
        assert wanted.min() > 0


@each_month
@each_seed
def test_jobs_and_demands_are_those_of_table_4(month: Month, seed: tuple[int, ...]) -> None:
    jobs = month_of_jobs(month.name, seed)
    assert len(jobs) == month.overall_jobs
    names = classes(jobs)
    _, seconds = period(month)
    overall = np.zeros(2)
    for number, name in enumerate(CLASSES):
        these = jobs.part(names == name)
        demands = 100 * np.array(
            [
                these.size @ these.runtime / (960 * seconds),
                (these.memory / GB) @ these.runtime / (336 * seconds),
            ]
        )
        assert len(these) == month.jobs[number], name
        assert demands.round().tolist() == [month.processor_demand[number], month.memory_demand[number]], name
        overall += demands
    assert overall.round().tolist() == [month.overall_processor_demand, month.overall_memory_demand]


@each_month
@each_seed
def test_jobs_are_possible(month: Month, seed: tuple[int, ...]) -> None:
    jobs = month_of_jobs(month.name, seed)
    assert machines.of(MACHINE).takes(jobs.size, jobs.memory).all()
    assert (jobs.size >= 1).all()
    assert ((jobs.runtime >= 1) & (jobs.runtime <= jobs.requested)).all()
    assert ((jobs.used >= 1) & (jobs.used <= jobs.memory)).all()
    _, seconds = period(month)
    assert ((jobs.submit >= 7 * 86400) & (jobs.submit < 7 * 86400 + seconds)).all()
    assert (np.diff(jobs.submit) >= 0).all()


@each_month
@each_seed
def test_fractions_of_sections_2_4_and_3(month: Month, seed: tuple[int, ...]) -> None:
    jobs = month_of_jobs(month.name, seed)
    names, brief = classes(jobs), jobs.runtime < 60
    over_an_hour, over_ten = (brief[jobs.requested > hours * 3600].mean() for hours in (1, 10))
    ends = {SHORTEST_JOBS: (0.33, 0.42), LONGEST_JOBS: (0.12, 0.11)}
    if month.name in ends:
        assert (over_an_hour, over_ten) == pytest.approx(ends[month.name], abs=0.01)
    assert 0.115 < over_an_hour < 0.335
    assert 0.105 < over_ten < 0.425
    for name in CLASSES:
        these = names == name
        if month.name not in ends:
            assert 0.15 <= brief[these].mean() <= 0.2
        # Where 42 % end in a minute, the large ones among them use less than 1 GB: less than a tenth.
        most = 0.42 if month.name == SHORTEST_JOBS else 0.35
        assert 0.25 <= (jobs.used < 0.1 * jobs.memory)[these].mean() <= most
        if name.startswith("lt"):
            assert (jobs.runtime <= 50 * 3600)[these].mean() > 0.5
    assert (jobs.used < GB)[brief].mean() > 0.95
    serial = jobs.size == 1
    # Serial jobs of mj and lj all ask for more than 512 MB: how many there are is left to the demands.
    assert (jobs.memory > GB // 2)[serial].mean() == pytest.approx(0.5, abs=0.06)
    assert serial.mean() > 0.2
    assert np.isin(jobs.size, [2, 4, 8, 16, 32, 64]).mean() > 0.4
    assert (jobs.size == 64).any()


@each_month
@each_seed
def test_correlations_of_section_3(month: Month, seed: tuple[int, ...]) -> None:
    jobs = month_of_jobs(month.name, seed)
    serial = jobs.size == 1
    peak = at_weekday_peak(month, jobs.submit)
    used = jobs.used / jobs.size
    assert spearmanr(jobs.runtime, jobs.size).statistic > 0.1
    assert spearmanr(jobs.runtime, used).statistic > 0.1
    assert spearmanr((jobs.memory / jobs.size)[peak], jobs.size[peak]).statistic < -0.3
    assert np.median(used[peak & serial]) > 1.5 * np.median(used[peak & ~serial])


def at_weekday_peak(month: Month, submit: np.ndarray) -> np.ndarray:
    """Return which jobs are submitted at a weekday's peak, by the calendar."""
    begin = period(month)[0] - timedelta(days=7)
    moments = [begin + timedelta(seconds=float(second)) for second in submit]
    return np.array([moment.weekday() < 5 and 9 <= moment.hour < 17 for moment in moments])


def test_a_user_has_so_many_jobs_in_the_system_and_submits_the_next_when_one_ends() -> None:
    random = np.random.default_rng(1)
    n = 400
    first = np.maximum.accumulate(np.where(random.random(n) < 0.1, np.arange(n), 0))
    begins, runtime = random.integers(0, 1000, n).astype(float), random.integers(1, 500, n).astype(float)
    for limit in (1, 3):
        submit = in_turn(begins, runtime, first, limit, (0.0, 1e9))
        ends = submit + runtime
        for job in range(n):
            earlier = [k for k in range(first[job], job) if first[k] == first[job]]
            assert sum(ends[k] > submit[job] for k in earlier) < limit
            is_one_of_the_first = len(earlier) < limit
            assert submit[job] == (begins[first[job]] if is_one_of_the_first else submit[job])
            assert is_one_of_the_first or submit[job] in ends[earlier]


def test_users_in_a_closed_loop_bring_bursts_of_short_jobs() -> None:
    """Jobs and demands stay as in Table 4; the jobs have users, each of one class."""
    given = workload("2000-01", closed_loop={"limit": 3})
    source = open_month(given, MACHINE, None, SEEDS[0])
    jobs, alone = source.jobs.part(source.measured), month_of_jobs("2000-01", SEEDS[0])
    assert np.sort(jobs.runtime).tolist() == np.sort(alone.runtime).tolist()

    def bursts(month: Jobs) -> float:
        """Return the share of jobs of less than a minute within ten seconds after another one."""
        return float((np.diff(month.submit[month.runtime < 60]) < 10).mean())

    assert bursts(jobs) > 1.5 * bursts(alone)
    assert fills(workload("2000-01")) == ("requested", "memory")
    assert fills(given) == ("requested", "memory", "user")
    users = np.unique(jobs.user)
    expected = 12 + (len(jobs) - 12) / 20
    assert abs(users.size - expected) < 4 * np.sqrt(expected)
    names = classes(jobs)
    assert all(np.unique(names[jobs.user == user]).size == 1 for user in users[::20])


def columns(jobs: Jobs) -> list[np.ndarray]:
    return [jobs.submit, jobs.runtime, jobs.requested, jobs.size, jobs.memory, jobs.used]


def test_a_load_rescales_the_times_of_submission_only() -> None:
    given = workload("1999-12")
    plain = open_month(given, MACHINE, None, SEEDS[0])
    denser = open_month(given, MACHINE, 0.99, SEEDS[0])
    for one, same in zip(columns(plain.jobs)[1:], columns(denser.jobs)[1:], strict=True):
        assert (one == same).all()
    jobs = plain.jobs.part(plain.measured)
    stretch = jobs.size @ jobs.runtime / (960 * 31 * 86400) / 0.99
    assert denser.jobs.submit == pytest.approx(plain.jobs.submit * stretch)
    assert denser.until == pytest.approx(38 * 86400 * stretch)
    assert any("rescales" in note for note in denser.notes)


def test_unreachable_demands_have_a_note() -> None:
    """Where nine in ten end at once, no jobs within the limits of some classes make their demands."""
    source = open_month(workload("2000-02", under_a_minute=0.9), MACHINE, None, SEEDS[0])
    notes = [note for note in source.notes if "nearest" in note]
    assert len(notes) == 1
    assert "lt_lj" in notes[0]
