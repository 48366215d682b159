"""The heap of ends hands out jobs by end and number, whatever was pushed and popped before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.kernels import ends

pop, push = ends.pop.py_func, ends.push.py_func  # Python cannot call a compiled part


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=60))
def test_jobs_leave_by_their_end_and_of_equal_ends_by_their_number(steps):
    end, heap, running = np.zeros(len(steps)), np.zeros(len(steps), dtype=np.int64), []
    for job in reversed(
        range(len(steps))
    ):  # later numbers first: an order of pushes would be the wrong way round
        if steps[job] is not None:
            end[job] = steps[job]
            push(end, heap, len(running), job)
            running.append(job)
        elif running:
            expected = min(running, key=lambda one: (end[one], one))
            assert pop(end, heap, len(running)) == expected
            running.remove(expected)
