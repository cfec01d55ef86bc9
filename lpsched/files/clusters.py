"""Clusters files: YAML and JSON, with the tasks inside or beside them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lpsched.files.beside import Beside
from lpsched.files.cluster_tasks import cluster_columns
from lpsched.files.days import FEW_TASKS, written_utilities
from lpsched.files.documents import read_document
from lpsched.files.instance_files import TableForm, document_bytes, made_of, require_suffix
from lpsched.files.task_columns import csv_bytes, parquet_bytes, read_task_file, task_rows
from lpsched.files.writing import write_files
from lpsched.instance.cluster_door import KIND, clusters_from_dict
from lpsched.instance.clusters import CLUSTERS_FORMAT, Clusters
from lpsched.instance.made_by import written_note
from lpsched.instance.waiting import WaitingCost

if TYPE_CHECKING:
    from lpsched.files.documents.document import Document
    from lpsched.instance.arriving_rows import TaskRows
    from lpsched.instance.clusters import Cluster
    from lpsched.instance.node_curves import NodeCurves, Points


def read_clusters(path: Path | str) -> Clusters:
    """Read clusters from a YAML or JSON file, and the tasks that it names.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If the tasks are in a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    return clusters_of(read_document(path), path)


def clusters_of(document: Document, path: Path) -> Clusters:
    """Make clusters of what the file at `path` says; see `read_clusters`."""
    beside = Beside(path, KIND)

    def read_tasks(file: str, rows: TaskRows) -> None:
        read_task_file(beside.inside(file, ("tasks", "file"), "file of tasks"), rows)

    return made_of(
        document, path, lambda raw: clusters_from_dict(raw, source=str(path), read_task_file=read_tasks)
    )


def write_clusters(
    clusters: Clusters, path: Path | str, *, form: TableForm | None = None
) -> tuple[Path, ...]:
    """Write clusters, without loss; return the files written, the clusters' own last.

    Parameters
    ----------
    form
        Curves are always inside the file. More than 1,000 tasks, and all where `form` is one of files beside
        it, are in a `.csv`, or in a `.parquet` if the form is.

    Raises
    ------
    InstanceError
        If the file's ending is neither YAML's nor JSON's.
    OutputError
        If a file cannot be written; then none is.
    """
    path = Path(path)
    require_suffix(path)
    beside: dict[Path, bytes] = {}
    if clusters.tasks > FEW_TASKS or form not in {None, TableForm.NAMES, TableForm.MATRIX}:
        columns = cluster_columns(clusters)
        is_parquet = form is TableForm.PARQUET
        content = parquet_bytes(columns) if is_parquet else csv_bytes(columns)
        beside[path.with_name(f"{path.name}.tasks.{'parquet' if is_parquet else 'csv'}")] = content
    raw = clusters_as_dict(clusters, *(file.name for file in beside))
    files = beside | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def clusters_as_dict(clusters: Clusters, task_file: str | None = None) -> dict[str, Any]:
    """Return the clusters as a mapping with the keys of their file; tasks that have a file are named only."""
    raw: dict[str, Any] = {"format": CLUSTERS_FORMAT, "name": clusters.name}
    raw["clusters"] = [_cluster(each) for each in clusters.clusters]
    raw["task_types"] = [{"name": task.name} for task in clusters.task_types]
    raw["seconds"] = _written_curves(clusters, clusters.seconds)
    if clusters.watts is not None:
        raw["watts"] = _written_curves(clusters, clusters.watts)
    if not clusters.period.is_whole:
        raw["period"] = {key: value for key, value in asdict(clusters.period).items() if value is not None}
    if clusters.waiting is not None:
        raw["waiting"] = _written_waiting(clusters.waiting)
    raw |= written_utilities(clusters.levels, clusters.utility_functions)
    raw["tasks"] = {"file": task_file} if task_file is not None else task_rows(cluster_columns(clusters))
    if clusters.made_by is not None:
        raw["made_by"] = written_note(clusters.made_by)
    return raw


def _cluster(cluster: Cluster) -> dict[str, Any]:
    said: dict[str, Any] = {"name": cluster.name, "nodes": cluster.nodes}
    if cluster.cores_per_node != 1:
        said["cores_per_node"] = cluster.cores_per_node
    return said if cluster.p_states is None else said | {"p_states": list(cluster.p_states)}


def _written_waiting(waiting: WaitingCost) -> dict[str, Any]:
    """Return what is said of waiting; the measure always, all else where it is not as usual."""
    usual = asdict(WaitingCost())
    said = {key: value for key, value in asdict(waiting).items() if key == "measure" or value != usual[key]}
    return said | ({"points": [list(each) for each in waiting.points]} if waiting.points else {})


def _written_curves(clusters: Clusters, curves: NodeCurves) -> dict[str, dict[str, Any]]:
    """Return curves by names: by rising nodes a number, or a list of one number per P-state."""
    written: dict[str, dict[str, Any]] = {}
    for task, row in zip(clusters.task_types, curves.cells, strict=True):
        written[task.name] = {}
        first = 0
        for cluster in clusters.clusters:
            cells = row[first : first + cluster.modes]
            first += cluster.modes
            if any(cells):
                written[task.name][cluster.name] = _written_cells(cells, cluster)
    return written


def _written_cells(cells: tuple[Points | None, ...], cluster: Cluster) -> Any:  # noqa: ANN401 - as in the file
    """Return the curves of one cluster; a number alone where it is the same for any number of nodes."""
    ends = tuple(sorted({1, cluster.nodes}))
    told = [dict(cell) if cell is not None else {} for cell in cells]
    if all(tuple(each) in {(), ends} and len(set(each.values())) <= 1 for each in told):
        values = [each.get(1) for each in told]
        return values if cluster.p_states is not None else values[0]
    counts = sorted({nodes for each in told for nodes in each})
    if cluster.p_states is None:
        return {nodes: told[0][nodes] for nodes in counts}
    return {nodes: [each.get(nodes) for each in told] for nodes in counts}
