"""What docs/findings.md says holds: from results with value and bound, from proofs that are checked, and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

import lpsched
from tests.docs.pages import PAGES, ROOT

pytestmark = pytest.mark.unwatched  # what solvers do is tested elsewhere

INSTANCES = ROOT / "instances"
KWH = 3.6e6
LATER = 1.05


def _raw(name):
    return yaml.safe_load((INSTANCES / f"{name}.yaml").read_text(encoding="utf-8"))


def _least(raw, cost):
    """Return what all tasks cost where and how each costs least: no schedule can do with less."""
    total = 0.0
    for task in raw["task_types"]:
        seconds, watts = (raw[table][task["name"]] for table in ("seconds", "watts"))
        ways = [
            cost(machine, *pair)
            for machine in seconds
            for pair in zip(_states(seconds[machine]), _states(watts[machine]), strict=True)
        ]
        total += task["count"] * min(ways)
    return total


def _states(cell):
    return cell if isinstance(cell, list) else [cell]


def _joules(_, seconds, watts):
    return seconds * watts


def _holds_and_no_more(instance, certificate, folder, stronger, **terms):
    """Return whether a proof is accepted without a solver, and rejected if it claims `stronger` times as much."""
    path = folder / "proof.json"
    lpsched.write(certificate, path)
    holds = lpsched.verify(instance, [path], **terms).accepted
    lpsched.write(replace(certificate, bound=type(certificate.bound)(stronger) * certificate.bound), path)
    return holds and lpsched.verify(instance, [path], **terms).files[0].verdict == "rejected"


@pytest.fixture(scope="module")
def zeus():
    return lpsched.read(INSTANCES / "zeus-34x4.yaml")


@pytest.fixture(scope="module")
def fastest(zeus):
    return lpsched.solve(zeus, objective="makespan")


@pytest.fixture(scope="module")
def later(zeus, fastest):
    return lpsched.solve(zeus, objective="energy", deadline=LATER * fastest.value)


def test_5_percent_more_time_saves_19_percent_of_the_energy_of_the_fastest_schedule(fastest, later):
    assert 1.0 < fastest.value / fastest.bound < 1.0015
    spent = fastest.measured.energy_joules
    assert 0.189 < 1.0 - later.value / spent < 0.190
    assert later.bound <= later.value
    assert 0.192 < 1.0 - later.bound / spent < 0.1931
    assert fastest.value < later.measured.makespan_seconds <= LATER * fastest.value


def test_5_percent_more_time_saves_17_percent_between_the_best_schedules(zeus, fastest, later):
    same = lpsched.solve(zeus, objective="energy", deadline=fastest.value)
    assert same.measured.makespan_seconds <= fastest.value
    assert same.bound <= same.value < fastest.measured.energy_joules
    assert 1.0 - later.value / same.bound > 0.169
    assert 1.0 - later.bound / same.value < 0.176


def test_at_most_32_percent_of_the_energy_can_be_saved_at_all(zeus, fastest):
    least = lpsched.solve(zeus, objective="energy")
    by_hand = _least(_raw("zeus-34x4"), _joules)  # 230.9 kWh
    assert least.bound == pytest.approx(by_hand, rel=1e-9)
    assert least.value == pytest.approx(by_hand, rel=1e-9)
    assert 0.3205 < 1.0 - least.bound / fastest.measured.energy_joules < 0.3215
    assert 3.9 < least.measured.makespan_seconds / fastest.value < 4.0


def test_the_front_of_zeus_has_144_vertices_and_no_schedule_lies_below_its_proofs(zeus, fastest, later):
    front = lpsched.front(zeus)
    assert len(front.vertices) == 144
    assert front.least_joules / KWH == pytest.approx(230.9, abs=0.05)
    for each in front.proofs:
        for found in (fastest, later):
            measured = found.measured
            seen = each.joules_weight * measured.energy_joules + each.seconds_weight * measured.makespan_seconds
            assert seen >= each.bound * (1.0 - 1e-12)


@pytest.mark.parametrize("deadline", [None, 173_946.0, 165_663.1])
def test_the_proofs_of_zeus_hold_and_prove_no_more(zeus, tmp_path, deadline):
    proof = lpsched.certify(zeus, objective="energy", deadline=deadline)
    assert _holds_and_no_more(zeus, proof, tmp_path, 1.0001, deadline=deadline)


@pytest.fixture(scope="module")
def fleet():
    return lpsched.read(INSTANCES / "mlperf-power.yaml")


def _placed(result):
    """Return which systems run some tasks of each model."""
    return {task.rpartition(" x ")[0]: set(where) for task, where in result.to_dict()["allocation"].items()}


def test_mlperf_earns_12_95_an_hour_and_one_more_dgx_adds_most(fleet, tmp_path):
    found = lpsched.solve(fleet, marginals="top")
    assert 12.94 < found.value <= found.bound < 12.96
    gains = found.one_more.machine_types
    assert 1.571 <= gains["DGX-H100"].at_least <= gains["DGX-H100"].at_most <= 1.591
    (fourth,) = {machine.name for machine in fleet.machine_types} - set(gains)
    others = [gain.at_most for name, gain in gains.items() if name != "DGX-H100"]
    others.append(lpsched.what_if(fleet, {fourth: "+1"}).best_changes_by()[1])
    assert len(others) == 3
    assert all(gain < gains["DGX-H100"].at_least for gain in others)
    placed = _placed(found)
    assert placed["dlrm-v2-99"] == placed["3d-unet-99"] == {"DGX-H100"}
    assert placed["rnnt"] == placed["gptj-99"] == {"H100-PCIe-x8"}
    assert placed["retinanet"] | placed["resnet50"] | placed["bert-99"] == {"QAIC100-x16", "QAIC100-x8"}
    proof = lpsched.certify(fleet)
    assert _holds_and_no_more(fleet, proof, tmp_path, 0.999)


def test_at_three_times_the_price_of_electricity_two_kinds_of_systems_stand_still(fleet):
    prices = fleet.prices.model_copy(update={"electricity_per_kwh": 0.45})
    found = lpsched.solve(fleet.model_copy(update={"prices": prices}))
    same = lpsched.solve(fleet, price=200.0 / 3.0)
    assert found.value == pytest.approx(3.0 * same.value, rel=1e-6)
    assert set().union(*_placed(found).values()) == {"H100-PCIe-x8", "QAIC100-x8"}
    assert found.measured.energy_joules == pytest.approx(_least(_raw("mlperf-power"), _joules), rel=1e-9)


def test_mlperf_is_best_not_run_from_the_price_at_which_its_least_energy_costs_all_revenue(fleet):
    raw = _raw("mlperf-power")
    by_hand = 200.0 / (raw["site"]["pue"] * _least(raw, _joules) / KWH)  # 0.46677 USD/kWh
    electricity = lpsched.sensitivity(fleet).to_dict()["electricity"]
    assert 0.4667 < electricity["earns_up_to"] <= electricity["do_not_run_from"] < 0.4668
    assert electricity["do_not_run_from"] == pytest.approx(by_hand, rel=1e-9)
    prices = fleet.prices.model_copy(update={"electricity_per_kwh": 0.4668})
    assert lpsched.solve(fleet.model_copy(update={"prices": prices})).regime == "do-not-run"


@pytest.fixture(scope="module")
def encodings():
    return lpsched.read(INSTANCES / "veed-12x6.yaml")


def test_500_segments_in_12_renditions_cost_799_cents_and_an_assumed_minute_19(encodings):
    raw = _raw("veed-12x6")
    rent = {machine["name"]: machine["wear_per_busy_hour"] / 3600.0 for machine in raw["machine_types"]}
    by_hand = _least(raw, lambda machine, seconds, _: rent[machine] * seconds)
    need = lpsched.sensitivity(encodings).price_need
    assert 7.993 < need.needed <= need.enough < 7.994
    assert need.needed == pytest.approx(by_hand, rel=1e-9)
    assert {task["count"] for task in raw["task_types"]} == {500}
    assert round(100.0 * need.enough / 500, 3) == 1.599  # cents for a segment
    assert round(100.0 * need.enough / 500 * 60 / 5, 2) == 19.18  # for a minute, if a segment is 5 s


def test_at_16_usd_the_spreads_cost_a_tenth_of_the_profit_and_no_sample_loses(encodings):
    risk = lpsched.RiskOptions(samples=1000, cov="file")
    found = lpsched.solve(encodings, price=16.0, risk=risk)
    assert 11.08 < found.value <= found.bound < 11.10
    profit, makespan = (found.risk.quantities[name] for name in ("profit_per_hour", "makespan_seconds"))
    assert 0.88 < profit.mean / profit.planned < 0.90
    assert 1.11 < makespan.mean / makespan.planned < 1.13
    assert found.risk.to_dict()["chances"]["loss"]["share"] == 0.0


def test_sharing_makes_16_gpus_as_good_as_24(tmp_path):
    gpus = lpsched.read(INSTANCES / "gavel-v100.yaml")
    raw = _raw("gavel-v100")
    assert sum(each["count"] for each in raw["nodes"]) == 16
    for task in raw["task_types"]:  # a step is worth the seconds that it takes alone: one GPU without sharing earns 1
        alone = raw["speeds"][task["name"]]["v100"]
        assert task["reward"] * (alone[0] if isinstance(alone, list) else alone) == pytest.approx(1.0, rel=1e-5)
    found = lpsched.facility(gpus, prove=True)
    assert 24.27 < found.reward_rate <= found.bound < 24.30
    assert _holds_and_no_more(gpus, found.certificate, tmp_path, 0.999)
    rates = zip(gpus.task_types, found.to_dict()["task_rates_per_second"], strict=True)
    idle = {task.name.partition(" (")[0] for task, rate in rates if rate == 0.0}
    assert idle == {"Recommendation"}


def _waits(clusters, schedule):
    """Return the mean seconds that trainings of less than the whole cluster wait."""
    arrivals = clusters.task_columns()["arrival_seconds"]
    waits = [each.start_seconds - arrivals[each.task] for each in schedule.placed if each.count < 64]
    return round(sum(waits) / len(waits))


@pytest.mark.slow  # compiles the simulator
def test_a_patient_rule_costs_about_half_of_backfilling_and_the_bound_is_far_below(tmp_path):
    namespace: dict[str, Any] = {}
    exec(compile(PAGES["docs/findings.md"].blocks("python")[0], "patient.py", "exec"), namespace)  # noqa: S102 - our own page's code
    clusters = lpsched.read(INSTANCES / "h100-training.yaml")
    found = lpsched.simulate(clusters, ["conservative", "easy", namespace["patient"]], bound=True, offline=True)
    cost = {each.name: each.runs[0].measured.cost for each in found.policies}
    bound = -found.policies[0].runs[0].bound
    assert 960.0 < bound < 974.4  # 960 is that nothing waits
    assert bound <= cost["patient"] < 0.52 * cost["conservative"] < 0.52 * cost["easy"]
    assert 0.69 < 1.0 - bound / cost["conservative"] < 0.70
    assert 0.62 < 1.0 - cost["offline"] / cost["conservative"] < 0.63
    for each in found.policies:  # measured again, from the file of the schedule
        path = tmp_path / f"{each.name}.csv"
        lpsched.write(each.schedule, path)
        (again,) = lpsched.verify(clusters, [path]).files
        assert again.measured.cost == cost[each.name]
    ends = {name: found.policies[place].runs[0].measured.makespan_seconds for place, name in enumerate(cost)}
    assert (round(ends["conservative"] / 3600), round(ends["patient"] / 3600)) == (25, 32)
    assert [_waits(clusters, found.policies[place].schedule) for place in (0, 2)] == [1117, 77]
    proof = lpsched.certify(clusters)
    assert _holds_and_no_more(clusters, proof, tmp_path, 1.001)
    for patience, (least, most) in {20: (2.0, 2.07), 24: (1.68, 1.69), 50: (2.055, 2.065)}.items():
        namespace["PATIENCE"] = patience
        (other,) = lpsched.simulate(clusters, [namespace["patient"]]).policies
        assert least < other.runs[0].measured.cost / 960 < most
