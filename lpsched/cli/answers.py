"""What every JSON answer about an instance begins with, and what every written one is answered with."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lpsched.cli.talk import Talk
    from lpsched.files.instance_files import TableForm
    from lpsched.instance import Bag
    from lpsched.instance.bench import Bench
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.facility import Facility
    from lpsched.instance.measurements import Measurements


def header(kind: str, instance: Bag | Facility | Day | Clusters | Bench | Measurements) -> dict[str, Any]:
    """Return the keys that every JSON answer has."""
    return {
        "format": kind,
        "lpsched": version("lpsched"),
        "instance": {"name": instance.name, "hash": instance.content_hash},
    }


def write_and_tell(
    talk: Talk,
    instance: Bag | Facility | Day | Clusters | Measurements,
    path: Path,
    form: TableForm | None,
    **more: object,
) -> None:
    """Write an instance or measurements, and say which files now hold it."""
    from lpsched.files.instances import write_instance
    from lpsched.files.measurements import write_measurements
    from lpsched.instance.measurements import Measurements

    if isinstance(instance, Measurements):
        write_measurements(instance, path)
        files = [str(path)]
    else:
        files = [str(file) for file in write_instance(instance, path, form=form)]
    text = f"{path}: {_size(instance)}\n" + "".join(f"{file}: {_held(file)}\n" for file in files[:-1])
    talk.answer(header("lpsched-written/1", instance) | {"files": files} | more, text=text)


def _held(file: str) -> str:
    return "its tasks" if Path(file).stem.endswith(".tasks") else "its tables"


def _size(instance: Bag | Facility | Day | Clusters | Measurements) -> str:
    from lpsched.instance import Bag
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.measurements import Measurements

    if isinstance(instance, Measurements):
        kinds = f"{len(instance.measured):,} settings measured, {len(instance.failed):,} failed"
        return f"{len(instance.seconds):,} applications on {instance.machine_type} ({kinds})"
    if isinstance(instance, Clusters):
        kinds = f"{len(instance.task_types):,} task types, {len(instance.clusters):,} clusters"
        return f"{instance.tasks:,} tasks on {instance.nodes:,} nodes with {instance.cores:,} cores ({kinds})"
    if isinstance(instance, Bag | Day):
        kinds = f"{len(instance.task_types):,} task types, {len(instance.machine_types):,} machine types"
        return f"{instance.tasks:,} tasks on {instance.machines:,} machines ({kinds})"
    kinds = f"{len(instance.task_types):,} task types, {len(instance.node_types):,} node types"
    cores = f"{len(instance.nodes):,} nodes with {instance.cores:,} cores"
    return f"{cores}, {len(instance.crac_units):,} CRAC units ({kinds})"
