from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lpsched.bag.compare.result import Entry, Validation
from lpsched.bag.verify import Measurement
from lpsched.facility.result import FacilityValidation
from lpsched.facility.result import Judged as FacilityEntry
from lpsched.model.violation import Violation
from lpsched.online.result.comparisons import ClustersValidation, DayValidation, ScheduleEntry
from lpsched.report.figures.comparisons import validation_figure, validation_tooltips, verdicts_of
from tests.report.bags import PROVENANCE

OnlineEntry: Any = ScheduleEntry  # of whatever measures
LATE = Violation("after-deadline", "too late")
CAP = Violation("over-power-cap", "too much")
BAG = Validation(
    "makespan",
    "seconds",
    100.0,
    (
        Entry("near", 102.0, 0.02, Measurement(102.0, None), ()),
        Entry("far $x$", 118.0, 0.18, Measurement(118.0, None), ()),
        Entry("broken", None, None, None, (LATE, CAP)),
    ),
    PROVENANCE,
)


def drawn(result):
    (axes,) = validation_figure(result).axes
    return axes


def marks(axes):
    return [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "o"]


def test_each_schedule_is_a_mark_with_a_line_to_the_bound_and_words():
    axes = drawn(BAG)
    assert marks(axes) == [(102.0, 0.0), (118.0, 1.0)]
    strokes = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert [100.0, 102.0] in strokes
    assert [100.0, 118.0] in strokes
    assert [text.get_text() for text in axes.texts] == [
        "1 min 42 s, gap 2 %",
        "1 min 58 s, gap 18 %",
        "invalid: after-deadline and 1 more",
    ]
    (bound,) = [line for line in axes.lines if line.get_label() == "bound, proved"]
    assert bound.get_xdata()[0] == pytest.approx(100.0)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["near", r"far \$x\$", "broken"]
    assert axes.get_xlabel() == "makespan, seconds"


def test_times_and_energies_are_drawn_in_the_unit_that_fits_them():
    hours = replace(BAG, entries=(replace(BAG.entries[0], value=9000.0, gap=89.0),))
    assert (drawn(hours).get_xlabel(), marks(drawn(hours))) == ("makespan, hours", [(2.5, 0.0)])
    energy = replace(
        hours, objective="energy", unit="joules", entries=(replace(BAG.entries[0], value=7.2e6, gap=71.0),)
    )
    assert (drawn(energy).get_xlabel(), marks(drawn(energy))) == ("energy, kWh", [(2.0, 0.0)])
    assert validation_tooltips(energy)[0].label == "near: 2 kWh, gap 7,100 %; bound 0.02777 Wh"


def test_the_marks_are_named_once():
    (legend,) = validation_figure(BAG).legends
    assert [text.get_text() for text in legend.get_texts()] == ["bound, proved", "what a schedule achieves"]


def test_words_have_room_to_the_right_of_the_farthest_mark():
    axes = drawn(BAG)
    left, right = axes.get_xlim()
    assert (118.0 - left) / (right - left) < 0.7


def test_far_schedules_make_the_axis_logarithmic_and_losses_do_not():
    far = replace(BAG, entries=(replace(BAG.entries[0], value=4000.0, gap=39.0),))
    assert drawn(far).get_xscale() == "log"
    loss = replace(BAG, bound=1.0, entries=(replace(BAG.entries[0], value=-4000.0, gap=4001.0),))
    assert drawn(loss).get_xscale() == "linear"


def test_many_schedules_are_cut_and_counted():
    axes = drawn(replace(BAG, entries=BAG.entries * 20))
    assert len(axes.get_yticklabels()) == 50
    assert axes.get_xlabel() == "makespan, seconds; 10 more are not drawn"


@pytest.mark.parametrize("entries", [(), BAG.entries[2:]], ids=["nobody", "only-an-invalid-one"])
def test_without_any_valid_schedule_the_bound_is_drawn(entries):
    axes = drawn(replace(BAG, entries=entries))
    left, right = axes.get_xlim()
    assert left < 100.0 < right


def test_spots_tell_the_valid_ones():
    found = validation_tooltips(BAG)
    assert [(spot.x, spot.y) for spot in found] == [(102.0, 0), (118.0, 1)]
    assert found[1].label == "far $x$: 1 min 58 s, gap 18 %; bound 1 min 40 s"


class Measured:
    """What days, clusters and facilities measure, as far as the figure looks."""

    def __init__(self, amount):
        self.utility = self.reward_rate = amount


def test_a_schedule_of_a_day_has_the_bound_of_its_own_energy():
    entries = (
        OnlineEntry("a", "file", Measured(30.0), bound=40.0),
        OnlineEntry("b", "file", Measured(50.0), bound=50.0),
    )
    day = DayValidation(None, 60.0, 1.0, 0.0, 0, None, entries, PROVENANCE)
    assert [row.words for row in verdicts_of(day)] == ["30, gap 25 %", "50, gap 0 %"]
    axes = drawn(day)
    (own,) = [line for line in axes.lines if line.get_label() == "bound, proved, at the same energy"]
    assert own.get_xydata().tolist() == [[40.0, 0.0], [50.0, 1.0]]


def test_the_cost_of_waiting_in_clusters_is_above_its_bound():
    entries = (OnlineEntry("a", "file", Measured(-30.0)), OnlineEntry("b", "file", None, (LATE,)))
    clusters = ClustersValidation((), None, object(), -20.0, -10.0, 0.0, entries, PROVENANCE)
    assert (clusters.quantity, clusters.common_bound) == ("cost of waiting", 20.0)
    assert [row.words for row in verdicts_of(clusters)] == ["30, gap 50 %", "invalid: after-deadline"]
    earned = replace(clusters, waiting=None, bound=40.0, entries=())
    assert (earned.quantity, earned.common_bound) == ("utility", 40.0)


def test_a_method_of_a_facility_that_found_nothing_says_why():
    entries = (
        FacilityEntry("lp", Measured(9.0), 0.1),
        FacilityEntry("ga", None, failure="out of time"),
        FacilityEntry("file", None, violations=(CAP,)),
    )
    result = FacilityValidation(10.0, 0, 1.0, entries, PROVENANCE)
    assert [row.words for row in verdicts_of(result)] == [
        "9 reward/s, gap 10 %",
        "no answer: out of time",
        "invalid: over-power-cap",
    ]
    assert result.quantity == "co-located reward rate, reward/second"
