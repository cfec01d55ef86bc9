"""The compiled loops as they are written: they run in Python, and coverage sees them."""

from __future__ import annotations

from lpsched.online import policies
from lpsched.online.simulate import mapping, pairs, turns

MODULES = (mapping, pairs, turns, policies)


def run_plainly(monkeypatch):
    """Put plain functions in the place of all compiled ones."""
    for module in MODULES:
        for name, value in vars(module).items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
