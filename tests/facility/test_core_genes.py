"""What a chromosome is: allowed P-states, thriftier ones, random genes, and allocations there and back."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility.air import facility_arrays
from lpsched.facility.genes import from_allocation, genes_of, set_at_random, to_allocation
from lpsched.facility.model import NodeType
from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.model.table import Table
from tests.facility.drawn import drawn_breeder, plain
from tests.paper_facility import paper_facility

KERNELS = pytest.mark.parametrize(
    "draw",
    [
        pytest.param(set_at_random, id="compiled"),
        pytest.param(plain(set_at_random), marks=pytest.mark.slow, id="plain"),
    ],
)


def with_states(speeds, watts):
    """Return the facility on paper with one P-state for each number."""
    paper = paper_facility()
    kind = paper.node_types[0]
    named = NodeType(
        kind.name, kind.cores, kind.overhead_watts, kind.airflow_m3_per_second, 25.5,
        tuple(f"P{k}" for k in range(len(speeds))),
    )  # fmt: skip
    return paper.model_copy(update={"node_types": (named,), "speeds": Table.of([speeds]), "watts": Table.of([watts])})


def test_thriftier_is_the_allowed_state_with_the_next_lower_watts():
    # In order of watts: P4 (10 W), P0 (20 W), P2 and P3 (30 W, P3 faster), P1 (40 W); P5 (5 W) cannot run.
    facility = with_states([1.0, 2.0, 1.2, 1.5, 0.5, None], [20.0, 40.0, 30.0, 30.0, 10.0, None])
    genes = genes_of(facility_arrays(facility))
    assert genes.lower_state.tolist() == [[4, 3, 0, 0, -1, -1]]
    assert genes.lowest_state[0, :5].tolist() == [4, 4, 4, 4, 4]
    assert genes.choices[0, 0, : genes.choice_counts[0, 0]].tolist() == [0, 1, 2, 3, 4]


def test_a_state_that_misses_the_deadline_is_no_choice():
    # A task takes 1 s in P0 and 2 s in P1, and has 1.5 s.
    facility = with_states([1.0, 0.5], [50.0, 20.0])
    facility = facility.model_copy(
        update={"task_types": (facility.task_types[0].model_copy(update={"deadline_seconds": 1.5}),)}
    )
    genes = genes_of(facility_arrays(facility))
    assert genes.choice_counts.tolist() == [[1]]
    assert genes.lower_state.tolist() == [[-1, -1]]


@KERNELS
@pytest.mark.parametrize("seed", range(20))
def test_random_genes_are_normalised_and_only_of_pairs_that_run_in_time(draw, seed):
    breeder = drawn_breeder(seed)
    fractions, states = np.zeros(breeder.shape), np.zeros(breeder.shape, dtype=np.int16)
    draw(breeder.genes, fractions, states, 1.0, breeder.rng)
    assert fractions.sum(axis=1).max() <= 1.0 + 1e-12
    assert breeder.can_run(fractions, states)
    kind = np.repeat(breeder.genes.node_type, np.diff(breeder.genes.first_core))
    assert np.array_equal(fractions > 0.0, breeder.genes.choice_counts[kind] > 0)


@pytest.mark.slow
@pytest.mark.parametrize("chance", [1.0, 0.3])
def test_compiled_and_plain_draw_the_same(chance):
    made = []
    for draw in (set_at_random, plain(set_at_random)):
        breeder = drawn_breeder(3)
        fractions, states = np.zeros(breeder.shape), np.zeros(breeder.shape, dtype=np.int16)
        draw(breeder.genes, fractions, states, chance, breeder.rng)
        made.append((fractions.tolist(), states.tolist(), breeder.rng.random()))
    assert made[0] == made[1]


@KERNELS
def test_a_mutation_changes_about_its_share_of_the_genes_and_nothing_at_chance_0(draw):
    # 2,000 cores with one task type: 5 % are 100, standard deviation 10.
    genes = genes_of(facility_arrays(paper_facility(nodes=1000, cap=1e6)))
    fractions, states = np.full((2000, 1), 0.5), np.zeros((2000, 1), dtype=np.int16)
    draw(genes, fractions, states, 0.0, np.random.default_rng(0))
    assert (fractions == 0.5).all()
    draw(genes, fractions, states, 0.05, np.random.default_rng(0))
    assert 60 <= (fractions != 0.5).sum() <= 140


@KERNELS
def test_fractions_are_divided_by_their_sum_only_where_it_is_above_1(draw):
    breeder = drawn_breeder(4)
    tasks = breeder.shape[1]
    assert tasks > 1
    fractions, states = np.full(breeder.shape, 0.9), np.zeros(breeder.shape, dtype=np.int16)
    fractions[0] = 0.5 / tasks
    draw(breeder.genes, fractions, states, 0.0, breeder.rng)
    assert fractions[0].tolist() == [0.5 / tasks] * tasks
    assert fractions[1:] == pytest.approx(1.0 / tasks)


@pytest.mark.parametrize("seed", range(20))
def test_an_allocation_comes_back_from_its_genes(seed):
    breeder = drawn_breeder(seed)
    made = breeder.at_random()
    allocation = to_allocation(breeder.facility, made.fractions, made.states, made.outlets)
    fractions, states = from_allocation(breeder.facility, breeder.genes, allocation)
    assert np.array_equal(fractions, made.fractions)
    assert np.array_equal(states[fractions > 0.0], made.states[fractions > 0.0])


def test_two_from_terminal_a_task_type_in_one_state_are_added():
    paper = paper_facility()
    halves = (CoreFraction("task", 0.25), CoreFraction("task", 0.5))
    allocation = CoreAllocation((20.0,), ((halves, ()),))
    fractions, _ = from_allocation(paper, genes_of(facility_arrays(paper)), allocation)
    assert fractions.tolist() == [[0.75], [0.0]]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (((),), "got 1 nodes with 0 cores, expected the cores of paper's 1 nodes; give allocations of this"),
        ((((CoreFraction("zip", 0.5, "P0"),), ()),), "got 'zip' in P-state 'P0' on core 0, expected task types"),
        ((((), (CoreFraction("task", 0.5, "P7"),)),), "got 'task' in P-state 'P7' on core 1, expected task types"),
        ((((CoreFraction("task", 0.5, "P2"),), ()),), "got 'task' in P-state 'P2' on core 0, expected task types"),
        ((((CoreFraction("task", -0.5, "P0"),), ()),), "got the fraction -0.5 of 'task' on core 0, expected"),
        ((((CoreFraction("task", float("nan"), "P0"),), ()),), "got the fraction nan of 'task' on core 0, expected"),
        (
            (((CoreFraction("task", 0.5, "P0"), CoreFraction("task", 0.5, "P1")), ()),),
            "got the fraction 0.5 of 'task' on core 0, expected fractions from 0 up, and one P-state",
        ),
    ],
)  # fmt: skip
def test_an_allocation_of_something_else_is_refused(nodes, message):
    facility = with_states([1.0, 0.5, None], [50.0, 20.0, None])
    with pytest.raises(InstanceError, match=message):
        from_allocation(facility, genes_of(facility_arrays(facility)), CoreAllocation((20.0,), nodes))


@KERNELS
def test_fractions_are_drawn_evenly_and_every_allowed_state_is_drawn(draw):
    # 600 fractions, uniform from 0 to 1: their mean is 0.5, standard deviation 0.012. P2 cannot run.
    genes = genes_of(facility_arrays(with_states([1.0, 0.5, None, 0.2], [50.0, 20.0, None, 5.0])))
    rng, drawn, seen = np.random.default_rng(0), [], set()
    for _ in range(300):
        fractions, states = np.zeros((2, 1)), np.zeros((2, 1), dtype=np.int16)
        draw(genes, fractions, states, 1.0, rng)
        drawn += fractions.ravel().tolist()
        seen |= set(states.ravel().tolist())
    assert np.mean(drawn) == pytest.approx(0.5, abs=0.06)
    assert (min(drawn), max(drawn)) == pytest.approx((0.0, 1.0), abs=0.05)
    assert seen == {0, 1, 3}
