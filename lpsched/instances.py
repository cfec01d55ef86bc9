"""Instances of any kind: read, write and show them, and sample the risk of their schedules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lpsched.errors import Fault, InstanceError
from lpsched.io.documents import read_document
from lpsched.io.instance_files import instance_of
from lpsched.model.fields import describe
from lpsched.model.kinds import COMMANDS, INSTANCES, KINDS, Kind, format_of, kind_of, name_of
from lpsched.model.risk import PERCENTILES, Cov, Risk, RiskOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.facility.model import Facility
    from lpsched.io.instance_files import TableForm
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule


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
    made: Bag | Facility | Day | Clusters = read_with_kind(path)[0]
    return made


def read_with_kind(path: Path | str, kinds: Sequence[str] = INSTANCES) -> tuple[Any, Kind]:
    """Read a file of one of these kinds, by the format that it names; without one it should be a bag."""
    path = Path(path)
    document = read_document(path)
    found = format_of(document.value)
    kind = KINDS["bag"] if found is None else KINDS.get(name_of(found))
    if kind is not None and kind.name in kinds:
        return instance_of(kind.load("model"), document, path), kind
    *first, last = (f"'{KINDS[name].load('model').FORMAT}'" for name in INSTANCES)
    command = COMMANDS.get(str(found).partition("/")[0])
    do = "bring a file of these kinds" + (f", or use '{command}'" if command is not None else "")
    fault = Fault(("format",), describe(found), f"{', '.join(first)} or {last}", do)
    raise InstanceError(str(path), (fault,))


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
    written: tuple[Path, ...] = kind_of(instance).load("write")(instance, path, form=form)
    return written


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
    options, kind = RiskOptions(samples, cov, power_cov, tuple(percentiles)), kind_of(instance)
    if not isinstance(schedule, kind.load("schedule")):
        found, needed = f"a {type(schedule).__name__}", f"a schedule of a {type(instance).__name__.lower()}"
        raise InstanceError(instance.name, (Fault(("schedule",), found, needed, "give one of its own kind"),))
    examined = kind.load("examine")(instance, schedule)
    do = "see what 'lpsched verify' says of it"
    faults = [Fault(("schedule",), each.sentence, "a valid schedule", do) for each in examined.violations]
    if faults:
        raise InstanceError(instance.name, tuple(faults))
    of_day = {"drop_below": drop_below} if kind.name == "day" else {}
    risk: Risk = kind.load("risk")(instance, schedule, examined.measured, options, seed, **of_day)
    return risk
