"""The slurm.conf of a test cluster: emulated nodes on loopback, everything in one folder."""

from __future__ import annotations

import os
import pwd
import random
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from slurm.commands import SlurmError

PORTS = range(20000, 32000)
"""Below the ports that the kernel gives to outgoing connections."""

CONFIGURATION = """\
ClusterName=testcluster
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits as long as its old credential is valid: 6 s; below 5 Slurm takes its default, 2 min.
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


def configuration(
    folder: Path, controller: int, nodes: Mapping[str, int], hardware: str, settings: Mapping[str, object]
) -> str:
    """Return the text of slurm.conf.

    Parameters
    ----------
    folder : Path
    controller : int
        Its port.
    nodes : mapping of str to int
        Names and ports.
    hardware : str
        What each node pretends to have, e.g. ``CPUs=4 RealMemory=4000``.
    settings : mapping
        Lines that are added, or take the place of others.
    """
    host, user = socket.gethostname().partition(".")[0], pwd.getpwuid(os.getuid()).pw_name
    base = CONFIGURATION.format(host=host, user=user, folder=folder).splitlines()
    lines = [line for line in base if line.partition("=")[0] not in settings]
    lines += [f"{key}={value}" for key, value in {"SlurmctldPort": controller, **settings}.items()]
    for node, port in nodes.items():
        lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {hardware}")
    names = ",".join(nodes)
    lines.append(f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP")
    lines.append(f"PartitionName=short Nodes={names} MaxTime=1 State=UP")
    return "\n".join(lines) + "\n"


def free_ports(number: int, ports: Sequence[int] = PORTS) -> list[int]:
    """Return ports of loopback that nobody listens on at this moment, chosen by chance.

    Raises
    ------
    SlurmError
        If there are not so many.
    """
    found: list[int] = []
    for port in random.sample(ports, len(ports)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == number:
            return found
    raise SlurmError(f"{number} free ports are needed, {len(found)} of {len(ports)} are free; end something")


def listens(port: int) -> bool:
    """Whether somebody listens on a port of loopback."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
