"""EASY by the AccaSim package, for comparison: ``python -m benchmarks.accasim_easy LOG PROCESSORS FOLDER``.

Prints the CPU seconds that it takes to simulate a log, reading included, as AccaSim reads while it simulates.
The machine is one node with all processors, which AccaSim simulates eight times as fast as nodes of one
processor each. A process of its own, because AccaSim needs names that Python has dropped, and logs to
standard error.
"""

from __future__ import annotations

import collections
import collections.abc
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from models.backfill.engine import schedule
from models.backfill.priority.rules import Priority
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.swf_schedule import write_schedule


def cpu_seconds(jobs: Jobs, processors: int) -> float:
    """Return what AccaSim takes for these jobs; their times have to be whole seconds.

    Raises
    ------
    RuntimeError
        If it does not run, with the last line that it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "jobs.swf"
        write_schedule(log, schedule(jobs, pool(processors), Priority()))
        command = [sys.executable, "-m", __name__, str(log), str(processors), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no word"])[-1])
    return float(done.stdout.split()[-1])


def main(log: str, processors: int, folder: str) -> None:
    """Simulate a log with AccaSim and print the CPU seconds."""
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined] # gone since Python 3.10
    from accasim.base.allocator_class import FirstFit  # type: ignore[import-untyped]
    from accasim.base.scheduler_class import EASYBackfilling  # type: ignore[import-untyped]
    from accasim.base.simulator_class import Simulator  # type: ignore[import-untyped]

    system = Path(folder) / "system.json"
    system.write_text(json.dumps({"groups": {"node": {"core": processors}}, "resources": {"node": 1}}))
    simulator = Simulator(
        log,
        str(system),
        EASYBackfilling(FirstFit()),
        RESULTS_FOLDER_PATH=folder,
        statistics_output=False,
        show_statistics=False,
    )
    start = time.process_time()
    simulator.start_simulation()
    print(time.process_time() - start)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
