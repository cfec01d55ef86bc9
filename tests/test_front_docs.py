"""The command in docs/fronts.md prints what it says, but for how long it took; its pictures are there."""

from __future__ import annotations

import re

from tests.test_readme import ROOT, folder, parts, run, taken_apart  # noqa: F401 - a fixture

PAGE = (ROOT / "docs" / "fronts.md").read_text(encoding="utf-8")
METHODS = ("lp", "nsga2", "min-")  # rows that end with seconds, and with a ratio of seconds


def test_the_command_prints_what_the_page_says(folder):  # noqa: F811
    ((command, expected),) = [
        pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
    ]
    printed = run(command, folder).splitlines()
    assert len(printed) == len(expected.splitlines())
    for now, then in zip(printed, expected.splitlines(), strict=True):
        (words, numbers), (shown, known) = taken_apart(now), taken_apart(then)
        assert words == shown
        timed = now.startswith(METHODS) and "generations" not in now
        if timed:
            numbers, known = numbers[:-2], known[:-2]
        assert numbers == known, now


def test_every_picture_of_the_page_is_there_and_small():
    pictures = re.findall(r"\((figures/[^)]*)\)", PAGE)
    assert len(pictures) >= 8
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < 300_000
