"""The script of the thesis's table 3.2 prints ours beside the thesis's."""

from __future__ import annotations

import re
import sys

import pytest

from scripts.figures import thesis_table_3_2 as figure_thesis_table_3_2

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code


def test_the_ranges_of_a_few_trials_are_near_those_of_the_thesis(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["figure", "--trials", "4"])
    figure_thesis_table_3_2.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["example", "0.082 to 0.091"], ["low", "< 1e-15"], ["high", "0.14 to 0.18"]]
    (low, high), tiny, (least, most) = (
        [float(each) for each in re.findall(r"[\d.]+(?:e-\d+)?", row[2])] for row in rows
    )
    assert 0.078 <= low < high <= 0.094
    assert max(tiny) == 1e-15
    assert 0.135 <= least < most <= 0.185
    for row in rows[1:]:
        assert all(float(each.split()[-3]) < 0.003 for each in row[3:])  # "..., off by 0.0020 at most"


def test_a_trial_is_the_same_in_all_three_environments_but_for_affinity():
    example, low, high = (figure_thesis_table_3_2.measures(0, 1, kind) for kind in ("example", "low", "high"))
    assert low[0] < 1e-15 < example[0] < high[0]
    assert figure_thesis_table_3_2.measures(0, 2, "example") != example
