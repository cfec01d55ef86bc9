"""The scripts of the thesis's figures of chapters 5 and 6: they run, draw, and print what they drew."""

from __future__ import annotations

import sys

import pytest

from scripts.figures import thesis_5_5 as figure_thesis_5_5
from scripts.figures.shared import thesis_fronts
from scripts.figures.shared.data_sets import chapter_5, chapter_6_second

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a script that takes a few generations, and return its figure's start and what it printed."""

    def call(main, generations):
        figure = tmp_path / "figure.svg"
        monkeypatch.setattr(sys, "argv", ["figure", "--generations", generations, "--figure", str(figure)])
        main()
        return figure.read_text(encoding="utf-8"), capsys.readouterr().out

    return call


def test_five_first_populations_are_drawn_after_so_many_generations(run):
    figure, printed = run(lambda: thesis_fronts.draw_populations("x", "y", chapter_5(250), "9"), "1,3")
    assert figure.startswith("<?xml")
    rows = [line.split(" | ")[:2] for line in printed.splitlines()[2:]]
    names = ["min-energy", "min-min", "max-utility", "utility-per-energy", "random"]
    assert rows == [[f"| {name}", count] for name in names for count in ("1", "3")]


def test_going_on_from_a_population_is_one_long_run():
    (once,) = thesis_fronts.evolved_days(chapter_5(250), "min-min", [4], 1)
    *_, last = thesis_fronts.evolved_days(chapter_5(250), "min-min", [1, 4], 1)
    assert once.entries[0].points == last.entries[0].points


def test_the_peak_is_drawn_and_told(run):
    figure, printed = run(figure_thesis_5_5.main, "2")
    assert figure.startswith("<?xml")
    assert printed.startswith("peak: ")


def test_machines_at_five_points_are_drawn_and_told(run):
    figure, printed = run(lambda: thesis_fronts.draw_machines("x", "y", chapter_6_second(2), falling=False), "20")
    assert figure.startswith("<?xml")
    assert "lp-dense: " in printed
    assert [line[:2] for line in printed.splitlines()[3:]] == ["A:", "B:", "C:", "D:", "E:"]
