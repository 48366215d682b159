"""The same environment for all tests, whatever the machine's or the user's settings.

It excludes a terminal's width and colours, an outer Slurm job or MPI launcher, a user's settings of
libraries, a language, examples that differ from run to run, deadlines of examples, and empty caches.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from models.kernels import cache
from models.kernels.internals import INTERPRETED
from sweep.executors.threads import ONE_THREAD

VARIABLES = (
    "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE",
    "TTY_INTERACTIVE", "LANGUAGE", "SOURCE_DATE_EPOCH", "MATPLOTLIBRC", "MPLBACKEND", "BROWSER",
    "PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONSAFEPATH", "PYTHONWARNINGS",
)  # fmt: skip
PREFIXES = (
    "LC_", "SLURM", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SINFO_", "SACCT_", "SCONTROL_", "PMI", "OMPI_",
    "HYDRA_", "DASK_", "XDG_CONFIG", "SCHEDSWEEP_CONFIG", "SCHEDSWEEP_MODULES", "JUPYTER", "GIT_",
)  # fmt: skip

for name in list(os.environ):
    if name in VARIABLES or name.startswith(PREFIXES):
        del os.environ[name]
os.environ["LANG"] = "C.UTF-8"
# Every core runs a process of tests: with threads on all cores they would wait for each other, and the number
# of parts of a sum decides its last digit.
os.environ.update(ONE_THREAD)
os.umask(0o022)

# Notebooks are run by this Python, not by another kernel of the user's Jupyter.
os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"

# The user's cache of kernels, compiled beforehand.
cache.install()

# Not the user's style; and matplotlib prints a message when it makes the list of fonts, which takes long.
os.environ["MPLCONFIGDIR"] = str(Path(__file__).parents[1] / ".cache" / "matplotlib")

settings.register_profile(
    "steady", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Make the list of fonts before there are workers, where there is none yet; let interpreted kernels wrap
    around, as compiled ones do."""
    if INTERPRETED:
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
    folder = Path(os.environ["MPLCONFIGDIR"])
    if not hasattr(config, "workerinput") and not any(folder.glob("fontlist-*.json")):
        folder.mkdir(parents=True, exist_ok=True)
        import matplotlib.font_manager  # noqa: F401


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on a real Slurm belong to the second tier."""
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker("exhaustive")


@pytest.fixture(autouse=True)
def _same_environment() -> Iterator[None]:
    """Leave no variable of a test to the next one, such as the PYTHONSAFEPATH that commands set."""
    before = dict(os.environ)
    yield
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return a function that makes a folder once for all processes of a test run.

    Tests must not write into it: several of them read it, in any order.
    """
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent

    def once(name: str, make: Callable[[Path], object]) -> Path:
        folder, made = place / name, place / f"{name}.made"
        with (place / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait until it is there
            if not made.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                made.touch()
        return folder

    return once
