"""Declared JSON objects, and data frames: with pandas, with a stand-in for it, and without either."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

import lpsched
from lpsched.facility.parts import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare
from lpsched.model.provenance import Provenance
from lpsched.model.results import JsonObject, frame_of, json_of, plain
from lpsched.model.violation import Violation
from tests.days import decaying
from tests.paper_facility import paper_facility
from tests.parallel import Task, simple_clusters
from tests.report.fronts import EVOLVED, compared
from tests.simulated import two_tasks

TINY = lpsched.read(Path(__file__).parents[2] / "instances" / "tiny.yaml")
IDLE = lpsched.GangAllocation((20.0,), ((),))


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    cost: float
    colour: Colour = Colour.RED


@dataclass(frozen=True, slots=True)
class Outer(JsonObject):
    name: str
    inner: Inner | None
    risk: float | None = None

    _KEYS: ClassVar = "name inner.cost paint=inner.colour twice risk?"

    @property
    def twice(self) -> str:
        return 2 * self.name


@dataclass(frozen=True, slots=True)
class Answer(JsonObject):
    value: float
    provenance: Provenance

    _FORMAT: ClassVar = "lpsched-test/1"
    _KEYS: ClassVar = "value"


def test_keys_come_in_the_order_in_which_they_are_declared():
    told = Outer("a", Inner(3.0), 0.5).to_dict()
    assert list(told.items()) == [("name", "a"), ("cost", 3.0), ("paint", "red"), ("twice", "aa"), ("risk", 0.5)]


def test_what_is_not_there_is_null_and_an_optional_key_is_left_out():
    assert Outer("a", None).to_dict() == {"name": "a", "cost": None, "paint": None, "twice": "aa"}


def test_a_computed_value_takes_the_place_of_its_key():
    assert list(json_of(Inner(3.0), "cost share colour", share=0.5)) == ["cost", "share", "colour"]


def test_without_declared_keys_all_fields_are_told():
    assert json_of(Inner(3.0), "") == {"cost": 3.0, "colour": "red"}


def test_a_name_that_no_result_has_is_our_mistake():
    with pytest.raises(AttributeError, match="price"):
        json_of(Inner(3.0), "price")


def test_an_answer_begins_with_its_format_and_where_it_comes_from():
    told = Answer(1.0, Provenance("1.0", "highs", "tiny", "abc")).to_dict()
    assert list(told) == ["format", "lpsched", "solver", "instance", "value"]
    assert told["format"] == "lpsched-test/1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (Colour.RED, "red"),
        ((1, (2.5,)), [1, [2.5]]),
        ({"a": Inner(1.0)}, {"a": {"cost": 1.0, "colour": "red"}}),
        ([Violation("late", "ends at 5 s")], [{"code": "late", "sentence": "ends at 5 s"}]),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.float64(0.5), 0.5),
        (Outer("a", None), {"name": "a", "cost": None, "paint": None, "twice": "aa"}),
    ],
)
def test_values_are_told_in_the_types_of_json(value, expected):
    assert plain(value) == expected
    assert type(plain(value)) in {type(expected), type(value)}


class StandIn:
    """As much of a data frame as the tests look at."""

    def __init__(self, rows, columns):
        assert all(len(row) == len(columns) for row in rows)
        self.columns, self.rows = columns, rows

    def __getitem__(self, column):
        return [row[self.columns.index(column)] for row in self.rows]

    def __len__(self):
        return len(self.rows)


@pytest.fixture(params=["pandas", "stand-in"])
def _frames(request, monkeypatch):
    if request.param == "stand-in":
        module = ModuleType("pandas")
        module.DataFrame = StandIn  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pandas", module)
    elif importlib.util.find_spec("pandas") is None:
        pytest.skip("pandas is not installed")


def test_without_pandas_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"a data frame needs pandas; install it:\n    .*install pandas$"):
        frame_of(("a",), [(1,)])


@pytest.mark.usefixtures("_frames")
def test_a_schedule_is_a_frame_of_tasks_by_type_machine_and_p_state():
    runs = (lpsched.Run("scan", 2), lpsched.Run("film", 1, "slow"), lpsched.Run("scan", 1))
    groups = (lpsched.MachineGroup("fast", 3, runs), lpsched.MachineGroup("fast", 1, (lpsched.Run("scan", 5),)))
    frame = lpsched.Schedule(groups).to_frame()
    assert list(frame.columns) == ["task_type", "machine_type", "p_state", "tasks"]
    assert dict(zip(frame["task_type"], frame["tasks"], strict=True)) == {
        "scan": 14,
        "film": 3,
    }  # 3 x (2 + 1) + 5; 3 x 1
    assert list(frame["p_state"])[1] == "slow"


@pytest.mark.usefixtures("_frames")
def test_allocations_are_frames_of_the_cores_that_run_each_type_on_average():
    gang = GangAllocation(
        (20.0,), ((), (PatternShare(0.5, (CoreRun("zip", 2),)), PatternShare(0.25, (CoreRun("zip", 4),))))
    )
    by_core = CoreAllocation((20.0,), ((), ((CoreFraction("zip", 0.75),), (CoreFraction("zip", 1.0),), ())))
    for allocation, cores in ((gang, 2.0), (by_core, 1.75)):  # 0.5 x 2 + 0.25 x 4; 0.75 + 1
        frame = allocation.to_frame()
        assert list(frame.columns) == ["node", "task_type", "p_state", "cores"]
        assert (list(frame["node"]), list(frame["cores"])) == ([1], [cores])


@pytest.mark.usefixtures("_frames")
def test_the_frame_of_a_solve_has_every_task():
    result = lpsched.solve(TINY, objective="makespan")
    assert sum(result.to_frame()["tasks"]) == TINY.tasks
    assert len(lpsched.Schedule(()).to_frame()) == 0


@pytest.mark.usefixtures("_frames")
def test_the_frame_of_a_front_has_schedules_beside_the_vertices():
    front = lpsched.front(TINY)
    frame = front.to_frame()
    assert list(frame["energy_bound_joules"]) == [vertex.energy_joules for vertex in front.vertices]
    assert list(frame["makespan_bound_seconds"]) == [vertex.makespan_seconds for vertex in front.vertices]
    assert list(frame["energy_joules"]) == [point.energy_joules for point in front.measured if point is not None]
    assert list(frame["makespan_seconds"]) == [point.makespan_seconds for point in front.measured if point is not None]


@pytest.mark.usefixtures("_frames")
def test_the_frame_of_a_profit_curve_has_its_pieces():
    curve = lpsched.price_curve(TINY)
    frame = curve.to_frame()
    assert list(frame.columns) == list(curve.pieces[0].to_dict())
    assert list(frame["from_price"]) == [piece.from_price for piece in curve.pieces]


@pytest.mark.usefixtures("_frames")
def test_the_frame_of_compared_fronts_has_a_row_for_each_method():
    frame = compared(EVOLVED).to_frame()
    assert list(frame["name"]) == ["lp", "nsga2"]
    assert list(frame["points"])[1] == 2
    assert list(frame["times_as_long"])[1] == 100.0  # 50 s of 0.25 + 0.25 s
    day = lpsched.compare_fronts(two_tasks(), ["max-utility"])
    assert list(day.to_frame()["most_utility"]) == [max(point.utility for point in day.entries[0].points)]


@pytest.mark.usefixtures("_frames")
@pytest.mark.parametrize(
    ("validation", "column"),
    [
        (lambda: lpsched.validate(TINY, heuristics=("olb", "min-energy")), "value"),
        (lambda: lpsched.validate(two_tasks(), schedulers=("max-utility",)), "utility"),
        (
            lambda: lpsched.validate(
                simple_clusters([[10.0]], [1], [Task(0.0, 1, decaying(1.0))]), {"none": lpsched.ClustersSchedule(())}
            ),
            "utility",
        ),
        (lambda: lpsched.validate(paper_facility(), {"idle": IDLE}), "colocated_reward_rate"),
    ],
    ids=["bag", "day", "clusters", "facility"],
)
def test_the_frame_of_a_validation_has_a_row_for_each_scheduler(validation, column):
    result = validation()
    frame, told = result.to_frame(), result.to_dict()
    assert list(frame["name"]) == [entry.name for entry in result.entries]
    assert list(frame[column]) == [entry[column] for entry in told["entries"]]
    assert list(frame.columns)[:4] == ["name", "value", "bound", "gap"]
    assert [tuple(row) for row in zip(frame["value"], frame["bound"], frame["gap"], strict=True)] == [
        result.score(entry) for entry in result.entries
    ]
    assert "violations" not in frame.columns


@pytest.mark.usefixtures("_frames")
def test_a_validation_of_nothing_is_an_empty_frame():
    assert len(lpsched.validate(paper_facility(), {}).to_frame()) == 0


@pytest.mark.usefixtures("_frames")
def test_the_frame_of_a_simulation_has_a_row_for_each_policy_with_the_means_of_its_table():
    result = lpsched.simulate(two_tasks(), ["max-util", "max-max-upe"])
    frame = result.to_frame()
    assert list(frame["name"]) == [entry.name for entry in result.policies]
    assert list(frame["utility"]) == [entry["utility"] for entry in result.to_dict()["policies"]]
    assert {"gap", "share_of_bound", "share_of_naive", "energy_joules", "dropped"} <= set(frame.columns)
