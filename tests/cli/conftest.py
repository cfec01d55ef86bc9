from __future__ import annotations

import json

import pytest

from lpsched.cli.main import run
from tests.support import SOUND


@pytest.fixture
def bag(tmp_path):
    path = tmp_path / "bag.json"
    path.write_text(json.dumps(SOUND))
    return str(path)


@pytest.fixture
def lpsched(capsys):
    """Run a command; return its exit code, its stdout (as an object with --json) and its stderr."""

    def call(*arguments):
        code = run(list(arguments))
        out, err = capsys.readouterr()
        return code, json.loads(out) if "--json" in arguments else out, err

    return call
