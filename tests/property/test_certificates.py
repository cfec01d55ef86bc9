"""What is proved is exactly what the formulas say; what is not proved is refused; files keep every digit."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.certificate.claim import Certificate, check
from lpsched.bag.files import certificate_as_dict, certificate_of, read_certificate, write_certificate
from lpsched.bag.model import Bag, Terms
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.io.documents import Document
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.table import Table
from tests.property.tiny import AMOUNTS, Case, Ledger, case_of, cases

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
certify = partial(lpsched.certify, effort="fast")
solve = partial(lpsched.solve, effort="fast")

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.model.fixed_point import Verdict

PRICES = st.just(0.0) | AMOUNTS | st.floats(0.0, 1e-6) | st.floats(0.0, 1e9)
OBJECTIVES = ("makespan", "energy", "profit")


class Formulas:
    """The three formulas of a certificate, term by term, in fractions."""

    def __init__(self, bag: Bag, machines: list[Fraction], cap: Fraction) -> None:
        self.bag, self.machines, self.cap, self.ledger = bag, machines, cap, Ledger(bag)

    def supply(self) -> Fraction:
        counts = [each.count for each in self.bag.machine_types]
        supply = sum((m * pi for m, pi in zip(counts, self.machines, strict=True)), Fraction(0))
        return supply + (self.cap * self.ledger.headroom if self.ledger.headroom is not None else 0)

    def cheapest(self, cost: Callable[[int, int], Fraction], scale: Fraction = Fraction(1)) -> Fraction:
        """Return g[f]: every task where f, its seconds and its joules above idle cost least."""
        total = Fraction(0)
        for i, task in enumerate(self.bag.task_types):
            terms = []
            for column, (j, _) in enumerate(self.bag.modes):
                seconds = self.bag.seconds[i, column]
                if seconds is not None:
                    price = self.machines[j] * Fraction(seconds) + self.cap * self.joules(i, column)
                    terms.append(cost(i, column) + scale * price)
            total += task.count * min(terms)
        return total

    def joules(self, i: int, column: int) -> Fraction:
        """Return d: what one task takes above idle."""
        if self.bag.watts is None:
            return Fraction(0)
        seconds, watts = self.bag.seconds[i, column], self.bag.watts[i, column]
        assert seconds is not None
        assert watts is not None
        idle = self.bag.machine_types[self.bag.modes[column][0]].idle_watts
        return Fraction(seconds) * (Fraction(watts) - Fraction(idle))

    def makespan(self) -> Fraction:
        supply = self.supply()
        return max(Fraction(0), self.cheapest(lambda *_: Fraction(0)) / supply) if supply > 0 else Fraction(0)

    def cost(self, joules_weight: Fraction, seconds_weight: Fraction) -> Fraction:
        allowed, supply = joules_weight * self.ledger.idle + seconds_weight, self.supply()

        def energy(i: int, column: int) -> Fraction:
            return joules_weight * self.joules(i, column)

        if supply <= allowed:
            proofs = [self.cheapest(energy)]
        else:
            proofs = [self.cheapest(energy, allowed / supply)]
            if self.ledger.deadline is not None:
                proofs.append(self.cheapest(energy) - (supply - allowed) * self.ledger.deadline)
        if max(proofs) <= 0:  # what the tasks draw while they run is a bound as well
            proofs.append(joules_weight * self.busy_joules())
        return max(proofs)

    def busy_joules(self) -> Fraction:
        """Return what the tasks draw while they run, each where it draws least."""
        if self.bag.watts is None:
            return Fraction(0)
        total = Fraction(0)
        for task, seconds, watts in zip(self.bag.task_types, self.bag.seconds, self.bag.watts, strict=True):
            pairs = zip(seconds, watts, strict=True)
            total += task.count * min(Fraction(e) * Fraction(a) for e, a in pairs if e is not None)
        return total

    def left(self) -> Fraction:
        def kappa(i: int, column: int) -> Fraction:
            cost = self.ledger.kappa(i, column)
            assert cost is not None
            return cost

        return self.ledger.income - self.cheapest(kappa)

    def rate(self) -> Fraction:
        left, standing, deadline = self.left(), self.ledger.standing, self.ledger.deadline
        rate = self.supply() - standing
        if left > 0:
            rate += left * self.most_bags_per_second()
        elif deadline is not None:
            rate += left / deadline
        return rate if deadline is not None else max(rate, -standing)  # without one, waiting is a schedule

    def most_bags_per_second(self) -> Fraction:
        """Return r_max: all machines at once on one task type."""
        rates = []
        for i, task in enumerate(self.bag.task_types):
            speed = Fraction(0)
            for j, machine in enumerate(self.bag.machine_types):
                columns = [column for column, (jj, _) in enumerate(self.bag.modes) if jj == j]
                seconds = [e for column in columns if (e := self.bag.seconds[i, column]) is not None]
                if seconds:
                    speed += machine.count / Fraction(min(seconds))
            rates.append(speed / task.count)
        return min(rates)


@st.composite
def prices_for(draw, bag: Bag) -> Multipliers:
    machines = tuple(draw(PRICES) for _ in bag.machine_types)
    capped = bag.site.average_power_cap_watts is not None
    return Multipliers(machines, draw(PRICES) if capped else 0.0)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_prover_says_exactly_what_the_formulas_say(data):
    case = data.draw(cases())
    bag = case.bag
    prices = data.draw(prices_for(bag))
    formulas = Formulas(bag, [Fraction(each) for each in prices.machines], Fraction(prices.cap))
    prover = Prover(bag)
    assert prover.makespan(prices) == formulas.makespan()
    joules_weight = data.draw(PRICES) if bag.watts is not None else 0.0
    seconds_weight = data.draw(PRICES)
    exact = formulas.cost(Fraction(joules_weight), Fraction(seconds_weight))
    assert prover.cost(prices, joules_weight, seconds_weight) == exact
    # r_max is rounded up to whole numbers of 2^-64 or finer, once for each machine type.
    most = max(Fraction(0), formulas.left()) * len(bag.machine_types) / 2**64
    assert 0 <= prover.rate(prices) - formulas.rate() <= most


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_prices_prove_something_false(data):
    case = data.draw(cases())
    prover, prices = Prover(case.bag), data.draw(prices_for(case.bag))
    weights = (data.draw(PRICES) if case.bag.watts is not None else 0.0, data.draw(PRICES))
    makespan, rate = case.best("makespan"), case.best("profit")
    cost = case.least_cost(Fraction(weights[0]), Fraction(weights[1]))
    if makespan is None or rate is None or cost is None:
        return  # no schedule, no witness
    assert prover.makespan(prices) <= makespan
    assert prover.cost(prices, *weights) <= cost
    assert prover.rate(prices) >= rate


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_noise_on_the_multipliers_weakens_the_bound_and_never_breaks_it(data):
    objective = data.draw(st.sampled_from(OBJECTIVES))
    case = data.draw(cases(watts=True))
    certificate, best = certified(case, objective), case.best(objective)
    if certificate is None or best is None:
        return
    noise = st.just(0.0) | st.floats(0.0, 4.0) | st.floats(1 - 1e-9, 1 + 1e-9)
    names = [machine.name for machine in case.bag.machine_types]
    noisy = {name: certificate.machine_prices[name] * Fraction(data.draw(noise)) for name in names}
    cap = certificate.cap_price * Fraction(data.draw(noise))
    prices = Multipliers(tuple(noisy.values()), cap)
    prover = Prover(case.bag)
    if objective == "profit":
        assert 3600 * prover.rate(prices) >= 3600 * best
        assert certificate.bound >= 3600 * best
    else:
        proved = prover.makespan(prices) if objective == "makespan" else prover.cost(prices, 1.0, 0.0)
        assert proved <= best
        assert certificate.bound <= best
    # The noisy prices make another certificate: what they prove is accepted, and nothing tighter.
    changed = replace(certificate, machine_prices=FrozenDict(noisy), cap_price=cap)
    exact = check(case.bag, changed).proved
    assert exact is not None
    claims = (replace(changed, bound=exact), replace(changed, bound=exact + tight(objective) * Fraction(1, 10**9)))
    assert [check(case.bag, claim).accepted for claim in claims] == [True, False]


def certified(case: Case, objective: str) -> Certificate | None:
    """Return a certificate, or `None` where there is no schedule to bound."""
    try:
        return certify(case.bag, objective=objective)
    except InfeasibleError:
        return None


def tight(objective: str) -> int:
    """Return the direction in which a claim becomes tighter."""
    return -1 if objective == "profit" else 1


@settings(deadline=None, max_examples=60)
@given(cases(watts=True), st.sampled_from(OBJECTIVES))
def test_a_claim_is_refused_from_the_next_double_beyond_what_is_proved(case, objective):
    certificate = certified(case, objective)
    if certificate is None:
        return
    verdict = check(case.bag, certificate)
    assert verdict.accepted
    assert verdict.proved is not None
    maximise = objective == "profit"
    proved, sign = verdict.proved, tight(objective)
    last = rounded_up(proved) if maximise else rounded_down(proved)
    assert certificate.bound == last
    beyond = math.nextafter(last, sign * math.inf)
    before = math.nextafter(last, -sign * math.inf)
    step = sign * (abs(proved) or 1) * Fraction(1, 10**6)

    def accepted(bound: float | Fraction) -> bool:
        return check(case.bag, replace(certificate, bound=Fraction(bound))).accepted

    assert accepted(proved)
    assert not accepted(beyond)
    assert not accepted(proved + step)
    assert accepted(before)
    assert accepted(proved - step)
    assert accepted(proved - sign * 10**12)


@settings(deadline=None, max_examples=60)
@given(cases(watts=True), st.sampled_from(OBJECTIVES))
def test_a_certificate_claims_the_bound_that_solve_reports(case, objective):
    certificate = certified(case, objective)
    if certificate is None:
        return
    try:
        result = solve(case.bag, objective=objective)
    except (InfeasibleError, NotFoundError):
        return  # a bound may be proved though no schedule is found
    assert certificate.bound == Fraction(result.bound)
    assert certificate.unit == result.unit


BAG = Bag(
    "lab",
    (
        MachineType(
            name="cpu",
            count=2,
            idle_watts=5.0,
            wear_per_busy_hour=36.0,
            purchase_price=100.0,
            mean_hours_to_failure=1000.0,
        ),
        MachineType(name="gpu", count=1, idle_watts=1.0, p_states=("P0", "P1")),
    ),
    (TaskType(name="render", count=2), TaskType(name="zip", count=1)),
    Table.of([[8.0, 1.0, 2.0], [3.0, None, 7.0]]),
    Table.of([[50.0, 200.0, 90.0], [40.0, None, 10.0]]),
    Prices(per_bag=200.0, per_task={"zip": 0.5}, electricity_per_kwh=360000.0, overhead_per_bag=1.0),
    Site(pue=1.5, average_power_cap_watts=100.0, cap_measured_at="it", deadline_seconds=60.0),
)
TERMS: list[dict[str, Any]] = [{}, {"price": 150.1, "power_cap": 90.3, "deadline": 45.7}]


def machine(j: int, **changes: object) -> Bag:
    types = list(BAG.machine_types)
    types[j] = types[j].model_copy(update=changes)
    return BAG.model_copy(update={"machine_types": tuple(types)})


def task(i: int, **changes: object) -> Bag:
    types = list(BAG.task_types)
    types[i] = types[i].model_copy(update=changes)
    return BAG.model_copy(update={"task_types": tuple(types)})


def prices(**changes: object) -> Bag:
    return BAG.model_copy(update={"prices": BAG.prices.model_copy(update=changes)})


def site(**changes: object) -> Bag:
    return BAG.model_copy(update={"site": BAG.site.model_copy(update=changes)})


def cell(table: str, i: int, column: int, value: float) -> Bag:
    rows = [list(row) for row in getattr(BAG, table)]
    rows[i][column] = value
    tables: dict[str, Any] = {table: Table.of(rows)}
    return BAG.model_copy(update=tables)


def without_a_pair() -> Bag:
    tables = {name: [list(row) for row in getattr(BAG, name)] for name in ("seconds", "watts")}
    for rows in tables.values():
        rows[0][2] = None
    thinner: dict[str, Any] = {name: Table.of(rows) for name, rows in tables.items()}
    return BAG.model_copy(update=thinner)


def turned() -> Bag:
    rows: dict[str, Any] = {
        name: Table.of([list(row) for row in getattr(BAG, name)][::-1]) for name in ("seconds", "watts")
    }
    return BAG.model_copy(update={"task_types": BAG.task_types[::-1], **rows})


CHANGED = {
    "name": BAG.model_copy(update={"name": "lab2"}),
    "machine-name": machine(0, name="CPU"),
    "machine-count": machine(0, count=3),
    "idle-watts": machine(0, idle_watts=5.000000000000001),
    "wear": machine(0, wear_per_busy_hour=36.00000000000001),
    "purchase-price": machine(0, purchase_price=100.00000000000001),
    "life": machine(0, mean_hours_to_failure=1000.0000000000001),
    "p-state": machine(1, p_states=("P0", "P2")),
    "task-name": task(0, name="Render"),
    "task-count": task(0, count=3),
    "seconds": cell("seconds", 0, 1, math.nextafter(1.0, 2.0)),
    "watts": cell("watts", 0, 1, math.nextafter(200.0, 201.0)),
    "pair": without_a_pair(),
    "order": turned(),
    "no-watts": BAG.model_copy(update={"watts": None}),
    "per-bag": prices(per_bag=200.00000000000003),
    "no-per-bag": prices(per_bag=None),
    "per-task": prices(per_task=FrozenDict({"zip": 0.6})),
    "other-task": prices(per_task=FrozenDict({"render": 0.5})),
    "electricity": prices(electricity_per_kwh=360001.0),
    "overhead": prices(overhead_per_bag=0.0),
    "currency": prices(currency="EUR"),
    "pue": site(pue=1.5000000000000002),
    "cap": site(average_power_cap_watts=101.0),
    "no-cap": site(average_power_cap_watts=None),
    "meter": site(cap_measured_at="facility"),
    "deadline": site(deadline_seconds=61.0),
    "no-deadline": site(deadline_seconds=None),
}


@pytest.mark.rotate(20)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("terms", TERMS, ids=["its-own-terms", "other-terms"])
@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_a_certificate_for_another_bag_is_refused(objective, terms, changed):
    certificate = certify(BAG, objective=objective, **terms)
    assert check(BAG, certificate).accepted
    verdict = check(changed, certificate)
    assert not verdict.accepted
    assert "it is about another bag" in verdict.reasons[0]


LESS = Fraction(-1, 10**300)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"objective": "speed"}, "its objective is 'speed'", id="an-unknown-objective"),
        pytest.param({"unit": "hours"}, "its unit is 'hours'", id="another-unit"),
        pytest.param(
            {"machine_prices": FrozenDict({"cpu": Fraction(1)})}, "no price for machine type 'gpu'", id="none"
        ),
        pytest.param({"machine_prices": FrozenDict()}, "no price for machine type 'cpu'", id="none-at-all"),
        pytest.param(
            {"machine_prices": FrozenDict({"cpu": Fraction(1), "gpu": Fraction(1), "tpu": Fraction(0)})},
            "machine type 'tpu', which the bag does not have",
            id="one-too-many",
        ),
        pytest.param(
            {"machine_prices": FrozenDict({"cpu": LESS, "gpu": Fraction(1)})},
            "its price for machine type 'cpu' is negative",
            id="a-negative-price",
        ),
        pytest.param({"cap_price": LESS}, "its price of the power cap is negative", id="a-negative-cap-price"),
    ],
)
def test_a_certificate_that_is_not_well_formed_is_refused(objective, changes, reason):
    certificate = replace(certify(BAG, objective=objective), **changes)
    verdict = check(BAG, certificate)
    assert not verdict.accepted
    assert verdict.proved is None
    assert any(reason in each for each in verdict.reasons), verdict.reasons


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_price_of_the_cap_needs_a_cap(objective):
    bag = site(average_power_cap_watts=None)
    certificate = replace(certify(bag, objective=objective), cap_price=Fraction(1, 10**300))
    assert check(bag, certificate).reasons == ("it has a price of the power cap, but there is no cap",)


@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_a_bag_without_watts_has_no_proof_about_energy(objective):
    bag = BAG.model_copy(update={"watts": None})
    certificate = replace(certify(BAG, objective=objective), instance_hash=bag.content_hash)
    verdict = check(bag, certificate)
    if objective == "makespan" and certificate.cap_price == 0:
        assert verdict.accepted
    else:
        assert "it counts energy, but the bag has no watts" in verdict.reasons


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_certificate_comes_back_from_its_file_exactly(data):
    case = data.draw(cases())
    objective = data.draw(st.sampled_from(OBJECTIVES if case.bag.watts is not None else ("makespan", "profit")))
    certificate = certified(case, objective)
    if certificate is None:
        return
    amounts = st.none() | st.floats(1e-30, 1e30)
    doubles = st.floats(0.0, allow_infinity=False).map(Fraction)
    certificate = replace(
        certificate,
        bound=data.draw(st.just(certificate.bound) | st.floats(allow_infinity=False, allow_nan=False).map(Fraction)),
        terms=Terms(None, data.draw(amounts), None, data.draw(amounts), data.draw(amounts)),
        machine_prices=FrozenDict({name: data.draw(doubles) for name in certificate.machine_prices}),
        cap_price=data.draw(doubles),
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        write_certificate(certificate, path, "1")
        assert read_certificate(path) == certificate


def test_a_least_makespan_that_is_no_double_is_written_as_one_below_it(tmp_path):
    # Three tasks of 0.1 s, which take 1 s elsewhere: the double 0.1, three times, needs 54 bits, and the nearest is above.
    machines = (MachineType("slow", 1), MachineType("fast", 1))
    bag = Bag("thirds", machines, (TaskType("t", 3),), Table.of([[1.0, 0.1]]))
    exact = 3 * Fraction(0.1)
    assert Fraction(float(exact)) > exact
    certificate = certify(bag, objective="makespan")
    write_certificate(certificate, tmp_path / "c.json", "1")
    assert read_certificate(tmp_path / "c.json") == certificate
    assert certificate.least_makespan.seconds <= exact
    assert lpsched.verify(bag, [tmp_path / "c.json"]).accepted


FILES = {
    f"{objective}-{number}": json.dumps(
        certificate_as_dict(certify(BAG, objective=objective, **terms), "1"), indent=2, ensure_ascii=False
    )
    for objective in OBJECTIVES
    for number, terms in enumerate(TERMS)
}


def read_and_checked(content: bytes) -> Verdict | None:
    """Return the verdict on a file, or `None` if it is refused as unreadable; any other error is a failure."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        path.write_bytes(content)
        try:
            return check(BAG, read_certificate(path))
        except InstanceError:
            return None


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_file_with_one_changed_character_is_refused(data):
    text = FILES[data.draw(st.sampled_from(sorted(FILES)))]
    place = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.sampled_from('0123456789abcdef-+.eE"{}[]:,\\ \n') | st.characters(codec="utf-8"))
    changed = text[:place] + data.draw(st.sampled_from([new, "", text[place] * 2])) + text[place + 1 :]
    verdict = read_and_checked(changed.encode())
    try:
        same = json.loads(changed) == json.loads(text)
    except json.JSONDecodeError:
        same = False
    assert (verdict is not None and verdict.accepted) == same


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_file_with_one_changed_byte_is_no_crash(data):
    content = FILES[data.draw(st.sampled_from(sorted(FILES)))].encode()
    place = data.draw(st.integers(0, len(content) - 1))
    read_and_checked(content[:place] + bytes([data.draw(st.integers(0, 255))]) + content[place + 1 :])


def leaves(content: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the paths of all values but the checksum."""
    found = []
    for key, value in content.items():
        if isinstance(value, dict):
            found += leaves(value, (*path, key))
        elif key != "checksum":
            found.append((*path, key))
    return found


def with_value(content: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    inner = value if len(path) == 1 else with_value(content[path[0]], path[1:], value)
    return content | {path[0]: inner}


def mended(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with the checksum that it should have."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return rest | {"checksum": hashlib.sha256(canonical.encode()).hexdigest()}


ODD: list[Any] = [
    None,
    True,
    0,
    1.5,
    [],
    {},
    "",
    "x",
    "-1",
    "0",
    "-0",
    "1e5",
    "NaN",
    "1" * 400,
    "0." + "1" * 1200,
    "9" * 401,
]
CASE = case_of(BAG)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_changed_value_with_a_mended_checksum_is_refused_or_still_true(data):
    content = json.loads(FILES[data.draw(st.sampled_from(sorted(FILES)))])
    path = data.draw(st.sampled_from(leaves(content)))
    old = content
    for key in path:
        old = old[key]
    value: object = data.draw(st.sampled_from(ODD))
    if isinstance(old, str) and data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(old) - 1))
        value = old[:place] + data.draw(st.sampled_from("0123456789")) + old[place + 1 :]
    try:
        certificate = certificate_of(Document(mended(with_value(content, path, value))), Path("changed"))
    except InstanceError:
        return
    if not check(BAG, certificate).accepted:
        return
    case = Case(certificate.terms.applied_to(BAG), CASE.ways)
    best = case.best(certificate.objective)
    if best is None:
        return
    if certificate.objective == "profit":
        assert certificate.bound >= 3600 * best
    else:
        assert certificate.bound <= best


@pytest.mark.parametrize("key", ["format", "lpsched", "instance", "claim", "multipliers", "checksum"])
def test_a_file_without_a_key_is_a_fault_and_no_crash(key):
    content = json.loads(FILES["profit-1"])
    del content[key]
    with pytest.raises(InstanceError, match=key):
        certificate_of(Document(content), Path("without"))


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_every_odd_value_in_every_place_is_a_fault_or_a_verdict(value):
    content = json.loads(FILES["profit-1"])
    for path in [*leaves(content), *((key,) for key in content)]:
        for changed in (with_value(content, path, value), mended(with_value(content, path, value))):
            try:
                check(BAG, certificate_of(Document(changed), Path("odd")))
            except InstanceError as error:
                assert error.issues  # noqa: PT017
