"""The verifier of days, by hand, and each rule broken singly."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import offers_of
from lpsched.online.day import Levels, day_from_dict
from lpsched.online.parts import Period
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.verify.day import DayAccount, Runs, examine, measure
from tests.days import decaying, simple_day, sound_day
from tests.property.days import days, periods, schedules_of

# Type t0 takes 10 s at 5 W on the one m0 and 4 s at 20 W on the two m1; t1 only runs on m0, 6 s at 7 W.
DAY = simple_day(
    [[10.0, 4.0], [6.0, None]],
    [[5.0, 20.0], [7.0, None]],
    [1, 2],
    [(0.0, 0, decaying(8.0, until=12.0)), (1.0, 0, decaying(3.0, 0.1)), (2.0, 1, decaying(2.0))],
)
VALID = (PlacedTask(0, "m0", 1, 0.0), PlacedTask(1, "m1", 2, 1.5), PlacedTask(2, "m0", 1, 10.0))


def violations(day, schedule):
    return examine(day, schedule).violations


def codes(*placed):
    return {each.code for each in violations(DAY, DaySchedule(placed))}


def test_utility_energy_and_makespan_are_those_worked_out_on_paper():
    # Task 0 ends 10 s after its arrival, before its deadline: 8. Task 1 ends at 5.5, 4.5 s after its arrival:
    # 3 exp(-0.45). Task 2 runs from 10 to 16 and is always worth 2.
    # Energy: 10 x 5 + 4 x 20 + 6 x 7 = 172 J.
    measured = measure(DAY, DaySchedule(VALID))
    assert measured.utility == pytest.approx(10.0 + 3.0 * math.exp(-0.45), rel=1e-15)
    assert (measured.energy_joules, measured.makespan_seconds) == (172.0, 16.0)
    assert (measured.completed, measured.dropped) == (3, 0)


def test_a_task_that_is_not_placed_is_dropped_and_takes_nothing():
    measured = measure(DAY, DaySchedule(VALID[:1]))
    assert (measured.utility, measured.energy_joules, measured.completed, measured.dropped) == (8.0, 50.0, 1, 2)


def test_nothing_at_all_is_a_schedule_without_a_makespan():
    measured = measure(DAY, DaySchedule(()))
    assert (measured.utility, measured.energy_joules, measured.makespan_seconds) == (0.0, 0.0, None)
    assert (measured.completed, measured.dropped) == (0, 3)


def test_a_task_that_ends_at_its_deadline_is_too_late():
    assert measure(DAY, DaySchedule((PlacedTask(0, "m1", 1, 7.999),))).utility == 8.0
    assert measure(DAY, DaySchedule((PlacedTask(0, "m1", 1, 8.0),))).utility == 0.0  # ends 12 s after arrival


def test_the_order_of_the_rows_does_not_matter():
    assert measure(DAY, DaySchedule(VALID[::-1])) == measure(DAY, DaySchedule(VALID))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"task": 3}, "unknown-task", id="one-task-too-many"),
        pytest.param({"task": -1}, "unknown-task", id="a-negative-number"),
        pytest.param({"task": 0}, "task-twice", id="a-task-runs-twice"),
        pytest.param({"machine_type": "m2"}, "unknown-machine-type", id="no-such-type"),
        pytest.param({"machine": 2}, "no-such-machine", id="one-machine-too-many"),
        pytest.param({"machine": 0}, "no-such-machine", id="machines-count-from-one"),
        pytest.param({"p_state": "P0"}, "unknown-p-state", id="a-state-where-there-is-none"),
        pytest.param({"machine_type": "m1"}, "cannot-run", id="an-absent-pair"),
        pytest.param({"start_seconds": math.nan}, "bad-start", id="not-a-number"),
        pytest.param({"start_seconds": math.inf}, "bad-start", id="never"),
        pytest.param({"start_seconds": -1.0}, "bad-start", id="before-all-time"),
        pytest.param({"start_seconds": 1.9}, "before-arrival", id="before-it-arrives"),
        pytest.param({"start_seconds": 9.9}, "overlap", id="two-at-once"),
    ],
)
def test_each_broken_rule_is_named(change, code):
    placed = (VALID[0], VALID[1], replace(VALID[2], **change))
    assert codes(*placed) == {code}


def test_a_valid_schedule_breaks_no_rule():
    assert codes(*VALID) == set()


def test_a_state_must_be_told_where_there_are_states():
    day = day_from_dict(sound_day())
    assert violations(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0, "P1"),))) == ()
    found = violations(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0),)))
    assert [(each.code, each.sentence) for each in found] == [("unknown-p-state", "'gpu' has no P-state None")]


def test_states_have_their_own_seconds_and_watts():
    # Render in P1 takes 20 s at 90 W: 1800 J.
    day = day_from_dict(sound_day())
    measured = measure(day, DaySchedule((PlacedTask(0, "gpu", 1, 0.0, "P1"),)))
    assert (measured.makespan_seconds, measured.energy_joules) == (20.0, 1800.0)


@pytest.mark.parametrize("number", [float, np.float64])
def test_sentences_say_which_task_and_when(number):
    found = violations(DAY, DaySchedule((*VALID[:2], replace(VALID[2], start_seconds=number(1.5)))))
    assert [each.sentence for each in found] == ["task 2 starts at 1.5 s, but arrives at 2.0 s"]
    found = violations(DAY, DaySchedule((*VALID[:2], replace(VALID[2], start_seconds=number(9.5)))))
    assert [each.sentence for each in found] == [
        "on machine 1 of type 'm0' task 2 starts at 9.5 s, but the one before ends at 10.0 s"
    ]


def test_starts_that_were_rounded_are_allowed_but_earn_nothing():
    # Task 2 begins a hundredth of a billionth before task 0 ends: it is measured as if it had waited.
    early = replace(VALID[2], start_seconds=math.nextafter(10.0, 0.0))
    assert measure(DAY, DaySchedule((*VALID[:2], early))) == measure(DAY, DaySchedule(VALID))
    late = simple_day([[1.0]], [[1.0]], [1], [(1e10, 0, decaying(5.0, until=1.5))])
    assert measure(late, DaySchedule((PlacedTask(0, "m0", 1, 1e10 - 9.0),))).makespan_seconds == 1e10 + 1.0
    assert violations(late, DaySchedule((PlacedTask(0, "m0", 1, 1e10 - 11.0),)))[0].code == "before-arrival"


def test_times_that_doubles_cannot_add_are_added_exactly():
    # 0.1 + 0.2 is 0.30000000000000004 in doubles; since its arrival the task has only taken 0.2 s.
    day = simple_day([[0.2]], [[1.0]], [1], [(0.1, 0, decaying(1.0, until=math.nextafter(0.2, 1.0)))])
    assert measure(day, DaySchedule((PlacedTask(0, "m0", 1, 0.1),))).utility == 1.0


def test_a_file_of_junk_gives_no_end_of_violations():
    placed = tuple(PlacedTask(7, "m0", 1, 0.0) for _ in range(5000))
    assert len(violations(DAY, DaySchedule(placed))) == 1000


@settings(max_examples=25)
@given(st.data())
def test_measured_is_what_sums_in_doubles_give_but_for_their_rounding(data):
    day = data.draw(days())
    schedule = data.draw(schedules_of(day))
    found = examine(day, schedule)
    assert found.violations == ()
    low = high = energy = 0.0
    columns = {(day.machine_types[j].name, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    for placed in schedule.placed:
        cell = day.arriving.type_numbers[placed.task], columns[placed.machine_type, placed.p_state]
        energy += day.seconds[cell] * day.watts[cell]
        late = placed.start_seconds + day.seconds[cell] - day.arriving.arrival_seconds[placed.task]
        low += day.utility_of(placed.task).at(late * (1 + 1e-9))  # a break may lie between the two
        high += day.utility_of(placed.task).at(late * (1 - 1e-9))
    assert low - 1e-9 <= found.measured.utility <= high + 1e-9
    assert found.measured.energy_joules == pytest.approx(energy, rel=1e-12)
    assert found.measured.completed == len(schedule.placed)


# One machine m0: type t0 takes 10 s at 5 W. The period counts from 20 to 100 s.
CUT = simple_day([[10.0]], [[5.0]], [1], [(float(k), 0, decaying(8.0, until=100.0)) for k in range(4)])
PRORATED = CUT.model_copy(update={"period": Period(20.0, 80.0)})
COMPLETED = CUT.model_copy(update={"period": Period(20.0, 80.0, "completed")})
STEADY = {"u0": decaying(8.0)}  # always worth 8


def run(day, *starts):
    """Measure tasks 0, 1, ... of a day that start then, one after the other."""
    return measure(day, DaySchedule(tuple(PlacedTask(n, "m0", 1, start) for n, start in enumerate(starts))))


@pytest.mark.parametrize(
    ("start", "prorated", "completed"),
    [
        # start: utility, joules, completed tasks; 8 utility and 50 J in all
        (10.0, (0.0, 0.0, 0), (0.0, 0.0, 0)),  # ends as the period begins
        (12.5, (2.0, 12.5, 1), (8.0, 50.0, 1)),  # a quarter is within
        (20.0, (8.0, 50.0, 1), (8.0, 50.0, 1)),
        (85.0, (8.0, 50.0, 1), (8.0, 50.0, 1)),  # ends at 95 s
    ],
)
def test_utility_and_energy_count_by_the_share_at_the_begin(start, prorated, completed):
    for day, expected in ((PRORATED, prorated), (COMPLETED, completed)):
        measured = run(day, start)
        assert (measured.utility, measured.energy_joules, measured.completed) == expected
        assert (measured.dropped, measured.makespan_seconds) == (3, start + 10.0)


@pytest.mark.parametrize(
    ("start", "prorated", "completed"),
    [
        (90.0, (8.0, 50.0, 1), (8.0, 50.0, 1)),  # ends as the period does
        (95.0, (4.0, 25.0, 0), (0.0, 0.0, 0)),
        (97.5, (2.0, 12.5, 0), (0.0, 0.0, 0)),
        (math.nextafter(90.0, 91.0), (8.0, 50.0, 0), (0.0, 0.0, 0)),  # a hair too late
    ],
)
def test_utility_and_energy_count_by_the_share_at_the_end(start, prorated, completed):
    for day, expected in ((PRORATED, prorated), (COMPLETED, completed)):
        measured = run(day.model_copy(update={"utility_functions": STEADY}), start)
        assert (measured.utility, measured.energy_joules) == pytest.approx(expected[:2], rel=1e-14)
        assert measured.utility <= expected[0]
        assert measured.completed == expected[2]


def test_a_run_across_both_edges_counts_by_what_is_between():
    # 100 s from 0 on at 2 W, of which 30 to 40 s count: a tenth
    day = simple_day([[100.0]], [[2.0]], [1], [(0.0, 0, decaying(5.0))])
    measured = measure(
        day.model_copy(update={"period": Period(30.0, 10.0)}), DaySchedule((PlacedTask(0, "m0", 1, 0.0),))
    )
    assert (measured.utility, measured.energy_joules, measured.completed) == (0.5, 20.0, 0)


@pytest.mark.parametrize("seconds", range(1, 20))
def test_what_counts_is_rounded_to_the_worse_side(seconds):
    # A task of 21 s that is worth 0.7; it starts at 0.1 s, and so many seconds later the period ends.
    day = simple_day([[21.0]], [[0.3]], [1], [(0.0, 0, decaying(0.7))])
    period = Period(length_seconds=seconds + 0.1)
    within = Fraction(period.ends_at) - Fraction(0.1)
    measured = measure(day.model_copy(update={"period": period}), DaySchedule((PlacedTask(0, "m0", 1, 0.1),)))
    utility, joules, makespan = within / 21 * Fraction(0.7), within * Fraction(0.3), 21 + Fraction(0.1)
    assert measured.utility <= utility < math.nextafter(measured.utility, 1.0)
    assert math.nextafter(measured.energy_joules, 0.0) < joules <= measured.energy_joules
    assert math.nextafter(measured.makespan_seconds, 0.0) < makespan <= measured.makespan_seconds


@pytest.mark.parametrize("day", [PRORATED, COMPLETED])
def test_nothing_starts_when_the_period_is_over(day):
    assert violations(day, DaySchedule((PlacedTask(0, "m0", 1, math.nextafter(100.0, 0.0)),))) == ()
    found = violations(day, DaySchedule((PlacedTask(0, "m0", 1, 100.0),)))
    assert [(each.code, each.sentence) for each in found] == [
        ("starts-after-the-day", "task 0 starts at 100.0 s, but the period that counts ends at 100.0 s")
    ]


def test_a_start_that_was_rounded_below_the_end_counts_nothing():
    # Task 1 really starts as task 0 ends, with the period; it is told a hair earlier.
    measured = run(PRORATED.model_copy(update={"utility_functions": STEADY}), 90.0, math.nextafter(100.0, 0.0))
    assert (measured.utility, measured.energy_joules, measured.completed) == (8.0, 50.0, 1)


@pytest.mark.parametrize(
    ("constraint", "is_valid"),
    [(62.5, True), (62.5 * (1 - 0.9e-9), True), (62.5 * (1 - 1.1e-9), False), (0.0, False), (100.0, True)],
)
def test_counted_energy_keeps_the_constraint_but_for_a_billionth(constraint, is_valid):
    # Task 0 counts for a quarter, task 1 wholly: 12.5 + 50 J.
    day = CUT.model_copy(update={"period": Period(20.0, 80.0, "prorated", constraint)})
    placed = (PlacedTask(0, "m0", 1, 12.5), PlacedTask(1, "m0", 1, 30.0))
    found = violations(day, DaySchedule(placed))
    assert ([each.code for each in found] == []) is is_valid
    if not is_valid:
        assert [each.code for each in found] == ["too-much-energy"]
        assert found[0].sentence == (
            f"the schedule takes 62.5 J in the period that counts, of {constraint!r} J allowed"
        )


@given(st.floats(1e-30, 1e30))
def test_a_bound_that_grants_most_joules_grants_all_that_passes(joules):
    most = Period(energy_constraint_joules=joules).most_joules
    limit = Fraction(joules) * (1 + Fraction(1, 10**9))
    assert limit <= most <= joules * (1 + 1.001e-9)


def test_a_constraint_of_nothing_allows_what_takes_nothing():
    free = simple_day([[10.0]], [[0.0]], [1], [(0.0, 0, decaying(8.0))])
    day = free.model_copy(update={"period": Period(energy_constraint_joules=0.0)})
    assert measure(day, DaySchedule((PlacedTask(0, "m0", 1, 0.0),))).utility == 8.0
    assert (day.period.most_joules, free.period.most_joules) == (0.0, math.inf)
    # energy of the warm-up is not counted
    day = CUT.model_copy(update={"period": Period(20.0, 80.0, "prorated", 0.0)})
    assert violations(day, DaySchedule((PlacedTask(0, "m0", 1, 10.0),))) == ()


def test_too_much_energy_is_told_beside_other_broken_rules():
    day = CUT.model_copy(update={"period": Period(energy_constraint_joules=1.0)})
    placed = (PlacedTask(0, "m0", 1, 0.0), PlacedTask(1, "m0", 2, 1.0))
    assert [each.code for each in violations(day, DaySchedule(placed))] == ["no-such-machine", "too-much-energy"]


def test_traces_credit_utility_at_the_end_and_energy_on_the_way():
    # Task 0 runs from 12.5 to 22.5 s, a quarter counts: 2 at 22.5 s, 5 W from 20 s on. Task 1 from 30 to 40 s:
    # 8 at 40 s. Task 2 from 95 s on: its utility is 0 from 100 s after its arrival on, 25 J until 100 s.
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 12.5), PlacedTask(1, "m0", 1, 30.0), PlacedTask(2, "m0", 1, 95.0)))
    times = [0.0, 20.0, 21.0, 22.5, 30.0, 40.0, 36.0, 96.0, 100.0, 1e6, 36.0]  # in any order, even twice
    utility, energy = examine(PRORATED, schedule).traces(times)
    assert utility == (0.0, 0.0, 0.0, 2.0, 2.0, 10.0, 2.0, 10.0, 10.0, 10.0, 2.0)
    assert energy == (0.0, 0.0, 5.0, 12.5, 12.5, 62.5, 42.5, 67.5, 87.5, 87.5, 42.5)
    # Where only what completes counts, it does so from the start, and task 2 not at all.
    utility, energy = examine(COMPLETED, schedule).traces([12.5, 20.0, 22.5, 100.0])
    assert (utility, energy) == ((0.0, 0.0, 8.0, 16.0), (0.0, 37.5, 50.0, 100.0))


def test_a_task_that_the_end_cuts_is_credited_at_the_end():
    day = simple_day([[10.0]], [[5.0]], [1], [(0.0, 0, decaying(8.0))])
    schedule = DaySchedule((PlacedTask(0, "m0", 1, 2.0),))
    utility, energy = examine(day.model_copy(update={"period": Period(length_seconds=7.0)}), schedule).traces(
        [6.9, 7.0]
    )
    assert utility == pytest.approx((0.0, 4.0))
    assert energy == pytest.approx((24.5, 25.0))


def test_details_tell_utility_by_how_it_is_told_and_how_busy_machines_were():
    # By level high, task 0 on the gpu from 0 to 10 s: half of its 4 counts from 5 s on. Task 1 ends 32.5 s after
    # its arrival, within its deadline: 8. Nothing runs of low and slow.
    day = day_from_dict(sound_day()).model_copy(update={"period": Period(5.0, 50.0)})
    schedule = DaySchedule((PlacedTask(0, "gpu", 1, 0.0, "P0"), PlacedTask(1, "cpu", 2, 5.0)))
    found = examine(day, schedule).details()
    high, low = Levels("high", "soon", "A"), Levels("low", "soon", "A")
    assert [(each.declared, each.earned) for each in found.utility_by_declaration] == [
        (high, 2.0), ("deadline", 8.0), (low, 0.0), ("slow", 0.0)
    ]  # fmt: skip
    # At once where it is fastest: task 0 from 0 to 10 s, a half; tasks 1 and 2 from 2.5 to 32.5 s, of which
    # 27.5 s count (the steady time of 0.8 x 30 s is over by then); task 3 arrives when all is over.
    low_at_once = day.utility_of(2).at(30.0) * 27.5 / 30.0
    assert [each.if_none_waits for each in found.utility_by_declaration] == pytest.approx(
        [2.0, 8.0 * 27.5 / 30.0, low_at_once, 0.0]
    )
    assert found.busy_seconds == {("cpu", 2): 30.0, ("gpu", 1): 5.0}


def test_details_of_a_whole_day_name_its_naive_bound():
    found = examine(DAY, DaySchedule(VALID)).details()
    assert math.fsum(each.earned for each in found.utility_by_declaration) == measure(DAY, DaySchedule(VALID)).utility
    # 8 on the m1 after 4 s, 3 exp(-0.4), 2
    assert math.fsum(each.if_none_waits for each in found.utility_by_declaration) == pytest.approx(
        10.0 + 3.0 * math.exp(-0.4)
    )
    assert found.busy_seconds == {("m0", 1): 16.0, ("m1", 2): 4.0}


def test_one_account_tells_all_and_goes_through_the_schedule_once(monkeypatch):
    schedule, passes = DaySchedule(VALID), []
    expected = examine(DAY, schedule), examine(DAY, schedule).details(), examine(DAY, schedule).traces([5.0, 16.0])

    def counted(*given):
        passes.append(given)
        return Runs(*given)

    monkeypatch.setattr("lpsched.online.verify.day.Runs", counted)
    account = DayAccount(DAY, schedule)
    assert (account.violations, account.measured) == (expected[0].violations, expected[0].measured)
    assert (account.details(), account.traces([5.0, 16.0])) == expected[1:]
    assert len(passes) == 1


def test_a_task_that_arrives_with_the_end_might_have_earned_nothing():
    day = simple_day([[1.0]], [[1.0]], [1], [(1e20, 0, decaying(8.0))])  # 1 s more is not seen in a double
    assert (
        examine(day.model_copy(update={"period": Period(length_seconds=1e20)}), DaySchedule(()))
        .details()
        .utility_by_declaration[0]
        .if_none_waits
        == 0.0
    )


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_what_counts_is_what_shares_in_doubles_give_but_for_their_rounding(data):
    whole_day = data.draw(days())
    schedule = data.draw(schedules_of(whole_day))
    day = whole_day.model_copy(update={"period": data.draw(periods())})
    period = day.period
    late = any(placed.start_seconds >= period.ends_at for placed in schedule.placed)
    columns = {(day.machine_types[j].name, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    low = high = energy = busy = 0.0
    for placed in schedule.placed:
        cell = day.arriving.type_numbers[placed.task], columns[placed.machine_type, placed.p_state]
        start, end = placed.start_seconds, placed.start_seconds + day.seconds[cell]
        edges = period.begins_at, period.ends_at
        # neither on an edge nor on a break of utility, where doubles and exact sums may differ
        assume(not any(math.isclose(end, edge, rel_tol=1e-9) for edge in edges))
        share = period.share(start, end)
        energy += share * day.seconds[cell] * day.watts[cell]
        busy += max(0.0, min(end, edges[1]) - max(start, edges[0]))
        since = end - day.arriving.arrival_seconds[placed.task]
        low += share * day.utility_of(placed.task).at(since * (1 + 1e-9))
        high += share * day.utility_of(placed.task).at(since * (1 - 1e-9))
    naive = math.fsum(each.if_none_waits for each in examine(day, DaySchedule(())).details().utility_by_declaration)
    assert naive == pytest.approx(no_wait_reference(offers_of(day), period), rel=1e-12)
    most = period.energy_constraint_joules
    assume(most is None or not math.isclose(energy, most, rel_tol=1e-8))
    found = examine(day, schedule)
    assert ("starts-after-the-day" in {each.code for each in found.violations}) is late
    if late:
        return
    assert ([each.code for each in found.violations] == ["too-much-energy"]) is (most is not None and energy > most)
    if found.measured is None:
        return
    assert low - 1e-9 <= found.measured.utility <= high + 1e-9
    assert found.measured.energy_joules == pytest.approx(energy, rel=1e-9, abs=1e-9)
    final = max((placed.start_seconds for placed in schedule.placed), default=0.0) + 1000.0
    utility, joules = examine(day, schedule).traces([final])
    assert utility[0] == pytest.approx(found.measured.utility, rel=1e-12)
    assert joules[0] == found.measured.energy_joules
    assert math.fsum(examine(day, schedule).details().busy_seconds.values()) == pytest.approx(busy, rel=1e-9, abs=1e-9)
