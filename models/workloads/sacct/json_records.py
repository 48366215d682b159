"""Jobs of ``sacct --json`` as rows of the fields of sacct, decoded in blocks: a year of them has gigabytes.

Only the needed values are decoded, by msgspec. Text that it refuses (NaN, or a block that was cut within a
record) is decoded record by record, by Python.

References
----------
``sacct --json`` of Slurm 21.08 to 25.11 (data_parser v0.0.37 to v0.0.44).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Any

from msgspec import Raw, defstruct
from msgspec.json import Decoder

from models.workloads.sacct.fields import Faults
from models.workloads.sacct.rows import LONGEST_LINE, Counts, Record

PER_CPU = 1 << 63
"""The bit of ``required.memory`` (21.08 and 22.05) that marks memory of each CPU."""

NEXT = re.compile(r'\}(\s*,\s*\{\s*"[^"\\]*"\s*:)')
"""The end of a record and the begin of the next one."""

FURTHER = re.compile(r"[^\s,]")
EXPECTED = "is not a job as sacct --json prints it"
END_CHARACTERS = 16
"""An error this near to the end of a block may be due to the end."""


def _struct(title: str, required: dict[str, Any], /, **optional: Any) -> Any:
    """Return a type of record, of which msgspec decodes these fields only."""
    lacking = [(key, kind, Raw(b"null") if kind is Raw else None) for key, kind in optional.items()]
    return defstruct(title, [*required.items(), *lacking], gc=False)


Wrapped = _struct("Wrapped", {"number": int | float}, set=bool | None, infinite=bool | None)
Number = Wrapped | int | float | str | None
Text = str | None
Resource = _struct("Resource", {"type": str, "count": Number}, name=Text)
Resources = _struct("Resources", {}, allocated=Raw, requested=Raw)
MEMORY = ("memory_per_cpu", "memory_per_node", "memory")  # by the version
Required = _struct("Required", {}, **dict.fromkeys(("CPUs", *MEMORY), Number))
INSTANTS = dict.fromkeys(("eligible", "start", "end", "limit"), Number)
Times = _struct("Times", {"submission": Number, "elapsed": Number}, **INSTANTS)
State = _struct("State", {"current": str | list[str]})
Association = _struct("Association", {}, user=Text, partition=Text, cluster=Text, account=Text)
Whole = _struct("Whole", {}, job_id=Number, task_id=Number, task=Text, job_offset=Number)
Reservation = _struct("Reservation", {}, name=Text)
Job = _struct(
    "Job", {"job_id": Number, "time": Times, "state": State},
    user=Text, partition=Text, cluster=Text, account=Text, qos=Text, constraints=Text, submit_line=Text,
    licenses=Text, allocation_nodes=Number, required=Required | None, association=Association | None,
    array=Whole | None, het=Whole | None, reservation=Reservation | None, tres=Resources | None,
)  # fmt: skip

JOB, JOBS = Decoder(Job), Decoder(list[Job])  # type: ignore[valid-type] # types made above
RESOURCES = Decoder(list[Resource] | None)  # type: ignore[valid-type]
PYTHON = json.JSONDecoder(parse_constant=lambda _: None)
FAULTS = (ValueError, TypeError, LookupError, OverflowError)
"""What a value of another form raises."""

Records = tuple[Iterable[int], list[Record]]
"""Lines, of which there may be more, and records."""


def of_json(
    head: bytes, text: bytes, further: Iterator[bytes], counts: Counts, faults: Faults
) -> Iterator[tuple[int, Record]]:
    """Yield the line and the record of each job.

    Parameters
    ----------
    head, text, further : bytes, bytes, iterator of bytes
        The file up to the begin of its list of jobs, some more, and the rest of it.

    Raises
    ------
    SacctError
        The text is not JSON, or is cut.
    """
    line, between, has_ended, is_complete = head.count(b"\n") + 1, b"", False, False
    while not is_complete:
        stop = text.rfind(between) + 1 if between else 0  # what is before are whole records, most likely
        lines, records = _at_once(text, stop, between, line) if stop else ((), [])
        if not records:
            (lines, records), stop, between, is_complete = _one_by_one(text, line, between, has_ended, faults)
        yield from zip(lines, records, strict=False)
        rest = text[stop:].lstrip(b", \t\r\n")
        line += text.count(b"\n", 0, len(text) - len(rest))
        block = next(further, b"")
        has_ended = not block or len(rest) > LONGEST_LINE
        text = rest + block
    counts.version = _version_of((head + text + b"".join(further)).decode(errors="replace"))


def _at_once(text: bytes, stop: int, between: bytes, line: int) -> Records:
    """Return the jobs of the whole records before some place; empty if the text is something else."""
    try:
        jobs = JOBS.decode(b"".join((b"[", memoryview(text)[:stop], b"]")))
        lines: Iterable[int] = repeat(line)
        n_records = len(jobs)
        if text.find(b"\n", 0, stop) >= 0:
            first, per = between[between.index(b"{") :], between.count(b"\n")
            if not text.startswith(first):
                return (), []
            parts = text[len(first) : stop].split(between)
            lines = accumulate((part.count(b"\n") + per for part in parts), initial=line)
            n_records = len(parts)
        records = [*map(_record, jobs)]
        if len(records) == n_records:
            return lines, records
    except FAULTS:
        pass
    return (), []


def _one_by_one(
    text: bytes, line: int, between: bytes, has_ended: bool, faults: Faults
) -> tuple[Records, int, bytes, bool]:
    """Return the jobs of a text as far as they are whole, where that is, what is between two of them, and
    whether the list of jobs ends there.
    """
    decoded = text.decode(errors="surrogateescape")
    lines: list[int] = []
    records: list[Record] = []
    end = start = 0
    while not (is_complete := decoded.startswith("]", start := _begin_of(decoded, end))):
        line += decoded.count("\n", end, start)
        try:
            job, stop = PYTHON.raw_decode(decoded, start)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", start)
            if has_ended or (at < len(decoded) - END_CHARACTERS and "Unterminated" not in str(error)):
                faults.add("JSON", line, f"{EXPECTED} ({error}), or the file is cut")
                faults.check()
            break
        try:
            # Names whose bytes are not text stay different.
            as_bytes = json.dumps(job, ensure_ascii=False).encode(errors="xmlcharrefreplace")
            records.append(_record(JOB.decode(as_bytes)))
        except FAULTS as error:
            faults.add("job", line, f"{EXPECTED} ({error})")
        else:
            lines.append(line)
        line += decoded.count("\n", start, stop)
        end = stop
        if not between and (after := NEXT.match(decoded, end - 1)):
            between = after[0].encode()
    return (lines, records), len(decoded[:end].encode(errors="surrogateescape")), between, is_complete


def _begin_of(text: str, at: int) -> int:
    """Return where the next record begins."""
    found = FURTHER.search(text, at)
    return found.start() if found else len(text)


def _version_of(text: str) -> str:
    """Return the version of Slurm that the metadata of JSON name, in words; empty without one."""
    if not (found := re.search(r'"slurm"\s*:\s*\{\s*"version"\s*:\s*\{([^{}]*)\}', text, re.IGNORECASE)):
        return ""
    parts = dict(re.findall(r'"(major|minor|micro)"\s*:\s*"?(\d+)', found[1]))
    if "major" not in parts:
        return ""
    version = f", version {parts['major']}.{int(parts.get('minor', 0)):02}"
    return f"{version}.{parts['micro']}" if "micro" in parts else version


def _number(value: Any) -> int | None:
    """Return a number as `records.number_of` does."""
    if type(value) is int or value is None:
        return value
    if type(value) is Wrapped:
        return -1 if value.infinite else None if value.set is False else int(value.number)
    return int(value)


@lru_cache(maxsize=1 << 14)
def _resources(text: bytes) -> tuple[str, Mapping[str, int]]:
    """Return trackable resources as sacct writes them, and by name; many jobs have the same."""
    counts = {
        f"{each.type}/{each.name}" if each.name else each.type: _number(each.count) or 0
        for each in RESOURCES.decode(text) or []
    }
    return ",".join(f"{kind}={n}" for kind, n in counts.items()), counts


def _record(job: Any) -> Record:
    """Return a job in the order of `rows.TITLES`."""
    time, required, tres = job.time, job.required or Required(), job.tres or Resources()
    association = job.association or Association()
    allocation, allocated = _resources(bytes(tres.allocated))
    request, asked = _resources(bytes(tres.requested))
    cpus, started, limit = _number(required.CPUs), _number(time.start) or 0, _number(time.limit)
    state = job.state.current
    return (
        _job_of(job),
        job.user or association.user or "",
        job.partition or association.partition or "",
        state if isinstance(state, str) else state[0],
        str(_number(time.submission)),
        str(started or ""),
        str(_number(time.elapsed)),
        "" if limit is None else "UNLIMITED" if limit < 0 else str(limit),
        str(allocated.get("cpu", cpus if started else 0) or 0),
        str(allocated.get("node", _number(job.allocation_nodes)) or 0),
        _memory_of(required, asked),
        str(_number(time.eligible) or ""),
        job.cluster or association.cluster or "",
        job.account or association.account or "",
        job.qos or "",
        (job.reservation and job.reservation.name) or "",
        allocation,
        str(_number(time.end) or ""),
        str(cpus or asked.get("cpu") or ""),
        str(asked.get("node") or ""),
        request,
        job.licenses or "",
        job.constraints or "",
        job.submit_line or "",
    )


def _job_of(job: Any) -> str:
    array, parts = job.array, job.het
    if array is not None and (number := _number(array.job_id)):
        if (task := _number(array.task_id)) is not None:
            return f"{number}_{task}"
        if array.task:
            return f"{number}_[{array.task}]"
    if parts is not None and (number := _number(parts.job_id)):
        return f"{number}+{_number(parts.job_offset) or 0}"
    return str(_number(job.job_id))


def _memory_of(required: Any, asked: Mapping[str, int]) -> str:
    if (amount := _number(required.memory_per_cpu)) and amount > 0:
        return f"{amount}Mc"
    if (amount := _number(required.memory_per_node)) and amount > 0:
        return f"{amount}Mn"
    if amount := _number(required.memory):
        return f"{amount & ~PER_CPU}M{'c' if amount & PER_CPU else 'n'}"
    return f"{asked['mem']}M" if asked.get("mem") else ""
