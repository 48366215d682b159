"""``python -m slurm.element SUBMISSION``: the work of an array element, inside its job.

It expands the plan from the submission's own config, runs what is left of its share, and stops in time. As
long as each attempt finishes a task, it is then queued again. It takes no lock and writes no dataset.
"""

import os
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from models.counting import counted
from schedsweep import packages
from slurm import record, share
from slurm import submission as submissions
from slurm.commands import SlurmError
from slurm.share import Logs
from slurm.submission import Submission
from slurm.watch import TerminatedError, Watch, end_of_job, queue_again
from sweep.errors import RunError, SweepError
from sweep.executors.bundles import OUTSTANDING
from sweep.plan.data import Plan
from sweep.plan.expansion import expand


def main(arguments: Sequence[str]) -> int:
    """Run a share and return the exit status: 0 if all is done, 1 if a task failed or is left."""
    path = Path(arguments[0])
    try:
        submission = submissions.load(path)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    element = int(os.environ["SLURM_ARRAY_TASK_ID"])
    job = f"{os.environ.get('SLURM_ARRAY_JOB_ID', '0')}_{element}"
    file = record.file(path, element)
    before = record.read(file)
    attempts, fruitless = (before.attempts, before.fruitless) if before else (0, 0)
    if before is not None and before.finished:  # an id was used twice, or a node died on its last step
        return 0 if before.why == "done" else RunError.status
    most = submission.profile["max_attempts"]
    if fruitless >= most:
        record.append(file, ended=time.time(), why="attempts")
        return RunError.status
    cores = share.own_cores()
    record.append(
        file, started=time.time(), job=job, host=socket.gethostname(), cores=cores, attempt=attempts + 1
    )
    limit_s = submission.profile.get("time_s")
    logs = share.logs_of(submission, element)
    size = _size(logs)
    with Watch(end_of_job(limit_s), 1 if cores == 1 else OUTSTANDING) as watch:
        why, report = _attempt(submission, element, logs, cores, watch, again=attempts > 0)
        fruitful = False
        if report:
            print(report, file=sys.stderr)
        with suppress(TerminatedError):
            # Whether any task was finished: otherwise an element without progress would be requeued for ever.
            fruitful = _size(logs) > size
            record.append(
                file, ended=time.time(), why=why, report=report.strip().rpartition("\n")[2], fruitful=fruitful
            )
        if why in ("time", "signal") and (fruitful or fruitless + 1 < most):
            try:
                queue_again(job)
            except TerminatedError:
                pass
            except SlurmError as error:
                text = f"it could not be requeued: {error}"
                record.append(file, ended=time.time(), why=why, report=text)
    log = submission.logs / f"{job}.out"
    with suppress(OSError):
        if why == "done" and log.stat().st_size == 0:
            log.unlink()
    return 0 if why == "done" else RunError.status


def _size(logs: Logs) -> int:
    """Return the number of bytes in the logs, which grow with every task that was run."""
    return sum(path.stat().st_size for path in logs.files())


def _attempt(
    submission: Submission, element: int, logs: Logs, cores: int, watch: Watch, again: bool
) -> tuple[str, str]:
    """Run what is left of a share, and return why it ended and a report on that."""
    try:
        plan = expanded(submission)
        numbers = submissions.read(submission.path)[1].share(element).tolist()
        # Only this share's own logs can contain its results, and only if it ran before, so all other logs of
        # a large study need not be read.
        done, failed = logs.tried() if again else (set(), set())
        left = [number for number in numbers if plan.ids[number] not in done | failed]
        if left:
            share.run(plan, left, logs, cores, watch)
        done, failed = logs.tried()
        left = [number for number in left if plan.ids[number] not in done | failed]
    except TerminatedError:
        return "terminated", ""
    except SweepError as error:
        return "error", f"error: {error}"
    except Exception:
        return "error", traceback.format_exc()
    if left:
        return (
            (watch.why, "") if watch.why else ("error", f"error: {counted(len(left), 'task')} left no result")
        )
    return ("failed", "") if failed else ("done", "")


def expanded(submission: Submission) -> Plan:
    """Return the plan of a submission; `SweepError` if it is not the one that was submitted: models or files
    of conf have changed."""
    plan = expand(submissions.read(submission.path)[0])
    if submissions.digest(plan) != submission.digest:
        raise SweepError(
            f"submission {submission.name}: models, or files that the config names, have changed since "
            f"{submission.when}; cancel it (action=cancel) and submit again"
        )
    return plan


if __name__ == "__main__":
    packages.search_working_folder_last()
    sys.exit(main(sys.argv[1:]))
