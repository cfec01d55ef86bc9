from __future__ import annotations

import pytest

from lpsched.measure.evidence import MEMORY_PROBE, Measured, Saving, Setting, Spread
from lpsched.model.fields import FrozenDict
from lpsched.report.figures.degradation import (
    SAVINGS_MOST,
    degradation_map,
    degradation_tooltips,
    drawn_savings,
    has_gaps,
    mapped,
    savings_figure,
    savings_tooltips,
    static_joules,
)
from lpsched.report.figures.measured import (
    LEVELS,
    MOST_APPLICATIONS,
    MOST_SERIES,
    drawn_applications,
    labels_of,
    measure_figure,
    measure_tooltips,
    quantities_of,
    series_of,
)
from tests.report.measurements import APPLICATIONS, IDLE_WATTS, changed, made_measurements, many_applications
from tests.report.test_measure_tables import BARE


def measured(application, *beside, mean, half=None, mhz=None, **more):
    """Return a setting with a time, and half the width of its interval."""
    ends = (None, None) if half is None else (mean - half, mean + half)
    return Measured.of(Setting(application, tuple(sorted(beside)), mhz), Spread(mean, 3, 0.1, *ends), **more)


def axes_of(figure):
    return figure.axes


def labels(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_companions_are_kinds_by_their_memory_classes_calm_ones_first():
    kinds = [(each.label, each.together) for each in series_of(made_measurements(), "canneal")]
    assert kinds == [
        ("alone", 1),
        ("beside I", 2),
        ("beside II", 2),
        ("beside III", 2),
        ("beside 2 x I, II", 4),
        ("beside 2 x I, III", 4),
        ("beside 3 x III", 4),
    ]


def test_the_companions_that_come_with_us_stand_after_the_classes():
    made = made_measurements(clocks=(), groups=(), failed=())
    beside = (measured("canneal", MEMORY_PROBE, mean=1.0), *made.measured)
    kinds = [each.label for each in series_of(changed(made, measured=beside), "canneal")]
    assert kinds == ["alone", "beside I", "beside II", "beside III", "beside the memory companion"]


def test_without_classes_companions_are_kinds_by_name_and_if_there_are_many_by_number():
    plain = made_measurements(clocks=(), groups=(), classes=False, failed=())
    assert [each.label for each in series_of(plain, "canneal")] == [
        "alone",
        *(f"beside {name}" for name in sorted(APPLICATIONS)),
    ]
    many = made_measurements(many_applications(MOST_SERIES), clocks=(), groups=(), classes=False, failed=())
    beside = (*many.measured, measured("application-00", MEMORY_PROBE, mean=1.0))
    many = changed(many, measured=beside)
    assert dict.fromkeys(labels_of(many).values()) == dict.fromkeys(
        ("alone", "beside 1 other", "beside the memory companion")
    )


def test_one_setting_has_its_interval_and_joined_ones_go_from_the_lowest_end_to_the_highest():
    several = changed(
        BARE,
        measured=(
            measured("zip", mean=10.0, half=1.0),
            measured("zip", "tar", mean=12.0, half=0.5),
            measured("zip", "zip", mean=16.0),
        ),
    )
    (alone, by_tar, by_zip) = (each.at(None, "seconds") for each in series_of(several, "zip"))
    assert (alone.mean, alone.low, alone.high) == (10.0, 9.0, 11.0)
    assert alone.words == "zip alone\n10 ± 1 s, of 3 runs"
    assert (by_zip.low, by_zip.high) == (16.0, 16.0)  # without an interval
    classes = tuple(changed(each, memory_class="I") for each in several.applications)
    (_, joined) = series_of(changed(several, applications=classes), "zip")
    point = joined.at(None, "seconds")
    assert (point.mean, point.low, point.high) == (14.0, 11.5, 16.0)
    assert point.words == "zip beside I, 2 settings\n14 s, between 11.5 and 16"
    assert by_tar.mean == 12.0
    assert joined.at(3400.0, "seconds") is None
    assert joined.at(None, "joules") is None


def test_along_clocks_there_is_a_mark_for_each_mean_coloured_by_how_many_run():
    made = made_measurements()
    figure = measure_figure(made, "canneal")
    assert [axes.get_ylabel() for axes in axes_of(figure)] == ["misses per instruction", "seconds", "energy of all, Wh"]
    assert axes_of(figure)[0].get_title(loc="left") == "canneal (III)"
    times = {each.get_label(): each.lines[0] for each in axes_of(figure)[1].containers}
    # alone: 112 s at 3.4 GHz, of which 0.4 grow with the clock: 112 (0.6 + 0.4 x 2) = 156.8 at half of it
    alone = times["alone"]
    assert list(alone.get_ydata())[::2] == pytest.approx([156.8, 112.0])
    assert alone.get_color() == LEVELS[0]
    assert times["beside III"].get_color() == LEVELS[1]
    assert times["beside 3 x III"].get_color() == LEVELS[2]
    marks = [each.get_marker() for each in times.values()]
    assert len(set(marks)) == len(marks) == 7
    assert list(alone.get_xdata()) == pytest.approx([1.7, 2.6, 3.4], abs=0.2)  # beside the other marks
    whiskers = {each.get_label(): each.lines[2][0] for each in axes_of(figure)[1].containers}["alone"]
    # 1 % deviation of 156.8 s is 0.77 % to each side
    (_, low), (_, high) = whiskers.get_segments()[0]
    assert (low, high) == pytest.approx((156.8 * 0.9923, 156.8 * 1.0077))
    energy = {each.get_label(): each.lines[0] for each in axes_of(figure)[2].containers}["alone"]
    # at 3.4 GHz 44 + 24 W for 112 s
    assert energy.get_ydata()[-1] == pytest.approx(68 * 112 / 3600)


def test_spots_stand_at_the_marks():
    made = made_measurements()
    figure, spots = measure_figure(made, "canneal"), measure_tooltips(made, "canneal")
    for place, axes in enumerate(axes_of(figure)):
        marks = {
            (round(float(x), 6), round(float(y), 6))
            for each in axes.containers
            for x, y in zip(*each.lines[0].get_data(), strict=True)
        }
        own = {(round(spot.x, 6), round(spot.y, 6)) for spot in spots if spot.axes == place}
        assert own == marks
    told = next(spot for spot in spots if spot.axes == 1)
    assert told.label == "canneal alone at 1,700 MHz\n156.8 ± 1.2 s, of 9 runs"


def test_without_clocks_every_kind_is_a_bar_with_its_name():
    made = made_measurements(clocks=(), groups=(), failed=())
    figure = measure_figure(made, "bodytrack")
    assert labels(figure) == ["alone", "beside I", "beside II", "beside III"]
    bars = [patch.get_width() for patch in axes_of(figure)[1].patches]
    assert bars[0] == 141.0
    assert bars[3] == pytest.approx(141.0 * 1.004)
    spots = [spot for spot in measure_tooltips(made, "bodytrack") if spot.axes == 1]
    assert [spot.y for spot in spots] == [0.0, 1.0, 2.0, 3.0]
    assert [spot.x for spot in spots] == pytest.approx(bars)
    (low, _), (high, _) = axes_of(figure)[1].containers[1].lines[2][0].get_segments()[0]
    assert (low, high) == pytest.approx((141.0 * 0.9923, 141.0 * 1.0077))


def test_what_was_not_measured_has_no_panel():
    time_only = made_measurements(clocks=(), groups=(), energy=False, counters=False, failed=())
    assert quantities_of(time_only) == ("seconds",)
    assert len(measure_figure(time_only, "canneal").axes) == 1
    assert quantities_of(made_measurements(clocks=(), energy=False)) == ("misses_per_instruction", "seconds")


def test_a_file_without_settings_says_that_nothing_is_drawn():
    figure = measure_figure(BARE)
    assert [text.get_text() for text in figure.texts] == ["the file has no setting to draw"]
    assert measure_tooltips(BARE) == ()


def test_of_many_applications_those_that_companions_slow_most_are_drawn():
    many = made_measurements(many_applications(30), clocks=(), groups=(), failed=())
    drawn = [each.name for each in drawn_applications(many)]
    assert len(drawn) == MOST_APPLICATIONS
    # every first and second of four is of class III and takes 13 % longer, the others at most 1.2 %
    assert all(int(name[-2:]) % 4 < 2 for name in drawn)
    assert drawn == sorted(drawn)


def test_the_map_has_those_that_suffer_in_rows_and_hatches_what_is_not_known():
    partly = FrozenDict({"zip": FrozenDict({"tar": 0.25}), "tar": FrozenDict({"tar": -0.02, "zip": 0.5})})
    known = changed(BARE, degradation_in_full=partly)
    classes = tuple(changed(each, memory_class="III" if each.name == "zip" else "I") for each in BARE.applications)
    known = changed(known, applications=classes)
    assert [each.name for each in mapped(known)] == ["tar", "zip"]  # calm ones first
    assert has_gaps(known)
    axes = degradation_map(known).axes[0]
    numbers = {text.get_position(): text.get_text() for text in axes.texts}
    assert numbers == {(0.5, 0.5): "-2", (1.5, 0.5): "50", (0.5, 1.5): "25"}
    assert len(axes.patches) == 1  # zip beside zip
    assert labels(axes.figure) == ["tar (I)", "zip (III)"]
    spots = {(spot.x, spot.y): spot.label for spot in degradation_tooltips(known)}
    assert spots[1.5, 0.5] == "tar beside zip\n50 % longer for each such core"


def test_static_energy_is_idle_power_for_as_long_as_anything_runs():
    made = made_measurements(clocks=(), groups=(), failed=())
    saving = next(each for each in made.savings if each.together == ("canneal", "streamcluster"))
    static = static_joules(made, saving)
    assert static is not None
    apart, together = static
    # alone they take 112 and 318 s; together until streamcluster, slowed by 13 %, has ended
    assert apart == pytest.approx(IDLE_WATTS * (112.0 + 318.0))
    assert together == pytest.approx(IDLE_WATTS * 318.0 * 1.13)
    bare = changed(made, idle_watts=None)
    assert static_joules(bare, saving) is None
    lost = changed(made, measured=made.measured[1:])  # canneal alone
    assert static_joules(lost, saving) is None
    meter = changed(saving, joules_together=together - 1.0)  # less than idle power alone
    assert static_joules(made, meter) is None


def test_bars_apart_and_together_are_as_long_as_their_energies():
    known = Saving(("a", "b"), 36000.0, 28800.0, 27000.0)
    plain = Saving(("a", "a"), 14400.0, 18000.0)
    axes = axes_of(savings_figure([known, plain], [(18000.0, 14400.0), None]))[0]
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == pytest.approx([5.0, 5.0, 4.0, 4.0, 4.0, 5.0])  # Wh
    assert [text.get_text() for text in axes.texts] == ["8 Wh, 20 % saved", "10 Wh", "5 Wh, 25 % more", "4 Wh"]
    assert axes.get_lines()[0].get_xdata()[0] == 7.5
    spot, _ = savings_tooltips([known, plain], [(18000.0, 14400.0), None])
    assert spot.label.splitlines() == [
        "a + b",
        "10 Wh apart, 8 Wh together",
        "2 Wh saved, 20 %",
        "static: 5 Wh apart, 4 Wh together",
        "predicted: 7.5 Wh, off -6.25 %",
    ]


def test_of_many_savings_the_largest_and_the_least_are_drawn():
    several = tuple(Saving((f"{place}",), 100.0, float(place)) for place in range(40))
    drawn = drawn_savings(changed(BARE, savings=several))
    assert [each.joules_together for each in drawn] == [*range(SAVINGS_MOST // 2), *range(40 - SAVINGS_MOST // 2, 40)]
