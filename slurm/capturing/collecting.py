"""Collect what Slurm prints about a cluster and its jobs, and its slurm.conf, without changing anything."""

import glob
import os
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from models.counting import counted
from models.jobs.bundle import CONFIGURATION, LOG, NAME
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.reading import TOPOLOGIES, TOPOLOGY
from models.slurm.configuration.switches import of_yaml
from models.workloads.sacct import fields
from slurm.checks import Finding, Level
from slurm.commands import RefusedError, Slurm, SlurmError
from slurm.forecasting import queue
from slurm.forecasting.queue import FILE as QUEUE

CONFIG, DUMP, QOS, RESERVATIONS = "config.txt", "associations.cfg", "qos.txt", "reservations.txt"
NODES, PARTITIONS, EVENTS, NETWORK = "nodes.txt", "partitions.txt", "events.txt", "network.txt"

COMMANDS: dict[str, tuple[str, ...]] = {
    CONFIG: ("scontrol", "show", "config"),
    PARTITIONS: ("scontrol", "-o", "show", "partition"),
    NODES: ("scontrol", "-o", "show", "node"),
    RESERVATIONS: ("scontrol", "-o", "show", "reservation"),
    QOS: ("sacctmgr", "-r", "-P", "show", "qos"),
    EVENTS: ("sacctmgr", "-r", "-P", "show", "event"),
}
"""File of the bundle -> the command that prints it."""

COLUMNS = [*(names[0] for names in fields.FIELDS.values()), "Eligible", "Account", "QOS", "Reservation"]
COLUMNS += [
    "AllocTRES",
    "End",
    "ReqCPUS",
    "ReqNodes",
    "ReqTRES",
    "Licenses",
    "Constraints",
]  # the last one is text that a user types
SACCT = ("sacct", "-a", "-X", "-D", "-P", "--noconvert")

CYCLES = ("Mean cycle", "Depth Mean")
"""Lines of sdiag: the microseconds that a backfill cycle takes, and the jobs that it considers."""

SACCT_S = 1800
"""Seconds that sacct may take for one period."""

TOO_WIDE = re.compile("date range|too wide|MaxQueryTimeRange", re.IGNORECASE)
INCLUDE = re.compile(r'^\s*include\s+"?([^\s"#]+)', re.IGNORECASE)
SECRET = re.compile(r'(\w*Pass(?:Script|word)?[ \t]*=[ \t]*)("[^"\n]*"|\S+)', re.IGNORECASE)
"""A password anywhere in a line: a line may have several keys, and a comment may have an old password."""


@dataclass
class Capture:
    """The files collected for a bundle so far, and the findings about them."""

    slurm: Slurm
    since: datetime
    until: datetime
    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def note(self, level: Level, subject: str, text: str) -> None:
        """Add a finding to the report."""
        self.findings.append(Finding(level, subject, text))

    def collect(self) -> None:
        """Run all commands and read slurm.conf."""
        period = (
            f"Start={self.since.isoformat(timespec='seconds')}",
            f"End={self.until.isoformat(timespec='seconds')}",
        )
        for name, command in {**COMMANDS, EVENTS: (*COMMANDS[EVENTS], *period)}.items():
            try:
                self.files[name] = SECRET.sub(r"\1hidden", self.slurm.run(*command))
            except SlurmError as error:
                level: Level = "wrong" if name == CONFIG else "warning"
                self.note(level, command[0], f"{error}; the bundle has no {name}")
        try:
            self.files[QUEUE] = queue.reduced(self.slurm.run("squeue", "--json"), time.time())
        except (SlurmError, ValueError, KeyError, TypeError) as error:
            self.note("warning", "squeue", f"{error}; the bundle has no {QUEUE}, which only forecasts need")
        self._dump()
        self._jobs()
        self._options()
        self._configuration()
        self._cycles()

    @property
    def config(self) -> dict[str, str]:
        """The output of `scontrol show config`."""
        pairs = (line.partition("=") for line in self.files.get(CONFIG, "").splitlines())
        return {key.strip(): value.strip() for key, equals, value in pairs if equals}

    @property
    def _path(self) -> Path:
        given = (self.slurm.env or os.environ).get("SLURM_CONF") or self.config.get("SLURM_CONF")
        return Path(given or "/etc/slurm/slurm.conf")

    def _cycles(self) -> None:
        """Note how long backfill cycles take, if sdiag prints it."""
        try:
            printed = self.slurm.run("sdiag").partition("Backfilling stats")[2]
        except SlurmError:
            return  # a study does not need it
        mean, depth = (re.search(rf"^\s*{name}:\s+(\d+)", printed, re.MULTILINE) for name in CYCLES)
        if mean and depth and int(depth[1]):
            seconds, jobs = int(mean[1]) / 1e6, int(depth[1])
            text = f"a backfill cycle takes {seconds:.3g} s for {counted(jobs, 'job')} on average"
            remedy = (
                f"policy.phases={{job_time: {seconds / jobs:.2g}}} ends simulated ones at bf_max_time, too"
            )
            self.note("ok", "sdiag", f"{text}; {remedy}")

    def _dump(self) -> None:
        if not (cluster := self.config.get("ClusterName")):
            return
        with tempfile.TemporaryDirectory(prefix="capture-") as folder:
            file = Path(folder, DUMP)
            try:
                self.slurm.run("sacctmgr", "-r", "-i", "dump", cluster, f"file={file}")
                self.files[DUMP] = file.read_text(encoding="utf-8", errors="surrogateescape")
            except (SlurmError, OSError) as error:
                self.note("warning", "sacctmgr", f"{error}; the bundle has no {DUMP}")

    def _jobs(self) -> None:
        columns = [*COLUMNS]
        while LOG not in self.files:
            try:
                self.files[LOG] = self._period(columns, self.since, self.until)
            except SlurmError as error:
                refused = re.search(r'Invalid field requested: "?(\w+)', str(error))
                if refused is None or refused[1] not in columns:
                    return self.note("wrong", "sacct", f"{error}; the bundle has no {LOG}")
                columns.remove(refused[1])  # of a later version

    def _options(self) -> None:
        """Add the options that only command lines show, and nothing else of them, where they matter."""
        matter = "OverSubscribe=YES:" in self.files.get(PARTITIONS, "")
        matter = matter or self.config.get("TopologyPlugin", "").endswith(("tree", "block"))
        matter = matter or self._path.with_name(TOPOLOGIES[1]).is_file()  # since 25.05 it wins
        if not (matter and self.files.get(LOG, "").startswith("JobID|")):
            return
        try:
            printed = self._period(["JobID", "SubmitLine"], self.since, self.until).splitlines()
        except SlurmError as error:
            return self.note("warning", "sacct", f"{error}; the log lacks the options of command lines")
        lines: dict[str, str] = {}
        for line in printed:
            job, bar, text = line.partition("|")
            if bar and fields.JOB.fullmatch(job):
                lines[job] = text
            elif lines:  # a command line with a line break
                lines[next(reversed(lines))] += f" {line}"
        header, *rows = self.files[LOG].splitlines()
        kept = (fields.options(lines.get(row.partition("|")[0], "")) for row in rows)
        marked = "".join(f"{text}|{row}\n" for text, row in zip(kept, rows, strict=True))
        self.files[LOG] = f"SubmitOptions|{header}\n{marked}"

    def _period(self, columns: Sequence[str], since: datetime, until: datetime) -> str:
        """Return the jobs of a period; if the database refuses it as too long, ask for each half."""
        times = ("-S", since.isoformat(timespec="seconds"), "-E", until.isoformat(timespec="seconds"))
        try:
            return replace(self.slurm, timeout_s=SACCT_S).run(*SACCT, *times, "-o", ",".join(columns))
        except RefusedError as error:
            if (until - since).days < 2 or not TOO_WIDE.search(str(error)):
                raise
        middle = (since + (until - since) / 2).replace(hour=0, minute=0, second=0, microsecond=0)
        text = f"{since:%F} to {until:%F} exceeds MaxQueryTimeRange: asked for in two parts, at {middle:%F}"
        self.note("ok", "period", text)
        parts = [self._period(columns, since, middle), self._period(columns, middle, until)]
        return "\n".join(dict.fromkeys("".join(parts).splitlines())) + "\n"  # a job in both parts comes twice

    def is_utc(self) -> bool | None:
        """Return whether sacct prints times in UTC, by one job's submission and its seconds since 1970."""
        header, first, *_ = [*self.files[LOG].splitlines()[:2], "", ""]
        row = dict(zip(header.split("|"), first.split("|"), strict=False))
        which = (
            "-S",
            self.since.isoformat(timespec="seconds"),
            "-E",
            self.until.isoformat(timespec="seconds"),
            "-j",
            row.get("JobID", ""),
        )
        try:
            printed = self.slurm.run(
                "env", "SLURM_TIME_FORMAT=%s", *SACCT, "-n", *which, "-o", "Submit"
            ).split()
            submit = datetime.fromisoformat(f"{row['Submit']}+00:00").timestamp()
        except (SlurmError, KeyError, ValueError):
            return None
        seconds = [int(text) for text in printed if text.isdecimal()]
        return int(submit) in seconds if seconds else None

    def _configuration(self) -> None:
        """Copy slurm.conf and its includes into one folder, and make it include what Slurm prints."""
        path = self._path
        try:
            text = self._copied(path, path.parent, {path: CONFIGURATION})
            if version := self.config.get("SLURM_VERSION"):  # decides defaults and rules
                text += f"SLURM_VERSION={version}\n"
        except OSError as error:
            there = [name for name in (CONFIG, NODES, PARTITIONS) if self.files.get(name)]
            remedy = "or name the file: SLURM_CONF=FILE python -m slurm capture"
            fault = f"{path}: {error.strerror}; what scontrol shows is used instead, {remedy}"
            self.note("warning" if len(there) == 3 else "wrong", "slurm.conf", fault)
            text = "".join(f"Include {name}\n" for name in there)
        if (beside := path.with_name(TOPOLOGY)).is_file():
            self.files[TOPOLOGY] = beside.read_text(encoding="utf-8", errors="surrogateescape")
        if (beside := path.with_name(TOPOLOGIES[1])).is_file():  # as lines of slurm.conf
            faults = Faults()
            lines = of_yaml(beside.name, beside.read_text(encoding="utf-8-sig", errors="replace"), faults)
            words = (" ".join(f"{key}={text}" for key, text in line.pairs if text) for line in lines)
            self.files[NETWORK] = "".join(f"{line}\n" for line in words)
            for fault in faults.found:
                self.note("wrong", "topology", f"{fault}; the bundle lacks what it describes")
            for note in faults.notes:
                self.note("warning", "topology", note)
        further = [
            TOPOLOGY,
            NETWORK,
            DUMP,
            QOS,
            *[RESERVATIONS] * ("ReservationName=" in self.files.get(RESERVATIONS, "")),
        ]
        further += [EVENTS] * (self.files.get(EVENTS, "").count("\n") > 1)
        self.files[CONFIGURATION] = text + "".join(
            f"Include {one}\n" for one in further if self.files.get(one)
        )

    def _copied(self, path: Path, folder: Path, names: dict[Path, str]) -> str:
        """Return a file without passwords; its includes are copied under names without a folder."""
        lines = []
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            if not (found := INCLUDE.match(line)):
                lines.append(line)
                continue
            given = found[1].replace("%c", self.config.get("ClusterName", "").lower())
            others = [Path(one) for one in sorted(glob.glob(str(folder / given)))]
            for other in others:
                if other not in names:
                    taken = {*names.values(), *self.files, *COMMANDS, LOG}
                    free = NAME.fullmatch(other.name) and other.name not in taken
                    names[other] = other.name if free else f"include{len(names)}.conf"
                    try:
                        self.files[names[other]] = self._copied(other, folder, names)
                    except OSError as error:
                        self.note("wrong", "slurm.conf", f"{other}: {error.strerror}; run this as root")
                        self.files[names[other]] = "# could not be read\n"
                lines.append(f"Include {names[other]}")
            if not others:
                fault = f"{path} includes {given}, which does not exist here; run this where slurmctld runs"
                self.note("wrong", "slurm.conf", fault)
        return SECRET.sub(r"\1hidden", "\n".join(lines) + "\n")
