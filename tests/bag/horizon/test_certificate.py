"""Certificates over a horizon: by hand, against the independent LP, and forged."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.bag.horizon.certificate import (
    HorizonMultipliers,
    certificate_of,
    check_horizon,
    fitted,
    prove,
    prove_runs,
    prove_work,
    weights_of,
)
from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.model.fields import FrozenDict
from lpsched.model.table import Table
from models.horizon import least_by_runs, least_by_work
from tests.bag.horizon.tiny_horizons import PER_JOULE, WEIGHTS, drawn, with_fee

SEEDS = range(60)


def one_type(**fields) -> Bag:
    """Return a bag of 3 tasks of 4 s at 5 W on 2 machines that idle at 2 W."""
    return Bag(
        "one",
        (MachineType("m", 2, 2.0, **fields),),
        (TaskType("t", 3),),
        Table.of([[4.0]]),
        Table.of([[5.0]]),
        prices=Prices(per_task={"t": 30.0}),
    )


def flat(tariff: float, **fields) -> Slots:
    return Slots((0.0, 6.0, 10.0), (SiteSlots("s", (tariff * PER_JOULE,) * 2, **fields),), (0,))


def test_a_flat_tariff_by_hand():
    # 12 s of running at 5 W and 8 s of idling at 2 W: 76 J at 1 each. A task is worth its 12 J above idle: running and
    # idling then earn the same, -2 a second.
    worth = HorizonMultipliers((12.0,))
    assert prove_work(one_type(), flat(1.0), Weights(), worth) == 3 * 12 + 20 * 2
    assert prove_runs(one_type(), flat(1.0), Weights(), worth) == 76
    # Machines that may be off draw nothing when idle: 60 J, and a task is worth all of its 20 J.
    assert prove_work(one_type(may_be_off=True), flat(1.0), Weights(), HorizonMultipliers((20.0,))) == 60
    # A PUE of 1.5, wear of 1 per second and moving costs of 3 per task.
    paid = flat(1.0, pue=1.5, moving_costs=(3.0,))
    worn = one_type(may_be_off=True, wear_per_busy_hour=3600.0)
    assert prove_work(worn, paid, Weights(), HorizonMultipliers((37.0,))) == 3 * (20 * 1.5 + 4 + 3)


def test_at_negative_prices_idling_earns():
    # At -1 a joule two machines that may be off do best to be on all the time: -76 as above, not -60.
    bag = one_type(may_be_off=True)
    assert prove_work(bag, flat(-1.0), Weights(), HorizonMultipliers((-12.0,))) == -76
    assert prove_runs(bag, flat(-1.0), Weights(), HorizonMultipliers((-12.0,))) == -76


def test_switching_on_is_paid_once_for_each_span():
    # One machine, one task of 4 s at 5 W, 2 W when idle, 7 to switch on. In a slot of 4 s at 1 a joule a task costs
    # 20 + 7: with v = 27 no span of the machine earns anything, with v = 37 it earns the 10 that v is too high.
    bag = Bag(
        "once",
        (MachineType("m", 1, 2.0, may_be_off=True, switch_on_cost=7.0),),
        (TaskType("t", 1),),
        Table.of([[4.0]]),
        Table.of([[5.0]]),
    )
    slots = Slots((0.0, 4.0), (SiteSlots("s", (PER_JOULE,)),), (0,))
    assert prove_work(bag, slots, Weights(), HorizonMultipliers((27.0,))) == 27
    assert prove_work(bag, slots, Weights(), HorizonMultipliers((37.0,))) == 27
    # Three such slots at 1, 9 and 1, v = 40: the machine earns 20 in the first and in the last, and to idle through the
    # second costs 4 * 2 * 9 = 72, so it is switched off between: 13 + 13.
    day = Slots((0.0, 4.0, 8.0, 12.0), (SiteSlots("s", (PER_JOULE, 9 * PER_JOULE, PER_JOULE)),), (0,))
    assert prove_work(bag, day, Weights(), HorizonMultipliers((40.0,))) == 40 - 26
    # At 1, 0.5 and 1, v = 18: -2 by running in the outer slots and 8 in the middle one, where alone it is on: 8 - 7.
    cheap = Slots((0.0, 4.0, 8.0, 12.0), (SiteSlots("s", (PER_JOULE, PER_JOULE / 2, PER_JOULE)),), (0,))
    assert prove_work(bag, cheap, Weights(), HorizonMultipliers((18.0,))) == 18 - 1
    # With v = 26 it is on all the time: 6 + 16 + 6 - 7.
    assert prove_work(bag, cheap, Weights(), HorizonMultipliers((26.0,))) == 26 - 21


def test_caps_and_peaks_by_hand():
    # mu = 1 a joule in both slots: a joule costs 2, of which the cap pays 1: 76 * 2 - 8 W * 10 s / 1.25.
    capped = flat(1.0, cap_watts=(8.0, 8.0), cap_pue=1.25)
    prices = HorizonMultipliers((24.0,), cap_prices=((1.0, 1.0),))
    assert prove_work(one_type(), capped, Weights(), prices) == 152 - 64
    # A demand charge of 3 per watt, of which nu = 0.25 over 10 s uses 2.5: all 76 J cost 0.25 more.
    charged = flat(1.0, demand_charge=3000.0)
    prices = HorizonMultipliers((12.0 * 1.25,), peak_prices=((0.25, 0.25),))
    assert prove_work(one_type(), charged, Weights(), prices) == 76 * 1.25


def test_optional_tasks_run_only_if_they_earn():
    # A task costs 20 J and earns 30: three of them earn 30 more than they cost. At 2 a joule none pays.
    bag = one_type(may_be_off=True)
    assert prove_work(bag, flat(1.0), Weights(optional=True), HorizonMultipliers((20.0,))) == -30
    assert prove_runs(bag, flat(1.0), Weights(optional=True), HorizonMultipliers((20.0,))) == -30
    assert prove_work(bag, flat(2.0), Weights(optional=True), HorizonMultipliers((30.0,))) == 0


def test_a_task_runs_in_one_piece():
    # A task of 4 s in slots of 2 s at 1, 5 and 1 a joule: its work is cheap in the outer ones, but a run meets the
    # middle one: 2 * 5 * (1 + 5) = 60 instead of 20.
    bag = Bag("run", (MachineType("m", 1, may_be_off=True),), (TaskType("t", 1),), Table.of([[4.0]]), Table.of([[5.0]]))
    slots = Slots((0.0, 2.0, 4.0, 6.0), (SiteSlots("s", (PER_JOULE, 5 * PER_JOULE, PER_JOULE)),), (0,))
    values = HorizonMultipliers((20.0,))
    assert prove_work(bag, slots, Weights(), values) == 20
    assert prove_runs(bag, slots, Weights(), values) == 60
    assert prove(bag, slots, Weights(), values) == 60


def test_a_task_that_does_not_fit_has_no_plan():
    short = Slots((0.0, 3.0), (SiteSlots("s", (PER_JOULE,)),), (0,))
    values = HorizonMultipliers((20.0,))
    assert prove_runs(one_type(), short, Weights(), values) is None
    assert prove(one_type(), short, Weights(), values) == 3 * 20 + 2 * 3 * 2  # no pair can run: true of no plan at all
    assert prove_runs(one_type(), short, Weights(optional=True), values) == 2 * 3 * 2


@pytest.mark.rotate(20)
@pytest.mark.parametrize("seed", SEEDS)
def test_shadow_prices_of_the_lp_prove_its_optimum_and_others_no_more(seed):
    rng = random.Random(seed)  # noqa: S311
    bag, slots = drawn(rng, types=3, machines=3, slot_count=4)
    slots = with_fee(slots, seed % 3 == 1)
    given = (bag, slots, WEIGHTS[seed % len(WEIGHTS)])
    for relaxed, proved_by in ((least_by_work(*given), prove_work), (least_by_runs(*given), prove_runs)):
        if relaxed is None:
            continue
        prices = (relaxed.task_values, relaxed.machine_prices, relaxed.cap_prices, relaxed.peak_prices)
        multipliers = fitted(*given, HorizonMultipliers(*prices))
        assert float(proved_by(*given, multipliers)) == pytest.approx(relaxed.value, abs=1e-6)
        for _ in range(5):
            assert proved_by(*given, near(rng, *given, multipliers)) <= relaxed.value + 1e-6


def near(rng, bag, slots, weights, at) -> HorizonMultipliers:
    """Return other multipliers, near some or far from them."""
    size = rng.choice([0.01, 0.3, 3.0])

    def moved(rows):
        return tuple(tuple(float(each) + rng.uniform(-size, size) for each in row) for row in rows)

    (values,) = moved((at.task_values,))
    machines = None if rng.random() < 0.5 else moved(at.machine_prices)
    return fitted(
        bag, slots, weights, HorizonMultipliers(values, machines, moved(at.cap_prices), moved(at.peak_prices))
    )


def test_the_envelope_of_a_week_is_that_of_all_pairs():
    rng = random.Random(5)  # noqa: S311
    bag, slots = big(rng, 6, 12, 100)
    values = HorizonMultipliers(tuple(rng.uniform(0, 40) for _ in bag.task_types))
    earned = Fraction(0)
    assert bag.watts is not None
    for j, machine in enumerate(bag.machine_types):
        for h in range(slots.count):
            c = Fraction(slots.sites[0].tariff[h]) / 3_600_000
            rates = [
                Fraction(values.task_values[i]) / Fraction(bag.seconds[i, j]) - Fraction(bag.watts[i, j]) * c
                for i in range(len(bag.task_types))
            ]
            rates += [-Fraction(machine.idle_watts) * c] + [Fraction(0)] * machine.may_be_off
            earned += machine.count * max(rates) * 10
    expected = sum(t.count * Fraction(v) for t, v in zip(bag.task_types, values.task_values, strict=True)) - earned
    proved = prove_work(bag, slots, Weights(), values)
    assert 0 <= expected - proved < Fraction(1, 10**50)  # rounded down, by nearly nothing


def test_a_year_is_proved_in_seconds():
    bag, slots = big(random.Random(1), 30, 34, 8760)  # noqa: S311
    before = time.perf_counter()
    prove(bag, slots, Weights(), HorizonMultipliers((30.0,) * 34))
    assert time.perf_counter() - before < 10.0


def big(rng: random.Random, kinds: int, types: int, count: int) -> tuple[Bag, Slots]:
    machines = tuple(MachineType(f"m{j}", 1000, rng.uniform(0.5, 1.5), may_be_off=j % 2 == 0) for j in range(kinds))
    cells = [[[rng.uniform(1, 9) for _ in machines] for _ in range(types)] for _ in range(2)]
    tasks = tuple(TaskType(f"t{i}", 50) for i in range(types))
    bag = Bag("big", machines, tasks, Table.of(cells[0]), Table.of(cells[1]))
    site = SiteSlots("s", tuple(PER_JOULE * rng.uniform(-1, 3) for _ in range(count)))
    return bag, Slots(tuple(10.0 * h for h in range(count + 1)), (site,), (0,) * kinds)


# Certificates. A cap that does not matter and a demand charge, so that all prices have a place.
SITE = SiteSlots("s", (PER_JOULE,) * 2, (PER_JOULE, 2 * PER_JOULE), (50.0, 50.0), demand_charge=3000.0)
SLOTS = Slots((0.0, 6.0, 10.0), (SITE,), (0,), start=1_700_000_000)
PRICES = HorizonMultipliers((15.0,), ((0.5, 0.0),), ((0.0, 0.25),), ((0.25, 0.25),))


@pytest.mark.parametrize("objective", ["cost", "carbon", "profit"])
@pytest.mark.parametrize("carbon_price", [0.0, 500.0])
def test_a_certificate_is_accepted_for_what_it_proves_and_not_for_more(objective, carbon_price):
    prices = replace(PRICES, peak_prices=()) if objective == "carbon" else PRICES
    made = certificate_of(one_type(), SLOTS, objective, prices, carbon_price_per_kg=carbon_price)
    verdict = check_horizon(one_type(), SLOTS, made)
    assert verdict.accepted
    assert made.unit == ("g" if objective == "carbon" else "USD")
    proved = prove(one_type(), SLOTS, weights_of(objective, carbon_price), prices)
    assert verdict.proved == (-proved if objective == "profit" else proved)
    step = Fraction(1, 10**6) * (-1 if objective == "profit" else 1)
    assert check_horizon(one_type(), SLOTS, replace(made, bound=made.bound - step)).accepted
    forged = check_horizon(one_type(), SLOTS, replace(made, bound=made.bound + step))
    assert forged.reasons == ("it claims more than its prices prove",)


def prices_of(name: str, *prices: float) -> FrozenDict[str, tuple[Fraction, ...]]:
    return FrozenDict({name: tuple(map(Fraction, prices))})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"instance_hash": "0"}, "it is about another bag"),
        ({"objective": "energy"}, "its objective is 'energy', not one of cost, carbon, profit"),
        ({"unit": "EUR"}, "its unit is 'EUR', not 'USD'"),
        ({"horizon_seconds": 9.0}, "its horizon is 9.0 s, not 10.0 s"),
        ({"start": None}, "its horizon starts at None, not at 1700000000"),
        ({"carbon_price_per_kg": Fraction(-1)}, "its price of carbon is negative"),
        ({"task_values": FrozenDict({})}, "it has no value for task type 't'"),
        ({"task_values": FrozenDict({"t": Fraction(1), "u": Fraction(1)})}, "it has a value for task type 'u'"),
        ({"machine_prices": FrozenDict({})}, "it has no price for machine type 'm'"),
        ({"machine_prices": prices_of("m", 0.5)}, "it has 1 machine prices of machine type 'm', but there are 2 slots"),
        ({"machine_prices": prices_of("m", *[0.5] * 130)}, "it has 65 machine prices for each slot, but at most 64"),
        (
            {"machine_prices": prices_of("m", *[0.5] * 5)},
            "it has 5 machine prices of machine type 'm', but there are 2",
        ),
        ({"machine_prices": prices_of("m", 0.5, -0.5)}, "one of its machine prices of machine type 'm' is negative"),
        ({"cap_prices": prices_of("r", 0.5, 0.5)}, "it has a cap price for site 'r', which there is not"),
        ({"cap_prices": prices_of("s", 0.5, -0.5)}, "one of its cap prices of site 's' is negative"),
        ({"cap_prices": prices_of("s", 0.5, 0.5, 0.5)}, "it has 3 cap prices of site 's', but there are 2 slots"),
        ({"peak_prices": prices_of("s", -0.1, 0.1)}, "one of its peak prices of site 's' is negative"),
        ({"peak_prices": prices_of("s", 0.25, 0.5)}, "add up to 3.5 per watt, but the demand charge is 3.0"),
    ],
)
def test_forged_certificates_are_rejected_with_a_reason(fields, reason):
    made = replace(certificate_of(one_type(), SLOTS, "cost", PRICES), bound=Fraction(-(10**9)))
    assert check_horizon(one_type(), SLOTS, made).accepted
    verdict = check_horizon(one_type(), SLOTS, replace(made, **fields))
    assert not verdict.accepted
    assert verdict.proved is None
    assert reason in " ".join(verdict.reasons)


@pytest.mark.parametrize(
    ("fields", "objective", "reason"),
    [
        ({"cap_watts": None}, "cost", "it has cap prices of site 's', which has no power cap"),
        ({"demand_charge": 0.0}, "cost", "its peak prices of site 's' add up to 2.5 per watt"),
        ({"carbon": None}, "carbon", "it counts grams of CO2, but site 's' has no carbon intensity"),
    ],
)
def test_a_certificate_for_another_site_is_rejected(fields, objective, reason):
    prices = PRICES if objective == "cost" else replace(PRICES, peak_prices=())
    made = replace(certificate_of(one_type(), SLOTS, objective, prices), bound=Fraction(-(10**9)))
    verdict = check_horizon(one_type(), replace(SLOTS, sites=(replace(SITE, **fields),)), made)
    assert reason in " ".join(verdict.reasons)


def test_a_bag_without_watts_has_no_certificate():
    bag = one_type().model_copy(update={"watts": None})
    made = certificate_of(one_type(), SLOTS, "cost", PRICES)
    assert "it counts energy, but the bag has no watts" in check_horizon(bag, SLOTS, made).reasons


def test_prices_that_would_prove_something_false_are_not_used():
    for wrong in (replace(PRICES, cap_prices=((0.0, -1.0),)), replace(PRICES, peak_prices=((1.0, 1.0),))):
        with pytest.raises(AssertionError):
            prove(one_type(), SLOTS, Weights(), wrong)
        assert prove(one_type(), SLOTS, Weights(), fitted(one_type(), SLOTS, Weights(), wrong)) is not None
