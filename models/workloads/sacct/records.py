"""Which format a file has, and jobs of the accounting records of PBS and LSF as rows of sacct's fields.

References
----------
PBS Professional, "Administrator's
Guide", accounting log; Torque, "Accounting records". IBM Spectrum LSF, "Configuration reference", lsb.acct.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from models.workloads.sacct import rows
from models.workloads.sacct.fields import SACCT, Faults, SacctError
from models.workloads.sacct.rows import BLOCK_ROWS, TITLES, Block, Counts, Record, decoded

HEAD_BYTES = 4096
"""Bytes of a file by which its format is recognised."""


def _record(values: Mapping[str, str]) -> Record:
    return tuple(values.get(title, "") for title in TITLES)


JSON_JOBS = re.compile(rb'"jobs"\s*:\s*\[')
PBS_LINE = re.compile(r"\d{2}/\d{2}/\d{4} \d{2}:\d{2}:\d{2};[A-Za-z];[^;]*;")
PBS_PAIR = re.compile(r"(?:^|(?<= ))([A-Za-z_][\w.]*)=(\"[^\"]*\"|'[^']*'|\S*)")
PBS_ID = re.compile(r"(\d+)(?:\[(\d*)\])?")
PBS_ENDS = {"E": "", "R": "REQUEUED"}
LSF_DONE, LSF_USAGE = 64, 19
"""The status of a job that succeeded; numbers of lsfRusage."""


def blocks_of(
    name: str, text: Iterator[bytes], counts: Counts, faults: Faults
) -> tuple[str, Iterator[Block]]:
    """Return the name of a file's format, and its rows.

    Raises
    ------
    SacctError
        The format is known and not read.
    """
    content = next(text, b"")
    head = content[:HEAD_BYTES].decode(errors="replace").lstrip()
    if head.startswith(("{", "[")):
        signs = {
            rb'"(profiles|subtime)"': "a workload of Batsim",
            b"network_address": "output of oarstat (OAR)",
        }
        what = next((of for sign, of in signs.items() if re.search(sign, content)), "")
        if what or not (found := JSON_JOBS.search(content)):
            raise SacctError(
                f"{name}: this is {what or 'JSON, but not output of sacct --json'}, which is not read; "
                "convert it to the Standard Workload Format, or give what sacct prints"
            )
        from models.workloads.sacct.json_records import of_json  # msgspec, which nothing else needs

        jobs = of_json(content[: found.end()], content[found.end() :], text, counts, faults)
        return f"{SACCT} --json", _blocks(jobs, counts)
    first = next((line for line in head.splitlines() if line.strip()), "")
    if PBS_LINE.match(first):
        return "PBS accounting", _blocks(_of_pbs(chain([content], text), faults), counts)
    if re.match(r'"?[A-Z_]+"? "\d+(\.\d+)*" \d+ ', first):
        return "LSF accounting", _blocks(_of_lsf(chain([content], text), faults), counts)
    return SACCT + rows.version_of(content), rows.blocks(name, content, text, counts, faults)


def _blocks(records: Iterator[tuple[int, Record]], counts: Counts) -> Iterator[Block]:
    """Collect records into blocks; records that are exactly alike count once."""
    seen: set[int] = set()
    lines: list[int] = []
    kept: list[Record] = []
    for line, record in records:
        counts.rows += 1
        if (key := hash(record)) in seen:
            counts.twice += 1
            continue
        seen.add(key)
        lines.append(line)
        kept.append(record)
        if len(lines) == BLOCK_ROWS:
            yield Block(lines, dict(zip(TITLES, zip(*kept, strict=True), strict=True)))
            lines, kept = [], []
    if lines:
        yield Block(lines, dict(zip(TITLES, zip(*kept, strict=True), strict=True)))


def number_of(value: Any) -> int | None:
    """Return a number of Slurm's JSON, which may be wrapped; None if it is not set, -1 if it is infinite."""
    if type(value) is dict:
        if value.get("infinite"):
            return -1
        return int(value["number"]) if value.get("set", True) else None
    return None if value is None else int(value)


def _of_pbs(content: Iterable[bytes], faults: Faults) -> Iterator[tuple[int, Record]]:
    """Yield the runs of jobs of PBS, PBS Professional and Torque: records E and R; others are states on
    the way."""
    put_back: dict[str, str] = {}  # job -> the end of its last run, from which it waited again
    for number, line in enumerate(decoded(faults.name, content), start=1):
        if not line.strip():
            continue
        if not PBS_LINE.match(line):
            faults.add("PBS", number, "is not an accounting record of PBS, DATE TIME;TYPE;JOB;KEY=VALUE …")
            continue
        _, kind, job, message = line.split(";", 3)
        if kind not in PBS_ENDS:
            continue
        keys = {key: value.strip("\"'") for key, value in PBS_PAIR.findall(message)}
        try:
            record = _of_pbs_job(job, kind, keys)
        except (KeyError, ValueError) as error:
            faults.add("job", number, f"is not a record of a job that ended (its {error})")
            continue
        record["Submit"] = put_back.pop(job, record["Submit"])
        if kind == "R":
            put_back[job] = str(int(record["Start"]) + int(record["ElapsedRaw"]))
        yield number, _record(record)


def _of_pbs_job(job: str, kind: str, keys: Mapping[str, str]) -> dict[str, str]:
    found = PBS_ID.match(job)
    if found is None:
        raise ValueError(f"number is {job}")
    start, end = int(keys["start"]), int(keys.get("end", keys["start"]))
    asked = {key.removeprefix("Resource_List."): value for key, value in keys.items() if "Resource_L" in key}
    nodes, cpus = _pbs_size(keys, asked)
    code = int(keys.get("Exit_status", 0))
    return {
        "JobID": found[1] + (f"_{found[2]}" if found[2] else ""),
        "User": keys["user"],
        "Partition": keys.get("queue", ""),
        "State": PBS_ENDS[kind] or ("COMPLETED" if code == 0 else "FAILED"),
        "Submit": keys.get("ctime") or keys["qtime"],
        "Eligible": keys.get("etime", ""),
        "Start": str(start),
        "ElapsedRaw": str(max(end - start, 0)),
        "TimelimitRaw": asked.get("walltime", ""),
        "AllocCPUS": str(cpus),
        "AllocNodes": str(nodes),
        "ReqMem": asked.get("mem", "").upper().removesuffix("B"),
        "Account": keys.get("account") or keys.get("project") or "",
        "TRES": f"gres/gpu={asked['ngpus']}" if asked.get("ngpus") else "",
    }


def _pbs_size(keys: Mapping[str, str], asked: Mapping[str, str]) -> tuple[int, int]:
    """Return the nodes and the processors of a job, by whichever keys its PBS writes."""
    nodes = int(keys.get("unique_node_count") or asked.get("nodect") or 0)
    if "total_execution_slots" in keys:
        return nodes or 1, int(keys["total_execution_slots"])
    asked_cpus = int(asked.get("ncpus") or 0)  # Torque writes its default, 1, beside nodes=2:ppn=8
    if "exec_host" in keys:
        slots = keys["exec_host"].split("+")
        cpus = sum(_slots(slot) for slot in slots)
        return nodes or len({slot.partition("/")[0] for slot in slots}), max(cpus, asked_cpus)
    first, *properties = (asked.get("nodes") or "1").split(":")
    count = int(first) if first.isdecimal() else 1
    per_node = next((int(each[4:]) for each in properties if each.startswith("ppn=")), 1)
    return nodes or count, max(count * per_node, asked_cpus)


def _slots(slot: str) -> int:
    """Return the processors of a part of exec_host: ``n1/3``, ``n1/0-7`` (Torque), ``n1/0*8`` (PBS)."""
    on = slot.partition("/")[2]
    if "*" in on:
        return int(on.partition("*")[2])
    spans = [span.split("-") for span in on.split(",") if span]
    return sum(int(last[-1]) - int(last[0]) + 1 for last in spans) or 1


def _of_lsf(content: Iterable[bytes], faults: Faults) -> Iterator[tuple[int, Record]]:
    """Yield the jobs of LSF that ended: records JOB_FINISH; others are of reservations and changes of
    size."""
    lines = decoded(faults.name, content)
    reader = csv.reader(lines, delimiter=" ", quotechar='"', skipinitialspace=True)
    for row in reader:
        if not row or row[0] != "JOB_FINISH":
            continue
        try:
            yield reader.line_num, _record(_of_lsf_job(row))
        except (IndexError, ValueError) as error:
            faults.add("job", reader.line_num, f"is not a record JOB_FINISH of lsb.acct ({error})")


def _of_lsf_job(row: list[str]) -> dict[str, str]:
    take: Callable[[], str] = iter(row[1:]).__next__
    try:
        _version, end, job = take(), int(take()), take()
        _user_id, _options, asked = take(), take(), int(take())
        submit, begin, _term, start = int(take()), int(take()), take(), int(take())
        user, queue = take(), take()
        for _ in range(9):  # resReq to jobFile
            take()
        for _ in range(int(take())):  # hosts that were asked for
            take()
        hosts = [take() for _ in range(int(take()))]
        status = int(take())
        for _ in range(3 + LSF_USAGE + 1):  # hostFactor, jobName, command, lsfRusage, mailUser
            take()
        project, _exit, _most, _shell, _event, index = take(), take(), take(), take(), take(), int(take())
    except StopIteration:
        raise ValueError("it is too short") from None
    limit = _lsf_limit(take)
    # With SHORT_EVENTFILE hosts are written once each, as COUNT*HOST.
    slots = [
        (int(count), host) if host else (1, count) for count, _, host in (h.partition("*") for h in hosts)
    ]
    processors = sum(int(n) for n, _ in slots) or asked
    return {
        "JobID": job + (f"_{index}" if index else ""),
        "User": user,
        "Partition": queue,
        "State": "COMPLETED" if status == LSF_DONE else "FAILED" if start else "CANCELLED",
        "Submit": str(submit),
        "Eligible": str(max(begin, submit)),
        "Start": str(start or ""),
        "ElapsedRaw": str(end - start if start else 0),
        "TimelimitRaw": f"{limit // 60}:{limit % 60:02d}" if limit > 0 else "",
        "AllocCPUS": str(processors if start else 0),
        "End": str(end),
        "ReqCPUS": str(asked),
        "AllocNodes": str(len({host for _, host in slots}) or 1),
        "Account": project,
    }


def _lsf_limit(take: Callable[[], str]) -> int:
    """Return ``runLimit``, seconds, of the fields after the array index; 0 where a version does not write
    it."""
    try:
        for _ in range(23):  # maxRMem to jobDescription
            take()
        for _ in range(2 * int(take())):  # pairs of submitEXT
            take()
        for _ in range(5 * int(take())):  # use of each host
            take()
        take()
        return max(int(take()), 0)
    except (StopIteration, ValueError):
        return 0
