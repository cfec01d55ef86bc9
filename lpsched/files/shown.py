"""Files of any kind that can be shown or converted: instances, benches and measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.files.benches import bench_of
from lpsched.files.documents import read_document
from lpsched.files.instances import instance_of
from lpsched.files.measurements import measurements_of
from lpsched.instance.bench import FORMAT as BENCH_FORMAT
from lpsched.instance.measurements import MEASUREMENTS_FORMAT
from lpsched.instance.reading import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.files.documents.document import Document
    from lpsched.instance import Bag
    from lpsched.instance.bench import Bench
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility
    from lpsched.instance.measurements import Measurements

OTHERS: Final[dict[str, Callable[[Document, Path], Bench | Measurements]]] = {
    kind_of(BENCH_FORMAT): bench_of,
    kind_of(MEASUREMENTS_FORMAT): measurements_of,
}


def read_shown(path: Path | str) -> Bag | Facility | Day | Clusters | Bench | Measurements:
    """Read a bag, a facility, a day, clusters, a bench or measurements from a YAML or JSON file.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If the file names a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    document = read_document(path)
    found = document.value.get("format") if isinstance(document.value, Mapping) else None
    reader = OTHERS.get(kind_of(found)) if isinstance(found, str) else None
    return reader(document, path) if reader is not None else instance_of(document, path)
