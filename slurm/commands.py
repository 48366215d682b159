"""The only place that calls Slurm's programs: each with a time limit, each error one clear line.

Slurm is a hint, never the record: it forgets jobs some minutes after their end, may use a job's number twice
after a crash, and may be down. The sweep's own files are the record of what is done.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slurm.answers import JOB_FORM, PARTITION_FORM, Job, Limits, Partition, read_job, read_partition
from sweep.errors import SweepError

TIMEOUT_S = 40
"""Seconds for one call; clients themselves give up about 9 s after the controller has gone."""

KEPT = (
    *("SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SBATCH_CLUSTERS"),
    *("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION", "SBATCH_CONSTRAINT"),
)
"""Variables of Slurm that may select the cluster and account of a job; see `environment`."""


class SlurmError(SweepError):
    """A command to Slurm failed (exit status 1)."""

    status = 1


class UnreachableError(SlurmError):
    """Slurm does not answer: no programs, no controller, no valid credentials, or out of time.

    A later attempt may succeed. A submission that ran out of time may have been accepted.
    """


class RefusedError(SlurmError):
    """Slurm refuses the request; repeating the command does not help."""


@dataclass(frozen=True)
class Slurm:
    """The commands to a cluster, which `env` selects (the process's own by default; see `environment`)."""

    env: Mapping[str, str] | None = None
    timeout_s: float = TIMEOUT_S

    def limits(self, qos: str | None = None) -> Limits:
        """Return the limits of the cluster and of the quality of service that jobs will name."""
        pairs = (line.partition("=") for line in self.run("scontrol", "show", "config").splitlines())
        config = {key.strip(): value.strip() for key, equals, value in pairs if equals}
        return Limits(
            cluster=config.get("ClusterName", "unknown"),
            version=config.get("SLURM_VERSION", "unknown"),
            max_array_size=int(config.get("MaxArraySize", 1001)),
            max_jobs=int(config.get("MaxJobCount", 10000)),
            max_submit=self._max_submit(qos),
        )

    def _max_submit(self, qos: str | None) -> int | None:
        uid = os.getuid()
        try:
            # The controller's own copy is available even if the accounting database does not answer.
            text = self.run("scontrol", "-o", "show", "assoc_mgr", "flags=assoc,qos")
        except RefusedError:  # it is private at this site
            return None
        mine = rf"ClusterName=.*\bUserName=\S*\({uid}\)|QOS={re.escape(qos or '')}\("
        lines = [line for line in text.splitlines() if re.match(mine, line)]
        limits = re.findall(r"\b(?:Grp|Max)SubmitJobs(?:P[AU])?=(\d+)", "\n".join(lines))
        return min(map(int, limits), default=None)

    def partitions(self) -> list[Partition]:
        """Return the partitions that this user may see."""
        rows: dict[str, list[list[str]]] = {}
        for line in self.run("sinfo", "-h", "-e", "-o", PARTITION_FORM).splitlines():
            name, *row = line.split("|")
            rows.setdefault(name, []).append(row)
        return [read_partition(name, found) for name, found in rows.items()]

    def jobs(self, ids: Iterable[int] = (), *, name: str | None = None, ended: bool = False) -> list[Job]:
        """Return this user's jobs: all, the jobs with some ids (unknown ids are left out), or with a name.

        With `ended` also those that have ended, as long as Slurm remembers them (``MinJobAge``).
        """
        which = ["-j", ",".join(map(str, ids))] if (ids := list(ids)) else []
        named = ["-n", name] if name else []
        states = ["-t", "all"] if ended else []
        try:
            text = self.run("squeue", "-h", "-u", str(os.getuid()), *which, *named, *states, "-o", JOB_FORM)
        except RefusedError as error:
            if "Invalid job id" in str(error):
                return []
            raise
        return [read_job(line) for line in text.splitlines()]

    def submit(self, script: Path, options: Sequence[str] = (), arguments: Sequence[str] = ()) -> int:
        """Submit a script and return the job's id; sbatch's options have precedence over the script's."""
        answer = self.run("sbatch", "--parsable", *options, str(script), *arguments)
        found = re.findall(r"^(\d+)(?:;\S*)?$", answer, re.MULTILINE)
        if not found:
            raise SlurmError(f"sbatch answered {answer.strip()!r} instead of a job id; try squeue --me")
        return int(found[-1])

    def cancel(self, targets: Iterable[int | str]) -> None:
        """Cancel jobs, arrays or elements (``12_3``); unknown ones are ignored."""
        if targets := [str(target) for target in targets]:
            try:
                self.run("scancel", *targets)
            except RefusedError as error:
                if not re.search("Invalid job id specified|already complet", str(error)):
                    raise

    def requeue(self, target: int | str) -> None:
        """Put a running or ended job or element back into the queue."""
        self.run("scontrol", "requeue", str(target))

    def run(self, program: str, *arguments: str) -> str:
        """Return the output of one of Slurm's programs."""
        try:
            done = subprocess.run(
                [program, *arguments],
                env=environment(os.environ if self.env is None else self.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout_s,
                check=False,
            )
        except FileNotFoundError:
            raise UnreachableError(
                f"{program}: no such program; go to a node from which jobs are submitted, and load Slurm "
                "(module load slurm) if it has to be loaded there"
            ) from None
        except subprocess.TimeoutExpired as error:
            raise UnreachableError(_late(program, error)) from None
        if done.returncode == 0:
            return done.stdout
        text = _one_line(done.stderr or done.stdout) or f"exit status {done.returncode}"
        for pattern, advice in _UNREACHABLE:
            if re.search(pattern, text, re.IGNORECASE):
                raise UnreachableError(f"{program}: {text}; {advice}")
        advice = next((hint for pattern, hint in _REFUSED if re.search(pattern, text, re.IGNORECASE)), "")
        raise RefusedError(f"{program}: {text}" + (f"; {advice}" if advice else ""))


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for Slurm's programs.

    Jobs would inherit the variables of an outer job (above all its bound cores), and a user's own formats and
    filters (``SQUEUE_FORMAT``) would make answers unreadable, so both are dropped.
    """
    ours = re.compile(r"(SLURM|SLURMD|SRUN|SALLOC|SBATCH|SQUEUE|SINFO|SCANCEL|SCONTROL)_")
    kept = {key: value for key, value in base.items() if key in KEPT or not ours.match(key)}
    return {**kept, "SLURM_BITSTR_LEN": "0"}  # otherwise lists of array indices are cut off at 64 characters


_UNREACHABLE = (
    (
        "configuration (source|file)|s_p_parse_file",
        "there is no readable slurm.conf: can jobs be submitted from this node, and is SLURM_CONF right?",
    ),
    (
        "authentication|munge",
        "the authentication service (munge) does not run here, or its key differs from the controller's",
    ),
    (
        "unable to contact slurm|connection refused|connect failure|timed out|zero bytes|standby mode|"
        "communication",
        "the controller is down or out of reach: `scontrol ping` shows it; try again later",
    ),
)

_REFUSED = (
    ("temporarily unable", "the cluster holds as many jobs as it can (MaxJobCount): try again later"),
    ("array specification", "array indices must be below MaxArraySize of `scontrol show config`"),
    ("partition", "set partition in the profile: `sinfo -s` lists them"),
    ("account", "set account in the profile: `sacctmgr show assoc user=$USER` lists yours"),
    ("qos|policy", "set qos in the profile, or lower what it asks for: `sacctmgr show qos` lists limits"),
    ("time", "set time in the profile: `sinfo -s` lists limits"),
    ("memory|node configuration|feature|gres", "no node offers that: check mem, cpus_per_task, options"),
)


def _one_line(text: str) -> str:
    """Return all of a program's output in one line, without its repeated name."""
    lines = (re.sub(r"^(\w+: )?((error|fatal): )?", "", line.strip()) for line in text.splitlines())
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _late(program: str, error: subprocess.TimeoutExpired) -> str:
    text = _one_line((error.stderr or b"").decode(errors="replace"))
    advice = "try again later"
    if program == "sbatch":
        advice = "the job may have been accepted all the same: check with squeue --me before you submit again"
    return f"{program}: no answer within {error.timeout:g} s{f' ({text})' if text else ''}; {advice}"
