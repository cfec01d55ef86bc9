"""A schedule becomes a chromosome that does the same, and a chromosome a schedule."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.evolve import genes_of, to_schedule
from lpsched.bag.model import bag_from_dict
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.verify import violations
from lpsched.evolve.genes import Genes
from tests.support import simple_bag, sound

BAG = bag_from_dict(sound())  # 2 cpu, 1 gpu with P0 and P1; 40 render, 5 zip
GROUPS = (
    MachineGroup("cpu", 1, (Run("zip", 5),)),
    MachineGroup("cpu", 1, (Run("render", 3), )),
    MachineGroup("gpu", 1, (Run("render", 30, "P1"), Run("render", 7, "P0"))),
)  # fmt: skip


def test_a_schedule_comes_back_as_it_was():
    schedule = Schedule(GROUPS)
    assert violations(BAG, schedule) == ()
    genes = genes_of(BAG, schedule)
    assert sorted(genes.orders.tolist()) == list(range(45))
    # Machines 0 and 1 are cpu, 2 is gpu; columns 1 and 2 are its P-states. Tasks 0 to 39 are render.
    assert genes.machines.tolist() == [1] * 3 + [2] * 37 + [0] * 5
    assert genes.columns.tolist() == [0] * 3 + [2] * 30 + [1] * 7 + [0] * 5
    assert to_schedule(BAG, genes) == schedule


def test_a_machine_runs_by_rising_order_and_ties_by_task_number():
    bag = simple_bag([[1.0], [2.0]], [2, 1], [3])
    machines, orders = np.array([1, 1, 1], dtype=np.int32), np.array([2, 1, 1], dtype=np.int32)
    found = to_schedule(bag, Genes(machines, machines * 0, orders))
    assert found.groups == (MachineGroup("m0", 1, (Run("t0", 1), Run("t1", 1), Run("t0", 1))),)


def test_equal_machines_are_one_group_but_not_in_another_order():
    bag = simple_bag([[1.0], [2.0]], [3, 3], [3])
    machines = np.array([0, 1, 2, 0, 1, 2], dtype=np.int32)
    orders = np.array([0, 0, 1, 1, 1, 0], dtype=np.int32)
    found = to_schedule(bag, Genes(machines, machines * 0, orders))
    assert found.groups == (
        MachineGroup("m0", 2, (Run("t0", 1), Run("t1", 1))),
        MachineGroup("m0", 1, (Run("t1", 1), Run("t0", 1))),
    )


def test_of_a_trillion_machines_only_those_that_work_have_numbers():
    bag = simple_bag([[1.0, 1.0]], [3], [10**12, 2])
    schedule = Schedule((
        MachineGroup("m0", 10**11, ()), MachineGroup("m1", 1, (Run("t0", 1),)), MachineGroup("m0", 2, (Run("t0", 1),)),
    ))  # fmt: skip
    assert violations(bag, schedule) == ()
    assert genes_of(bag, schedule).machines.tolist() == [3, 0, 1]  # 3 of m0 have numbers, as many as tasks


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ((MachineGroup("tpu", 1, (Run("zip", 5),)),), "there is no machine type 'tpu'"),
        ((MachineGroup("gpu", 2, (Run("render", 20, "P0"),)),), "there are not enough machines of type 'gpu', or tasks"),
        ((MachineGroup("cpu", 1, (Run("zip", 6),)),), "there are not enough tasks of type 'zip'"),
        ((MachineGroup("cpu", 1, (Run("zip", 0),)),), "there are not enough tasks of type 'zip'"),
        ((MachineGroup("cpu", 10**15, (Run("zip", 1),)),), "there are not enough machines of type 'cpu', or tasks"),
        ((MachineGroup("gpu", 1, (Run("zip", 5, "P0"),)),), "'zip' on 'gpu' in P-state 'P0' cannot run"),
        ((MachineGroup("gpu", 1, (Run("render", 5),)),), "'render' on 'gpu' in P-state None cannot run"),
        ((MachineGroup("cpu", 1, (Run("pack", 5),)),), "'pack' on 'cpu' in P-state None cannot run"),
        (GROUPS[:2], "it runs 8 of 45 tasks"),
        ((), "it runs 0 of 45 tasks"),
    ],
)  # fmt: skip
def test_what_is_no_schedule_of_the_bag_is_refused_in_words(groups, message):
    with pytest.raises(ValueError, match=message):
        genes_of(BAG, Schedule(groups))
