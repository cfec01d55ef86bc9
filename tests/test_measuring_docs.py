"""The commands in the page on measuring print what it says."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.test_readme import ROOT, parts, run, taken_apart

PAGE = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")
COMMANDS = [
    pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
]


def test_the_commands_print_what_the_page_says(tmp_path):
    for name in ("old", "new"):
        shutil.copy(ROOT / "tests" / "data" / f"node_{name}.yaml", tmp_path / f"{name}.yaml")
    assert len(COMMANDS) == 4
    for command, expected in COMMANDS:
        now, then = (
            [taken_apart(line) for line in text.splitlines()] for text in (run(command, tmp_path), expected)
        )
        assert [words for words, _ in now] == [words for words, _ in then], command
        for (_, numbers), (_, known) in zip(now, then, strict=True):
            assert numbers == pytest.approx(known, rel=1e-3)  # of a search for temperatures, within its gap
