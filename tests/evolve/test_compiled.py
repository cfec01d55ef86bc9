"""Compiling: code is kept where it can be, and its absence is told to who asks."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import MissingExtraError
from lpsched.evolve import compiled as module
from lpsched.evolve.compiled import compiled, require_compiler
from lpsched.evolve.facility import evolve_facility
from tests.evolve.drawn import plain
from tests.paper_facility import paper_facility


def twice(number):
    return number * 2


def test_a_compiled_function_returns_what_the_plain_one_does():
    made = compiled(twice)
    assert made(21) == twice(21) == 42
    assert plain(made) is twice


def test_where_no_folder_can_be_written_to_nothing_is_kept(monkeypatch):
    asked = []

    class Unwritable:
        @staticmethod
        def njit(function=None, *, cache=False):
            asked.append(cache)
            if cache:
                raise RuntimeError("no locator available")
            return function

    monkeypatch.setattr(module, "numba", Unwritable)
    assert compiled(twice)(21) == 42
    assert asked == [True, False]


def test_without_numba_whoever_asks_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "numba", None)
    assert compiled(twice) is twice
    with pytest.raises(MissingExtraError, match=r"the genetic algorithm needs .*lpsched\[evolve\]"):
        require_compiler()
    with pytest.raises(MissingExtraError):
        evolve_facility(paper_facility(), rng=np.random.default_rng(0), generations=1)
