"""The compiled loops as they are written: they run in Python, and coverage sees them."""

from __future__ import annotations

from lpsched.online.simulate import choosing
from lpsched.online.simulate.mapping import board, pairs, turns
from lpsched.online.simulate.mapping import pairs as sufferage
from lpsched.online.simulate.mapping import present as fastest_types

MODULES = (board, fastest_types, pairs, sufferage, turns, choosing)


def run_plainly(monkeypatch):
    """Put plain functions in the place of all compiled ones."""
    for module in MODULES:
        for name, value in vars(module).items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
