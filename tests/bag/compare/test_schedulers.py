"""Schedulers that are run: what they hand back is judged, what they raise is written down."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from lpsched import (
    InstanceError,
    InvalidScheduleError,
    MachineGroup,
    MissingExtraError,
    Run,
    Schedule,
    Site,
    read,
    solve,
    validate,
)
from lpsched.bag import heuristics as registry
from lpsched.bag import solve as solving
from lpsched.bag.compare import schedules
from lpsched.bag.compare.schedules import run
from lpsched.bag.files import write_schedule
from lpsched.bag.heuristics import forget, names, register
from lpsched.bag.schedule import NOTHING, TaskRow, expand
from lpsched.cancellation import CancelToken
from lpsched.evolve import nsga2 as evolved
from lpsched.instances import risk_of
from lpsched.model.risk import RiskOptions
from tests.support import simple_bag

TINY = read(Path(__file__).parents[3] / "instances" / "tiny.yaml")
PAIR = simple_bag([[3.0]], [3], [2], watts=[[100.0]], idle=[10.0])  # three tasks of 3 s on two machines
ROWS = [TaskRow("t0", "m0", 1), TaskRow("t0", "m0", 2), TaskRow("t0", "m0", 2)]


def judged(found, bag=PAIR, **options):
    """Judge a function that hands back something."""
    (entry,) = validate(bag, heuristics=[lambda _bag, _rng: found], **options).entries
    return entry


def test_schedulers_come_after_the_schedules_in_the_order_asked_for():
    ours = solve(TINY).schedule
    result = validate(TINY, {"mine": ours}, heuristics=["olb", "lp", "min-min"], objective="makespan")
    assert [(entry.name, entry.kind) for entry in result.entries] == [
        ("mine", "schedule"),
        ("olb", "heuristic"),
        ("lp", "heuristic"),
        ("min-min", "heuristic"),
    ]
    assert [entry.seconds is None for entry in result.entries] == [True, False, False, False]
    assert result.entries[2].value == solve(TINY, objective="makespan").value
    assert result.seed == result.to_dict()["seed"] == 0


def test_what_is_measured_is_what_the_schedule_of_the_entry_takes():
    result = validate(TINY, heuristics=["mct"], objective="energy")
    (entry,) = result.entries
    assert entry.schedule is not None
    (again,) = validate(TINY, {"again": entry.schedule}, objective="energy").entries
    assert again.measured == entry.measured
    assert entry.to_dict()["profit_per_hour"] == entry.measured.profit_per_hour


def test_single_tasks_do_as_well_as_groups_with_or_without_starts():
    # 6 s either way; with a pause it ends when the last task does, at 7 s.
    assert judged(ROWS).value == judged(iter(ROWS)).value == 6.0
    paused = [replace(row, start_seconds=start) for row, start in zip(ROWS, (0.0, 0.0, 4.0), strict=True)]
    assert judged(paused).value == 7.0


def test_numbers_of_numpy_are_numbers():
    group = MachineGroup("m0", np.int64(1), (Run("t0", np.int32(3)),))
    assert judged(Schedule((group,), np.float32(9.5))).value == 9.5
    rows = [replace(row, machine=np.int64(row.machine), start_seconds=None) for row in ROWS]
    assert judged(rows).value == 6.0


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "TypeError: it handed back NoneType, where a Schedule or TaskRows are needed"),
        ("nonsense", "TypeError: it handed back str where a TaskRow is needed"),
        ([("t0", "m0", 1)], "TypeError: it handed back tuple where a TaskRow is needed"),
        (Schedule((MachineGroup("m0", 1, (Run("t0", 3.0),)),)), "TypeError: 'float' object cannot be interpreted as an integer"),
        (Schedule((MachineGroup(["m0"], 1, (Run("t0", 3),)),)), "TypeError: it handed back list where a name is needed"),
        ([TaskRow("t0", "m0", 1, 7)], "TypeError: it handed back int where a name is needed"),
        ([TaskRow("t0", "m0", 1, None, "now")], "ValueError: could not convert string to float: 'now'"),
    ],
    ids=["none", "text", "tuples", "fractions", "no-name", "no-state", "no-start"],
)  # fmt: skip
def test_nonsense_is_an_entry_that_failed(found, words):
    entry = judged(found)
    assert (entry.valid, entry.value, entry.measured) == (False, None, None)
    assert [(each.code, each.sentence) for each in entry.violations] == [("failed", words)]
    assert entry.seconds >= 0


def test_rules_are_broken_as_in_a_file():
    assert [each.code for each in judged(ROWS[:2]).violations] == ["wrong-count"]
    assert [each.code for each in judged([*ROWS, *ROWS]).violations] == ["wrong-count"]
    assert [each.code for each in judged([]).violations] == ["wrong-count"]
    assert [each.code for each in judged([TaskRow("t0", "m0", 3)]).violations] == ["no-such-machine"]
    assert "overlap" in {each.code for each in judged([TaskRow("t0", "m0", 1, None, 0.0)] * 3).violations}


def test_an_endless_list_of_tasks_is_read_as_far_as_there_are_tasks():
    def endless(_bag, _rng):
        while True:
            yield TaskRow("t0", "m0", 1)

    (entry,) = validate(PAIR, heuristics=[endless]).entries
    assert (entry.name, entry.kind) == ("endless", "function")
    assert entry.violations[0].sentence == "4 tasks of type 't0' run, but there are 3"


def test_an_exception_is_the_schedulers_own_and_others_go_on():
    def clumsy(_bag, _rng):
        raise KeyError("x")

    def unlucky(_bag, _rng):
        yield from ROWS
        raise ZeroDivisionError("late")

    result = validate(PAIR, heuristics=[clumsy, unlucky, "mct"])
    assert not result.valid
    assert [entry.valid for entry in result.entries] == [False, False, True]
    sentences = [entry.violations[0].sentence for entry in result.entries[:2]]
    assert sentences == ["KeyError: 'x'", "ZeroDivisionError: late"]


def test_an_interrupt_passes():
    def interrupted(_bag, _rng):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        validate(PAIR, heuristics=[interrupted])


def test_one_of_ours_that_cannot_do_a_bag_says_why():
    bag = simple_bag([[1.0]], [1], [1])
    (entry,) = validate(bag, heuristics=["min-energy"]).entries
    assert [each.code for each in entry.violations] == ["failed"]
    assert entry.violations[0].sentence.startswith("watts: got none, expected the watts of every pair")


def test_an_unknown_name_is_refused_before_anything_runs():
    ran = []

    def noted(_bag, _rng):
        ran.append(1)

    with pytest.raises(InstanceError, match="heuristic: got 'minmin', expected one of min-min"):
        validate(PAIR, heuristics=[noted, "minmin"])
    assert ran == []


def test_all_stands_for_all_that_can_run_and_none_runs_twice(monkeypatch):
    monkeypatch.setattr(evolved, "GENERATIONS", 1)
    result = validate(PAIR, heuristics=["mct", "all"])
    assert [entry.name for entry in result.entries] == ["mct", "lp", *(n for n in names() if n != "mct"), "nsga2"]
    plain = validate(PAIR.model_copy(update={"watts": None}), heuristics=["all"])
    assert {"min-energy", "nsga2"}.isdisjoint(entry.name for entry in plain.entries)
    assert plain.valid


def test_a_missing_package_is_told_before_anything_runs(monkeypatch):
    def missing():
        raise MissingExtraError("NSGA-II", "evolve")

    ran = []

    def noted(_bag, _rng):
        ran.append(1)

    monkeypatch.setattr(evolved, "require_pymoo", missing)
    with pytest.raises(MissingExtraError, match="NSGA-II needs the extra"):
        validate(PAIR, heuristics=[noted, "nsga2"])
    assert ran == []


def test_a_registered_function_is_judged_by_its_name():
    register("mine", lambda bag, _rng: expand(bag, solve(bag).schedule))
    try:
        (entry,) = validate(PAIR, heuristics=["mine"]).entries
        assert (entry.name, entry.kind, entry.value) == ("mine", "heuristic", 6.0)
    finally:
        forget("mine")


def test_a_package_that_cannot_be_loaded_is_an_entry(monkeypatch):
    point = EntryPoint("mine", "no_such_module_anywhere:rule", "lpsched.heuristics")
    monkeypatch.setitem(vars(registry.OF_BAGS), "announced", {"mine": point})
    result = validate(PAIR, heuristics=["mine", "mct"])
    assert [entry.valid for entry in result.entries] == [False, True]
    assert "an installed package announces as no_such_module_anywhere:rule" in result.entries[0].violations[0].sentence


def test_each_scheduler_gets_a_generator_of_its_own_seed():
    drawn = []

    def gambler(_bag, rng):
        drawn.append(rng.integers(10**9))
        return ROWS

    validate(PAIR, heuristics=[gambler, "random", gambler], seed=5)
    assert drawn == [np.random.default_rng(5).integers(10**9)] * 2


def test_a_mapping_over_the_power_cap_waits_until_it_is_not():
    # One machine works 3 s more than the other: 9 s at 100 W, 3 s at 10 W; above idle 9 * 90 = 810 J. A cap of
    # 74 W leaves 54 W above the 20 W of idle machines, so that it may end at 810 / 54 = 15 s.
    capped = PAIR.model_copy(update={"site": Site(average_power_cap_watts=74.0)})
    entry = judged(ROWS, capped, objective="makespan")
    assert entry.valid
    assert entry.value == pytest.approx(15.0)
    assert entry.schedule.makespan_seconds == entry.value
    # Its own schedule brought along does not wait: a file says when it ends.
    broken = validate(capped, {"mine": replace(entry.schedule, makespan_seconds=None)}, objective="makespan")
    assert [each.code for each in broken.entries[0].violations] == ["over-power-cap"]
    # By a deadline of 10 s nobody can be done (the bound says so), by 16 s all can.
    assert judged(ROWS, capped, objective="makespan", deadline=16.0).valid


def test_waiting_past_the_deadline_does_not_help():
    wide = simple_bag([[3.0, 3.0]], [3], [2, 2], watts=[[100.0, 50.0]], idle=[10.0, 0.0])
    capped = wide.model_copy(update={"site": Site(average_power_cap_watts=80.0, deadline_seconds=10.0)})
    rows = [TaskRow("t0", "m0", 1)] * 3  # 810 J above idle, 60 W left above it: 13.5 s
    assert [each.code for each in judged(rows, capped).violations] == ["over-power-cap"]


def test_a_pause_is_kept_while_waiting():
    # Ends at 103 s, on average far below the cap.
    capped = PAIR.model_copy(update={"site": Site(average_power_cap_watts=74.0)})
    late = [replace(row, start_seconds=start) for row, start in zip(ROWS, (0.0, 0.0, 100.0), strict=True)]
    assert judged(late, capped, objective="makespan").value == 103.0


def test_a_pause_that_breaks_the_cap_is_not_taken_out_of_a_schedule():
    # Idle it draws 100 W, busy 10 W: 6 s of work in 103 s are far above the cap of 60 W on average.
    odd = simple_bag([[3.0]], [2], [1], watts=[[10.0]], idle=[100.0])
    capped = odd.model_copy(update={"site": Site(average_power_cap_watts=60.0)})
    late = [TaskRow("t0", "m0", 1, None, 0.0), TaskRow("t0", "m0", 1, None, 100.0)]
    assert [each.code for each in judged(late, capped).violations] == ["over-power-cap"]
    assert judged([replace(row, start_seconds=None) for row in late], capped).value == 6.0


def test_running_nothing_is_an_answer_only_where_money_counts():
    assert judged(NOTHING, TINY, objective="profit").value == pytest.approx(-0.144)
    assert not judged(NOTHING, TINY, objective="makespan").valid


def test_a_schedule_better_than_the_bound_is_a_bug_of_ours(monkeypatch):
    found = solving.find
    monkeypatch.setattr(schedules, "find", lambda *a, **k: replace(found(*a, **k), bound=6.1))
    with pytest.raises(InvalidScheduleError, match=r"mct reaches 6\.0, better than the bound of 6\.1"):
        validate(PAIR, heuristics=["mct"])
    monkeypatch.setattr(schedules, "find", lambda *a, **k: replace(found(*a, **k), bound=1.0))
    with pytest.raises(InvalidScheduleError, match=r"lp reaches 3\.4\d+, better than the bound of 1\.0"):
        validate(TINY, heuristics=["lp"], objective="profit")


def test_what_has_not_begun_when_somebody_says_stop_is_not_run():
    cancel = CancelToken()

    def stopper(_bag, _rng):
        cancel.stop()
        return ROWS

    result = validate(PAIR, heuristics=[stopper, "mct"], cancel=cancel)
    assert result.entries[0].valid
    assert [(each.code, each.sentence) for each in result.entries[1].violations] == [("not-run", "stopped before")]


def test_our_own_failure_is_an_entry_too():
    # 3.1 + 2 + 2 + 1.9 s on two machines: split they take 4.5 s, whole 5 s.
    bag = simple_bag([[3.1], [2.0], [1.9]], [1, 2, 1], [2])
    due = validate(bag, {"mine": solve(bag).schedule}, heuristics=["lp"], deadline=4.8)
    assert [each.code for entry in due.entries for each in entry.violations] == ["after-deadline", "failed"]
    assert "no schedule of whole tasks ends by then" in due.entries[1].violations[0].sentence
    assert due.bound == pytest.approx(4.5)


def test_nsga2_brings_the_schedule_of_its_front_that_is_best_for_what_is_asked():
    fast = validate(TINY, heuristics=["min-min", "nsga2"], objective="makespan", generations=3)
    slow = validate(TINY, heuristics=["min-energy", "nsga2"], objective="energy", generations=3)
    for result in (fast, slow):  # it is seeded with the other, and keeps it or betters it
        assert result.entries[1].value <= result.entries[0].value


def test_nsga2_fails_in_words_where_there_are_no_watts():
    (entry,) = validate(simple_bag([[1.0]], [2], [1]), heuristics=["nsga2"], generations=1).entries
    assert [each.code for each in entry.violations] == ["failed"]
    assert "watts" in entry.violations[0].sentence


def test_files_are_judged_without_loading_a_compiler():
    code = (
        "import sys, lpsched\n"
        f"lpsched.validate(lpsched.read({str(Path(__file__).parents[3] / 'instances' / 'tiny.yaml')!r}), heuristics=['mct'])\n"
        "print({'numba', 'pymoo'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_function_is_timed_and_checked_alone():
    ran = run(PAIR, lambda _bag, _rng: ROWS, seed=0, may_wait=False)
    assert ran.examined.measured.makespan_seconds == 6.0
    assert ran.seconds > 0


def test_the_table_tells_what_is_known_and_not_the_objective_twice():
    result = validate(PAIR, heuristics=["mct"])
    assert result.headers() == ("scheduler", "makespan", "gap", "energy", "seconds")
    assert result.rows()[0] == ("bound", "6 s", "proved", "", "")  # one of two machines runs two tasks of 3 s
    assert result.rows()[1][:4] == ("mct", "6 s", "0 %", "0.2583 Wh")  # 930 J: 9 s at 100 W, 3 s at 10 W
    assert result.headline() == "mct: makespan 6 s; optimal (proved)."
    plain = validate(PAIR.model_copy(update={"watts": None}), {"mine": judged(ROWS).schedule})
    assert plain.headers() == ("scheduler", "makespan", "gap")
    priced = validate(TINY, heuristics=["mct"], objective="energy")
    assert priced.headers()[3:5] == ("profit, USD/h", "makespan")
    assert "<th>scheduler</th>" in priced._repr_html_()


def test_the_headline_names_the_best_its_gap_and_the_side_of_the_bound():
    # On the fast machines 12 s is the least; olb ends at 14 s, 2 of 12 s more, rounded up.
    result = validate(TINY, heuristics=("min-energy", "olb"), objective="makespan")
    assert result.headline() == (
        "Best of 2 schedulers: olb, makespan 14 s; at least 12 s in any schedule (gap 16.67 %, proved)."
    )
    assert [entry.name for entry in result.entries] == ["min-energy", "olb"]
    assert [entry.name for entry in result.ranked().entries] == ["olb", "min-energy"]


def test_with_risk_every_valid_schedule_is_sampled_with_the_same_luck(tmp_path):
    plan = solve(PAIR).schedule
    file = tmp_path / "plan.json"
    write_schedule(plan, PAIR, file, "0")
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    options = RiskOptions(samples=50, cov=0.5)
    ours, none = validate(PAIR, [file, broken], risk=options, seed=3).entries
    assert ours.risk == risk_of(PAIR, plan, samples=50, cov=0.5, seed=3)
    assert ours.to_dict()["risk"]["samples"] == 50
    assert (none.valid, none.risk) == (False, None)
    (again,) = validate(PAIR, heuristics=["lp"], risk=options, seed=3).entries
    assert again.risk == ours.risk
    assert "risk" not in validate(PAIR, [file]).entries[0].to_dict()
