"""Check what was made of an instance of any kind: schedules and allocations, certificates and proofs.

audit      the verdict on each file: a proof is derived again, a schedule or allocation checked and measured
examined_allocation
           one allocation file of a facility

There is no solver anywhere near.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lpsched.certificate import arrivals, boxes
from lpsched.certificate.claim import FORMATS, check
from lpsched.certificate.fixed_point import rounded_down, rounded_up
from lpsched.errors import InstanceError
from lpsched.files.allocations import allocation_from_dict
from lpsched.files.certificates import certificate_from_dict
from lpsched.files.cluster_schedules import read_clusters_schedule
from lpsched.files.day_certificates import day_certificate_from_dict
from lpsched.files.day_schedules import read_day_schedule
from lpsched.files.documents import read_document
from lpsched.files.proofs import proof_from_dict
from lpsched.files.rows import SUFFIXES
from lpsched.files.schedules import schedule_from_dict
from lpsched.files.task_rows import read_rows
from lpsched.instance.clusters import Clusters
from lpsched.instance.day import Day
from lpsched.instance.facility import Facility
from lpsched.result.audit import Audit, Checked
from lpsched.result.facility_facts import UNIT as REWARD_UNIT
from lpsched.result.provenance import version_of_lpsched
from lpsched.verify import clusters as many_nodes
from lpsched.verify import day as days
from lpsched.verify import facility as facilities
from lpsched.verify.bag import Examined, examine
from lpsched.verify.tasks import gather

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.files.documents.document import Document
    from lpsched.instance import Bag
    from lpsched.verify.clusters import ExaminedClusters
    from lpsched.verify.day import ExaminedDay


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
    name, prices = str(path), bag.prices
    sold = prices.per_bag is not None or bool(prices.per_task)
    may_wait = sold and bag.site.deadline_seconds is None
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
