"""Prices of expected flows: by hand, and against the linear program written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from lpsched.online.bound.no_waiting import Flows, flow_prices


def flows(expected, utilities, seconds, joules, machine_seconds, energy=math.inf, column_type=None):  # noqa: PLR0917
    seconds = np.array(seconds, dtype=float)
    return Flows(
        np.array(expected, dtype=float),
        np.array(utilities, dtype=float),
        seconds > 0,
        seconds,
        np.array(joules, dtype=float),
        np.arange(seconds.shape[1]) if column_type is None else np.array(column_type),
        np.array(machine_seconds, dtype=float),
        energy,
    )


def proved(data, per_second, per_joule):
    """Return what prices prove, with a hard maximum."""
    value = float((data.machine_seconds * per_second).sum())
    value += per_joule * data.energy_joules if math.isfinite(data.energy_joules) else 0.0
    for s in range(data.expected.shape[1]):
        net = data.utilities - per_joule * data.joules - per_second[data.column_type, s] * data.seconds
        value += float(data.expected[:, s] @ np.where(data.can_run, net, 0.0).max(axis=1).clip(0.0))
    return value


def optimum(data):
    """Return the optimum of the program in the module's docstring."""
    kinds, slots = data.expected.shape
    pairs = [(g, c, s) for g in range(kinds) for c in range(data.seconds.shape[1]) for s in range(slots)
             if data.can_run[g, c]]  # fmt: skip
    rows, limits = [], []
    for g in range(kinds):
        for s in range(slots):
            rows.append([1.0 if (g, s) == (h, t) else 0.0 for h, _, t in pairs])
            limits.append(data.expected[g, s])
    for j in range(len(data.machine_seconds)):
        for s in range(slots):
            rows.append([data.seconds[h, c] * ((data.column_type[c], t) == (j, s)) for h, c, t in pairs])
            limits.append(data.machine_seconds[j, s])
    if math.isfinite(data.energy_joules):
        rows.append([data.joules[h, c] for h, c, _ in pairs])
        limits.append(data.energy_joules)
    return -linprog([-data.utilities[h, c] for h, c, _ in pairs], rows, limits).fun


def test_scarce_energy_has_a_price_between_what_runs_and_what_does_not():
    # 10 tasks of 20 J worth 6 and 10 worth 3, 200 J: a joule is worth 0.15 to 0.3; machine time is plenty.
    data = flows([[10], [10]], [[6], [3]], [[1], [1]], [[20], [20]], [[1e6]], 200.0)
    per_second, per_joule = flow_prices(data)
    assert 0.15 < per_joule < 0.3
    assert per_second[0, 0] * 1.0 < 0.01 * 6


def test_a_busy_hour_costs_more_than_a_quiet_one():
    # Slot 0 has 20 tasks for room for 10, slot 1 has 5 for room for 10.
    data = flows([[10, 2], [10, 3]], [[6], [3]], [[60], [60]], [[0], [0]], [[600, 600]])
    per_second, per_joule = flow_prices(data)
    assert per_second[0, 0] > 0.04 > per_second[0, 1]
    assert per_joule == 0.0


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(flows([[0.0]], [[6]], [[60]], [[1]], [[600]]), id="nothing is expected"),
        pytest.param(flows([[5.0]], [[0]], [[60]], [[1]], [[600]], 10.0), id="nothing is worth anything"),
        pytest.param(flows(np.zeros((0, 1)), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)), [[1], [1]]),
                     id="no kinds"),
    ],
)  # fmt: skip
def test_what_nobody_wants_is_free(data):
    per_second, per_joule = flow_prices(data)
    assert not per_second.any()
    assert per_joule == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_the_prices_nearly_prove_the_optimum_of_the_program(seed):
    rng = np.random.default_rng(seed)
    kinds, columns, slots = 12, 4, int(rng.integers(1, 3))
    seconds = rng.uniform(50, 100, (kinds, columns)) * (rng.random((kinds, columns)) < 0.8)
    data = flows(
        rng.integers(0, 10, (kinds, slots)),
        rng.choice([1, 2, 4, 8], (kinds, 1)) * rng.uniform(0.5, 1, (kinds, columns)),
        seconds,
        seconds * rng.uniform(1, 3, (kinds, columns)),
        rng.uniform(200, 2000, (2, slots)),
        math.inf if seed % 2 else 4000.0,
        column_type=[0, 0, 1, 1],
    )
    best = optimum(data)
    assert best <= proved(data, *flow_prices(data)) * (1 + 1e-9)
    assert proved(data, *flow_prices(data)) <= 1.03 * best


def test_prices_to_begin_with_lead_to_the_same_place():
    data = flows([[10], [10]], [[6], [3]], [[60], [60]], [[20], [20]], [[900]], 300.0)
    cold, warm = flow_prices(data), flow_prices(data, (np.array([[0.05]]), 0.1))
    assert proved(data, *warm) == pytest.approx(proved(data, *cold), rel=0.02)
