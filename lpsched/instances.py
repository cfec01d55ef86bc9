"""Instances of any kind: read, write and show them, and sample the risk of their schedules."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from lpsched.errors import Fault, InstanceError
from lpsched.io.documents import read_document
from lpsched.model.base import COMMANDS, kind_of
from lpsched.model.fields import describe
from lpsched.model.risk import PERCENTILES, RiskOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.facility.model import Facility
    from lpsched.io.documents import Document
    from lpsched.io.instance_files import TableForm
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements
    from lpsched.model.risk import Cov, Risk
    from lpsched.model.violation import Violation
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule


class Kind(NamedTuple):
    """Where a kind of instance is read and written; loaded on use, so that one slice loads no other."""

    format: str
    read: str
    write: str


KINDS: Final = {
    "bag": Kind("lpsched.bag.model:FORMAT", "lpsched.bag.files:bag_of", "lpsched.bag.files:write_bag"),
    "facility": Kind(
        "lpsched.facility.model:FORMAT", "lpsched.facility.files:facility_of", "lpsched.facility.files:write_facility"
    ),
    "day": Kind("lpsched.online.day:FORMAT", "lpsched.online.files:day_of", "lpsched.online.files:write_day"),
    "clusters": Kind(
        "lpsched.online.clusters:CLUSTERS_FORMAT",
        "lpsched.online.files:clusters_of",
        "lpsched.online.files:write_clusters",
    ),
}
OTHERS: Final = {"bench": "lpsched.measure.files:bench_of", "measurements": "lpsched.measure.files:measurements_of"}


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
    kind = KINDS.get(kind_of(found)) if isinstance(found, str) else KINDS["bag"]
    if kind is None:
        *first, last = (f"'{pkgutil.resolve_name(each.format)}'" for each in KINDS.values())
        command = COMMANDS.get(str(found).partition("/")[0])
        do = "bring a file of these kinds" + (f", or use '{command}'" if command is not None else "")
        fault = Fault(("format",), describe(found), f"{', '.join(first)} or {last}", do)
        raise InstanceError(str(path), (fault,))
    made: Bag | Facility | Day | Clusters = pkgutil.resolve_name(kind.read)(document, path)
    return made


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
    names = [each.__name__.lower() for each in type(instance).__mro__]
    kind = next((KINDS[name] for name in names if name in KINDS), KINDS["bag"])
    written: tuple[Path, ...] = pkgutil.resolve_name(kind.write)(instance, path, form=form)
    return written


def read_shown(path: Path | str) -> Bag | Facility | Day | Clusters | Bench | Measurements:
    """Read a bag, a facility, a day, clusters, a bench or measurements from a YAML or JSON file."""
    path = Path(path)
    document = read_document(path)
    found = document.value.get("format") if isinstance(document.value, Mapping) else None
    reader = OTHERS.get(kind_of(found)) if isinstance(found, str) else None
    if reader is None:
        return instance_of(document, path)
    made: Bench | Measurements = pkgutil.resolve_name(reader)(document, path)
    return made


def risk_of(  # noqa: PLR0913 - options are keyword-only
    instance: Bag | Day,
    schedule: Schedule | DaySchedule,
    *,
    samples: int = 1000,
    cov: Cov = 0.3,
    power_cov: Cov | None = None,
    percentiles: Sequence[float] = PERCENTILES,
    drop_below: float | None = None,
    seed: int = 0,
) -> Risk:
    """Sample what a schedule takes if tasks do not take what the tables say.

    Parameters
    ----------
    instance, schedule
        A bag with a schedule of it, or a day with one.
    samples
        How often every time and power is drawn.
    cov, power_cov
        Coefficients of variation of seconds and watts: a number, or a pair (low, high) from which each pair
        and P-state draws its own. Powers scatter as times do, if nothing else is said.
    percentiles
        Which ones to tell.
    drop_below
        Of a day: tasks that are expected to earn less, when their turn comes, do not run.
    seed
        The same seed, the same answer; and the same luck for whatever two schedules have in common.

    Raises
    ------
    InstanceError
        If an option is not sound, the schedule is not valid, a day does not count as a whole, or there were
        too much to draw.

    Examples
    --------
    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, TaskType
    >>> from lpsched.model.table import Table
    >>> from lpsched.bag.schedule import MachineGroup, Run, Schedule
    >>> cpu, render = MachineType(name="cpu", count=1), TaskType(name="render", count=100)
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[3.0]]))
    >>> schedule = Schedule((MachineGroup("cpu", 1, (Run("render", 100),)),))
    >>> makespan = risk_of(bag, schedule, cov=0.5).quantities["makespan_seconds"]
    >>> makespan.planned, round(makespan.mean), round(makespan.standard_deviation)  # 0.5 x 3 x sqrt(100)
    (300.0, 300, 15)
    """
    from lpsched.bag.model import Bag  # noqa: PLC0415 - loaded on use, so that one slice loads no other
    from lpsched.bag.risk import bag_risk  # noqa: PLC0415 - likewise
    from lpsched.bag.schedule import Schedule  # noqa: PLC0415 - likewise
    from lpsched.bag.verify import examine  # noqa: PLC0415 - likewise

    options = RiskOptions(samples, cov, power_cov, tuple(percentiles))
    if isinstance(instance, Bag) and isinstance(schedule, Schedule):
        of_bag = examine(instance, schedule)
        _require_valid(instance.name, of_bag.violations)
        assert of_bag.measured is not None
        return bag_risk(instance, schedule, of_bag.measured, options, seed)
    if isinstance(instance, Bag) or isinstance(schedule, Schedule):
        found, needed = f"a {type(schedule).__name__}", f"a schedule of a {type(instance).__name__.lower()}"
        raise InstanceError(instance.name, (Fault(("schedule",), found, needed, "give one of its own kind"),))
    from lpsched.online.risk import day_risk  # noqa: PLC0415 - likewise
    from lpsched.online.verify import day as day_verifier  # noqa: PLC0415 - likewise

    of_day = day_verifier.examine(instance, schedule)
    _require_valid(instance.name, of_day.violations)
    assert of_day.measured is not None
    return day_risk(instance, schedule, of_day.measured, options, seed, drop_below=drop_below)


def _require_valid(name: str, violations: Sequence[Violation]) -> None:
    """Refuse a schedule that breaks rules."""
    do = "see what 'lpsched verify' says of it"
    faults = [Fault(("schedule",), each.sentence, "a valid schedule", do) for each in violations]
    if faults:
        raise InstanceError(name, tuple(faults))
