"""Files of plans and of certificates over a horizon."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

import lpsched
from lpsched.bag.horizon.certificate import HorizonMultipliers, certificate_of, check_horizon
from lpsched.bag.horizon.files import (
    HorizonPlan,
    plan_rows,
    read_horizon_certificate,
    read_plan,
    read_plan_rows,
    write_horizon_certificate,
    write_plan,
)
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.slots import SiteSlots, Slots
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import InstanceError, LpschedWarning, OutputError
from lpsched.model.answers import checksum
from lpsched.model.table import Table

BAG = Bag(
    "two",
    (MachineType("cpu", 4, 1.0, p_states=("high", "low"), may_be_off=True), MachineType("gpu", 1)),
    (TaskType("a", 3001), TaskType("b", 10)),
    Table.of([[0.1, 0.3, 7.0], [1.7, None, 0.9]]),
    Table.of([[5.0, 4.0, 70.0], [6.0, None, 80.0]]),
)
SITE = SiteSlots("here", (0.1, 0.3), None, (900.0, 900.0), demand_charge=2.0)
SLOTS = Slots((0.0, 3600.0, 7200.0), (SITE,), (0, 0), start=1_700_000_000)
PLAN = Plan(
    (
        PlanGroup(
            "cpu", 3, (TimedRun(0.1, "a", 1000, "low"), TimedRun(400.0, "b", 2, "high")), (IdleSpan(500.0, 501.5),)
        ),
        PlanGroup("gpu", 1, (TimedRun(11.0, "a", 1), TimedRun(18.0, "b", 4))),
    )
)
MADE = HorizonPlan(PLAN, 7200.0, 1_700_000_000)
WITHOUT_IDLE = Plan(tuple(replace(group, idle=()) for group in PLAN.groups))


def test_a_plan_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "plan.json"
    for made in (MADE, replace(MADE, start=None), HorizonPlan(Plan(()), 1.5)):
        write_plan(made, BAG, path, "1.0")
        assert read_plan(path) == made
        assert lpsched.read(path) == made
    assert lpsched.write(MADE, path, instance=BAG) == (path,)
    content = json.loads(path.read_text())
    assert content["format"] == "lpsched-plan/1"
    assert content["start"] == "2023-11-14T22:13:20Z"
    assert content["groups"][0]["runs"][0] == {"start_seconds": 0.1, "task_type": "a", "count": 1000, "p_state": "low"}


def test_what_is_wrong_with_a_plan_is_said(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("format: lpsched-plan/1\nstart: yesterday\nhorizon_seconds: -1\ngroups:\n- {machine_type: cpu}\n")
    with pytest.raises(InstanceError) as caught:
        read_plan(path)
    places = {each.path for each in caught.value.issues}
    assert {("start",), ("horizon_seconds",)} <= places
    assert ("groups", 0, "runs") in places


@pytest.mark.parametrize("name", ["plan.csv", "plan.parquet"])
def test_rows_become_the_same_runs_again(tmp_path, name):
    # 0.1 + k * 0.3 is no double for most k: 1000 tasks are joined all the same, and none starts earlier.
    path = tmp_path / name
    write_plan(HorizonPlan(WITHOUT_IDLE, 7200.0), BAG, path, "1.0")
    assert read_plan_rows(BAG, path) == WITHOUT_IDLE
    assert verify_plan(BAG, SLOTS, read_plan_rows(BAG, path), optional=True) == ()


def test_random_plans_are_the_same_after_rows(tmp_path):
    rng = random.Random(3)  # noqa: S311
    for number in range(20):
        at, runs = 0.0, []
        for _ in range(rng.randint(1, 9)):
            state = rng.choice(["high", "low"])
            at += rng.uniform(0.001, 9.0)
            runs.append(TimedRun(at, "a", rng.randint(1, 40), state))
            at += runs[-1].count * 0.3 + 1e-6
        plan = Plan((PlanGroup("cpu", 2, tuple(runs)),))
        path = tmp_path / f"{number}.csv"
        write_plan(HorizonPlan(plan, 7200.0), BAG, path, "1.0")
        again = read_plan_rows(BAG, path)
        assert again == plan
        assert measure_plan(BAG, SLOTS, again) == measure_plan(BAG, SLOTS, plan)


def test_written_starts_are_not_after_the_true_ones_and_ends_follow(tmp_path):
    rows = [row for row in plan_rows(BAG, PLAN) if row.machine_type == "cpu" and row.machine == 2]
    assert len(rows) == 1002
    for k, row in enumerate(rows[:1000]):
        exact = Fraction(0.1) + k * Fraction(0.3)
        assert Fraction(row.start_seconds) <= exact < Fraction(math.nextafter(row.start_seconds, math.inf))
    path = tmp_path / "plan.csv"
    write_plan(HorizonPlan(WITHOUT_IDLE, 7200.0), BAG, path, "1.0")
    first = path.read_text().splitlines()[:2]
    assert first == ["task,task_type,machine_type,machine,p_state,start_seconds,end_seconds", "0,a,cpu,1,low,0.1,0.4"]


def write_csv(path, *rows):
    path.write_text("\n".join(("task_type,machine_type,machine,p_state,start_seconds", *rows)) + "\n")
    return path


def test_a_pause_however_short_is_kept(tmp_path):
    after = math.nextafter(1.7, 2.0)
    path = write_csv(tmp_path / "p.csv", "b,cpu,1,high,0.0", f"b,cpu,1,high,{after!r}")
    assert read_plan_rows(BAG, path).groups[0].runs == (TimedRun(0.0, "b", 1, "high"), TimedRun(after, "b", 1, "high"))


def test_rows_that_overlap_by_rounding_move_later_and_others_stay(tmp_path):
    # 0.3 is above three times 0.1 as doubles: three tasks of 0.1 s end after 0.3 s by some 1e-17.
    end = Fraction(0.1) * 3
    path = write_csv(tmp_path / "p.csv", *(f"a,cpu,1,high,{k / 10}" for k in range(3)), "b,cpu,1,high,0.3")
    first, second = read_plan_rows(BAG, path).groups[0].runs
    assert first == TimedRun(0.0, "a", 3, "high")
    assert end <= Fraction(second.start_seconds) < end + Fraction(1, 10**15)
    clash = write_csv(tmp_path / "q.csv", "b,cpu,1,high,0.0", "b,cpu,1,high,1.6")
    found = verify_plan(BAG, SLOTS, read_plan_rows(BAG, clash), optional=True)
    assert [each.code for each in found] == ["overlap"]


def test_rows_come_in_any_order(tmp_path):
    path = write_csv(tmp_path / "p.csv", "a,gpu,1,,9.0", "b,gpu,1,,0.9", "b,gpu,1,,0.0")
    assert read_plan_rows(BAG, path).groups[0].runs == (TimedRun(0.0, "b", 2), TimedRun(9.0, "a", 1))


def test_machines_of_groups_of_a_type_are_numbered_on():
    groups = tuple(PlanGroup("cpu", count, (TimedRun(at, "b", 1, "high"),)) for count, at in ((1, 0.0), (2, 5.0)))
    assert [(row.machine, row.start_seconds) for row in plan_rows(BAG, Plan(groups))] == [(1, 0.0), (2, 5.0), (3, 5.0)]


def test_rows_need_starts_and_machines_that_exist(tmp_path):
    path = write_csv(tmp_path / "p.csv", "b,cpu,1,high,", "b,cpu,5,high,0.0", "b,cpu,1,high,-3")
    with pytest.raises(InstanceError) as caught:
        read_plan_rows(BAG, path)
    assert [(each.path, each.got) for each in caught.value.issues] == [
        (("row", 1), "no start"),
        (("row", 2), "machine 5"),
        (("row", 3), "the start -3.0"),
    ]


def test_unknown_names_in_rows_are_left_to_the_verifier(tmp_path):
    path = write_csv(tmp_path / "p.csv", "c,cpu,1,high,0.0", "c,cpu,1,high,0.0", "a,tpu,1,,0.0")
    found = verify_plan(BAG, SLOTS, read_plan_rows(BAG, path), optional=True)
    assert {each.code for each in found} == {"unknown-task-type", "unknown-machine-type"}


def test_rows_cannot_hold_idle_spans_nor_fill_the_disk(tmp_path):
    with pytest.warns(LpschedWarning, match="stay on without running"):
        write_plan(MADE, BAG, tmp_path / "plan.csv", "1.0")
    huge = Plan((PlanGroup("gpu", 10**12, (TimedRun(0.0, "a", 10**6),)),))
    with pytest.raises(OutputError, match="would fill the disk"):
        write_plan(HorizonPlan(huge, 1e9), BAG, tmp_path / "huge.csv", "1.0")


PRICES = HorizonMultipliers((0.1, -0.3), ((0.0, 0.7), (1e-9, 0.0)), ((0.1, 0.0),), ((1e-8, 0.0),))


@pytest.mark.parametrize("prices", [PRICES, HorizonMultipliers((1.1, 2.0))])
@pytest.mark.parametrize("start", [None, 1_700_000_000])
def test_a_certificate_is_read_as_it_was_written(tmp_path, prices, start):
    slots = replace(SLOTS, start=start)
    made = certificate_of(BAG, slots, "cost", prices)
    path = tmp_path / "certificate.json"
    write_horizon_certificate(made, path, "1.0")
    assert read_horizon_certificate(path) == made
    assert lpsched.read(path) == made
    assert check_horizon(BAG, slots, read_horizon_certificate(path)).accepted
    content = json.loads(path.read_text())
    assert content["format"] == "lpsched-horizon-certificate/1"
    assert Fraction(content["multipliers"]["task_types"]["a"]) == Fraction(prices.task_values[0])
    assert lpsched.write(made, path) == (path,)


def test_a_certificate_that_was_changed_is_rejected(tmp_path):
    path = tmp_path / "certificate.json"
    write_horizon_certificate(certificate_of(BAG, SLOTS, "cost", PRICES), path, "1.0")
    content = json.loads(path.read_text())
    content["claim"]["bound"] = "1000000"
    path.write_text(json.dumps(content))
    with pytest.raises(InstanceError, match="the file was changed"):
        read_horizon_certificate(path)
    path.write_text(json.dumps(content | {"checksum": checksum(content)}))
    forged = check_horizon(BAG, SLOTS, read_horizon_certificate(path))
    assert forged.reasons == ("it claims more than its prices prove",)
    content["multipliers"]["caps"] = {"here": [0.1, 0.0]}
    path.write_text(json.dumps(content | {"checksum": checksum(content)}))
    with pytest.raises(InstanceError, match="exact decimal"):
        read_horizon_certificate(path)
