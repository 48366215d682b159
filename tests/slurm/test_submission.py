"""The record of a submission is read as it was written."""

import numpy as np
from studies import configured, folder, submitted

from slurm import packing, submission
from sweep.config.settings import Config
from sweep.plan.expansion import expand as expanded


def test_a_record_comes_back(tmp_path):
    one = submitted(tmp_path, array=17)
    one.save()
    assert submission.load(tmp_path) == one


def test_folders_are_numbered_and_the_latest_comes_first(tmp_path):
    results = folder(tmp_path)
    assert list(submission.submissions(results)) == []
    paths = [submission.claim(results) for _ in range(3)]
    assert [path.name for path in paths] == ["001", "002", "003"]
    for path in paths[::2]:
        submitted(path).save()
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
