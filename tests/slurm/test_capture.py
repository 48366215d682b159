"""``python -m slurm capture`` on fake programs, which print as versions of Slurm do, and on a real Slurm."""

import io
import json
import re
import shutil
import stat
import tarfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from models.jobs import bundle
from models.slurm import bundled, model
from models.slurm.configuration import read as read_configuration
from models.slurm.configuration.versions import Version
from models.workloads import sacct
from slurm import cli
from slurm.capturing import anonymous, command, completeness
from slurm.capturing.collecting import COLUMNS, Capture
from slurm.commands import Slurm
from slurm.testcluster import TestCluster, missing
from sweep.config import locate
from sweep.config.compose import load
from sweep.config.overrides import parsed
from sweep.plan.checks import notes
from sweep.plan.data import Plan
from sweep.plan.expansion import expand

CONF = """\
ClusterName=alps
TopologyPlugin=topology/tree
SlurmctldHost=head.alps.org(10.0.0.1)
# kept by carla
AccountingStoragePass=verysecret
#AccountingStoragePass = "verysecret 2"
JobCompPass=verysecret # JobCompPort=3306
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
StateSaveLocation=/var/spool/alps
Prolog=/opt/alps/prolog.sh
Include {folder}/parts/nodes.inc
include partitions.conf
"""
NODES = "NodeName=alp[01-04] NodeAddr=10.0.1.[1-4] Gres=gpu:2 CPUs=8 RealMemory=32000\n"
PARTITIONS = (
    "PartitionName=batch Nodes=alp[01-04] Default=YES MaxTime=2-0 AllowAccounts=glacier,ice State=UP\n"
)
SHOWN_NODES = "".join(
    f"NodeName=alp{n:02} Arch=x86_64 CoresPerSocket=4 {' CPUAlloc=0 CPUEfctv=8' * new} CPUTot=8 CPULoad=0.01 "
    f"AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) NodeAddr=10.0.1.{n} NodeHostName=alp{n:02} "
    f"OS=Linux 6.1.0 #1 SMP RealMemory=32000 AllocMem=0 FreeMem=15033 Sockets=2 Boards=1 State=IDLE "
    "ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=batch Comment=(null)\n"
    for n, new in zip(range(1, 5), (False, True, True, True), strict=True)  # as 20.11, and as later ones
)
SHOWN_PARTITIONS = (
    "PartitionName=batch AllowGroups=ALL AllowAccounts=glacier,ice Default=YES QoS=N/A "
    "DefaultTime=NONE DisableRootJobs=NO GraceTime=0 Hidden=NO MaxNodes=UNLIMITED MaxTime=2-00:00:00 LLN=NO "
    "Nodes=alp[01-04] PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO "
    "OverTimeLimit=NONE PreemptMode=OFF State=UP TotalCPUs=32 TotalNodes=4 SelectTypeParameters=NONE "
    "JobDefaults=(null) DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED\n"
)
CONFIG = """\
Configuration data as of 2024-03-31T08:00:00
ClusterName             = alps
PrivateData             = {private}
SLURM_CONF              = {folder}/{conf}
SLURM_VERSION           = {version}
"""
DUMP = """\
# To edit this file start with a cluster line for the new cluster
Cluster - 'alps':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'glacier':Description='the glacier group':Organization='alps':Fairshare=3
Account - 'ice':Description='ice':Organization='alps':Fairshare=1
Parent - 'glacier'
User - 'carla':DefaultAccount='glacier':Fairshare=1:MaxJobs=20
User - 'bruno':DefaultAccount='glacier':Fairshare=1
"""
QOS = "Name|Priority|GraceTime|MaxJobsPU\nnormal|0|00:00:00|40\n"
RESERVATION = (
    "ReservationName=carla_2 StartTime=2024-03-20T08:00:00 EndTime=2024-03-20T12:00:00 Duration=04:00:00 "
    "Nodes=alp[01-02] NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=batch Flags=MAINT TRES=cpu=16 "
    "Users=carla,bruno Groups=(null) Accounts=glacier Licenses=(null) State=INACTIVE BurstBuffer=(null)\n"
)


EVENT = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\nalps||2024-01-01T00:00:00|Unknown|||\n"
EVENT += "alps|alp02|2024-03-05T08:00:00|2024-03-05T10:00:00|DOWN*|carla broke it|carla(1001)\n"


def rows(columns: str = ",".join(COLUMNS), users: str = "carla bruno") -> str:
    """Return what sacct prints: two jobs on each day of March 2024."""
    lines = [columns.replace(",", "|")]
    for n in range(62):
        at = f"2024-03-{n // 2 + 1:02}T{n % 2 + 8:02}:00:00"
        given = {
            "JobID": str(100 + n), "User": users.split()[n % len(users.split())], "State": "COMPLETED",
            "Partition": "batch", "Submit": at, "Start": at, "Eligible": at, "ElapsedRaw": "3600",
            "TimelimitRaw": "120", "AllocCPUS": "8", "AllocNodes": "1", "ReqMem": "1000M", "QOS": "normal",
            "Account": ["glacier", "ice"][n % 2], "AllocTRES": "cpu=8,gres/gpu=1,mem=1000M,node=1",
        }  # fmt: skip
        lines.append("|".join(given.get(column, "") for column in columns.split(",")))
    return "\n".join(lines) + "\n"


SACCT = """
case "$*" in *"-o Submit"*) date -u -d '{zone}' +%s; exit;; esac
cat {folder}/sacct.txt
"""

SDIAG = """\
Main schedule statistics (microseconds):
\tMean cycle:   131
Backfilling stats
\tMean cycle:   1500000
\tDepth Mean: 300
\tDepth Mean (try depth): 40
"""

DATA = Path(__file__).parents[1] / "data" / "slurm"

Site = Callable[..., list[str]]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Site:
    """Return a function that captures a site of fake programs and returns the lines that it prints."""

    def site(
        *,
        version: str = "23.11.4",
        private: str = "none",
        printed: str | None = None,
        jobs: str | None = None,
        zone: str = "2024-03-01 08:00 UTC",
        period: tuple[str, str] = ("2024-03-01", "2024-04-01"),
        without: str = "",
        conf: str = "slurm.conf",
        anonymise: bool = False,
        planned: int | None = 0,
        sharing: str = "NO",
        topology: str = "- topology: b\n  block: {blocks: [{block: rack2, nodes: 'alp[01-02]'}]}\n",
    ) -> list[str]:
        (tmp_path / "parts").mkdir(exist_ok=True)
        texts = {
            "slurm.conf": CONF, "parts/nodes.inc": NODES, "partitions.conf": PARTITIONS, "config": CONFIG,
            "dump": DUMP, "qos": QOS, "reservation": RESERVATION,
            "partition": SHOWN_PARTITIONS.replace("OverSubscribe=NO", f"OverSubscribe={sharing}"),
            "node": SHOWN_NODES,
            "sacct.txt": rows() if jobs is None else jobs, "event": EVENT,
            "topology.conf": "SwitchName=rack1 Nodes=alp[01-04]\nSwitchName=top Switches=rack1\n",
            "topology.yaml": topology,
        }  # fmt: skip
        for name, text in texts.items():
            new = (
                text.replace("{folder}", str(tmp_path)).replace("{version}", version).replace("{conf}", conf)
            )
            (tmp_path / name).write_text(new.replace("{private}", private))
        if not topology:
            (tmp_path / "topology.yaml").unlink()
        programs = {
            "scontrol": f'for last; do :; done; cat "{tmp_path}/$last"',
            "sacctmgr": f'for last; do :; done; case "$*" in *dump*) cp {tmp_path}/dump ${{last#file=}};; '
            f'*event*) cat "{tmp_path}/event";; *) cat "{tmp_path}/qos";; esac',
            "sacct": (printed or SACCT).replace("{folder}", str(tmp_path)).replace("{zone}", zone),
        }
        programs["squeue"] = f"cat {DATA}/squeue.json"
        programs["sdiag"] = f"cat <<'END'\n{SDIAG}END"
        (tmp_path / "bin").mkdir(exist_ok=True)
        for name in ("cat", "cp", "date", "env"):  # and no Slurm of this machine
            (tmp_path / "bin" / name).unlink(missing_ok=True)
            (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
        for name, body in programs.items():
            if name != without:
                (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
                (tmp_path / "bin" / name).chmod(0o755)
        if planned is not None:
            monkeypatch.setattr(command, "_plan", lambda place: planned)
        slurm = Slurm({"PATH": str(tmp_path / "bin")}, 10)
        command.capture(*period, str(tmp_path / "site.tar.gz"), anonymise, slurm)
        return capsys.readouterr().out.splitlines()

    return site


@pytest.mark.parametrize("version", ["20.11.9", "24.11.1", "26.05.1"])
def test_a_complete_bundle(site: Site, tmp_path: Path, version: str) -> None:
    lines = site(version=version)
    assert {line.split()[0] for line in lines if line and not line.startswith("bundle:")} == {"ok"}
    assert any("takes 1.5 s for 300 jobs" in line and "{job_time: 0.005}" in line for line in lines)
    with tarfile.open(tmp_path / "site.tar.gz") as tar:
        names = tar.getnames()
        tar.extractall(tmp_path / "out", filter="data")
    assert names[0] == "bundle.json"
    assert names[-1] == "sacct.txt"
    assert json.loads((tmp_path / "out/bundle.json").read_text())["about"]["slurm"] == version
    texts = [path.read_text() for path in (tmp_path / "out").iterdir()]
    assert not any("verysecret" in text for text in texts)
    assert "JobCompPass=hidden # JobCompPort=3306" in (tmp_path / "out/slurm.conf").read_text()
    found = bundled.read(tmp_path / "site.tar.gz")
    assert found == read_configuration(tmp_path / "out/slurm.conf")  # the same beside it
    assert [node.name for node in found.nodes] == ["alp01", "alp02", "alp03", "alp04"]
    switches = [("rack1", (0, 1, 2, 3)), ("top", (0, 1, 2, 3))]
    switches = [("rack2", (0, 1))] if version > "25" else switches
    assert [(one.name, one.nodes) for one in found.topologies[0].switches] == switches
    assert found.partitions[0].max_time == 2 * 86400
    assert found.settings.version == Version.of(version)
    assert {one.name for one in found.associations} == {"root", "glacier", "ice", "carla", "bruno"}
    assert len(found.reservations) == 1
    assert [(one.nodes, one.end - one.begin) for one in found.events] == [((1,), 7200.0)]
    assert len(sacct.read(tmp_path / "site.tar.gz").job) == 62


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"jobs": rows().replace("AllocNodes", "Other")}, "wrong    columns .*lacks AllocNodes; run"),
        (
            {"printed": 'case "$*" in *Constraints*) echo \'sacct: error: Invalid field requested: '
             '"Constraints"\' >&2; exit 1;; esac' + SACCT, "jobs": rows(",".join(COLUMNS[:-1]))},
            "warning  columns .*lacks Constraints; run",
        ),
        ({"jobs": "JobID User Account\n---- ---- ----\n1  a  b\n"}, "wrong    truncation .*fixed-width"),
        ({"jobs": rows().replace("\n105|", "\n105_[1-9+|")}, "wrong    truncation 1 of 62 JobIDs are cut"),
        ({"zone": "2024-03-01 09:00 UTC"}, "wrong    time zone .*does not print UTC"),
        ({"jobs": rows(users="carla")}, "warning  users .*one user: slurmdbd.conf may hide"),
        ({"jobs": rows(users="carla"), "private": "accounts,jobs"}, "wrong    users .*=jobs hides it; run"),
        ({"period": ("2024-02-01", "2024-04-01")}, "warning  period .*no submission before 2024-03-01"),
        ({"period": ("2024-03-01", "2024-05-01")}, "warning  period .*no submission after 2024-03-31"),
        ({"jobs": rows().replace("Submit", "Other")}, "wrong    columns .*lacks Submit; run"),
        ({"jobs": re.sub(r"2024-03-\d\dT\d\d:00:00", "1709280000", rows())}, "wrong    period .*the form"),
        ({"jobs": rows().splitlines()[0] + "\n"}, "wrong    jobs .*there are none in 2024-03-01 to 2024-0"),
        ({"without": "sacct"}, "wrong    sacct .*no such program; go to a node .*has no sacct.txt"),
        (
            {"topology": "- {topology: a, flat: true}\n- {topology: b, trees: {}}"},
            "wrong    topology   topology.yaml, topology 2: has 'trees'; allowed: .*the bundle lacks what",
        ),
        (
            {"topology": "- {topology: a, block: {blocks: {block: b, node: n1}}}"},
            "warning  topology   topology.yaml, topology 1: node is not .* known here.*did you mean nodes",
        ),
        ({"without": "sacctmgr"}, "warning  sacctmgr .*no such program.*has no associations.cfg"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_with_the_remedy(site: Site, changes: dict[str, str], expected: str) -> None:
    lines = site(**changes)
    assert any(re.match(expected, line) for line in lines), lines


def test_a_period_that_the_database_refuses_is_asked_for_in_parts(site: Site, tmp_path: Path) -> None:
    refuses = (
        'echo "$*" >> {folder}/asked; case "$*" in *"-S 2024-03-01T00:00:00 -E 2024-04-01T00:00:00"*) '
        'echo "sacct: error: Too wide of a date range in query" >&2; exit 1;; esac' + SACCT
    )
    lines = site(printed=refuses, topology="")
    assert any("MaxQueryTimeRange: asked for in two parts, at 2024-03-16" in line for line in lines)
    assert len((tmp_path / "asked").read_text().splitlines()) == 4  # refused, two halves, the time zone
    assert len(sacct.read(tmp_path / "site.tar.gz").job) == 62  # each job once


@pytest.mark.parametrize("anonymise", [False, True])
def test_of_command_lines_only_some_options_are_kept(site: Site, tmp_path: Path, anonymise: bool) -> None:
    """Where a partition lets jobs share CPUs; a command line may have bars and line breaks."""
    lines = "100|sbatch a.sh -s secret\n101|sbatch -t 5 -s b.sh\n"
    lines += "102|sbatch --comment=a|b\n--overs c.sh\n103|sbatch --switches=1@5 -J secret d.sh\n"
    printed = f"case \"$*\" in *SubmitLine*) cat <<'END'\nJobID|SubmitLine\n{lines}END\nexit;; esac{SACCT}"
    site(printed=printed, sharing="YES:4", anonymise=anonymise)
    found = sacct.read(tmp_path / "site.tar.gz")
    assert found.placed is not None
    assert found.job[found.placed[:, 3] > 0].tolist() == ["101", "102"]
    assert found.placed[3].tolist() == [0, 1, 300, 0, 0]
    with tarfile.open(tmp_path / "site.tar.gz") as tar:
        assert b"secret" not in tar.extractfile("sacct.txt").read()
    site(printed=printed, anonymise=anonymise)  # because of topology.yaml
    assert sacct.read(tmp_path / "site.tar.gz").placed is not None
    site(printed=printed, topology="")
    assert sacct.read(tmp_path / "site.tar.gz").placed is None


@pytest.mark.parametrize("anonymise", [False, True])
def test_what_scontrol_shows_stands_in_for_slurm_conf(site: Site, tmp_path: Path, anonymise: bool) -> None:
    site()
    before = bundled.read(tmp_path / "site.tar.gz")
    lines = site(conf="gone/slurm.conf", anonymise=anonymise)
    assert any(
        re.match("warning  slurm.conf .*gone/slurm.conf: No such file.*SLURM_CONF=FILE", one) for one in lines
    )
    found = bundled.read(tmp_path / "site.tar.gz")
    assert [(one.cpus, one.memory) for one in found.nodes] == [(8, 32000)] * 4
    assert [one.max_time for one in found.partitions] == [one.max_time for one in before.partitions]
    assert found.partitions[0].restricted == ("allowaccounts",)
    assert found.settings.version == before.settings.version == Version.of("23.11.4")


def test_names_are_others_alike_in_all_files(site: Site, tmp_path: Path) -> None:
    site()
    before = bundled.read(tmp_path / "site.tar.gz"), sacct.read(tmp_path / "site.tar.gz")
    lines = site(anonymise=True)
    place = tmp_path / "site.tar.gz"
    every = {**bundle.read(place, log=False), **bundle.read(place, log=True)}
    text = "\n".join([*every, *(content.decode() for content in every.values())])
    for name in (
        "alp",
        "rack",
        "carla",
        "bruno",
        "glacier",
        "ice\n",
        "'ice",
        "10.0.",
        "/var",
        "/opt",
        "nodes.inc",
    ):
        assert name not in text, name
    found, jobs = bundled.read(place), sacct.read(place)
    kept = tmp_path / "site.tar.gz.names.json"
    assert any(str(kept) in line for line in lines)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    names = json.loads(kept.read_text())
    assert [names["users"][user] for user in before[1].user] == jobs.user.tolist()
    accounts = {**names["accounts"], **names["users"], "root": "root"}
    assert [accounts[one.name] for one in before[0].associations] == [one.name for one in found.associations]
    assert [node.name for node in found.nodes] == ["nodea01", "nodea02", "nodea03", "nodea04"]
    assert found.reservations[0].nodes == before[0].reservations[0].nodes
    of_switches = [[one.nodes for one in each.topologies[0].switches] for each in (found, before[0])]
    assert of_switches[0] == of_switches[1]
    assert set(names["reservations"]) == {"carla_2"}


def plan(*arguments: str) -> Plan:
    """Return the plan of a command."""
    return expand(load(parsed(["+experiment=slurm_what_if", *arguments]), locate.conf_folder()))


def test_tasks_from_a_bundle_are_those_from_its_files(site: Site, tmp_path: Path) -> None:
    site()
    with tarfile.open(tmp_path / "site.tar.gz") as tar:
        tar.extractall(tmp_path / "out", filter="data")
    files = plan(f"policy.path={tmp_path / 'out/slurm.conf'}", f"workload.path={tmp_path / 'out/sacct.txt'}")
    of_bundle = plan(f"policy.bundle={tmp_path / 'site.tar.gz'}")
    assert of_bundle.ids == files.ids
    assert [note.replace("site.tar.gz", "sacct.txt") for note in notes(of_bundle)] == [*notes(files)]
    from_bundle, from_files = (model.simulate(one.task(0).point).metrics for one in (of_bundle, files))
    assert from_bundle.keys() == from_files.keys()
    assert all(
        np.array_equal(values, from_files[name], equal_nan=True) for name, values in from_bundle.items()
    )


def packed(place: Path, *members: tuple[tarfile.TarInfo, bytes], files: dict[str, int]) -> Path:
    """Write a bundle of a stranger's own making."""
    manifest = json.dumps({"form": 1, "about": {}, "files": files}).encode()
    first = tarfile.TarInfo(bundle.MANIFEST)
    first.size = len(manifest)
    with tarfile.open(place, "w:gz") as tar:
        for member, content in ((first, manifest), *members):
            tar.addfile(member, io.BytesIO(content))
    return place


def regular(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    """Return a member."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    return member, content


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    """Return a member that is a link."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


NODE = b"NodeName=n1\nPartitionName=a Nodes=ALL\n"


@pytest.mark.parametrize(
    ("members", "files", "expected"),
    [
        ([link("slurm.conf", "/etc/passwd")], {"slurm.conf": 0}, "a link or not in"),
        ([link("slurm.conf", "/etc/passwd", tarfile.LNKTYPE)], {"slurm.conf": 0}, "a link or not in"),
        ([regular("../slurm.conf", NODE)], {"../slurm.conf": len(NODE)}, "names that no bundle has"),
        ([regular("slurm.conf", NODE), regular("more", b"")], {"slurm.conf": len(NODE)}, "not in its list"),
        ([regular("slurm.conf", NODE)], {"slurm.conf": 1}, "of another size than in its list"),
        ([regular("slurm.conf", NODE)], {"slurm.conf": len(NODE), "x": 1}, "lacks x"),
        ([regular("slurm.conf", b"Include /etc/passwd\n")], {"slurm.conf": 20}, "includes a file out"),
        ([regular("slurm.conf", b"incl\\\nude */x\n")], {"slurm.conf": 14}, "includes a file out"),
        ([regular("slurm.conf", bytes(2**25))], {"slurm.conf": 2**25}, "unpacks to far more bytes"),
    ],
)  # fmt: skip
def test_a_strangers_bundle_reaches_nothing_else(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], files: dict[str, int], expected: str
) -> None:
    place = packed(tmp_path / "theirs.tar.gz", *members, files=files)
    with pytest.raises(ValueError, match=expected) as found:
        bundled.read(place)
    assert "\n" not in str(found.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["theirs.tar.gz"]


def test_a_bundle_that_is_cut_is_refused(site: Site, tmp_path: Path) -> None:
    site()
    place = tmp_path / "site.tar.gz"
    place.write_bytes(place.read_bytes()[:-300])
    with pytest.raises(ValueError, match=r"damaged .*; fetch it again"):
        bundle.read(place, log=True)


def test_wrong_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["capture", "-S", "March"]) == 2
    assert "error: -S March: give a date (UTC), -S 2024-03-01" in capsys.readouterr().err
    assert cli.main(["capture", "-S", "2024-03-02", "-E", "2024-03-01"]) == 2
    assert "is not before -E" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_a_real_slurm(tmp_path: Path) -> None:
    if text := missing(accounting=True):
        pytest.skip(f"tests with a real Slurm: {text}")
    accounts = "Cluster - 'testcluster'\nParent - 'root'\nAccount - 'own'\nParent - 'own'\nUser - 'root'\n"
    with TestCluster(associations=accounts, nodes=2) as cluster:
        script = tmp_path / "job.sh"
        script.write_text("#!/bin/sh\nsleep 1\n")
        today = datetime.now(UTC)
        for _ in range(3):
            cluster.slurm.submit(script, ["-A", "own", "-t", "1", "--output=/dev/null"])
        for _ in range(400):  # the database has each end some seconds later
            if cluster.slurm.run("sacct", "-a", "-X", "-n", "-o", "State").count("COMPLETED") == 3:
                break
            time.sleep(0.2)
        place, days = tmp_path / "real.tar.gz", (today - timedelta(days=1), today + timedelta(days=1))
        found = Capture(Slurm({**cluster.env, "TZ": "UTC"}), *(day.replace(tzinfo=None) for day in days))
        before = sorted(path.name for path in cluster.folder.iterdir())
        found.collect()
        completeness.check(found)
        assert sorted(path.name for path in cluster.folder.iterdir()) == before
    assert not [one for one in found.findings if one.level == "wrong"]
    assert "ok       time zone  UTC" in map(str, found.findings)
    for files in (found.files, anonymous.renamed(found.files)[0]):
        place.write_bytes(bundle.packed({name: text.encode() for name, text in files.items()}, {}))
        assert len(bundled.read(place).nodes) == 2
        assert (sacct.read(place).state == "COMPLETED").sum() == 3
        made = plan(f"policy.bundle={place}")
        assert len(made.ids) == 1
        notes(made)
