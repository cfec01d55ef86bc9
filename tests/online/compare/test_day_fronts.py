from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.evolve.nsga2 import Evolving
from lpsched.model.table import Table
from lpsched.online.bound.no_waiting import NoWaitingFront
from lpsched.online.compare.day_fronts import area_ratios, compare_day_fronts
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.heuristics import forget_for_days, names_for_days, register_for_days
from lpsched.online.parts import DayMachineType, DayTaskType
from lpsched.online.result.comparisons import UtilityPoint
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import Interval, UtilityFunction

if TYPE_CHECKING:
    from lpsched.evolve.genes import TaskPopulation

# Three tasks at 0 s, worth 9 within 10 s, then 3. The fast machine takes 4 s at 100 W, the slow one 8 s at 25 W:
# 400 J or 200 J a task.
SOON = UtilityFunction((Interval(0.0, 9.0, 9.0, 0.0), Interval(10.0, 3.0, 3.0, 0.0)))
DAY = Day(
    name="three",
    machine_types=(DayMachineType("fast", 1), DayMachineType("slow", 1)),
    task_types=(DayTaskType("a"),),
    seconds=Table.of([[4.0, 8.0]]),
    watts=Table.of([[100.0, 25.0]]),
    tasks=ArrivingTasks.of([0.0, 0.0, 0.0], [0, 0, 0], ["soon"] * 3),
    utility_functions={"soon": SOON},
)
SHORT = Evolving(generations=3, seed_with=("min-energy",))


def placed(*machines: str) -> DaySchedule:
    """Run tasks 0, 1, ... on these machines, one after the other."""
    ready = {"fast": 0.0, "slow": 0.0}
    rows = []
    for task, name in enumerate(machines):
        rows.append(PlacedTask(task, name, 1, ready[name]))
        ready[name] += {"fast": 4.0, "slow": 8.0}[name]
    return DaySchedule(tuple(rows))


@pytest.fixture
def heuristics():
    """Register heuristics for one test."""
    known = set(names_for_days())
    yield register_for_days
    for name in set(names_for_days()) - known:
        forget_for_days(name)


def test_points_are_held_against_the_utility_of_tasks_that_never_wait(heuristics):
    # Nobody waits: each task earns 9 for 200 J, so the envelope goes from (0, 0) to (600 J, 27), then is level.
    # Two fast and one slow end after 4, 8 and 8 s: 27 with 1,000 J, on the level part.
    # All slow: 8, 16, 24 s: 9 + 3 + 3 = 15 with 600 J: 1 - 15 / 27 are missing.
    heuristics("quick", lambda *_, **__: placed("fast", "fast", "slow"))
    heuristics("thrifty", lambda *_, **__: placed("slow", "slow", "slow"))
    result = compare_day_fronts(DAY, ["quick", "thrifty"])
    quick, thrifty = result.entries
    assert [corner.energy_joules for corner in result.envelope] == [0.0, 600.0]
    assert [corner.utility for corner in result.envelope] == pytest.approx([0.0, 27.0], rel=1e-9)
    assert quick.points == (UtilityPoint(1000.0, 27.0),)
    assert quick.largest_distance == pytest.approx(0.0, abs=1e-9)
    assert thrifty.points == (UtilityPoint(600.0, 15.0),)
    assert thrifty.mean_distance == pytest.approx(12 / 27)
    # From 600 to 1,040 J the envelope has 440 x 27; all slow 440 x 15, the quick one 40 x 27.
    assert quick.hypervolume_ratio == pytest.approx(40 / 440)
    assert thrifty.hypervolume_ratio == pytest.approx(15 / 27)


def test_areas_begin_at_the_least_energy_and_end_beyond_the_largest_of_all():
    envelope = [UtilityPoint(0.0, 0.0), UtilityPoint(10.0, 20.0), UtilityPoint(20.0, 30.0)]
    fronts = [[UtilityPoint(5.0, 8.0), UtilityPoint(15.0, 20.0)], [UtilityPoint(25.0, 30.0)], []]
    # From 5 to 27 J the envelope has 5 x 15 + 10 x 25 + 7 x 30 = 535; the first front 10 x 8 + 12 x 20 = 320,
    # the second 2 x 30.
    assert area_ratios(envelope, fronts) == [pytest.approx(320 / 535), pytest.approx(60 / 535), 0.0]
    assert area_ratios(envelope, [[UtilityPoint(25.0, 30.0)]]) == [None]  # one energy has no width
    assert area_ratios(envelope, [[], []]) == [None, None]
    # A single point left of the last corner: up to 21 J the envelope has 10 x 25 + 30, the point 11 x 20.
    assert area_ratios(envelope, [[UtilityPoint(10.0, 20.0)]]) == [pytest.approx(220 / 280)]


def test_dropped_tasks_are_no_fault(heuristics):
    heuristics("one", lambda *_, **__: placed("slow"))
    (one,) = compare_day_fronts(DAY, ["one"]).entries
    assert one.points == (UtilityPoint(200.0, 9.0),)
    assert one.valid


def test_an_evolved_front_is_verified_and_never_above_the_envelope():
    (evolved,) = compare_day_fronts(DAY, ["nsga2"], evolving=SHORT, seed=2).entries
    (again,) = compare_day_fronts(DAY, ["nsga2"], evolving=SHORT, seed=2).entries
    assert evolved.points == again.points
    assert evolved.valid
    # With every task run, 600 J is the least; 27 for 1,000 J the most, and 21 (8, 4, 16 s) needs 800 J.
    assert {(point.energy_joules, point.utility) for point in evolved.points} <= {
        (600.0, 15.0),
        (800.0, 21.0),
        (1000.0, 27.0),
    }
    assert evolved.points[0].energy_joules == 600.0


def test_tasks_below_a_utility_are_dropped_by_evolution_too():
    options = Evolving(generations=3, seed_with=("none",))
    (evolved,) = compare_day_fronts(DAY, ["nsga2"], evolving=options, drop_below=4.0).entries
    assert all(point.utility % 9.0 == 0.0 for point in evolved.points)  # what would earn 3 does not run


def test_tasks_below_a_utility_are_dropped_by_heuristics_too():
    # On the slow machine they would end after 8, 16 and 24 s: 9 + 3 + 3.
    (all_run,) = compare_day_fronts(DAY, ["min-energy"]).entries
    (one_runs,) = compare_day_fronts(DAY, ["min-energy"], drop_below=4.0).entries
    assert all_run.points == (UtilityPoint(600.0, 15.0),)
    assert one_runs.points == (UtilityPoint(200.0, 9.0),)


def test_a_valid_schedule_above_the_envelope_is_our_bug(monkeypatch):
    monkeypatch.setattr(
        "lpsched.online.compare.day_fronts.no_waiting_front", lambda _: NoWaitingFront((0.0, 600.0), (0.0, 14.9), 600.0)
    )
    with pytest.raises(InvalidScheduleError, match=r"min-energy on three: .* J is more than the 14\.9 that is proved"):
        compare_day_fronts(DAY, ["min-energy"])


def test_what_breaks_a_rule_or_fails_is_told(heuristics, tmp_path):
    heuristics("twice", lambda *_, **__: DaySchedule((*placed("slow").placed, *placed("fast").placed)))
    heuristics("crashes", lambda *_, **__: 1 / 0)
    file = tmp_path / "rows.csv"
    file.write_text("task,machine_type,machine,start_seconds\n0,slow,1,0\n1,fast,1,0\n")
    (tmp_path / "bad.csv").write_text("x")
    twice, crashes, rows, folder = compare_day_fronts(DAY, ["twice", "crashes", file, tmp_path]).entries
    assert twice.refused == 1
    assert crashes.violations[0].code == "failed"
    assert rows.points == (UtilityPoint(600.0, 18.0),)  # 200 J slow and 400 J fast, both in time
    assert (folder.points, folder.refused, folder.violations[0].code) == (rows.points, 1, "unreadable")


@pytest.mark.parametrize("options", [{"methods": ["sufferage"]}, {"evolving": Evolving(seed_with=("nobody",))}])
def test_names_of_nobody_are_refused(options):
    with pytest.raises(InstanceError, match=r"sufferage|nobody"):
        compare_day_fronts(DAY, **({"methods": ["nsga2"]} | options))


def test_who_is_stopped_runs_nothing_more_and_what_was_kept_goes_on():
    cancel = CancelToken()
    cancel.stop()
    (entry,) = compare_day_fronts(DAY, ["max-utility"], cancel=cancel).entries
    assert entry.violations[0].code == "not-run"
    kept: list[TaskPopulation] = []
    compare_day_fronts(DAY, ["nsga2"], evolving=Evolving(2, keep=kept.append))
    (on,) = compare_day_fronts(DAY, ["nsga2"], evolving=Evolving(2, population=kept[-1])).entries
    assert on.generations == 4


def test_a_heuristic_that_hands_back_nonsense_or_fails_is_told_and_seeds_nothing():
    def lost(_day, _rng, *, drop_below=None):  # noqa: ARG001
        return None

    register_for_days("lost", lost)
    try:
        told, evolved = compare_day_fronts(
            DAY, ["lost", "nsga2"], evolving=replace(SHORT, seed_with=("lost", "min-min"))
        ).entries
    finally:
        forget_for_days("lost")
    assert told.violations[0].sentence == "TypeError: it handed back NoneType, where a DaySchedule is needed"
    assert evolved.valid
