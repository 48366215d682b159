"""Why a job is pending: Slurm's reasons, divided into temporary and permanent ones."""

import re

HOPELESS = {
    "PartitionNodeLimit": "it asks for more nodes than the partition has or allows",
    "PartitionConfig": "the partition does not offer what it asks for: lower cpus_per_task, mem or time",
    "PartitionTimeLimit": "its time is above the partition's limit: lower time, or name another partition",
    "PartitionDown": "the partition accepts jobs but starts none until an administrator brings it up again",
    "PartitionInactive": "the partition is switched off: name another one",
    "BadConstraints": "no node can ever fulfil what it asks for: check mem, cpus_per_task and options",
    "DependencyNeverSatisfied": "it waits for a job that failed: cancel it and submit it again",
    "JobHeldAdmin": "an administrator holds it: ask why",
    "JobHeldUser": "it is held: scontrol release starts it",
    "JobHoldMaxRequeue": "it was requeued too often and is held: read its log, then scontrol release",
    "launch failed requeued held": "it could not be started, or the controller lost sight of it, and is held",
    "AccountNotAllowed": "the partition does not accept this account: set account in the profile",
    "InvalidAccount": "there is no such account: set account in the profile",
    "InvalidQOS": "there is no such QOS: set qos in the profile",
    "QOSNotAllowed": "the partition or account does not accept this QOS: set qos in the profile",
    "AssociationTimeLimit": "its time is above your account's limit: lower time",
    "QOSTimeLimit": "its time is above the QOS's limit: lower time",
    "MaxMemPerLimit": "its memory is above the limit: lower mem",
    "ReservationDeleted": "the reservation it asks for no longer exists: remove it from options",
    "ReservationInvalid": "the reservation it asks for is not valid: remove it from options",
    "DeadLine": "it cannot end before its deadline",
}
"""Reason -> its meaning and what to do; waiting does not help."""

_PER_JOB = re.compile(r"(QOS|Assoc)(Max\w+Per(Job|Node)(Limit)?|Min\w+)")
"""Limits on a single job, which never become free, unlike limits on all jobs of a user or group."""


def hopeless(reason: str) -> str | None:
    """Return why a pending job will never start by itself, or None if its reason may pass.

    Parameters
    ----------
    reason : str
        As ``squeue -o %r`` shows it.

    Examples
    --------
    >>> hopeless("Resources")
    >>> hopeless("QOSMaxCpuPerJobLimit")
    'a limit on single jobs does not allow what it asks for: check cpus_per_task, mem and time'
    """
    name = reason.partition(",")[0].strip()
    if _PER_JOB.fullmatch(name):
        return "a limit on single jobs does not allow what it asks for: check cpus_per_task, mem and time"
    return HOPELESS.get(name)
