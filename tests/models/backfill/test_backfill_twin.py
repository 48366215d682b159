"""The kernels of backfilling against a plain twin on random cases, tied and overrun ones among them."""

from dataclasses import replace

import numpy as np
import pytest
from backfill_cases import POLICIES, by_twin, cases, rules, tiers
from family_cases import for_all
from hypothesis import strategies as st

from models.backfill.conservative.rules import Conservative
from models.backfill.engine import schedule
from models.backfill.requests import under
from models.backfill.rules import Rules
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool

each_tie = pytest.mark.parametrize("ties", ["instant", "event"])


def assert_agreement(jobs: Jobs, machine: Machine, how: Rules) -> None:
    """Compare starts, hosts, and the first start that was reserved for each job."""
    made, (expected, scheduler) = schedule(jobs, machine, how), by_twin(jobs, machine, how)
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.host, expected.host)
    first: dict[int, float] = {}
    for now, job, promise in scheduler.promises:
        if not isinstance(how, Conservative) or promise > now:
            first.setdefault(job.number, promise)
    promised = [first.get(number, np.nan) for number in range(len(made.jobs))]
    np.testing.assert_array_equal(made.promised, promised)


@each_tie
@pytest.mark.parametrize("name", POLICIES)
@tiers(5, 60)
def test_on_hosts_with_memory(name: str, ties: str, n_examples: int) -> None:
    def check(case: tuple[Jobs, Machine]) -> None:
        for kill in (True, False)[: 1 if name == "conservative" else 2]:
            assert_agreement(*case, rules(name, ties=ties, kill=kill))

    for_all(n_examples, check, case=cases())


DOWNTIMES = st.lists(st.integers(-2, 40), min_size=2, max_size=8, unique=True)


@each_tie
@pytest.mark.parametrize("hosts", [1, 3])
@pytest.mark.parametrize("name", POLICIES)
@tiers(3, 60)
def test_downtimes_are_reserved(name: str, hosts: int, ties: str, n_examples: int) -> None:
    """No job starts that would run into one by its request."""

    def check(case: tuple[Jobs, Machine], bounds: list[int]) -> None:
        down = 1800.0 * np.array(sorted(bounds)[: len(bounds) // 2 * 2]).reshape(-1, 2)
        machine = replace(pool(case[1].largest) if hosts == 1 else case[1], down=down)
        how = rules(name, ties=ties)
        assert_agreement(case[0], machine, how)
        made = schedule(case[0], machine, how)
        until = made.start + under(case[0], how).requested
        assert not ((made.start < down[:, 1:]) & (until > down[:, :1])).any()

    for_all(n_examples, check, case=cases(hosts), bounds=DOWNTIMES)


@each_tie
@pytest.mark.parametrize("name", [name for name in POLICIES if name != "conservative"])
@tiers(5, 60)
def test_predictions_are_corrected(name: str, ties: str, n_examples: int) -> None:
    """A job is planned by its prediction, expected to run on when it does, and killed at its request."""

    def check(case: tuple[Jobs, Machine], shares: list[float], slow: float) -> None:
        times = {name: getattr(case[0], name) * slow for name in ("submit", "runtime", "requested")}
        jobs = replace(case[0], **times)
        jobs = replace(jobs, predicted=np.floor(jobs.requested * np.resize(shares, len(jobs))))
        for kill in (True, False):
            assert_agreement(jobs, case[1], rules(name, ties=ties, kill=kill))

    shares = st.lists(st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0]), min_size=1, max_size=7)
    for_all(n_examples, check, case=cases(), shares=shares, slow=st.sampled_from([1.0, 7.0, 50.0]))


@pytest.mark.parametrize("name", ["easy", "sjf_backfill", "conservative"])
@tiers(8, 60)
def test_no_job_starts_later_than_promised(name: str, n_examples: int) -> None:
    """One reservation in order of submission, a kept one, or all with compression, and requests respected.

    Of two kept ones the first may move to an earlier time, as a job ends early, and onto the second.
    """

    def check(case: tuple[Jobs, Machine]) -> None:
        made, (_, scheduler) = schedule(*case, rules(name)), by_twin(*case, rules(name))
        for _, job, promise in scheduler.promises:
            assert made.start[job.number] <= promise

    for_all(n_examples, check, case=cases(overruns=False))
