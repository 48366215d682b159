"""A throw-away Slurm on this machine: a controller and emulated nodes on loopback, in one temporary folder.

``python -m slurm.testcluster [nodes=2] [cpus=4]`` starts one and keeps it until Ctrl-C, to try a sweep
before a real cluster runs it. Daemons are children of this process in the foreground, and are killed with it.
"""

import os
import pwd
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from models.slurm.configuration.reading import TOPOLOGIES
from slurm.commands import KEPT, Slurm, SlurmError, UnreachableError, environment

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scontrol", "sinfo", "scancel", "setpriv")
PACKAGES = "slurmctld slurmd slurm-client munge"  # of Debian and Ubuntu
OF_ACCOUNTING = ("slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db")

PROFILE = Path(__file__).with_suffix(".yaml")

PATIENCE_S = 120
"""Seconds that a daemon may take to start or to end on a busy machine; a start takes 0.2 to 1.2."""

PLACES = ("usr/local/sbin", "usr/sbin", "sbin", "usr/local/bin", "usr/bin", "bin")

MARK = "SCHEDSWEEP_TESTCLUSTER"
"""Environment variable of every daemon, inherited by the job managers that it starts: FOLDER NODE."""

CONFIGURATION = """\
ClusterName=testcluster
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits until its old credential is invalid: 6 s. Below 5 Slurm uses its default, 2 min.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=3
MinJobAge=300
CompleteWait=0
JobRequeue=1
"""

RESUME = """\
#!/bin/sh
[ "$OWN_SESSION" ] || OWN_SESSION=1 exec setsid --wait "$0" "$@"
export PATH={path}
sleep {boot_time}
for node in $(scontrol show hostnames "$1"); do
    {mark}="{folder} $node" slurmd -D -b -N "$node" > {folder}/log/"$node".boot 2>&1 &
done
"""
SUSPEND = """\
#!/bin/sh
export PATH={path}
for node in $(scontrol show hostnames "$1"); do
    kill -9 "$(cat {folder}/slurmd."$node".pid)"
done
"""
"""Programs that start and end the daemons of nodes; one that boots says so (``-b``). The first one has a
session of its own, since Slurm 24.11 kills its process group when it ends."""

DATABASE = """\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
"""
"""slurmdbd.conf; MariaDB is found by its socket, which the environment names."""


def missing(accounting: bool = False, root: Path | None = None) -> str:
    """Return what is not installed and how to install it; empty if everything is installed.

    Accounting needs a database and, for jobs of several users, root. `root` as `TestCluster` has it.
    """
    packages = PACKAGES + " slurmdbd mariadb-server" * accounting
    wanted = [*PROGRAMS, *OF_ACCOUNTING] if accounting else [*PROGRAMS]
    absent = [program for program in wanted if not find(program, root)]
    if root is not None and os.getuid():
        return f"only root can run the programs of {root} (chroot)"
    if absent and root is not None:
        return f"not in {root}: {', '.join(absent)}; on Debian: chroot {root} apt-get install {packages}"
    if absent:
        return f"not installed: {', '.join(absent)}; on Debian: apt-get install {packages}"
    return "only root can submit jobs as several users" if accounting and os.getuid() else ""


def find(program: str, root: Path | None = None) -> str | None:
    """Return the path of a program, also of daemons, whose folders are not in a user's search path."""
    if root is not None:
        return shutil.which(program, path=os.pathsep.join(str(root / folder) for folder in PLACES))
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *(f"/{folder}" for folder in PLACES)])
    return shutil.which(program, path=path)


def free_ports(number: int) -> list[int]:
    """Return free ports of loopback; they are held open together, so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class TestCluster:
    """A Slurm of its own, used as a context manager; several may run side by side.

    Partitions are ``main`` (the default, no time limit) and ``short`` (1 minute), nodes ``n1``, ``n2``, ...
    Jobs run as the user that starts the cluster, on this machine's cores, whatever number the nodes claim.

    Parameters
    ----------
    nodes, cpus : int
        Number of nodes, and the cores that each claims to have.
    further : sequence of str
        Further settings in the line of each node, resources last: ``Feature=fast Gres=disk:2``.
    settings : mapping, optional
        Lines of slurm.conf that are added to `CONFIGURATION` or replace lines of it.
    wrap : sequence of str
        Command that starts each node's daemon, e.g. ``("unshare", "-m")``.
    partitions : sequence of str
        Lines of slurm.conf that replace the two partitions.
    associations : str
        What ``sacctmgr load`` reads, accounts and users of the cluster ``testcluster``: the cluster has a
        database then (slurmdbd and MariaDB, which listen on a port of their own and on a socket).
    qos : sequence of str
        What ``sacctmgr add qos`` reads, a name and options for each.
    switches : sequence of str
        Lines of topology.conf, or of a topology.yaml.
    boot_time : int
        Seconds that a node takes to boot; unless 0, the programs that power saving calls are added.
    root : Path, optional
        Folder of another system with another Slurm: all programs, and therefore the jobs, run in it (chroot).
    """

    __test__ = False  # pytest would collect a class of this name

    def __init__(
        self,
        *,
        nodes: int = 2,
        cpus: int = 4,
        further: Sequence[str] = (),
        settings: Mapping[str, object] | None = None,
        wrap: Sequence[str] = (),
        partitions: Sequence[str] = (),
        associations: str = "",
        qos: Sequence[str] = (),
        switches: Sequence[str] = (),
        boot_time: int = 0,
        root: Path | None = None,
    ) -> None:
        self._root = root
        self._switches, self._boot_time = switches, boot_time
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.nodes = [f"n{number + 1}" for number in range(nodes)]
        hardware = f"CPUs={cpus} RealMemory=4000 State=UNKNOWN"
        self._hardware = [f"{hardware} {more}".rstrip() for more in further or [""] * nodes]
        self._settings = {"MaxArraySize": 1001, "MaxJobCount": 10000, **(settings or {})}
        self._wrap = wrap
        self._partitions = partitions
        self._associations, self._qos = associations, qos
        clean = {key: value for key, value in environment(os.environ).items() if key not in KEPT}
        self.env = {**clean, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.env["MYSQL_UNIX_PORT"] = str(self.folder / "database.socket")
        if root is not None:
            self._enter(root)
        self.slurm = Slurm(self.env)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        try:
            for name in ("state", "log", *(f"spool.{node}" for node in self.nodes)):
                (self.folder / name).mkdir()
            key = self.folder / "munge.key"
            key.touch(mode=0o600)
            key.write_bytes(secrets.token_bytes(1024))
            files = {"key-file": key.name, "socket": "munge.socket", "pid-file": "munged.pid"}
            files |= {"seed-file": "munged.seed", "log-file": "log/munged.log"}
            paths = [f"--{option}={self.folder / file}" for option, file in files.items()]
            # Forced: munged objects to a socket that other users cannot reach, but that is intended here.
            self._start("munged", ["munged", "--foreground", "--force", "--num-threads=2", *paths])
            self._wait("munged", (self.folder / "munge.socket").exists)
            self._configure()
            if self._associations:
                self._start_database()
            self.start_controller()
            for node in self.nodes:
                self._start_daemon(node)
            self.wait_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all daemons and jobs, as a power failure would."""
        try:
            self._end(*self._running)
            self._kill_jobs()
        finally:
            if self._root is not None:
                shutil.rmtree(self._root / str(self.folder).lstrip("/"), ignore_errors=True)
                self.folder.unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _enter(self, root: Path) -> None:
        """Make programs that are called by their names run within another system; a link here gives the
        folder the same path."""
        inside = root / str(self.folder).lstrip("/")
        inside.mkdir(parents=True)
        self.folder.rmdir()
        self.folder.symlink_to(inside)
        programs = self.folder / "programs"
        programs.mkdir()
        for program in (*PROGRAMS, *OF_ACCOUNTING):
            if (found := find(program, root)) and program != "setpriv":
                within = shlex.quote(f"/{Path(found).relative_to(root)}")
                text = f'#!/bin/sh\nexec chroot {shlex.quote(str(root))} {within} "$@"\n'
                (programs / program).write_text(text, encoding="utf-8")
                (programs / program).chmod(0o755)
        self.env["PATH"] = os.pathsep.join([str(programs), self.env.get("PATH", os.defpath)])

    def _program(self, name: str) -> str:
        """Return the path of a program of this cluster."""
        own = self.folder / "programs" / name
        return str(own) if own.exists() else find(name) or name

    def _configure(self) -> None:
        host, user = socket.gethostname().partition(".")[0], pwd.getpwuid(os.getuid()).pw_name
        self._port, self._database_port, *ports = free_ports(2 + len(self.nodes))
        base = CONFIGURATION.format(host=host, user=user, folder=self.folder, port=self._port).splitlines()
        settings = {**self._settings}
        if self._associations:
            settings |= {
                "AccountingStorageType": "accounting_storage/slurmdbd",
                "AccountingStorageHost": "127.0.0.1",
                "AccountingStoragePort": self._database_port,
                "AccountingStoragePass": self.folder / "munge.socket",
            }
            file = self.folder / "slurmdbd.conf"
            file.touch(mode=0o600)
            file.write_text(
                DATABASE.format(user=user, folder=self.folder, port=self._database_port), encoding="utf-8"
            )
        if self._boot_time:
            settings |= self._power_programs()
        lines = [line for line in base if line.partition("=")[0] not in settings]
        lines += [f"{key}={value}" for key, value in settings.items()]
        resources = []
        for node, port, hardware in zip(self.nodes, ports, self._hardware, strict=True):
            address = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            lines.append(f"NodeName={node} {address} {hardware}")
            _, _, devices = hardware.partition(" Gres=")
            if devices:
                name, _, count = devices.rpartition(":")
                resources.append(f"NodeName={node} Name={name} Count={count}\n")
        (self.folder / "gres.conf").write_text("".join(resources), encoding="utf-8")
        if self._switches:
            name = TOPOLOGIES[self._switches[0].startswith("-")]
            (self.folder / name).write_text("\n".join(self._switches) + "\n", encoding="utf-8")
        names = ",".join(self.nodes)
        lines += self._partitions or (
            f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP",
            f"PartitionName=short Nodes={names} MaxTime=1 State=UP",
        )
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _power_programs(self) -> dict[str, object]:
        """Write the programs of power saving; return the settings that name them."""
        # The controller calls them within its own system, where the scripts of `_enter` do not work.
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), *(f"/{folder}" for folder in PLACES)])
        given = {"path": shlex.quote(path), "folder": self.folder, "mark": MARK}
        for name, text in (("resume", RESUME), ("suspend", SUSPEND)):
            program = self.folder / name
            program.write_text(text.format(boot_time=self._boot_time, **given), encoding="utf-8")
            program.chmod(0o755)
        return {"ResumeProgram": self.folder / "resume", "SuspendProgram": self.folder / "suspend"}

    def _start_database(self) -> None:
        """Start MariaDB and slurmdbd with the accounts and QOS, which the controller reads when it starts."""
        self.folder.chmod(0o711)  # scripts of other users' jobs are in it
        place = [f"--datadir={self.folder / 'database'}", "--user=root"]
        self._run("mariadb-install-db", "--no-defaults", "--skip-test-db", *place)
        # With Connector/C 3.4, the version of Debian 13, slurmdbd ends if its database does not exist.
        (self.folder / "database" / "slurm_acct_db").mkdir(exist_ok=True)
        listens = [f"--socket={self.env['MYSQL_UNIX_PORT']}", "--skip-networking", "--skip-grant-tables"]
        self._start("mariadbd", ["mariadbd", "--no-defaults", *place, *listens])
        self._wait("mariadbd", Path(self.env["MYSQL_UNIX_PORT"]).exists)
        self._start("slurmdbd", ["slurmdbd", "-D"])
        self._wait("slurmdbd", lambda: self._listens(self._database_port))
        for words in self._qos:
            self._run("sacctmgr", "-i", "add", "qos", *words.split())
        dump = self.folder / "associations.cfg"
        dump.write_text(self._associations, encoding="utf-8")
        self._run("sacctmgr", "-i", "load", f"file={dump}")

    def _run(self, program: str, *arguments: str) -> str:
        """Return what a program prints; raise `SlurmError` if it fails."""
        command = [self._program(program), *arguments]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise SlurmError(f"test cluster: {program} failed: {''.join(last)}")
        return done.stdout

    def accounting(self) -> str:
        """Return the accounts, users and QOS as Slurm prints them, for a configuration to include."""
        dump = self.folder / "dump.cfg"
        self._run("sacctmgr", "-i", "dump", "testcluster", f"file={dump}")
        return dump.read_text(encoding="utf-8") + self._run("sacctmgr", "-P", "show", "qos")

    def _start(self, name: str, command: Sequence[str]) -> None:
        """Start a daemon in the foreground; the kernel kills it when this process ends."""
        with open(self.folder / "log" / f"{name}.out", "wb") as out:
            self._running[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self._program(command[0]), *command[1:]],
                env={**self.env, MARK: f"{self.folder} {name}"},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is sent to this process only
            )

    def _start_daemon(self, node: str) -> None:
        self._start(node, [*self._wrap, self._program("slurmd"), "-D", "-N", node])

    def _end(self, *names: str) -> None:
        for name in names:
            daemon = self._running.pop(name)
            daemon.kill()
            daemon.wait(PATIENCE_S)

    def processes(self, node: str = "") -> Iterator[int]:
        """Yield the living processes of the cluster, or of one node: daemons, job managers and jobs."""
        mark = f"{MARK}={self.folder} {node}".encode()
        job = {
            f"SLURM_CONF={self.env['SLURM_CONF']}".encode(),
            *([f"SLURMD_NODENAME={node}".encode()] * bool(node)),
        }
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or belongs to another user
                found = (entry / "environ").read_bytes().split(b"\0")
                # A user's own commands have SLURM_CONF as well, but no job number.
                is_job = job.issubset(found) and any(each.startswith(b"SLURM_JOB_ID=") for each in found)
                if is_job or any(each.startswith(mark) for each in found):
                    yield int(entry.name)

    def _kill_jobs(self, node: str = "") -> None:
        deadline = time.monotonic() + PATIENCE_S
        # Repeated until none is found: a process may have started another one in the meantime.
        while found := [number for number in self.processes(node) if number != os.getpid()]:
            if time.monotonic() > deadline:
                raise SlurmError(f"test cluster: processes {found} do not end; kill them by hand")
            for number in found:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.01)

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        """Return when ``ready`` holds; raise `SlurmError` if it takes too long or a daemon ends."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for each, daemon in self._running.items():
                if daemon.poll() is not None:
                    raise SlurmError(f"test cluster: {each} ended ({self._last_line(each)})")
            with suppress(UnreachableError, OSError):  # it is not ready yet
                if ready():
                    return
            if time.monotonic() > deadline:
                raise SlurmError(f"test cluster: {name} not ready in time ({self._last_line(name)})")
            time.sleep(0.02)

    def _last_line(self, name: str) -> str:
        log = self.folder / "log" / f"{name}.out"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        errors = [line for line in lines if re.search("fatal|unable|cannot|address", line, re.IGNORECASE)]
        return (errors or lines or ["empty log"])[-1].strip()

    def _listens(self, port: int) -> bool:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True

    def kill_controller(self) -> None:
        """Kill the controller. Jobs continue; commands fail after about 9 s.

        The controller forgets the last seconds: jobs that were just submitted vanish and their ids are used
        again, and jobs that were just started are started again.
        """
        self._end("slurmctld")

    def start_controller(self) -> None:
        """Start the controller and return when it listens; nodes report after some seconds (`wait_idle`)."""
        self._start("slurmctld", ["slurmctld", "-D"])
        self._wait("slurmctld", lambda: self._listens(self._port))

    def kill_node(self, number: int) -> None:
        """Kill a node's daemon and all of its jobs, and report it as down; 1 is ``n1``.

        The controller requeues the jobs at once; by itself it would notice after 25 to 30 s.
        """
        node = self.nodes[number - 1]
        self._end(node)
        self._kill_jobs(node)
        self.slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")

    def start_node(self, number: int) -> None:
        """Start a killed node again, and return when it is up."""
        node = self.nodes[number - 1]
        self._start_daemon(node)
        self._wait(node, lambda: self.states().get(node) in ("idle", "mixed", "allocated"))

    def states(self) -> dict[str, str]:
        """Return every node's state, e.g. idle, mixed, down*."""
        lines = self.slurm.run("sinfo", "-h", "-N", "-o", "%N|%T").splitlines()
        return dict(line.split("|", 1) for line in lines)

    def wait_idle(self) -> None:
        """Return when every node is up and runs nothing."""
        idle = dict.fromkeys(self.nodes, "idle")
        self._wait("slurmctld", lambda: self.states() == idle)

    def clear(self) -> None:
        """Cancel every job and return when the nodes are idle: the next test begins with an empty cluster."""
        self.slurm.cancel({job.id for job in self.slurm.jobs()})
        self.wait_idle()


if __name__ == "__main__":
    options: dict[str, Any] = {
        key: int(value) for key, _, value in (word.partition("=") for word in sys.argv[1:])
    }
    with TestCluster(**options) as cluster, suppress(KeyboardInterrupt):
        print(
            f"Slurm runs. In another shell:\n\n  export SLURM_CONF={cluster.env['SLURM_CONF']}\n", flush=True
        )
        print(f"Its profile is slurm={PROFILE}; Ctrl-C here ends it and all its jobs.", flush=True)
        signal.pause()
