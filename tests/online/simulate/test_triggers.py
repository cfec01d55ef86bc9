"""When scheduling events are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.online.parts import Period
from lpsched.online.simulate import engine as running_module
from lpsched.online.simulate.engine import Triggers
from lpsched.online.simulate.options import SimulationOptions
from tests.online.small_days import Seen, first_come, flat_day, run, starts


def events(arrivals, **options):
    """Return the times of the events of a day whose tasks take no time worth speaking of."""
    day = flat_day([0.125] * len(arrivals), arrivals, machines=20)
    return run(day, **options).event_at.tolist()


def test_events_lie_on_the_grid_and_empty_ones_are_left_out():
    # Tasks at 5 and at 130 s: events at 60 and at 180 s; at 120 s nothing waits.
    assert events([5.0, 130.0]) == [60.0, 180.0]
    assert events([60.0, 60.5]) == [60.0, 120.0]  # who arrives with the event is seen
    assert events([0.0, 1.0], every_seconds=0.7) == pytest.approx([0.7, 1.4])


def test_a_long_wait_costs_nothing_and_the_grid_stays():
    # 10^9 s are 16,666,666.67 minutes: the event is at the end of the minute.
    day = flat_day([1.0, 1.0], [0.0, 1e9], period=Period(0.0, 2e9))
    assert run(day).event_at.tolist() == [60.0, 60.0 * 16_666_667]


def test_events_by_arrivals_come_with_the_last_of_the_batch():
    by_two = {"every_seconds": None, "every_arrivals": 2}
    assert events([1.0, 5.0, 6.0, 9.0], **by_two) == [5.0, 9.0]
    assert events([1.0, 5.0, 6.0], **by_two) == [5.0, 6.0]  # the last arrival of all brings one too
    assert events([1.0, 5.0, 5.0, 5.0, 9.0], **by_two) == [5.0, 9.0]  # of one instant: all in one batch
    assert events([1.0, 5.0], every_seconds=None, every_arrivals=1) == [1.0, 5.0]


def test_by_both_the_first_one_counts_and_the_grid_begins_anew():
    # The second arrival, at 30 s, brings an event; the next is 60 s later, at 90 s; then at 95 s with two more.
    assert events([10.0, 30.0, 70.0, 94.0, 95.0, 96.0], every_arrivals=2) == [30.0, 90.0, 95.0, 155.0]
    # both at once are one event
    assert events([10.0, 60.0, 70.0, 119.0], every_arrivals=2) == [60.0, 119.0]


def test_policies_are_told_when_the_next_event_is_at_the_latest():
    def until(**options):
        seen = Seen()
        run(flat_day([0.125, 0.125], [10.0, 30.0]), seen, **options)
        return [state.until for state in seen.states]

    assert until() == [120.0]
    assert until(every_arrivals=2) == [90.0]
    assert until(every_seconds=None, every_arrivals=2) == [math.inf]
    assert until(permute=2) == [math.inf]
    assert until(permute=2, machines="polled") == [120.0, 180.0]


def test_polled_machines_are_only_polled_at_arrivals_if_those_bring_the_events():
    # One machine; 0 starts at 1 s, 1 at 5 s as it comes; nobody asks again, so that 2 waits.
    made = run(flat_day([1.0] * 3, [1.0, 5.0, 5.0]), machines="polled", every_seconds=None, every_arrivals=1)
    assert starts(made) == {0: (1, 1.0), 1: (1, 5.0)}


@pytest.mark.parametrize("every", [0.1, 0.7, 1.0 / 3.0, 60.0])
def test_after_a_wait_the_event_is_the_first_of_the_grid_that_sees_the_arrival(every):
    # quotients of doubles are rounded: 115 steps of 0.7 s, divided by 0.7 s, are a little more than 115
    for step in range(1, 200):
        at = step * every
        for arrival, event in ((at, at), (np.nextafter(at, np.inf), (step + 1) * every)):
            triggers = Triggers(SimulationOptions(every_seconds=every), np.array([arrival]))
            assert triggers.next_event(0.0, 0, something_waits=False) == event


def test_steps_too_short_for_doubles_still_lead_on():
    triggers = Triggers(SimulationOptions(every_seconds=0.001), np.array([1e20]))
    first = triggers.next_event(0.0, 0, something_waits=False)
    assert first >= 1e20
    assert triggers.next_event(first, 1, something_waits=True) > first


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"machines": "pooled"}, "machines: got the text 'pooled', expected 'queued' or 'polled'"),
        ({"machines": []}, "machines: got a list of 0"),
        ({"every_seconds": 0.0}, "every_seconds: got 0.0, expected a number of seconds from 0.001"),
        ({"every_seconds": math.nan}, "every_seconds: got NaN"),
        ({"every_seconds": True}, "every_seconds: got true"),
        ({"every_seconds": None}, "every_seconds: got nothing, expected a number of seconds, or of arrivals"),
        ({"every_arrivals": 0}, "every_arrivals: got 0, expected a whole number from 1 up"),
        ({"every_arrivals": 1.5}, "every_arrivals: got 1.5"),
        ({"drop_below": -1.0}, "drop_below: got -1.0, expected a utility from 0 up"),
        ({"drop_below": math.inf}, "drop_below: got infinity"),
        ({"energy_filter": 0.0}, "energy_filter: got 0.0, expected a number above 0, 'adaptive', or nothing"),
        ({"energy_filter": "strict"}, "energy_filter: got the text 'strict'"),
        ({"energy_filter": []}, "energy_filter: got a list of 0"),
        ({"permute": 8}, "permute: got 8, expected a whole number from 0 to 7"),
        ({"permute": True}, "permute: got true"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(options, issue):
    with pytest.raises(InstanceError) as rejected:
        SimulationOptions(**options)
    assert issue in str(rejected.value)


def test_all_faults_of_options_are_told_at_once():
    with pytest.raises(InstanceError, match=r"got .*\n.*got .*\n.*got "):
        SimulationOptions(every_seconds=-1, drop_below=-1, permute=-1)


@pytest.mark.parametrize("machines", ["queued", "polled"])
def test_long_runs_cost_nothing_while_tasks_wait_for_their_end(machines):
    # Four tasks of 10^12 s on one machine: 1.7 x 10^10 minutes each. Lined up, they start 10^12 s apart; where
    # machines are polled, at the first minute after each end: 60 + 10^12 s is 40 s past the minute.
    made = run(flat_day([1e12] * 4, [0.0] * 4), machines=machines)
    apart = 1e12 if machines == "queued" else 1e12 + 20.0
    assert starts(made) == {n: (1, 60.0 + n * apart) for n in range(4)}
    assert len(made.event_at) < 50


def test_what_is_passed_over_changes_nothing_but_the_number_of_events(monkeypatch):
    # Two machines, runs of a day and more, tasks that come now and then: with and without passing over.
    rng = np.random.default_rng(5)
    day = flat_day(
        rng.integers(70_000, 400_000, size=8).astype(float).tolist(),
        np.sort(rng.integers(0, 300_000, size=8)).astype(float).tolist(),
        machines=2,
    )
    passed = run(day, last_first)
    monkeypatch.setattr(running_module, "LONG", math.inf)
    step_by_step = run(day, last_first)
    assert starts(passed) == starts(step_by_step)
    assert 2 * len(passed.event_at) < len(step_by_step.event_at)


def last_first(state, rng):
    """Map the tasks that came last first: what waits is overtaken again and again."""
    return first_come(replace(state, tasks=state.tasks[::-1], types=state.types[::-1]), rng)


def test_a_policy_that_waits_for_ever_is_stopped(monkeypatch):
    monkeypatch.setattr(running_module, "MOST_EVENTS", 100)
    day = flat_day([10.0], [0.0], period=Period(0.0, 1e6))
    with pytest.raises(InstanceError, match=r"got 100 scheduling events by 6060\.0 s, and no end"):
        run(day, lambda state, rng: [])  # noqa: ARG005
