"""Tables 1 and 2 of Chiang and Vernon 2001 as the YAML file has them, and what is refused."""

import re
from math import inf
from typing import Any

import pytest
from family_cases import composed, refused
from ncsa_lsf_cases import HOUR, SIZES, make_jobs, make_machine, of_paper

from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.jobs import machine as machines

TABLE_2 = """
eir      128  64  lj ≤ 3; mj ≤ 4  lj > mj > sj; vst > st, mt, lt
nerthus  128  64  lj ≤ 3; mj ≤ 4  lj > mj > sj; vst > st, mt, lt
jord1    128  32  lj ≤ 3; mj ≤ 4  lj > mj > sj; vst > st, mt, lt
saga1    128  32  lj ≤ 3; mj ≤ 4  lj > mj > sj; vst > st, mt, lt
huldra   128  32  lj ≤ 3; mj ≤ 4  lj > mj > sj; vst > st, mt, lt
hod1     128  64  lj ≤ 6; mj ≤ 2  lj > mj > sj; vst > st, mt, lt
mimir    128  32  -               sj only; vst > st, mt, lt
modi2    64   16  -               mj only; vst > st, mt, lt
"""
"""As printed, less the memory per processor."""


def test_table_2_is_the_papers() -> None:
    hosts, rules = machines.of(composed("machine", "o2k")), NcsaLsf.of(of_paper())
    lines = TABLE_2.strip().splitlines()
    assert [line.split()[0] for line in lines] == list(hosts.names) == list(rules.hosts)
    for h, line in enumerate(lines):
        name, processors, memory, rest = line.split(maxsplit=3)
        assert (hosts.processors[h], hosts.memory[h]) == (int(processors), int(memory) * 2**20)
        sizes, times = rest.split(";")[-2].split("  ")[-1].replace(" only", ""), rest.split(";")[-1]
        assert [part.strip() for part in sizes.split(">")] == list(rules.hosts[name].sizes)
        assert {size: int(most) for size, most in re.findall(r"(\wj) ≤ (\d)", rest)} == rules.hosts[
            name
        ].limits
        assert tuple(tuple(re.findall(r"\w+", part)) for part in times.split(">")) == rules.time_order
    assert rules.system_limits == {"mt": 48, "lt": 20}
    assert rules.user_limit is None


def test_table_1_has_the_reserve_wait_times() -> None:
    assert NcsaLsf.of(of_paper()).reserve_wait == {
        "vst": 12 * HOUR,
        "st": 45 * HOUR,
        "mt": 180 * HOUR,
        "lt": 360 * HOUR,
    }


EIR = {"host": "eir", "sizes": ["lj", "mj", "sj"]}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"limit": 3}, "policy.ncsa_lsf.limit is not known; allowed: reserve_wait_hours, time_order"),
        ({"hosts": None}, "hosts=null; allowed: a list of {host, sizes, limits}"),
        ({"hosts": [{"sizes": ["lj"]}]}, "allowed: {host, sizes, limits}"),
        ({"hosts": [EIR | {"sizes": ["lj", "xl"]}]}, "sizes=['lj', 'xl']; allowed: a list of sj, mj, lj"),
        ({"hosts": [EIR | {"limits": {"lj": -1}}]}, "hosts[0].limits.lj=-1; allowed: a whole number from 0"),
        ({"hosts": [{"host": "mimir", "sizes": ["sj"], "limits": {"lj": 1}}]}, "mimir does not take lj"),
        ({"system_limits": {"xt": 3}}, "system_limits.xt is not known; allowed: vst, st, mt, lt"),
        ({"time_order": [["vst"], ["st", "mt"]]}, "each of vst, st, mt, lt once"),
        ({"reserve_wait_hours": {"vst": 12}}, "reserve_wait_hours.st=(none); allowed: a number of hours"),
        ({"user_limit": 0}, "user_limit=0; allowed: a positive whole number, or null"),
    ],
)
def test_refused_configurations(keys: dict[str, Any], words: str) -> None:
    with refused(re.escape(words)):
        NcsaLsf.of(of_paper(**keys))


ONE = make_machine({"eir": (128, 64)})
SMALL = (0, 1, 1, 1, 0)


@pytest.mark.parametrize(
    ("keys", "rows", "machine", "words"),
    [
        ({}, [SMALL], ONE, "the machine has no host nerthus, jord1,"),
        ({"hosts": [EIR]}, [SMALL], make_machine({"eir": (8, 1), "odin": (8, 1)}), "no row for odin"),
        ({"hosts": [EIR]}, [SMALL, (0, 1, 401, 1, 0)], ONE, "1 of 2 jobs is in none of the job classes"),
        ({"hosts": [EIR]}, [(0, 1, 1, 1, 17)], ONE, "ncsa_lsf: 1 job asks for more than 16 GB of memory"),
        (
            {"hosts": [{"host": "eir", "sizes": ["sj"]}]},
            [SMALL, (0, 1, 50, 9, 0)],
            ONE,
            "1 of 2 jobs may run on no host: job 2 of class st_mj (9 processors, 0 KB of memory)",
        ),
        ({"hosts": [EIR]}, [(0, 1, 1, 17, 0)], make_machine({"eir": (16, 64)}), "may run on no host"),
        ({"hosts": [EIR], "user_limit": 3}, [SMALL, SMALL], ONE, "2 of 2 jobs have no known user"),
    ],
)
def test_what_could_never_run_is_refused(keys, rows, machine, words) -> None:
    jobs, rules = make_jobs(rows), NcsaLsf.of(of_paper(**keys))
    with refused(re.escape(words)):
        rules.check(jobs, machine)


def test_null_is_no_limit_and_no_special_reservation() -> None:
    keys = {
        "hosts": [EIR | {"limits": {"lj": None, "mj": 2}}],
        "system_limits": None,
        "reserve_wait_hours": {"vst": None, "st": 1, "mt": 2, "lt": 3},
    }
    rules = NcsaLsf.of(of_paper(**keys))
    assert rules.hosts["eir"].limits == {"mj": 2}
    assert rules.system_limits == {}
    assert rules.reserve_wait["vst"] == inf
    assert {s for s in SIZES if s in rules.hosts["eir"].sizes} == set(SIZES)
