"""Policies on clusters: measured by the verifier, by utility or by waiting, held against the bound."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.generate.day import another_day
from lpsched.online.bound.offers import ArrivalPrices
from lpsched.online.bound.solve import ArrivalBound, arrival_bound
from lpsched.online.cluster_policies import cluster_policy_names, forget, register
from lpsched.online.compare import backend, simulations
from lpsched.online.compare.backend import ClusterBackend, usual_options
from lpsched.online.compare.simulations import simulate
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy, PartialClusterSchedule, Placement
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
from lpsched.online.utility import WaitingCost
from lpsched.online.verify.clusters import examine
from tests.simulated import two_tasks, untimed
from tests.simulated_clusters import drawn_clusters, three_tasks, waiting_tasks

AT_ONCE = ClusterOptions(every_seconds=None)
UTILITY_AWARE = ("max-util", "max-upt", "max-upr", "max-upe")


def first_fits(state, _):
    """Start the task that waits longest, where it can start now."""
    draft = PartialClusterSchedule(state)
    for place in range(len(state.tasks)):
        for column in draft.columns(place):
            if draft.earliest(place, column) == state.now and draft.fits(place, column):
                draft.take(place, column)
                return draft.placements
    return draft.placements


def bounded_by(bound):
    def found(clusters, **_):
        prices = ArrivalPrices(np.array([0.0, 1.0]), np.zeros((len(clusters.clusters), 1)), 0.0)
        return ArrivalBound(bound=bound, naive=0.0, prices=prices, seconds=0.25)

    return found


def test_what_a_policy_earns_takes_and_lets_wait_is_measured():
    # They run from 0 to 10 s, 20 s and 30 s; the last is worth nothing any more. 3 x 1000 J. Both nodes are
    # always busy. Waits of 0, 10 and 20 s; slowdowns of 1, 2 and 3.
    clusters = three_tasks()
    (entry,) = simulate(clusters, ["easy"], options=AT_ONCE).policies
    (run,) = entry.runs
    told = run.to_dict()
    assert (told["utility"], told["energy_joules"], told["completed"]) == (16.0, 3000.0, 3)
    assert (told["dropped"], told["waiting"], told["utilisation"]) == (0, 0, 1.0)
    assert told["wait_seconds"] == {"mean": 10.0, "median": 10.0, "p95": 20.0, "longest": 20.0}
    assert told["mean_bounded_slowdown"] == 2.0
    assert (run.naive, run.share_of_naive, run.share_of_bound) == (24.0, 16.0 / 24.0, None)
    assert (told["cost"], told["cost_per_task"], told["busy"]) == (None, None, {"c0": 1.0})
    assert run.measured == examine(clusters, entry.schedule).measured


def test_a_period_that_ends_leaves_tasks_waiting():
    # Nothing starts at 20 s: the third task waits.
    (entry,) = simulate(three_tasks(length_seconds=20.0), ["easy"], options=AT_ONCE).policies
    (run,) = entry.runs
    assert (run.waiting, run.measured.completed, run.measured.energy_joules) == (1, 2, 2000.0)


def test_waiting_is_a_cost():
    # Waits of 0, 10 and 20 s.
    result = simulate(waiting_tasks(), ["conservative"])
    told = result.policies[0].to_dict()
    assert (told["cost"], told["cost_per_task"], told["utility"]) == (30.0, 10.0, -30.0)
    assert (told["energy_joules"], told["by_priority"]) == (None, [])
    answer = result.to_dict()
    assert (answer["judged_by"], answer["waiting"]["measure"]) == ("waiting", "seconds")
    assert (answer["naive_cost"], answer["cost_bound"], answer["naive_bound"]) == (0.0, None, 0.0)
    assert math.copysign(1.0, answer["naive_cost"]) == 1.0


def test_a_cost_has_its_gap_to_the_lower_bound(monkeypatch):
    # Of 30 s no schedule avoids 24: a share of 80 %, a gap of 6 / 24.
    monkeypatch.setattr(simulations, "arrival_bound", bounded_by(-24.0))
    result = simulate(waiting_tasks(), ["easy"], bound=True)
    assert result.policies[0].mean("share_of_bound").mean == 0.8
    assert result.to_dict()["cost_bound"] == 24.0
    assert [row[:4] for row in result.rows()] == [
        ("no-wait reference", "0", "0", ""),
        ("bound (proved)", "24", "8", ""),
        ("easy", "30", "10", "25 %"),
    ]


def test_a_cost_below_what_no_schedule_can_avoid_is_raised_loudly(monkeypatch):
    monkeypatch.setattr(simulations, "arrival_bound", bounded_by(-30.5))
    with pytest.raises(InvalidScheduleError, match=r"easy earns -30\.0 in trial 0, more than the bound"):
        simulate(waiting_tasks(), ["easy"], bound=True)


@pytest.mark.parametrize("clusters", [three_tasks(), waiting_tasks(), waiting_tasks(WaitingCost())])
def test_no_policy_passes_the_real_bound(clusters):
    result = simulate(clusters, ["easy", "random"], bound=True, options=AT_ONCE, time_limit=1.0)
    for entry in result.policies:
        assert entry.mean("utility").mean <= result.bound.mean
    assert result.bound.mean <= result.naive_bound.mean
    assert (result.trials[0].per_kwh is None) == (clusters.watts is None)


def test_what_nobody_did_costs_as_much_as_somebody_who_lets_none_wait():
    clusters = waiting_tasks(WaitingCost("slowdown", "cores"))
    backend = ClusterBackend(clusters, AT_ONCE)
    assert backend.no_wait_reference() == -6.0  # three tasks of two cores, slowdown 1
    assert simulate(clusters, ["easy"]).policies[0].runs[0].naive == -6.0


def test_policies_that_need_utility_are_refused_where_tasks_only_wait(monkeypatch):
    with pytest.raises(InstanceError, match="'max-upe', which looks at utility, for tasks that are judged"):
        simulate(waiting_tasks(), ["easy", "max-upe"])
    blind = ClusterBackend(waiting_tasks(), AT_ONCE).all_names()
    assert {"easy", "conservative", "random", "multiple-queues"} <= set(blind)
    assert not set(UTILITY_AWARE) & set(blind)
    assert ClusterBackend(three_tasks(), AT_ONCE).all_names() == tuple(cluster_policy_names())
    monkeypatch.setattr(simulations, "work_off", lambda *_, **__: [])  # compiling all would take long
    assert [entry.name for entry in simulate(waiting_tasks(), ["all"]).policies] == list(blind)


def test_a_policy_with_placeholders_is_called_so():
    asked = ["max-upe", "max-upe:reservations", "max-util:placeholders", "easy"]
    backend = ClusterBackend(three_tasks(), replace(AT_ONCE, placeholders=True))
    names = ["max-upe:placeholders", "max-upe", "max-util:placeholders", "easy"]
    assert [backend.find(each).name for each in asked] == names
    ours = ["max-upe", "max-upe", "max-util:placeholders", "easy"]
    assert [ClusterBackend(three_tasks(), AT_ONCE).find(each).name for each in asked] == ours


def test_the_name_says_whether_placeholders_are_used(monkeypatch):
    seen = []

    def spied(clusters, policy, *given, **options):
        seen.append((policy.name, policy.placeholders))
        return simulate_clusters(clusters, policy, *given, **options)

    monkeypatch.setattr(backend, "simulate_clusters", spied)
    monkeypatch.setattr(ClusterBackend, "warm_up", lambda *_, **__: None)
    options = replace(AT_ONCE, placeholders=True)
    result = simulate(three_tasks(), ["max-upe", "max-upe:reservations"], options=options)
    assert seen == [("max-upe:placeholders", True), ("max-upe", False)]
    assert [entry.name for entry in result.policies] == ["max-upe:placeholders", "max-upe"]


def test_each_trial_is_another_draw_and_all_policies_see_it():
    clusters = drawn_clusters()
    result = simulate(clusters, ["easy", "random"], trials=2)
    assert len({trial.naive for trial in result.trials}) == 2
    for entry in result.policies:
        assert [run.naive for run in entry.runs] == [trial.naive for trial in result.trials]
        assert entry.mean("wait_seconds.mean").half_width is not None
    alone = simulate(another_day(clusters, 1), ["easy"])
    assert alone.policies[0].runs[0].utility == result.policies[0].runs[1].utility


@pytest.mark.slow
def test_several_processes_give_the_same_answers():
    clusters = drawn_clusters(20)
    alone = simulate(clusters, ["random", "easy"], trials=2)
    shared = simulate(clusters, ["random", "easy"], trials=2, jobs=2)
    assert untimed(shared) == untimed(alone)
    assert [entry.schedule for entry in shared.policies] == [entry.schedule for entry in alone.policies]


def test_traces_priorities_and_clusters_add_up():
    clusters = drawn_clusters()
    (entry,) = simulate(clusters, ["easy"]).policies
    (run,) = entry.runs
    assert run.traces.utility[-1] == pytest.approx(run.utility)
    assert run.traces.energy_joules[-1] == pytest.approx(run.measured.energy_joules)
    assert math.fsum(each.utility for each in run.earned) == pytest.approx(run.utility)
    assert math.fsum(each.if_none_waits for each in run.earned) == pytest.approx(run.naive)
    # The whole is the mean over the clusters, weighted by their cores.
    shares = dict(run.busy)
    busy = sum(shares[each.name] * each.cores for each in clusters.clusters)
    assert run.measured.utilisation == pytest.approx(busy / clusters.cores)


def test_a_function_and_a_registered_policy_are_policies_too():
    register("own-first", first_fits)
    try:
        policies = [first_fits, ClusterPolicy("same", first_fits), "own-first"]
        result = simulate(three_tasks(), policies, options=AT_ONCE)
    finally:
        forget("own-first")
    kinds = [("first_fits", "function"), ("same", "function"), ("own-first", "policy")]
    assert [(entry.name, entry.kind) for entry in result.policies] == kinds
    assert [entry.mean("utility").mean for entry in result.policies] == [16.0] * 3


def test_a_registered_policy_of_somebody_else_does_not_rehearse():
    seen = set()

    def watching(state, rng):
        seen.add(len(state.arrays.kind))
        return first_fits(state, rng)

    register("own-watching", watching)
    try:
        simulate(three_tasks(), ["own-watching"], options=AT_ONCE)
    finally:
        forget("own-watching")
    assert seen == {3}  # tasks; a rehearsal has two


def nowhere(state, _):
    return [Placement(int(state.tasks[0]), 0, state.now, ((0, 99),))]


def confused(_state, _rng):
    raise ValueError("no \x1b idea")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        pytest.param(lambda *_: [], "placed nothing", id="does-nothing"),
        pytest.param(nowhere, "nowhere", id="breaks-a-rule"),
        pytest.param(confused, "no \\x1b idea", id="raises"),
    ],
)
def test_a_policy_without_an_answer_is_an_entry_with_the_reason(policy, why):
    result = simulate(three_tasks(), [policy, "easy"], options=AT_ONCE)
    failed, other = result.policies
    assert why in failed.reasons[0][1]
    assert failed.answers == ()
    assert other.answers
    assert set(failed.to_dict()) == set(other.to_dict())


def test_an_invalid_schedule_of_ours_is_raised_and_a_strangers_is_told(monkeypatch):
    def invalid(*given, **options):
        early = ClustersSchedule((PlacedOnNodes(0, "c0", ((7, 8),), 0.0),))
        return replace(simulate_clusters(*given, **options), schedule=early)

    monkeypatch.setattr(backend, "simulate_clusters", invalid)
    with pytest.raises(InvalidScheduleError, match="simple, trial 0: "):
        simulate(three_tasks(), ["easy"], options=AT_ONCE)
    result = simulate(three_tasks(), [first_fits], options=AT_ONCE)
    assert "simple, trial 0: " in result.policies[0].reasons[0][1]


def test_whoever_says_stop_has_what_was_done():
    cancel = CancelToken(listener=lambda progress: cancel.stop() if "conservative" in progress.stage else None)
    result = simulate(waiting_tasks(), ["easy", "conservative", "random"], cancel=cancel)
    first, second, third = result.policies
    assert first.answers
    assert second.reasons == ((0, "stopped before its end"),)
    assert third.reasons == ((0, "stopped before it began"),)
    assert result.rows()[0][:3] == ("no-wait reference", "0", "0")  # of the run that is known
    assert result.trials[0].tasks == 3


@pytest.mark.parametrize(
    ("instance", "asked", "words"),
    [
        (three_tasks(), {"options": SimulationOptions()}, "ClusterOptions, for clusters"),
        (two_tasks(), {"options": ClusterOptions(), "policies": ["fcfs"]}, "SimulationOptions, for a day"),
        (three_tasks(), {"offline": True}, "offline: got clusters with utilities"),
        (three_tasks(), {"trials": 2}, "made_by"),
        (three_tasks(), {"policies": []}, "policies: got none.*easy"),
        (three_tasks(), {"policies": [7]}, "got 7, expected a name, a ClusterPolicy or a function"),
        (two_tasks(), {"policies": [7]}, "got 7, expected a name, a Policy or a function"),
        (three_tasks(), {"policies": ["eazy"]}, "easy"),
        (three_tasks(), {"policies": ["easy:placeholders"]}, "easy:placeholders"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_work(instance, asked, words, monkeypatch):
    monkeypatch.setattr(backend, "simulate_clusters", lambda *_, **__: pytest.fail("began"))
    with pytest.raises(InstanceError, match=words):
        simulate(instance, **({"policies": ["easy"]} | asked))


def test_the_leniency_that_a_filter_has_is_told():
    options = ClusterOptions(every_seconds=None, energy_filter="per-resource")
    result = simulate(three_tasks(), ["easy"], options=options)
    assert (result.options["energy_filter"], result.options["leniency"]) == ("per-resource", 4.0)


def test_traces_are_mapped_at_every_arrival_and_end_and_others_every_minute():
    assert usual_options(waiting_tasks()).every_seconds is None
    assert usual_options(three_tasks()).every_seconds == 60.0


@pytest.mark.parametrize("waiting", [None, WaitingCost()])
def test_a_rehearsal_comes_to_an_end(waiting, monkeypatch):
    ran = []

    def spied(*given, **options):
        ran.append(simulate_clusters(*given, **options))
        return ran[-1]

    monkeypatch.setattr(backend, "simulate_clusters", spied)
    clusters = three_tasks() if waiting is None else waiting_tasks(waiting)
    own = ClusterBackend(clusters, ClusterOptions(energy_filter="per-task"))
    own.warm_up("easy")
    assert [len(each.schedule.placed) for each in ran] == [2]
    arrival_bound(own.warm_up_backend().instance)
