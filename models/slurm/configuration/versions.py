"""A table of differences between versions of Slurm, from its sources and from logs of real controllers.

A row names the first version with a behaviour. Tests compare the model with recorded runs of `VALIDATED`
(``tests/slurm/test_versions.py``); versions between them follow the sources.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

FORM = re.compile(r"(\d\d)\.(\d\d)(?:[.-]?\S*)?")
SERIES = (
    "14.03", "14.11", "15.08", "16.05", "17.02", "17.11", "18.08", "19.05", "20.02", "20.11", "21.08",
    "22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05",
)  # fmt: skip
"""Releases of Slurm with keys that are known here; each has corrections, such as 22.05.8."""

LATER = re.compile(r"2[6-9]\.(?:05|11)")
"""Releases after these, two a year."""

IN_COMMENT = re.compile(
    r"^\s*#.*?\bslurm(?:[ _-]version)?[ :=v-]+"
    rf"((?:{'|'.join(map(re.escape, SERIES))}|{LATER.pattern})(?:\.\d+)?)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A comment of slurm.conf that names the version: ``# Slurm 23.11.4``."""

OF_LOG = re.compile(r"sacct\b.*, version (\d\d\.\d\d\S*)$")
"""A form of a log, see `models.jobs.trace.Origin`, that names the version."""


class Version(NamedTuple):
    """A version of Slurm, ``24.11.5``: year and month of its series, and how it was written."""

    year: int
    month: int
    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a version of a known series or a later one; ``ValueError`` for another text."""
        found = FORM.fullmatch(text.strip())
        series = f"{found[1]}.{found[2]}" if found else ""
        if series not in SERIES and not LATER.fullmatch(series):
            raise ValueError(
                f"{', '.join(SERIES)}, or a correction of one such as 22.05.8; later ones up to 29.11 have "
                f"the rules of {SERIES[-1]}"
            )
        year, month = series.split(".")
        return cls(int(year), int(month), text.strip())

    def has(self, since: str) -> bool:
        """Return whether the version belongs to a series or is later."""
        return self[:2] >= Version.of(since)[:2]


ASSUMED = Version.of("22.05.8")
"""Where nothing names a version."""

VALIDATED = ("22.05.8", "24.11.5", "26.05.5")
"""Versions with which the model was compared, start by start."""

DEFAULTS = (
    ("", "PriorityType", "priority/basic"),
    ("23.11", "PriorityType", "priority/multifactor"),
    ("", "SelectType", "select/linear"),
    ("23.11", "SelectType", "select/cons_tres"),
    ("22.05", "SelectTypeParameters", "CR_Core_Memory"),
)
"""First version, key of slurm.conf, and its value where the file does not set it (src/common/read_config.h;
parameters: src/plugins/select/cons_tres)."""

RULES: Mapping[str, tuple[str, Any, Any]] = {
    "merges_lines": ("23.02", False, True),
    "off_by_weight": ("23.02", False, True),
    "switch_cpus": ("23.02", False, True),
    "whole_seconds": ("23.11", False, True),
    "asked_sharing": ("23.11", False, True),
    "completing_last": ("23.11", False, True),
    "always_decays": ("23.11", False, True),
    "block_counts": ("24.05", False, True),
    "checks_change": ("23.02", False, True),
    "later_checks": ("24.05", False, True),
    "token_rates": ("24.05", False, True),
    "counts_active": ("24.05", False, True),
    "switch_counts": ("24.11", False, True),
    "first_with_few": ("24.11", False, True),
    "rounds_up": ("24.11", False, True),
    "ends_pass": ("24.11", False, True),
    "bounded": ("24.11", False, True),
    "booting_last": ("25.05", False, True),
    "ended_at": ("25.05", False, True),
    "reads_yaml": ("25.05", False, True),
    "any_segment": ("25.11", False, True),
    "last_relevant": ("25.05", False, True),
    "one_by_one": ("25.11", False, True),
    "in_use": ("25.11", False, True),
    "first_node": ("26.05", False, True),
    "ignores_segment": ("26.05", False, True),
    "tests_on": ("26.05", False, True),
}
"""Rule of the scheduler: first version with it, its value before, and its value from then on.

merges_lines
    Whether lines of nodes that are alike count as one (`consolidate_config_list`).
off_by_weight
    Whether nodes that are powered down, which come last, are taken in the order of their weights; otherwise
    nodes of lines that are powered down entirely come before the rest.
checks_change
    Whether nodes have changed when a check has powered some down or boots them: another check and a backfill
    cycle are due.
later_checks
    Whether idle nodes are checked again after more than ten seconds, or a change of a node in a later second
    than the last check's, else after ten seconds or a change in that second (src/slurmctld/power_save.c).
token_rates
    Whether each period of a minute by SuspendRate or ResumeRate adds a token, up to as many as ten seconds
    have, and each node takes one; before, the number of nodes decayed within a minute.
counts_active
    Whether busy nodes count among those that SuspendExcNodes=nodes:count keeps up, else only idle ones.
booting_last
    Whether jobs get nodes that boot after those that are up, and before those that are powered down.
whole_seconds
    Whether the background thread waits until the next whole second (src/slurmctld/controller.c), instead of
    ten times 0.1 s.
asked_sharing
    Whether jobs that share no core avoid a node with jobs of another partition that lets several jobs have a
    core only if a job there shares cores or asks for that, and never in plans; before they always did.
in_use
    Whether that partition needs to have a core of the node now, else ever, with `asked_sharing`.
switch_cpus
    Whether CPUs decide which switches of a tree have room for a job, else nodes alone.
switch_counts
    Whether nodes that a job has got already count no longer at the switches above them.
block_counts
    Whether all free nodes of a block count when the smallest one is chosen, else only as many smaller
    blocks as the job may use.
first_with_few
    Whether by switches and blocks the first node with few CPUs is left out where a job fits on no selection
    with it, before `one_by_one`; else all with that number of CPUs at once.
reads_yaml
    Whether topology.yaml takes precedence over TopologyPlugin.
any_segment
    Whether a segment may have more nodes than a base block.
ignores_segment
    Whether a segment with more nodes than its job has no effect, else such a job never starts.
completing_last
    Whether backfill takes nodes that are completing, which cannot start a job, after the others of their
    weight.
always_decays
    Whether `priority/multifactor` calculates priorities again each PriorityCalcPeriod also without slurmdbd
    (`priority_p_thread_start`).
rounds_up
    Whether ends of plans, and of whole nodes of running jobs, are rounded up to bf_resolution, else down.
ends_pass, tests_on
    Whether a component of a heterogeneous job ends a pass of the main scheduler where a job has stopped its
    partition before; whether jobs behind it are tested all the same (seen on 26.05.5; 26.05.3 ends the pass).
bounded
    Whether a job is tested from the beginning of its window, with the jobs gone that end before, until the
    next change of the plan and no further (`will_run_data_t`); a window without such a change ends with the
    second segment after it.
ended_at
    Whether jobs that are expected to end in the second in which a job is tested are gone then, with
    `bounded`; else those that are expected to end before.
last_relevant
    Whether a planned start is the end of the last running job that has one of the picked nodes, else of the
    last one that was taken out.
one_by_one
    Whether nodes with few CPUs are left out one by one where a job fits on no selection with them, else all
    with that number of CPUs at once.
first_node
    Whether a job of one node gets the first one with room for it, else the one that it fits best.
"""


def rules(version: Version | None) -> dict[str, Any]:
    """Return the rules of a version by name, or those for `ASSUMED` if there is none."""
    known = version or ASSUMED
    return {name: then if known.has(since) else before for name, (since, before, then) in RULES.items()}


def defaults(version: Version | None, given: Mapping[str, str], counts_memory: bool) -> dict[str, str]:
    """Return the values of keys that a slurm.conf does not set, by key in lower case.

    Memory counts only if its nodes have some (`counts_memory`). Without a version, `select/cons_tres` is
    assumed, which all sites set or have by default since 23.11.
    """
    known = version or ASSUMED
    made = {key.lower(): text for since, key, text in DEFAULTS if not since or known.has(since)}
    if version is None:
        made["selecttype"] = "select/cons_tres"
    plain = "cons_tres" not in given.get("selecttype", made["selecttype"])
    if plain or not counts_memory:
        made.pop("selecttypeparameters", None)
    return {key: text for key, text in made.items() if not given.get(key)}


def note(name: str, version: Version | None, form: str = "") -> str:
    """Return a line on the version of a slurm.conf, and on the versions that were compared with a real Slurm.

    The form of the log may name the version that printed it, `OF_LOG`: the user is asked for it, since it is
    only a guess.
    """
    compared = f"the model was validated against {', '.join(VALIDATED)}"
    if version is not None:
        rules = f" with the rules of {SERIES[-1]}" * (version[:2] > Version.of(SERIES[-1])[:2])
        return f"{name}: Slurm {version.text}{rules}; {compared}"
    remedy = "add policy.slurm_version=24.11, or the version that scontrol show config prints"
    if printed := OF_LOG.search(form):
        remedy = f"Slurm {printed[1]} printed the log: add policy.slurm_version={printed[1]}"
    return f"{name}: it does not name its version, so Slurm {ASSUMED.text} is assumed ({remedy}); {compared}"
