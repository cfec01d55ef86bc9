"""The command in docs/pricing.md prints what it says."""

from __future__ import annotations

import re

import pytest

from tests.test_readme import ROOT, folder, parts, run, taken_apart  # noqa: F401 - a fixture

PAGE = (ROOT / "docs" / "pricing.md").read_text(encoding="utf-8")
LAST_DIGIT = 1e-4


def test_the_command_prints_what_the_page_says(folder):  # noqa: F811
    ((command, expected),) = [
        pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
    ]
    printed = run(command, folder).splitlines()
    assert len(printed) == len(expected.splitlines())
    for now, then in zip(printed, expected.splitlines(), strict=True):
        (words, numbers), (shown, known) = taken_apart(now), taken_apart(then)
        assert words == shown
        assert numbers == pytest.approx(known, rel=LAST_DIGIT, abs=LAST_DIGIT), now
