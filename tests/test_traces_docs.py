"""The page on logs: its commands print what it says; its Python runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.test_readme import ROOT, parts, run

PAGE = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
COMMANDS = [
    pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the two logs of the page; its commands run in their order."""
    folder = tmp_path_factory.mktemp("traces")
    shutil.copy(ROOT / "tests" / "data" / "small.swf", folder / "log.swf")
    shutil.copy(ROOT / "tests" / "data" / "sacct_with_steps.txt", folder / "sacct.txt")
    return folder


def test_commands_print_what_the_page_says(folder):
    assert len(COMMANDS) == 3
    for command, expected in COMMANDS:
        assert run(command, folder) == expected, command


def test_the_python_of_the_page_runs(folder):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("8 5 {'a part of a job")
