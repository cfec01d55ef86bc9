"""A small bench as it stands in a file, to be changed by tests."""

from __future__ import annotations

FORMAT = "lpsched-bench/1"


def asked(**changes):
    """Return a bench of two applications on two cores; `...` drops a key."""
    raw = {
        "format": FORMAT,
        "name": "node",
        "cores": 2,
        "applications": [{"name": "zip", "command": ["xz", "-9", "big"]}, {"name": "sort", "command": ["sort", "big"]}],
    } | changes
    return {key: value for key, value in raw.items() if value is not ...}
