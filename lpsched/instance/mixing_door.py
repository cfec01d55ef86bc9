"""The door of mixing matrices: one of three forms, as a list of rows or in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Place, quote
from lpsched.instance.fields import Amount, describe
from lpsched.instance.mixing import MIXING_KEYS, Mixing, MixingForm
from lpsched.instance.reading import Reading, table_file
from lpsched.instance.sparse import SparseMatrix

if TYPE_CHECKING:
    from lpsched.instance.facility_parts import CracUnit

MatrixFileReader = Callable[[str, Place, Amount, int], SparseMatrix]  # file, place, check of an entry, rows

CHECKS: Final[dict[MixingForm, Amount]] = {
    "inlet_mix": Amount("a share", most=1.0),
    "alpha": Amount("a share", most=1.0),
    "recirculation": Amount("kelvin per watt", most=1e6),
}


def read_mixing(
    reading: Reading,
    nodes: tuple[int, ...] | None,
    units: tuple[CracUnit, ...] | None,
    read_file: MatrixFileReader | None,
) -> Mixing | None:
    """Read the matrix: exactly one of the three forms, inside or in a file."""
    value = reading.raw.get("mixing")
    forms = ", ".join(MIXING_KEYS.values())
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in MIXING_KEYS.values():
        found = "nothing" if value is None else describe(value)
        if isinstance(value, Mapping) and value:
            found = "the keys " + ", ".join(quote(str(key)) for key in list(value)[:9])
        reading.faults.append(Fault(("mixing",), found, f"exactly one of {forms}", reading.hint))
        return None
    if not nodes or not units:
        return None  # their own faults are told
    form = next(each for each, key in MIXING_KEYS.items() if key in value)
    path, given = ("mixing", MIXING_KEYS[form]), value[MIXING_KEYS[form]]
    size = len(nodes) + (len(units) if form != "recirculation" else 0)
    file = table_file(given)
    if file is not None and read_file is None:
        do = "read the facility from a file"
        reading.faults.append(Fault((*path, "file"), describe(file), "the matrix itself", do))
        return None
    try:
        if file is None or read_file is None:
            matrix = _matrix(given, path, CHECKS[form], size)
        else:
            matrix = read_file(file, path, CHECKS[form], size)
    except InstanceError as error:
        reading.faults += error.faults
        return None
    return Mixing(form, matrix)


def _matrix(raw: object, path: Place, check: Amount, size: int) -> SparseMatrix:
    """Read a matrix given as a list of rows."""
    if not isinstance(raw, list | tuple) or len(raw) != size:
        needed = f"a matrix of {size} rows, one for each place, or {{file: NAME}}"
        raise InstanceError("mixing", (Fault(path, describe(raw), needed, "see 'lpsched schema facility'"),))
    faults: list[Fault] = []
    rows: list[list[tuple[int, float]]] = []
    for v, row in enumerate(raw):
        if len(faults) >= MOST_FAULTS:
            break
        if not isinstance(row, list | tuple) or len(row) != size:
            faults.append(Fault((*path, v), describe(row), f"a list of {size}", "write 0 for none"))
            continue
        rows.append([])
        for u, cell in enumerate(row):
            try:
                rows[-1].append((u, check(cell)))
            except PydanticCustomError as refused:
                faults.append(Fault((*path, v, u), **(refused.context or {})))
    if faults:
        raise InstanceError("mixing", tuple(faults[:MOST_FAULTS]))
    return SparseMatrix.of(rows, size)
