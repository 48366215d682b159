"""The facts at the beginning of a report: the logs, the machines, the assumptions, the runs.

All of them are in the dataset (`sweep.store.facts`); those that a dataset lacks are left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from analysis.study import Study, recorded
from analysis.study.curve import EXCLUDED
from models.counting import counted
from sweep.config.nested import leaves
from sweep.numbers import number, time_unit
from sweep.policy_names import named
from sweep.store import provenance

Fact = tuple[str, Sequence[str]]
"""A label, and one or more lines."""

MOST = 6
"""Largest number of logs, workloads or machines that are listed one by one."""

NO_WAITS = "the log records no waits, so simulated policies cannot be compared with its site"


def facts(study: Study) -> list[Fact]:
    """Return the facts of a study in order."""
    if study.is_program:
        return [("Run", list(_run(study)))]
    logs = study.facts.get("logs", [])
    found = _of_logs(study, logs[:MOST])
    load: Fact = ("Load", [_load(study, logs)])
    if len(logs) > MOST:
        found.append(("More logs", [f"{len(logs) - MOST} more, at other values of the same axes"]))
    if not logs:
        found += [("Workload", lines)] if (lines := _named(study, "workload")) else []
    if len(logs) != 1 and (lines := _named(study, "machine")):
        found.append(("Machine", lines))
    # With one log, before the values that it recorded at its own load.
    found.insert(-1 if len(logs) == 1 else len(found), load)
    if faults := study.facts.get("faults"):
        found.append(("Logs that could not be read", [sentence(fault) for fault in faults]))
    if lines := notes(study):
        found.append(("Assumed", lines))
    if lines := list(_set(study)):
        found.append(("Set", lines))
    return [*found, ("Run", list(_run(study)))]


def policies(study: Study) -> list[tuple[str, str]]:
    """Return every policy with its description from its file; empty if unknown."""
    known = study.facts.get("described", {}).get("policy", {})
    return [(named(policy), sentence(known.get(policy, ""))) for policy in study.policies] if known else []


def notes(study: Study) -> list[str]:
    """Return the notes of the run: values that were filled in, drawn, cut, and jobs that were killed."""
    names = {log["file"] for log in study.facts.get("logs", [])}
    found = list(study.facts.get("notes", []))
    if len(names) == 1:
        found = [note.removeprefix(f"{next(iter(names))}: ") for note in found]
    return [sentence(note) for note in found]


def as_it_was(study: Study, log: Mapping[str, Any]) -> str:
    """Return the waits that a log recorded, as a sentence."""
    if not log["waits"]:
        return sentence(NO_WAITS)
    wait, p95, most = (
        recorded.mean(study, name, log["at"]).mean for name in ("wait", "wait_p95", "wait_max")
    )
    if math.isnan(wait):
        return sentence("the log records waits, but this study does not measure any")
    parts = [f"mean wait {_time(study, 'wait', wait)}"]
    parts += (
        [] if math.isnan(p95) else [f"95th percentile {_time(study, 'wait_p95', p95)} (mean over batches)"]
    )
    parts += [] if math.isnan(most) else [f"longest {_time(study, 'wait_max', most)}"]
    slowdown = recorded.mean(study, "bounded_slowdown", log["at"]).mean
    parts += [] if math.isnan(slowdown) else [f"mean bounded slowdown {number(slowdown)}"]
    if log["waits"] < log["jobs"]:
        parts.append(f"over the {counted(log['waits'], 'job')} whose wait it records")
    return sentence(", ".join(parts))


def sentence(text: str) -> str:
    """Return a text as a sentence: with a capital, unless it begins with a name, and a full stop."""
    if not text:
        return ""
    first = text.partition(" ")[0]
    begun = text[0].upper() + text[1:] if first.isalpha() else text
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


def days(number_of: float) -> str:
    """Return a number of days in words."""
    return f"{number(24 * number_of)} hours" if number_of < 2 else f"{number_of:,.0f} days"


def _of_logs(study: Study, logs: Sequence[Mapping[str, Any]]) -> list[Fact]:
    """Return the facts of each log, once if several share them: one log on several machines, for example.

    The label has their common values on the axes along which they differ.
    """
    places: list[dict[str, str]] = [dict(log["at"]) for log in logs]
    every = [dict(_of_log(study, log)) for log in logs]
    differing = [axis for axis in (places[0] if places else {}) if len({at.get(axis) for at in places}) > 1]
    found: dict[str, Fact] = {}
    for place, own in zip(places, every, strict=True):
        for subject, lines in own.items():
            alike = [i for i, other in enumerate(every) if other[subject] == lines]
            shared = _shared([places[i] for i in alike], differing)
            if [i for i, at in enumerate(places) if shared.items() <= at.items()] != alike:
                shared = _shared([place], differing)
            label = ", ".join([subject, *(f"{axis} {value}" for axis, value in shared.items())])
            found[label] = (label, lines)
    if len({log["file"] for log in logs}) > 1:
        return list(found.values())
    subjects = list(every[0]) if every else []
    return sorted(found.values(), key=lambda fact: subjects.index(fact[0].partition(",")[0]))


def _shared(places: Sequence[Mapping[str, str]], axes: Sequence[str]) -> dict[str, str]:
    """Return the values on some axes that all these places have."""
    first, *others = places
    return {axis: first[axis] for axis in axes if all(at[axis] == first[axis] for at in others)}


def _of_log(study: Study, log: Mapping[str, Any]) -> Iterator[Fact]:
    system = f", {log['system']}" if log["system"] else ""
    yield "Log", [f"{log['file']} ({log['form']}){system}."]
    yield "Period", [_period(log)]
    yield "Jobs", [sentence(log["account"].removeprefix(f"{log['file']}: "))]
    machine = _machine(study, log["at"].get("machine", ""))
    own = counted(log["processors"], "processor")
    yield "Machine", [sentence(machine if machine and own in machine else own)]
    yield "As recorded", [as_it_was(study, log)]


def _period(log: Mapping[str, Any]) -> str:
    if log["zero"] is None:
        return f"{days(log['days'])} of submissions; the log has no dates."
    zone = f" ({log['zone']})" if log["zone"] else ""
    return f"{period(log)}{zone}, {days(log['days'])} of submissions."


def period(log: Mapping[str, Any]) -> str:
    """Return the first and the last day of a log's submissions; empty if it has no dates."""
    if log["zero"] is None:
        return ""
    first = datetime.fromtimestamp(log["zero"], UTC)
    return f"{first:%Y-%m-%d} to {first + timedelta(days=log['days']):%Y-%m-%d}"


def _named(study: Study, group: str) -> list[str]:
    """Return each file of a group in a line."""
    known = study.facts.get("described", {}).get(group, {})
    names = list(study.config.get(group, {}))
    lines = []
    for name in names[:MOST]:
        words = [known.get(name, "").removesuffix(".")]
        words += [_machine(study, name)] if group == "machine" else []
        text = "; ".join(word for word in words if word)
        lines.append(f"{name}: {text}." if text else f"{name}.")
    return lines + ([f"And {len(names) - MOST} more."] if len(names) > MOST else [])


def _machine(study: Study, name: str) -> str:
    """Return the size of a machine from its file, if the file has it."""
    keys = study.config.get("machine", {}).get(name) or {}
    if keys.get("hosts"):
        total = sum(int(host["processors"]) for host in keys["hosts"])
        return f"{counted(len(keys['hosts']), 'host')}, {counted(total, 'processor')}"
    for shape in ("mesh", "torus"):
        if keys.get(shape):
            return f"{shape} of {keys[shape]} processors"
    return counted(keys["processors"], "processor") if keys.get("processors") else ""


def _load(study: Study, logs: Sequence[Mapping[str, Any]]) -> str:
    """Return the loads of the grid, and the log's own load."""
    natural = sorted({f"{log['load']:.3f}" for log in logs if log["load"] is not None})
    known = f"{natural[0]} to {natural[-1]}" if len(natural) > 1 else "".join(natural)
    given = [load for load in study.values_of("load") if load != "null"]
    asis = f"not rescaled{f', {known}' if known else ''}"
    if not given:
        return sentence(asis if logs else "the workload's own")
    listed = ", ".join(given) if len(given) <= MOST else f"{len(given)} loads from {given[0]} to {given[-1]}"
    if len(given) < len(study.values_of("load")):
        return sentence(f"{asis}; and rescaled to {listed}")
    return sentence(f"rescaled to {listed} (unscaled, {known})" if known else listed)


def _set(study: Study) -> Iterator[str]:
    """Yield the keys that the experiment sets in all files of a group."""
    for group in ("policy", "workload", "machine"):
        # The log's name is already among the facts.
        keys = [
            f"{group}.{key}={_typed(value)}"
            for key, value in leaves(study.settings.get(group) or {})
            if key not in ("path", "family")
        ]
        if keys:
            yield ", ".join(keys)


def _typed(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _run(study: Study) -> Iterator[str]:
    """Yield the points, the samples, and the date."""
    tally = {state: n for state, n in study.tally().items() if state != EXCLUDED}
    total = sum(tally.values())
    counts = ", ".join(f"{n:,} {state}" for state, n in tally.items())
    states = f"all {next(iter(tally))}" if len(tally) == 1 else counts
    axes = [f"{n} {_plural(axis, n)}" for axis, n in _sizes(study).items()]
    points = counted(total, "point") + (f" of {' × '.join(axes)}" if axes else "")
    yield f"{points}: {states}."
    if is_exact(study):
        yield "Solved, not simulated: values are exact."
    else:
        yield f"{replications(study)}; {_batches(study)}."
    made = str(study.data.attrs.get("created", ""))[:10]
    commit = provenance.shown_commit(provenance.known_commit(str(study.data.attrs.get("commit", ""))))
    if made:
        yield f"Made {made}{f', commit {commit}' if commit else ''}, seed {study.settings.get('seed', 0)}."


def is_exact(study: Study) -> bool:
    """Whether all points are solved, so values are not random."""
    return bool(study.exact.any()) and bool((study.exact | (study.status == EXCLUDED)).all())


def _sizes(study: Study) -> dict[str, int]:
    grid = study.settings.get("grid", {})
    return {
        axis: len(values) for axis, values in grid.items() if isinstance(values, list) and len(values) > 1
    }


def _plural(axis: str, n: int) -> str:
    """Return the name of an axis after the number of its values, as far as its plural is known."""
    if n == 1:
        return axis
    known = {"policy": "policies", "workload": "workloads", "load": "loads", "machine": "machines"}
    return known.get(axis, f"values of {axis}")


def replications(study: Study) -> str:
    """Return the number of samples of each point in words."""
    n = int(study.data.sizes.get("replication", 1))
    return "One replication" if n == 1 else f"{n} replications of each point"


def _batches(study: Study) -> str:
    asked, size = study.settings.get("batches"), study.settings.get("batch_size")
    if isinstance(asked, Mapping):
        shown = ", ".join(f"{n} from load {load}" for load, n in asked.items())
        text = f"batches by load ({shown})"
    else:
        text = "one batch" if asked == 1 else f"{asked} batches"
    if size == "week":
        text = f"up to {asked} batches, each a week of the log (a day of a short log)"
    text += " of all jobs, in equal parts" if size is None and asked != 1 else ""
    text += " of all jobs" if size is None and asked == 1 else ""
    text += f" of {counted(size, 'job')}" if isinstance(size, int) and not study.is_program else ""
    warmup = study.settings.get("warmup", 0)
    if warmup == "mser":
        return f"{text}, without the leading batches that MSER identifies as warm-up"
    if isinstance(warmup, Mapping):
        return f"{text}, after a warm-up that depends on the load"
    return text + (f" after {warmup} that {'are' if warmup != 1 else 'is'} discarded" if warmup else "")


def _time(study: Study, metric: str, seconds: float) -> str:
    """Return a recorded time in the unit that the tables use for all policies."""
    simulated = study.data.get(f"{metric}_mean")
    unit = time_unit([seconds] if simulated is None else simulated.values.ravel().tolist())
    return f"{number(seconds / unit.size)}{unit.name}"
