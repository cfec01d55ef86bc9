"""The costs of a bag over a horizon as arrays, for the programs and the recovery.

    e_ijk, a_ijk   seconds and watts of a task of type i in mode k of machine type j; n_i tasks, m_j machines
    c_jh           weighted cost of a joule at a machine of type j in slot h: tariff, fee, PUE and carbon folded in
    b_j            watts of an idle machine
    q_jh           cost of a second of a machine that runs nothing: c_jh b_j if it must stay on, else min(0, c_jh b_j)
    wear_j, tau_ij weighted cost of a busy second, and of moving a task to the machine's site
    f_j            weighted cost of switching a machine on; 0 where it must stay on
    P_sh           watts at the machines that the cap of site s leaves on average in slot h; infinite without one
    d_s            weighted cost of a watt of the highest slot average at the machines of site s: its demand charge

This is the one statement of these costs for programs, prices and searches, in doubles. The verifier and the certificate
state the model again, each on its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.arrays import arrays_of
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
    from lpsched.bag.model import Bag
    from lpsched.model.table import Floats, Integers, Mask

WATTS_PER_KW: Final = 1000.0


@dataclass(frozen=True, slots=True)
class HorizonArrays:
    """The numbers of a bag over a horizon; T task types, M machine types, C modes, S sites, H slots."""

    task_counts: Floats  # T
    machine_counts: Floats  # M
    machine_of: Integers  # C
    can_run: Mask  # T x C: pairs that fit into the horizon
    seconds: Floats  # T x C
    watts: Floats  # T x C
    idle_watts: Floats  # M
    wear: Floats  # M: for each busy second
    moving: Floats  # T x M
    earnings: Floats | None  # T: what a finished task earns, weighted; `None` where all tasks must run
    switch_on: Floats  # M
    may_be_off: Mask  # M
    edges: Floats  # H + 1
    lengths: Floats  # H
    site_of: Integers  # M
    joule_costs: Floats  # M x H
    caps: Floats  # S x H: watts at the machines; infinite without a cap
    peak_costs: Floats  # S: for each watt at the machines of the highest slot average
    joule_grams: Floats | None = None  # M x H: grams of CO2 of a joule at a machine; `None`: not known
    ready: Floats | None = None  # M: seconds before which machines begin nothing; `None`: all may begin at 0

    @property
    def idle_costs(self) -> Floats:
        """Return q, M x H."""
        return self.idle_costs_at(self.joule_costs)

    def idle_costs_at(self, joule_costs: Floats) -> Floats:
        """Return q at other costs of a joule, such as those with prices of power in them."""
        idle = self.idle_watts[:, np.newaxis] * joule_costs
        return np.where(self.may_be_off[:, np.newaxis], np.minimum(idle, 0.0), idle)

    @property
    def has_limits(self) -> bool:
        """Whether power is limited, or its peak is paid for."""
        return bool(np.isfinite(self.caps).any() or self.peak_costs.any())

    @property
    def floor_watts(self) -> Floats:
        """S: what machines that must stay on draw when idle."""
        drawn = np.where(self.may_be_off, 0.0, self.machine_counts * self.idle_watts)
        return np.bincount(self.site_of, weights=drawn, minlength=len(self.caps)).astype(float)

    def scaled(self, factor: float) -> HorizonArrays:
        """Return the same with all costs multiplied by a factor."""
        return replace(
            self,
            wear=self.wear * factor,
            moving=self.moving * factor,
            earnings=None if self.earnings is None else self.earnings * factor,
            switch_on=self.switch_on * factor,
            joule_costs=self.joule_costs * factor,
            peak_costs=self.peak_costs * factor,
        )

    def cut(self, parts: int, joule_costs: Floats) -> HorizonArrays:
        """Return the same with each slot cut into parts, at other costs of a joule, without limits of power."""
        steps = np.arange(parts) / parts
        edges = np.append((self.edges[:-1, np.newaxis] + self.lengths[:, np.newaxis] * steps).ravel(), self.edges[-1])
        return replace(
            self,
            edges=edges,
            lengths=np.diff(edges),
            joule_costs=np.repeat(joule_costs, parts, axis=1),
            caps=np.full((len(self.caps), len(edges) - 1), np.inf),
            peak_costs=np.zeros(len(self.peak_costs)),
            joule_grams=None,
        )

    @property
    def usual_cost(self) -> float:
        """What a task costs, roughly: solvers are given costs in which this is a usual number."""
        joules = np.where(self.can_run, self.seconds * self.watts, 0.0).mean()
        spent = (
            joules * np.abs(self.joule_costs).mean()
            + np.where(self.can_run, self.seconds, 0.0).mean() * self.wear.mean()
        )
        return float(spent + self.moving.mean()) or 1.0


def horizon_arrays(bag: Bag, slots: Slots, weights: Weights) -> HorizonArrays:
    """Return the arrays of a bag with watts; the cost of a joule is a weighted sum of money and carbon."""
    plain, horizon = arrays_of(bag), slots.horizon
    assert plain.watts is not None, "the parser asks for watts"
    site_of = np.array(slots.site_of, dtype=np.int64)
    machines = bag.machine_types
    per_site = np.array([_joule_costs(site, weights) for site in slots.sites])
    moving = np.array([site.moving_costs or (0.0,) * len(bag.task_types) for site in slots.sites])
    edges = np.array(slots.edges)
    may_be_off = np.array([each.may_be_off for each in machines])
    prices = bag.prices.per_task
    grams, has_grams = replace(weights, money=0.0, grams=1.0), all(site.carbon is not None for site in slots.sites)
    return HorizonArrays(
        task_counts=plain.task_counts,
        machine_counts=plain.machine_counts,
        machine_of=plain.machine_of,
        can_run=plain.can_run & (plain.seconds <= horizon),
        seconds=plain.seconds,
        watts=plain.watts,
        idle_watts=plain.idle_watts,
        wear=weights.money * np.array([each.wear_per_busy_hour for each in machines]) / SECONDS_PER_HOUR,
        moving=weights.money * moving[site_of].T,
        earnings=weights.money * np.array([prices.get(task.name, 0.0) for task in bag.task_types])
        if weights.optional
        else None,
        switch_on=weights.money * np.array([each.switch_on_cost if each.may_be_off else 0.0 for each in machines]),
        may_be_off=may_be_off,
        edges=edges,
        lengths=np.diff(edges),
        site_of=site_of,
        joule_costs=per_site[site_of],
        caps=np.array([_caps(site, slots.count) for site in slots.sites]),
        peak_costs=weights.money * np.array([site.demand_charge * site.pue / WATTS_PER_KW for site in slots.sites]),
        joule_grams=np.array([_joule_costs(site, grams) for site in slots.sites])[site_of] if has_grams else None,
    )


def _joule_costs(site: SiteSlots, weights: Weights) -> Floats:
    per_kwh = weights.money * (np.array(site.tariff) + site.fee)
    if weights.grams:
        assert site.carbon is not None, "the parser asks for carbon"
        per_kwh = per_kwh + weights.grams * np.array(site.carbon)
    return per_kwh * (site.pue / JOULES_PER_KWH)


def _caps(site: SiteSlots, count: int) -> Floats:
    return np.full(count, np.inf) if site.cap_watts is None else np.array(site.cap_watts) / site.cap_pue


@dataclass(frozen=True)
class Integral:
    """The integral from 0 of something that is constant within each slot."""

    edges: Floats
    rates: Floats  # ... x H

    @cached_property
    def sums(self) -> Floats:
        """The integral at each edge."""
        steps = self.rates * np.diff(self.edges)
        return np.concatenate((np.zeros((*steps.shape[:-1], 1)), np.cumsum(steps, axis=-1)), axis=-1)

    def at(self, times: Floats) -> Floats:
        """Return the integral up to each time, for each row of rates."""
        slot = np.clip(np.searchsorted(self.edges, times, side="right") - 1, 0, len(self.edges) - 2)
        within = times - self.edges[slot]
        return np.asarray(self.sums[..., slot] + self.rates[..., slot] * within)

    def over(self, times: Floats, seconds: float) -> Floats:
        """Return the integral over some seconds from each time on."""
        return self.at(times + seconds) - self.at(times)
