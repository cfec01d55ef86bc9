"""Check files that were made for an instance of any kind: schedules, allocations, certificates, proofs.

audit          the verdict on each file: a proof is derived again, a schedule or allocation checked and measured
verdict_of_*   the verdict on one file, by the kind of the instance (`lpsched.model.kinds`)

A certificate may be about the instance under other terms: another price, cap, deadline or horizon, fixed outlets. It
is accepted only where its terms are those of the instance, or those that the caller names.

No solver is loaded, and of the slices only that of the instance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import LONGEST_QUOTE, InfeasibleError, InputIssue, InstanceError, quoted_hash
from lpsched.io.documents import read_document
from lpsched.io.rows import SUFFIXES
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import Verdict, rounded_down, rounded_up
from lpsched.model.kinds import KINDS, format_of, kind_of
from lpsched.model.provenance import version_of_lpsched
from lpsched.model.results import brief, json_of, short_unit
from lpsched.model.terms import TERMS, differing, words_of, written
from lpsched.units import JOULES_PER_KWH, counted, duration, energy_text, html_table, number, plain_text, power_text

if TYPE_CHECKING:
    from datetime import datetime

    from lpsched.bag.horizon.certificate import HorizonCertificate
    from lpsched.bag.horizon.files import HorizonPlan
    from lpsched.bag.horizon.slots import Slots
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
KEYS: Final = " ".join(
    ("name kind accepted verdict terms same_terms objective unit claimed proved", *MEASURES, *FACTS, "reasons")
)
HEADERS: Final = ("file", "what", "verdict", "claimed", "proved or measured")
ACCEPTED: Final = "accepted"
OTHER_TERMS: Final = "other terms"  # what is claimed is proved, but not of the instance under the terms that count here
REJECTED: Final = "rejected"
EXACTLY: Final = "allocations that keep every limit exactly, as its format grants no rounding; prove it again"


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


@dataclass(frozen=True, slots=True)
class Terms:
    """What files are held against in place of the instance's own numbers; `None`: those."""

    price: float | None = None
    power_cap: float | None = None
    deadline: float | None = None
    horizon: float | None = None
    start: int | str | datetime | None = None
    carbon_price: float | None = None  # per kilogram
    outlets: tuple[float, ...] | None = None

    def check(self, instance: Bag | Facility | Day | Clusters) -> FrozenDict[str, Any]:
        """Return the terms by the keys of `TERMS`, those that are given; reject those of other kinds."""
        kind, found = kind_of(instance), {}
        for key, (each, value) in zip(TERMS, ((each, getattr(self, each.name)) for each in fields(self)), strict=True):
            if value is None:
                continue
            expected = "facility" if each.name == "outlets" else "bag"
            if kind.name != expected:
                issue = InputIssue(
                    (each.name,), f"the option for {kind.phrase}", KINDS[expected].phrase, "leave it out"
                )
                raise InstanceError(instance.name, (issue,))
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(math.isfinite(number) for number in numbers if isinstance(number, float)):
                raise InstanceError(instance.name, (InputIssue((each.name,), repr(value), "finite", "correct it"),))
            found[key] = value
        return FrozenDict(found)


def audit(  # noqa: PLR0913 - options are keyword-only
    instance: Bag | Facility | Day | Clusters,
    files: Sequence[Path | str] | Mapping[str, Document],
    *,
    price: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    horizon: float | None = None,
    start: int | str | datetime | None = None,
    carbon_price: float | None = None,
    outlets: Sequence[float] | None = None,
) -> Audit:
    """Check each file, or document by name, against the instance; an error in one is its verdict, not an exception.

    A certificate that is about other terms than those given (or the instance's own) is not accepted:
    its verdict is "other terms", and says which.

    Parameters
    ----------
    instance, files
        The instance, and the files that were made for it.
    price, power_cap, deadline
        Of a bag: terms in place of its own, as in `solve`. Schedules are held against them.
    horizon, start, carbon_price
        Of a bag over a horizon, as in `plan`; by default those of its site, and no price of carbon.
    outlets
        Of a facility: fixed outlet temperatures.

    Raises
    ------
    InstanceError
        If a term is not valid, or not for instances of this kind.
    """
    terms = Terms(price, power_cap, deadline, horizon, start, carbon_price, None if outlets is None else tuple(outlets))
    given, kind, currency = terms.check(instance), kind_of(instance), ""
    if kind.name == "bag":
        bag: Any = instance
        currency = _under(bag, terms).prices.currency
        if start is not None:
            from lpsched.bag.horizon.slots import moment_of

            terms = replace(terms, start=moment_of(bag, start))
            given = FrozenDict(given | {"start": terms.start})
    verdict_of = kind.load("verify")
    documents = files if isinstance(files, Mapping) else {}
    verdicts = []
    for file in files:
        try:
            verdicts.append(verdict_of(instance, Path(file), documents.get(str(file)), terms))
        except InstanceError as error:
            verdicts.append(Checked(str(Path(file)), "unreadable", tuple(str(issue) for issue in error.issues)))
    return Audit(instance.name, instance.content_hash, version_of_lpsched(), tuple(verdicts), given, currency)


def verdict_of_bag(bag: Bag, path: Path, document: Document | None = None, terms: Terms | None = None) -> Checked:
    """Check a certificate or a schedule: a file, or a document of this name."""
    from lpsched.bag.certificate.claim import FORMATS, check, terms_of
    from lpsched.bag.cost import has_price
    from lpsched.bag.files import certificate_of, read_rows, schedule_of
    from lpsched.bag.verify import Examined, examine, gather

    name, terms = str(path), terms or Terms()
    under = _under(bag, terms)
    may_wait = has_price(under) and under.site.deadline_seconds is None
    if document is None and path.suffix.lower() in SUFFIXES:
        gathered = gather(under, read_rows(path))
        found = Examined(gathered.violations, None)
        if not gathered.violations:
            found = examine(under, gathered.schedule, may_wait=may_wait)
    else:
        document = document or read_document(path)
        if (over_time := _verdict_over_time(bag, document, path, terms)) is not None:
            return over_time
        if format_of(document.value) in FORMATS:
            certificate = certificate_of(document, path)
            is_upper = certificate.objective == "profit"
            verdict = check(bag, certificate)
            claimed = terms_of(certificate.terms.applied_to(bag), certificate.objective)
            own = terms_of(under, certificate.objective)
            other = (*differing(claimed, own, bag.prices.currency), *_without_horizon(terms))
            made = _checked(path, verdict, certificate.objective, certificate.unit, is_upper=is_upper)
            return replace(made, terms=written(claimed), other_terms=other)
        found = examine(under, schedule_of(document, path), may_wait=may_wait)
    words, measured = "", found.measured
    if measured is not None:
        profit = measured.profit_per_hour
        words = f"{'' if profit is None else f'{number(profit)} {bag.prices.currency}/h, '}{_taken(measured)}"
    return Checked(
        name,
        "schedule",
        _sentences(found.violations),
        measured=measured,
        words=words,
        other_terms=_without_horizon(terms),
    )


def _under(bag: Any, terms: Terms) -> Any:  # noqa: ANN401 - a bag
    """Return a bag under terms."""
    from lpsched.bag.model import Terms as TermsOfBag

    return TermsOfBag(None, terms.price, None, terms.power_cap, terms.deadline).applied_to(bag)


def _without_horizon(terms: Terms) -> tuple[str, ...]:
    """Return what is wrong with terms of a horizon for a file that is not about one."""
    given = terms.horizon is not None or terms.start is not None or terms.carbon_price is not None
    return ("no horizon; leave out --horizon, --start and --carbon-price",) if given else ()


def _verdict_over_time(bag: Bag, document: Document, path: Path, terms: Terms) -> Checked | None:
    """Check a certificate or a plan over a horizon; `None` if the file is neither."""
    from lpsched.bag.horizon.certificate import FORMAT as CERTIFICATE
    from lpsched.bag.horizon.certificate import GRAMS_PER_KG, check_horizon
    from lpsched.bag.horizon.files import PlanFile, horizon_certificate_of, moment_text, plan_of
    from lpsched.bag.horizon.slots import depends_on_date, moment_of
    from lpsched.bag.horizon.verify import measure_plan, verify_plan

    kind = format_of(document.value)
    if kind not in {CERTIFICATE, PlanFile.FORMAT}:
        return None
    start = moment_of(bag, terms.start if terms.start is not None else bag.site.start)
    horizon = terms.horizon if terms.horizon is not None else _under(bag, terms).site.deadline_seconds
    own = {"horizon_seconds": horizon, "start": start, "carbon_price_per_kg": terms.carbon_price or 0.0}
    given: Any = horizon_certificate_of(document, path) if kind == CERTIFICATE else plan_of(document, path)
    claimed: dict[str, Any] = {"horizon_seconds": given.horizon_seconds}
    if depends_on_date(bag):  # without a start of its own, a file is about the bag's
        claimed["start"] = moment_of(bag, bag.site.start) if given.start is None else given.start
    if kind == CERTIFICATE and given.objective != "carbon":
        claimed["carbon_price_per_kg"] = given.carbon_price_per_kg
    other = differing(claimed, own, bag.prices.currency)
    if terms.price is not None or terms.power_cap is not None:
        other += ("no price of the bag and no average-power cap; leave out --price and --power-cap",)
    named = written(claimed | ({"start": moment_text(claimed["start"])} if "start" in claimed else {}))
    slots = _slots_for(bag, given)
    if isinstance(slots, str):
        claim = (given.objective, given.unit, float(given.bound)) if kind == CERTIFICATE else ()
        return Checked(str(path), "certificate" if claim else "plan", (slots,), *claim)
    if kind == CERTIFICATE:
        is_upper = given.objective == "profit"
        made = _checked(path, check_horizon(bag, slots, given), given.objective, given.unit, is_upper=is_upper)
        return replace(made, terms=named, other_terms=other)
    optional = bool(bag.prices.per_task)  # for profit, tasks may be left out
    broken = verify_plan(bag, slots, given.plan, optional=optional)
    if broken:
        return Checked(str(path), "plan", _sentences(broken), terms=named)
    measured = measure_plan(bag, slots, given.plan)
    finished, cost = sum(measured.finished), measured.money
    if terms.carbon_price and measured.grams is not None:
        cost += Fraction(terms.carbon_price / GRAMS_PER_KG) * measured.grams
    words = "" if finished == bag.tasks else f"{finished:,} of {bag.tasks:,} tasks, "
    drawn = energy_text(measured.kwh * JOULES_PER_KWH)
    words += f"{number(rounded_up(cost))} {bag.prices.currency}, {drawn} at the meter"
    if measured.grams is not None:
        words += f", {number(rounded_up(measured.grams / GRAMS_PER_KG))} kg of CO2"
    dropped = bag.tasks - finished  # a cost without them is none that a bound on the cost of all tasks speaks of
    facts = {"cost": None if dropped else rounded_up(cost), "completed": finished, "dropped": dropped}
    return Checked(str(path), "plan", (), words=words, facts=FrozenDict(facts), terms=named, other_terms=other)


def _slots_for(bag: Bag, given: HorizonCertificate | HorizonPlan) -> Slots | str:
    """Return the slots of a certificate or plan, or why there are none: it is about another bag, or nothing may run."""
    from lpsched.bag.horizon.slots import slots_of

    found: str = getattr(given, "instance_hash", bag.content_hash)
    if found != bag.content_hash:
        hint = "give the same --tariff, --carbon, --caps, --grid-fee and --switch-off as for the plan"
        return f"it is about another bag: its hash is {quoted_hash(found)}, not {bag.content_hash}; {hint}"
    try:
        return slots_of(bag, horizon=given.horizon_seconds, start=given.start, need=())
    except InfeasibleError as error:  # a cap that idle machines break
        return str(error)


def _checked(
    path: Path, verdict: Verdict, objective: str, unit: str | None = None, *, is_upper: bool = True
) -> Checked:
    """Return the verdict on a certificate; its bounds are rounded to the side on which they stay true."""
    rounded = rounded_up if is_upper else rounded_down
    proved = None if verdict.proved is None else rounded(verdict.proved)
    proved = proved if proved is None or math.isfinite(proved) else None  # no double says how little
    return Checked(
        str(path), "certificate", verdict.reasons, objective, unit, claimed=rounded(verdict.claimed), proved=proved
    )


def verdict_of_facility(
    facility: Facility, path: Path, document: Document | None = None, terms: Terms | None = None
) -> Checked:
    """Check a proof or an allocation, likewise."""
    from lpsched.facility.certificate import boxes
    from lpsched.facility.files import allocation_of, proof_of
    from lpsched.facility.result import UNIT
    from lpsched.facility.verify import examine

    name, document = str(path), document or read_document(path)
    outlets = None if terms is None else terms.outlets
    if format_of(document.value) in boxes.FORMATS:
        proof = proof_of(document, path)
        verdict = boxes.check(facility, replace(proof, granted=True))
        other: tuple[str, ...] = ()
        if verdict.reasons and not proof.granted:
            exactly = boxes.check(facility, proof)
            verdict, other = exactly, (EXACTLY,)
        claimed = {"outlets_celsius": proof.outlets_celsius}
        if proof.outlets_celsius is not None:  # what holds at any outlets holds at these
            other += differing(claimed, {"outlets_celsius": outlets})
        proved = None if verdict.proved is None else rounded_up(verdict.proved)
        return Checked(
            name,
            "proof",
            verdict.reasons,
            objective="reward",
            unit=UNIT,
            claimed=proof.bound,
            proved=proved,
            terms=FrozenDict(claimed | {"colocation": proof.colocation, "rounding_granted": EXACTLY not in other}),
            other_terms=other,
        )
    allocation = allocation_of(document, path)
    found = examine(facility, allocation)
    measured = found.measured
    words = "" if measured is None else f"{number(measured.reward_rate)} reward/s, {power_text(measured.total_watts)}"
    made = Checked(name, "allocation", _sentences(found.violations), measured=measured, words=words)
    if outlets is None:
        return made
    blown = {"outlets_celsius": allocation.outlets_celsius}
    return replace(made, other_terms=differing(blown, {"outlets_celsius": outlets}))


def verdict_of_arrivals(
    instance: Day | Clusters,
    path: Path,
    document: Document | None = None,
    terms: Terms | None = None,  # noqa: ARG001 - there are none of these kinds
) -> Checked:
    """Check a certificate or a schedule of tasks that arrive, likewise."""
    from lpsched.online.certificate import claim
    from lpsched.online.files import clusters_schedule_of, day_certificate_of, day_schedule_of
    from lpsched.online.result.policy import facts_of

    name = str(path)
    if document is None and path.suffix.lower() not in SUFFIXES:
        document = read_document(path)
    if document is not None and format_of(document.value) in claim.FORMATS:
        certificate = day_certificate_of(document, path)
        objective = getattr(certificate, "objective", claim.OBJECTIVE)
        return _checked(path, claim.check(instance, certificate), objective)
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
    facts: FrozenDict[str, Any] = field(default_factory=FrozenDict)  # what else, of clusters and plans
    terms: FrozenDict[str, Any] = field(default_factory=FrozenDict)  # what a claim is about besides the instance
    other_terms: tuple[str, ...] = ()  # those of them that are not the instance's own, or those that the caller named

    @property
    def same_terms(self) -> bool:
        """Whether it is about the instance as it is, or under the terms that the caller named."""
        return not self.other_terms

    @property
    def verdict(self) -> str:
        """What is said of it: accepted, rejected, or true only under other terms."""
        return REJECTED if self.reasons else OTHER_TERMS if self.other_terms else ACCEPTED

    @property
    def accepted(self) -> bool:
        """Whether it is accepted: a claim about the instance, or a valid schedule, under the terms that count here."""
        return self.verdict == ACCEPTED

    def to_dict(self) -> dict[str, Any]:
        """Return the file's verdict as it appears in JSON; it has the keys of all kinds."""
        of_kinds = {key: getattr(self.measured, attribute, None) for key, attribute in MEASURES.items()}
        of_kinds |= {key: self.facts[key] for key in MEASURES if key in self.facts}
        of_kinds |= {key: self.facts.get(key) for key in FACTS}
        reasons = (*self.reasons, *(f"it holds only with {each}" for each in self.other_terms))
        return json_of(self, KEYS, **of_kinds, reasons=reasons)

    def row(self) -> tuple[str, ...]:
        """Return the verdict as a row of a table."""
        claim = "-" if self.claimed is None else self._text(self.claimed, self._finer())
        derived = self.words or "-"
        if self.proved is not None:
            derived = self._text(self.proved, self._finer()).removeprefix("cost of waiting ")
            derived = derived.removeprefix(f"{self.objective} ")
        return (self.name, self.kind, self.verdict, claim, derived)

    def _finer(self) -> int:
        """Return how many more digits than usual distinguish claim and proof."""
        claimed, proved, finer = self.claimed, self.proved, 0
        if claimed is None or proved is None or claimed == proved:
            return 0
        while finer < MOST_FINER and self._text(claimed, finer) == self._text(proved, finer):
            finer += 1
        return finer

    def _text(self, bound: float, finer: int) -> str:
        return claim_text(_brief(self.objective or ""), bound, _brief(self.unit or ""), finer=finer)


def _brief(word: str) -> str:
    """Return a word of a certificate, cut where it is long and without wide gaps: it might fill a line of its own."""
    return " ".join(word[:LONGEST_QUOTE].split())


@dataclass(frozen=True, slots=True)
class Audit:
    """The verdicts on all files."""

    instance_name: str
    instance_hash: str
    lpsched: str
    files: tuple[Checked, ...]
    terms: FrozenDict[str, Any] = field(default_factory=FrozenDict)  # that the caller named
    currency: str = ""
    __repr__ = brief

    @property
    def accepted(self) -> bool:
        """Whether every file is accepted."""
        return all(each.accepted for each in self.files)

    def headline(self) -> str:
        """Return under which terms files are checked, and how many are accepted, rejected, or about other terms."""
        under, _ = words_of(self.terms, self.currency)
        verdicts = Counter(each.verdict for each in self.files)
        words = f"{verdicts[ACCEPTED]:,} of {counted(len(self.files), 'file')} accepted"
        words += f", {verdicts[OTHER_TERMS]:,} only under other terms" if verdicts[OTHER_TERMS] else ""
        words += f", {verdicts[REJECTED]:,} rejected" if verdicts[REJECTED] else ""
        return f"{self.instance_name}{under}: {words}."

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched verify --json` prints; its keys are stable."""
        instance = {"name": self.instance_name, "hash": self.instance_hash}
        return json_of(self, "format lpsched instance terms files", format=FORMAT, instance=instance)

    def _repr_html_(self) -> str:
        return html_table(HEADERS, [each.row() for each in self.files])
