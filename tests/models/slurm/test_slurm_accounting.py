"""Associations, QOS and reservations as sacctmgr and scontrol print them: limits, shares, priorities."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import jobs_of
from numba import njit

from models.jobs.requests import Requests
from models.slurm import fitting, one_job
from models.slurm.asked import Asked, MisfitError, asked
from models.slurm.configuration import Configuration, ConfigurationError, read
from models.slurm.configuration.accounting import qos_of
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.keys import Line
from models.slurm.configuration.reading import of_lines
from models.slurm.engine import run
from models.slurm.kernel.priority import classic, fair_tree
from models.slurm.limits import above, counters, exceeded, limited
from models.slurm.priority import associations, fixed_parts
from models.slurm.scheduler import Phases
from models.slurm.unmodelled import with_share

CONF = """\
AccountingStorageEnforce=limits
AccountingStorageType=accounting_storage/slurmdbd
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
PriorityWeightQOS=500
NodeName=n[1-4] CPUs=8
PartitionName=all Nodes=ALL Default=YES QOS=part
Include associations.cfg
Include qos.txt
Include reservations.txt
"""
DUMP = """\
# To edit this file start with a cluster line for the new cluster
Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='physics':Organization='uni':Fairshare=30:GrpTRES=cpu=24,node=3
Account - 'biology':Fairshare=9:MaxJobs=2
Parent - 'physics'
Account - 'theory':Fairshare=2
User - 'ann':DefaultAccount='physics':Fairshare=1:GrpJobs=1
Parent - 'theory'
User - 'bob':Fairshare=3
User - 'cem':Fairshare=1
Parent - 'biology'
User - 'dee':MaxJobs=3
"""
FURTHER = (  # columns of sacctmgr -p show qos, which prints a bar at the end as well
    "PreemptExemptTime|PreemptMode|UsageThres|UsageFactor|GrpTRESMins|GrpTRESRunMins|GrpSubmit|GrpWall|MaxTRES|"
    "MaxTRESPerNode|MaxTRESMins|MaxWall|MaxSubmitPU|MaxTRESRunMinsPA|MaxTRESRunMinsPU|MaxJobsPA|MaxSubmitPA|MinTRES|"
)
QOS = f"""\
Name|Priority|GraceTime|Preempt|Flags|GrpTRES|GrpJobs|MaxTRESPU|MaxJobsPU|MaxTRESPA|{FURTHER}
normal|0|00:00:00|||||||
urgent|200|00:00:00|||gres/gpu=4||cpu=8,mem=64G|2|
part|50||||node=3||||node=2
"""
RESERVATIONS = (
    "ReservationName=upgrade StartTime=2024-03-05T08:00:00 EndTime=2024-03-05T18:00:00 Duration=10:00:00 "
    "Nodes=n[1-2] NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=(null) Flags=MAINT "
    "Users=root State=INACTIVE\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Configuration:
    for name, text in (
        ("slurm.conf", CONF), ("associations.cfg", DUMP), ("qos.txt", QOS), ("reservations.txt", RESERVATIONS)
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    return read(tmp_path / "slurm.conf")


def jobs(configuration: Configuration, who: list[tuple[str, str, str]], **given: Any) -> Asked:
    """Return jobs of 4 CPUs for 10 minutes, submitted together, each of a user, an account and a QOS."""
    n, names = len(who), sorted({user for user, _, _ in who})
    columns = {
        "account": np.array([account for _, account, _ in who], object),
        "qos": np.array([qos for _, _, qos in who], object),
    }
    size, zero = np.full(n, 4), np.zeros(n, np.int64)
    made = jobs_of(zero, 600, size, requested=600, user=[1 + names.index(user) for user, _, _ in who])
    made = replace(made, request=Requests.of(size, zero, **columns, **given))
    return asked(made, configuration, users=names)


def test_files_as_slurm_prints_them(site: Configuration) -> None:
    found = {one.name: one for one in site.associations}
    assert site.name == "slurm.conf", "not the file of the last user, which notes and reports would show"
    assert found["physics"].group == {"cpu": 24, "node": 3}
    assert (found["theory"].parent, found["theory"].share, found["bob"].is_user) == ("physics", 2, True)
    assert (found["ann"].group, found["dee"].each) == ({"jobs": 1}, {"jobs": 3})
    assert site.qos["urgent"].limits["user"] == {"cpu": 8, "mem": 65536, "jobs": 2}
    assert site.qos["urgent"].limits["all"] == {"gres/gpu": 4}
    (kept,) = site.reservations
    assert (kept.nodes, kept.end - kept.begin, kept.begin % 86400) == ((0, 1), 36000, 8 * 3600)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("Account - 'a':MaxJob=2", "MaxJob is not a key of a line Account=.*did you mean MaxJobs"),
        ("QosName=q MaxJobPerUser=2", "MaxJobPerUser is not a key of a line QosName=.*mean MaxJobsPerUser"),
        ("QosName=q Colour=red", "Colour is not a key .* it has no effect$"),
    ],
)
def test_options_of_a_newer_version_are_noted(line: str, note: str) -> None:
    made = of_lines("slurm.conf", ["NodeName=n1", "PartitionName=all Nodes=n1", line])
    assert [one for one in made.notes if re.search(note, one)]


def test_qos_of_a_dump() -> None:
    """As sacctmgr of 25.05 prints them (`file_print_qos`), quotes within values among them."""
    lines = [
        "QOS - 'normal':Description='Ann's: all':GrpTRES=cpu=2K,mem=1G:MaxJobsPU=4:UsageThreshold=0.500000",
        "QOS - 'o'hara':Description='x':Flags='OverPartQOS,DenyOnLimit':GraceTime=30:MaxTRESPerUser=cpu=8"
        ":MaxTRESPerAccount=gres/gpu:A100=2:Preempt='normal':PreemptMode='cluster':Priority=10",
        "Cluster - 'c':DefaultQOS='normal':Fairshare=1",
    ]
    made = of_lines("dump", ["NodeName=n1", "PartitionName=all Nodes=n1", *lines])
    normal, second = made.qos["normal"], made.qos["o'hara"]
    assert normal.limits["all"] == {"cpu": 2048, "mem": 1024}
    assert (normal.user_jobs, normal.ignored) == (4, ("UsageThreshold",))
    assert (second.over_partition, second.grace, second.preempts, second.preempt) == (
        True,
        30,
        ("normal",),
        None,
    )
    assert (second.user_tres, second.account_tres) == ({"cpu": 8}, {"gres/gpu:a100": 2})


def test_associations_of_a_partition_are_apart(tmp_path: Path) -> None:
    """Each has its own limits and shares; jobs in other partitions count for the one of all partitions."""
    lines = [
        *CONF.splitlines()[:6],
        *(
            "PartitionName=all Nodes=ALL Default=YES",
            "PartitionName=gpu Nodes=n1",
            "PartitionName=big Nodes=n2",
        ),
        *("Cluster - 'c'", "Account - 'lab':Fairshare=1", "Parent - 'lab'"),
        "User - 'ann':Partition='gpu':Fairshare=7:GrpTRES=cpu=4",
        "User - 'ann':Partition='big':Fairshare=5:GrpTRES=cpu=8",
        "User - 'ann':Fairshare=3:MaxJobs=9",
    ]
    made = of_lines("slurm.conf", lines)
    names = np.array(["gpu", "big", "all", ""], object)
    wanted = jobs(made, [("ann", "lab", "")] * 4, partition=names)
    found = {
        (one.label, one.resource): (one.cap, np.flatnonzero(one.counted).tolist())
        for one in limited(wanted, made)
    }
    assert found == {
        ("user ann in gpu of account lab", "cpu"): (4, [0]),
        ("user ann in big of account lab", "cpu"): (8, [1]),
        ("user ann of account lab", "jobs"): (9, [2, 3]),
    }
    assert above(wanted, made).tolist() == [False] * 4, "4 CPUs each"
    larger = jobs(made, [("ann", "lab", "")] * 4, partition=names, tasks=np.full(4, 5))
    assert above(larger, made).tolist() == [True, False, False, False], "5 CPUs"
    fair, association = associations(wanted, made)
    assert fair["share"][association].tolist() == [7 / 15, 5 / 15, 3 / 15, 3 / 15]


def test_each_job_counts_for_the_limits_above_it(site: Configuration) -> None:
    wanted = jobs(
        site,
        [("ann", "physics", ""), ("bob", "theory", "urgent"), ("dee", "biology", ""), ("eve", "biology", "")],
    )
    found = {
        (one.label, one.resource): (one.cap, np.flatnonzero(one.counted).tolist())
        for one in limited(wanted, site)
    }
    assert found["account physics", "cpu"] == (24, [0, 1])
    assert found["user ann of account physics", "jobs"] == (1, [0])
    assert found["user dee of account biology", "jobs"] == (3, [2]), "its own limit wins"
    assert found["user eve of account biology", "jobs"] == (2, [3]), "the account's limit holds for each user"
    assert found["QOS urgent of user bob", "cpu"] == (8, [1])
    assert found["QOS part", "node"] == (3, [0, 1, 2, 3]), "of the partition"
    assert found["QOS part of account biology", "node"] == (2, [2, 3])


@pytest.mark.parametrize("flags", ["", "DenyOnLimit,OverPartQOS"])
def test_limits_of_a_qos_replace_others(site: Configuration, flags: str) -> None:
    """The partition's QOS comes first, unless the job's QOS has the flag; then the job's QOS, then accounts.

    Jobs count for limits that are replaced as well.
    """
    line = Line("", {"qosname": "urgent", "grptres": "node=9", "maxjobspu": "7", "flags": flags}, Faults())
    levels = {**site.qos, "urgent": qos_of(line)}
    wanted = jobs(site, [("ann", "physics", "urgent"), ("ann", "physics", ""), ("dee", "biology", "urgent")])
    found = {(one.label, one.resource): one for one in limited(wanted, replace(site, qos=levels))}
    is_checked = {name: np.flatnonzero(one.checked).tolist() for name, one in found.items()}
    assert is_checked["QOS part", "node"] == ([1] if flags else [0, 1, 2])
    assert is_checked["QOS urgent", "node"] == ([0, 2] if flags else [])
    assert is_checked["account physics", "node"] == []
    assert is_checked["account physics", "cpu"] == [0, 1], "none of the QOS has one of CPUs"
    assert is_checked["user dee of account biology", "jobs"] == [], "MaxJobsPU of the QOS replaces MaxJobs"
    assert found["account physics", "node"].counted.tolist() == [True, True, False]


def test_a_larger_job_runs_alone_and_is_counted(site: Configuration) -> None:
    wanted = jobs(site, [("bob", "theory", "urgent")] * 3, task_cpus=np.array([1, 4, 1]))
    *_, notes = counters(wanted, site)
    assert any(
        "QOS urgent of user bob may have 8 CPUs, and 1 of 3 jobs asks for more" in one for one in notes
    )
    result = run(wanted, site, Phases(), zero=0.0)
    others = [k for k in (0, 2) if result.start[k] < result.end[1] and result.end[k] > result.start[1]]
    assert not others


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        ([0, 600, 1200], ""),
        ([0, 599, np.nan], r"1 job \(33.3%\) .*: user ann of account physics may have 1 job and had 2\."),
        ([0, 0, 600], r"1 job \(33.3%\)"),
        ([0, 10, 20], r"2 jobs \(66.7%\) .* had 3; QOS part of account physics may have 2 nodes and had 3\."),
    ],
)
def test_limits_that_a_log_did_not_keep_are_named(
    site: Configuration, waited: list[float], expected: str
) -> None:
    found = exceeded(jobs(site, [("ann", "physics", "")] * 3), site, np.array(waited, float))
    assert re.search(expected, found) if expected else not found
    off = replace(site, settings=replace(site.settings, enforces=False))
    assert not exceeded(jobs(site, [("ann", "physics", "")] * 3), off, np.array(waited, float))


def test_shares_are_those_of_all_siblings(site: Configuration) -> None:
    wanted = jobs(site, [("ann", "physics", ""), ("bob", "theory", ""), ("fay", "chemistry", "")])
    fair, of_job = associations(wanted, site)
    # root: user root 1, physics 30, biology 9, and chemistry, which the dump does not name, 1
    assert fair["norm"][of_job[0]] == pytest.approx(30 / 41 * 1 / 3)
    assert fair["norm"][of_job[1]] == pytest.approx(30 / 41 * 2 / 3 * 3 / 4)
    assert fair["norm"][of_job[2]] == pytest.approx(1 / 41)


def test_the_priority_of_a_qos_is_a_share_of_the_highest(site: Configuration) -> None:
    wanted = jobs(site, [("ann", "physics", "urgent"), ("ann", "physics", "part"), ("ann", "physics", "")])
    fixed, _ = fixed_parts(wanted, site)
    assert fixed - fixed[2] == pytest.approx([500, 125, 0])


def test_a_reservation_comes_back_on_its_days() -> None:
    line = (
        "ReservationName=r StartTime=2024-03-08T08:00 EndTime=2024-03-08T10:00 Nodes=n1 Flags=MAINT,WEEKDAY"
    )
    (kept,) = of_lines("slurm.conf", ["NodeName=n1", "PartitionName=all Nodes=n1", line]).reservations
    day = 86400.0
    found = kept.occurrences(kept.begin - 2 * day, kept.begin + 4 * day)
    days = [-2, -1, 0, 3, 4]  # Wednesday to Friday, and from Monday on
    assert [begin for begin, _, _ in found] == [kept.begin + n * day for n in days]
    assert [known for _, _, known in found][1:] == [end for _, end, _ in found][:-1]


def test_limits_without_enforcement_are_listed() -> None:
    made = of_lines("slurm.conf", ["Account - 'a':GrpJobs=1"])
    assert any("AccountingStorageEnforce lacks limits" in line for line in made.notes)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Account - 'a':GrpTRES=cpu=many", "GrpTRES=cpu=many"),
        ("Account - 'a':GrpTRES=gpu=2", "GrpTRES=gpu=2; allowed: cpu, node, mem and gres/NAME, or billing"),
        ("Account - 'a':MaxJobs=abc", "MaxJobs=abc; allowed: a whole number"),
        ("QosName=q MaxTRESPU=cpu=8 MaxJobsPU=abc", "MaxJobsPU=abc; allowed: a whole number"),
        ("QosName=q Priority=99999999999", "Priority=99999999999; allowed: a whole number from 0 to 4,294"),
        ("QosName=q Priority=high", "Priority=high; allowed: a whole number"),
        ("ReservationName=r StartTime=now EndTime=2024-01-01T00:00:00 Nodes=n1", "StartTime= and EndTime="),
        ("ReservationName=r StartTime=2024-01-01 EndTime=2024-01-02 Nodes=n7", "n7, which does not exist"),
        ("ReservationName=r StartTime=2024-01-01 EndTime=2024-01-03 Nodes=n1 Flags=DAILY", "before it has"),
    ],
)
def test_a_mistake_is_one_line(line: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        of_lines("slurm.conf", ["NodeName=n1 CPUs=4", "PartitionName=all Nodes=n1", line])
    assert words.lower() in str(raised.value).lower()


@pytest.mark.parametrize("enforced", ["limits", "associations"])
def test_a_job_that_ends_counts_for_its_user_where_limits_are_enforced(enforced: str) -> None:
    """Else only what runs when priorities are calculated counts: a rule of Slurm 22.05.8."""
    lines = [*CONF.splitlines()[1:4], f"AccountingStorageEnforce={enforced}", "NodeName=n1 CPUs=4"]
    made = of_lines("slurm.conf", [*lines, "PartitionName=all Nodes=n1"])
    wanted = jobs(made, [(who, "physics", "") for who in ("ann", "zoe", "ann", "bob")])
    wanted.jobs.submit[:] = 0, 305, 310, 311  # all the while zoe runs two wait, and priorities are calculated
    start = run(replace(wanted, runtime=np.array([60.0, 600.0, 60.0, 60.0])), made, Phases(), zero=0.0).start
    assert (start[3] < start[2]) == (enforced == "limits")


def test_classic_factors_are_those_of_the_page(site: Configuration) -> None:
    """UE = UA + (UE of the account - UA) S / S of siblings, F = 2 ** (-UE / S); below the root UE = UA."""
    wanted = jobs(site, [("ann", "physics", ""), ("bob", "theory", "")])
    fair, (ann, bob) = associations(wanted, site)
    physics, theory = fair["parent"][[ann, bob]]
    fair["usage"][[0, physics, theory, ann, bob]] = 100, 60, 20, 40, 20
    fair["level"] = np.nan
    for a in (physics, theory, ann, bob):
        njit(lambda tree, a: classic(tree, a, 1.0))(fair, a)
    used = 0.2 + (0.6 - 0.2) * 2 / 3  # of theory, which has two of three shares
    assert fair["factor"][bob] == pytest.approx(
        2 ** (-(0.2 + (used - 0.2) * 3 / 4) / (30 / 40 * 2 / 3 * 3 / 4))
    )
    assert fair["factor"][ann] == pytest.approx(2 ** (-(0.4 + (0.6 - 0.4) * 1 / 3) / (30 / 40 * 1 / 3)))


def ranked(fair: np.ndarray) -> dict[int, float]:
    """Return the factors of Fair Tree as its page defines them: a recursion over sorted children, O(A^2)."""
    users = [a for a in range(1, len(fair)) if fair["is_user"][a]]
    found: dict[int, float] = {}

    def level(a: int) -> float:
        above = fair["usage"][fair["parent"][a]]
        used = fair["usage"][a] / above if above else 0.0
        return 0.0 if fair["share"][a] == 0 else fair["share"][a] / used if used else np.inf

    def visit(parent: int, ties: bool) -> None:
        mine = [a for a in range(1, len(fair)) if fair["parent"][a] == parent]
        mine.sort(key=lambda a: (-level(a), not fair["is_user"][a]))
        for k, a in enumerate(mine):
            ties = ties if k == 0 else level(mine[k - 1]) == level(a)
            if fair["is_user"][a]:
                free = len(users) - len(found)
                found[a] = min(found.values()) if ties and found else free / len(users)
            else:
                visit(a, ties)

    visit(0, False)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_fair_tree_ranks_all_users_of_the_dump(seed: int) -> None:
    """Users without jobs have ranks, too; usages of few values make ties of users, accounts, and both."""
    rng = np.random.default_rng(seed)
    lines = ["Cluster - 'c':Fairshare=1", "Parent - 'root'", "User - 'root':Fairshare=1"]
    parents = {"root"}
    for number in range(int(rng.integers(1, 7))):
        parent = str(rng.choice(sorted(parents)))
        lines += [f"Parent - '{parent}'", f"Account - 'a{number}':Fairshare={rng.integers(0, 3)}"]
        lines += [f"Parent - 'a{number}'"]
        users = [rng.choice(["1", "2", "parent"]) for _ in range(rng.integers(0, 4))]
        lines += [f"User - 'u{user}':Fairshare={share}" for user, share in enumerate(users)]
        parents.add(f"a{number}")
    nodes = ["NodeName=n1 CPUs=8", "PartitionName=all Nodes=n1"]
    made = of_lines("slurm.conf", [*CONF.splitlines()[:5], *nodes, *lines])
    fair, _ = associations(jobs(made, [("ann", "b", "")]), made)
    for a in reversed(range(1, len(fair))):
        fair["usage"][a] += rng.integers(0, 3) if fair["is_user"][a] else 0
        fair["usage"][fair["parent"][a]] += fair["usage"][a]
    expected = ranked(fair)
    njit(lambda tree: fair_tree(tree))(fair)
    assert {a: fair["factor"][a] for a in expected} == pytest.approx(expected)
    assert len(expected) == 1 + sum(line.startswith("User") for line in lines), "and ann, who is not in it"


def test_an_account_in_itself_ends() -> None:
    lines = [*CONF.splitlines()[:5], "NodeName=n1 CPUs=8", "PartitionName=all Nodes=n1"]
    dump = [
        "Cluster - 'c'",
        "Parent - 'root'",
        "Account - 'a'",
        "Parent - 'a'",
        "Account - 'a'",
        "User - 'ann'",
    ]
    made = of_lines("slurm.conf", [*lines, *dump])
    fair, (ann,) = associations(jobs(made, [("ann", "a", "")]), made)
    assert (len(fair), fair["is_user"][ann]) == (4, 1)


BEYOND = {
    "PartitionName=all Nodes=ALL QOS=part MaxNodes=2": {2},
    "PartitionName=all Nodes=ALL QOS=part MinNodes=2": {1, 3, 4, 5},
    "PartitionName=all Nodes=ALL QOS=part MinNodes=2,QosName=urgent Flags=PartitionMinNodes": {1, 3, 4},
    "QosName=part MaxTRES=cpu=9": {0, 2},
    "QosName=part MaxTRES=cpu=9,QosName=urgent MaxTRES=cpu=2": {0, 2},  # the partition's comes first
    "QosName=part MaxTRES=cpu=9,QosName=urgent MaxTRES=cpu=2 Flags=OverPartQOS": {0, 2, 5},
    "QosName=part MaxTRESPerNode=cpu=3": {0, 1, 2, 3, 4, 5},
    "QosName=part MinTRES=cpu=5": {1, 3, 4, 5},
    "QosName=normal MinTRES=gres/gpu=1": {0, 1, 2, 4},
    "QosName=normal MaxTRESMins=cpu=100": {0, 2},
    "QosName=urgent UsageFactor=2 MaxTRESMins=cpu=60 Flags=UsageFactorSafe": {5},
    "QosName=urgent UsageFactor=2 MaxTRESMins=cpu=60": set(),
    "QosName=normal MaxWall=9": {0, 1, 2, 3, 4},
    "QosName=normal MaxWall=9,QosName=part MaxWall=20": set(),
    "Account - 'physics':MaxTRESPerJob=cpu=9": {0},
    "Account - 'physics':MaxTRESPerJob=cpu=9,Parent - 'theory',User - 'bob':MaxTRESPerJob=cpu=3": {0, 1},
    "Account - 'physics':MaxTRESPerJob=cpu=9,QosName=normal MaxTRESPerJob=cpu=99": set(),
    "Account - 'biology':MaxWallDurationPerJob=9": {2, 3, 5},
}
"""Lines -> the jobs of `test_jobs_beyond_a_limit_of_one_job_are_misfits` that can never start."""


@pytest.mark.parametrize("lines", BEYOND)
def test_jobs_beyond_a_limit_of_one_job_are_misfits(lines: str) -> None:
    given = [line for line in CONF.splitlines() if not line.startswith("Include")]
    given[4:4] = ["PriorityType=priority/basic", "SelectType=select/cons_tres"]
    given = [line.replace("CPUs=8", "CPUs=8 Gres=gpu:4") for line in given]
    changed = re.split(r",(?=[A-Z])", lines)
    more = [line for line in changed if not line.startswith("PartitionName")]
    dump = ["Parent - 'root'", "Account - 'physics'", "Account - 'biology'", "Parent - 'physics'"]
    dump += ["Account - 'theory'", "Parent - 'root'"]
    names = [line for line in ("QosName=normal", "QosName=urgent", "QosName=part") if line not in lines]
    every = [*given, *dump, *names, *more, *(line for line in changed if line not in more)]
    configuration = of_lines("slurm.conf", every)
    who = [("ann", "physics", "normal"), ("bob", "theory", "normal"), ("dee", "biology", "normal")]
    who += [("dee", "biology", "normal"), ("ann", "other", "normal"), ("dee", "biology", "urgent")]
    nodes, gpus = np.array([2, 1, 3, 1, 1, 1]), np.array([0, 0, 0, 1, 0, 0])
    found = jobs(configuration, who, nodes=nodes, most_nodes=nodes, gres={"gpu": gpus})
    found = replace(found, request=replace(found.request, tasks=np.array([12, 4, 12, 4, 4, 4])))
    lost, left = set[int](), np.arange(len(who))
    while len(left):
        try:
            fitting.limited(jobs_from(found, left), "error", configuration)
            break
        except MisfitError as error:
            lost |= {*left[error.lost].tolist()}
            left = left[~error.lost]
    assert lost == BEYOND[lines]


def jobs_from(found: Asked, these: np.ndarray) -> Asked:
    """Return some jobs, of one partition."""
    request, places = found.request[these], tuple(found.partitions[k] for k in these)
    arrays = {name: getattr(found, name)[these] for name in ("user", "limit", "runtime", "message")}
    return replace(found, jobs=found.jobs.part(these), request=request, partitions=places, **arrays)


@pytest.mark.parametrize(
    ("limits", "most", "seconds"),
    [
        ([], [3, 4], 600),  # of its partitions the one that allows more
        (
            ["QosName=normal MaxTRESPerJob=node=1 MaxTRESMinsPerJob=cpu=20"],
            [1, 4],
            300,
        ),  # never below a request
        (["QosName=normal MaxTRESPerUser=node=2", "Account - 'a':MaxTRESPerJob=node=1"], [2, 4], 600),
        (
            ["Account - 'a':MaxTRESPerJob=node=1:MaxTRESMinsPerJob=cpu=3"],
            [1, 4],
            60,
        ),  # and never below a minute
    ],
)
def test_limits_cut_jobs(limits: list[str], most: list[int], seconds: int) -> None:
    lines = ["NodeName=n[1-4] CPUs=4", "AccountingStorageEnforce=limits", "Parent - 'root'", "QosName=normal"]
    lines += ["AccountingStorageType=accounting_storage/slurmdbd", "PartitionName=a Nodes=ALL MaxNodes=1"]
    made = of_lines("slurm.conf", [*lines, "PartitionName=b Nodes=ALL MaxNodes=3", *limits])
    who, parts = [("ann", "a", "normal")] * 2, np.array(["a,b"] * 2, object)
    found = jobs(made, who, nodes=np.array([0, 4]), partition=parts)
    assert one_job.most_nodes(found, made).tolist() == most
    assert one_job.longest(found, made)[0] == seconds


def test_a_job_of_two_partitions_waits_in_those_that_allow_it() -> None:
    lines = [
        "NodeName=n[1-4] CPUs=4",
        "PartitionName=a Nodes=ALL MaxNodes=1 MaxTime=5",
        "PartitionName=b Nodes=ALL",
    ]
    who = [("ann", "", "")] * 3
    for enforced, places in {"NO": ((1,), (0, 1), (0,)), "ALL": ()}.items():
        made = of_lines("slurm.conf", [*lines, f"EnforcePartLimits={enforced}"])
        parts = np.array(["a,b", "a,b", "a"], object)
        found = jobs(made, who, nodes=np.array([2, 1, 1]), partition=parts)
        found = replace(found, limit=np.array([600, 300, 300]))
        if places:
            assert fitting.limited(found, "error", made).partitions == places
            continue
        with pytest.raises(
            MisfitError, match=r"job 1 asks for 2 nodes .* EnforcePartLimits=ALL refuses"
        ) as refused:
            fitting.limited(found, "error", made)
        assert refused.value.lost.tolist() == [True, False, False]


SUBMISSIONS = {
    "QosName=normal MaxSubmitPU=2": [2, 3, 4],
    "QosName=normal GrpSubmit=4": [4],
    "QosName=normal MaxSubmitPA=3": [2, 3],
    "Account - 'physics':MaxSubmitJobs=2": [2, 3, 4],
    "Account - 'physics':MaxSubmitJobs=2,QosName=normal MaxSubmitPU=9": [],
    "Account - 'physics':GrpSubmitJobs=4": [4],
    "Account - 'physics':GrpSubmitJobs=4,AccountingStorageEnforce=associations": [],
}
"""Lines -> the jobs that are refused, of six of one user, of which two are an array and the last one comes
once the others have ended."""


@pytest.mark.parametrize("lines", SUBMISSIONS)
def test_submissions_beyond_a_limit_are_refused_and_count_for_no_measure(lines: str) -> None:
    given = ["AccountingStorageEnforce=limits", "NodeName=n1 CPUs=4", "PartitionName=all Nodes=ALL"]
    given += ["SelectType=select/cons_tres", "Parent - 'root'", *re.split(r",(?=[A-Z])", lines)]
    configuration = of_lines("slurm.conf", given)
    found = jobs(configuration, [("ann", "physics", "normal")] * 6, array=np.array([-1, -1, 1, 1, 1, -1]))
    submit = np.array([0.0, 1, 2, 2, 3, 9000])
    result = run(replace(found, jobs=replace(found.jobs, submit=submit)), configuration, Phases())
    assert np.flatnonzero(result.refused).tolist() == SUBMISSIONS[lines]
    assert (result.start >= submit).all()
    assert (result.end[result.refused] == submit[result.refused]).all()
    assert np.isnan(result.planned[result.refused]).all()


@pytest.mark.parametrize(
    ("flags", "expected"), [("", [800, 400, 0, 800]), ("NO_NORMAL_ASSOC", [8e3, 4e3, 0, 8e3])]
)
def test_the_priority_of_an_association_is_that_of_the_one_above(flags: str, expected: list[float]) -> None:
    lines = [
        "NodeName=n1 CPUs=4",
        "PartitionName=all Nodes=n1",
        "PriorityWeightAssoc=1000",
        "Parent - 'root'",
    ]
    lines += [
        "Account - 'a':Priority=8",
        "Account - 'b':Priority=10",
        "Parent - 'a'",
        "User - 'bob':Priority=4",
    ]
    made = of_lines("slurm.conf", [*lines, "PriorityType=priority/multifactor", f"PriorityFlags={flags}"])
    who = [("ann", "a", ""), ("bob", "a", ""), ("ann", "c", ""), ("eve", "a", "")]
    found, _ = fixed_parts(jobs(made, who), made)
    assert found.tolist() == expected


@pytest.mark.parametrize(("least", "waits"), [(0, True), (400, True), (600, False)])
def test_nothing_is_kept_for_a_job_of_low_priority(least: int, waits: bool) -> None:
    """A job of three of four nodes runs, one of four waits, and a long one of one node waits behind both."""
    lines = ["NodeName=n[1-4] CPUs=4", "PartitionName=all Nodes=ALL", "PriorityType=priority/multifactor"]
    lines += [
        "PriorityWeightQOS=1000",
        "QosName=high Priority=10",
        "QosName=low Priority=5",
        "SelectType=select/cons_tres",
    ]
    made = of_lines("slurm.conf", [*lines, f"SchedulerParameters=bf_min_prio_reserve={least}"])
    nodes, who = np.array([3, 4, 1]), [("ann", "", "high"), ("bob", "", "low"), ("eve", "", "")]
    found = jobs(made, who, nodes=nodes, most_nodes=nodes, whole=np.ones(3, bool))
    found = replace(found, limit=np.array([600, 600, 3600]), request=replace(found.request, tasks=4 * nodes))
    start = run(found, made, Phases()).start
    assert start[1] >= 600
    assert (start[2] > 1200) == waits


def test_limits_that_are_not_modelled_are_listed() -> None:
    lines = ["Account - 'a':MaxWall=60:MaxTRESRunMins=cpu=9", "QosName=q LimitFactor=1.000000"]
    made = of_lines("slurm.conf", ["NodeName=n1 CPUs=4", "PartitionName=all Nodes=n1", *lines])
    assert "MaxTRESRunMins has no effect here, for a" in made.notes
    assert not any("MaxWall" in line or "LimitFactor" in line for line in made.notes)


SHARES = {
    "MaxTRESRunMins has no effect here, for a, q": "75.0%",
    "MaxMemPerCPU=1000 has no effect here; not simulated: CPUs": "25.0%",
    "DefCPUPerGPU=4 has no effect here; not simulated: CPUs": "50.0%",
    "TopologyPlugin=topology/tree has no effect here; not simulated: switches": "25.0%",
    "NodeFeaturesPlugins=knl has no effect here; not simulated: features": "25.0%",
    "Prolog=/etc/prolog has no effect here; not simulated: time": "100.0%",
    "SchedulerParameters=pack_serial_at_end has no effect here; not simulated: jobs": "50.0%",
    "SchedulerParameters=bf_max_job_array_resv has no effect here; not simulated: plans": "50.0%",
    "MCSPlugin=mcs/user has no effect here; not simulated: nodes": "",
    "MaxMemPerCPU=much has no effect here; not simulated: CPUs": "",
    "slurm.conf: 3 nodes are down": "",
}


@pytest.mark.parametrize("note", SHARES)
def test_keys_that_are_not_modelled_have_their_share_of_jobs(note: str) -> None:
    lines = [
        "NodeName=n[1-2] CPUs=4 RealMemory=9000",
        "PartitionName=all Nodes=ALL",
        "PartitionName=b Nodes=ALL",
    ]
    made = of_lines("slurm.conf", lines)
    found = jobs(made, [("ann", "a", ""), ("bob", "b", "q"), ("eve", "b", ""), ("eve", "a", "x")])
    request = replace(
        found.request, nodes=np.array([1, 2, 1, 1]), tasks=np.array([1, 4, 2, 1]),
        node_memory=np.array([2000, 1000, 0, 500]), constraint=np.array(["", "fast", "", ""], object),
        gres={"gpu:a100": np.array([0, 1, 0, 0]), "gpu": np.array([0, 0, 0, 2])},
    )  # fmt: skip
    found = replace(found, request=request, partitions=((0,), (0, 1), (0,), (0,)))
    share = SHARES[note]
    said = with_share(note, found, ["1", "2_7", "2_8", "3"])
    assert said == note + f" ({share} of the jobs)" * bool(share)


@pytest.mark.parametrize(("version", "first"), [("23.02", 2), ("23.11", 1)])
def test_priorities_are_calculated_again_without_a_database(version: str, first: int) -> None:
    """Until then, the size of a job on whole nodes counts the CPUs that it asks for. Job 1 is tested before
    the calculation after 300 s, and then counts as three nodes; job 2, of four nodes, asks for four CPUs."""
    lines = [
        "NodeName=n[1-4] CPUs=4", "PartitionName=all Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE",
        "SelectType=select/cons_tres", "PriorityType=priority/multifactor", "PriorityWeightJobSize=1000",
        "PriorityCalcPeriod=5", f"SLURM_VERSION={version}",
    ]  # fmt: skip
    configuration = of_lines("slurm.conf", lines)
    nodes = np.array([4, 3, 4])
    request = Requests.of(nodes, 0 * nodes, nodes=nodes, most_nodes=nodes)
    given = jobs_of(np.array([0.0, 10, 350]), np.array([400.0, 50, 50]), nodes, requested=[600.0] * 3)
    made = run(asked(replace(given, request=request), configuration), configuration, Phases(calculation=300))
    assert made.start.argsort(kind="stable").tolist()[1] == first
