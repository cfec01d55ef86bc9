"""Instance files of any kind: what a file is, its format says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.files.bags import bag_of, write_bag
from lpsched.files.clusters import clusters_of, write_clusters
from lpsched.files.days import day_of, write_day
from lpsched.files.documents import read_document
from lpsched.files.facilities import facility_of, write_facility
from lpsched.instance import FORMAT as BAG_FORMAT
from lpsched.instance import Bag
from lpsched.instance.clusters import CLUSTERS_FORMAT, Clusters
from lpsched.instance.day import FORMAT as DAY_FORMAT
from lpsched.instance.day import Day
from lpsched.instance.facility import FORMAT as FACILITY_FORMAT
from lpsched.instance.facility import Facility
from lpsched.instance.fields import describe
from lpsched.instance.reading import COMMANDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.files.documents.document import Document
    from lpsched.files.instance_files import TableForm

READERS: Final[dict[str, Callable[[Document, Path], Bag | Facility | Day | Clusters]]] = {
    kind_of(BAG_FORMAT): bag_of,
    kind_of(FACILITY_FORMAT): facility_of,
    kind_of(DAY_FORMAT): day_of,
    kind_of(CLUSTERS_FORMAT): clusters_of,
}


def read_instance(path: Path | str) -> Bag | Facility | Day | Clusters:
    """Read a bag, a facility, a day or clusters from a YAML or JSON file, and the files that it names.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If one of these is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    return instance_of(read_document(path), path)


def instance_of(document: Document, path: Path) -> Bag | Facility | Day | Clusters:
    """Make an instance of what the file at `path` says; see `read_instance`."""
    found = document.value.get("format") if isinstance(document.value, Mapping) else None
    kind = kind_of(found) if isinstance(found, str) else kind_of(BAG_FORMAT)
    reader = READERS.get(kind)
    if reader is None:
        needed = f"'{BAG_FORMAT}', '{FACILITY_FORMAT}', '{DAY_FORMAT}' or '{CLUSTERS_FORMAT}'"
        command = COMMANDS.get(str(found).partition("/")[0])
        do = "bring a file of these kinds" + (f", or use '{command}'" if command is not None else "")
        fault = Fault(("format",), describe(found), needed, do)
        raise InstanceError(str(path), (fault,))
    return reader(document, path)


def write_instance(
    instance: Bag | Facility | Day | Clusters, path: Path | str, *, form: TableForm | None = None
) -> tuple[Path, ...]:
    """Write any of these, without loss; return the files written, the instance's own last.

    Raises
    ------
    InstanceError
        If the file's ending is neither YAML's nor JSON's.
    OutputError
        If a file cannot be written; then none is.
    """
    if isinstance(instance, Facility):
        return write_facility(instance, path, form=form)
    if isinstance(instance, Day):
        return write_day(instance, path, form=form)
    if isinstance(instance, Clusters):
        return write_clusters(instance, path, form=form)
    return write_bag(instance, path, form=form)
