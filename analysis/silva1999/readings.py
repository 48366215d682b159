"""Which reading of the paper an experiment took, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.choices import choices, varied
from analysis.study import Study

MEANINGS = {
    "returns": {
        "at_once": "the task of the slot gets its PE back as soon as it wakes",
        "at_decision": "the task of the slot gets its PE back when the task in its place blocks or ends",
        "at_signal": "a task that blocked in its slot waits for its next slot, even if nothing ran instead",
    },
    "waits": {
        "block": "uncoordinated: a task that waits for others gives its PE away",
        "spin": "uncoordinated: a task that waits for others keeps its PE for its quantum",
    },
    "cells": {
        "job": "a cell of the trace diagram is free when its job ends",
        "task": "a cell of the trace diagram is free when its task ends",
    },
    "local_preemption": {
        "false": "a local task runs until it blocks or the clock signal comes",
        "true": "a local task gives way to one of higher priority that wakes",
    },
    "statements.costs": {
        "exponential": "times of local statements and of I/O are exponential",
        "regular": "all local statements take the same time, and so does all I/O",
    },
    "statements.spacing": {
        "regular": "as many local statements before a blocking one as told",
        "random": "so many local statements before a blocking one in the mean (geometric)",
    },
}

CHOICES = {
    "policy": (
        "scheme", "slice", "local", "alpha", "beta", "newcomer_priority", "local_preemption", "returns",
        "cells", "waits", "quantum", "central_cost", "horizon",
    ),
    "workload": (
        "model", "machine_sizes", "statements.seconds", "statements.costs", "statements.spacing",
        "statements.io_time", "statements.message_bytes", "statements.barrier_latency", "statements.partners",
    ),
    "machine": ("context_switch", "link_latency", "bandwidth", "link_contention", "disks"),
}  # fmt: skip

TAKEN = (
    (
        "the jobs",
        "are those of Jann's model as fitted to the log of the NASA Ames iPSC/860: the table that the "
        "paper used, of the Cornell SP2, is lost. The paper gives no load; more is offered than the "
        "machine can do, since throughput tells schedulers apart only then. Results can be compared in "
        "direction and rank",
    ),
    (
        "a run",
        "begins with an empty machine and is cut at the horizon; its completed jobs are the throughput. A "
        "replication is a sequence of jobs of its own, the same for all schedulers and horizons",
    ),
    (
        "total idle time",
        "counts PEs that neither compute nor switch: an empty slot, or a task of the slot that waits "
        "with nobody in its place. The sentence of section 3.1 can also mean the time of empty slots and "
        "all waiting of tasks, though their PE does something else meanwhile: drawn and told beside it",
    ),
    (
        "a measure",
        "of a task in a slice (section 2.1) is the share of I/O, or of computation, in the time in which "
        "it went through its statements; time in which it was ready and had no PE is no part of it",
    ),
    (
        "slightly, significant",
        "are numbers, named in each statement: less than 5 %, and more. What becomes of a claim if any "
        "gain counts is in its evidence",
    ),
)


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the paper leaves open and what this dataset took."""
    return [*varied(study), *TAKEN, *choices(study, CHOICES, MEANINGS)]
