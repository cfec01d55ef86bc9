from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lpsched.bag.compare.fronts import compare_fronts, require_above, schedules_along
from lpsched.bag.compare.result import machine_points
from lpsched.bag.exact_front import front
from lpsched.bag.files import write_schedule
from lpsched.bag.heuristics import forget, register
from lpsched.bag.parts import Site
from lpsched.bag.result import HalfPlane, Point
from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow
from lpsched.bag.verify import measure
from lpsched.cancellation import CancelToken, Progress
from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.evolve.nsga2 import Evolving
from tests.support import simple_bag

if TYPE_CHECKING:
    from lpsched.evolve.genes import TaskPopulation

# Six tasks: 1 s at 300 W on the fast machine, 2 s at 100 W on the slow one. All slow: 12 s and 1,200 J; four
# fast and two slow: 4 s and 1,600 J. The front is the line between: 1 J buys 0.02 s.
BAG = simple_bag([[1.0, 2.0]], [6], [1, 1], [[300.0, 100.0]])
SHORT = Evolving(generations=5)


def mapped(fast: int) -> Schedule:
    groups = [("m0", fast), ("m1", 6 - fast)]
    return Schedule(tuple(MachineGroup(name, 1, (Run("t0", count),)) for name, count in groups if count))


@pytest.fixture
def heuristics():
    """Register heuristics for one test."""
    known: list[str] = []

    def add(name, function):
        register(name, function)
        known.append(name)

    yield add
    for name in known:
        forget(name)


def test_a_points_distance_is_its_makespan_above_the_front_at_the_same_energy(heuristics):
    # Five fast: 5 s and 5 x 300 + 1 x 200 = 1,700 J, right of the fastest vertex: 5 / 4 - 1 = 25 %.
    heuristics("five-fast", lambda *_: mapped(5))
    # Two fast: 8 s and 600 + 800 = 1,400 J; the front is at 12 - 0.02 x 200 = 8 s there.
    heuristics("two-fast", lambda *_: mapped(2))
    result = compare_fronts(BAG, ["five-fast", "two-fast"])
    five, two = result.entries[1:]
    assert five.points == (Point(1700.0, 5.0),)
    assert five.mean_distance == five.largest_distance == pytest.approx(0.25)
    assert two.points == (Point(1400.0, 8.0),)
    assert two.largest_distance == pytest.approx(0.0, abs=1e-12)


def test_hypervolumes_end_beyond_the_worst_of_everything_compared(heuristics):
    heuristics("five-fast", lambda *_: mapped(5))
    result = compare_fronts(BAG, ["five-fast"])
    # Energies go from 1,200 to 1,700 J, makespans from 4 to 12 s: the reference is (1,750 J, 12.8 s).
    # The front dominates 400 x (0.8 + 8.8) / 2 + 150 x 8.8 = 3,240; our schedules, the vertices,
    # 400 x 0.8 + 150 x 8.8 = 1,640; five fast 50 x (12.8 - 5) = 390.
    assert result.reference == Point(1750.0, pytest.approx(12.8))
    ours, five = result.entries
    assert ours.name == "lp"
    assert ours.points == (Point(1200.0, 12.0), Point(1600.0, 4.0))
    assert ours.hypervolume_ratio == pytest.approx(1640 / 3240)
    assert five.hypervolume_ratio == pytest.approx(390 / 3240)
    assert result.times_as_long(ours) == pytest.approx(1.0)


def test_files_and_folders_of_schedules_are_fronts_too(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for fast in (0, 2, 5):
        write_schedule(mapped(fast), BAG, folder / f"{fast}.json", "0")
    rows = tmp_path / "four.csv"
    lines = ["task_type,machine_type,machine", *["t0,m0,1"] * 4, *["t0,m1,1"] * 2]
    rows.write_text("\n".join(lines))
    (folder / "notes.txt").write_text("not a schedule")
    _, mine, four = compare_fronts(BAG, [folder, str(rows)]).entries
    assert mine.points == (Point(1200.0, 12.0), Point(1400.0, 8.0), Point(1700.0, 5.0))
    assert (mine.seconds, mine.refused) == (None, 0)
    assert four.points == (Point(1600.0, 4.0),)
    assert four.schedules[0].groups  # what each machine does can be asked


def test_what_breaks_a_rule_is_no_point_and_its_rules_are_told(tmp_path, heuristics):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    missing = tmp_path / "missing.csv"
    heuristics("forgets", lambda *_: [TaskRow("t0", "m0", 1)])
    heuristics("crashes", lambda *_: 1 / 0)
    entries = compare_fronts(BAG, [bad, missing, "forgets", "crashes"]).entries[1:]
    assert [entry.points for entry in entries] == [(), (), (), ()]
    assert [entry.violations[0].code for entry in entries] == ["unreadable", "unreadable", "wrong-count", "failed"]
    assert "ZeroDivisionError" in entries[3].violations[0].sentence
    assert not any(entry.valid for entry in entries)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"a folder without schedules, expected files that end in \.csv"):
        compare_fronts(BAG, [tmp_path])


@pytest.mark.parametrize("options", [{"methods": ["min-mni"]}, {"evolving": Evolving(seed_with=("min-mni",))}])
def test_a_name_that_nobody_registered_is_refused_before_any_work(options):
    with pytest.raises(InstanceError, match="min-mni"):
        compare_fronts(BAG, **({"methods": ["nsga2"]} | options))


def test_an_evolved_front_is_verified_and_the_same_for_the_same_seed():
    bag = simple_bag([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]], [7, 5], [2, 1, 1], [[30.0, 9.0, 4.0], [8.0, 20.0, 9.0]])
    _, one = compare_fronts(bag, ["nsga2"], evolving=SHORT, seed=4).entries
    *_, two = compare_fronts(bag, ["min-min", "nsga2"], evolving=SHORT, seed=4).entries
    assert one.points == two.points
    assert (one.generations, one.ended, one.refused) == (5, "generations", 0)
    assert list(one.points) == sorted(one.points, key=lambda point: (point.energy_joules, -point.makespan_seconds))
    assert one.seconds is not None
    assert one.mean_distance is not None
    assert 0.0 <= one.mean_distance <= (one.largest_distance or 0.0)


def test_an_evolution_seeded_with_our_schedules_keeps_or_improves_them():
    bag = simple_bag([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]], [7, 5], [2, 1, 1], [[30.0, 9.0, 4.0], [8.0, 20.0, 9.0]])
    ours, evolved = compare_fronts(bag, ["nsga2"], evolving=Evolving(3, seed_with=("lp",))).entries
    for own in ours.points:
        assert any(
            point.energy_joules <= own.energy_joules * (1 + 1e-12)
            and point.makespan_seconds <= own.makespan_seconds * (1 + 1e-12)
            for point in evolved.points
        )
    _, blind = compare_fronts(bag, ["nsga2"], evolving=Evolving(0, seed_with=("none",))).entries
    assert blind.points
    assert (blind.hypervolume_ratio or 0.0) < (evolved.hypervolume_ratio or 0.0)


def test_under_a_power_cap_a_mapping_waits_until_it_keeps_it(heuristics):
    # Four fast and two slow take 1,600 J in 4 s: 400 W. Under a cap of 160 W they stay on for 10 s.
    heuristics("four-fast", lambda *_: mapped(4))
    result = compare_fronts(BAG, ["four-fast", "nsga2"], evolving=SHORT, power_cap=160.0)
    _, four, evolved = result.entries
    assert four.points == (Point(1600.0, 10.0),)
    assert (four.refused, evolved.refused) == (0, 0)
    assert all(point.energy_joules <= 160.0 * point.makespan_seconds for point in evolved.points)


def test_under_a_deadline_a_mapping_that_misses_it_is_refused(heuristics):
    heuristics("two-fast", lambda *_: mapped(2))
    _, two = compare_fronts(BAG, ["two-fast"], deadline=7.0).entries
    assert (two.refused, two.violations[0].code) == (1, "after-deadline")


def test_the_files_own_limits_hold_as_well(heuristics):
    heuristics("two-fast", lambda *_: mapped(2))
    bag = BAG.model_copy(update={"site": Site(deadline_seconds=7.0)})
    assert compare_fronts(bag, ["two-fast"]).entries[1].refused == 1


def test_a_point_below_a_proof_is_our_bug():
    proof = HalfPlane(1.0, 100.0, 2000.0)
    require_above([proof], Point(1600.0, 4.0), "x")
    with pytest.raises(InvalidScheduleError, match=r"x: 1600\.0 J and 3\.9999 s are below a proof: 1\.0 J \+ 100"):
        require_above([proof], Point(1600.0, 3.9999), "x")


def test_every_schedule_is_held_against_the_proofs(monkeypatch):
    wrong = replace(front(BAG), proofs=(HalfPlane(0.0, 1.0, 4.5),))  # nobody is done within 4.5 s?
    monkeypatch.setattr("lpsched.bag.compare.fronts.front", lambda *_, **__: wrong)
    with pytest.raises(InvalidScheduleError, match=r"lp on simple: 1600\.0 J and 4\.0 s are below a proof"):
        compare_fronts(BAG, [])


def test_the_corners_of_the_front_belong_to_the_reference():
    # 3.1 + 2 + 2 + 1.9 s on two machines of 300 and 100 W. Split, both take 4.5 s: 1,800 J. Whole, one takes
    # 5 s and the other 4: 1,700 J where that is the thirsty one.
    four = simple_bag([[3.1, 3.1], [2.0, 2.0], [1.9, 1.9]], [1, 2, 1], [1, 1], [[300.0, 100.0]] * 3)
    result = compare_fronts(four, [])
    assert result.entries[0].points[-1] == Point(1700.0, 5.0)
    # From 900 J (all on the thrifty one, 9 s) to the corner's 1,800 J and 4.5 s, and a tenth more.
    assert result.reference.energy_joules == pytest.approx(1890.0)
    assert result.reference.makespan_seconds == pytest.approx(9.45)


def test_who_is_stopped_runs_nothing_more():
    cancel = CancelToken()
    cancel.stop()
    _, evolved, mapping = compare_fronts(BAG, ["nsga2", "min-min"], evolving=SHORT, cancel=cancel).entries
    assert [entry.violations[0].code for entry in (evolved, mapping)] == ["not-run", "not-run"]


def test_progress_tells_the_gap_to_the_exact_front():
    told: list[Progress] = []
    bag = simple_bag([[1.0, 2.0]], [40], [2, 2], [[300.0, 100.0]])
    compare_fronts(bag, ["nsga2"], evolving=Evolving(time_limit=0.6), cancel=CancelToken(listener=told.append))
    gaps = [each.gap for each in told if "hypervolume" in each.stage]
    assert gaps
    assert all(gap is not None and gap >= 0.0 for gap in gaps)


def test_an_evolution_goes_on_where_it_was_kept():
    bag = simple_bag([[1.0, 2.0, 4.0]], [9], [2, 1, 1], [[30.0, 9.0, 4.0]])
    kept: list[TaskPopulation] = []
    compare_fronts(bag, ["nsga2"], evolving=Evolving(2, keep=kept.append), seed=1)
    _, on = compare_fronts(bag, ["nsga2"], evolving=Evolving(3, population=kept[-1]), seed=1).entries
    _, whole = compare_fronts(bag, ["nsga2"], evolving=Evolving(5), seed=1).entries
    assert on.generations == 5
    assert np.allclose(
        [(point.energy_joules, point.makespan_seconds) for point in on.points],
        [(point.energy_joules, point.makespan_seconds) for point in whole.points],
    )


def test_five_points_along_a_front_have_the_loads_of_all_machines():
    bag = simple_bag([[1.0, 2.0]], [60], [2, 3], [[300.0, 100.0]])
    result = compare_fronts(bag, ["nsga2"], evolving=Evolving(30))
    evolved = result.entries[1]
    points = machine_points(bag, evolved.points, evolved.schedules)
    assert len(evolved.points) > 5
    assert [each.letter for each in points] == ["A", "B", "C", "D", "E"]
    assert (points[0].point, points[-1].point) == (evolved.points[0], evolved.points[-1])
    for each in points:
        assert sum(load.machines for load in each.loads) == 5
        assert max(load.completion_seconds for load in each.loads) == each.point.makespan_seconds
        joules = sum(load.machines * (load.energy_joules or 0.0) for load in each.loads)
        assert joules == pytest.approx(each.point.energy_joules)
    assert points[0].to_dict()["machines"][0]["machine_type"] == "m0"


def test_our_schedules_between_the_vertices_fill_the_front():
    # The front is one line from (1200 J, 12 s) to (1600 J, 4 s); whole tasks reach (1400 J, 8 s) on it: two fast.
    ours, dense = compare_fronts(BAG, ["lp-dense"]).entries
    assert set(ours.points) < set(dense.points)
    assert Point(1400.0, 8.0) in dense.points
    assert dense.refused == 0
    assert (dense.hypervolume_ratio or 0.0) > (ours.hypervolume_ratio or 0.0)
    assert dense.seconds is not None
    assert dense.seconds > (ours.seconds or 0.0)


def test_edges_get_schedules_by_their_length_and_a_cap_is_kept():
    bag = simple_bag([[1.0, 2.0]], [600], [1, 1], [[300.0, 100.0]])
    found = [measure(bag, schedule) for schedule in schedules_along(bag, front(bag), points=10)]
    # From 120,000 to 160,000 J in nine even steps, to a task or two of 100 J.
    assert [each.energy_joules for each in found] == pytest.approx(np.linspace(120e3, 160e3, 10), abs=200.0)
    _, dense = compare_fronts(bag, ["lp-dense"], power_cap=160.0).entries
    assert dense.refused == 0
    _, due = compare_fronts(bag, ["lp-dense"], deadline=1000.0).entries
    assert len(due.points) > 50  # nobody waits for a deadline: those who did would be worse than the last
    assert all(point.energy_joules <= 160.0 * point.makespan_seconds for point in dense.points)


def test_a_front_of_one_vertex_has_nothing_between():
    bag = simple_bag([[1.0]], [3], [1], [[5.0]])
    assert list(schedules_along(bag, front(bag))) == [schedule for schedule in front(bag).schedules if schedule]
