"""The thesis's table 8.5 gives the savings in print."""

from __future__ import annotations

import sys

import pytest

from scripts.figures import thesis_table_8_5 as figure_thesis_table_8_5

pytestmark = pytest.mark.slow


def test_canneal_and_streamcluster_save_what_the_thesis_says(monkeypatch, capsys, tmp_path):
    figure = tmp_path / "savings.svg"
    monkeypatch.setattr(sys, "argv", ["figure", "--figure", str(figure)])
    figure_thesis_table_8_5.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == [
        "blackscholes + canneal",
        "canneal + streamcluster",
        "blackscholes + 2 bodytrack + canneal",
        "2 canneal + 2 streamcluster",
    ]
    # 7,873 + 22,636 = 30,509 and 24,281 are in print; 6,228 of 30,509 is 20.4 %.
    assert rows[1][1:] == ["30,509", "24,281", "6,228", "20.4 %"]
    # 7,873 + 9,347 + 2 x 9,583 = 36,386, less 28,729.
    assert rows[2][1:4] == ["36,386", "28,729", "7,657"]
    assert figure.read_text().startswith("<?xml")
