"""The engine and its plain twin agree on random tiny days, whatever the policy does and the options are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError, StalledError
from lpsched.online import policies as registry
from lpsched.online.parts import Period
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.simulate.state import Assignment, Policy
from lpsched.online.verify.day import examine
from models.day_mapping import pieces_of
from models.day_simulation import simulate
from tests.online.small_days import run_plainly
from tests.property.days import days

SEEDS = st.integers(0, 2**32 - 1)


def at_random(state, rng):
    """Map some of the tasks anywhere, whether they fit or not."""
    system, answer, left = state.system, [], state.available.tolist()
    for place in rng.permutation(len(state.tasks)):
        pairs = [
            (m, c) for m in left for c in np.flatnonzero(state.allowed[state.types[place]])
            if system.column_type[c] == system.machine_type[m]
        ]  # fmt: skip
        if pairs and rng.random() < 0.8:
            machine, column = pairs[rng.integers(len(pairs))]
            answer.append(Assignment(int(state.tasks[place]), machine, int(column)))
            if state.polled:
                left.remove(machine)
    return answer


@st.composite
def periods(draw):
    """Draw a period that is likely to cut runs, and to have earlier days."""
    length = draw(st.sampled_from([None, 10.0, 20.0, 60.0]))
    return Period(
        draw(st.sampled_from([0.0, 0.0, 5.0, 20.0, 33.0])),
        length,
        draw(st.sampled_from(["prorated", "completed"])) if length is not None else "prorated",
        draw(st.sampled_from([None, 0.0, 100.0, 1000.0]) | st.floats(1.0, 5000.0)),
    )


@st.composite
def options_of(draw):
    """Draw any options."""
    every_seconds, every_arrivals = draw(st.sampled_from([(None, 1), (None, 2), (7.0, None), (3.0, 2), (0.7, None)]))
    return SimulationOptions(
        machines=draw(st.sampled_from(["queued", "polled"])),
        every_seconds=every_seconds,
        every_arrivals=every_arrivals,
        drop_below=draw(st.sampled_from([0.0, 0.0, 0.5, 3.0])),
        energy_filter=draw(st.sampled_from([None, None, "adaptive", 0.5, 2.0])),
        permute=draw(st.sampled_from([0, 1, 2, 3])),
    )


def what_happened(day, policy, seed, options):
    """Run the engine; return what happened in the twin's form."""
    made = simulate_day(day, policy, np.random.default_rng(seed), options)
    first = np.cumsum([0, *(kind.count for kind in day.machine_types)])
    numbers = {kind.name: j for j, kind in enumerate(day.machine_types)}
    columns = {(day.machine_types[j].name, day.p_state(c)): c for c, (j, _) in enumerate(day.modes)}
    ran = {
        each.task: (
            int(first[numbers[each.machine_type]]) + each.machine - 1,
            columns[each.machine_type, each.p_state],
            each.start_seconds,
        )
        for each in made.schedule.placed
    }
    dropped = {int(n): float(made.dropped_at[n]) for n in np.flatnonzero(made.outcomes == TaskOutcome.DROPPED)}
    return made, ran, dropped


@pytest.mark.parametrize("immediate", [False, True])
@settings(max_examples=30, deadline=None)
@given(day=days(most_tasks=9), period=periods(), options=options_of(), seed=SEEDS)
def test_engine_and_plain_twin_agree(day, period, options, seed, immediate):
    day = day.model_copy(update={"period": period})
    policy = Policy("at-random", at_random, immediate)
    try:
        made, ran, dropped = what_happened(day, policy, seed, options)
    except (InstanceError, StalledError):  # a filter without an end, immediate and polled; nothing fitted
        return
    twin = simulate(day, policy, np.random.default_rng(seed), options)
    assert ran == twin.ran
    assert dropped == twin.dropped_at
    assert made.event_at.tolist() == twin.event_at
    assert made.rejected == twin.refused
    assert made.is_whole
    assert examine(day, made.schedule).violations == ()
    _nothing_is_overspent(day, ran)


def all_by_first_machine(state, rng):  # noqa: ARG001 - policies have one form
    """Map every task, worthiest first, to the machine that gets it unmovable first; leave nothing out."""
    return [each for each, _ in _worthiest_first(state)]


def only_what_matters(state, rng):  # noqa: ARG001
    """Do the same, but stop when all that is left will be mapped anew at the next event anyway."""
    found = _worthiest_first(state)
    stay = [n for n, (_, stays_from) in enumerate(found) if stays_from <= state.until]
    return [each for each, _ in found[: max(stay, default=-1) + 1]]


def _worthiest_first(state):
    """Find assignments by falling number of the task, and when each gets unmovable; only those that fit."""
    system, ready, pending_at = state.system, state.ready.copy(), state.pending_at.copy()
    energy_left, left, answer = state.energy_left, state.available.tolist(), []
    for place in reversed(range(len(state.tasks))):
        i = state.types[place]
        choices = []
        for m in left:
            for c in np.flatnonzero(state.allowed[i]).tolist():
                end = ready[m] + system.seconds[i, c]
                share = min(1.0, (state.ends_at - ready[m]) / system.seconds[i, c])
                fits = ready[m] < state.ends_at and system.joules[i, c] * share <= energy_left
                if system.column_type[c] == system.machine_type[m] and fits:
                    choices.append((end, m, c, system.joules[i, c] * share))
        if choices:
            end, m, c, joules = min(choices)
            answer.append((Assignment(int(state.tasks[place]), m, c), pending_at[m]))
            energy_left -= joules
            pending_at[m], ready[m] = ready[m], end
            if state.polled:
                left.remove(m)
    return answer


@settings(max_examples=30, deadline=None)
@given(day=days(most_tasks=9), period=periods(), options=options_of())
def test_what_will_be_mapped_anew_anyway_need_not_be_mapped(day, period, options):
    day = day.model_copy(update={"period": period})
    try:
        _, everything, dropped = what_happened(day, Policy("all", all_by_first_machine), 0, options)
    except (InstanceError, StalledError):
        return
    _, ran, also_dropped = what_happened(day, Policy("some", only_what_matters), 0, options)
    assert ran == everything
    assert dropped == also_dropped


@pytest.mark.parametrize("name", ["max-max-upt", "fcfs-all", "max-util"])
@settings(max_examples=15, deadline=None)
@given(day=days(most_tasks=9), period=periods(), options=options_of())
def test_policies_fare_alike_in_the_engine_and_in_its_twin(day, period, options, name):
    day, policy = day.model_copy(update={"period": period}), registry.policy(name)
    try:
        _, ran, dropped = what_happened(day, policy, 0, options)
    except (InstanceError, StalledError):
        return
    twin = simulate(day, policy, np.random.default_rng(0), options)
    assert ran == twin.ran
    assert dropped == twin.dropped_at


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(day=days(most_tasks=9), period=periods(), options=options_of(), seed=SEEDS)
def test_compiled_loops_do_what_they_say(day, period, options, seed):
    day, policy = day.model_copy(update={"period": period}), Policy("at-random", at_random)
    try:
        _, ran, dropped = what_happened(day, policy, seed, options)
    except (InstanceError, StalledError):
        return
    with pytest.MonkeyPatch.context() as patched:
        run_plainly(patched)
        _, plainly_ran, plainly_dropped = what_happened(day, policy, seed, options)
    assert ran == plainly_ran
    assert dropped == plainly_dropped


def _nothing_is_overspent(day, ran):
    """No piece of the day takes more than it may, days before the period included."""
    for begin, end, limit, _ in pieces_of(day):
        if math.isfinite(limit):
            piece = Period(begin, end - begin if math.isfinite(end) else None, day.period.edge)
            taken = 0.0
            for task, (_, column, start) in ran.items():
                i = day.arriving.type_numbers[task]
                seconds, watts = day.seconds[i, column], day.watts[i, column]
                taken += seconds * watts * piece.share(start, start + seconds)
            assert taken <= limit * (1 + 1e-9)
