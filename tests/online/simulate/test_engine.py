"""The engine on days that can be followed with a pencil."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, MissingExtraError, PolicyError, StalledError
from lpsched.online.parts import Period
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.simulate.state import Assignment, Assignments
from lpsched.online.verify.day import examine, measure
from tests.days import decaying, simple_day
from tests.online.small_days import Seen, first_come, flat_day, run, run_plainly, starts
from tests.selection import PLAIN


@pytest.fixture(params=["compiled", PLAIN], autouse=True)
def _both_ways(request, monkeypatch):
    if request.param == "plain":
        run_plainly(monkeypatch)


def test_an_idle_machine_starts_a_task_at_the_mapping_event_and_the_next_as_it_ends():
    # The first event is at 60 s. 100 s, then 30 s, then 30 s on one machine: 60, 160, 190.
    made = run(flat_day([100.0, 30.0, 30.0], [0.0, 1.0, 2.0]))
    assert starts(made) == {0: (1, 60.0), 1: (1, 160.0), 2: (1, 190.0)}
    assert made.event_at.tolist() == [60.0, 120.0]  # at 180 s the last is pending, nothing waits
    assert made.outcomes.tolist() == [TaskOutcome.RAN] * 3
    assert np.isnan(made.dropped_at).all()
    assert made.is_whole


def last_come(state, rng):
    return first_come(replace(state, tasks=state.tasks[::-1], types=state.types[::-1]), rng)


def test_a_pending_task_stays_and_the_virtual_queue_is_mapped_anew():
    # At 60 s: 0 starts (until 160 s), 1 pends, 2 queues. 3 comes at 100 s and at 120 s overtakes 2, not 1.
    day = flat_day([100.0, 100.0, 100.0, 100.0], [0.0, 0.0, 0.0, 100.0])
    made = run(day, lambda state, rng: first_come(state, rng) if state.now < 100 else last_come(state, rng))
    assert starts(made) == {0: (1, 60.0), 1: (1, 160.0), 3: (1, 260.0), 2: (1, 360.0)}


def test_a_busy_machine_without_pending_task_takes_the_first_one_mapped_as_pending():
    # 0 runs from 60 to 260 s; 1 comes at 70 and pends from 120 on; 2 comes at 130, and queues behind it.
    seen = Seen(last_come)
    made = run(flat_day([200.0, 10.0, 10.0], [0.0, 70.0, 130.0]), seen)
    assert [state.pending_at.tolist() for state in seen.states] == [[60.0], [120.0], [260.0], [260.0]]
    assert [state.ready.tolist() for state in seen.states] == [[60.0], [260.0], [270.0], [270.0]]
    assert starts(made)[2] == (1, 270.0)


def test_of_equal_times_tasks_end_then_pending_ones_start_then_tasks_arrive_then_comes_the_event():
    # 0 runs 60 to 120 s, 1 pends and starts at 120 s, so 2 becomes pending then; 3 arrives at 120 s and is seen.
    seen = Seen()
    run(flat_day([60.0, 60.0, 60.0, 60.0], [0.0, 0.0, 0.0, 120.0]), seen)
    assert seen.states[1].now == 120.0
    assert seen.states[1].tasks.tolist() == [3]
    assert seen.states[1].pending_at.tolist() == [180.0]  # when 2 starts
    assert seen.states[1].ready.tolist() == [240.0]


def test_polled_machines_get_one_task_each_when_they_are_idle():
    # Two machines. 60 s: 0 and 1 start. 0 ends at 70, but waits idle until 120 s; 1 runs until 160 s.
    seen = Seen()
    made = run(flat_day([10.0, 100.0, 10.0, 10.0], [0.0] * 4, machines=2), seen, machines="polled")
    assert starts(made) == {0: (1, 60.0), 1: (2, 60.0), 2: (1, 120.0), 3: (1, 180.0)}
    assert [state.available.tolist() for state in seen.states] == [[0, 1], [0], [0, 1]]
    assert [state.ready.tolist() for state in seen.states] == [[60.0, 60.0], [120.0, 160.0], [180.0, 180.0]]


def test_immediate_mode_maps_each_task_as_it_comes_for_good():
    seen = Seen()
    made = run(flat_day([100.0, 50.0, 20.0], [1.0, 1.0, 30.0]), seen, immediate=True)
    assert starts(made) == {0: (1, 1.0), 1: (1, 101.0), 2: (1, 151.0)}
    assert made.event_at.tolist() == [1.0, 1.0, 30.0]
    assert [state.tasks.tolist() for state in seen.states] == [[0], [1], [2]]
    assert seen.states[1].ready.tolist() == [101.0]  # the task of the same instant has its place
    assert seen.states[2].pending_at.tolist() == [30.0]


def test_a_policy_of_immediate_mode_needs_queues():
    with pytest.raises(InstanceError, match="'by-hand', which maps each task as it comes, expected machines with"):
        run(flat_day([1.0], [0.0]), immediate=True, machines="polled")


def test_a_day_too_short_for_a_mapping_event_is_refused():
    day = flat_day([1.0], [0.0], period=Period(20.0, 40.0))
    with pytest.raises(InstanceError, match=r"every_seconds: got 60.0 s, expected less than the day has, 60.0 s"):
        run(day)
    assert len(run(day, every_seconds=59.0).event_at) == 1
    assert len(run(day, every_arrivals=1).event_at) == 1
    assert len(run(day, immediate=True).event_at) == 1


def test_what_is_not_mapped_in_immediate_mode_is_never_asked_about_again():
    seen = Seen(lambda state, rng: [] if state.tasks[0] == 0 else first_come(state, rng))
    made = run(flat_day([1.0, 1.0], [0.0, 5.0]), seen, immediate=True)
    assert made.outcomes.tolist() == [TaskOutcome.WAITING, TaskOutcome.RAN]
    assert len(seen.states) == 2


def test_nothing_starts_at_the_end_of_the_period_or_later():
    # The period ends at 160 s: 0 runs 60 to 110, 1 from 110 to 170; 2 would start at 170.
    made = run(flat_day([50.0, 60.0, 10.0], [0.0] * 3, period=Period(0.0, 160.0)))
    assert starts(made) == {0: (1, 60.0), 1: (1, 110.0)}
    assert made.outcomes[2] == TaskOutcome.WAITING
    assert made.rejected == 2  # at 60 s and at 120 s
    # exactly at the end is too late
    assert starts(run(flat_day([100.0, 1.0], [0.0] * 2, period=Period(0.0, 160.0)))) == {0: (1, 60.0)}


def test_tasks_that_arrive_after_the_period_are_never_seen():
    seen = Seen()
    made = run(flat_day([1.0, 1.0], [0.0, 500.0], period=Period(0.0, 120.0)), seen)
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.WAITING]
    assert made.event_at.tolist() == [60.0]  # none at 120 s, when the period is over
    for late in (120.0, 500.0):
        day = flat_day([1.0, 1.0], [0.0, late], period=Period(0.0, 120.0))
        assert run(day, immediate=True).event_at.tolist() == [0.0]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param([(7, 0, 0)], "task 7 on machine 0 in column 0 at 60.0 s: that task is not among", id="task"),
        pytest.param([(-1, 0, 0)], "task -1 on machine 0 .*is not among", id="negative-task"),
        pytest.param([(0, 0, 0), (0, 1, 0)], "task 0 on machine 1 .*was mapped before", id="twice"),
        pytest.param([(0, 3, 0)], "machine 3 .*gets no tasks now", id="machine"),
        pytest.param([(0, -1, 0)], "machine -1 .*gets no tasks now", id="negative-machine"),
        pytest.param([(0, 0, 2)], "column 2 .*no such column", id="column"),
        pytest.param([(0, 0, -1)], "column -1 .*no such column", id="negative-column"),
        pytest.param([(0, 0, 1)], "column 1 .*of other machines", id="other-machines"),
        pytest.param([(1, 2, 1)], "task 1 on machine 2 .*cannot run there", id="cannot-run"),
        pytest.param([(0, 0)], "answered .*needed are assignments", id="pairs"),
        pytest.param(None, "answered None", id="none"),
        pytest.param([(0.5, 0, 0)], "whole numbers", id="halves"),
        pytest.param([("a", 0, 0)], "whole numbers", id="words"),
        pytest.param("nonsense" * 100, "answered .{,210}\\.\\.\\.; needed", id="text"),
        pytest.param([(2**70, 0, 0)], "whole numbers", id="huge"),
        pytest.param(Assignments(np.array([0]), np.array([0, 1]), np.array([0])), "whole numbers", id="uneven"),
    ],
)  # fmt: skip
def test_a_decision_that_cannot_be_is_named(answer, why):
    # Machines 0 and 1 are of the first type, 2 of the second; only task 0 can run there.
    day = simple_day([[5.0, 5.0], [5.0, None]], [[1.0, 1.0], [1.0, None]], [2, 1],
                     [(0.0, 0, decaying(1.0)), (0.0, 1, decaying(1.0))])  # fmt: skip
    with pytest.raises(PolicyError, match=f"policy 'by-hand' (?s:.*){why}"):
        run(day, lambda _state, _rng: answer)


def test_polled_machines_that_are_busy_or_have_got_a_task_are_refused():
    day = flat_day([5.0, 500.0, 5.0], [0.0, 0.0, 0.0], machines=2)
    with pytest.raises(PolicyError, match=r"task 1 on machine 0 .*an idle machine gets one task"):
        run(day, lambda *_: [Assignment(0, 0, 0), Assignment(1, 0, 0)], machines="polled")
    decisions = iter([[(1, 1, 0)], [(2, 1, 0)]])
    with pytest.raises(PolicyError, match=r"task 2 on machine 1 in column 0 at 120.0 s: that machine gets no"):
        run(day, lambda *_: next(decisions), machines="polled")


def test_a_policy_that_fails_is_named_and_its_error_kept():
    def broken(_state, _rng):
        raise KeyError("nothing")

    with pytest.raises(PolicyError, match=r"policy 'by-hand' failed at 60.0 s: KeyError: 'nothing'") as told:
        run(flat_day([1.0], [0.0]), broken)
    assert isinstance(told.value.__cause__, KeyError)


def test_what_lpsched_itself_refuses_within_a_policy_is_told_as_it_is():
    def needs_more(_state, _rng):
        raise MissingExtraError("this policy", "simulate")

    with pytest.raises(MissingExtraError, match="this policy needs the extra"):
        run(flat_day([1.0], [0.0]), needs_more)


def test_a_policy_that_does_nothing_ends_in_an_error_that_says_what_to_do():
    day = flat_day([1.0, 1.0], [0.0, 0.0], period=Period(0.0, 600.0))
    said = (
        "policy 'by-hand' mapped nothing at 9 scheduling events, though some of its 2 tasks fitted, "
        "the first at 60.0 s; let it return assignments of some of state.tasks"
    )
    with pytest.raises(StalledError, match=f"^{re.escape(said)}$"):
        run(day, lambda *_: [])


def test_a_policy_that_does_nothing_ends_where_a_day_has_no_end():
    with pytest.raises(StalledError, match="mapped nothing at 1 scheduling events"):
        run(flat_day([1.0, 1.0], [0.0, 0.0]), lambda *_: [])


@pytest.mark.parametrize(
    "day",
    [
        pytest.param(flat_day([1.0], [0.0], period=Period(0.0, 600.0, energy_constraint_joules=0.0)), id="no-energy"),
        pytest.param(simple_day([[1.0]], [[1.0]], [1], [(0.0, 0, decaying(0.0))]), id="nothing-to-earn"),
        pytest.param(flat_day([1.0], [900.0], period=Period(0.0, 600.0)), id="no-task-in-time"),
    ],
)  # fmt: skip
def test_doing_nothing_is_no_fault_where_there_is_nothing_to_do(day):
    made = run(day, lambda *_: [])
    assert made.schedule.placed == ()
    assert made.is_whole


def test_a_day_without_an_end_is_over_when_idle_machines_stay_idle():
    # 0 runs 60 to 160 s. The policy never maps 1; at 180 s the machine is idle and nothing was mapped.
    made = run(flat_day([100.0, 5.0], [0.0, 0.0]), lambda state, _: [(0, 0, 0)] if 0 in state.tasks else [])
    assert made.event_at.tolist() == [60.0, 120.0, 180.0]
    assert made.outcomes.tolist() == [TaskOutcome.RAN, TaskOutcome.WAITING]


def test_what_a_policy_sees_cannot_be_changed_but_for_its_memory():
    def writes(name):
        def choose(state, _rng):
            state.memory["asked"] = True
            getattr(state, name)[...] = 0
            return []

        return choose

    arrays = ("allowed", "tasks", "arrivals", "types", "functions", "available", "ready", "pending_at")
    for immediate in (False, True):
        for name in arrays:
            with pytest.raises(PolicyError, match="read-only"):
                run(flat_day([1.0], [0.0]), writes(name), immediate=immediate)
    for name in ("machine_counts", "machine_type", "first_column", "column_type", "can_run", "seconds", "joules"):
        with pytest.raises(PolicyError, match="read-only"):
            run(flat_day([1.0], [0.0]), lambda state, _, name=name: getattr(state.system, name).fill(0))


def test_memory_is_empty_when_a_day_begins_and_kept_while_it_runs():
    counts = []

    def counting(state, rng):
        counts.append(state.memory.get("calls", 0))
        state.memory["calls"] = counts[-1] + 1
        return first_come(state, rng)

    day = flat_day([100.0, 1.0], [0.0, 70.0])
    run(day, counting)
    run(day, counting)
    assert counts == [0, 1, 0, 1]


@pytest.mark.parametrize("immediate", [False, True])
def test_a_stopped_watch_ends_the_day_with_what_has_become_unmovable(immediate):
    cancel = CancelToken()

    def choose(state, rng):
        if state.now >= 120.0:
            cancel.stop()
        return first_come(state, rng)

    day = flat_day([100.0] * 5, [0.0, 0.0, 0.0, 130.0, 200.0])
    made = run(day, choose, cancel=cancel, immediate=immediate)
    assert not made.is_whole
    assert examine(day, made.schedule).violations == ()
    # at 120 s 0 runs and 1 pends; 2 was queued, then the token was over; in immediate mode all three have a place
    assert sorted(starts(made)) == ([0, 1, 2, 3] if immediate else [0, 1])


def test_those_who_watch_hear_of_it():
    heard = []
    run(flat_day([1.0], [0.0]), cancel=CancelToken(listener=lambda progress: heard.append(progress.stage)))
    assert heard == ["by-hand: 0.0 h, 0 scheduling events"]


def test_a_million_machines_are_followed_and_more_than_ten_million_refused():
    made = run(flat_day([5.0] * 3, [0.0] * 3, machines=1_000_000), lambda state, _: [(int(t), 999_999 - int(t), 0) for t in state.tasks])  # fmt: skip
    assert starts(made) == {n: (1_000_000 - n, 60.0) for n in range(3)}
    with pytest.raises(InstanceError, match="got 10,000,001 machines, expected at most 10,000,000 in all"):
        run(flat_day([5.0], [0.0], machines=10_000_001))


def test_machines_columns_and_p_states_are_told_by_their_names():
    # Columns: 0 for m0; 1 for m1. Machine 2 of all is the first of m1.
    day = simple_day([[5.0, 6.0]], [[1.0, 2.0]], [2, 3], [(0.0, 0, decaying(1.0))])
    made = run(day, lambda *_: [Assignment(0, 2, 1)])
    placed = made.schedule.placed[0]
    assert (placed.machine_type, placed.machine, placed.p_state) == ("m1", 1, None)
    assert measure(day, made.schedule).energy_joules == 12.0


def test_the_same_seed_gives_the_same_day():
    def anywhere(state, rng):
        return [(int(task), int(rng.integers(3)), 0) for task in rng.permutation(state.tasks)]

    day = flat_day([7.0, 80.0, 30.0, 11.0] * 5, [float(n) for n in range(0, 200, 10)], machines=3)
    assert starts(run(day, anywhere, seed=4)) == starts(run(day, anywhere, seed=4))
    assert starts(run(day, anywhere, seed=4)) != starts(run(day, anywhere, seed=5))
