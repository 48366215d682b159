"""Results belong to the code that gave them: edited code runs again, code whose comments changed does not."""

import importlib.util
import os
import py_compile
import sys
import time
from pathlib import Path

import fake_family.model
import numpy as np
import pytest
from fake_family import FAMILY
from study_commands import load, results

from models.family import Family
from sweep.errors import SweepError
from sweep.plan import sources

MODEL = """
'''A user's own family: the answer is a number.'''
import numpy as np
from models.family import Outcome
from {package} import helping

def simulate(point):
    '''Return it.'''
    value = helping.answer(point.policy["work"])  # as it is
    checkpoints = point.batches.checkpoints[-1]
    by_class = np.full((checkpoints, 2), value)
    return Outcome({{"response": np.full(checkpoints, value), "response_by_class": by_class}}, 1)
"""

POLICIES = """
def check(point):
    return []

def is_stochastic(point):
    return True
"""


@pytest.fixture
def own_family(tmp_path, monkeypatch):
    """A family in a user's own package, with its YAML file; return a function that edits a module of it."""
    package = f"own_{tmp_path.name.replace('-', '_')}"
    folder, conf = tmp_path / package, tmp_path / "conf" / "policy" / package
    folder.mkdir()
    conf.mkdir(parents=True)
    (conf / "mine.yaml").write_text(f"family: {package}\nwork: 1.0\npreemption: none\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def edit(**modules):
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text.format(package=package))
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            del sys.modules[name]  # as in the next command
        importlib.invalidate_caches()
        from sweep.plan import families

        families.imported.cache_clear()

    edit(
        __init__="from models.family import Family\nfrom fake_family.metrics import COORDS, METRICS\n"
        "FAMILY = Family(package=__name__, name='own', version=1, metrics=METRICS, headline='response', "
        "coords=COORDS)\n",
        model=MODEL,
        policies=POLICIES,
        helping="def answer(work):\n    return 1.0\n",
    )
    return edit


@pytest.fixture
def mine(sweep, own_family, tmp_path):
    """Run a study of that family."""
    for folder in ("experiment", "workload", "machine"):
        (tmp_path / "conf" / folder).symlink_to(Path(__file__).parents[1] / "conf" / folder)

    def mine(*arguments):
        given = (
            "policy=mine",
            "replications=2",
            "exclude=[]",
            "grid.preemption=[none]",
            "grid.urgent=[true]",
        )
        return sweep(*given, "--config-dir", str(tmp_path / "conf"), "--config-dir=conf", *arguments)

    return mine


def test_an_edited_function_is_run_anew_and_said(mine, own_family):
    own_family(helping="def answer(work):\n    return 1 / 0\n")
    assert mine().status == 1
    own_family(helping="def answer(work):\n    return 1.0\n")
    answer = mine()
    assert answer.status == 0
    assert "earlier version" not in answer.out, "what failed has no result"
    assert results() == 4 + 4
    assert "up to date" in mine().out
    own_family(helping="def answer(work):\n    '''Explained.'''\n    return 1.0  # and again\n")
    assert "up to date" in mine().out, "comments change no result"
    own_family(helping="def answer(work):\n    return 2.0\n")
    answer = mine("replications=3")
    assert answer.status == 0
    assert "4 results of an earlier version of own_" in answer.out
    assert "are kept in the logs but not used: their tasks run again" in answer.out
    assert results() == 4 + 4 + 6
    np.testing.assert_array_equal(load()["response"], 2.0), "old and new are never mixed"
    again = mine("replications=3").out
    assert "up to date" in again
    assert "earlier version" not in again


def test_an_edit_that_keeps_size_and_time_is_run(mine, own_family, tmp_path, monkeypatch):
    """Python alone would run the bytecode of the first edit: it compares sizes and whole seconds."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    second = int(time.time()) - 10

    def edited(text):
        own_family(helping=text)
        (file,) = tmp_path.glob("own_*/helping.py")
        os.utime(file, (second, second))
        return file

    first = edited("def answer(work):\n    return 1.0\n")
    assert mine().status == 0
    assert Path(py_compile.compile(str(first))).exists()
    edited("def answer(work):\n    return 2.0\n")
    assert mine().status == 0
    np.testing.assert_array_equal(load()["response"], 2.0)


def test_fresh_runs_everything_anew_and_keeps_what_was_there(sweep):
    sweep()
    first = Path("results/queue/shards").glob("*.jsonl")
    before = {line[:25] for log in first for line in log.read_bytes().splitlines()}
    answer = sweep("grid.load=[0.3,0.6]", "fresh=true")
    assert answer.status == 0
    assert "fresh=true: 24 results set aside in results/queue/shards/aside/" in answer.out
    assert results() == 24
    (aside,) = Path("results/queue/shards/aside").glob("*.jsonl")
    assert {line[:25] for line in aside.read_bytes().splitlines()} == before
    assert "up to date" in sweep().out


def closure(family, monkeypatch):
    """Return the modules that the hash of a family covers."""
    used = sources._used
    seen = set()

    def look(name, source):
        seen.add(name)
        return used(name, source)

    monkeypatch.setattr(sources, "_used", look)
    sources.clear_caches()
    sources.of_family(family)
    sources.clear_caches()
    return seen


@pytest.mark.exhaustive
def test_a_family_is_all_that_it_runs_and_no_other_family(monkeypatch):
    """Compared with what a process has imported that ran it: an independent list."""
    from sweep.plan import families

    found = closure(families.find("models.gang"), monkeypatch)
    families.find("models.gang").warm_up()
    for module in families.find("models.gang").kernels:
        importlib.import_module(module)
    rooms = ("models.gang.", "models.packing.")
    imported = {name for name in sys.modules if name.startswith(rooms)}
    assert imported <= found
    assert {
        "models.family",
        "models.jobs.measures",
        "models.kernels.bits",
        "models.workloads.redrawn",
    } <= found
    assert not {name for name in found if name.startswith(("models.backfill", "models.partitioning"))}
    assert "models.workloads.lublin2003" not in found


def test_a_policy_that_is_added_makes_nothing_stale_and_counts_itself(mine, own_family, tmp_path):
    assert mine().status == 0
    own_family(worst="def scheme(work):\n    return 1\n")
    assert "up to date" in mine().out
    package = f"own_{tmp_path.name.replace('-', '_')}"

    def named():
        sources.clear_caches()
        return sources.of_named({"scheme": f"{package}.worst.scheme"})

    before = named()
    own_family(worst="def scheme(work):\n    return 2\n")
    assert named() != before


def test_ones_own_package_counts_as_far_as_it_is_imported(tmp_path, monkeypatch):
    package = tmp_path / "mypackage"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "schemes.py").write_text("from .deep import rooms\n\ndef widest():\n    return rooms.ROOM\n")
    (package / "deep" / "rooms.py").write_text("import mypackage.constants as c\nROOM = c.C\n")
    (package / "constants.py").write_text("C = 1\n")
    (package / "other.py").write_text("unused = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def now():
        sources.clear_caches()
        return sources.of_named({"scheme": "mypackage.schemes.widest", "name": "other.thing"})

    first = now()
    assert first.keys() == {"mypackage.schemes"}
    (package / "other.py").write_text("unused = 2\n")
    assert now() == first
    (package / "constants.py").write_text("C = 2\n")
    assert now() != first
    assert "mypackage" not in sys.modules, "found, and not imported"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("def f(x):\n    '''Doc.'''\n    return x + 1\n", True),
        ("# comment\ndef f(x):\n\n    return (x\n        + 1)\n", True),
        ("X = 1\n'''Of the attribute.'''\ndef f(x):\n    return x + 1\n", False),
        ("def f(x):\n    return x + 2\n", False),
        ("def f(x):\n    return x - 1\n", False),
        ("def f(x):\n    return 1 + x\n", False),
        ("def f(x):\n    return x + 1.0\n", False),
    ],
)
def test_what_is_only_told_does_not_count(text, same):
    plain = sources._parse(b"def f(x):\n    return x + 1\n").digest
    assert (sources._parse(text.encode()).digest == plain) is same


def test_a_function_of_a_session_is_refused():
    with pytest.raises(SweepError, match=r"^__main__\.place: a function of this notebook or script is not"):
        sources.of_named({"scheme": "__main__.place"})


def test_a_module_that_changes_under_a_session_is_refused(monkeypatch, expand):
    expand()
    file = Path(fake_family.model.__file__)
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + (b"\nX = 1\n" if self == file else b""))
    with pytest.raises(SweepError, match=r"model\.py has changed since this session read it.*restart Python"):
        expand()


def test_a_version_that_is_raised_makes_results_stale(expand, monkeypatch):
    from sweep.plan import families

    before = expand().ids
    raised = Family(**{**vars(FAMILY), "version": 2})
    monkeypatch.setattr(families, "find", lambda package: raised)
    after = expand().ids
    assert [id_[:14] for id_ in before] == [id_[:14] for id_ in after]
    assert not set(before) & set(after)
