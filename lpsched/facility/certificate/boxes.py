"""A proof in boxes: ranges of outlets, heat and inlets, narrowed and cut until each box proves enough.

Box 0 is everything. A box first takes steps, each of which moves one end of one range inwards by prices of
its own. Then it is cut at some outlet temperature or heat into two boxes that come later in the list; or it
is a leaf, whose prices prove a bound of the reward in it; or its steps have left nothing of it.

Steps may be about allocations that earn at least the floor only. So the whole list proves that no allocation
earns more than the largest bound of a leaf, or the floor if that is more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field
from pydantic_core import CoreSchema, core_schema

from lpsched.errors import InputIssue, InstanceError, quoted_hash
from lpsched.facility.certificate.cooling import Air, Cooler, OutletBox, coefficients
from lpsched.facility.model import Facility
from lpsched.model.answers import AnswerPart, AnyNumber, AnyNumbers, AnyWhole
from lpsched.model.fields import OneOf, Several
from lpsched.model.fixed_point import (
    ONE,
    PLACES,
    Verdict,
    fixed,
    float_down,
    float_up,
    product_up,
    quotient_down,
    quotient_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


# The most that a node can gain at some prices, over everything its cores could run at once.
#
# Data       v_i, p       value of a task of type i, price of a watt
#            s_ik, a_ik   tasks per second and watts of a core that runs task type i in P-state k
#            PD_lm        how much longer a task of class l takes for each other core that runs class m
#
# If n_l cores run class l, a task of class l takes d_l = 1 + sum_m (n_m - [l = m]) PD_lm times as long, so that
#
#   gain(p)  =  max over n, sum n <= cores, of   sum_l n_l  max over i of class l, k  v_i s_ik / d_l - p a_ik.
#
# All n are gone through. For one class and one slowdown, most pairs (i, k) are best at no price; they are
# left out first. All in whole numbers (`model/fixed_point.py`), rounded so that the gain is never too small.
Line: TypeAlias = tuple[int, int]  # value per second and watts of a core: its gain is value - p watts
Slowed: TypeAlias = tuple[int, int]  # a class and its slowdown


class NodeGains:
    """All patterns of the nodes of one type."""

    def __init__(self, facility: Facility, node_type: int) -> None:
        columns = [column for column, (j, _) in enumerate(facility.modes) if j == node_type]
        self._pairs: dict[int, list[tuple[int, int, int]]] = {}  # class -> task type, speed, watts
        for i, task in enumerate(facility.task_types):
            own = self._pairs.setdefault(facility.class_of[i] if facility.memory_classes else 0, [])
            for column in columns:
                speed, watts = facility.speeds[i, column], facility.watts[i, column]
                in_time = speed and (task.deadline_seconds is None or 1.0 / speed < task.deadline_seconds)
                if speed and watts is not None and in_time:
                    own.append((i, fixed(speed), fixed(watts)))
        classes = sorted(each for each, pairs in self._pairs.items() if pairs)
        table = facility.degradation
        degradation = {
            each: {other: 0 if table is None else fixed(table[each, other] or 0.0) for other in classes}
            for each in classes
        }
        self._compositions: list[list[tuple[int, Slowed]]] = []  # cores, and what they run how slowly
        for counts in compositions(facility.node_types[node_type].cores, classes):
            slowed = {
                each: ONE + sum((n - (m == each)) * degradation[each][m] for m, n in counts.items()) for each in counts
            }
            self._compositions.append([(n, (each, slowed[each])) for each, n in counts.items()])
        self._slowed = sorted({slow for parts in self._compositions for _, slow in parts})

    @property
    def patterns(self) -> int:
        """How many ways there are to divide the cores among the classes."""
        return len(self._compositions)

    def lines(self, task_values: Sequence[int]) -> dict[Slowed, list[Line]]:
        """Return what a core can gain, for each class and slowdown, if tasks have these values."""
        plain = {
            each: [(product_up(task_values[i], speed), watts) for i, speed, watts in pairs]
            for each, pairs in self._pairs.items()
        }
        return {
            (each, slow): highest([(quotient_up(value, slow), watts) for value, watts in plain[each]])
            for each, slow in self._slowed
        }

    def most(self, lines: dict[Slowed, list[Line]], prices: Sequence[int]) -> list[int]:
        """Return the most that a node gains at each price of a watt; running nothing gains 0.

        With rising prices the highest line only ever moves on, to fewer watts.
        """
        found, at = [0] * len(prices), dict.fromkeys(lines, 0)
        for place in sorted(range(len(prices)), key=prices.__getitem__):
            price, gains = prices[place], {}
            for slow, own in lines.items():
                line, gain = at[slow], _gain(own[at[slow]], price)
                while line + 1 < len(own) and (next_gain := _gain(own[line + 1], price)) >= gain:
                    line, gain = line + 1, next_gain
                at[slow] = line
                gains[slow] = -(-gain >> PLACES)
            found[place] = max(sum(n * gains[slow] for n, slow in parts) for parts in self._compositions)
        return found


def _gain(line: Line, price: int) -> int:
    """Return the gain of a core, exactly; it has twice the places."""
    value, watts = line
    return (value << PLACES) - price * watts


def compositions(cores: int, classes: Sequence[int]) -> Iterator[dict[int, int]]:
    """Yield how many cores run each class, in all ways, from none at all up to all cores.

    >>> list(compositions(2, [7]))
    [{}, {7: 1}, {7: 2}]
    """
    if not classes:
        yield {}
        return
    first, *others = classes
    for n in range(cores + 1):
        for rest in compositions(cores - n, others):
            yield ({first: n} if n else {}) | rest


def highest(lines: list[Line]) -> list[Line]:
    """Return the lines value - p watts that are highest at some price p.

    >>> highest([(4, 2), (1, 1), (3, 2), (9, 9), (0, 0)])
    [(9, 9), (4, 2), (0, 0)]
    """
    kept: list[Line] = []
    for value, watts in sorted(lines, key=lambda line: (-line[1], -line[0])):
        if kept and kept[-1][1] == watts:
            continue  # as many watts, and no more value
        while len(kept) > 1:
            (w0, a0), (w1, a1) = kept[-2:]
            if (w0 - w1) * (a1 - watts) < (w1 - value) * (a0 - a1):
                break  # the last two cross before the last one and this one do: all three are needed
            kept.pop()
        kept.append((value, watts))
    return kept


# Proofs about facilities: what no allocation exceeds while outlets, heat and inlets stay in their ranges.
#
# Take any prices: v_i >= 0 of a task done in a second, mu >= 0 of a watt under the cap, kappa of the air
# balances (`facility/air.py`) and eta_u >= 0 of a unit's redline; and lambda >= 0 of reward beyond a floor L, where
# only allocations that earn at least L are spoken of. Every allocation keeps its limits, so adding
#
#    lambda (reward - L),   v_i (done - counted),   mu (cap - sum P - sum_u Q_u g_u(T_u)),   eta_u (R_u - s_u)
#
# and kappa times the balances, with the redlines R_v in place of the inlets, makes nothing smaller. What is
# then the largest value of   omega reward + alpha T + beta Q   falls apart into terms that are each easy:
#
#     lambda, mu and rho     mu cap + rho R + eta R - lambda L
#     each task type         arrivals_i max(0, (omega + lambda) r_i - v_i)
#     each node              gain_v(p_v) - p_v O_v,   p_v = mu + what a watt takes from the air
#     each unit              max of (alpha + A - eta) T + (beta + B - eta / k) Q - mu Q g(T)    (`cooling.py`)
#
# The gain of a node is above. `Proof.reward` is that for omega = 1: a bound. `narrowed` is
# that for one outlet T, one heat Q or one inlet T + Q / k, up or down: it proves smaller ranges. Ranges begin
# with those of the units, and with 0 <= Q_u <= cap CoP_u: a unit cools, and draws no more than the cap. A
# gain falls with the price of a watt, by at least the overhead; so p_v is rounded down.
#
# What an allocation does is measured in doubles, and a limit counts as broken only a little beyond it: a
# billionth of the cap and of a core's time, 1e-7 K at redlines, outlets and where a unit would heat. A proof
# about allocations that pass such a check grants twice that, which leaves as much again for the rounding of
# the check: cap (1 + sigma) and R + delta in place of cap and R, outlets and inlets wider by delta, Q >= - k
# delta, and (1 + sigma) gain_v, since a node that is busy for 1 + sigma of its time does no more than 1 +
# sigma times what it can do. Where Q < 0 a unit draws nothing; that adds at most - B k delta to its term,
# with B its coefficient of Q. Without `granted` it is about allocations that keep every limit exactly.
Side: TypeAlias = Literal["low", "high", "least", "most", "cool", "warm"]  # of outlet, heat and inlet
LOWER: Final = ("low", "least", "cool")
SHARE: Final = Fraction(2, 10**9)  # sigma, of the cap and of a node's time
KELVIN: Final = Fraction(2, 10**7)  # delta


@dataclass(frozen=True, slots=True)
class Ranges:
    """Outlet temperatures, heat and inlet temperatures of each unit, from and to."""

    low: tuple[float, ...]  # celsius
    high: tuple[float, ...]
    least: tuple[float, ...]  # watts, at least 0 but for what is granted
    most: tuple[float, ...]
    cool: tuple[float, ...]  # celsius
    warm: tuple[float, ...]

    def is_empty(self) -> bool:
        """Return whether nothing is left of the range of some outlet, heat or inlet."""
        lower, upper = (*self.low, *self.least, *self.cool), (*self.high, *self.most, *self.warm)
        return any(low > high for low, high in zip(lower, upper, strict=True))

    def with_side(self, side: Side, unit: int, value: float) -> Ranges:
        """Return the ranges with one end moved, inwards only."""
        ends = list(getattr(self, side))
        ends[unit] = max(ends[unit], value) if side in LOWER else min(ends[unit], value)
        return replace(self, **{side: tuple(ends)})


@dataclass(frozen=True, slots=True)
class Prices(AnswerPart):
    """Multipliers. None is negative but those of the air; bad ones prove less, never something false."""

    tasks: AnyNumbers
    cap: AnyNumber
    air: AnyNumbers  # of the nodes' inlets, then of the units'
    unit_redlines: AnyNumbers
    reward: AnyNumber = 0.0


class Proof:
    """Derives bounds for one facility, from prices and nothing else.

    Raises
    ------
    InstanceError
        If the CoP of a unit is not positive, or its reciprocal not convex, in the range of its outlet.
    """

    def __init__(self, facility: Facility, *, colocation: bool = True, granted: bool = True) -> None:
        self.facility = (
            facility if colocation else facility.model_copy(update={"memory_classes": (), "degradation": None})
        )
        self._air = Air(facility)
        self._share, kelvin = (SHARE, KELVIN) if granted else (Fraction(0), Fraction(0))
        self._kelvin = -((-kelvin.numerator << PLACES) // kelvin.denominator)  # rounded up
        self._cap = self._with_share(fixed(facility.power_cap_watts))
        self._outlets = [
            (float_down(fixed(low) - self._kelvin), float_up(fixed(high) + self._kelvin))
            for low, high in (unit.outlet_celsius for unit in facility.crac_units)
        ]
        self._coolers = [
            Cooler(unit, outlets) for unit, outlets in zip(facility.crac_units, self._outlets, strict=True)
        ]
        issues = tuple(
            InputIssue(("crac_units", u, "cop"), "1 / CoP that is not convex", "one that is", "narrow the outlets")
            for u, cooler in enumerate(self._coolers)
            if not cooler.is_convex()
        )
        if issues:
            raise InstanceError(facility.name, issues)

    @cached_property
    def ranges(self) -> Ranges:
        """What outlets and heat can be at all."""
        low, high = zip(*self._outlets, strict=True)
        most, least = [], []
        for u, unit in enumerate(self.facility.crac_units):
            a, b, c = map(fixed, coefficients(unit))
            t = [fixed(each) for each in self._outlets[u]]  # CoP is at most its terms at the worse end each
            cop = a + max(product_up(b, each) for each in t)
            cop += max(product_up(c, each) for each in (*(product_up(x, x) for x in t), 0))
            most.append(float_up(product_up(self._cap, cop)))
            least.append(-float_up(-((-self._kelvin * self._air.per_kelvin(u)) >> 3 * PLACES)) + 0.0)
        # a unit cools, so what it draws in is as warm as what it blows; and no warmer than its heat makes it
        warm = [
            float_up(fixed(end) + quotient_up(fixed(heat) << 2 * PLACES, self._air.per_kelvin(u)))
            for u, (end, heat) in enumerate(zip(high, most, strict=True))
        ]
        cool = tuple(float_down(fixed(end) - self._kelvin) for end in low)
        return Ranges(low, high, tuple(least), tuple(most), cool, tuple(warm))

    def reward(self, ranges: Ranges, prices: Prices, floor: float = 0.0) -> float | None:
        """Return the reward rate that none in these ranges exceeds; `None` if the prices prove nothing."""
        found = self._most(ranges, prices, floor, omega=1)
        return None if found is None else float_up(found)

    def narrowed(self, ranges: Ranges, side: Side, unit: int, prices: Prices, floor: float) -> Ranges | None:
        """Return the ranges with one end where the prices prove it to be; `None` if they prove nothing."""
        sign = -1 if side in LOWER else 1
        outlet = {unit: sign} if side in ("low", "high", "cool", "warm") else {}
        heat = {unit: sign * ONE} if side in ("least", "most") else {}
        if side in ("cool", "warm"):  # T + Q / k, with 1 / k rounded so that nothing becomes smaller
            heat = {unit: -((-sign << 4 * PLACES) // self._air.per_kelvin(unit))}
        found = self._most(ranges, prices, floor, omega=0, outlet=outlet, heat=heat)
        if found is None:
            return None
        return ranges.with_side(side, unit, float_up(found) if sign > 0 else float_down(-found))

    def _most(  # noqa: PLR0913 - the letters above
        self,
        ranges: Ranges,
        prices: Prices,
        floor: float,
        *,
        omega: int,
        outlet: dict[int, int] | None = None,
        heat: dict[int, int] | None = None,
    ) -> int | None:
        facility, nodes = self.facility, len(self.facility.nodes)
        task_values, cap, more = [fixed(each) for each in prices.tasks], fixed(prices.cap), fixed(prices.reward)
        etas = [fixed(each) for each in prices.unit_redlines]
        if min(*task_values, cap, more, *etas) < 0:
            return None
        air = self._air.weigh([fixed(each) for each in prices.air])
        if min(air.redlines) < 0:
            return None
        total = product_up(cap, self._cap) + product_up(more, -fixed(floor))
        for task, value in zip(facility.task_types, task_values, strict=True):
            left = product_up(omega * ONE + more, fixed(task.reward)) - value
            total += product_up(fixed(task.arrivals_per_second), max(0, left))
        redlines = [fixed(kind.redline_celsius) + self._kelvin for kind in facility.node_types]
        overheads = [fixed(kind.overhead_watts) for kind in facility.node_types]
        for j, gains in enumerate(self._gains):
            own = [v for v in range(nodes) if facility.nodes[v] == j]
            prices_of_watts = [cap + air.watts[v] for v in own]
            total += self._with_share(sum(gains.most(gains.lines(task_values), prices_of_watts)))
            total += sum(product_up(-price, overheads[j]) for price in prices_of_watts)
            total -= (-sum(air.redlines[v] for v in own) * redlines[j]) >> 3 * PLACES
        for u, (unit, cooler) in enumerate(zip(facility.crac_units, self._coolers, strict=True)):
            if unit.redline_celsius is None and etas[u]:
                return None
            total += product_up(etas[u], fixed(unit.redline_celsius or 0.0) + self._kelvin)
            per_kelvin = quotient_down(etas[u] << 2 * PLACES, self._air.per_kelvin(u))
            of_outlet = air.outlets[u] + (((outlet or {}).get(u, 0) * ONE - etas[u]) << 2 * PLACES)
            of_heat = air.heat[u] + (heat or {}).get(u, 0) - per_kelvin
            total += product_up(max(0, -of_heat), max(0, -fixed(ranges.least[u])))
            total += cooler.most(of_outlet, of_heat, cap, self._box(ranges, u))
        return total

    def _box(self, ranges: Ranges, unit: int) -> OutletBox:
        """Return the ranges of a unit, heat below 0 taken as 0: then its inlet is warmer by as much."""
        per_kelvin = Fraction(self._air.per_kelvin(unit), ONE**3)
        below = max(Fraction(0), -Fraction(ranges.least[unit]))
        return OutletBox(
            ranges.low[unit],
            ranges.high[unit],
            Fraction(max(0.0, ranges.least[unit])),
            Fraction(max(0.0, ranges.most[unit])),
            Fraction(ranges.cool[unit]),
            Fraction(ranges.warm[unit]) + below / per_kelvin,
            per_kelvin,
        )

    def _with_share(self, amount: int) -> int:
        """Return an amount that is not negative, and what is granted of it."""
        return amount - (-amount * self._share.numerator) // self._share.denominator

    @cached_property
    def steps(self) -> int:
        """How much work one set of prices makes: cells of the air, and patterns of the nodes."""
        return AT_LEAST + len(self._air.cells) + sum(self._gains[j].patterns for j in self.facility.nodes)

    @cached_property
    def _gains(self) -> list[NodeGains]:
        return [NodeGains(self.facility, j) for j in range(len(self.facility.node_types))]


FORMAT: Final = "lpsched-proof/2"
EXACT_FORMAT: Final = "lpsched-proof/1"  # of older files
FORMATS: Final = (FORMAT, EXACT_FORMAT)
MOST_STEPS: Final = 10**9  # of a proof: about an hour, which takes a thousand nodes and prices for a thousand steps
AT_LEAST: Final = 200  # of them for each set of prices
Sides: TypeAlias = tuple[Side, Side]
# Which ends move where a box is cut: that of the box below, that of the box above.
OUTLET: Final[Sides] = ("high", "low")
HEAT: Final[Sides] = ("most", "least")
INLET: Final[Sides] = ("warm", "cool")  # narrowed by steps, never cut
WHAT: Final = {"outlet": OUTLET, "heat": HEAT}  # what a file calls them


class _What(OneOf):
    """What is cut, as a file calls it."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return one of the words, and the sides that it stands for."""
        return core_schema.no_info_after_validator_function(WHAT.__getitem__, super().core())


@dataclass(frozen=True, slots=True)
class Step(AnswerPart):
    """One end of one range, and the prices that prove how far in it may be moved."""

    side: Annotated[Side, OneOf((*OUTLET, *HEAT, *INLET), "correct it")]
    unit: AnyWhole
    prices: Prices


@dataclass(frozen=True, slots=True)
class Cut(AnswerPart):
    """Where a box is cut, and which boxes are below and above."""

    _KEYS: ClassVar[str] = "what unit at below above"

    sides: Annotated[Sides, Field(alias="what"), _What(tuple(WHAT), "correct it")]
    unit: AnyWhole
    at: AnyNumber
    below: AnyWhole
    above: AnyWhole

    @property
    def what(self) -> str:
        """Which range is cut."""
        return next(what for what, sides in WHAT.items() if sides == self.sides)


@dataclass(frozen=True, slots=True)
class Box(AnswerPart):
    """Steps, and then a cut, or prices of a leaf, or neither if nothing is left."""

    _KEYS: ClassVar[str] = "steps? cut? prices?"

    steps: Annotated[tuple[Step, ...], Several()] = ()
    cut: Cut | None = None
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class FacilityCertificate:
    """A claim about a facility: no allocation earns more than `bound` a second.

    With `outlets_celsius`, none at these outlet temperatures does; else none at any that the units allow. It
    is about all allocations that the verifier accepts, with what it grants beyond the limits; where that is
    not `granted`, as in older files, about those that keep every limit exactly.
    """

    instance_name: str
    instance_hash: str
    colocation: bool
    bound: float
    floor: float
    boxes: tuple[Box, ...]
    outlets_celsius: tuple[float, ...] | None = None
    granted: bool = True

    def __repr__(self) -> str:
        """Return the claim."""
        return (
            f"<FacilityCertificate of {self.instance_name!r}: at most {self.bound} reward/s, {len(self.boxes)} boxes>"
        )


def check(facility: Facility | Path | str, certificate: FacilityCertificate) -> Verdict:
    """Derive the bound again, from the facility and the prices alone."""
    facility = Facility.given(facility)
    if certificate.instance_hash != facility.content_hash:
        hashes = f"its hash is {quoted_hash(certificate.instance_hash)}, not {facility.content_hash}"
        found: float | tuple[str, ...] = (f"it is about another facility: {hashes}",)
    else:
        found = tuple(islice(_wrong_form(facility, certificate), 1)) or _derived(facility, certificate)
    claimed = Fraction(certificate.bound if math.isfinite(certificate.bound) else 0)
    if isinstance(found, tuple):
        return Verdict(claimed, None, found)
    reasons = ("it claims more than its prices prove",) if certificate.bound < found else ()
    return Verdict(claimed, Fraction(found), reasons)


def _derived(facility: Facility, certificate: FacilityCertificate) -> float | tuple[str, ...]:
    """Return what a proof of the right form proves, or why it proves nothing."""
    priced = sum(len(box.steps) + (box.prices is not None) for box in certificate.boxes)
    try:
        proof = Proof(facility, colocation=certificate.colocation, granted=certificate.granted)
        if priced * proof.steps > MOST_STEPS:
            return (f"it is too long: checking takes more than {MOST_STEPS:,} steps",)
        found = proved(proof, certificate.boxes, certificate.floor, certificate.outlets_celsius)
    except InstanceError as error:
        return tuple(str(issue) for issue in error.issues)
    except (ArithmeticError, ValueError):  # a double cannot hold what they come to
        found = math.inf
    if found == math.inf:
        return ("its numbers are too large to prove anything",)
    return (found,) if isinstance(found, str) else found


def proved(proof: Proof, boxes: tuple[Box, ...], floor: float, outlets: tuple[float, ...] | None = None) -> float | str:
    """Return the reward rate that no allocation exceeds, or what is missing from the proof."""
    whole = proof.ranges if outlets is None else replace(proof.ranges, low=outlets, high=outlets)
    bound, left = floor, [(0, whole)]
    while left:
        place, ranges = left.pop()
        box = boxes[place]
        for step in box.steps:
            ranges = proof.narrowed(ranges, step.side, step.unit, step.prices, floor) or ranges
        if ranges.is_empty():
            continue
        if box.cut is not None:
            cut, ends = box.cut, (box.cut.below, box.cut.above)
            left += [
                (half, ranges.with_side(side, cut.unit, cut.at)) for half, side in zip(ends, cut.sides, strict=True)
            ]
            continue
        found = None if box.prices is None else proof.reward(ranges, box.prices, floor)
        if found is None:
            return f"box {place} proves nothing: it has no prices, or they have a wrong sign"
        bound = max(bound, found)
    return bound


def _wrong_form(facility: Facility, certificate: FacilityCertificate) -> Iterator[str]:
    """Yield what is wrong with the form of a proof; what follows from something wrong is not worked out."""
    if not math.isfinite(certificate.bound):
        yield f"its bound is {certificate.bound!r}, which is no number"
    if not certificate.boxes:
        yield "it has no boxes"
    if certificate.outlets_celsius is not None:
        yield from _wrong_outlets(facility, certificate.outlets_celsius)
    nodes, units, tasks = len(facility.nodes), len(facility.crac_units), len(facility.task_types)
    for place, box in enumerate(certificate.boxes):
        prices = [step.prices for step in box.steps] + ([box.prices] if box.prices is not None else [])
        sizes = {(len(each.tasks), len(each.air), len(each.unit_redlines)) for each in prices}
        if sizes - {(tasks, nodes + units, units)}:
            needed = f"{tasks} task types, {nodes} nodes and {units} CRAC units"
            yield f"box {place} has not as many prices as {needed} need"
        at = [step.unit for step in box.steps] + ([] if box.cut is None else [box.cut.unit])
        if any(not 0 <= unit < units for unit in at):
            yield f"box {place} names a CRAC unit that the facility does not have"
    yield from _wrong_cuts(certificate.boxes)


def _wrong_outlets(facility: Facility, outlets: tuple[float, ...]) -> Iterator[str]:
    """Yield what is wrong with fixed outlet temperatures: nothing at all follows for units that cannot blow so."""
    units = facility.crac_units
    if len(outlets) != len(units):
        yield f"it has {len(outlets)} outlet temperatures for {len(units)} CRAC units"
    for unit, celsius in zip(units, outlets, strict=False):
        low, high = unit.outlet_celsius
        if not low <= celsius <= high:
            yield f"{unit.name!r} is to blow at {celsius!r} celsius, but its range is {low!r} to {high!r}"


def _wrong_cuts(boxes: tuple[Box, ...]) -> Iterator[str]:
    """Yield the cuts that do not make a tree: in one, each box is looked at once."""
    made: set[int] = set()
    for place, box in enumerate(boxes):
        halves = () if box.cut is None else (box.cut.below, box.cut.above)
        if not all(place < half < len(boxes) for half in halves):
            yield f"box {place} is cut into boxes that do not come later"
        if made & {*halves} or len({*halves}) < len(halves):
            yield f"box {place} is cut into a box that was made by a cut before: each is made by one"
        made |= {*halves}
