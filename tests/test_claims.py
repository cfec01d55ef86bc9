"""What a certificate claims, and of what: other terms than the instance's are never accepted as if they were its own."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

import lpsched
from lpsched.bag.horizon.files import HorizonPlan, write_plan
from lpsched.bag.horizon.slots import with_series
from lpsched.bag.parts import Prices
from lpsched.errors import InstanceError
from lpsched.facility.certificate.boxes import HEAT, OUTLET, Box, Cut, Step, check
from lpsched.facility.files import write_proof
from lpsched.model.answers import checksum
from lpsched.model.fields import FrozenDict
from lpsched.online.certificate.claim import ClustersCertificate
from lpsched.online.certificate.claim import check as check_arrivals
from lpsched.online.clusters import clusters_from_dict

TINY = lpsched.read("instances/tiny.yaml")
ROOM = lpsched.read("instances/facility-tiny.yaml")
CAP = 40.000001  # watts; idle machines take 40: all that is done above them takes 5400 s/W / 1e-6 W, and more


@pytest.fixture(scope="module")
def room_proof():
    return lpsched.certify(ROOM)


@pytest.fixture
def made(tmp_path):
    """Return a function that writes the certificate of a bag under some terms."""

    def write(name, bag=TINY, **options):
        lpsched.write(lpsched.certify(bag, effort="fast", **options), tmp_path / name)
        return tmp_path / name

    return write


def verdicts(instance, *files, **terms):
    return [each.verdict for each in lpsched.verify(instance, files, **terms).files]


def forged(path, **claim):
    """Write other terms, or another bound, into a certificate, with a checksum that fits."""
    content = json.loads(path.read_text())
    content["claim"] |= claim
    path.write_text(json.dumps(content | {"checksum": checksum(content)}))
    return path


def test_a_bound_under_a_power_cap_is_not_one_of_the_bag(made, tmp_path):
    proof = made("c.json", objective="makespan", power_cap=CAP)
    lpsched.write(lpsched.solve(TINY, objective="makespan", effort="fast").schedule, tmp_path / "s.json", instance=TINY)
    result = lpsched.verify(TINY, [proof, tmp_path / "s.json"])
    claim, schedule = result.files
    assert claim.proved > 5e9 > schedule.measured.makespan_seconds == 12.0
    assert not result.accepted
    assert not claim.accepted
    assert (claim.verdict, schedule.verdict) == ("other terms", "accepted")
    assert claim.row()[2] == "other terms"
    assert result.headline() == "tiny: 1 of 2 files accepted, 1 only under other terms."
    written = result.to_dict()["files"][0]
    assert (written["accepted"], written["same_terms"]) == (False, False)
    assert written["terms"] == {"power_cap_watts": CAP, "deadline_seconds": None}
    assert written["reasons"] == ["it holds only with power cap 40.000001 W, here none; add --power-cap 40.000001"]


def test_the_terms_that_the_caller_names_are_those_of_the_verdict(made, tmp_path):
    proof = made("c.json", objective="makespan", power_cap=CAP)
    lpsched.write(lpsched.solve(TINY, objective="makespan", effort="fast").schedule, tmp_path / "s.json", instance=TINY)
    result = lpsched.verify(TINY, [proof, tmp_path / "s.json"], power_cap=CAP)
    assert [each.verdict for each in result.files] == ["accepted", "rejected"]  # the schedule takes 700 W
    assert result.headline() == "tiny with power cap 40.000001 W: 1 of 2 files accepted, 1 rejected."
    assert result.to_dict()["terms"] == {"power_cap_watts": CAP}
    assert verdicts(TINY, proof, power_cap=41.0) == ["other terms"]
    assert verdicts(TINY, made("own.json"), power_cap=CAP) == ["other terms"]  # it knows of no cap


def test_rows_of_a_schedule_are_held_against_the_terms_that_the_caller_names(tmp_path):
    # 12 s long, 700 W: all that is rejected here is valid for the bag itself.
    lpsched.write(lpsched.solve(TINY, objective="makespan", effort="fast").schedule, tmp_path / "s.csv", instance=TINY)
    assert verdicts(TINY, tmp_path / "s.csv") == ["accepted"]
    assert verdicts(TINY, tmp_path / "s.csv", power_cap=699.0) == ["rejected"]
    assert verdicts(TINY, tmp_path / "s.csv", deadline=11.0) == ["rejected"]
    (tmp_path / "none.csv").write_text("task_type,machine_type,machine\n")  # to run nothing is no answer to a deadline
    assert verdicts(TINY, tmp_path / "none.csv") == ["accepted"]
    assert verdicts(TINY, tmp_path / "none.csv", deadline=20.0) == ["rejected"]


def test_terms_that_are_the_bags_own_are_the_bags_own(made):
    # The bag sells for 0.02 USD and has no deadline: null and the same number say the same.
    proof = made("p.json")
    assert verdicts(TINY, proof) == ["accepted"]
    assert verdicts(TINY, forged(proof, price="0.0200000000000000004163336342344337026588618755340576171875")) == [
        "accepted"
    ]
    assert verdicts(TINY, forged(proof, price="0.5")) == ["rejected"]  # at that price more can be earned
    within = TINY.model_copy(update={"site": TINY.site.model_copy(update={"deadline_seconds": 20.0})})
    proof = made("d.json", within, objective="energy")
    assert verdicts(within, proof) == ["accepted"]
    assert verdicts(within, forged(proof, deadline_seconds="20")) == ["accepted"]
    assert verdicts(within, forged(proof, deadline_seconds="30", bound="1")) == ["other terms"]


def test_a_price_matters_to_a_claim_about_profit_only(made):
    assert verdicts(TINY, made("m.json", objective="makespan", price=7.0)) == ["accepted"]
    assert verdicts(TINY, made("p.json", price=7.0)) == ["other terms"]
    assert verdicts(TINY, made("p.json", price=7.0), price=7.0) == ["accepted"]


def test_a_forged_claim_under_other_terms_is_rejected(made):
    proof = made("c.json", objective="makespan", power_cap=CAP)
    assert verdicts(TINY, forged(proof, bound="1" + "0" * 20)) == ["rejected"]


def test_terms_of_another_kind_or_no_numbers_are_errors():
    with pytest.raises(InstanceError, match="price: got the option for a facility, expected a bag"):
        lpsched.verify(ROOM, [], price=3.0)
    with pytest.raises(InstanceError, match="outlets: got the option for a bag, expected a facility"):
        lpsched.verify(TINY, [], outlets=[20.0])
    with pytest.raises(InstanceError, match="deadline"):
        lpsched.verify(TINY, [], deadline=-1.0)
    with pytest.raises(InstanceError, match="horizon: got nan"):
        lpsched.verify(TINY, [], horizon=float("nan"))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Return a plan of two hours, its proof, and the proof of a cost with a price of carbon."""
    folder = tmp_path_factory.mktemp("plans")
    bag = with_series(TINY, tariff=0.2, carbon=400.0)
    for name, price in (("", 0.0), ("priced-", 1000.0)):
        result = lpsched.horizon.plan(bag, objective="cost", horizon=7200.0, carbon_price=price, effort="fast")
        lpsched.write(result.certificate, folder / f"{name}proof.json")
    write_plan(HorizonPlan(result.plan, 7200.0), bag, folder / "plan.json", "1")
    return bag, folder


def test_a_plan_and_its_proof_are_about_the_horizon_that_is_named(planned):
    bag, folder = planned
    files = folder / "plan.json", folder / "proof.json"
    assert verdicts(bag, *files) == ["other terms"] * 2  # the bag has no deadline: no horizon of its own
    result = lpsched.verify(bag, files, horizon=7200.0)
    assert result.accepted
    assert result.headline().startswith("tiny with horizon 7200 s: 2 of 2 files accepted")
    assert verdicts(bag, *files, horizon=3600.0) == ["other terms"] * 2
    assert verdicts(bag, *files, deadline=7200.0) == ["accepted"] * 2
    assert verdicts(bag, *files, horizon=7200.0, price=3.0) == ["other terms"] * 2
    assert verdicts(bag, *files, horizon=7200.0, power_cap=9.0) == ["other terms"] * 2
    assert verdicts(bag, folder / "plan.json", folder / "plan.json", horizon=7200.0) == ["accepted"] * 2


def test_a_price_of_carbon_is_named(planned):
    # 1000 USD for each kilogram makes the bound of the cost much more than what the plan costs without it.
    bag, folder = planned
    files = folder / "plan.json", folder / "priced-proof.json"
    plan, proof = lpsched.verify(bag, files, horizon=7200.0).files
    assert plan.accepted
    assert proof.proved > 100 * plan.facts["cost"]
    assert proof.verdict == "other terms"
    plan, proof = lpsched.verify(bag, files, horizon=7200.0, carbon_price=1000.0).files
    assert plan.accepted
    assert proof.accepted
    assert plan.facts["cost"] >= proof.proved


def test_a_plan_leaves_out_tasks_only_where_each_has_a_price(planned, tmp_path):
    bag, folder = planned
    content = json.loads((folder / "plan.json").read_text())
    assert bag.prices.per_bag is not None
    assert not bag.prices.per_task
    for key, value in content.items():
        if isinstance(value, list) and key == "groups":
            content[key] = value[:-1]
    (tmp_path / "less.json").write_text(json.dumps(content))
    assert verdicts(bag, tmp_path / "less.json", horizon=7200.0) == ["rejected"]


def test_a_price_of_carbon_does_not_matter_to_a_claim_about_carbon(planned, tmp_path):
    bag, _ = planned
    proof = lpsched.horizon.plan(bag, objective="carbon", horizon=7200.0, effort="fast").certificate
    lpsched.write(proof, tmp_path / "c.json")
    assert verdicts(bag, tmp_path / "c.json", horizon=7200.0, carbon_price=1.0) == ["accepted"]


def test_a_schedule_is_not_about_a_horizon(made, tmp_path):
    lpsched.write(lpsched.solve(TINY, effort="fast").schedule, tmp_path / "s.json", instance=TINY)
    assert verdicts(TINY, made("p.json"), tmp_path / "s.json", horizon=7200.0) == ["other terms"] * 2


def test_the_start_and_horizon_of_a_plan_do_not_replace_the_bags(tmp_path):
    day, files = lpsched.read("instances/render-day.yaml"), (tmp_path / "p.json", tmp_path / "c.json")
    later = {"start": "2024-01-08T01:00Z", "horizon": 80_000.0}  # of the file: from 0:00 on, 86,400 s
    for terms, expected in (({}, "accepted"), (later, "other terms")):
        result = lpsched.horizon.plan(day, effort="fast", **terms)
        write_plan(HorizonPlan(result.plan, result.horizon_seconds, result.start), result.bag, files[0], "1")
        lpsched.write(result.certificate, files[1])
        assert verdicts(day, *files) == [expected] * 2
        assert verdicts(day, *files, **terms) == ["accepted"] * 2
        assert [len(each.other_terms) for each in lpsched.verify(day, files).files] == [len(terms)] * 2


@pytest.mark.parametrize("start", ["2024-01-08T00:00:00.9Z", "2024-01-08T00:00:00.0000001Z"])
def test_a_start_within_a_second_is_not_taken_for_its_begin(tmp_path, start):
    day, files = lpsched.read("instances/render-day.yaml"), (tmp_path / "p.json", tmp_path / "c.json")
    result = lpsched.horizon.plan(day, effort="fast")
    write_plan(HorizonPlan(result.plan, result.horizon_seconds, result.start), result.bag, files[0], "1")
    lpsched.write(result.certificate, files[1])
    plan = json.loads(files[0].read_text())
    files[0].write_text(json.dumps(plan | {"start": start}))
    found = lpsched.verify(day, (files[0], forged(files[1], start=start))).files
    assert [each.verdict for each in found] == ["rejected"] * 2
    assert all("expected a whole second" in each.reasons[0] for each in found)
    with pytest.raises(InstanceError, match="to the second"):
        lpsched.verify(day, (), start=start)


def test_a_plan_for_times_at_which_nothing_may_run_is_rejected_and_the_next_file_checked(tmp_path):
    day, path = lpsched.read("instances/render-day.yaml"), tmp_path / "p.json"
    result = lpsched.horizon.plan(day, effort="fast")
    write_plan(HorizonPlan(result.plan, result.horizon_seconds, result.start), result.bag, path, "1")
    kinds = tuple(kind.model_copy(update={"may_be_off": False, "idle_watts": 10.0}) for kind in day.machine_types)
    dark = with_series(day.model_copy(update={"machine_types": kinds}), power_cap=0.001)
    (found, again) = lpsched.verify(dark, (path, path)).files
    assert found.verdict == again.verdict == "rejected"
    assert "the power cap is 1 W" in found.reasons[0]


def test_a_plan_without_a_start_is_about_that_of_the_bag(tmp_path):
    day, path = lpsched.read("instances/render-day.yaml"), tmp_path / "p.json"
    result = lpsched.horizon.plan(day, effort="fast")
    write_plan(HorizonPlan(result.plan, result.horizon_seconds), result.bag, path, "1")
    assert verdicts(day, path) == ["accepted"]
    found = lpsched.verify(day, [path], start="2024-01-08T01:00Z").files[0]
    assert found.verdict == "other terms"  # it is measured from 0:00 on
    assert found.other_terms[0].startswith("start 2024-01-08T00:00Z, here 2024-01-08T01:00Z")


def test_the_cost_of_a_plan_that_leaves_out_tasks_is_no_cost_of_the_bag(tmp_path):
    # Running nothing costs nothing, which is below every bound on the cost of all tasks.
    day, path = lpsched.read("instances/render-day.yaml"), tmp_path / "p.json"
    result = lpsched.horizon.plan(day, effort="fast")
    for groups in ((), result.plan.groups):
        write_plan(HorizonPlan(replace(result.plan, groups=groups), result.horizon_seconds), result.bag, path, "1")
        found = lpsched.verify(day, [path]).files[0].to_dict()
        assert found["accepted"]
        assert found["completed"] + found["dropped"] == day.tasks
        assert (found["cost"] is None) == (found["dropped"] > 0)
        assert found["dropped"] == day.tasks or groups


def test_profit_of_what_has_no_price_is_not_claimed(made):
    free = TINY.model_copy(update={"prices": Prices(electricity_per_kwh=0.1)})
    proof = made("c.json", bag=free, price=5.0)
    assert verdicts(free, forged(proof, price=None)) == ["rejected"]
    unpaid = TINY.model_copy(update={"prices": Prices(per_bag=5.0)})
    claim = lpsched.bag.certify.certify(TINY, price=5.0, effort="fast")
    found = lpsched.bag.certificate.claim.check(unpaid, replace(claim, instance_hash=unpaid.content_hash))
    assert found.reasons == ("it is about profit, but electricity has no price, or no single one",)


def test_profit_over_a_horizon_is_that_of_tasks_with_prices(tmp_path):
    tasks = {task.name: 1.0 for task in TINY.task_types}
    one = with_series(TINY, tariff=0.2).model_copy(update={"prices": Prices(per_bag=100.0)})
    each = one.model_copy(update={"prices": Prices(per_task=tasks)})
    made = lpsched.horizon.plan(each, objective="profit", horizon=7200.0, effort="fast").certificate
    lpsched.write(made, tmp_path / "each.json")
    lpsched.write(replace(made, instance_hash=one.content_hash, bound=Fraction(10**9)), tmp_path / "one.json")
    assert verdicts(each, tmp_path / "each.json", horizon=7200.0) == ["accepted"]
    assert verdicts(one, tmp_path / "one.json", horizon=7200.0) == ["rejected"]


@pytest.mark.parametrize("key", ["objective", "unit", "hash"])
def test_words_of_a_certificate_cannot_fill_a_line_of_their_own(made, key):
    # A terminal of 80 columns would begin a line with what follows the gap.
    forgery = "x" + " " * 79 + "s.json  schedule  accepted" + "x" * 5000
    content = json.loads((path := made("c.json")).read_text())
    content["instance" if key == "hash" else "claim"][key] = forgery
    path.write_text(json.dumps(content | {"checksum": checksum(content)}))
    found = lpsched.verify(TINY, [path]).files[0]
    assert found.verdict == "rejected"
    for text in (*found.row()[1:], *found.reasons):
        assert "accepted" not in text
        assert len(text) < 250


# Facilities.
def test_a_proof_for_fixed_outlets_is_not_one_of_the_facility(tmp_path):
    # At 15 celsius less can be earned than at the best outlets (1.2).
    cold, best = lpsched.facility(ROOM, outlets=[15.0], prove=True), lpsched.facility(ROOM)
    write_proof(cold.certificate, tmp_path / "c.json", "1")
    lpsched.write(best.allocation, tmp_path / "a.json", instance=ROOM)
    lpsched.write(cold.allocation, tmp_path / "cold.json", instance=ROOM)
    files = tmp_path / "c.json", tmp_path / "a.json", tmp_path / "cold.json"
    claim, allocation, _ = lpsched.verify(ROOM, files).files
    assert claim.proved < allocation.measured.reward_rate
    assert claim.to_dict()["terms"] == {"outlets_celsius": [15.0], "colocation": True, "rounding_granted": True}
    assert verdicts(ROOM, *files) == ["other terms", "accepted", "accepted"]
    assert verdicts(ROOM, *files, outlets=[15.0]) == ["accepted", "other terms", "accepted"]
    assert verdicts(ROOM, *files, outlets=[16.0]) == ["other terms"] * 3


@pytest.mark.parametrize("celsius", [-1000.0, -1e308, 1e308])
def test_outlets_that_no_unit_can_have_are_rejected(tmp_path, room_proof, celsius):
    write_proof(replace(room_proof, outlets_celsius=(celsius,)), tmp_path / "c.json", "1")
    (claim,) = lpsched.verify(ROOM, [tmp_path / "c.json"], outlets=[celsius]).files
    assert claim.verdict == "rejected"
    assert "is to blow at" in claim.reasons[0]


def test_a_proof_that_grants_no_rounding_is_never_accepted_beside_what_it_does_not_cover(tmp_path):
    # The claim is what holds for exact limits: what the verifier forgives of the cap earns some 1e-9 more.
    proof = lpsched.facility(ROOM, outlets=[15.0], prove=True).certificate
    assert proof is not None
    exact = replace(proof, granted=False)
    least = float(check(ROOM, exact).proved)
    assert least < float(check(ROOM, proof).proved)
    found = []
    for share in (1.0, 1 + 1e-6, 1 - 1e-6):  # 1 + 1e-6: enough to spare for what the verifier forgives
        write_proof(replace(exact, bound=least * share), tmp_path / "old.json", "1")
        (claim,) = lpsched.verify(ROOM, [tmp_path / "old.json"], outlets=[15.0]).files
        found.append(claim.verdict)
        if share == 1.0:
            assert "keep every limit exactly" in claim.to_dict()["reasons"][0]
    assert found == ["other terms", "accepted", "rejected"]


def test_boxes_that_share_children_are_rejected_at_once(room_proof):
    # Sixty boxes, each cut into the next two: 2^60 paths would lead through them.
    leaf = Box(prices=room_proof.boxes[0].prices)
    shared = tuple(Box(cut=Cut(OUTLET, 0, 20.0, k + 1, k + 2)) for k in range(60))
    for boxes in ((*shared, leaf, leaf), (Box(cut=Cut(HEAT, 0, 100.0, 1, 1)), leaf)):
        found = check(ROOM, replace(room_proof, boxes=boxes))
        assert "was made by a cut before: each is made by one" in found.reasons[0]


@pytest.mark.parametrize("number", [1e308, -1e308, 1e300, float("nan"), float("inf")])
def test_proofs_with_numbers_beyond_all_sense_are_rejected_in_words(room_proof, number):
    good = room_proof.boxes[0].prices
    wild = replace(good, tasks=(number,) * len(good.tasks), cap=number)
    steps = [Step(side, 0, wild) for side in ("low", "high", "least", "most", "cool", "warm")]
    for boxes in ((Box(prices=wild),), *((Box(steps=(step,)),) for step in steps)):
        found = check(ROOM, replace(room_proof, boxes=boxes))
        assert not found.accepted
        assert found.reasons
    assert not check(ROOM, replace(room_proof, bound=-abs(number))).accepted


# Numbers that no double holds.
def test_a_price_that_proves_more_than_any_double_is_answered_in_words(tmp_path):
    day = lpsched.read("instances/utility-250.yaml")
    proof = lpsched.certify(day)
    rows = {name: tuple(Fraction(10) ** 308 for _ in row) for name, row in proof.machine_prices.items()}
    lpsched.write(replace(proof, machine_prices=type(proof.machine_prices)(rows)), tmp_path / "d.json")
    (claim,) = lpsched.verify(day, [tmp_path / "d.json"]).files
    assert claim.verdict == "rejected"
    assert claim.to_dict()["proved"] is None


def test_slots_that_make_the_checker_look_too_long_are_rejected_in_words(tmp_path, monkeypatch):
    day = lpsched.read("instances/utility-250.yaml")
    lpsched.write(lpsched.certify(day, time_limit=1.0), tmp_path / "d.json")
    assert verdicts(day, tmp_path / "d.json") == ["accepted"]
    monkeypatch.setattr("lpsched.online.certificate.claim.MOST_STEPS", 1000)
    (claim,) = lpsched.verify(day, [tmp_path / "d.json"]).files
    assert claim.reasons == ("its slots are too many: checking takes more than 1,000 steps",)


def test_certificates_of_days_with_too_many_numbers_or_names_are_rejected_in_some_words(monkeypatch):
    day = lpsched.read("instances/utility-250.yaml")
    proof = lpsched.certify(day, time_limit=1.0)
    assert check_arrivals(day, proof).accepted
    more = type(proof.machine_prices)({f"other {k}": () for k in range(1000)} | dict(proof.machine_prices))
    reasons = check_arrivals(day, replace(proof, machine_prices=more)).reasons
    assert len(reasons) == 20
    assert reasons[0] == "it prices machine type 'other 0', which the day does not have"
    numbers = len(proof.edges) + sum(map(len, proof.machine_prices.values()))
    monkeypatch.setattr("lpsched.online.certificate.claim.MOST_NUMBERS", numbers - 1)
    (reason,) = check_arrivals(day, proof).reasons
    assert reason == f"it has {numbers:,} edges and prices, where at most {numbers - 1:,} are checked"


def test_corners_that_are_not_listed_prove_the_same(monkeypatch):
    day = lpsched.read("instances/utility-250.yaml")
    proof = lpsched.certify(day, time_limit=1.0)
    listed = check_arrivals(day, proof).proved
    monkeypatch.setattr("lpsched.online.certificate.claim.MOST_LISTED", 0)
    assert check_arrivals(day, proof).proved == listed


# Two tasks on 2 nodes each. By the curve these take 1e-30 / (1e15 - 1) = 1e-45 W, less than any power of a file: none.
# So 1e30 s of both take no energy, and a price of energy that would leave them 1 - 1e-15 J * price proves nothing.
def test_powers_between_points_of_a_curve_are_the_same_to_the_verifier_and_to_the_certificate(tmp_path):
    task = {"arrival_seconds": 0, "task_type": "t", "cores": 2, "utility": "f"}
    faint = clusters_from_dict(
        {
            "format": "lpsched-clusters/1",
            "name": "faint",
            "clusters": [{"name": "c", "nodes": 4}],
            "task_types": [{"name": "t"}],
            "seconds": {"t": {"c": {"1": 1e30, "1000000000000000": 1e30}}},
            "watts": {"t": {"c": {"1": 0.0, "1000000000000000": 1e-30}}},
            "utility_functions": {"f": [{"after_seconds": 0, "starts_at": 1.0}]},
            "period": {"energy_constraint_joules": 1.9993135316196856e-15},
            "tasks": [task, task],
        }
    )
    (tmp_path / "both.csv").write_text("task,cluster,nodes,start_seconds\n0,c,1-2,0\n1,c,3-4,0\n")
    prices = FrozenDict({"c": (Fraction(0),)})
    slots, joule = (Fraction(0), Fraction(1)), Fraction("999999999999998.875")
    proof = ClustersCertificate(faint.name, faint.content_hash, Fraction("1.99932"), slots, prices, joule)
    lpsched.write(proof, tmp_path / "proof.json")
    both, claim = lpsched.verify(faint, [tmp_path / "both.csv", tmp_path / "proof.json"]).files
    assert both.accepted
    assert both.to_dict()["utility"] == 2.0
    assert both.to_dict()["energy_joules"] == 0.0
    assert not claim.accepted


def test_prices_that_make_the_checker_look_too_long_are_rejected_in_words(room_proof, monkeypatch):
    monkeypatch.setattr(sys.modules[check.__module__], "MOST_STEPS", 100)
    assert check(ROOM, room_proof).reasons == ("it is too long: checking takes more than 100 steps",)
