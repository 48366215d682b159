"""The record of a submission is read as it was written."""

from pathlib import Path

import numpy as np
from studies import configured, folder

from slurm import packing, submission
from slurm.submission import Submission
from sweep.config.settings import Config
from sweep.plan.plan import expand as expanded


def made(path: Path) -> Submission:
    return Submission(
        path=path,
        job="queue-0123abcd",
        created=1e9,
        arguments=["+experiment=queue"],
        output=str(path.parent.parent),
        place="/",
        profile={"cpus_per_task": 1, "max_attempts": 2, "time_s": None},
        digest="0",
        n_tasks=24,
        n_elements=4,
        seconds=None,
        array=17,
    )


def test_a_record_comes_back(tmp_path):
    one = made(tmp_path)
    one.save()
    assert submission.load(tmp_path) == one


def test_folders_are_numbered_and_the_latest_comes_first(tmp_path):
    results = folder(tmp_path)
    assert list(submission.submissions(results)) == []
    paths = [submission.claim(results) for _ in range(3)]
    assert [path.name for path in paths] == ["001", "002", "003"]
    for path in paths[::2]:
        made(path).save()
    assert [one.name for one in submission.submissions(results)] == ["003", "001"]


def test_what_elements_read_is_what_was_written(tmp_path):
    given = configured(
        "policy=quick", "precision.relative=0.1", "grid.load=[null,0.3]", "measures.groups=[size]"
    )
    odd = {1: {True: [None, 0.1]}, "": {"": 2}, "plain": {"a": "b"}}
    for config in (given, Config(given.settings, {"policy": {"odd": odd}})):
        packed = packing.pack(np.arange(10), np.arange(10.0), 3)
        submission.write(tmp_path, config, packed)
        read, again = submission.read(tmp_path)
        assert read.files == config.files
        assert [again.share(i).tolist() for i in range(3)] == [packed.share(i).tolist() for i in range(3)]
    submission.write(tmp_path, given, packed)
    assert expanded(submission.read(tmp_path)[0]).ids == expanded(given).ids
