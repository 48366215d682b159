"""The paper's workload offers the load that is asked for; kernels are loaded only where jobs are run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from models.workloads import feitelson1996

CONF = Path(__file__).parents[2] / "conf" / "workload" / "feitelson1996.yaml"
WORKLOAD = OmegaConf.to_container(OmegaConf.load(CONF))


@pytest.mark.parametrize("repetition", ["feedback", "sequence"])
@pytest.mark.parametrize("rerun_runtime", ["same", "redrawn"])
@pytest.mark.parametrize("load", [0.4, 0.9])
def test_the_sequence_of_jobs_itself_has_the_load(load, rerun_runtime, repetition):
    """Summed up job by job: work of whole sessions up to the n-th job, over the machine's time until then."""
    n_pes, n_jobs = 32, 5000
    workload = WORKLOAD | {"rerun_runtime": rerun_runtime, "repetition": repetition}
    stream = feitelson1996.open_stream(workload, n_pes, load, n_jobs, (1, 2))
    work, time, jobs = 0.0, 0.0, 0
    for chunk in stream.chunks:
        columns = (chunk[name].tolist() for name in ("gap", "size", "runtime", "runs", "key"))
        for gap, size, runtime, runs, key in zip(*columns, strict=True):
            if jobs >= n_jobs:
                break
            again = (stream.rerun(runtime, size, key, run, stream.rerun_parameters) for run in range(1, runs))
            work += size * (runtime + sum(again))
            time, jobs = time + gap, jobs + runs
        if jobs >= n_jobs:
            break
    assert work / (n_pes * time) == pytest.approx(load, rel=1e-9)


def in_new_process(code: str, cache: Path) -> str:
    """Run some Python with a kernel cache of its own and return what it printed."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    environment.pop("SCHEDSWEEP_KERNELS", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def test_what_is_preloaded_is_never_compiled(tmp_path):
    code = (
        "import sys\n"
        "try:\n    import models.gang.preload\n"
        "except ImportError:\n    print('not yet', 'numba' in sys.modules)"
    )
    assert in_new_process(code, tmp_path) == "not yet False\n"


def test_a_warm_up_with_everything_compiled_loads_nothing(tmp_path):
    code = (
        "import sys; from models import gang, kernel_cache;"
        "kernel_cache.complete('models.gang', list); gang.FAMILY.warm_up();"
        "print('numba' in sys.modules)"
    )
    assert in_new_process(code, tmp_path) == "False\n"
