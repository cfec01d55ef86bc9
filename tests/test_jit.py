"""Compiling: code is kept where it can be, and its absence is told to who asks."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeGuard

import numba
import numpy as np
import pytest

from lpsched import jit as module
from lpsched.errors import MissingExtraError
from lpsched.facility.genetic import evolve_facility
from lpsched.jit import compiled, compiled_inside, forget_the_unreadable, require_compiler
from tests.facility.drawn import plain
from tests.paper_facility import paper_facility

ROOT = Path(__file__).parent.parent


def twice(number):
    return number * 2


def thrice(number):
    return number * 3


within: Any = compiled_inside(thrice)


@compiled
def caller(number):
    return within(number)


def test_a_compiled_function_returns_what_the_plain_one_does():
    made = compiled(twice)
    assert made(21) == twice(21) == 42
    assert plain(made) is twice


def test_code_that_was_kept_with_other_options_is_not_used():
    # Without a wrapper for Python the code on disk would crash the process.
    for _ in range(2):
        assert compiled_inside(thrice)(7) == 21
        caller(7)
        assert compiled(thrice)(7) == 21


def test_where_no_folder_can_be_written_to_nothing_is_kept(monkeypatch):
    asked = []

    class Unwritable:
        @staticmethod
        def njit(*, cache=False, **options):
            asked.append((cache, options))
            if cache:
                raise RuntimeError("no locator available")
            return lambda function: function

    monkeypatch.setattr(module, "numba", Unwritable)
    assert compiled(twice)(21) == 42
    assert asked == [(True, {}), (False, {})]
    compiled_inside(twice)
    assert asked[2][1] == asked[3][1] == {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


inside: Any = compiled_inside(twice)


@numba.njit  # without a cache: code from a run before would not compile what is inside
def twice_and_one(number):
    return inside(number) + 1


def test_what_is_compiled_inside_is_plain_for_all_but_compiled_functions():
    assert twice_and_one(21) == 43
    assert twice_and_one(1.5) == 4.0
    assert (inside(21), inside(1.5), inside(number=3)) == (42, 3.0, 6)
    assert inside([1, None]) == [1, None, 1, None]  # a list of both could not be compiled
    assert len(inside.overloads) == 2
    assert plain(inside) is twice


@pytest.mark.unwatched
def test_plain_code_names_no_function_that_is_compiled_inside():
    # It would run, but a hundred times slower than where it is compiled.
    texts = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("lpsched/**/*.py")}
    marking = [path for path, text in texts.items() if "\n@compiled_inside\n" in text]
    modules = [f"from {'.'.join(path.relative_to(ROOT).with_suffix('').parts)} import" for path in marking]
    trees = {
        path: ast.parse(text)
        for path, text in texts.items()
        if path in marking or any(module in text for module in modules)
    }
    names = {
        f"{path.parent.relative_to(ROOT).as_posix()}:{part.name}"
        for path, tree in trees.items()
        for part in tree.body
        if marked(part, {"compiled_inside"})
    }
    assert len(names) > 90
    for path, tree in trees.items():
        plain_code = [part for part in tree.body if not marked(part, {"compiled", "compiled_inside"})]
        local = {statement.name for statement in tree.body if marked(statement, {"compiled_inside"})} | {
            alias.name
            for statement in tree.body
            if isinstance(statement, ast.ImportFrom)
            for alias in statement.names
            if f"{str(statement.module).rpartition('.')[0].replace('.', '/')}:{alias.name}" in names
        }
        for part in plain_code:
            used = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
            assert not used & local, f"{path}: {used & local}"


def marked(part: ast.stmt, marks: set[str]) -> TypeGuard[ast.FunctionDef]:
    """Tell whether a statement is a function with one of these decorators."""
    return isinstance(part, ast.FunctionDef) and any(
        isinstance(mark, ast.Name) and mark.id in marks for mark in part.decorator_list
    )


def test_without_numba_whoever_asks_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "numba", None)
    assert compiled(twice) is twice
    with pytest.raises(MissingExtraError, match="the genetic algorithm needs the extra 'evolve'"):
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
