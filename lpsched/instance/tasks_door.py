"""The door of tasks that arrive: a list inside the file, or a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, nearest
from lpsched.instance.arriving_rows import TaskRows
from lpsched.instance.fields import describe
from lpsched.instance.reading import kind_of, table_file
from lpsched.instance.table import MOST_ADVISED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.reading import Reading

TaskFileReader = Callable[[str, TaskRows], None]  # file, and what gathers its rows

PIECE: Final = 10_000  # rows looked at together


def gather_tasks(reading: Reading, rows: TaskRows, read_file: TaskFileReader | None) -> None:
    """Gather the tasks in `rows`, and add what is wrong with them to the faults of `reading`."""
    raw = reading.raw.get("tasks")
    file = table_file(raw)
    if isinstance(raw, list | tuple):
        _inline(rows, raw, reading.hint)
    elif file is None:
        found = "nothing" if raw is None else describe(raw)
        rows.refuse(Fault(("tasks",), found, "a list of tasks, or {file: NAME}", reading.hint))
    elif read_file is None:
        do = f"read the {kind_of(reading.format)} from a file"
        rows.refuse(Fault(("tasks", "file"), describe(file), "the tasks themselves", do))
    else:
        try:
            read_file(file, rows)
        except InstanceError as error:
            rows.refuse(*error.faults)
    rows.finish()
    reading.faults += rows.faults[:MOST_FAULTS]


def _inline(rows: TaskRows, raw: Sequence[Any], hint: str) -> None:
    """Gather rows that stand in the file itself."""
    for first in range(0, len(raw), PIECE):
        piece = raw[first : first + PIECE]
        rows.faults += _strange_entries(piece, first, rows, hint)
        if all(isinstance(each, Mapping) for each in piece):
            rows.take({key: [each.get(key) for each in piece] for key in rows.columns})
        if rows.is_full:
            break


def _strange_entries(piece: Sequence[Any], first: int, rows: TaskRows, hint: str) -> list[Fault]:
    """Return the faults of rows that are no mappings, or have unknown keys."""
    faults: list[Fault] = []
    known = set(rows.columns)
    for n, entry in enumerate(piece, start=first):
        if not isinstance(entry, Mapping):
            needed = f"a mapping with {', '.join(rows.needed)}" + (" and its utility" if rows.worth else "")
            faults.append(Fault(("tasks", n), describe(entry), needed, hint))
        elif not known.issuperset(entry):
            for key in entry:
                if key not in known:
                    advice = nearest(str(key), rows.columns) if len(faults) < MOST_ADVISED else ""
                    needed = "one of " + ", ".join(rows.columns)
                    path = ("tasks", n, str(key))
                    faults.append(Fault(path, "an unknown key", needed, advice or "remove it"))
        if len(faults) >= MOST_FAULTS:
            break
    return faults
