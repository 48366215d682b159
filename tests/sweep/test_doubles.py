"""Doubles that were written as base64, and what is none."""

import base64
import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.store import doubles as module
from sweep.store.doubles import doubles


def test_examples():
    assert doctest.testmod(module).failed == 0


@given(st.integers(0, 9), st.data())
def test_bits_are_those_that_were_written(n, data):
    every = data.draw(st.lists(st.binary(min_size=8 * n, max_size=8 * n), max_size=5))
    found = doubles([memoryview(base64.b64encode(each)) for each in every], n)
    assert found.shape == (len(every), n)
    assert found.tobytes() == b"".join(every)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_is_no_base64_of_so_many_is_refused(n):
    text = base64.b64encode(b"\xff" * 8 * n)
    for wrong in (text[:-4], text + b"AAAA", text[:-1], b""):
        with pytest.raises(ValueError, match=r"base64|padding|data"):
            doubles([text, wrong], n)
    for place in range(len(text)):
        for character in b'\0\n =-_"~\x80\xff':
            wrong = text[:place] + bytes([character]) + text[place + 1 :]
            if wrong != text:
                with pytest.raises(ValueError, match=r"base64|padding|data"):
                    doubles([text, wrong], n)
