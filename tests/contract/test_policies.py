"""What every policy must do: answer legally, the same again, and as its plain definition says."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from lpsched.online.parts import Period
from lpsched.online.policies import BATCH, IMMEDIATE, KNOBS, POLICIES, policy
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.verify.day import examine
from models.policies import DEFINITIONS
from tests.days import decaying, simple_day
from tests.online.plain_loops import run_plainly
from tests.online.states import drawn_state

every = pytest.mark.parametrize("name", POLICIES.built_in)
STATES = 60
USUAL = {"weighted-util": 0.5, "weighted-upt": 0.1, "weighted-upe": 0.05, "k-best-types": 1}


def named(name, rng):
    """Return a name with a drawn number where it takes one, and the number."""
    if name not in KNOBS:
        return name, 0.0
    number = int(rng.integers(1, 4)) if name == "k-best-types" else float(rng.choice([0.0, 0.3, 0.5, 1.0]))
    return f"{name}:{number}", number


def rows(answer):
    """Return an answer as a list of (task, machine, column)."""
    columns = (answer.tasks, answer.machines, answer.columns) if hasattr(answer, "tasks") else zip(*answer, strict=True)
    return [tuple(row) for row in np.array([list(each) for each in columns], dtype=int).T.tolist()]


def asked(name, state, seed=1):
    return rows(policy(name).choose(replace(state, memory={}), np.random.default_rng(seed)))


def in_order_of(answer, defined):
    """Tell whether each machine gets the first of the tasks that the definition gives it, in that order."""
    for machine in {machine for _, machine, _ in answer}:
        own = [row for row in answer if row[1] == machine]
        if own != [row for row in defined if row[1] == machine][: len(own)]:
            return False
    return True


def unmovable_at(state, decided, known):
    """Return when each of the decisions that are not known gets unmovable."""
    place = {task: b for b, task in enumerate(state.tasks.tolist())}
    ready, following, late = state.ready.tolist(), state.pending_at.tolist(), []
    for task, machine, column in decided:
        if (task, machine, column) not in known:
            late.append(following[machine])
        following[machine] = ready[machine]
        ready[machine] += state.system.seconds[state.types[place[task]], column]
    return late


@pytest.mark.rotate(8)
@every
def test_it_maps_as_defined_and_leaves_out_only_what_the_next_event_decides_anew(name):
    stopped = 0
    for seed in range(STATES):
        rng = np.random.default_rng(seed)
        state = drawn_state(rng)
        full, number = named(name, rng)
        answer = asked(full, state)
        defined = [
            tuple(each) for each in DEFINITIONS[name](replace(state, memory={}), np.random.default_rng(1), number)
        ]
        assert in_order_of(answer, defined), seed
        if policy(full).immediate or state.polled:
            assert sorted(answer) == sorted(defined), seed
        assert all(at > state.until for at in unmovable_at(state, defined, set(answer))), seed
        stopped += len(answer) < len(defined)
    assert bool(stopped) != policy(name).immediate  # batch mode stops early now and then; immediate mode never


@pytest.mark.rotate(8)
@every
def test_its_answers_are_legal(name):
    for seed in range(STATES):
        state = drawn_state(np.random.default_rng([seed, 1]))
        place = {task: b for b, task in enumerate(state.tasks.tolist())}
        ready, left = state.ready.copy(), state.energy_left
        answer = asked(name, state)
        assert len({task for task, _, _ in answer}) == len(answer)
        assert not state.polled or len({machine for _, machine, _ in answer}) == len(answer)
        for task, machine, column in answer:
            i, start = state.types[place[task]], float(ready[machine])
            assert machine in state.available
            assert state.system.column_type[column] == state.system.machine_type[machine]
            assert state.allowed[i, column]
            assert start < state.ends_at
            seconds = state.system.seconds[i, column]
            left -= state.system.joules[i, column] * min(1.0, (state.ends_at - start) / seconds)
            ready[machine] += seconds
        assert left >= -1e-9


@every
def test_the_same_seed_gives_the_same_answer_and_the_state_stays_as_it_was(name):
    for seed in range(10):
        state = drawn_state(np.random.default_rng([seed, 2]))
        before = deepcopy(state)
        assert asked(name, state) == asked(name, state)
        for field in ("tasks", "arrivals", "types", "functions", "available", "ready", "pending_at", "allowed"):
            np.testing.assert_array_equal(getattr(state, field), getattr(before, field))


@pytest.mark.slow
@every
def test_the_loops_do_in_python_what_they_do_compiled(name, monkeypatch):
    states = [drawn_state(np.random.default_rng([seed, 3])) for seed in range(12)]
    answers = [asked(name, state) for state in states]
    run_plainly(monkeypatch)
    assert [asked(name, state) for state in states] == answers


# Two types of machines, one of them slow for the second type of tasks; enough tasks that queues build up, a
# period that begins and ends in their midst, and less energy than all of them would take.
def busy_day(period):
    rng = np.random.default_rng(5)
    worths = [decaying(8.0, 0.01), decaying(4.0, until=90.0), decaying(1.0, 0.002)]
    tasks = [(float(at), int(at) % 2, worths[int(at) % 3]) for at in np.sort(rng.integers(0, 400, 60))]
    return simple_day([[20.0, 35.0], [50.0, None]], [[10.0, 4.0], [6.0, None]], [2, 1], tasks).model_copy(
        update={"period": period}
    )


PERIODS = [
    Period(),
    Period(warm_up_seconds=100.0, length_seconds=300.0, energy_constraint_joules=2000.0),
    Period(warm_up_seconds=50.0, length_seconds=330.0, edge="completed", energy_constraint_joules=2500.0),
]
OPTIONS = [
    SimulationOptions(),
    SimulationOptions(machines="polled", every_seconds=10.0),
    SimulationOptions(every_seconds=30.0, drop_below=0.5, energy_filter="adaptive"),
    SimulationOptions(machines="polled", every_seconds=20.0, energy_filter=1.2, drop_below=0.1),
]


@pytest.mark.rotate(10)
@every
def test_a_day_that_it_runs_passes_the_verifier(name):
    for period in PERIODS:
        day = busy_day(period)
        for options in OPTIONS:
            if policy(name).immediate and options.machines == "polled":
                continue
            done = simulate_day(day, policy(name), np.random.default_rng(1), options)
            found = examine(day, done.schedule)
            assert not found.violations
            assert found.measured.utility > 0.0
            again = simulate_day(day, policy(name), np.random.default_rng(1), options)
            assert again.schedule == done.schedule


def mapping_all(name):
    """Return a policy that maps as defined, to the last task."""
    return replace(policy(name), choose=lambda state, rng: DEFINITIONS[name](state, rng, USUAL.get(name, 0.0)))


@pytest.mark.parametrize("name", BATCH)
def test_a_day_goes_as_if_every_task_had_been_mapped_at_every_event(name):
    day, options = busy_day(PERIODS[1]), SimulationOptions(every_seconds=30.0)
    quick, slow = (
        simulate_day(day, each, np.random.default_rng(1), options) for each in (policy(name), mapping_all(name))
    )
    assert quick.schedule == slow.schedule


def test_there_are_seven_policies_of_immediate_mode_and_eighteen_of_batch_mode():
    assert (len(IMMEDIATE), len(BATCH)) == (7, 18)
    assert {name for name in POLICIES.built_in if policy(name).immediate} == set(IMMEDIATE)
    assert set(DEFINITIONS) == set(POLICIES.built_in)
