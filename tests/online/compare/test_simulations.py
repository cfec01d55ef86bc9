"""Policies on days as they happen: measured by the verifier, held against the bound, the same in any order."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError, MissingExtraError
from lpsched.generate.day import another_day
from lpsched.online.bound.offers import ArrivalPrices
from lpsched.online.bound.solve import ArrivalBound
from lpsched.online.compare import backend, simulations
from lpsched.online.compare.backend import DayBackend, policy_names
from lpsched.online.compare.simulations import simulate
from lpsched.online.policies import forget, register
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.simulate.state import Assignment, Policy
from lpsched.online.verify.day import examine
from tests.simulated import drawn_day, two_tasks, untimed

pytestmark = pytest.mark.rotate_tests(5)

EVERY_5 = SimulationOptions(every_seconds=5.0)


def first_machine(state, _):
    """Map every task to machine 0, in the order in which they came."""
    return [Assignment(int(task), 0, 0) for task in state.tasks]


def nothing(_state, _rng):
    return []


def bounded_by(bound):
    def found(day, **_):
        prices = ArrivalPrices(np.array([0.0, 1.0]), np.zeros((len(day.machine_types), 1)), 0.0)
        return ArrivalBound(bound=bound, naive=0.0, prices=prices, seconds=0.25)

    return found


def test_what_a_policy_earns_and_takes_is_measured():
    # The event at 5 s starts both: they end at 15 s, worth 8, and at 25 s, worth nothing any more. 2 x 1000 J.
    result = simulate(two_tasks(), ["fcfs"], options=EVERY_5)
    (entry,) = result.policies
    (run,) = entry.runs
    assert (entry.name, entry.kind, run.trial, run.reason) == ("fcfs", "policy", 0, None)
    assert (run.utility, run.measured.energy_joules, run.measured.completed) == (8.0, 2000.0, 2)
    assert (run.dropped, run.waiting) == (0, 0)
    assert run.naive == 16.0  # both at once, as if there were two machines: 10 s
    assert run.share_of_naive == 0.5
    assert run.share_of_bound is None
    assert run.measured == examine(two_tasks(), entry.schedule).measured


def test_tasks_that_never_begin_wait_and_those_given_up_are_dropped():
    # Until 15 s there is time for one task that starts at 5 s; the other one would start at 15 s.
    result = simulate(two_tasks(length_seconds=15.0), ["fcfs"], options=EVERY_5)
    assert [(run.dropped, run.waiting) for run in result.policies[0].runs] == [(0, 1)]
    # From 5 s on one of three runs and one is pending. At 10 s the third could end at 35 s at the earliest and
    # would earn nothing: less than 1, so it is dropped.
    result = simulate(two_tasks(3), ["fcfs"], options=replace(EVERY_5, drop_below=1.0))
    (run,) = result.policies[0].runs
    assert (run.dropped, run.waiting, run.measured.completed) == (1, 0, 2)


def test_what_is_dropped_before_the_period_is_not_counted():
    dropping = replace(EVERY_5, drop_below=1.0)
    for warm_up, dropped in ((9.0, 1), (10.0, 1), (11.0, 0)):  # it is dropped at 10 s
        result = simulate(two_tasks(3, warm_up_seconds=warm_up), ["fcfs"], options=dropping)
        assert result.policies[0].runs[0].dropped == dropped


def test_a_task_that_comes_after_the_period_does_not_wait():
    day = drawn_day()
    short = day.model_copy(update={"period": day.period.model_copy(update={"length_seconds": 600.0})})
    result = simulate(short, ["fcfs"])
    (run,) = result.policies[0].runs
    arrived = sum(arrival < short.period.ends_at for arrival in short.arriving.arrival_seconds)
    assert 0 < arrived < short.tasks
    assert run.waiting == arrived - len(result.policies[0].schedule.placed)


def test_utility_over_time_and_by_priority_add_up():
    day = drawn_day()
    (entry,) = simulate(day, ["max-max-upt"]).policies
    (run,) = entry.runs
    traces = run.traces
    assert len(traces.seconds) == 73
    assert traces.seconds[0] == 0.0
    assert traces.seconds[-1] == day.period.length_seconds
    assert traces.utility[-1] == pytest.approx(run.utility)
    assert traces.energy_joules[-1] == pytest.approx(run.measured.energy_joules)
    assert list(traces.utility) == sorted(traces.utility)
    assert math.fsum(each.utility for each in run.earned) == pytest.approx(run.utility)
    assert math.fsum(each.if_none_waits for each in run.earned) == pytest.approx(run.naive)
    worths = [day.levels.priorities[each.name] for each in run.earned]
    assert worths == sorted(worths, reverse=True)
    assert [name for name, _ in run.busy] == [machine.name for machine in day.machine_types]
    assert all(0.0 <= share <= 1.0 for _, share in run.busy)


def test_machines_are_busy_for_their_share_of_the_period():
    # One machine runs from 5 s to 25 s. The day has no end, so it is judged until the last task is done.
    (entry,) = simulate(two_tasks(), ["fcfs"], options=EVERY_5).policies
    assert entry.busy == (("m0", 20.0 / 25.0),)
    (entry,) = simulate(two_tasks(length_seconds=40.0), ["fcfs"], options=EVERY_5).policies
    assert entry.busy == (("m0", 20.0 / 40.0),)


def test_each_trial_is_another_day_and_all_policies_see_it():
    day = drawn_day()
    result = simulate(day, ["min-min", "max-max-upt"], trials=3)
    assert [trial.trial for trial in result.trials] == [0, 1, 2]
    for entry in result.policies:
        assert [run.trial for run in entry.runs] == [0, 1, 2]
        assert [run.naive for run in entry.runs] == [trial.naive for trial in result.trials]
    assert len({trial.naive for trial in result.trials}) == 3
    alone = simulate(another_day(day, 2), ["min-min"])
    assert alone.policies[0].runs[0].utility == result.policies[0].runs[2].utility


def test_of_trials_there_are_means_and_confidence_intervals():
    result = simulate(drawn_day(), ["min-min"], trials=2)
    (entry,) = result.policies
    first, second = (run.utility for run in entry.runs)
    mean = entry.mean("utility")
    assert mean.mean == pytest.approx((first + second) / 2)
    # Two trials: standard deviation |a - b| / sqrt(2), Student's t 12.706, divided by sqrt(2).
    assert mean.half_width == pytest.approx(12.706 * abs(first - second) / 2)
    shares = [run.share_of_naive for run in entry.runs]
    assert entry.mean("share_of_naive").mean == pytest.approx(sum(shares) / 2)


def test_neither_the_order_nor_other_policies_change_an_answer():
    day = drawn_day()
    both = simulate(day, ["random-batch", "met-random"], trials=2)
    turned = simulate(day, ["met-random", "random-batch"], trials=2)
    alone = simulate(day, ["met-random"], trials=2)
    told = {entry["name"]: entry for entry in untimed(both)["policies"]}
    for other in (turned, alone):
        for entry in untimed(other)["policies"]:
            assert entry == told[entry["name"]]


def test_another_seed_is_another_answer_of_a_policy_that_draws():
    day = drawn_day()
    one, two = (simulate(day, ["met-random"], seed=seed).policies[0].schedule for seed in (0, 1))
    assert one != two


@pytest.mark.slow
def test_several_processes_give_the_same_answers():
    day = drawn_day(30)
    alone = simulate(day, ["random-batch", "min-min"], trials=2)
    shared = simulate(day, ["random-batch", "min-min"], trials=2, jobs=2)
    assert untimed(shared) == untimed(alone)
    assert [entry.schedule for entry in shared.policies] == [entry.schedule for entry in alone.policies]


def test_what_cannot_be_sent_to_other_processes_is_refused():
    with pytest.raises(InstanceError, match=r"use one job, or functions of a module$"):
        simulate(two_tasks(), [Policy("mine", lambda *_: []), "fcfs"], jobs=2)


def test_a_function_is_a_policy():
    result = simulate(two_tasks(), [first_machine, Policy("same", first_machine)], options=EVERY_5)
    assert [(entry.name, entry.kind) for entry in result.policies] == [
        ("first_machine", "function"),
        ("same", "function"),
    ]
    assert [entry.runs[0].utility for entry in result.policies] == [8.0, 8.0]


def test_a_registered_policy_is_found_by_its_name():
    register("to-the-first", first_machine)
    try:
        result = simulate(two_tasks(), ["to-the-first"], options=EVERY_5)
    finally:
        forget("to-the-first")
    assert result.policies[0].runs[0].utility == 8.0


def unknown_task(_state, _rng):
    return [Assignment(99, 0, 0)]


def confused(_state, _rng):
    raise ValueError("no \x1b idea")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        pytest.param(nothing, "nothing", id="does-nothing"),
        pytest.param(unknown_task, "99", id="breaks-a-rule"),
        pytest.param(confused, "no \\x1b idea", id="raises"),
    ],
)
def test_a_policy_without_an_answer_is_an_entry_with_the_reason(policy, why):
    result = simulate(two_tasks(), [policy, "fcfs"], options=EVERY_5)
    failed, other = result.policies
    ((trial, reason),) = failed.reasons
    assert trial == 0
    assert why in reason
    assert failed.answers == ()
    assert other.answers
    assert result.answered
    assert not simulate(two_tasks(), [policy], options=EVERY_5).answered


def invalid_day(day, policy, rng, options, *, cancel):
    happened = SIMULATE(day, policy, rng, options, cancel=cancel)
    early = DaySchedule((PlacedTask(0, "m0", 7, 0.0),))
    return replace(happened, schedule=early)


SIMULATE = simulate_day


def test_an_invalid_schedule_of_ours_is_raised_and_a_strangers_is_told(monkeypatch):
    monkeypatch.setattr(backend, "simulate_day", invalid_day)
    monkeypatch.setattr(DayBackend, "warm_up", lambda *_: None)
    with pytest.raises(InvalidScheduleError, match="no-such-machine"):
        simulate(two_tasks(), ["fcfs"], options=EVERY_5)
    result = simulate(two_tasks(), [first_machine], options=EVERY_5)
    assert "no-such-machine" in result.policies[0].reasons[0][1]


def test_shares_of_the_bound_are_told(monkeypatch):
    monkeypatch.setattr(simulations, "arrival_bound", bounded_by(10.0))
    result = simulate(two_tasks(), ["fcfs"], options=EVERY_5, bound=True)
    assert result.bound.mean == 10.0
    assert result.trials[0].bound_seconds == 0.25
    assert result.policies[0].mean("share_of_bound").mean == 0.8


def test_the_bound_is_rehearsed_once_before_it_is_timed(monkeypatch):
    steps, bounded = [], bounded_by(1e6)

    def found(day, **options):
        steps.append("bound" if day.tasks > 2 else "rehearsal")
        return bounded(day, **options)

    monkeypatch.setattr(simulations, "arrival_bound", found)
    simulate(drawn_day(), ["fcfs"], trials=2, bound=True)
    assert steps == ["rehearsal", "bound", "bound"]


@pytest.mark.rotate(1)
@pytest.mark.parametrize("options", [{}, {"energy_gigajoules": 0.0005}])
def test_who_knows_the_whole_day_earns_no_less_than_who_plans_without(options):
    result = simulate(drawn_day(**options), ["prices"], bound=True, offline=True, time_limit=1.0)
    planned, offline = (entry.mean("utility").mean for entry in result.policies)
    assert 0.0 < planned <= offline <= result.bound.mean


def test_a_schedule_above_the_bound_is_raised_loudly(monkeypatch):
    monkeypatch.setattr(simulations, "arrival_bound", bounded_by(math.nextafter(8.0, 0.0)))
    with pytest.raises(InvalidScheduleError, match=r"fcfs earns 8\.0 in trial 0, more than the bound of 7\.9"):
        simulate(two_tasks(), ["fcfs"], options=EVERY_5, bound=True)


def test_the_bound_may_be_reached(monkeypatch):
    monkeypatch.setattr(simulations, "arrival_bound", bounded_by(8.0))
    result = simulate(two_tasks(), ["fcfs"], options=EVERY_5, bound=True)
    assert result.policies[0].mean("share_of_bound").mean == 1.0


def test_whoever_says_stop_has_what_was_done():
    cancel = CancelToken(listener=lambda progress: cancel.stop() if "min-min" in progress.stage else None)
    result = simulate(drawn_day(), ["fcfs", "min-min", "sufferage"], trials=2, cancel=cancel)
    first, second, third = result.policies
    assert first.answers
    assert second.reasons == ((0, "stopped before its end"),)
    assert third.reasons == ((0, "stopped before it began"),)
    assert [trial.trial for trial in result.trials] == [0]
    assert result.trials[0].naive == first.runs[0].naive
    assert result.asked_trials == 2


def test_a_watch_that_is_over_leaves_nothing():
    result = simulate(two_tasks(), ["fcfs"], cancel=CancelToken(0.0))
    assert not result.answered
    assert result.trials == ()
    assert result.to_dict()["naive_bound"] is None
    assert result.rows()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": []}, "policies: got none, expected at least one"),
        ({"policies": ["min-mim"]}, "min-min"),
        ({"trials": 0}, "trials: got 0, expected a whole number from 1 up"),
        ({"jobs": 0}, "jobs: got 0"),
        ({"policies": ["random"], "options": SimulationOptions(machines="polled")}, "machines with queues"),
        ({"trials": 2}, "made_by"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_work(change, words, monkeypatch):
    monkeypatch.setattr(backend, "simulate_day", lambda *_, **__: pytest.fail("began"))
    asked = {"policies": ["fcfs"]} | change
    with pytest.raises(InstanceError, match=words):
        simulate(two_tasks(), **asked)


def test_all_is_every_policy_that_can_be_run_so(monkeypatch):
    assert DayBackend(two_tasks(), SimulationOptions()).all_names() == tuple(policy_names())
    polled = DayBackend(two_tasks(), SimulationOptions(machines="polled")).all_names()
    assert "min-min" in polled
    assert "round-robin" not in polled
    monkeypatch.setattr(simulations, "work_off", lambda *_, **__: [])  # compiling all would take a minute
    result = simulate(two_tasks(), ["fcfs", "all"], options=SimulationOptions(machines="polled"))
    assert [entry.name for entry in result.policies] == ["fcfs", *(each for each in polled if each != "fcfs")]


def test_a_name_twice_is_one_policy():
    result = simulate(two_tasks(), ["fcfs", "fcfs"], options=EVERY_5)
    assert len(result.policies) == 1


def test_without_a_compiler_nothing_begins(monkeypatch):
    monkeypatch.setattr("lpsched.jit.numba", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'simulate'"):
        simulate(two_tasks(), ["fcfs"])
