"""Proofs that no plan over a horizon does better: prices, and sums without a solver. Here claims are checked.

    i, j, k, h, s(j)   task type, machine type, P-state, slot, site of j       L_h, T_H   length of a slot, the horizon
    e_ijk, a_ijk, b_j  seconds and watts of a task, watts when idle            n_i, m_j   how many tasks and machines
    c_jh               (w_money (tariff + fee) + w_grams carbon) PUE / 3.6e6 of the site: a joule at a machine
    wear_j, f_j, tau   w_money times the wear of a busy second, a switch-on, and moving a task to the site of j
    P_sh               the power cap, divided by cap_pue: watts at the machines, on average over the slot

The proof is any task values v_i, cap prices mu_sh >= 0 and peak prices nu_sh >= 0 per joule at the machines, and, for
the second bound, machine prices pi_jh >= 0 per second. Take any plan, and write E_sh for its joules at site s in slot
h.

*Caps*: E_sh <= P_sh L_h, so cost >= cost + sum mu_sh (E_sh - P_sh L_h). *Peaks*: the demand charge is D_s times the
highest E_sh / L_h, with D_s = w_money demand_charge PUE / 1000 per watt. Powers are not negative, so if sum_h nu_sh L_h
<= D_s it is at least sum_h nu_sh L_h (E_sh / L_h) = sum_h nu_sh E_sh. So each joule may be charged at C_jh = c_jh +
mu_sh + nu_sh, those of idle machines that must stay on included, and what remains is, for each machine by itself, C
times its power, wear, moving and switching on; less sum mu_sh P_sh L_h in all.

**Work bound.** Give each finished task v_i, spread evenly over its seconds. A machine then earns, per second in slot h,

    (v_i - tau_ij) / e_ijk - a_ijk C_jh - wear_j    while it runs (i, k);  no pair with e_ijk > T_H can run
    -b_j C_jh                                       while it is on and idle
    0                                               while it is off, if it may be

and -f_j for each switch-on. Let V_j be the most that one machine can earn. Without a switch-on cost it takes the best
of these in each slot. With one, it chooses spans in which it is on, and the best of the first two in each slot of them.
Slot edges suffice for these spans: the rate is constant within a slot, so what is earned is linear in the position of
an edge of a span within a slot, and moving it one way or the other loses nothing, until it meets a slot edge or another
edge, where two spans become one or a span vanishes, which saves f_j. So a dynamic program with the states off and on
finds V_j. All machines together earn at most sum m_j V_j, and the tasks were given sum n_i v_i, as all of them run:

    cost  >=  sum_i n_i v_i  -  sum_j m_j V_j  -  sum_sh mu_sh P_sh L_h

Where tasks are optional, N_i <= n_i of them run and each earns w_money price_i: the first sum becomes sum_i n_i min(0,
v_i - w_money price_i). Within a machine type the rate is the highest of some lines in C_jh: their upper envelope is
made once, and slots are looked up in the order of their prices.

**Runs bound.** A task runs in one piece. A machine that is not running costs at least q_jh a second: b_j C_jh if it
must stay on, min(0, b_j C_jh) if it may be off. Machines of type j run for at most m_j L_h seconds in a slot, so

    cost  >=  sum_i n_i w_i  +  sum_j m_j sum_h L_h (q_jh - pi_jh)  -  sum_sh mu_sh P_sh L_h
    w_i   =   min over j, k and 0 <= t <= T_H - e of  tau_ij + integral over [t, t + e] of a C_j + wear_j - q_j + pi_j

and n_i min(0, w_i - w_money price_i) for optional tasks. The integrand is constant in each slot, so the integral is
piecewise linear in t, with breakpoints where t or t + e is a slot edge: those are tried. Switch-on costs are left out.
All of this holds for parts of slots as well: where there are several machine prices for each slot, it is cut into as
many parts, with its own cap and peak prices in each. Caps hold for a whole slot, and their prices are the same in it.
If no machine prices are given, pi_jh = max(0, (highest rate of running, as above) + q_jh): the ones that v_i imply.

What is claimed is the better of both. The bounds hold for all multipliers, wherever they come from. Numbers are kept as
whole multiples of 2^-256 or finer; c, tau, wear and f are rounded down at the last of these places, what tasks earn and
caps allow is rounded up, so that each bound is rounded down. Sums of doubles and their products are exact.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.bag.horizon.slots import Weights
from lpsched.errors import quote, quoted_hash
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import PLACES, Verdict, rounded_down, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lpsched.bag.horizon.slots import SiteSlots, Slots
    from lpsched.bag.model import Bag

Number: TypeAlias = float | Fraction
Rows: TypeAlias = tuple[tuple[Number, ...], ...]
Line: TypeAlias = tuple[int, int]  # slope and intercept
FORMAT: Final = "lpsched-horizon-certificate/1"
OBJECTIVES: Final = ("cost", "carbon", "profit")
JOULES_PER_KWH: Final = 3_600_000
WATTS_PER_KW: Final = 1000
SECONDS_PER_HOUR: Final = 3600
GRAMS_PER_KG: Final = 1000
MOST_RUNS: Final = 2_000_000  # pairs x slots up to which the runs bound is worked out; some five seconds
MOST_PARTS: Final = 64  # of a slot
SHADE: Final = 1e-12  # relative: by how much peak prices that use up the demand charge are lowered
NO_PRICES: Final[FrozenDict[str, tuple[Fraction, ...]]] = FrozenDict({})


@dataclass(frozen=True, slots=True)
class HorizonMultipliers:
    """The prices of a proof: of tasks, of seconds of machines, of joules under caps and at peaks.

    Cap and peak prices have one entry for each site, empty where it has no such price; `()` if no site has one.
    """

    task_values: tuple[Number, ...]
    machine_prices: Rows | None = None  # of each machine type and slot or part; `None`: those that task values imply
    cap_prices: Rows = ()  # of each site and slot
    peak_prices: Rows = ()


def prove_work(bag: Bag, slots: Slots, weights: Weights, multipliers: HorizonMultipliers) -> Fraction:
    """Return what the value of each plan is at least, by the work bound."""
    return _Prover(bag, slots, _of_tasks(multipliers), weights).work()


def prove_runs(bag: Bag, slots: Slots, weights: Weights, multipliers: HorizonMultipliers) -> Fraction | None:
    """Return what the value of each plan is at least, by the runs bound.

    `None` if some task type does not fit into the horizon on any machine type: then there is no plan at all.
    """
    return _Prover(bag, *_in_parts(slots, multipliers), weights).runs()


def prove(bag: Bag, slots: Slots, weights: Weights, multipliers: HorizonMultipliers) -> Fraction:
    """Return the better of both bounds; of more than MOST_RUNS pairs x slots only the work bound."""
    proved = prove_work(bag, slots, weights, multipliers)
    if len(bag.task_types) * len(bag.modes) * slots.count * _parts(slots, multipliers) > MOST_RUNS:
        return proved
    by_runs = prove_runs(bag, slots, weights, multipliers)
    return proved if by_runs is None else max(proved, by_runs)


def _of_tasks(multipliers: HorizonMultipliers) -> HorizonMultipliers:
    """Return multipliers without machine prices: the work bound does not need them."""
    return replace(multipliers, machine_prices=None)


def _parts(slots: Slots, multipliers: HorizonMultipliers) -> int:
    """Return how many machine prices there are for each slot."""
    rows = multipliers.machine_prices
    return len(rows[0]) // slots.count if rows else 1


def _in_parts(slots: Slots, multipliers: HorizonMultipliers) -> tuple[Slots, HorizonMultipliers]:
    """Return slots and multipliers with one machine price for each part of a slot."""
    parts = _parts(slots, multipliers)
    if parts == 1:
        return slots, multipliers
    caps, peaks = (
        tuple(tuple(each for each in row for _ in range(parts)) for row in rows)
        for rows in (multipliers.cap_prices, multipliers.peak_prices)
    )
    return slots.cut(parts), replace(multipliers, cap_prices=caps, peak_prices=peaks)


class _Prover:
    """Evaluates the formulas above; numbers of money are in units of 2^-PLACES, or of 2^-scale where they say so."""

    def __init__(self, bag: Bag, slots: Slots, multipliers: HorizonMultipliers, weights: Weights) -> None:
        assert bag.watts is not None, "only bags with watts"
        wrong = _wrong_multipliers(bag, slots, weights, multipliers)
        assert not wrong, wrong[0]
        self.bag, self.slots, self.weights, self.watts = bag, slots, weights, bag.watts
        self.money = Fraction(weights.money)
        cells = [cell for row in bag.seconds for cell in row if cell is not None]
        self.time_places = _binary_places([*slots.edges, *cells])
        powers = [cell for row in bag.watts for cell in row if cell is not None]
        self.watt_places = _binary_places([*powers, *(machine.idle_watts for machine in bag.machine_types)])
        self.scale = PLACES + self.watt_places + self.time_places
        self.edges = [_shifted(edge, self.time_places) for edge in slots.edges]
        self.lengths = [end - start for start, end in pairwise(self.edges)]
        self.idle = [_shifted(machine.idle_watts, self.watt_places) for machine in bag.machine_types]
        self.wear = [
            _floor(self.money * Fraction(machine.wear_per_busy_hour) / SECONDS_PER_HOUR)
            for machine in bag.machine_types
        ]
        self.values = [_floor(Fraction(value)) for value in multipliers.task_values]
        self.machine_prices = multipliers.machine_prices
        caps = [_floors(row) for row in multipliers.cap_prices or ((),) * len(slots.sites)]
        peaks = [_floors(row) for row in multipliers.peak_prices or ((),) * len(slots.sites)]
        self.prices = [  # C of each site and slot
            _joule_prices(site, weights, cap, peak) for site, cap, peak in zip(slots.sites, caps, peaks, strict=True)
        ]
        self.caps_cost = sum(map(self._allowed, slots.sites, caps)) << self.watt_places  # in units of 2^-scale

    def _allowed(self, site: SiteSlots, cap: list[int]) -> int:
        """Return the sum of mu P L of a site, rounded up, in units of 2^-(PLACES + times)."""
        if not cap or site.cap_watts is None:
            return 0
        terms = zip(cap, site.cap_watts, self.lengths, strict=True)
        paid = sum((price * length * Fraction(watts) for price, watts, length in terms), Fraction(0))
        return math.ceil(paid / Fraction(site.cap_pue))

    def work(self) -> Fraction:
        """Return the work bound."""
        total, shift = 0, self.watt_places + self.time_places
        for i, (task, value) in enumerate(zip(self.bag.task_types, self.values, strict=True)):
            total += task.count * (min(0, value - self._price(i)) if self.weights.optional else value) << shift
        total -= sum(machine.count * self._earned(j) for j, machine in enumerate(self.bag.machine_types))
        return Fraction(total - self.caps_cost, 1 << self.scale)

    def runs(self) -> Fraction | None:
        """Return the runs bound."""
        slots, shift = self.slots, self.watt_places + self.time_places
        cheapest: list[int | None] = [None] * len(self.bag.task_types)
        standing = 0
        drawn = [_prefix_sums(prices, self.lengths) for prices in self.prices]
        for j, machine in enumerate(self.bag.machine_types):
            site = slots.site_of[j]
            of_idling = self._idle_costs(j)
            net = [paid - q for paid, q in zip(self._machine_prices(j, of_idling), of_idling, strict=True)]
            standing -= machine.count * sum(each * length for each, length in zip(net, self.lengths, strict=True))
            timeline = _Timeline(self.edges, self.prices[site], drawn[site], net, _prefix_sums(net, self.lengths))
            for i, e, a in self._pairs(j):
                fixed = (self._moving(i, site) << shift) + ((self.wear[j] * e) << self.watt_places)
                cost = fixed + timeline.cheapest(e, a)
                known = cheapest[i]
                cheapest[i] = cost if known is None or cost < known else known
        total = standing - self.caps_cost
        for i, (task, least) in enumerate(zip(self.bag.task_types, cheapest, strict=True)):
            if self.weights.optional:
                total += 0 if least is None else task.count * min(0, least - (self._price(i) << shift))
            elif least is None:
                return None
            else:
                total += task.count * least
        return Fraction(total, 1 << self.scale)

    def _price(self, i: int) -> int:
        """Return what a finished task earns, rounded up."""
        return -_floor(-self.money * Fraction(self.bag.prices.per_task.get(self.bag.task_types[i].name, 0.0)))

    def _moving(self, i: int, site: int) -> int:
        """Return tau, rounded down."""
        costs = self.slots.sites[site].moving_costs
        return _floor(self.money * Fraction(costs[i])) if costs else 0

    def _pairs(self, j: int) -> Iterable[tuple[int, int, int]]:
        """Yield task type, seconds and watts of all pairs of a machine type that fit into the horizon."""
        for column in (column for column, (of, _) in enumerate(self.bag.modes) if of == j):
            for i in range(len(self.bag.task_types)):
                seconds, watts = self.bag.seconds[i, column], self.watts[i, column]
                if seconds is not None and watts is not None:
                    e = _shifted(seconds, self.time_places)
                    if e <= self.edges[-1]:
                        yield i, e, _shifted(watts, self.watt_places)

    def _running_lines(self, j: int) -> list[Line]:
        """Return what a second of each pair of a machine type earns: lines in -C, in units of 2^-(PLACES + watts)."""
        site, shift = self.slots.site_of[j], self.time_places + self.watt_places
        worn = self.wear[j] << self.watt_places
        return [(a, -(((self._moving(i, site) - self.values[i]) << shift) // e) - worn) for i, e, a in self._pairs(j)]

    def _earned(self, j: int) -> int:
        """Return V_j, in units of 2^-scale."""
        machine, prices = self.bag.machine_types[j], self.prices[self.slots.site_of[j]]
        switch = _floor(self.money * Fraction(machine.switch_on_cost)) << (self.watt_places + self.time_places)
        lines = [*self._running_lines(j), (self.idle[j], 0)]
        if not machine.may_be_off or switch == 0:
            if machine.may_be_off:
                lines.append((0, 0))
            return sum(rate * length for rate, length in zip(_highest(lines, prices), self.lengths, strict=True))
        off, on = 0, -switch
        for rate, length in zip(_highest(lines, prices), self.lengths, strict=True):
            off, on = max(off, on), max(on, off - switch) + rate * length
        return max(off, on)

    def _idle_costs(self, j: int) -> list[int]:
        """Return q in each slot, in units of 2^-(PLACES + watts)."""
        b, may_be_off = self.idle[j], self.bag.machine_types[j].may_be_off
        return [min(0, b * price) if may_be_off else b * price for price in self.prices[self.slots.site_of[j]]]

    def _machine_prices(self, j: int, of_idling: list[int]) -> list[int]:
        """Return pi in each slot, as given or as the task values imply it, in units of 2^-(PLACES + watts)."""
        if self.machine_prices is not None:
            return [each << self.watt_places for each in _floors(self.machine_prices[j])]
        lines = self._running_lines(j)
        if not lines:
            return [0] * len(of_idling)
        rates = _highest(lines, self.prices[self.slots.site_of[j]])
        return [max(0, rate + q) for rate, q in zip(rates, of_idling, strict=True)]


@dataclass(frozen=True, slots=True)
class _Timeline:
    """What running costs at a machine type over time: the integral of a C + (pi - q), by prefix sums."""

    edges: list[int]
    prices: list[int]  # C
    drawn: list[int]  # its integral up to each edge
    net: list[int]  # pi - q
    netted: list[int]

    def cheapest(self, e: int, a: int) -> int:
        """Return the least of the integral over [t, t + e] of all t with a slot edge at t or at t + e."""
        edges, end = self.edges, self.edges[-1]
        paid = [a * x + y for x, y in zip(self.drawn, self.netted, strict=True)]
        rates = [a * x + y for x, y in zip(self.prices, self.net, strict=True)]
        rates.append(0)  # after the end
        found = []
        for h, edge in enumerate(edges):
            if edge + e <= end:
                g = bisect_right(edges, edge + e) - 1
                found.append(paid[g] + rates[g] * (edge + e - edges[g]) - paid[h])
            if edge >= e:
                g = bisect_right(edges, edge - e) - 1
                found.append(paid[h] - paid[g] - rates[g] * (edge - e - edges[g]))
        return min(found)


def _joule_prices(site: SiteSlots, weights: Weights, cap: list[int], peak: list[int]) -> list[int]:
    """Return C in each slot, rounded down."""
    money, grams, meter = Fraction(weights.money), Fraction(weights.grams), Fraction(site.pue) / JOULES_PER_KWH
    money, grams = money * meter, grams * meter
    prices = [_floor(money * (Fraction(each) + Fraction(site.fee))) if money else 0 for each in site.tariff]
    if grams:
        assert site.carbon is not None, "grams need a carbon intensity at each site"
        prices = [price + _floor(grams * Fraction(each)) for price, each in zip(prices, site.carbon, strict=True)]
    for more in (cap, peak):
        if more:
            prices = [price + each for price, each in zip(prices, more, strict=True)]
    return prices


def _highest(lines: Iterable[Line], prices: Sequence[int]) -> list[int]:
    """Return the highest of intercept - slope * C for each price C, by the upper envelope of the lines."""
    hull: list[Line] = []
    steepest: dict[int, int] = {}
    for slope, intercept in lines:
        steepest[slope] = max(intercept, steepest.get(slope, intercept))
    for slope, intercept in sorted(steepest.items()):
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], (slope, intercept)):
            hull.pop()
        hull.append((slope, intercept))
    rates = [0] * len(prices)
    at = 0
    for h in sorted(range(len(prices)), key=prices.__getitem__, reverse=True):  # by rising -C: to steeper lines
        price = prices[h]
        rate = hull[at][1] - hull[at][0] * price
        while at + 1 < len(hull):
            following = hull[at + 1][1] - hull[at + 1][0] * price
            if following < rate:
                break
            at, rate = at + 1, following
        rates[h] = rate
    return rates


def _is_below(left: Line, middle: Line, right: Line) -> bool:
    """Return whether the line between two others, by slope, is nowhere above both."""
    return (middle[1] - left[1]) * (right[0] - left[0]) <= (right[1] - left[1]) * (middle[0] - left[0])


def _prefix_sums(rates: Sequence[int], lengths: Sequence[int]) -> list[int]:
    return list(accumulate((rate * length for rate, length in zip(rates, lengths, strict=True)), initial=0))


def _binary_places(numbers: Iterable[float]) -> int:
    """Return a z such that each number is a whole number of 2^-z."""
    return max((number.as_integer_ratio()[1].bit_length() - 1 for number in numbers), default=0)


def _shifted(number: float, places: int) -> int:
    numerator, denominator = number.as_integer_ratio()
    return (numerator << places) // denominator


def _floor(exact: Fraction) -> int:
    """Return a number in units of 2^-PLACES, rounded down."""
    return (exact.numerator << PLACES) // exact.denominator


def _floors(numbers: Iterable[Number]) -> list[int]:
    """Return numbers in units of 2^-PLACES, rounded down."""
    found = []
    for number in numbers:
        numerator, denominator = number.as_integer_ratio()
        found.append((numerator << PLACES) // denominator)
    return found


# What multipliers must be to prove anything.
def _wrong_multipliers(bag: Bag, slots: Slots, weights: Weights, given: HorizonMultipliers) -> list[str]:
    """Return what is wrong with multipliers, in sentences."""
    found, count = [], slots.count
    if len(given.task_values) != len(bag.task_types):
        found.append(f"it has {len(given.task_values)} task values, but there are {len(bag.task_types)} task types")
    if given.machine_prices is not None:
        names = [f"machine type {machine.name!r}" for machine in bag.machine_types]
        several = {len(row) // count for row in given.machine_prices if row and len(row) % count == 0}
        parts = several.pop() if len(several) == 1 else 1
        if parts > MOST_PARTS:
            found.append(f"it has {parts} machine prices for each slot, but at most {MOST_PARTS} are allowed")
        found += _wrong_rows("machine prices", given.machine_prices, names, parts * count, may_be_empty=False)
    sites = [f"site {site.name!r}" for site in slots.sites]
    for word, rows in (("cap prices", given.cap_prices), ("peak prices", given.peak_prices)):
        if rows:
            found += _wrong_rows(word, rows, sites, count, may_be_empty=True)
    if found:
        return found
    found += [
        f"it has cap prices of {where}, which has no power cap"
        for where, site, row in zip(sites, slots.sites, given.cap_prices, strict=False)
        if site.cap_watts is None and any(row)
    ]
    lengths = [Fraction(end) - Fraction(start) for start, end in pairwise(slots.edges)]
    for where, site, row in zip(sites, slots.sites, given.peak_prices, strict=False):
        charged = sum((Fraction(each) * length for each, length in zip(row, lengths, strict=False)), Fraction(0))
        allowed = _charge(site, weights)
        if charged > allowed:
            sums = f"add up to {rounded_up(charged)!r} per watt, but the demand charge is {float(allowed)!r}"
            found.append(f"its peak prices of {where} {sums}")
    return found


def _wrong_rows(word: str, rows: Rows, names: Sequence[str], count: int, *, may_be_empty: bool) -> list[str]:
    if len(rows) != len(names):
        return [f"it has {len(rows)} rows of {word}, not {len(names)}"]
    found = []
    for name, row in zip(names, rows, strict=True):
        if len(row) != count and (row or not may_be_empty):
            found.append(f"it has {len(row)} {word} of {name}, but there are {count} slots or parts of slots")
        elif any(each < 0 for each in row):
            found.append(f"one of its {word} of {name} is negative")
    return found


def _charge(site: SiteSlots, weights: Weights) -> Fraction:
    """Return what a watt of the highest average power at the machines of a site costs."""
    return Fraction(weights.money) * Fraction(site.demand_charge) * Fraction(site.pue) / WATTS_PER_KW


def fitted(bag: Bag, slots: Slots, weights: Weights, multipliers: HorizonMultipliers) -> HorizonMultipliers:
    """Return multipliers as a solver finds them, made valid.

    Negative prices become 0, prices of caps and charges that a site does not have go, and peak prices that exceed
    the demand charge by rounding are lowered.
    """
    caps: list[tuple[float, ...]] = []
    peaks: list[tuple[float, ...]] = []
    lengths = [end - start for start, end in pairwise(slots.edges)]
    for s, site in enumerate(slots.sites):
        cap = multipliers.cap_prices[s] if multipliers.cap_prices and site.cap_watts is not None else ()
        caps.append(_not_negative(cap))
        charge = float(_charge(site, weights))
        peak = _not_negative(multipliers.peak_prices[s]) if multipliers.peak_prices and charge > 0 else ()
        charged = math.fsum(each * length for each, length in zip(peak, lengths, strict=False))
        if charged > charge * (1 - SHADE):
            peak = tuple(each * (charge / charged * (1 - SHADE)) for each in peak)
        peaks.append(peak)
    machines = multipliers.machine_prices
    rows = None if machines is None else tuple(_not_negative(row) for row in machines)
    made = HorizonMultipliers(tuple(float(each) for each in multipliers.task_values), rows, tuple(caps), tuple(peaks))
    assert not _wrong_multipliers(bag, slots, weights, made), "multipliers that prove something"
    return made


def _not_negative(row: Iterable[Number]) -> tuple[float, ...]:
    return tuple(max(0.0, float(each)) for each in row)


# Certificates: a claim about a bag over a horizon, and the multipliers that prove it.
@dataclass(frozen=True, slots=True)
class HorizonCertificate:
    """What is claimed, for which horizon, and by which multipliers; they go by the names of types and sites.

    `cost`: money plus `carbon_price_per_kg` times the CO2, at least. `carbon`: grams, at least. `profit`: what finished
    tasks earn less that cost, at most; tasks are optional.
    """

    instance_name: str
    instance_hash: str
    objective: str
    unit: str
    bound: Fraction
    horizon_seconds: float
    task_values: FrozenDict[str, Fraction]
    start: int | None = None
    carbon_price_per_kg: Fraction = Fraction(0)
    machine_prices: FrozenDict[str, tuple[Fraction, ...]] | None = None
    cap_prices: FrozenDict[str, tuple[Fraction, ...]] = NO_PRICES
    peak_prices: FrozenDict[str, tuple[Fraction, ...]] = NO_PRICES

    def __repr__(self) -> str:
        """Return the claim."""
        return f"<HorizonCertificate of {self.instance_name!r}: {self.objective} {float(self.bound)} {self.unit}>"


def weights_of(objective: str, carbon_price_per_kg: Number = 0.0) -> Weights:
    """Return what an objective minimises; a gram counts as the double of the price per kilogram / 1000."""
    if objective == "carbon":
        return Weights(money=0.0, grams=1.0)
    return Weights(1.0, float(carbon_price_per_kg) / GRAMS_PER_KG, optional=objective == "profit")


def unit_of(bag: Bag, objective: str) -> str:
    """Return the unit of a bound of this objective."""
    return "g" if objective == "carbon" else bag.prices.currency


def certificate_of(
    bag: Bag, slots: Slots, objective: str, multipliers: HorizonMultipliers, *, carbon_price_per_kg: Number = 0.0
) -> HorizonCertificate:
    """Return the claim that these multipliers prove, its bound rounded to a double on the safe side."""
    proved = prove(bag, slots, weights_of(objective, carbon_price_per_kg), multipliers)
    is_profit = objective == "profit"
    machines, sites = [machine.name for machine in bag.machine_types], [site.name for site in slots.sites]
    rows = multipliers.machine_prices
    values = (Fraction(each) for each in multipliers.task_values)
    return HorizonCertificate(
        instance_name=bag.name,
        instance_hash=bag.content_hash,
        objective=objective,
        unit=unit_of(bag, objective),
        bound=Fraction(rounded_up(-proved) if is_profit else rounded_down(proved)),
        horizon_seconds=slots.horizon,
        task_values=FrozenDict(zip([task.name for task in bag.task_types], values, strict=True)),
        start=slots.start,
        carbon_price_per_kg=Fraction(0 if objective == "carbon" else carbon_price_per_kg),
        machine_prices=None if rows is None else _named(machines, rows),
        cap_prices=_named(sites, multipliers.cap_prices),
        peak_prices=_named(sites, multipliers.peak_prices),
    )


def _named(names: Sequence[str], rows: Rows) -> FrozenDict[str, tuple[Fraction, ...]]:
    """Return rows by name, those with entries."""
    pairs = zip(names, rows, strict=False)
    return FrozenDict({name: tuple(Fraction(each) for each in row) for name, row in pairs if row})


def check_horizon(bag: Bag, slots: Slots, certificate: HorizonCertificate) -> Verdict:
    """Derive the bound again, from the bag, the slots and the multipliers alone."""
    reasons = _objections(bag, slots, certificate)
    if reasons:
        return Verdict(certificate.bound, None, tuple(reasons))
    weights = weights_of(certificate.objective, certificate.carbon_price_per_kg)
    multipliers = _multipliers(bag, slots, certificate)
    reasons = _wrong_multipliers(bag, slots, weights, multipliers)
    if reasons:
        return Verdict(certificate.bound, None, tuple(reasons))
    proved, is_profit = prove(bag, slots, weights, multipliers), certificate.objective == "profit"
    proved = -proved if is_profit else proved
    tighter = certificate.bound < proved if is_profit else certificate.bound > proved
    return Verdict(certificate.bound, proved, ("it claims more than its prices prove",) if tighter else ())


def _objections(bag: Bag, slots: Slots, certificate: HorizonCertificate) -> list[str]:  # noqa: C901 - one rule after the other
    """Return what is wrong with a certificate before any number is worked out."""
    found = []
    if certificate.instance_hash != bag.content_hash:
        found.append(
            f"it is about another bag: its hash is {quoted_hash(certificate.instance_hash)}, not {bag.content_hash}"
        )
    if certificate.objective not in OBJECTIVES:
        found.append(f"its objective is {quote(certificate.objective)}, not one of {', '.join(OBJECTIVES)}")
    elif certificate.unit != unit_of(bag, certificate.objective):
        found.append(f"its unit is {quote(certificate.unit)}, not {unit_of(bag, certificate.objective)!r}")
    elif certificate.objective == "profit" and not bag.prices.per_task:
        found.append("it is about profit, but the bag has no prices per task")
    if certificate.horizon_seconds != slots.horizon:
        found.append(f"its horizon is {certificate.horizon_seconds!r} s, not {slots.horizon!r} s")
    if certificate.start != slots.start:
        found.append(f"its horizon starts at {certificate.start}, not at {slots.start}, in seconds since 1970")
    if certificate.carbon_price_per_kg < 0:
        found.append("its price of carbon is negative")
    if bag.watts is None:
        found.append("it counts energy, but the bag has no watts")
    if certificate.objective == "carbon" or certificate.carbon_price_per_kg:
        found += [
            f"it counts grams of CO2, but site {site.name!r} has no carbon intensity"
            for site in slots.sites
            if site.carbon is None
        ]
    tasks, machines = [task.name for task in bag.task_types], [machine.name for machine in bag.machine_types]
    sites = [site.name for site in slots.sites]
    found += _wrong_names("task type", "value", certificate.task_values, tasks, needs_all=True)
    if certificate.machine_prices is not None:
        found += _wrong_names("machine type", "price", certificate.machine_prices, machines, needs_all=True)
    found += _wrong_names("site", "cap price", certificate.cap_prices, sites)
    found += _wrong_names("site", "peak price", certificate.peak_prices, sites)
    return found


def _wrong_names(
    kind: str, word: str, given: Mapping[str, object], known: Sequence[str], *, needs_all: bool = False
) -> list[str]:
    lacking = sorted(set(known) - set(given)) if needs_all else []
    found = [f"it has no {word} for {kind} {name!r}" for name in lacking]
    return found + [
        f"it has a {word} for {kind} {quote(name)}, which there is not" for name in sorted(set(given) - set(known))
    ]


def _multipliers(bag: Bag, slots: Slots, certificate: HorizonCertificate) -> HorizonMultipliers:
    """Return the multipliers of a certificate in the order of types and sites."""
    rows = certificate.machine_prices
    return HorizonMultipliers(
        tuple(certificate.task_values[task.name] for task in bag.task_types),
        None if rows is None else tuple(rows[machine.name] for machine in bag.machine_types),
        tuple(certificate.cap_prices.get(site.name, ()) for site in slots.sites),
        tuple(certificate.peak_prices.get(site.name, ()) for site in slots.sites),
    )
