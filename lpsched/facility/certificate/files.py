"""Proof files of a facility: JSON, the boxes of the proof with their prices.

Prices are written in the shortest form that gives the same double again, so whoever reads them has the
numbers that the proof was made with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.facility.certificate.boxes import (
    EXACT_FORMAT,
    FORMAT,
    FORMATS,
    HEAT,
    INLET,
    OUTLET,
    Box,
    Cut,
    FacilityCertificate,
    Step,
)
from lpsched.facility.certificate.facility import Prices
from lpsched.io.content import write_files
from lpsched.io.documents import items, mapping, name, number, read_document, whole
from lpsched.model.fields import describe

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.facility.certificate.facility import Side

_TOP: Final = ("format", "lpsched", "instance", "colocation", "outlets_celsius", "bound", "floor", "boxes")
_NEEDED: Final = ("format", "instance", "colocation", "bound", "floor", "boxes")
_PRICES: Final = ("tasks", "cap", "air", "unit_redlines", "reward")
_CUT: Final = ("what", "unit", "at", "below", "above")
_WHAT: Final = {"outlet": OUTLET, "heat": HEAT}
_SIDES: Final[tuple[Side, ...]] = (*OUTLET, *HEAT, *INLET)


def as_dict(certificate: FacilityCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    outlets = certificate.outlets_celsius
    return {
        "format": FORMAT if certificate.granted else EXACT_FORMAT,
        "lpsched": version,
        "instance": {"name": certificate.instance_name, "hash": certificate.instance_hash},
        "colocation": certificate.colocation,
        "outlets_celsius": None if outlets is None else list(outlets),
        "bound": certificate.bound,
        "floor": certificate.floor,
        "boxes": [_box_as_dict(box) for box in certificate.boxes],
    }


def write_proof(certificate: FacilityCertificate, path: Path | str, version: str) -> None:
    """Write a proof; a box to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    content = as_dict(certificate, version)
    boxes = ",\n".join(f"    {json.dumps(box)}" for box in content.pop("boxes"))
    head = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    write_files({Path(path): f'{head},\n  "boxes": [\n{boxes}\n  ]\n}}\n'.encode()})


def read_proof(path: Path | str) -> FacilityCertificate:
    """Read a proof; whether it proves its claim is for the checker to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    document = read_document(path)
    return proof_from_dict(document.value, str(path), document.faults)


def proof_from_dict(content: object, source: str, faults: tuple[Fault, ...] = ()) -> FacilityCertificate:
    """Make a proof of what a file says.

    Raises
    ------
    InstanceError
        If it is not one; the error lists every fault.
    """
    found = list(faults)
    if isinstance(content, dict) and content.get("format", FORMAT) not in FORMATS:
        found.append(Fault(("format",), describe(content["format"]), repr(FORMAT), "name a proof file"))
        raise InstanceError(source, tuple(found))
    top = mapping((), content, _TOP, _NEEDED, found)
    instance = mapping(("instance",), top.get("instance", {}), ("name", "hash"), ("name", "hash"), found)
    colocation, outlets = top.get("colocation", True), top.get("outlets_celsius")
    if not isinstance(colocation, bool):
        found.append(Fault(("colocation",), describe(colocation), "true or false", "correct it"))
    certificate = FacilityCertificate(
        instance_name=name(("instance", "name"), instance.get("name", ""), found),
        instance_hash=name(("instance", "hash"), instance.get("hash", ""), found),
        colocation=bool(colocation),
        bound=number(("bound",), top.get("bound", 0.0), found),
        floor=number(("floor",), top.get("floor", 0.0), found),
        boxes=tuple(
            _box(("boxes", place), box, found)
            for place, box in enumerate(items(("boxes",), top.get("boxes", []), found))
            if len(found) < MOST_FAULTS
        ),
        outlets_celsius=None if outlets is None else _several(("outlets_celsius",), outlets, found),
        granted=top.get("format") != EXACT_FORMAT,
    )
    if found:
        raise InstanceError(source, tuple(found[:MOST_FAULTS]))
    return certificate


def _box(path: Place, content: object, faults: list[Fault]) -> Box:
    box = mapping(path, content, ("steps", "cut", "prices"), (), faults)
    steps = items((*path, "steps"), box.get("steps", []), faults)
    return Box(
        tuple(_step((*path, "steps", at), step, faults) for at, step in enumerate(steps)),
        _cut((*path, "cut"), box["cut"], faults) if "cut" in box else None,
        _prices((*path, "prices"), box["prices"], faults) if "prices" in box else None,
    )


def _step(path: Place, content: object, faults: list[Fault]) -> Step:
    step = mapping(path, content, ("side", "unit", "prices"), ("side", "unit", "prices"), faults)
    side = step.get("side", _SIDES[0])
    if side not in _SIDES:
        faults.append(Fault((*path, "side"), describe(side), f"one of {', '.join(_SIDES)}", "correct it"))
        side = _SIDES[0]
    unit = whole((*path, "unit"), step.get("unit", 0), faults)
    return Step(side, unit, _prices((*path, "prices"), step.get("prices", {}), faults))


def _cut(path: Place, content: object, faults: list[Fault]) -> Cut:
    cut = mapping(path, content, _CUT, _CUT, faults)
    what = cut.get("what", "outlet")
    if not isinstance(what, str) or what not in _WHAT:
        faults.append(Fault((*path, "what"), describe(what), "'outlet' or 'heat'", "correct it"))
        what = "outlet"
    unit, below, above = (whole((*path, key), cut.get(key, 0), faults) for key in ("unit", "below", "above"))
    return Cut(_WHAT[what], unit, number((*path, "at"), cut.get("at", 0.0), faults), below, above)


def _prices(path: Place, content: object, faults: list[Fault]) -> Prices:
    prices = mapping(path, content, _PRICES, _PRICES[:-1], faults)
    return Prices(
        _several((*path, "tasks"), prices.get("tasks", []), faults),
        number((*path, "cap"), prices.get("cap", 0.0), faults),
        _several((*path, "air"), prices.get("air", []), faults),
        _several((*path, "unit_redlines"), prices.get("unit_redlines", []), faults),
        number((*path, "reward"), prices.get("reward", 0.0), faults),
    )


def _several(path: Place, content: object, faults: list[Fault]) -> tuple[float, ...]:
    listed = items(path, content, faults)
    return tuple(number((*path, at), each, faults) for at, each in enumerate(listed))


def _box_as_dict(box: Box) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if box.steps:
        said["steps"] = [
            {"side": step.side, "unit": step.unit, "prices": _prices_as_dict(step.prices)} for step in box.steps
        ]
    if box.cut is not None:
        what = "outlet" if box.cut.sides == OUTLET else "heat"
        said["cut"] = {"what": what, "unit": box.cut.unit, "at": box.cut.at}
        said["cut"] |= {"below": box.cut.below, "above": box.cut.above}
    if box.prices is not None:
        said["prices"] = _prices_as_dict(box.prices)
    return said


def _prices_as_dict(prices: Prices) -> dict[str, Any]:
    return {
        "tasks": list(prices.tasks),
        "cap": prices.cap,
        "air": list(prices.air),
        "unit_redlines": list(prices.unit_redlines),
        "reward": prices.reward,
    }
