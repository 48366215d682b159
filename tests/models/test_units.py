"""KB and MB mean the same everywhere: in section 5.1 of McCann 1994, in logs and in machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

CONF = Path(__file__).parents[2] / "conf"
BANDWIDTH = OmegaConf.load(CONF / "machine" / "_machine.yaml").bandwidth
CYCLES = {
    "spmd": OmegaConf.load(CONF / "workload" / "mccann1994" / "spmd.yaml"),
    "any rigid jobs": OmegaConf.load(CONF / "workload" / "_rigid.yaml").mccann,
}


@pytest.mark.parametrize("cycle", CYCLES.values(), ids=CYCLES)
def test_a_thread_moves_in_the_time_that_the_texts_numbers_give(cycle: Any) -> None:
    """4096 KB of data are 4 MB, and 512 KB of code half of one: at 200 MB/s, 20 and 2.5 ms."""
    assert cycle.data_bytes / BANDWIDTH == 4 / 200
    assert cycle.code_bytes / BANDWIDTH == 0.5 / 200
