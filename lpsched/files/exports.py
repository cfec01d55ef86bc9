"""Schedules task by task in forms that others read: CSV, Parquet, the Standard Workload Format, Batsim's CSV.

The ending says which: `.csv`, `.parquet`, `.swf` or `.swf.gz`, and `_jobs.csv` for Batsim. Tasks stand by
their numbers, that is by arrival. Those that were dropped stand there too: without a start in CSV and
Parquet, as cancelled (status 5) in SWF, as REJECTED for Batsim.

Columns of `.csv` and `.parquet` (an empty cell is not known):

    task, job                the number of the task, from 0, and the one that it has elsewhere
    task_type, cluster       names; of a day, the machine type
    nodes, node_count        which, from 1, as ranges such as 1-4;9, and how many
    cores, p_state           the cores it asked for, and the P-state it ran in
    arrival_seconds, start_seconds, end_seconds
    wait_seconds             start - arrival
    run_seconds              how long it ran, as the instance says
    requested_seconds        how long it was announced to run there
    energy_joules            of the whole run
    utility                  what counts of it; where waiting is judged, minus what it costs
"""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from lpsched.errors import OutputError
from lpsched.files.arrow import load_arrow
from lpsched.files.batsim import write_batsim
from lpsched.files.swf_export import write_swf_tasks
from lpsched.files.writing import whole_file
from lpsched.schedule.clusters import written_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.schedule.ran import ToldSystem, ToldTask

ENDINGS: Final = (".csv", ".parquet", ".swf", ".swf.gz")
BATSIM: Final = "_jobs.csv"
COLUMNS: Final = {  # and what stands in them, as PyArrow calls it
    "task": "int64",
    "job": "int64",
    "task_type": "string",
    "cluster": "string",
    "nodes": "string",
    "node_count": "int64",
    "cores": "int64",
    "p_state": "string",
    "arrival_seconds": "float64",
    "start_seconds": "float64",
    "end_seconds": "float64",
    "wait_seconds": "float64",
    "run_seconds": "float64",
    "requested_seconds": "float64",
    "energy_joules": "float64",
    "utility": "float64",
}
PIECE: Final = 65_536  # rows of Parquet that are written at once


def write_tasks(system: ToldSystem, tasks: Iterable[ToldTask], path: Path | str) -> None:
    """Write tasks as they come, in the form that the file's ending says.

    Raises
    ------
    OutputError
        If the ending is none of those, or the file cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    name = path.name.lower()
    if not name.endswith(ENDINGS):
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(ENDINGS)}; choose one")
    with whole_file(path) as file:
        if name.endswith(BATSIM):
            write_batsim(system, tasks, file)
        elif name.endswith(".csv"):
            _write_csv(system, tasks, file)
        elif name.endswith(".parquet"):
            _write_parquet(system, tasks, file, path)
        else:
            write_swf_tasks(system, tasks, file, packed=name.endswith(".gz"))


def _rows(system: ToldSystem, tasks: Iterable[ToldTask]) -> Iterator[tuple[Any, ...]]:
    for each in tasks:
        own = (each.task, each.job, system.task_types[each.type_number])
        ran = each.ran
        if ran is None:
            yield (*own, None, None, None, each.cores, None, each.arrival_seconds, *[None] * 7)
            continue
        yield (
            *own,
            system.places[ran.place].name,
            written_nodes(ran.nodes),
            ran.node_count,
            each.cores,
            ran.p_state,
            each.arrival_seconds,
            ran.start_seconds,
            ran.end_seconds,
            ran.start_seconds - each.arrival_seconds,
            ran.run_seconds,
            each.requested_seconds,
            ran.joules,
            ran.earned,
        )


def _write_csv(system: ToldSystem, tasks: Iterable[ToldTask], file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(system, tasks))  # a double is written with all its digits
    text.flush()
    text.detach()


def _write_parquet(system: ToldSystem, tasks: Iterable[ToldTask], file: BinaryIO, path: Path) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
    rows = _rows(system, tasks)
    with pq.ParquetWriter(file, schema) as writer:
        while piece := list(islice(rows, PIECE)):
            writer.write_table(pa.table(list(zip(*piece, strict=True)), schema=schema))
