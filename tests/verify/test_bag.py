"""The checker rejects each rule, broken singly, and measures what can be measured on paper."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lpsched.instance import bag_from_dict
from lpsched.schedule.bag import MachineGroup, Run, Schedule
from lpsched.verify.bag import measure, violations
from tests.support import SOUND, simple_bag, sound

CPU = MachineGroup("cpu", 1, (Run("render", 10), Run("zip", 5)))
GPU = MachineGroup("gpu", 1, (Run("render", 20, "P0"), Run("render", 10, "P1")))


@pytest.fixture
def bag():
    return bag_from_dict(SOUND)


def test_a_valid_schedule_has_no_violations(bag):
    assert violations(bag, Schedule((CPU, GPU))) == ()


@pytest.mark.parametrize(
    ("groups", "code", "sentence"),
    [
        pytest.param((CPU,), "wrong-count", "10 tasks of type 'render' run, but there are 40", id="tasks-missing"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("zip", 1),))), "wrong-count", "6 tasks of type 'zip' run, but there are 5", id="a-task-too-many"),
        pytest.param((), "wrong-count", "0 tasks of type 'zip' run, but there are 5", id="nothing-runs"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 2, ())), "no-such-machine", "3 machines of type 'cpu' are used, but there are 2", id="a-machine-too-many"),
        pytest.param((CPU, GPU, MachineGroup("tpu", 1, ())), "unknown-machine-type", "there is no machine type 'tpu'", id="unknown-machine-type"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("rip", 1),))), "unknown-task-type", "there is no task type 'rip'", id="unknown-task-type"),
        pytest.param((CPU, MachineGroup("gpu", 1, (Run("render", 30),))), "unknown-p-state", "'gpu' has no P-state None", id="p-state-missing"),
        pytest.param((MachineGroup("cpu", 1, (Run("render", 10, "P0"), Run("zip", 5))), GPU), "unknown-p-state", "'cpu' has no P-state 'P0'", id="p-state-where-there-is-none"),
        pytest.param((CPU, MachineGroup("gpu", 1, (*GPU.runs, Run("zip", 1, "P1")))), "cannot-run", "'zip' on 'gpu' cannot run in P-state 'P1'", id="cannot-run"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 0, ())), "bad-number", "a group of 'cpu' has 0 machines", id="no-machines"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("zip", 0),))), "bad-number", "a run of 'zip' on 'cpu' has 0 tasks", id="no-tasks"),
    ],
)  # fmt: skip
def test_each_broken_rule_is_named(bag, groups, code, sentence):
    assert (code, sentence) in {(each.code, each.sentence) for each in violations(bag, Schedule(groups))}


def test_a_pair_that_cannot_run_is_named_without_a_p_state():
    bag = simple_bag([[1.0, None]], [1], [1, 1])
    (found,) = violations(bag, Schedule((MachineGroup("m1", 1, (Run("t0", 1),)),)))
    assert found.sentence == "'t0' on 'm1' cannot run"


def test_makespan_and_energy_by_hand(bag):
    # cpu: 10 x 8 + 5 x 3 = 95 s at 10 x 8 x 50 + 5 x 3 x 40 = 4,600 J; gpu: 20 + 20 = 40 s at 4,000 + 1,800 J.
    # Idle: two cpus at 5 W for 2 x 95 - 95 = 95 s: 475 J; the gpu's idle power is 0.
    measured = measure(bag, Schedule((CPU, GPU)))
    assert measured.makespan_seconds == 95.0
    assert measured.energy_joules == 4600 + 5800 + 475


def test_energy_is_unknown_without_watts():
    assert measure(bag_from_dict(sound(watts=...)), Schedule((CPU, GPU))).energy_joules is None


def test_measured_numbers_are_never_below_the_exact_ones():
    # Three times the double nearest to 0.1 is no double; the nearest one is below or above it.
    for seconds in (0.1, 0.7, 1 / 3):
        for count in range(1, 60):
            bag = simple_bag([[seconds]], [count], [1], watts=[[0.3]])
            measured = measure(bag, Schedule((MachineGroup("m0", 1, (Run("t0", count),)),)))
            assert Fraction(measured.makespan_seconds) >= count * Fraction(seconds)
            assert measured.makespan_seconds == pytest.approx(count * seconds, rel=1e-15)
            assert measured.energy_joules is not None
            assert Fraction(measured.energy_joules) >= count * Fraction(seconds) * Fraction(0.3)
