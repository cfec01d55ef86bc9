"""Files of plans over a horizon, and of their certificates.

A plan is compact, as JSON or YAML: groups of machines and what each of them runs when; or it has one row per task, as
`.csv` or `.parquet` with the columns of schedules of bags, where each row has a start. Rows cannot say when machines
that may be off stay on without running anything, nor when the horizon starts. Certificates are JSON with exact decimals
and a checksum against accidents. Readers raise an `InstanceError` if a file is not valid, writers an `OutputError` if
it cannot be written.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field

from lpsched.bag.files import MOST_ROW_ISSUES, read_rows, write_rows
from lpsched.bag.horizon.certificate import FORMAT as CERTIFICATE_FORMAT
from lpsched.bag.horizon.certificate import HorizonCertificate
from lpsched.bag.horizon.schedule import Plan, PlanGroup, TimedRun
from lpsched.bag.schedule import TaskRow
from lpsched.errors import InputIssue, InstanceError, LpschedWarning
from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import instance_of
from lpsched.io.rows import SUFFIXES
from lpsched.model.answers import (
    Answer,
    AnyName,
    Double,
    Exact,
    ExactPrices,
    Exacts,
    Sealed,
    answer_head,
    answer_text,
    checksum,
)
from lpsched.model.base import Part
from lpsched.model.fields import Amount, FrozenDict, Several, WholeMoment, column_numbers
from lpsched.model.results import json_of, plain

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.io.documents import Document

ROUNDING: Final = Fraction(1, 10**9)  # relative: by how much rows may overlap, as their starts are rounded numbers


@dataclass(frozen=True, slots=True)
class HorizonPlan:
    """A plan, and the horizon that it is for; `start` is in seconds since 1970 UTC, `None` if no date matters."""

    plan: Plan
    horizon_seconds: float
    start: int | None = None


class PlanFile(Answer):
    """The file of a plan."""

    FORMAT: ClassVar[str] = "lpsched-plan/1"
    HINT: ClassVar[str] = "correct it"

    start: WholeMoment | None = Field(None, kw_only=True)
    horizon_seconds: Annotated[float, Amount("seconds")]
    groups: Annotated[tuple[PlanGroup, ...], Several()]


def plan_as_dict(plan: HorizonPlan, bag: Bag, version: str) -> dict[str, Any]:
    """Return what the file says."""
    head = answer_head(PlanFile.FORMAT, version, bag.name, bag.content_hash)
    when = {"start": moment_text(plan.start), "horizon_seconds": plan.horizon_seconds}
    return head | when | json_of(plan.plan, "groups")


def write_plan(plan: HorizonPlan, bag: Bag, path: Path | str, version: str) -> None:
    """Write a plan: `.csv` and `.parquet` with one row per task, else compact with one group to a line."""
    if Path(path).suffix.lower() in SUFFIXES:
        write_plan_rows(plan.plan, bag, path)
        return
    write_files({Path(path): answer_text(plan_as_dict(plan, bag, version), "groups")})


def read_plan(path: Path | str) -> HorizonPlan:
    """Read a plan in its compact form; whether it fits a bag is decided by the verifier."""
    path = Path(path)
    return plan_of(read_document(path), path)


def plan_of(document: Document, path: Path) -> HorizonPlan:
    """Return the plan in the file at `path`."""
    file = instance_of(PlanFile, document, path)
    return HorizonPlan(Plan(file.groups), file.horizon_seconds, _moment_seconds(file.start))


def moment_text(start: int | None) -> str | None:
    """Return a moment in seconds since 1970 as text in UTC.

    >>> moment_text(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return None if start is None else datetime.fromtimestamp(start, UTC).isoformat().replace("+00:00", "Z")


def _moment_seconds(text: str | None) -> int | None:
    """Return the whole seconds since 1970 of a moment that was read."""
    return None if text is None else math.floor(datetime.fromisoformat(text).timestamp())


# One row per task. A start is written as the largest double that is not after it, and read back by adding up: tasks of
# a run are joined again where their starts are what they were rounded to, so that no task starts earlier than it did.
def write_plan_rows(plan: Plan, bag: Bag, path: Path | str) -> int:
    """Write a valid plan with one row per task; return the number of tasks."""
    if any(group.idle for group in plan.groups):
        lost = "the plan has machines that stay on without running anything, which rows of tasks cannot say"
        warnings.warn(f"{lost}; write it as .json to keep them", LpschedWarning, stacklevel=2)
    tasks = sum(group.machines * run.count for group in plan.groups for run in group.runs)
    write_rows(plan_rows(bag, plan), tasks, path, bag)
    return tasks


def plan_rows(bag: Bag, plan: Plan) -> Iterator[TaskRow]:
    """Yield every task of a valid plan, machine by machine, in the order of its start."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    used: Counter[str] = Counter()
    for group in plan.groups:
        name = group.machine_type
        for number in range(used[name] + 1, used[name] + group.machines + 1):
            for run in sorted(group.runs, key=lambda each: each.start_seconds):
                seconds = bag.seconds[row[run.task_type], column[name, run.p_state]]
                assert seconds is not None, "only valid plans are written"
                first, length = Fraction(run.start_seconds), Fraction(seconds)
                for k in range(run.count):
                    yield TaskRow(run.task_type, name, number, run.p_state, _double_below(first + k * length))
        used[name] += group.machines


def read_plan_rows(bag: Bag, path: Path | str) -> Plan:
    """Read a plan with one row per task; whether it is valid is decided by the verifier.

    Tasks that start with the end of the one before, but for rounding, are joined where they are alike, and else moved
    to that end if they start before it; all others keep their starts.
    """
    count_of = {machine.name: machine.count for machine in bag.machine_types}
    issues: list[InputIssue] = []
    machines: dict[tuple[str, int], list[TaskRow]] = {}
    for number, row in enumerate(read_rows(path), start=1):
        if row.start_seconds is None or not 0 <= row.start_seconds < math.inf:
            found = "no start" if row.start_seconds is None else f"the start {row.start_seconds!r}"
            issues.append(InputIssue(("row", number), found, "seconds from the start of the horizon", "correct it"))
        most = count_of.get(row.machine_type)
        if most is not None and not 1 <= row.machine <= most:
            needed = f"1 to {most} of {row.machine_type!r}"
            issues.append(InputIssue(("row", number), f"machine {row.machine}", needed, "correct it"))
        machines.setdefault((row.machine_type, row.machine), []).append(row)
        if len(issues) >= MOST_ROW_ISSUES:
            break
    if issues:
        raise InstanceError(str(path), tuple(issues))
    timelines = Counter((name, _runs(bag, rows)) for (name, _), rows in machines.items())
    return Plan(tuple(PlanGroup(name, count, runs) for (name, runs), count in timelines.items()))


def _runs(bag: Bag, rows: list[TaskRow]) -> tuple[TimedRun, ...]:
    """Return what one machine runs, from its rows."""
    row_of = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    runs: list[TimedRun] = []
    end = Fraction(0)
    for row in sorted(rows, key=lambda each: each.start_seconds or 0.0):
        start = row.start_seconds or 0.0
        i, mode = row_of.get(row.task_type), column.get((row.machine_type, row.p_state))
        seconds = None if i is None or mode is None else bag.seconds[i, mode]
        last = runs[-1] if runs else None
        if last is not None and 0 <= end - Fraction(start) <= end * ROUNDING:
            if (last.task_type, last.p_state) == (row.task_type, row.p_state) and seconds is not None:
                runs[-1] = TimedRun(last.start_seconds, last.task_type, last.count + 1, last.p_state)
                end += Fraction(seconds)
                continue
            start = -_double_below(-end)
        runs.append(TimedRun(start, row.task_type, 1, row.p_state))
        end = max(end, Fraction(start) + Fraction(seconds or 0.0))
    return tuple(runs)


def _double_below(exact: Fraction) -> float:
    """Return the largest double that is not above a number."""
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)


# Certificates.
class HorizonClaim(Part):
    """What is claimed, and for which horizon."""

    objective: AnyName
    unit: AnyName
    bound: Exact
    start: WholeMoment | None
    horizon_seconds: Double
    carbon_price_per_kg: Exact


PricesOverTime = Annotated[FrozenDict[str, Exacts], Several(needed="a mapping from names to lists of exact decimals")]


class HorizonPrices(Part):
    """Values of tasks; prices of a second of a machine, and of a joule under caps and at peaks, in each slot."""

    task_types: ExactPrices
    machine_types: PricesOverTime | None
    caps: PricesOverTime
    peaks: PricesOverTime


class HorizonCertificateFile(Sealed):
    """A certificate of a bag over a horizon."""

    FORMAT: ClassVar[str] = CERTIFICATE_FORMAT

    claim: HorizonClaim
    multipliers: HorizonPrices


def horizon_certificate_as_dict(certificate: HorizonCertificate, version: str) -> dict[str, Any]:
    """Return the content of the file; all numbers of the certificate are doubles."""
    claim = json_of(
        certificate,
        "objective unit bound start horizon_seconds carbon_price_per_kg",
        start=moment_text(certificate.start),
        horizon_seconds=Fraction(certificate.horizon_seconds),
    )
    multipliers = {
        "task_types": plain(certificate.task_values),
        "machine_types": plain(certificate.machine_prices),
        "caps": plain(certificate.cap_prices),
        "peaks": plain(certificate.peak_prices),
    }
    head = answer_head(CERTIFICATE_FORMAT, version, certificate.instance_name, certificate.instance_hash)
    content = head | {"claim": claim, "multipliers": multipliers}
    return content | {"checksum": checksum(content)}


def write_horizon_certificate(certificate: HorizonCertificate, path: Path | str, version: str) -> None:
    """Write a certificate."""
    write_files({Path(path): answer_text(horizon_certificate_as_dict(certificate, version))})


def read_horizon_certificate(path: Path | str) -> HorizonCertificate:
    """Read a certificate."""
    path = Path(path)
    return horizon_certificate_of(read_document(path), path)


def horizon_certificate_of(document: Document, path: Path) -> HorizonCertificate:
    """Return the certificate in the file at `path`; whether it proves its claim is decided by the checker."""
    file = instance_of(HorizonCertificateFile, document, path)
    claim, prices = file.claim, file.multipliers
    return HorizonCertificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        objective=claim.objective,
        unit=claim.unit,
        bound=claim.bound,
        horizon_seconds=claim.horizon_seconds,
        task_values=prices.task_types,
        start=_moment_seconds(claim.start),
        carbon_price_per_kg=claim.carbon_price_per_kg,
        machine_prices=prices.machine_types,
        cap_prices=prices.caps,
        peak_prices=prices.peaks,
    )
