"""What Slurm prints of a cluster and its jobs, and its slurm.conf: nothing is changed there."""

import glob
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from models.jobs.bundle import CONFIGURATION, LOG, NAME
from models.workloads.sacct import fields
from slurm.checks import Finding, Level
from slurm.commands import RefusedError, Slurm, SlurmError

CONFIG, DUMP, QOS, RESERVATIONS = "config.txt", "associations.cfg", "qos.txt", "reservations.txt"
NODES, PARTITIONS, EVENTS = "nodes.txt", "partitions.txt", "events.txt"

COMMANDS: dict[str, tuple[str, ...]] = {
    CONFIG: ("scontrol", "show", "config"),
    PARTITIONS: ("scontrol", "-o", "show", "partition"),
    NODES: ("scontrol", "-o", "show", "node"),
    RESERVATIONS: ("scontrol", "-o", "show", "reservation"),
    QOS: ("sacctmgr", "-r", "-P", "show", "qos"),
}
"""File of the bundle -> the command that prints it."""

COLUMNS = [*(names[0] for names in fields.FIELDS.values()), "Eligible", "Account", "QOS", "Reservation"]
COLUMNS += ["AllocTRES", "Constraints"]  # the last one is text that a user types
SACCT = ("sacct", "-a", "-X", "-D", "-P", "--noconvert")

SACCT_S = 1800
"""Seconds that sacct may take for one period."""

TOO_WIDE = re.compile("date range|too wide|MaxQueryTimeRange", re.IGNORECASE)
INCLUDE = re.compile(r'^\s*include\s+"?([^\s"#]+)', re.IGNORECASE)
SECRET = re.compile(r"^(\s*\w*Pass(?:Script|word)?\s*=).*$", re.IGNORECASE | re.MULTILINE)
DEEPEST = 10


@dataclass
class Capture:
    """The files of a bundle so far, and what was found on the way."""

    slurm: Slurm
    since: datetime
    until: datetime
    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def note(self, level: Level, subject: str, text: str) -> None:
        """Keep a finding."""
        self.findings.append(Finding(level, subject, text))

    def collect(self) -> None:
        """Run all commands and read slurm.conf."""
        events = ("sacctmgr", "-r", "-P", "show", "event", f"Start={self._text(self.since)}")
        for name, command in {**COMMANDS, EVENTS: (*events, f"End={self._text(self.until)}")}.items():
            try:
                self.files[name] = self.slurm.run(*command)
            except SlurmError as error:
                self.note("wrong" if name == CONFIG else "warning", command[0], _without(error, name))
        self._dump()
        self._jobs()
        self._configuration()

    @property
    def config(self) -> dict[str, str]:
        """What `scontrol show config` prints."""
        pairs = (line.partition("=") for line in self.files.get(CONFIG, "").splitlines())
        return {key.strip(): value.strip() for key, equals, value in pairs if equals}

    def _text(self, time: datetime) -> str:
        return time.isoformat(timespec="seconds")

    def _dump(self) -> None:
        cluster = self.config.get("ClusterName", "")
        if not cluster:
            return
        with tempfile.TemporaryDirectory(prefix="capture-") as folder:
            file = Path(folder, DUMP)
            try:
                self.slurm.run("sacctmgr", "-r", "-i", "dump", cluster, f"file={file}")
                self.files[DUMP] = file.read_text(encoding="utf-8", errors="surrogateescape")
            except (SlurmError, OSError) as error:
                self.note("warning", "sacctmgr", _without(error, DUMP))

    def _jobs(self) -> None:
        columns = [*COLUMNS]
        while True:
            try:
                self.files[LOG] = self._period(columns, self.since, self.until)
                return
            except RefusedError as error:
                refused = re.search(r'Invalid field requested: "?(\w+)', str(error))
                if refused is None or refused[1] not in columns:
                    self.note("wrong", "sacct", _without(error, LOG))
                    return
                columns.remove(refused[1])
            except SlurmError as error:
                self.note("wrong", "sacct", _without(error, LOG))
                return

    def _period(self, columns: Sequence[str], since: datetime, until: datetime) -> str:
        """Return the jobs of a period; where the database refuses it as too long, those of its halves."""
        try:
            times = ("-S", self._text(since), "-E", self._text(until))
            return Slurm(self.slurm.env, max(SACCT_S, self.slurm.timeout_s)).run(
                *SACCT, *times, "-o", ",".join(columns)
            )
        except RefusedError as error:
            middle = since + (until - since) / 2
            if (until - since).days < 2 or not TOO_WIDE.search(str(error)):
                raise
        middle = middle.replace(hour=0, minute=0, second=0, microsecond=0)
        self.note(
            "ok",
            "period",
            f"{since:%F} to {until:%F} is longer than MaxQueryTimeRange: asked for in two parts, at "
            f"{middle:%F}",
        )
        first, second = (
            self._period(columns, *part).splitlines() for part in ((since, middle), (middle, until))
        )
        return "\n".join(dict.fromkeys([*first, *second])) + "\n"  # a job of both is printed twice

    def is_utc(self) -> bool | None:
        """Return whether sacct prints times of UTC: one job's submission beside seconds since 1970."""
        lines = self.files.get(LOG, "").splitlines()[:2]
        if len(lines) < 2:
            return None
        row = dict(zip(lines[0].split("|"), lines[1].split("|"), strict=False))
        times = ("-S", self._text(self.since), "-E", self._text(self.until))
        try:
            printed = self.slurm.run(
                *("env", "SLURM_TIME_FORMAT=%s", *SACCT, "-n", *times, "-j", row.get("JobID", ""), "-o"),
                "Submit",
            ).split()
            submit = datetime.fromisoformat(f"{row['Submit']}+00:00").timestamp()
        except (SlurmError, KeyError, ValueError):
            return None
        seconds = [int(text) for text in printed if text.isdecimal()]
        return int(submit) in seconds if seconds else None

    def _configuration(self) -> None:
        """Copy slurm.conf with its includes, all in one folder, and have it include what Slurm prints."""
        given = (self.slurm.env or os.environ).get("SLURM_CONF") or self.config.get("SLURM_CONF", "")
        path = Path(given or "/etc/slurm/slurm.conf")
        try:
            text = self._copied(path, path.parent, {}, 0)
        except OSError as error:
            there = [name for name in (CONFIG, NODES, PARTITIONS) if self.files.get(name)]
            level: Level = "warning" if len(there) == 3 else "wrong"
            self.note(
                level,
                "slurm.conf",
                f"{path}: {error.strerror}; what scontrol shows is taken instead, or name the file: "
                "SLURM_CONF=FILE python -m slurm capture",
            )
            text = "".join(f"Include {name}\n" for name in there)
        for name in (DUMP, QOS, RESERVATIONS):
            if name == RESERVATIONS and "ReservationName=" not in self.files.get(name, ""):
                continue
            text += f"Include {name}\n" * bool(self.files.get(name))
        self.files[CONFIGURATION] = text

    def _copied(self, path: Path, folder: Path, names: dict[Path, str], depth: int) -> str:
        lines = []
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            if not (found := INCLUDE.match(line)):
                lines.append(line)
                continue
            given = found[1].replace("%c", self.config.get("ClusterName", "").lower())
            others = [Path(one) for one in sorted(glob.glob(str(folder / given)))]
            for other in others if depth < DEEPEST else []:
                if other not in names:
                    taken = {*names.values(), *self.files, *COMMANDS, CONFIGURATION, LOG}
                    free = NAME.fullmatch(other.name) and other.name not in taken
                    names[other] = other.name if free else f"include{len(names) + 1}.conf"
                    try:
                        self.files[names[other]] = self._copied(other, folder, names, depth + 1)
                    except OSError as error:
                        del names[other]
                        self.note(
                            "wrong",
                            "slurm.conf",
                            f"{other}: {error.strerror}; have it readable, or run as root",
                        )
                        continue
                lines.append(f"Include {names[other]}")
            if not others:
                self.note(
                    "wrong",
                    "slurm.conf",
                    f"{path} includes {given}, which is not here; run this where slurmctld runs",
                )
        return SECRET.sub(r"\1hidden", "\n".join(lines) + "\n")


def _without(error: Exception, name: str) -> str:
    return f"{error}; the bundle has no {name}"
