"""Check files that were made for an instance of any kind: schedules, allocations, certificates, proofs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag import verify as bag
from lpsched.bag.certificate.claim import FORMATS, check
from lpsched.bag.certificate.files import certificate_from_dict
from lpsched.bag.cost import has_price
from lpsched.bag.files import read_rows, schedule_from_dict
from lpsched.bag.verify import Examined, examine, gather
from lpsched.errors import InstanceError
from lpsched.facility import verify as facilities
from lpsched.facility import verify as facility
from lpsched.facility.certificate import boxes
from lpsched.facility.certificate.files import proof_from_dict
from lpsched.facility.files import allocation_from_dict
from lpsched.facility.model import Facility
from lpsched.facility.result import UNIT as REWARD_UNIT
from lpsched.io.documents import read_document
from lpsched.io.rows import SUFFIXES
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import version_of_lpsched
from lpsched.online.certificate import claim as arrivals
from lpsched.online.certificate.files import day_certificate_from_dict
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day
from lpsched.online.result.policy import facts_of
from lpsched.online.schedule_files import read_clusters_schedule, read_day_schedule
from lpsched.online.verify import clusters, day
from lpsched.online.verify import clusters as many_nodes
from lpsched.online.verify import day as days
from lpsched.units import bound_text, html_table, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.io.documents import Document
    from lpsched.online.verify.clusters import ExaminedClusters
    from lpsched.online.verify.day import ExaminedDay


# Check what was made of an instance of any kind: schedules and allocations, certificates and proofs.
#
# audit      the verdict on each file: a proof is derived again, a schedule or allocation checked and measured
# examined_allocation
#            one allocation file of a facility
#
# There is no solver anywhere near.
def audit(instance: Bag | Facility | Day | Clusters, files: Sequence[Path | str]) -> Audit:
    """Check each file against the instance; whatever is wrong with one is its verdict, not an error.

    Certificates bring their own terms; schedules are held against the bag's power cap and deadline.
    """
    verdicts = tuple(_verdict(instance, Path(file)) for file in files)
    return Audit(instance.name, instance.content_hash, version_of_lpsched(), verdicts)


def _verdict(instance: Bag | Facility | Day | Clusters, path: Path) -> Checked:
    if isinstance(instance, Facility):
        return _of_facility(instance, path)
    if isinstance(instance, Day | Clusters):
        return _of_arrivals(instance, path)
    return _checked(instance, path)


def _examined_rows(bag: Bag, path: Path, *, may_wait: bool) -> Examined:
    gathered = gather(bag, read_rows(path))
    if gathered.violations:
        return Examined(gathered.violations, None)
    return examine(bag, gathered.schedule, may_wait=may_wait)


def _examined_document(bag: Bag, name: str, document: Document, *, may_wait: bool) -> Examined:
    return examine(bag, schedule_from_dict(document.value, name, document.faults), may_wait=may_wait)


def _checked(bag: Bag, path: Path) -> Checked:
    name = str(path)
    may_wait = has_price(bag) and bag.site.deadline_seconds is None
    try:
        if path.suffix.lower() in SUFFIXES:
            found = _examined_rows(bag, path, may_wait=may_wait)
        else:
            document = read_document(path)
            if isinstance(document.value, dict) and document.value.get("format") in FORMATS:
                return _certificate(bag, name, document)
            found = _examined_document(bag, name, document, may_wait=may_wait)
    except InstanceError as error:
        return _unreadable(name, error)
    reasons = tuple(each.sentence for each in found.violations)
    return Checked(name, "schedule", None, None, None, None, found.measured, reasons)


def _of_facility(facility: Facility, path: Path) -> Checked:
    """Check a proof or an allocation."""
    name = str(path)
    try:
        document = read_document(path)
        if isinstance(document.value, dict) and document.value.get("format") in boxes.FORMATS:
            proof = proof_from_dict(document.value, name, document.faults)
            verdict = boxes.check(facility, proof)
            proved = None if verdict.proved is None else rounded_up(verdict.proved)
            return Checked(name, "proof", "reward", REWARD_UNIT, proof.bound, proved, None, verdict.reasons)
        found = facilities.examine(facility, allocation_from_dict(document.value, name, document.faults))
    except InstanceError as error:
        return _unreadable(name, error)
    reasons = tuple(each.sentence for each in found.violations)
    return Checked(name, "allocation", None, None, None, None, found.measured, reasons)


def _of_arrivals(instance: Day | Clusters, path: Path) -> Checked:
    """Check a certificate or a schedule of tasks that arrive."""
    try:
        if path.suffix.lower() not in SUFFIXES:
            document = read_document(path)
            if isinstance(document.value, dict) and document.value.get("format") in arrivals.FORMATS:
                return _day_certificate(instance, str(path), document)
        found = _examined_arrivals(instance, path)
    except InstanceError as error:
        return _unreadable(str(path), error)
    reasons = tuple(each.sentence for each in found.violations)
    return Checked(str(path), "schedule", None, None, None, None, found.measured, reasons)


def _examined_arrivals(instance: Day | Clusters, path: Path) -> ExaminedDay | ExaminedClusters:
    if isinstance(instance, Clusters):
        return many_nodes.examine(instance, read_clusters_schedule(instance, path))
    return days.examine(instance, read_day_schedule(instance, path))


def _day_certificate(instance: Day | Clusters, name: str, document: Document) -> Checked:
    verdict = arrivals.check(instance, day_certificate_from_dict(document.value, name, document.faults))
    proved = None if verdict.proved is None else rounded_up(verdict.proved)
    objective = arrivals.objective_of(instance)
    claimed = rounded_up(verdict.claimed)
    return Checked(name, "certificate", objective, None, claimed, proved, None, verdict.reasons)


def _unreadable(name: str, error: InstanceError) -> Checked:
    reasons = tuple(str(fault) for fault in error.faults)
    return Checked(name, "unreadable", None, None, None, None, None, reasons)


def _certificate(bag: Bag, name: str, document: Document) -> Checked:
    certificate = certificate_from_dict(document.value, name, document.faults)
    verdict = check(bag, certificate)
    stays_true = rounded_up if certificate.objective == "profit" else rounded_down
    return Checked(
        name=name,
        kind="certificate",
        objective=certificate.objective,
        unit=certificate.unit,
        claimed=stays_true(verdict.claimed),
        proved=None if verdict.proved is None else stays_true(verdict.proved),
        measured=None,
        reasons=verdict.reasons,
    )


# What an audit returns: each certificate and schedule accepted or refused, its numbers derived again.
FORMAT: Final = "lpsched-verify/1"
MOST_DIGITS: Final = 17  # tell any two doubles apart
TO_MINIMISE: Final = ("makespan", "energy")  # objectives with bounds from below
HEADERS: Final = ("file", "what", "verdict", "claimed", "proved or measured")


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: a claim and what is proved of it, or a schedule or allocation with its measures."""

    name: str
    kind: str  # "certificate", "schedule"; of a facility "proof", "allocation"; or "unreadable"
    objective: str | None
    unit: str | None
    claimed: float | None
    proved: float | None
    measured: bag.Measurement | facility.Measurement | day.DayMeasurement | clusters.ClustersMeasurement | None
    reasons: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def to_dict(self) -> dict[str, Any]:
        """Return the file's verdict as it appears in JSON."""
        of_bag = self.measured if isinstance(self.measured, bag.Measurement) else None
        of_clusters = self.measured if isinstance(self.measured, clusters.ClustersMeasurement) else None
        of_day = self.measured if isinstance(self.measured, day.DayMeasurement) else of_clusters
        timed = of_bag if of_bag is not None else of_day
        of_facility = self.measured if isinstance(self.measured, facility.Measurement) else None
        return {
            "name": self.name,
            "kind": self.kind,
            "accepted": self.accepted,
            "objective": self.objective,
            "unit": self.unit,
            "claimed": self.claimed,
            "proved": self.proved,
            "makespan_seconds": None if timed is None else timed.makespan_seconds,
            "energy_joules": None if timed is None else timed.energy_joules,
            "profit_per_hour": None if of_bag is None else of_bag.profit_per_hour,
            "reward_rate": None if of_facility is None else of_facility.reward_rate,
            "power_watts": None if of_facility is None else of_facility.total_watts,
            "utility": None if of_day is None else of_day.utility,
            "completed": None if of_day is None else of_day.completed,
            "dropped": None if of_day is None else of_day.dropped,
            "cost": None if of_clusters is None else of_clusters.cost,
            **facts_of(of_clusters),
            "reasons": list(self.reasons),
        }

    def row(self) -> tuple[str, ...]:
        """Return the verdict as a row of a table."""
        verdict = "accepted" if self.accepted else "refused"
        return (self.name, self.kind, verdict, self._claim(), self._derived())

    def _claim(self) -> str:
        return "-" if self.claimed is None else f"{self.objective} {self._with_unit(self.claimed)}"

    def _derived(self) -> str:
        if self.proved is not None:
            return self._with_unit(self.proved)
        if self.measured is None:
            return "-"
        if isinstance(self.measured, facility.Measurement):
            return f"{number(self.measured.reward_rate)} reward/second, {number(self.measured.total_watts)} W"
        seconds, joules = self.measured.makespan_seconds, self.measured.energy_joules
        parts = [f"{number(seconds)} s"] if seconds is not None else ["nothing runs"]
        if isinstance(self.measured, day.DayMeasurement | clusters.ClustersMeasurement):
            parts.insert(0, _earned(self.measured))
        return ", ".join(parts + ([f"{number(joules)} J"] if joules is not None else []))

    def _with_unit(self, value: float) -> str:
        return self._digits(value) if self.unit is None else f"{self._digits(value)} {self.unit}"

    def _digits(self, value: float) -> str:
        """Write claim and proof alike, with as many digits as it takes to tell them apart."""
        near = self.claimed is not None and self.proved is not None and self.claimed != self.proved
        digits = 6
        while near and digits < MOST_DIGITS and self._text(self.claimed, digits) == self._text(self.proved, digits):
            digits += 1
        return self._text(value, digits)

    def _text(self, bound: float | None, digits: int) -> str:
        """Write a bound, claimed or proved, so that it never looks better than it is."""
        return bound_text(bound, upper=self.objective not in TO_MINIMISE, digits=digits)


def _earned(measured: day.DayMeasurement | clusters.ClustersMeasurement) -> str:
    cost = measured.cost if isinstance(measured, clusters.ClustersMeasurement) else None
    return f"utility {number(measured.utility)}" if cost is None else f"cost {number(cost)}"


@dataclass(frozen=True, slots=True)
class Audit:
    """The verdicts on all files."""

    instance_name: str
    instance_hash: str
    lpsched: str
    files: tuple[Checked, ...]

    @property
    def accepted(self) -> bool:
        """Whether every file is accepted."""
        return all(each.accepted for each in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched verify --json` prints; its keys are stable."""
        return {
            "format": FORMAT,
            "lpsched": self.lpsched,
            "instance": {"name": self.instance_name, "hash": self.instance_hash},
            "files": [each.to_dict() for each in self.files],
        }

    def _repr_html_(self) -> str:
        return html_table(HEADERS, [each.row() for each in self.files])
