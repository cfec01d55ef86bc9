from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lpsched.bag.compare.result import shown_front
from lpsched.bag.result import Point
from lpsched.bag.schedule import Schedule
from lpsched.evolve.fronts import FrontEntry
from lpsched.model.provenance import Provenance
from lpsched.model.violation import Violation
from lpsched.online.result.comparisons import DayFront, UtilityPoint, evolved_or_first, peak_of
from tests.report.fronts import EVOLVED, EXACT, compared

if TYPE_CHECKING:
    from lpsched.online.schedule import DaySchedule

BROKEN: FrontEntry[Point, Schedule] = FrontEntry(
    "my.csv", refused=2, violations=(Violation("wrong-count", "one is missing"),)
)
POINTS = (UtilityPoint(0.0, 1.0), UtilityPoint(2.0, 30.0), UtilityPoint(4.0, 40.0))


def test_rows_tell_how_many_times_as_long_as_the_exact_front_a_method_took():
    rows = compared(EVOLVED, BROKEN).rows()
    # 0.25 + 0.25 s for the front, 50 s for the evolution.
    assert rows[1] == ("nsga2", "2", "0.2500", "50 %", "125 %", "50", "100")
    assert rows[2] == ("my.csv", "0", "-", "-", "-", "-", "-")


def test_the_json_has_the_exact_front_and_every_method():
    said = compared(EVOLVED, BROKEN).to_dict()
    assert said["format"] == "lpsched-front/1"
    assert said["seed"] == 3
    assert said["reference"] == {"energy_joules": 6e6, "makespan_seconds": 900.0}
    names = [each["name"] for each in said["comparisons"]]
    assert names == ["lp", "nsga2", "my.csv"]
    nsga2 = said["comparisons"][1]
    assert nsga2["points"][1] == {"energy_joules": 6e6, "makespan_seconds": 300.0}
    assert (nsga2["times_as_long"], nsga2["generations"], nsga2["ended"]) == (100.0, 7, "generations")
    assert said["comparisons"][2]["violations"] == [{"code": "wrong-count", "sentence": "one is missing"}]
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_a_comparison_is_valid_if_every_method_brought_something_and_nothing_broken():
    assert compared(EVOLVED).valid
    assert not compared(EVOLVED, BROKEN).valid
    assert not compared(FrontEntry("nothing")).valid
    assert not compared(replace(EVOLVED, refused=1)).valid


def test_the_front_that_is_shown_is_the_evolved_one_else_that_of_our_schedules():
    assert shown_front(compared(BROKEN, EVOLVED)) == (EVOLVED.points, EVOLVED.schedules)
    ours = (Point(2.1e6, 620.0),), (Schedule(()),)
    assert shown_front(compared(BROKEN)) == ours
    assert shown_front(compared(replace(EVOLVED, points=(), schedules=()))) == ours
    assert shown_front(EXACT) == ours  # the second vertex has no schedule


def test_a_notebook_shows_the_methods_as_a_table():
    assert "<td>nsga2</td>" in compared(EVOLVED)._repr_html_()


def test_the_peak_is_where_a_joule_brings_most():
    # 30 / 2 = 15 a joule is more than 40 / 4 = 10; where no energy is taken there is no such number.
    assert peak_of(FrontEntry("x", POINTS)) == UtilityPoint(2.0, 30.0)
    assert peak_of(FrontEntry("x", POINTS[:1])) is None
    assert peak_of(FrontEntry("x")) is None


def test_a_days_front_tells_its_peaks_and_the_envelope():
    entries: tuple[FrontEntry[UtilityPoint, DaySchedule], ...] = (
        FrontEntry("min-min", POINTS[2:]),
        FrontEntry("nsga2", POINTS, generations=5),
        FrontEntry("none"),
    )
    envelope = (UtilityPoint(0.0, 2.0), UtilityPoint(5.0, 50.0))
    result = DayFront(envelope, 1, entries, Provenance("0", "none", "day", "x"))
    said = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert said["format"] == "lpsched-day-front/1"
    assert said["envelope"][1] == {"energy_joules": 5.0, "utility": 50.0}
    assert [each["peak"] for each in said["comparisons"]] == [
        {"energy_joules": 4.0, "utility": 40.0, "utility_per_joule": 10.0},
        {"energy_joules": 2.0, "utility": 30.0, "utility_per_joule": 15.0},
        None,
    ]
    # Most utility, utility per kWh at the peak (15 x 3.6e6), and the peak's utility and kWh (2 / 3.6e6).
    assert result.rows()[1][6:] == ("40", "54,000,000", "30", "5.556e-07")
    assert result.rows()[2][6:] == ("-", "-", "-", "-")
    assert evolved_or_first(result).name == "nsga2"
    assert evolved_or_first(replace(result, entries=entries[:1])).name == "min-min"
    assert "<td>nsga2</td>" in result._repr_html_()


@pytest.mark.parametrize("took", [0.0, None])
def test_without_a_time_there_is_no_ratio_of_times(took):
    result = compared(replace(EVOLVED, seconds=took))
    assert result.times_as_long(result.entries[1]) == took
