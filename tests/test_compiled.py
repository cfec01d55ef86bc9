"""Compiling: code is kept where it can be, and its absence is told to who asks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lpsched import compiled as module
from lpsched.compiled import compiled, forget_the_unreadable, require_compiler
from lpsched.errors import MissingExtraError
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


def test_code_on_disk_that_cannot_be_read_any_more_is_forgotten():
    # As after an update that renamed the module of a type which the code on disk knows.
    def no_such_module():
        raise ModuleNotFoundError("No module named 'lpsched.evolve.renamed'")

    told: list[str] = []
    stale = SimpleNamespace(
        _cache_file=SimpleNamespace(_load_index=no_such_module), flush=lambda: told.append("flushed")
    )
    forget_the_unreadable(SimpleNamespace(_cache=stale))
    assert told == ["flushed"]
    sound = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=dict), flush=lambda: told.append("again"))
    forget_the_unreadable(SimpleNamespace(_cache=sound))
    assert told == ["flushed"]
