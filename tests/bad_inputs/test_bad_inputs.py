"""Of every bad input all problems are reported, in the words of the tables, and nothing else comes of it."""

from __future__ import annotations

import pytest

from tests.bad_inputs.tables import TABLES, read, said

HOW = "if it is meant: python -m tests.bad_inputs.tables"


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_each_problem_is_reported_in_these_words(path, tmp_path):
    table = read(path)
    wrong = []
    for case in table["cases"]:
        code, says = said(table, case, tmp_path)
        if (code, says) != (table["exit"], case["says"]):
            wrong.append(f"{case['case']}: exit {code}\n  expected {case['says']}\n  got      {says}")
    assert not wrong, "\n".join([*wrong, HOW])


def test_the_tables_have_cases_of_all_kinds_with_names_of_their_own():
    tables = [read(path) for path in TABLES]
    for table in tables:
        names = [case["case"] for case in table["cases"]]
        assert len(names) == len(set(names)), table["kind"]
        assert all(case["says"] for case in table["cases"]), table["kind"]
    assert sum(len(table["cases"]) for table in tables) >= 500


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_without_a_change_nothing_is_wrong(path, tmp_path):
    table = read(path)
    if table["kind"] in {"bag", "day", "clusters", "facility"}:
        table["command"] = "show FILE"
    if "valid" in table:
        assert said(table, {}, tmp_path) == (0, [])
