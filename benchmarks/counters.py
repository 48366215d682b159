"""What an event costs the processor: instructions, branches guessed wrong, and cache misses a job.

Counted by valgrind's cachegrind, which simulates a processor with this machine's caches, and so needs no
counters of the hardware. Each kernel simulates so many jobs and twice as many; the difference is what jobs
cost, without the interpreter's start. Jobs of backfilling are drawn once, those of gang scheduling on the
way. Kernels are compiled for a plain x86-64, which valgrind understands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks.record import Cell, Findings, Table

JOBS = 500_000
"""Enough that what two starts of the interpreter differ by, some ten million instructions, hardly matters."""

NAMES = {
    "instructions": "I +refs",
    "branches wrong": "Mispredicts",
    "first-level misses": "D1 +misses",
    "last-level misses": "LLd misses",
}
"""Column -> what cachegrind calls it."""

KERNELS = {
    "EASY, 128 processors": "from benchmarks.scaling import easy as run",
    "EASY, 1,000 at once": "from benchmarks.scaling import easy_at_once as run",
    "first fit, load 0.8": "from benchmarks.scaling import first_fit as run",
    "buddy, load 0.8": "from benchmarks.scaling import buddy as run",
}


def run(quick: bool) -> Findings:
    """Count for each kernel, if there is a valgrind."""
    if shutil.which("valgrind") is None:
        return Findings(notes=["no valgrind on this machine: nothing was counted"])
    rows: list[list[Cell]] = []
    for name, kernel in list(KERNELS.items())[: 1 if quick else None]:
        _run(kernel, 1)  # compiles
        with ThreadPoolExecutor() as beside:
            few, many = beside.map(partial(_counted, kernel), (JOBS, 2 * JOBS))
        each = {what: (many[what] - few[what]) / JOBS for what in NAMES}
        wrong = 1000 * each["branches wrong"] / each["instructions"]
        rows.append([name, *each.values(), wrong])
    columns = ["kernel", *NAMES, "branches wrong, per 1,000 instructions"]
    return Findings([Table("What a job costs the processor, as cachegrind counts", columns, rows)])


def _counted(kernel: str, jobs: int) -> dict[str, float]:
    said = _run(
        kernel, jobs, "valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes",
        "--cachegrind-out-file=/dev/null",
    )  # fmt: skip
    return {what: _number(pattern, said) for what, pattern in NAMES.items()}


def _run(kernel: str, jobs: int, *under: str) -> str:
    """Run a kernel in a process of its own, compiled for a plain x86-64; return what is said on the way."""
    command = [*under, sys.executable, "-c", f"{kernel}; run({jobs})"]
    plain = os.environ | {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stderr.strip().splitlines() or ['(no message)'])[-1]}")
    return done.stderr


def _number(pattern: str, text: str) -> float:
    found = re.search(rf"{pattern}: +([\d,]+)", text)
    if found is None:
        raise RuntimeError(f"cachegrind says nothing of {pattern!r}")
    return float(found[1].replace(",", ""))
