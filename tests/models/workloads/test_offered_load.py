"""The paper's workload offers the load that is asked for."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from models import dotted, workloads
from models.point import Batches, Point
from models.workloads import repetition as repetitions

CONF = Path(__file__).parents[3] / "conf" / "workload" / "feitelson1996" / "feitelson1996.yaml"
WORKLOAD = OmegaConf.to_container(OmegaConf.load(CONF))


@pytest.mark.parametrize("repetition", ["feedback", "sequence"])
@pytest.mark.parametrize("rerun_runtime", ["same", "redrawn"])
@pytest.mark.parametrize("load", [0.4, 0.9])
def test_the_sequence_of_jobs_itself_has_the_load(load, rerun_runtime, repetition):
    """Summed up job by job: work of whole sessions up to the n-th job, over the machine's time until then."""
    processors, n_jobs = 32, 5000
    workload = WORKLOAD | {"rerun_runtime": rerun_runtime, "repetition": repetition}
    workload["load_reference"] = "sequence"
    batches = Batches(size=500, warmup=2, checkpoints=(4, 8))
    point = Point({}, workload, {"processors": processors}, load, batches, (1, 2))
    stream = workloads.open_workload(point)
    assert ("repetition" in workloads.fills(workload)) == (repetition == "feedback")
    rerun = dotted.imported(stream.rerun) if stream.rerun else repetitions.same_runtime
    work, time, jobs = 0.0, 0.0, 0
    columns = stream.first(n_jobs)
    assert columns.repeats == (repetition == "feedback")
    for i in range(n_jobs):
        size, runtime = int(columns.size[i]), float(columns.runtime[i])
        runs, key = (int(columns.runs[i]), int(columns.key[i])) if columns.repeats else (1, 0)
        again = (rerun(runtime, size, key, run, stream.rerun_parameters) for run in range(1, runs))
        work, jobs = work + size * (runtime + sum(again)), jobs + runs
        if jobs >= n_jobs:
            time = float(columns.submit[i])
            break
    assert work / (processors * time) == pytest.approx(load, rel=1e-9)
