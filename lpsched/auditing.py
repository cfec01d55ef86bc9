"""Check files that were made for an instance of any kind: schedules, allocations, certificates, proofs.

audit          the verdict on each file: a proof is derived again, a schedule or allocation checked and measured
verdict_of_*   the verdict on one file, by the kind of the instance (`lpsched.model.kinds`)

No solver is loaded, and of the slices only that of the instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import InstanceError
from lpsched.io.documents import read_document
from lpsched.io.rows import SUFFIXES
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import Verdict, rounded_down, rounded_up
from lpsched.model.kinds import format_of, kind_of
from lpsched.model.provenance import version_of_lpsched
from lpsched.model.results import brief, json_of, short_unit
from lpsched.units import JOULES_PER_KWH, counted, duration, energy_text, html_table, number, plain_text, power_text

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.verify import Measurement as BagMeasurement
    from lpsched.facility.model import Facility
    from lpsched.facility.verify import Measurement as FacilityMeasurement
    from lpsched.io.documents import Document
    from lpsched.model.violation import Violation
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.verify.clusters import ClustersMeasurement
    from lpsched.online.verify.day import DayMeasurement
    from lpsched.units import Writer

    Measurement = BagMeasurement | FacilityMeasurement | DayMeasurement | ClustersMeasurement


FORMAT: Final = "lpsched-verify/1"
MOST_FINER: Final = 13  # more digits: those distinguish any two doubles
TO_MINIMISE: Final[dict[str, Writer]] = {"makespan": duration, "energy": energy_text}  # objectives bounded from below
OVER_TIME: Final = ("cost", "carbon")  # likewise, of plans over a horizon
WAITING: Final = "waiting"  # of clusters: its bound is that on minus the cost
MEASURES: Final = {  # keys of a verdict, and what verifiers call them; no two kinds differ about a name
    "makespan_seconds": "makespan_seconds",
    "energy_joules": "energy_joules",
    "profit_per_hour": "profit_per_hour",
    "reward_rate": "reward_rate",
    "power_watts": "total_watts",
    "utility": "utility",
    "completed": "completed",
    "dropped": "dropped",
    "cost": "cost",
}
FACTS: Final = ("utilisation", "wait_seconds", "mean_slowdown", "mean_bounded_slowdown")  # of clusters
KEYS: Final = " ".join(("name kind accepted objective unit claimed proved", *MEASURES, *FACTS, "reasons"))
HEADERS: Final = ("file", "what", "verdict", "claimed", "proved or measured")


def claim_text(objective: str, bound: float | Fraction, unit: str | None = None, *, finer: int = 0) -> str:
    """Write a bound, claimed or proved, as what it is, so that it never looks better than it is.

    >>> claim_text("profit", 2 / 3, "USD/hour"), claim_text("makespan", 12.0, "seconds"), claim_text("waiting", -2 / 3)
    ('profit at most 0.6667 USD/h', 'makespan at least 12 s', 'cost of waiting at least 0.6666')
    """
    if objective in OVER_TIME:
        amount = plain_text(bound, upper=False, finer=finer)
        return f"{objective} at least {amount} {short_unit(unit or '')}".rstrip()
    if objective in TO_MINIMISE:
        return f"{objective} at least {TO_MINIMISE[objective](bound, upper=False, finer=finer)}"
    if objective == WAITING:
        return f"cost of waiting at least {plain_text(-bound, upper=False, finer=finer)}"
    return f"{objective} at most {plain_text(bound, upper=True, finer=finer)} {short_unit(unit or '')}".rstrip()


def audit(instance: Bag | Facility | Day | Clusters, files: Sequence[Path | str] | Mapping[str, Document]) -> Audit:
    """Check each file, or document by name, against the instance; an error in one is its verdict, not an exception.

    Certificates bring their own terms; schedules are held against the bag's power cap and deadline.
    """
    verdict_of = kind_of(instance).load("verify")
    documents = files if isinstance(files, Mapping) else {}
    verdicts = []
    for file in files:
        try:
            verdicts.append(verdict_of(instance, Path(file), documents.get(str(file))))
        except InstanceError as error:
            verdicts.append(Checked(str(Path(file)), "unreadable", tuple(str(issue) for issue in error.issues)))
    return Audit(instance.name, instance.content_hash, version_of_lpsched(), tuple(verdicts))


def verdict_of_bag(bag: Bag, path: Path, document: Document | None = None) -> Checked:
    """Check a certificate or a schedule: a file, or a document of this name."""
    from lpsched.bag.certificate.claim import FORMATS, check
    from lpsched.bag.cost import has_price
    from lpsched.bag.files import certificate_of, read_rows, schedule_of
    from lpsched.bag.verify import Examined, examine, gather

    name = str(path)
    may_wait = has_price(bag) and bag.site.deadline_seconds is None
    if document is None and path.suffix.lower() in SUFFIXES:
        gathered = gather(bag, read_rows(path))
        found = Examined(gathered.violations, None)
        if not gathered.violations:
            found = examine(bag, gathered.schedule, may_wait=may_wait)
    else:
        document = document or read_document(path)
        if (over_time := _verdict_over_time(bag, document, path)) is not None:
            return over_time
        if format_of(document.value) in FORMATS:
            certificate = certificate_of(document, path)
            is_upper = certificate.objective == "profit"
            verdict = check(bag, certificate)
            return _checked(path, verdict, certificate.objective, certificate.unit, is_upper=is_upper)
        found = examine(bag, schedule_of(document, path), may_wait=may_wait)
    words, measured = "", found.measured
    if measured is not None:
        profit = measured.profit_per_hour
        words = f"{'' if profit is None else f'{number(profit)} {bag.prices.currency}/h, '}{_taken(measured)}"
    return Checked(name, "schedule", _sentences(found.violations), measured=measured, words=words)


def _verdict_over_time(bag: Bag, document: Document, path: Path) -> Checked | None:
    """Check a certificate or a plan over a horizon; `None` if the file is neither."""
    from lpsched.bag.horizon.certificate import FORMAT as CERTIFICATE
    from lpsched.bag.horizon.certificate import check_horizon
    from lpsched.bag.horizon.files import PlanFile, horizon_certificate_of, plan_of
    from lpsched.bag.horizon.slots import slots_of
    from lpsched.bag.horizon.verify import measure_plan, verify_plan

    kind = format_of(document.value)
    if kind == CERTIFICATE:
        claim = horizon_certificate_of(document, path)
        if claim.instance_hash != bag.content_hash:
            hint = "give the same --tariff, --carbon, --caps, --grid-fee and --switch-off as for the plan"
            reason = f"it is about another bag: its hash is {claim.instance_hash}, not {bag.content_hash}; {hint}"
            return Checked(str(path), "certificate", (reason,), claim.objective, claim.unit, float(claim.bound))
        slots = slots_of(bag, horizon=claim.horizon_seconds, start=claim.start, need=())
        is_upper = claim.objective == "profit"
        return _checked(path, check_horizon(bag, slots, claim), claim.objective, claim.unit, is_upper=is_upper)
    if kind != PlanFile.FORMAT:
        return None
    given = plan_of(document, path)
    slots = slots_of(bag, horizon=given.horizon_seconds, start=given.start, need=())
    optional = bool(bag.prices.per_task)  # for profit, tasks may be left out
    broken = verify_plan(bag, slots, given.plan, optional=optional)
    if broken:
        return Checked(str(path), "plan", _sentences(broken))
    measured = measure_plan(bag, slots, given.plan)
    words = "" if sum(measured.finished) == bag.tasks else f"{sum(measured.finished):,} of {bag.tasks:,} tasks, "
    drawn = energy_text(measured.kwh * JOULES_PER_KWH)
    words += f"{number(rounded_up(measured.money))} {bag.prices.currency}, {drawn} at the meter"
    if measured.grams is not None:
        words += f", {number(rounded_up(measured.grams / 1000))} kg of CO2"
    return Checked(str(path), "plan", (), words=words, facts=FrozenDict({"cost": rounded_up(measured.money)}))


def _checked(
    path: Path, verdict: Verdict, objective: str, unit: str | None = None, *, is_upper: bool = True
) -> Checked:
    """Return the verdict on a certificate; its bounds are rounded to the side on which they stay true."""
    rounded = rounded_up if is_upper else rounded_down
    proved = None if verdict.proved is None else rounded(verdict.proved)
    return Checked(
        str(path), "certificate", verdict.reasons, objective, unit, claimed=rounded(verdict.claimed), proved=proved
    )


def verdict_of_facility(facility: Facility, path: Path, document: Document | None = None) -> Checked:
    """Check a proof or an allocation, likewise."""
    from lpsched.facility.certificate import boxes
    from lpsched.facility.files import allocation_of, proof_of
    from lpsched.facility.result import UNIT
    from lpsched.facility.verify import examine

    name, document = str(path), document or read_document(path)
    if format_of(document.value) in boxes.FORMATS:
        proof = proof_of(document, path)
        verdict = boxes.check(facility, proof)
        proved = None if verdict.proved is None else rounded_up(verdict.proved)
        return Checked(
            name, "proof", verdict.reasons, objective="reward", unit=UNIT, claimed=proof.bound, proved=proved
        )
    found = examine(facility, allocation_of(document, path))
    measured = found.measured
    words = "" if measured is None else f"{number(measured.reward_rate)} reward/s, {power_text(measured.total_watts)}"
    return Checked(name, "allocation", _sentences(found.violations), measured=measured, words=words)


def verdict_of_arrivals(instance: Day | Clusters, path: Path, document: Document | None = None) -> Checked:
    """Check a certificate or a schedule of tasks that arrive, likewise."""
    from lpsched.online.certificate import claim
    from lpsched.online.files import clusters_schedule_of, day_certificate_of, day_schedule_of
    from lpsched.online.result.policy import facts_of

    name = str(path)
    if document is None and path.suffix.lower() not in SUFFIXES:
        document = read_document(path)
    if document is not None and format_of(document.value) in claim.FORMATS:
        verdict = claim.check(instance, day_certificate_of(document, path))
        return _checked(path, verdict, claim.objective_of(instance))
    kind = kind_of(instance)
    if document is None:
        schedule = kind.load("read_schedule")(instance, path)
    else:
        schedule_of: Any = day_schedule_of if kind.name == "day" else clusters_schedule_of
        schedule = schedule_of(document, path, instance)
    found = kind.load("examine")(instance, schedule)
    measured = found.measured
    if measured is None:
        return Checked(name, "schedule", _sentences(found.violations))
    cost = getattr(measured, "cost", None)
    earned = f"utility {number(measured.utility)}" if cost is None else f"cost {number(cost)}"
    facts = FrozenDict(facts_of(measured) if kind.name == "clusters" else {})
    return Checked(name, "schedule", (), measured=measured, words=f"{earned}, {_taken(measured)}", facts=facts)


def _sentences(violations: Sequence[Violation]) -> tuple[str, ...]:
    return tuple(each.sentence for each in violations)


def _taken(measured: BagMeasurement | DayMeasurement | ClustersMeasurement) -> str:
    """Write how long a schedule takes, and its energy if that is known."""
    seconds, joules = measured.makespan_seconds, measured.energy_joules
    took = "nothing runs" if seconds is None else duration(seconds)
    return took if joules is None else f"{took}, {energy_text(joules)}"


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: a claim and what is proved of it, or a schedule or allocation with its measures."""

    name: str
    kind: str  # "certificate", "schedule"; of a facility "proof", "allocation"; or "unreadable"
    reasons: tuple[str, ...]  # for its rejection
    objective: str | None = None
    unit: str | None = None
    claimed: float | None = None
    proved: float | None = None
    measured: Measurement | None = None
    words: str = ""  # what was measured, for people
    facts: FrozenDict[str, Any] = field(default_factory=FrozenDict)  # what else, of clusters

    @property
    def accepted(self) -> bool:
        """Whether it is accepted."""
        return not self.reasons

    def to_dict(self) -> dict[str, Any]:
        """Return the file's verdict as it appears in JSON; it has the keys of all kinds."""
        of_kinds = {key: getattr(self.measured, attribute, None) for key, attribute in MEASURES.items()}
        of_kinds |= {key: self.facts[key] for key in MEASURES if key in self.facts}
        return json_of(self, KEYS, **of_kinds, **{key: self.facts.get(key) for key in FACTS})

    def row(self) -> tuple[str, ...]:
        """Return the verdict as a row of a table."""
        verdict = "accepted" if self.accepted else "rejected"
        claim = "-" if self.claimed is None else self._text(self.claimed, self._finer())
        derived = self.words or "-"
        if self.proved is not None:
            derived = self._text(self.proved, self._finer()).removeprefix("cost of waiting ")
            derived = derived.removeprefix(f"{self.objective} ")
        return (self.name, self.kind, verdict, claim, derived)

    def _finer(self) -> int:
        """Return how many more digits than usual distinguish claim and proof."""
        claimed, proved, finer = self.claimed, self.proved, 0
        if claimed is None or proved is None or claimed == proved:
            return 0
        while finer < MOST_FINER and self._text(claimed, finer) == self._text(proved, finer):
            finer += 1
        return finer

    def _text(self, bound: float, finer: int) -> str:
        return claim_text(self.objective or "", bound, self.unit, finer=finer)


@dataclass(frozen=True, slots=True)
class Audit:
    """The verdicts on all files."""

    instance_name: str
    instance_hash: str
    lpsched: str
    files: tuple[Checked, ...]
    __repr__ = brief

    @property
    def accepted(self) -> bool:
        """Whether every file is accepted."""
        return all(each.accepted for each in self.files)

    def headline(self) -> str:
        """Return how many files are accepted and rejected."""
        rejected = [each.name for each in self.files if not each.accepted]
        words = f"{len(self.files) - len(rejected):,} of {counted(len(self.files), 'file')} accepted"
        return f"{self.instance_name}: {words}{f', {len(rejected):,} rejected' if rejected else ''}."

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched verify --json` prints; its keys are stable."""
        instance = {"name": self.instance_name, "hash": self.instance_hash}
        return json_of(self, "format lpsched instance files", format=FORMAT, instance=instance)

    def _repr_html_(self) -> str:
        return html_table(HEADERS, [each.row() for each in self.files])
