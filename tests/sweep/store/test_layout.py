"""The file of a dataset as other tools see it, and files of earlier formats."""

import gzip
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

import sweep
from analysis.explorer.source import Source
from analysis.study import open_study
from sweep import cli
from sweep.errors import SweepError
from sweep.notebook.study import Study
from sweep.rerun import sameness
from sweep.store import layout, loading

FORMATS = Path(__file__).resolve().parents[2] / "data" / "formats"
SMALL = {"alternation": ["exclusive"], "unification": [True]}
FEW = {"executor": "serial", "batches": 3, "batch_size": 50, "warmup": 0, "replications": 2}


def run(folder: Path, **settings: object) -> Study:
    """Run a small packing study; `settings` are of the grid where they are lists."""
    lists = {key: value for key, value in settings.items() if isinstance(value, list)}
    others = FEW | {key: value for key, value in settings.items() if key not in lists}
    grid = {"policy": ["buddy"], "load": [0.5], **SMALL, **lists}
    study = sweep.Study("packing", grid=grid, output=str(folder), **others)
    study.run(progress=False)
    return study


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset of two policies with too few batches for intervals."""
    folder = tmp_path_factory.mktemp("layout") / "packing"
    run(folder, policy=["buddy", "migration"], load=[0.3, 0.5], capacity=0)
    return folder / "packing.nc"


def test_the_root_has_what_people_plot_and_groups_the_rest(stored: Path) -> None:
    tree = xr.load_datatree(stored)
    assert set(tree.children) == {"batches", "tasks", "withheld"}
    root = xr.load_dataset(stored)
    assert not {"replication", "batch"} & set(root.dims)
    assert {"slowdown_mean", "saturated"} <= set(root.data_vars)
    assert {"state", "seconds", "control"} == set(tree["tasks"].data_vars)
    batches = xr.load_dataset(stored, group="batches")
    assert batches.slowdown.sel(policy="buddy", load=0.5).dims[-2:] == ("replication", "batch")
    np.testing.assert_allclose(batches.slowdown.mean(("replication", "batch")), root.slowdown_mean, rtol=0.1)
    together = loading.loaded(stored)
    assert {*root.variables, *batches.variables, *tree["tasks"].variables} <= set(together.variables)
    assert np.isnan(together.slowdown_ci).all()
    assert together.slowdown_ci.dims == together.slowdown_mean.dims


def test_other_tools_like_it(stored: Path) -> None:
    root = xr.load_dataset(stored)
    assert root.attrs["Conventions"] == "CF-1.11"
    assert root.attrs["history"].endswith(root.attrs["command"])
    assert root.attrs["schedsweep_format"] == layout.FORMAT
    assert root.family.sel(policy="buddy").item() == "gang scheduling"
    assert root.offered_load.values.tolist() == root["load"].values.tolist()
    rows = root.to_dataframe().dropna()
    assert len(rows) == 4, "no column is empty"
    with netCDF4.Dataset(stored) as file:
        for group in (file, *file.groups.values()):
            for name, variable in group.variables.items():
                assert variable.dtype.str[1:] in ("S1", "i1", "i4", "f8"), name
                assert name not in file.dimensions or "_FillValue" not in variable.ncattrs(), name
                assert not variable.long_name.startswith("mean ") or "mean" not in variable.long_name[4:], (
                    name
                )
                for other in getattr(variable, "ancillary_variables", "").split():
                    assert other in file.variables or other in file["withheld"].variables, name
        assert file["batches/slowdown"].ancillary_variables.split()[0] == "slowdown_mean"
        assert file["slowdown_mean"].chunking() == "contiguous"


def test_a_file_may_be_opened_many_times(stored: Path) -> None:
    """In a process of its own: texts of any length in groups crash HDF5 2.2 here."""
    script = """
import sys, xarray
xarray.open_datatree(sys.argv[1])
for group in ("batches", "tasks", "batches"):
    xarray.open_dataset(sys.argv[1], group=group)
assert xarray.open_dataset(sys.argv[1]).policy.values.size
"""
    subprocess.run([sys.executable, "-c", script, str(stored)], check=True)


def test_studies_merge_on_their_axes(stored: Path, tmp_path: Path) -> None:
    """Whether the second one has another policy, another load or both."""
    first = xr.load_dataset(stored)
    for number, grid in enumerate(
        ({"policy": ["best_fit"]}, {"load": [0.4]}, {"policy": ["best_fit"], "load": [0.4]})
    ):
        run(tmp_path / f"{number}", capacity=0, **grid)
        (path,) = (tmp_path / f"{number}").glob("*.nc")
        merged = xr.merge(
            [first, xr.load_dataset(path)], join="outer", compat="no_conflicts", combine_attrs="drop"
        )
        assert merged.sizes["policy"] == 2 + ("policy" in grid)
        assert merged.sizes["load"] == 2 + ("load" in grid)
        xr.testing.assert_equal(
            merged.slowdown_mean.sel(policy=first.policy, load=first["load"]), first.slowdown_mean
        )


def test_large_variables_are_compressed_and_have_checksums(tmp_path: Path) -> None:
    study = run(tmp_path / "packing", batches={0: 2, 0.5: 3000}, batch_size=5, load=[0.1, 0.2, 0.3, 0.5])
    with netCDF4.Dataset(study.folder / "packing.nc") as file:
        filters = file["batches/slowdown"].filters()
        assert filters["zlib"]
        assert filters["shuffle"]
        assert filters["fletcher32"]
    raw = study.data.nbytes
    assert (study.folder / "packing.nc").stat().st_size < raw / 2, "padding takes no space"


def test_overload_runs_are_kept_on_request(tmp_path: Path) -> None:
    study = run(tmp_path / "all", keep="all", capacity=3, load=[0.3, 0.5])
    with xr.open_dataset(study.folder / "packing.nc", group="overload") as stored:
        delivered = stored.load().overload_delivered
    assert delivered.sizes["overload_run"] == 3
    assert "load" not in delivered.dims
    half = delivered.isel(overload_batch=slice(delivered.sizes["overload_batch"] // 2, None))
    np.testing.assert_allclose(half.mean(layout.OVERLOADED), study.dataset.capacity, atol=0.02)
    assert "overload" not in (run(tmp_path / "few", capacity=3).data)


def test_means_of_runs_alone(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", replications=6, load=[0.5, 0.7])
    means = run(tmp_path / "means", replications=6, load=[0.5, 0.7], keep="replications")
    assert means.data.sizes["batch"] == 1
    xr.testing.assert_identical(*(s.dataset.drop_attrs() for s in (whole, means)))
    jobs = whole.data.jobs
    by_hand = (whole.data.slowdown * jobs).sum("batch") / jobs.sum("batch")
    xr.testing.assert_allclose(means.data.slowdown.isel(batch=0, drop=True), by_hand)
    assert Source(means.folder).study.curve("slowdown", "buddy").there
    with pytest.raises(SweepError, match=r"keep=replications with replications=2: .* keep=batches"):
        run(tmp_path / "few", keep="replications")
    with pytest.raises(SweepError, match="keep 'batch'"):
        run(tmp_path / "few", keep="batch")


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.nc.gz")), ids=lambda path: path.name)
def test_earlier_formats_are_read(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "what_if.nc"
    file.write_bytes(gzip.decompress(path.read_bytes()))
    plain = xr.load_dataset(file)
    study = Source(file).study
    curve = study.curve("wait", "easy")
    assert curve.known is not None
    assert float(curve.known.mean[0]) == float(plain.wait_mean.sel(policy="easy").item())
    assert study.data.recorded_wait.dims[-1] == "batch"
    assert open_study(file).policies == ["easy", "fcfs"]
    assert not list(sameness.differences(loading.loaded(file), loading.loaded(file)))
    assert cli.main(["rerun", str(file), f"logs={FORMATS}", f"output={tmp_path / 'again'}"]) in (0, 1)
    assert "recorded_wait" not in capsys.readouterr().out, "the log's own values are the same in both formats"


def test_a_later_format_is_refused_in_one_line(stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "later.nc"
    file.write_bytes(stored.read_bytes())
    with netCDF4.Dataset(file, "a") as opened:
        opened.schedsweep_format = 3
    with pytest.raises(SweepError, match="has format 3, this version reads 1 and 2"):
        loading.loaded(file)
