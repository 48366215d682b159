"""The command: it collects, checks, renames if asked to, writes, and plans."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from models.counting import counted
from models.jobs import bundle
from slurm.capturing import anonymous, completeness
from slurm.capturing.collecting import CONFIG, Capture
from slurm.commands import Slurm
from sweep.errors import SweepError
from sweep.store import writing

USUAL = timedelta(days=28)
PLAN_S = 1800


def capture(since: str, until: str, output: str, anonymise: bool, slurm: Slurm | None = None) -> int:
    """Write a bundle of this cluster and print what was found; return 1 if anything is wrong, else 0."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    end = _time("-E", until) if until else midnight
    begin = _time("-S", since) if since else end - USUAL
    if begin >= end:
        raise SweepError(f"-S {begin:%F} is not before -E {end:%F}; give -S 2024-03-01 -E 2024-04-01")
    place = Path(output).expanduser()
    if not place.absolute().parent.is_dir():
        raise SweepError(f"output={output}: no such folder; give output=FILE.tar.gz in a folder that exists")
    given = slurm or Slurm()
    base = os.environ if given.env is None else given.env
    captured = Capture(replace(given, env={**base, "TZ": "UTC"}), begin, end)
    captured.collect()
    completeness.check(captured)
    for finding in captured.findings:
        print(finding, flush=True)
    wrong = any(finding.level == "wrong" for finding in captured.findings)
    if not any(captured.files.get(name) for name in (CONFIG, bundle.CONFIGURATION)):
        print("\nno bundle is written: no cluster was found here")
        return 1
    files = captured.files
    if anonymise:
        files, names = anonymous.renamed(files)
        kept = place.with_name(f"{place.name}.names.json")
        kept.unlink(missing_ok=True)
        writing.write_new(kept, json.dumps(names.known, indent=1).encode(errors="surrogateescape"), 0o600)
        print(f"\nnames: {kept} has the true names; it is not in the bundle: keep it here")
    about = {"since": f"{begin:%F}", "until": f"{end:%F}", "slurm": captured.config.get("SLURM_VERSION", "")}
    data = {name: text.encode(errors="surrogateescape") for name, text in files.items()}
    before = os.umask(0o077)  # it contains the jobs of all users
    try:
        writing.replace(place, bundle.packed(data, about))
    finally:
        os.umask(before)
    print(f"\nbundle: {place}, {place.stat().st_size:,} bytes, {counted(len(files), 'file')}")
    return int(_plan(place) or wrong)


def _time(option: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is None else found.astimezone(UTC)).replace(tzinfo=None)
    except ValueError:
        raise SweepError(f"{option} {text}: give a date (UTC), {option} 2024-03-01") from None


def _plan(place: Path) -> int:
    """Print what the plan of a simulation says about the bundle, and return its exit status."""
    command = ["sweep", "+experiment=slurm_what_if", f"policy.bundle={place}", "action=plan"]
    print(f"\n$ python -m {' '.join(command)}", flush=True)
    try:
        return subprocess.run([sys.executable, "-m", *command], timeout=PLAN_S, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"no plan within {PLAN_S} s; run that command where there is more time")
        return 1
