"""What the oracle of a facility promises: a bound at any multipliers, and columns that cost what they say."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError
from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.outlets.fixed import FixedOutlets, best_at, coarsened
from lpsched.facility.patterns import NodeMarket, Run
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.solvers import HighsSolver
from lpsched.units import KILO
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import patterns, rates, some_outlets, tiny_facility, watts


def some_program(seed):
    """Return a program, its best reward and the multipliers that prove it; nothing if nothing is possible."""
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng)
    arrays, heat, outlets = facility_arrays(facility), heat_map(facility), some_outlets(rng, facility)
    try:
        best = best_at(arrays, heat, outlets, solver=HighsSolver()).value
    except InfeasibleError:
        return rng, facility, None, 0.0, None
    market = NodeMarket(arrays)
    program = FixedOutlets(market, heat, outlets)
    master = program.master().with_columns(market.columns(market.first_runs()))
    labels: list[Run] = [None] * len(master.costs)
    found = ColumnGeneration(HighsSolver(), master, program, labels, program).run(gap=1e-9)
    return rng, facility, program, best, found.multipliers


def some_multipliers(rng, good):
    """Draw multipliers: near good ones, or anything of either sign."""
    if rng.random() < 0.7:
        near = good * (1.0 + 1e-3 * rng.normal(size=len(good)))
        return near + 1e-6 * np.abs(good).max() * rng.normal(size=len(good))
    return rng.normal(size=len(good)) * rng.choice([0.0, 0.1, 1.0, 10.0], len(good)) * np.abs(good).max()


@pytest.mark.parametrize("seed", range(25))
def test_any_multipliers_prove_a_bound_that_holds(seed):
    rng, _, program, best, good = some_program(seed)
    if program is None:
        return
    assert -program.price(good).bound * program.market.unit == pytest.approx(best, rel=1e-6, abs=1e-9)
    for _ in range(20):
        bound = -program.price(some_multipliers(rng, good)).bound * program.market.unit
        assert bound >= best * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_every_column_costs_what_its_pattern_says_and_none_of_its_node_costs_less(seed):
    rng, facility, program, _, good = some_program(seed)
    if program is None:
        return
    y = some_multipliers(rng, good)
    types, nodes = len(facility.task_types), len(facility.nodes)
    task_values, _, _, prices = program.prices(y)
    # As the oracle sees them: demand of the right sign, power at the nodes' prices, and nothing on the nodes' time.
    y[:types], y[types : types + nodes] = -task_values * program.market.flow, 0.0
    y[types + nodes : types + 2 * nodes] = prices
    priced = program.price(y)
    reduced = priced.columns.reduced_costs(y)
    for v, j in enumerate(facility.nodes):
        every = [
            prices[v] * watts(facility, q) / KILO - task_values @ rates(facility, q) for q in patterns(facility, j)
        ]
        own = [cost for cost, run in zip(reduced, priced.labels, strict=True) if run[0] == v]
        assert min([0.0, *own]) == pytest.approx(min(every), abs=1e-9)
    for (v, pattern), cost in zip(priced.labels, reduced, strict=True):
        assert pattern.node_type == facility.nodes[v]
        assert cost == pytest.approx(prices[v] * pattern.watts / KILO - task_values @ pattern.rates, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_engine_and_the_program_with_all_patterns_agree(seed):
    _, facility, program, best, _ = some_program(seed)
    if program is None:
        return
    market = program.market
    envelopes = [
        (v, kind.pattern(code))
        for v, j in enumerate(facility.nodes)
        for kind in [market.kinds[j]]
        for task_values in np.random.default_rng(seed).random((60, len(market.flow)))
        for code in kind.envelope(task_values, -1.0, 1.0).origins
    ]
    unique = list({(v, q.runs): (v, q) for v, q in envelopes}.values())
    whole = HighsSolver().master(program.master().with_columns(market.columns(unique)))
    program.rows = []
    while (rows := program.broken(solution := whole.solve())) is not None:
        whole.add_rows(rows)
    assert -solution.value * market.unit <= best * (1.0 + 1e-6) + 1e-9  # the engine missed no pattern


def test_nodes_that_are_alike_cost_the_same_as_one_with_copies():
    # Without redlines, and with all nodes of a type alike, the coarse program is the program.
    facility = paper_facility(nodes=3, cap=840.0)
    arrays, heat = facility_arrays(facility), heat_map(facility)
    program = FixedOutlets(NodeMarket(arrays), heat, np.array([24.0]))
    coarse = coarsened(program)
    assert coarse.market.copies.tolist() == [3.0]
    y, few = np.array([-0.4, 0, 0, 0, 0, 0, 0, -0.9]), np.array([-0.4, 0, 0, -0.9])
    assert coarse.price(few).bound == pytest.approx(program.price(y).bound, rel=1e-12)
