from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    """Keep records of clocks out of the user's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))  # also where a mistake would forget the former
