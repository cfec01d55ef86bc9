"""A proof in boxes: ranges of outlets, heat and inlets, narrowed and cut until each box proves enough.

Box 0 is everything. A box first takes steps, each of which moves one end of one range inwards by prices of
its own. Then it is cut at some outlet temperature or heat into two boxes that come later in the list; or it
is a leaf, whose prices prove a bound of the reward in it; or its steps have left nothing of it.

Steps may be about allocations that earn at least the floor only. So the whole list proves that no allocation
earns more than the largest bound of a leaf, or the floor if that is more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, TypeAlias

from pydantic import Field
from pydantic_core import CoreSchema, core_schema

from lpsched.errors import InstanceError
from lpsched.facility.certificate.facility import Prices, Proof, Side
from lpsched.facility.model import Facility
from lpsched.model.answers import AnyNumber, AnyWhole, Piece
from lpsched.model.fields import OneOf, Several
from lpsched.model.fixed_point import Verdict

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = "lpsched-proof/2"
EXACT_FORMAT: Final = "lpsched-proof/1"  # of older files
FORMATS: Final = (FORMAT, EXACT_FORMAT)
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
class Step(Piece):
    """One end of one range, and the prices that prove how far in it may be moved."""

    side: Annotated[Side, OneOf((*OUTLET, *HEAT, *INLET), "correct it")]
    unit: AnyWhole
    prices: Prices


@dataclass(frozen=True, slots=True)
class Cut(Piece):
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
class Box(Piece):
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
    claimed = Fraction(certificate.bound)
    if certificate.instance_hash != facility.content_hash:
        hashes = f"its hash is {certificate.instance_hash}, not {facility.content_hash}"
        return Verdict(claimed, None, (f"it is about another facility: {hashes}",))
    wrong = _misshapen(facility, certificate)
    if wrong is not None:
        return Verdict(claimed, None, (wrong,))
    try:
        proof = Proof(facility, colocation=certificate.colocation, granted=certificate.granted)
    except InstanceError as error:
        return Verdict(claimed, None, tuple(str(issue) for issue in error.issues))
    found = proved(proof, certificate.boxes, certificate.floor, certificate.outlets_celsius)
    if isinstance(found, str):
        return Verdict(claimed, None, (found,))
    reasons = ("it claims more than its prices prove",) if certificate.bound < found else ()
    return Verdict(claimed, Fraction(found), reasons)


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


def _misshapen(facility: Facility, certificate: FacilityCertificate) -> str | None:
    """Return what is wrong with the form of a proof, if anything is."""
    nodes, units, tasks = len(facility.nodes), len(facility.crac_units), len(facility.task_types)
    boxes, outlets = certificate.boxes, certificate.outlets_celsius
    if not boxes:
        return "it has no boxes"
    if outlets is not None and len(outlets) != units:
        return f"it has {len(outlets)} outlet temperatures for {units} CRAC units"
    for place, box in enumerate(boxes):
        prices = [step.prices for step in box.steps] + ([box.prices] if box.prices is not None else [])
        sizes = {(len(each.tasks), len(each.air), len(each.unit_redlines)) for each in prices}
        if sizes - {(tasks, nodes + units, units)}:
            needed = f"{tasks} task types, {nodes} nodes and {units} CRAC units"
            return f"box {place} has not as many prices as {needed} need"
        at = [step.unit for step in box.steps]
        if box.cut is not None:
            at.append(box.cut.unit)
            if not all(place < other < len(boxes) for other in (box.cut.below, box.cut.above)):
                return f"box {place} is cut into boxes that do not come later"
        if any(not 0 <= unit < units for unit in at):
            return f"box {place} names a CRAC unit that the facility does not have"
    return None
