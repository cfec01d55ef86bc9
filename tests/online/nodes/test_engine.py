"""The engine for clusters on days that can be followed with a pencil."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lpsched.cancellation import CancelToken, Progress
from lpsched.errors import InstanceError, PolicyError, StalledError
from lpsched.online.nodes.state import ClusterPolicy, PartialClusterSchedule, Placement
from lpsched.online.parts import Period
from lpsched.online.simulate import engine as running
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.utility import WaitingCost
from lpsched.online.verify.clusters import examine
from tests.days import decaying
from tests.online.nodes.small import Seen, first_come, flat, run, starts, times
from tests.parallel import Task, simple_clusters


def test_a_task_takes_as_many_nodes_as_its_cores_need_and_the_next_starts_as_it_ends():
    # Two cores a node: 5 cores are 3 nodes. One of four nodes is left, too few for the second.
    clusters = flat([(0.0, 5, 10.0), (0.0, 4, 10.0)], cores_per_node=[2])
    made = run(clusters)
    assert starts(made) == {0: (0.0, ((1, 3),)), 1: (10.0, ((1, 2),))}
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.RAN]
    assert examine(clusters, made.schedule).violations == ()
    assert made.is_whole


def test_events_on_a_grid_begin_after_its_first_step_and_leave_out_points_at_which_nothing_waits():
    # Arrivals at 0 and 200 s: events at 60 s and 240 s.
    made = run(flat([(0.0, 4, 10.0), (200.0, 4, 10.0)]), every_seconds=60.0)
    assert made.event_at.tolist() == [60.0, 240.0]
    assert times(made) == {0: 60.0, 1: 240.0}


def test_without_a_grid_events_come_with_arrivals_and_with_ends_while_something_waits():
    # The policy starts one task at a time: at 0 s the first, as it ends at 10 s the second; nothing waits at 20 s.
    def one_by_one(state, rng):
        idle = state.profiles[0].free_nodes(state.now) == 4
        return first_come(state, rng)[:1] if idle else []

    made = run(flat([(0.0, 1, 10.0), (3.0, 1, 10.0)]), one_by_one)
    assert made.event_at.tolist() == [0.0, 3.0, 10.0]
    assert times(made) == {0: 0.0, 1: 10.0}


def test_an_end_brings_an_event_though_that_run_has_not_begun_at_the_last_one():
    # 0 runs until 100 s, 1 is reserved from 20 to 25 s. 2 is left waiting: events at 0 s, at 25 s, and no other.
    def by_hand(state, rng):  # noqa: ARG001
        if state.now == 0.0:
            return [Placement(0, 0, 0.0, ((0, 1),)), Placement(1, 0, 20.0, ((1, 3),))]
        return [Placement(2, 0, state.now, ((3, 4),))]

    made = run(flat([(0.0, 1, 100.0), (0.0, 2, 5.0), (0.0, 1, 1.0)]), by_hand)
    assert made.event_at.tolist() == [0.0, 25.0]


def test_what_was_before_now_matters_to_nobody():
    # 0 has the second node until 10 s, when 1 arrives. Both nodes are idle then: the lowest is taken, though it has
    # been idle for longer.
    def second_node(state, rng):
        return first_come(state, rng) if state.now else [Placement(0, 0, 0.0, ((1, 2),))]

    made = run(flat([(0.0, 1, 10.0), (10.0, 1, 10.0)], nodes=2), second_node)
    assert starts(made)[1] == (10.0, ((1, 1),))


def test_a_gap_of_a_thousand_million_seconds_takes_two_events():
    made = run(flat([(0.0, 4, 10.0), (1e9, 4, 10.0)]), every_seconds=60.0)
    assert made.event_at.tolist() == [60.0, 60.0 * 16_666_667]  # 16,666,666.67 minutes


def test_a_long_run_is_passed_over_though_something_waits_for_its_nodes():
    # The second waits for a run of 10^9 s, and is not reserved but held: without a leap, 16 million events.
    made = run(flat([(0.0, 4, 1e9), (0.0, 4, 10.0)]), every_seconds=60.0, placeholders=True)
    assert times(made) == {0: 60.0, 1: 60.0 + 1e9}
    assert made.event_at.tolist() == [60.0]


def test_of_equal_times_tasks_end_then_reservations_start_then_tasks_arrive_then_comes_the_event():
    # 0 ends at 10 s, when 1, reserved, starts on all nodes, and 2 arrives: the event sees no free node.
    seen = Seen()
    made = run(flat([(0.0, 4, 10.0), (0.0, 4, 10.0), (10.0, 1, 10.0)]), seen)
    assert [state.now for state in seen.states] == [0.0, 10.0]
    assert seen.states[1].tasks.tolist() == [2]
    assert seen.states[1].reservations == 0
    assert times(made) == {0: 0.0, 1: 10.0, 2: 20.0}


def test_a_reservation_keeps_its_start_when_later_tasks_come():
    # 0 holds 3 of 4 nodes until 10 s, 1 is promised all four then; 2 would fit now but for 20 s: it waits.
    seen = Seen()
    made = run(flat([(0.0, 3, 10.0), (1.0, 4, 10.0), (2.0, 1, 20.0), (3.0, 1, 7.0)]), seen)
    assert times(made) == {0: 0.0, 1: 10.0, 2: 20.0, 3: 3.0}
    assert [state.reservations for state in seen.states] == [0, 0, 1, 2]


def test_reservations_move_up_in_order_when_a_task_ends_before_its_request():
    # 0: 4 nodes, asked for 100 s, ends at 10 s. 1 is reserved at 100 s, 2 behind it at 150 s: 10 s and 60 s.
    seen = Seen()
    made = run(flat([(0.0, 4, 10.0, 100.0), (0.0, 3, 50.0), (0.0, 3, 50.0), (0.0, 1, 60.0)]), seen)
    assert times(made) == {0: 0.0, 1: 10.0, 2: 60.0, 3: 10.0}


def test_a_reservation_stays_if_there_is_no_earlier_start():
    # 0 ends at 10 s instead of 50 s, but 1 needs the node of 2, which lasts until 40 s as planned: 50 -> 40 s;
    # 3 needs one node only and had 60 s behind 1; behind 40 + 10 s it starts at 50 s.
    tasks = [(0.0, 3, 10.0, 50.0), (0.0, 1, 40.0), (0.0, 4, 10.0), (0.0, 4, 5.0)]
    assert times(run(flat(tasks))) == {0: 0.0, 1: 0.0, 2: 40.0, 3: 50.0}
    # Asked for 40 s it frees its nodes early too, yet nothing can start before 40 s.
    tasks[0] = (0.0, 3, 10.0, 40.0)
    assert times(run(flat(tasks))) == {0: 0.0, 1: 0.0, 2: 40.0, 3: 50.0}


def last_come(state, rng):  # noqa: ARG001 - policies have one form
    draft = PartialClusterSchedule(state)
    for place in reversed(range(len(state.tasks))):
        draft.take(place, 0)
    return draft.placements


def test_place_holders_are_gone_at_the_next_mapping_event():
    # 0 has all nodes until 100 s. 1 comes at 1 s: a place-holder at 100 s. 2 comes at 30 s and is preferred: 100 s,
    # and 1 is held for 150 s. With reservations 1 keeps its 100 s.
    tasks = [(0.0, 4, 100.0), (1.0, 4, 50.0), (30.0, 4, 50.0)]
    seen = Seen(last_come)
    assert times(run(flat(tasks), seen, placeholders=True)) == {0: 0.0, 2: 100.0, 1: 150.0}
    assert [(state.now, state.tasks.tolist(), state.reservations) for state in seen.states] == [
        (0.0, [0], 0), (1.0, [1], 0), (30.0, [1, 2], 0), (100.0, [1], 0),
    ]  # fmt: skip
    assert times(run(flat(tasks), last_come)) == {0: 0.0, 1: 100.0, 2: 150.0}


def test_a_place_holder_that_is_due_before_the_next_event_starts():
    # Events each 60 s. 0 runs from 60 to 90 s; 1 is held for 90 s, and starts then.
    made = run(flat([(0.0, 4, 30.0), (0.0, 4, 10.0)]), every_seconds=60.0, placeholders=True)
    assert times(made) == {0: 60.0, 1: 90.0}
    assert made.event_at.tolist() == [60.0]


def test_nothing_starts_when_the_period_is_over():
    # The day has 25 s: 0 at 0 s, 1 at 10 s, 2 at 20 s; the fourth could start at 30 s only.
    clusters = flat([(0.0, 4, 10.0)] * 4, period=Period(0.0, 25.0))
    made = run(clusters)
    assert times(made) == {0: 0.0, 1: 10.0, 2: 20.0}
    assert made.outcomes.tolist()[3] == TaskOutcome.WAITING
    assert examine(clusters, made.schedule).violations == ()


def test_what_would_break_the_energy_constraint_is_not_done_and_counts_as_refused():
    # 10 W for 10 s are 100 J each; 250 J are enough for two. The third would start at 20 s and take 100 J.
    clusters = flat([(0.0, 4, 10.0)] * 3, period=Period(0.0, 100.0, energy_constraint_joules=250.0))
    made = run(clusters)
    assert times(made) == {0: 0.0, 1: 10.0}
    assert made.event_at.tolist() == [0.0, 10.0, 20.0]
    assert made.rejected == 3  # once at each event


def test_only_the_part_of_a_run_within_the_period_takes_its_energy():
    # The third runs from 20 to 30 s, half of it within 25 s: 50 J.
    clusters = flat([(0.0, 4, 10.0)] * 3, period=Period(0.0, 25.0, energy_constraint_joules=250.0))
    assert times(run(clusters)) == {0: 0.0, 1: 10.0, 2: 20.0}
    less = flat([(0.0, 4, 10.0)] * 3, period=Period(0.0, 25.0, energy_constraint_joules=249.0))
    assert times(run(less)) == {0: 0.0, 1: 10.0}


def test_a_warm_up_shorter_than_a_day_has_no_energy_constraint():
    # 0 runs in the warm-up, free; of 1, from 10 to 20 s, 5 s are in the period: 50 J of 120; 2 would take 100.
    period = Period(15.0, 100.0, energy_constraint_joules=120.0)
    clusters = flat([(0.0, 4, 10.0)] * 3, period=period)
    assert times(run(clusters)) == {0: 0.0, 1: 10.0}
    assert examine(clusters, run(clusters).schedule).violations == ()


def test_nothing_is_mapped_that_would_start_in_another_whole_day():
    # A warm-up of two days of 10 s: days end at 10, 20 and 30 s. One of half a day has no end but the period's.
    seen = Seen()
    run(flat([(0.0, 4, 4.0), (12.0, 4, 4.0), (21.0, 4, 4.0)], period=Period(20.0, 10.0)), seen)
    assert [state.ends_at for state in seen.states] == [10.0, 20.0, 30.0]
    short = Seen()
    run(flat([(0.0, 4, 4.0), (6.0, 4, 4.0)], period=Period(5.0, 10.0)), short)
    assert [state.ends_at for state in short.states] == [15.0, 15.0]


def test_energy_of_reservations_is_counted_and_of_place_holders_only_at_their_event():
    seen = Seen(lambda state, rng: first_come(state, rng)[:2])
    tasks = [(0.0, 4, 10.0), (0.0, 4, 10.0), (5.0, 4, 10.0)]
    period = Period(0.0, 100.0, energy_constraint_joules=1000.0)
    run(flat(tasks, period=period), seen)
    assert [state.energy_left for state in seen.states] == [1000.0, 800.0]
    held = Seen(lambda state, rng: first_come(state, rng)[:2])
    run(flat(tasks, period=period), held, placeholders=True)
    assert [state.energy_left for state in held.states][:2] == [1000.0, 900.0]


def test_a_reservation_does_not_move_to_where_its_energy_is_not_left():
    # 0 (40 s asked, 10 s real, 100 J). 1 is reserved at 40 s: 10 of its 20 s are in the period, 100 J. At 10 s it
    # could start, with all its 200 J in the period: 300 J in all.
    tasks = [(0.0, 4, 10.0, 40.0), (0.0, 4, 20.0)]
    enough = flat(tasks, period=Period(0.0, 50.0, energy_constraint_joules=300.0))
    assert times(run(enough)) == {0: 0.0, 1: 10.0}
    less = flat(tasks, period=Period(0.0, 50.0, energy_constraint_joules=299.0))
    assert times(run(less)) == {0: 0.0, 1: 40.0}
    assert examine(less, run(less).schedule).violations == ()


def test_tasks_that_would_earn_too_little_if_they_started_now_are_dropped():
    # Worth 8 until 15 s after arrival, then nothing. 1 cannot start before 10 s and would end at 20 s: at 10 s it
    # is dropped, since 10 + 10 - 0 >= 15.
    clusters = flat([(0.0, 4, 10.0), (0.0, 4, 10.0)], utility=decaying(8.0, until=15.0))
    made = run(clusters, lambda state, rng: first_come(state, rng)[:1], drop_below=0.5, placeholders=True)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.DROPPED]
    assert made.dropped_at[1] == 10.0
    never = ClusterPolicy("never", lambda state, rng: first_come(state, rng)[:1], drops=False)
    assert run(clusters, policy=never, drop_below=0.5).outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.RAN]


def test_a_task_that_earns_just_the_threshold_is_not_dropped():
    clusters = flat([(0.0, 4, 10.0)], utility=decaying(0.5))
    assert run(clusters, drop_below=0.5).outcomes.tolist() == [TaskOutcome.RAN]
    assert run(clusters, drop_below=0.6).outcomes.tolist() == [TaskOutcome.DROPPED]


def test_dropping_goes_by_the_time_that_was_requested():
    # It would really end after 10 s, and earn 8; as far as anybody knows it ends after 20 s, and earns nothing.
    clusters = flat([(0.0, 4, 10.0, 20.0)], utility=decaying(8.0, until=15.0))
    assert run(clusters, drop_below=0.5).outcomes.tolist() == [TaskOutcome.DROPPED]


def test_a_stopped_watch_stops_the_day():
    cancel = CancelToken()
    cancel.stop()
    made = run(flat([(0.0, 4, 10.0)]), cancel=cancel)
    assert not made.is_whole
    assert made.schedule.placed == ()


def test_who_watches_is_told_how_far_the_day_is():
    told: list[Progress] = []
    run(flat([(0.0, 4, 10.0)]), cancel=CancelToken(listener=told.append))
    assert [each.stage for each in told] == ["by-hand: 0.0 h, 0 scheduling events"]


def test_too_many_events_are_refused(monkeypatch):
    monkeypatch.setattr(running, "MOST_EVENTS", 3)
    clusters = flat([(0.0, 4, 1e5), (0.0, 4, 10.0)], period=Period(0.0, 1e6))
    with pytest.raises(InstanceError, match=r"3 scheduling events by 240\.0 s, and no end"):
        run(clusters, every_seconds=60.0, placeholders=True)


@pytest.mark.parametrize(
    ("placement", "rule"),
    [
        (Placement(7, 0, 0.0, ((0, 2),)), "task 7 on cluster 'c0', in column 0, at 0.0 s: that task is not among"),
        (Placement(0, 3, 0.0, ((0, 2),)), "task 0 in column 3, at 0.0 s: there is no such column"),
        (Placement(0, -1, 0.0, ((0, 2),)), "there is no such column"),
        (Placement(0, 1, 0.0, ((0, 2),)), "on cluster 'c1', in column 1, at 0.0 s: that task cannot run there"),
        (Placement(0, 0, -1.0, ((0, 2),)), "its start, -1.0 s, is not from now on"),
        (Placement(0, 0, float("nan"), ((0, 2),)), "its start, nan s, is not from now on"),
        (Placement(0, 0, 50.0, ((0, 2),)), "its start, 50.0 s, is not before the day ends"),
        (Placement(0, 0, 0.0, ((0, 3),)), "that task takes 2 nodes there, not 3"),
        (Placement(0, 0, 0.0, ()), "that task takes 2 nodes there, not 0"),
        (Placement(0, 0, 0.0, ((1, 2), (0, 1))), "do not rise"),
        (Placement(0, 0, 0.0, ((0, 1), (0, 1))), "do not rise"),
        (Placement(0, 0, 0.0, ((2, 1), (1, 2))), "do not rise"),
        (Placement(0, 0, 0.0, ((-1, 1),)), "do not rise"),
        (Placement(0, 0, 0.0, ((3, 5),)), "the cluster has 4 nodes, 0 to 3"),
    ],
)  # fmt: skip
def test_a_placement_that_cannot_be_is_refused_by_name(placement, rule):
    tasks = [Task(0.0, 2, decaying(1.0)), Task(0.0, 2, decaying(1.0))]
    clusters = simple_clusters([[10.0, None]], [4, 4], tasks, period=Period(0.0, 50.0))
    with pytest.raises(PolicyError, match=re.escape(rule)) as error:
        run(clusters, lambda state, rng: [placement])  # noqa: ARG005
    assert str(error.value).startswith("policy 'by-hand' placed task ")


def test_a_task_placed_twice_and_busy_nodes_are_refused():
    clusters = flat([(0.0, 2, 10.0), (0.0, 3, 10.0)])
    twice = [Placement(0, 0, 0.0, ((0, 2),))] * 2
    with pytest.raises(PolicyError, match="placed before in the same answer"):
        run(clusters, lambda state, rng: twice)  # noqa: ARG005
    both = [Placement(0, 0, 5.0, ((0, 2),)), Placement(1, 0, 0.0, ((1, 4),))]
    with pytest.raises(PolicyError, match=r"task 1 on cluster 'c0'.* some of its nodes are busy then"):
        run(clusters, lambda state, rng: both)  # noqa: ARG005


def test_nothing_of_an_answer_is_done_if_a_part_of_it_cannot_be():
    clusters = flat([(0.0, 2, 10.0), (0.0, 2, 10.0)])
    begun = []

    def half(state, rng):  # noqa: ARG001
        begun.append(state.profiles[0].free_nodes(state.now))
        return [Placement(0, 0, 0.0, ((0, 2),)), Placement(1, 0, -1.0, ((2, 4),))]

    with pytest.raises(PolicyError):
        run(clusters, half)
    assert begun == [4]


@pytest.mark.parametrize("answer", [None, 3, [(0, 0)], [("a", 0, 0.0, ((0, 2),))], [(0, 0, "0", ((0, 2),))], [(0, 0.5, 0.0, ((0, 2),))]])  # fmt: skip
def test_an_answer_that_is_none_is_refused(answer):
    with pytest.raises(PolicyError, match=r"answered .*; needed are placements of task, column, start"):
        run(flat([(0.0, 2, 10.0)]), lambda state, rng: answer)  # noqa: ARG005


def test_a_policy_that_fails_is_named():
    with pytest.raises(PolicyError, match=r"policy 'by-hand' failed at 0\.0 s: ZeroDivisionError"):
        run(flat([(0.0, 2, 10.0)]), lambda state, rng: 1 // 0)  # noqa: ARG005


def test_a_policy_that_places_nothing_all_day_has_stalled():
    with pytest.raises(
        StalledError, match=r"'by-hand' placed nothing at 1 scheduling events, though some of its 1 tasks"
    ):
        run(flat([(0.0, 2, 10.0)]), lambda state, rng: [])  # noqa: ARG005
    worthless = flat([(0.0, 2, 10.0)], utility=decaying(0.0))
    assert run(worthless, lambda state, rng: []).schedule.placed == ()  # noqa: ARG005
    no_energy = flat([(0.0, 2, 10.0)], period=Period(0.0, 50.0, energy_constraint_joules=0.0))
    assert run(no_energy, lambda state, rng: []).schedule.placed == ()  # noqa: ARG005


def test_tasks_that_cost_what_they_wait_all_have_to_run():
    waiting = simple_clusters([[10.0]], [4], [Task(0.0, 4), Task(0.0, 4)], waiting=WaitingCost())
    assert times(run(waiting)) == {0: 0.0, 1: 10.0}
    with pytest.raises(StalledError, match="left 1 of 2 tasks waiting, and all have to run"):
        run(waiting, lambda state, rng: [each for each in first_come(state, rng) if each.task == 0])
    with pytest.raises(InstanceError, match=r"drop_below: got 0\.5 for tasks that cost what they wait"):
        run(waiting, drop_below=0.5)
    with pytest.raises(InstanceError, match="policy: got 'greedy' for tasks without utility"):
        run(waiting, policy=ClusterPolicy("greedy", first_come, needs_utility=True))


def test_a_day_too_short_for_a_mapping_event_is_refused():
    clusters = flat([(0.0, 1, 1.0)], period=Period(20.0, 40.0))
    with pytest.raises(InstanceError, match=r"every_seconds: got 60.0 s, expected less than the day has, 60.0 s"):
        run(clusters, every_seconds=60.0)
    assert len(run(clusters, every_seconds=59.0).event_at) == 1


def test_runs_too_short_to_tell_their_end_from_their_start_harm_nobody():
    # At 10^17 s the next double is 16 s later: runs of 1 s end as they start.
    clusters = flat([(1e17, 4, 1.0), (1e17, 4, 1.0, 100.0), (1e17, 4, 1.0)])
    made = run(clusters)
    assert made.outcomes.tolist() == [TaskOutcome.RAN] * 3
    assert examine(clusters, made.schedule).violations == ()


def test_a_million_nodes_are_as_quick_as_few():
    made = run(flat([(0.0, 600_000, 10.0), (0.0, 500_000, 10.0)], nodes=1_000_000))
    assert starts(made) == {0: (0.0, ((1, 600_000),)), 1: (10.0, ((1, 500_000),))}


def test_the_state_cannot_be_changed():
    seen = Seen()
    run(flat([(0.0, 1, 10.0)]), seen)
    for array in (seen.states[0].tasks, seen.states[0].allowed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_policy_that_changes_the_profiles_it_sees_harms_only_itself():
    def greedy(state, rng):
        answer = first_come(state, rng)
        state.profiles[0].insert(99, 50.0, 1000.0, ((0, 4),))
        return answer

    tasks = [(0.0, 4, 10.0), (5.0, 4, 10.0)]
    assert times(run(flat(tasks), greedy)) == {0: 0.0, 1: 10.0}

    def forgetful(state, rng):
        if state.now:
            state.profiles[0].remove(0)  # which runs
        return first_come(state, rng)

    with pytest.raises(PolicyError, match=r"task 1 .* some of its nodes are busy then"):
        run(flat(tasks), forgetful)


def test_tasks_that_come_when_the_period_is_over_wait():
    made = run(flat([(0.0, 1, 10.0), (50.0, 1, 10.0), (60.0, 1, 10.0)], period=Period(0.0, 50.0)))
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.WAITING, TaskOutcome.WAITING]
    assert np.isnan(made.dropped_at).all()
