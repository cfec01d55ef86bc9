"""Flows of tasks: prices at which expected tasks, however many, are worth what time and energy there is.

Data       n_gs        tasks of kind g (task type i) expected in slot s; they need not be whole numbers
           u_gc        utility of one on column c (machine type j and P-state), started as it arrives
           e_ic, J_ic  its seconds and joules there
           R_js, E     machine seconds that are free in slot s, and joules that are left
Variables  x_gcs       tasks that run

    max   sum u_gc x_gcs
    s.t.  sum_c x_gcs          <= n_gs    for each kind g and slot s           (demand)
          sum e_ic x_gcs       <= R_js    for each machine type j and slot s   (capacity: price w_js)
          sum J_ic x_gcs       <= E                                            (energy: price lambda)
          x >= 0

Unlike in `arrivals.py` no task waits, and none is seen by itself: this is a forecast, and its optimum bounds
nothing real. Only the prices are wanted. They are where

    sum_gs n_gs max(0, max_c u_gc - lambda J_ic - w_js e_ic)  +  sum_js R_js w_js  +  lambda E

is least. With a soft maximum that is smooth, and `lp/projected_descent.py` goes downhill, the temperature
falling; fixed numbers of steps make the answer the same wherever it is found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import Watch
from lpsched.lp.projected_descent import descend

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask

TEMPERATURES: Final = (0.1, 0.03)  # of the mean utility
STEPS: Final = 60  # at each
SETTLED: Final = 1e-4
NEVER: Final = -1e300  # the value of a pair that cannot run


@dataclass(frozen=True, slots=True)
class Flows:
    """The data above: G kinds, S slots, C columns of M machine types."""

    expected: Floats  # G x S: n
    utilities: Floats  # G x C: u
    can_run: Mask  # G x C
    seconds: Floats  # G x C: e of the kind's task type
    joules: Floats  # G x C: J
    column_type: Integers  # C, never falling
    machine_seconds: Floats  # M x S: R
    energy_joules: float  # E, infinite if energy is free


def flow_prices(flows: Flows, start: tuple[Floats, float] | None = None) -> tuple[Floats, float]:
    """Return w (M x S) and lambda; `start`: prices to begin with.

    Ten tasks of 60 s, worth 6 each, and ten worth 3, for 600 machine seconds: the better half runs, so that
    a second is worth between 3 / 60 and 6 / 60.

    >>> once = np.full((2, 1), 60.0)
    >>> flows = Flows(np.full((2, 1), 10.0), np.array([[6.0], [3.0]]), once > 0, once, once,
    ...     np.array([0]), np.array([[600.0]]), math.inf)
    >>> per_second, per_joule = flow_prices(flows)
    >>> bool(3 / 60 < per_second[0, 0] < 6 / 60), per_joule
    (True, 0.0)
    """
    shape = flows.machine_seconds.shape
    nothing = np.zeros(shape), 0.0
    weights = flows.expected.sum(axis=1)
    best = np.where(flows.can_run, flows.utilities, 0.0).max(axis=1, initial=0.0)
    if not weights @ best > 0.0:
        return nothing
    utility = float(weights @ best) / float(weights.sum())
    scales = _scales(flows, weights, utility)
    has_energy = math.isfinite(flows.energy_joules)
    per_second, per_joule = start if start is not None else (np.full(shape, scales[0]), scales[1])
    point = np.append(per_second.ravel() / scales[0], per_joule / scales[1] if has_energy else 0.0)
    for temperature in TEMPERATURES:
        soft = _Softened(flows, scales, temperature * utility, float(weights.sum()) * utility)
        point = descend(soft.at, point, steps=STEPS, settled=SETTLED, watch=Watch())
    return point[:-1].reshape(shape) * scales[0], float(point[-1]) * scales[1]


def _scales(flows: Flows, weights: Floats, utility: float) -> tuple[float, float]:
    """Return what a second and a joule would cost if a task's whole utility went into either."""
    runs = np.maximum(flows.can_run.sum(axis=1), 1)
    seconds = float(weights @ (flows.seconds.sum(axis=1) / runs)) / float(weights.sum())
    joules = float(weights @ (flows.joules.sum(axis=1) / runs)) / float(weights.sum())
    return utility / seconds, utility / joules if joules > 0.0 else 1.0


@dataclass(frozen=True, slots=True)
class _Softened:
    """The smooth function of the scaled prices, and its slope."""

    flows: Flows
    scales: tuple[float, float]
    warmth: float
    unit: float  # that values are told in, so that they are about 1

    def at(self, point: Floats) -> tuple[float, Floats]:
        flows, (second, joule) = self.flows, self.scales
        supply, energy = flows.machine_seconds, flows.energy_joules
        per_second, per_joule = point[:-1].reshape(supply.shape) * second, float(point[-1]) * joule
        has_energy = math.isfinite(energy)
        net = np.where(flows.can_run, flows.utilities - per_joule * flows.joules, NEVER)
        value = float((supply * per_second).sum()) + (per_joule * energy if has_energy else 0.0)
        time, taken = supply.copy(), energy if has_energy else 0.0
        first = np.searchsorted(flows.column_type, np.arange(len(supply)))
        for s in range(supply.shape[1]):
            earned, runs = self._slot(net - per_second[flows.column_type, s] * flows.seconds, s)
            value += earned
            time[:, s] -= np.add.reduceat((runs * flows.seconds).sum(axis=0), first)
            taken -= float((runs * flows.joules).sum()) if has_energy else 0.0
        slope = np.append((time * second).ravel(), taken * joule)
        return value / self.unit, slope / self.unit

    def _slot(self, net: Floats, s: int) -> tuple[float, Floats]:
        """Return the soft sum of what the kinds earn in a slot, and how many tasks run where."""
        number, most = self.flows.expected[:, s], np.maximum(net.max(axis=1), 0.0)
        chances = np.exp(np.maximum((net - most[:, np.newaxis]) / self.warmth, -700.0))
        chances[~self.flows.can_run] = 0.0
        total = chances.sum(axis=1) + np.exp(-most / self.warmth)
        earned = float(number @ (most + self.warmth * np.log(total)))
        return earned, chances * (number / total)[:, np.newaxis]
