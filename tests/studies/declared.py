"""Small studies for tests."""

from __future__ import annotations

import json

from tests.support import SOUND

TINY = {"task_types": 2, "tasks": 6, "machines": [1, 2]}


def declared(**changes):
    """Return what a study file says: two tiny bags, two methods, two objectives: eight runs."""
    raw = {
        "format": "lpsched-study/1",
        "name": "tiny",
        "instances": [{"generate": "bag", "seeds": [3, 4], **TINY}],
        "methods": ["lp", "min-min"],
        "parameters": {"objective": ["makespan", "energy"]},
    }
    return {key: value for key, value in (raw | changes).items() if value is not ...}


def study_file(folder, **changes):
    """Write a study, and the sound bag beside it; return where."""
    (folder / "bag.json").write_text(json.dumps(SOUND))
    path = folder / "tiny.json"
    path.write_text(json.dumps(declared(**changes)))
    return path
