"""The page on clusters, its schedules: the commands print what it says, and its table has every rule."""

from __future__ import annotations

import re

import pytest

from tests.test_clusters_docs import FILE, PAGE
from tests.test_readme import ROOT, parts, run

CHECKED, JUDGED = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
SCHEDULES = dict(
    zip(("mine.csv", "worse.csv"), re.findall(r"```csv\n(.*?)```", PAGE, flags=re.DOTALL), strict=True)
)


@pytest.fixture
def folder(tmp_path):
    for name, text in {"lab.yaml": FILE, **SCHEDULES}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


def test_verify_prints_what_the_page_says(folder):
    ((command, printed),) = parts(CHECKED)
    assert lines(run(command, folder)) == lines(printed)


def test_validate_prints_what_the_page_says_but_for_the_bound(folder):
    ((command, printed),) = parts(JUDGED)
    found = [line for line in lines(run(command, folder)) if not line.startswith("bound")]
    expected = [line for line in lines(printed) if not line.startswith("bound")]
    digits = re.compile(r"\d+\.?\d* %|\s+")  # shares depend on the bound
    assert [digits.sub(" ", line) for line in found] == [digits.sub(" ", line) for line in expected]


def test_the_table_has_every_rule_of_the_verifier():
    code = "".join(
        (ROOT / "lpsched" / "verify" / f"{name}.py").read_text(encoding="utf-8")
        for name in ("cluster_runs", "exact_times", "day_counting")
    )
    rules = set(re.findall(r"(?:return|Violation\(|broken =) ?\(?\"([a-z-]+)\"", code))
    assert len(rules) == 15
    for rule in rules:
        assert f"`{rule}`" in PAGE, rule
