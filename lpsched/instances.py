"""What works for files and instances of every kind: read, write, validate, certify, sample the risk."""

# ruff: noqa: ANN401 - types and options go by the kind of the instance

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, overload

from lpsched.errors import InputIssue, InstanceError
from lpsched.io.content import CHECK
from lpsched.io.documents import read_document
from lpsched.io.instance_files import instance_of
from lpsched.io.rows import SUFFIXES
from lpsched.model.fields import describe
from lpsched.model.kinds import HINTS, INSTANCES, KINDS, Kind, format_of, kind_of, name_of
from lpsched.model.provenance import version_of_lpsched
from lpsched.model.risk import PERCENTILES, Cov, Risk, RiskOptions

if TYPE_CHECKING:
    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.compare.result import FrontComparison, Validation
    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule
    from lpsched.facility.certificate.boxes import FacilityCertificate
    from lpsched.facility.model import Facility
    from lpsched.facility.result import FacilityValidation
    from lpsched.io.documents import Document
    from lpsched.io.instance_files import TableForm
    from lpsched.online.certificate.claim import DayCertificate
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.result.comparisons import ClustersValidation, DayFront, DayValidation
    from lpsched.online.schedule import DaySchedule

ANSWERS: Final = {  # formats of files made for an instance, and what makes an object of such a document
    "schedule": "bag.files:schedule_of",
    "allocation": "facility.files:allocation_of",
    "certificate": "bag.files:certificate_of",
    "proof": "facility.files:proof_of",
    "day-schedule": "online.files:day_schedule_of",
    "clusters-schedule": "online.files:clusters_schedule_of",
    "day-certificate": "online.files:day_certificate_of",
    "clusters-certificate": "online.files:day_certificate_of",
    "plan": "bag.horizon.files:plan_of",
    "horizon-certificate": "bag.horizon.files:horizon_certificate_of",
}
WRITERS: Final = {  # classes of such objects, what writes one, and whether it takes the instance
    "Schedule": ("bag.files:write_schedule", True),
    "GangAllocation": ("facility.files:write_allocation", True),
    "CoreAllocation": ("facility.files:write_allocation", True),
    "Certificate": ("bag.files:write_certificate", False),
    "FacilityCertificate": ("facility.files:write_proof", False),
    "DayCertificate": ("online.files:write_day_certificate", False),
    "ClustersCertificate": ("online.files:write_day_certificate", False),
    "DaySchedule": ("online.files:write_arriving_schedule", True),
    "ClustersSchedule": ("online.files:write_arriving_schedule", True),
    "HorizonPlan": ("bag.horizon.files:write_plan", True),
    "HorizonCertificate": ("bag.horizon.files:write_horizon_certificate", False),
}


def read(path: Path | str, instance: Bag | Day | Clusters | None = None) -> Any:
    """Read any lpsched file: an instance, or a schedule, allocation, certificate, study or measurements.

    Suspect but valid input gives an `LpschedWarning`.

    Parameters
    ----------
    path
        A YAML or JSON file; its `format` says what it holds. Files that it names are read too. A schedule with one row
        per task is a CSV or Parquet file; of a day or of clusters it may be a JSON file.
    instance
        What a schedule with one row per task belongs to: required for CSV and Parquet. If given, task types and ends
        (in seconds) that rows of days and clusters have are checked against it.

    Raises
    ------
    InstanceError
        If anything is invalid; the error lists every problem in file order.
    MissingExtraError
        If PyArrow is needed to read a Parquet file and is not installed.
    """
    path = Path(path)
    if path.suffix.lower() in SUFFIXES:
        return _read_rows(path, instance)
    document = read_document(path)
    name = name_of(format_of(document.value) or "")
    if instance is not None and name.endswith("-schedule") and kind_of(instance).read_schedule:
        return _read_rows(path, instance)
    reader = ANSWERS.get(name)
    if reader is not None:
        return pkgutil.resolve_name(f"lpsched.{reader}")(document, path)
    return read_with_kind(path, tuple(KINDS))[0]


def document_of(document: Document, path: Path, instance: Bag | Facility | Day | Clusters) -> Any:
    """Return the schedule or allocation of an instance that a document holds; `path` is what errors call it."""
    kind = kind_of(instance)
    name = {"bag": "schedule", "facility": "allocation"}.get(kind.name, f"{kind.name}-schedule")
    of_rows = [instance] if kind.read_schedule else []
    return pkgutil.resolve_name(f"lpsched.{ANSWERS[name]}")(document, path, *of_rows)


def _read_rows(path: Path, instance: Bag | Day | Clusters | None) -> Any:
    if instance is None:
        issue = InputIssue(("instance",), "none", "what the schedule belongs to", "pass a bag, a day or clusters")
        raise InstanceError(str(path), (issue,))
    kind = kind_of(instance)
    if kind.read_schedule:
        return kind.load("read_schedule")(instance, path)
    rows = pkgutil.resolve_name("lpsched.bag.files:read_rows")(path)
    gathered = pkgutil.resolve_name("lpsched.bag.verify:gather")(instance, rows)
    if gathered.violations:
        issues = (InputIssue((), each.sentence, "a valid schedule", "correct it") for each in gathered.violations)
        raise InstanceError(str(path), tuple(issues))
    return gathered.schedule


def read_instance(path: Path | str) -> Bag | Facility | Day | Clusters:
    """Read a bag, a facility, a day or clusters."""
    made: Bag | Facility | Day | Clusters = read_with_kind(path)[0]
    return made


def read_with_kind(path: Path | str, kinds: Sequence[str] = INSTANCES) -> tuple[Any, Kind]:
    """Read a file of one of these kinds, by the format that it names; without one a bag, if that is the first kind."""
    path = Path(path)
    document = read_document(path)
    found = format_of(document.value)
    kind = KINDS.get(("bag" if kinds[0] == "bag" else "") if found is None else name_of(found))
    if kind is not None and kind.name in kinds:
        return instance_of(kind.load("model"), document, path), kind
    formats = " or ".join(f"'{KINDS[name].load('model').FORMAT}'" for name in kinds)
    do = "write it as the first key" if found is None else HINTS.get(found.partition("/")[0], CHECK)
    shown = "no format" if found is None else describe(found)
    issue = InputIssue(("format",), shown, formats, do, document.line_of(("format",)))
    raise InstanceError(str(path), (issue,))


def write(
    content: Any,
    path: Path | str,
    *,
    instance: Bag | Facility | Day | Clusters | None = None,
    form: TableForm | None = None,
) -> tuple[Path, ...]:
    """Write an instance, schedule, allocation or certificate without loss; return the files written, its own last.

    Parameters
    ----------
    content
        An instance, or what was made for one.
    path
        Instances: .yaml or .json. Certificates and allocations: .json. Schedules of bags: .json (compact), .csv or
        .parquet (one row per task); of days and clusters: .csv, .parquet or .json (one row per task that runs).
    instance
        What a schedule or an allocation belongs to. Rows of days and clusters in .csv and .parquet need none: then they
        have no task types and ends.
    form
        How an instance's tables are written; by default by their size.

    Raises
    ------
    InstanceError
        If the file's ending does not fit.
    OutputError
        If a file cannot be written; then none is.
    """
    path, name = Path(path), type(content).__name__
    if name not in WRITERS:
        written: tuple[Path, ...] = kind_of(content).load("write")(content, path, form=form)
        return written
    place, of_instance = WRITERS[name]
    alone = name in {"DaySchedule", "ClustersSchedule"} and path.suffix.lower() != ".json"
    if of_instance and instance is None and not alone:
        issue = InputIssue(("instance",), "none", f"what the {name} belongs to", "pass instance=...")
        raise InstanceError(str(path), (issue,))
    more = [instance] if of_instance else []
    pkgutil.resolve_name(f"lpsched.{place}")(content, *more, path, version_of_lpsched())
    return (path,)


Schedules: TypeAlias = "Mapping[str, Any] | Sequence[Path | str] | Schedule | Path | str"


@overload
def validate(instance: Bag, schedules: Schedules = ..., **options: Any) -> Validation: ...
@overload
def validate(instance: Facility, schedules: Schedules = ..., **options: Any) -> FacilityValidation: ...
@overload
def validate(instance: Day, schedules: Schedules = ..., **options: Any) -> DayValidation: ...
@overload
def validate(instance: Clusters, schedules: Schedules = ..., **options: Any) -> ClustersValidation: ...
@overload
def validate(instance: Path | str, schedules: Schedules = ..., **options: Any) -> Any: ...
def validate(
    instance: Bag | Facility | Day | Clusters | Path | str,
    schedules: Schedules = (),
    *,
    schedulers: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """Check schedules or allocations, run schedulers, and compare each with the proved bound.

    Parameters
    ----------
    instance
        An instance of any kind, or the path of its file.
    schedules
        Schedules or allocations by name, paths of their files, or a single one.
    schedulers
        Which to run: names (bags and days: heuristics; facilities: methods) or, for bags and days, functions.
    options
        `seed`, `time_limit` (seconds) and those of `lpsched.bag.compare.schedules.validate`,
        `lpsched.facility.compare.validate_facility`, `lpsched.online.compare.schedules.validate_day` and
        `validate_clusters`, by the kind of the instance.
    """
    if isinstance(instance, Path | str):
        instance = read_instance(instance)
    if isinstance(schedules, Path | str):
        schedules = [schedules]
    elif not isinstance(schedules, Mapping | Sequence):
        schedules = {"schedule": schedules}
    kind = kind_of(instance)
    if schedulers and kind.name == "clusters":
        issue = InputIssue(("schedulers",), "some", "none for clusters", "run policies with simulate")
        raise InstanceError(instance.name, (issue,))
    if schedulers:
        options["methods" if kind.name == "facility" else "heuristics"] = schedulers
    return kind.load("validate")(instance, schedules, **options)


def compare_fronts(
    instance: Bag | Day | Path | str, methods: Sequence[str | Path], **options: Any
) -> FrontComparison | DayFront:
    """Compare fronts (bags: energy and makespan; days: energy and utility) with the proved one.

    Parameters
    ----------
    instance
        A bag or a day, or the path of its file.
    methods
        Names of heuristics and genetic algorithms, or folders of schedules.
    options
        `seed`, and those of `lpsched.bag.compare.fronts.compare_fronts` or
        `lpsched.online.compare.day_fronts.compare_day_fronts`.
    """
    given = read_instance(instance) if isinstance(instance, Path | str) else instance
    kind = kind_of(given)
    if not kind.front:
        issue = InputIssue((), kind.phrase, "a bag or a day", "others have no front")
        raise InstanceError(given.name, (issue,))
    comparison: FrontComparison | DayFront = kind.load("front")(given, methods, **options)
    return comparison


@overload
def certify(instance: Bag, **options: Any) -> Certificate: ...
@overload
def certify(instance: Facility, **options: Any) -> FacilityCertificate: ...
@overload
def certify(instance: Day | Clusters, **options: Any) -> DayCertificate: ...
@overload
def certify(instance: Path | str, **options: Any) -> Any: ...
def certify(instance: Bag | Facility | Day | Clusters | Path | str, **options: Any) -> Any:
    """Return a bound on every schedule with the multipliers that prove it, for `verify` to check without a solver.

    Parameters
    ----------
    instance
        An instance of any kind, or the path of its file.
    options
        `time_limit` (seconds) and those of `solve` for bags or of `facility` for facilities.
    """
    if isinstance(instance, Path | str):
        instance = read_instance(instance)
    kind = kind_of(instance)
    if kind.name == "facility":
        return pkgutil.resolve_name("lpsched.facility.solve:facility")(instance, prove=True, **options).certificate
    return kind.load("certify")(instance, **options)


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
        and P-state draws its own, or "file" for the bag's own tables. `power_cov` is `cov` by default.
    percentiles
        Which ones to return, from 0 to 100.
    drop_below
        Of a day: tasks whose expected utility is less when they would start do not run.
    seed
        Random seed; two schedules with the same seed have the same draws for the same tasks.

    Raises
    ------
    InstanceError
        If an option or the schedule is not valid, a day does not count as a whole, or there were too much to draw.

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
        raise InstanceError(instance.name, (InputIssue(("schedule",), found, needed, "give one of its own kind"),))
    examined = kind.load("examine")(instance, schedule)
    do = "see what 'lpsched verify' says of it"
    issues = [InputIssue(("schedule",), each.sentence, "a valid schedule", do) for each in examined.violations]
    if issues:
        raise InstanceError(instance.name, tuple(issues))
    of_day = {"drop_below": drop_below} if kind.name == "day" else {}
    risk: Risk = kind.load("risk")(instance, schedule, examined.measured, options, seed, **of_day)
    return risk
