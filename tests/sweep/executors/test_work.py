"""What a worker makes of a task, above all of one that goes wrong."""

from dataclasses import replace

import numpy as np
import pytest
from fake_family import model

from sweep.executors import work
from sweep.plan import families
from sweep.store.records import Failed, Finished


@pytest.fixture
def outcome(monkeypatch, expand):
    """Run a task of a family that returns a given outcome."""

    def run(**changes):
        real = model.simulate
        monkeypatch.setattr(model, "simulate", lambda point: replace(real(point), **changes))
        return work.simulate(task)

    task = expand().task(0)
    return run


def test_a_task_gives_its_arrays(expand):
    task = expand().task(0)
    record = work.simulate(task)
    assert isinstance(record, Finished)
    assert (record.id, record.jobs, record.batches) == (task.id, 350, 6)
    assert not record.overflowed
    assert record.metrics == (("response", 6), ("response_by_class", 12))
    outcome = model.simulate(work.point(task, families.find(task.family)))
    arrays = [outcome.metrics[name].ravel() for name, _ in record.metrics]
    assert record.values == np.concatenate(arrays).tobytes()
    assert record.values == work.simulate(task).values, "a pure function"


@pytest.mark.parametrize(
    ("metrics", "says"),
    [
        ({"response": np.ones(6)}, "declares ['response', 'response_by_class'], returned ['response']"),
        ({"response": np.ones(6), "response_by_class": np.ones(6)}, "response_by_class: shape (6,)"),
        ({"response": np.ones(5), "response_by_class": np.ones((6, 2))}, "[5, 6] batches"),
        ({"response": np.ones(7), "response_by_class": np.ones((7, 2))}, "declared checkpoints (6,)"),
    ],
)
def test_a_family_that_breaks_its_word_is_a_failed_task(outcome, metrics, says):
    record = outcome(metrics=metrics)
    assert isinstance(record, Failed)
    assert says in record.traceback
    assert len(record.seed) == 3


def test_a_run_that_ends_early_is_what_it_is(outcome):
    record = outcome(metrics={"response": np.ones(4), "response_by_class": np.ones((4, 2))})
    assert isinstance(record, Finished)
    assert record.batches == 4
