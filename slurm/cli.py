"""The command line of ``python -m slurm``."""

import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import NoReturn

from schedsweep.terminal import wrapped
from sweep.errors import INTERRUPTED, SweepError, unknown

HELP = """\
usage: python -m slurm doctor [profile=default] [folder=results] [wait_s=120]
       python -m slurm validate [cases=A,B] [jobs=120] [seeds=1]
                                [folder=results/validation] [slurm=/]
       python -m slurm capture [-S DATE] [-E DATE] [output=capture.tar.gz] [--anonymise]
       python -m slurm forecast log=FILE [conf=slurm.conf] [queue=FILE] [at=TIME] [job=...]
                                [backtest=N] [calibrate=N] [output=results/forecast]

doctor:
Checks a Slurm cluster as a sweep will use it, and submits one short job (two where mpi4py is installed).
One line per check: ok, warning, wrong (with what to do) or skipped. Exit status 1 if anything is wrong.

  profile=NAME  a profile of slurm/profiles ({names}), or the path of a YAML file
  folder=DIR    the results folder: every node must be able to write into it
  wait_s=N      seconds that the job may wait in the queue before it is cancelled

validate:
Runs jobs of seconds on a throw-away Slurm of 16 emulated nodes on this machine, and on the model of Slurm's
scheduler (policy=slurm) with the phases of that run: a line for each run, and a picture. A run of 120 jobs
takes about ten minutes; limits and shares need slurmdbd, MariaDB and root. Exit status 1 if one start of
ten is more than two seconds off.

  cases=A,B     configurations of slurm.conf: {cases}
  jobs=N        jobs of a run
  seeds=A,B     workloads
  slurm=FOLDER  a system with another Slurm, such as debootstrap makes: all programs run in it (as root)

capture:
Bundles what a simulation of this cluster needs in one file, changes nothing, and prints whether it is
complete and what the plan says: the jobs of a period (sacct), slurm.conf with its includes, partitions,
nodes, reservations, accounts, QOS. Exit status 1 if anything is wrong.

  -S, -E        the period, UTC (default: the last four weeks)
  output=FILE   the bundle
  --anonymise   other names for users, accounts, hosts, reservations and paths; a file beside the bundle,
                which only you can read, has the true ones

forecast:
When waiting jobs start: quantiles of their starts in random futures, in which runtimes are drawn from the
history of users and later arrivals from earlier weeks. A file forecast.json and a picture.

  log=FILE      the jobs so far: a bundle of capture, what sacct prints, or a log in the Standard Workload
                Format; or the name of a workload of conf
  conf=FILE     its slurm.conf, which a bundle has; without one EASY backfilling on a pool of processors
  machine=N     the processors of that pool, or a name of conf (default: as the log says)
  queue=FILE    what squeue --json prints, or now, which calls it (default: the bundle's)
  at=TIME       the queue at that time of the log instead (default: its last submission)
  job=ID        one waiting job and what would bring it forward, or a job that you may submit:
                job=nodes=2,cpus=64,time=120,partition=main,user=ada (time in minutes, or 1-02:00:00)
  calibrate=N   earlier instants of the log with which forecasts are compared, so that intervals hold
                (default: 200 without slurm.conf, else 0)
  backtest=N    how forecasts do at random instants of the log
  replications=N, seed=N"""

DEFAULTS = {
    "doctor": {"profile": "default", "folder": "results", "wait_s": "120"},
    "capture": {"-S": "", "-E": "", "output": "capture.tar.gz", "--anonymise": ""},
    "forecast": {
        **dict.fromkeys(("log", "conf", "queue", "at", "machine", "job", "calibrate"), ""),
        **{"replications": "100", "backtest": "0", "seed": "1", "output": "results/forecast"},
    },
    "validate": {"cases": "", "jobs": "120", "seeds": "1", "folder": "results/validation", "slurm": "/"},
}
"""Commands -> their arguments."""


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status: 0, 1 failed, 2 wrong arguments, 130 interrupted."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        if not arguments or {"-h", "--help", "help"}.intersection(arguments):
            from slurm import profile
            from slurm.validation.cases import CASES

            print(wrapped(HELP.format(names=", ".join(profile.names()), cases=", ".join(CASES))))
            return 0
        command, *given = arguments
        if command not in DEFAULTS:
            raise SweepError(unknown("command", command, list(DEFAULTS)))
        if command == "capture":
            return _capture(given)
        options = _options(given, DEFAULTS[command])
        if command == "forecast":
            return _forecast(options)
        return _examine(**options) if command == "doctor" else _validate(**options)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("stopped; no job and no file is left behind", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def _options(arguments: Sequence[str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Return the defaults, replaced where an argument ``key=value`` is given."""
    given = dict(defaults)
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in defaults:
            raise SweepError(unknown("argument", key, [f"{name}=" for name in defaults]))
        if not value:
            raise SweepError(f"{argument}: give a value, {key}=VALUE")
        given[key] = value
    for key in {"wait_s", "jobs", "replications", "calibrate", "backtest", "seed"} & set(given):
        least = int(key in ("wait_s", "jobs", "replications"))
        if given[key] != defaults[key] and (not given[key].isdecimal() or int(given[key]) < least):
            raise SweepError(f"{key}={given[key]}: give a whole number, {least} or more")
    return given


def _examine(profile: str, folder: str, wait_s: str) -> int:
    """Print findings as they are made and return 1 if anything is wrong, else 0."""
    from slurm import doctor
    from slurm import profile as profiles

    levels = []
    found = doctor.examine(profiles.load(profile), Path(folder).expanduser().absolute(), int(wait_s))
    with closing(found) as findings:
        for finding in findings:
            print(finding, flush=True)
            levels.append(finding.level)
    wrong = "wrong" in levels
    advice = "correct it and run the doctor again" if wrong else f"ready for executor=slurm slurm={profile}"
    print(f"\nwrong: {levels.count('wrong')}, warnings: {levels.count('warning')}; {advice}")
    return int(wrong)


def _validate(cases: str, jobs: str, seeds: str, folder: str, slurm: str) -> int:
    """Compare the model of Slurm's scheduler with a real Slurm; return 1 if it is too far off."""
    from slurm.testcluster import missing
    from slurm.validation.cases import CASES
    from slurm.validation.command import validate

    if not all(seed.isdecimal() for seed in seeds.split(",")):
        raise SweepError(f"seeds={seeds}: give whole numbers between commas, e.g. seeds=1,2")
    root = Path(slurm).expanduser().absolute()
    if not root.is_dir():
        raise SweepError(f"slurm={slurm}: no such folder; give one with usr/sbin/slurmctld in it")
    within = None if root == Path("/") else root
    without = missing(accounting=True, root=within)
    possible = [name for name, case in CASES.items() if not (case.accounts and without)]
    chosen = cases.split(",") if cases else possible
    place = Path(folder).expanduser().absolute()
    return validate(chosen, place, int(jobs), [int(seed) for seed in seeds.split(",")], within)


def _forecast(options: Mapping[str, str]) -> int:
    """Forecast the starts of waiting jobs."""
    from slurm.forecasting.command import Options, forecast

    if not options["log"]:
        raise SweepError(
            "forecast: give the jobs so far, log=FILE, as sacct or python -m slurm capture prints them"
        )
    numbers = {key: int(options[key]) for key in ("replications", "backtest", "seed")}
    return forecast(Options(**{**options, **numbers}))  # type: ignore[arg-type] # the others are texts


def _capture(given: Sequence[str]) -> int:
    """Bundle what a simulation of this cluster needs."""
    from slurm.capturing import capture

    words = iter(given)
    # Options are accepted as sacct has them, -S DATE, or like all others, -S=DATE.
    joined = [f"{word}={next(words, '')}" if word in ("-S", "-E") else word for word in words]
    joined = ["--anonymise=yes" if word == "--anonymise" else word for word in joined]
    options = _options(joined, DEFAULTS["capture"])
    return capture(options["-S"], options["-E"], options["output"], bool(options["--anonymise"]))


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
