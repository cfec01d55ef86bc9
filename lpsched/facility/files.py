"""Files of facilities and of their allocations."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.facility.model import FORMAT, PLAIN_AIR, Facility, said
from lpsched.facility.parts import MIXING_KEYS
from lpsched.facility.schedule import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare
from lpsched.io.content import write_files
from lpsched.io.documents import items, mapping, name, number, read_document, whole
from lpsched.io.instance_files import (
    Beside,
    Contents,
    TableForm,
    document_bytes,
    inline_table,
    made_of,
    require_suffix,
    table_files,
)
from lpsched.io.tables import write_csv_matrix, write_npz_matrix
from lpsched.model.fields import describe
from lpsched.model.table import Axes

if TYPE_CHECKING:
    from lpsched.errors import Place
    from lpsched.io.documents import Document


# Facility files: YAML and JSON, with tables and the mixing matrix inside or beside them.
FEW_PLACES: Final = 20  # up to here the mixing matrix is written inside the file
MANY_PAIRS: Final = 10_000  # beyond, tables go into a file of their own
RUN: Final = 5  # nodes of one type in a row, on average, from which runs are written


def read_facility(path: Path | str) -> Facility:
    """Read a facility from a YAML or JSON file, and the tables and matrix that it names.

    What is legal but suspect comes as an `LpschedWarning`.
    """
    path = Path(path)
    return facility_of(read_document(path), path)


def facility_of(document: Document, path: Path) -> Facility:
    """Make a facility of what the file at `path` says; see `read_facility`."""
    beside = Beside(path, "facility")
    return made_of(document, path, lambda raw: Facility.read(raw, str(path), context=beside))


def write_facility(facility: Facility, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a facility, without loss; return the files written, the facility's own last.

    Parameters
    ----------
    form
        How to write tables and matrix: inside the file, by name or as rows; or in files beside it. A Parquet
        file holds tables only, so the matrix then goes into an `.npz`. If not given, tables by name up to
        10,000 pairs, else in an `.npz`; the matrix inside up to 20 nodes and units, else in an `.npz`.
    """
    path = Path(path)
    require_suffix(path)
    contents = _table_files(facility, path, form) | _matrix_file(facility, path, form)
    raw = as_dict(facility, form, {key: file.name for file, (_, keys) in contents.items() for key in keys})
    files = {file: content for file, (content, _) in contents.items()} | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def _table_files(facility: Facility, path: Path, form: TableForm | None) -> Contents:
    held = {"speeds": facility.speeds, "watts": facility.watts}
    if form is None and facility.speeds.rows * facility.speeds.columns > MANY_PAIRS:
        form = TableForm.NPZ
    return table_files(held, Axes(facility.task_types, facility.node_types), path, form)


def _matrix_file(facility: Facility, path: Path, form: TableForm | None) -> Contents:
    matrix = facility.mixing.matrix
    if form in {TableForm.NAMES, TableForm.MATRIX} or (form is None and matrix.rows <= FEW_PLACES):
        return {}
    if form is TableForm.CSV:
        return {path.with_name(f"{path.name}.mixing.csv"): (write_csv_matrix(matrix), ("mixing",))}
    return {path.with_name(f"{path.name}.mixing.npz"): (write_npz_matrix(matrix), ("mixing",))}


def as_dict(
    facility: Facility, form: TableForm | None = TableForm.NAMES, files: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the facility as a mapping with the keys of a facility file; defaults are left out.

    What is in `files` is named instead of written out.
    """
    files = files if files is not None else {}
    by_name = form is not TableForm.MATRIX
    raw: dict[str, Any] = {"format": FORMAT, "name": facility.name}
    if facility.description:
        raw["description"] = facility.description
    raw["node_types"] = [said(kind) for kind in facility.node_types]
    raw["nodes"] = _nodes(facility)
    raw["crac_units"] = [said(unit) for unit in facility.crac_units]
    raw["task_types"] = [said(task) for task in facility.task_types]
    for key, table in (("speeds", facility.speeds), ("watts", facility.watts)):
        raw[key] = (
            {"file": files[key]}
            if key in files
            else inline_table(table, facility.task_types, facility.node_types, by_name=by_name)
        )
    if facility.degradation is not None:
        rows = [[x for x in row if x is not None] for row in facility.degradation]
        raw["degradation"] = _named(facility.memory_classes, rows) if by_name else rows
        if not by_name:
            raw["memory_classes"] = list(facility.memory_classes)
    mixing = facility.mixing
    raw["mixing"] = {MIXING_KEYS[mixing.form]: {"file": files["mixing"]}} if "mixing" in files else mixing.as_dict()
    raw["power_cap_watts"] = facility.power_cap_watts
    if facility.air != PLAIN_AIR:
        raw["air"] = said(facility.air)
    return raw


def _nodes(facility: Facility) -> list[Any]:
    """Return the nodes' types, in runs where that is shorter."""
    names = [facility.node_types[j].name for j in facility.nodes]
    runs = [(name, len(list(group))) for name, group in groupby(names)]
    if RUN * len(runs) > len(names):
        return names
    return [{"type": name, "count": count} if count > 1 else name for name, count in runs]


def _named(names: tuple[str, ...], rows: list[list[float]]) -> dict[str, dict[str, float]]:
    return {name: dict(zip(names, row, strict=True)) for name, row in zip(names, rows, strict=True)}


# Allocation files of a facility, as JSON or YAML: outlet temperatures, and what the cores of each node run.
#
#     form: gang      patterns of a node: what its cores run at once, and for which share of the time
#     form: cores     for each core what it divides its time between
#
# Neighbours often do the same, so an entry of `nodes` speaks for `count` nodes in a row.
ALLOCATION_FORMAT: Final = "lpsched-allocation/1"
MOST_NODES: Final = 10**6  # an entry speaks for many nodes; a slip of the keyboard must not fill the memory
_TOP: Final = ("format", "lpsched", "instance", "form", "outlets_celsius", "nodes")
_INSIDE: Final = {"gang": "patterns", "cores": "cores"}
_PATTERN: Final = ("share", "runs")
_RUN: Final = ("task_type", "cores", "p_state")
_PART: Final = ("task_type", "fraction", "p_state")


def allocation_as_dict(allocation: GangAllocation | CoreAllocation, facility: Facility, version: str) -> dict[str, Any]:
    """Return what the file says."""
    nodes: list[list[Any]]
    if isinstance(allocation, GangAllocation):
        form, nodes = "gang", [[_pattern_as_dict(each) for each in node] for node in allocation.nodes]
    else:
        form = "cores"
        nodes = [[[_part_as_dict(part) for part in core] for core in node] for node in allocation.nodes]
    rows = [(what, len(list(alike))) for what, alike in groupby(nodes)]
    return {
        "format": ALLOCATION_FORMAT,
        "lpsched": version,
        "instance": {"name": facility.name, "hash": facility.content_hash},
        "form": form,
        "outlets_celsius": list(allocation.outlets_celsius),
        "nodes": [{"count": count, _INSIDE[form]: what} for what, count in rows],
    }


def write_allocation(
    allocation: GangAllocation | CoreAllocation, facility: Facility, path: Path | str, version: str
) -> None:
    """Write an allocation; an entry of `nodes` to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    content = allocation_as_dict(allocation, facility, version)
    nodes = ",\n".join(f"    {json.dumps(node, ensure_ascii=False)}" for node in content.pop("nodes"))
    head = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    write_files({Path(path): f'{head},\n  "nodes": [\n{nodes}\n  ]\n}}\n'.encode()})


def read_allocation(path: Path | str) -> GangAllocation | CoreAllocation:
    """Read an allocation; whether it fits a facility is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    document = read_document(path)
    return allocation_from_dict(document.value, str(path), document.faults)


def allocation_from_dict(
    content: object, source: str, faults: tuple[Fault, ...] = ()
) -> GangAllocation | CoreAllocation:
    """Make an allocation of what a file says."""
    found = list(faults)
    allocation = _allocation(content, found)
    if found or allocation is None:
        raise InstanceError(source, tuple(found[:MOST_FAULTS]))
    return allocation


def _allocation(content: object, faults: list[Fault]) -> GangAllocation | CoreAllocation | None:
    if isinstance(content, dict) and content.get("format", ALLOCATION_FORMAT) != ALLOCATION_FORMAT:
        faults.append(
            Fault(("format",), describe(content["format"]), repr(ALLOCATION_FORMAT), "name an allocation file")
        )
        return None  # what else it says is not for an allocation to judge
    top = mapping((), content, _TOP, ("format", "form", "outlets_celsius", "nodes"), faults)
    form = top.get("form")
    if not isinstance(form, str) or form not in _INSIDE:
        if "form" in top:
            faults.append(Fault(("form",), describe(form), "'gang' or 'cores'", "say which of the two it is"))
        return None
    outlets = tuple(
        number(("outlets_celsius", u), outlet, faults)
        for u, outlet in enumerate(items(("outlets_celsius",), top.get("outlets_celsius", []), faults))
    )
    nodes: list[list[Any]] = []
    for place, entry in enumerate(items(("nodes",), top.get("nodes", []), faults)):
        count, node = _node(("nodes", place), form, entry, faults)
        if not 1 <= count <= MOST_NODES - len(nodes):
            needed = f"a whole number from 1 up, and at most {MOST_NODES} nodes in all"
            faults.append(Fault(("nodes", place, "count"), describe(count), needed, "correct it"))
            break
        nodes += [node] * count
    made = GangAllocation if form == "gang" else CoreAllocation
    return made(outlets, tuple(map(tuple, nodes)))


def _node(path: Place, form: str, content: object, faults: list[Fault]) -> tuple[int, list[Any]]:
    """Return how many nodes an entry speaks for, and what each of them does."""
    inside = _INSIDE[form]
    entry = mapping(path, content, ("count", inside), ("count", inside), faults)
    read = _pattern if form == "gang" else _core
    what = items((*path, inside), entry.get(inside, []), faults)
    return (
        whole((*path, "count"), entry.get("count", 1), faults),
        [read((*path, inside, place), each, faults) for place, each in enumerate(what)],
    )


def _pattern(path: Place, content: object, faults: list[Fault]) -> PatternShare:
    pattern = mapping(path, content, _PATTERN, _PATTERN, faults)
    runs = items((*path, "runs"), pattern.get("runs", []), faults)
    return PatternShare(
        number((*path, "share"), pattern.get("share", 0.0), faults),
        tuple(_run((*path, "runs", at), run, faults) for at, run in enumerate(runs)),
    )


def _run(path: Place, content: object, faults: list[Fault]) -> CoreRun:
    run = mapping(path, content, _RUN, ("task_type", "cores"), faults)
    return CoreRun(
        name((*path, "task_type"), run.get("task_type", ""), faults),
        whole((*path, "cores"), run.get("cores", 1), faults),
        _state(path, run, faults),
    )


def _core(path: Place, content: object, faults: list[Fault]) -> tuple[CoreFraction, ...]:
    return tuple(_part((*path, at), part, faults) for at, part in enumerate(items(path, content, faults)))


def _part(path: Place, content: object, faults: list[Fault]) -> CoreFraction:
    part = mapping(path, content, _PART, ("task_type", "fraction"), faults)
    return CoreFraction(
        name((*path, "task_type"), part.get("task_type", ""), faults),
        number((*path, "fraction"), part.get("fraction", 0.0), faults),
        _state(path, part, faults),
    )


def _state(path: Place, run: dict[str, Any], faults: list[Fault]) -> str | None:
    state = run.get("p_state")
    return None if state is None else name((*path, "p_state"), state, faults)


def _pattern_as_dict(pattern: PatternShare) -> dict[str, Any]:
    runs = [_with_state({"task_type": run.task_type, "cores": run.cores}, run.p_state) for run in pattern.runs]
    return {"share": pattern.share, "runs": runs}


def _part_as_dict(part: CoreFraction) -> dict[str, Any]:
    return _with_state({"task_type": part.task_type, "fraction": part.fraction}, part.p_state)


def _with_state(plain: dict[str, Any], state: str | None) -> dict[str, Any]:
    return plain if state is None else plain | {"p_state": state}
