"""Facilities through all stages: by hand on one node, and verified on random ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError, InvalidScheduleError
from lpsched.facility import solve as stages
from lpsched.facility.air import facility_arrays
from lpsched.facility.certificate.boxes import check
from lpsched.facility.compare import allocate
from lpsched.facility.outlets.search import Tightening
from lpsched.facility.parts import GangAllocation
from lpsched.facility.result import core_time
from lpsched.facility.solve import facility
from lpsched.facility.verify import examine
from lpsched.generate.facility import generate_facility
from lpsched.model.provenance import Status
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import tiny_facility

pytestmark = pytest.mark.rotate_tests(5)


@pytest.fixture(scope="module")
def paper():
    return facility(paper_facility(), gap=1e-6)


def test_the_paper_facility_earns_what_the_paper_says(paper):
    assert paper.reward_rate == pytest.approx(1.2, rel=1e-6)
    assert 1.2 <= paper.bound <= 1.2 * (1 + 1e-6)
    assert paper.status is Status.OPTIMAL
    assert paper.allocation.outlets_celsius == pytest.approx((25.0,), abs=1e-4)
    assert paper.measured.total_watts == pytest.approx(280.0)
    assert sum(paper.measured.cooling_watts) == pytest.approx(80.0, abs=1e-3)


def test_worths_are_those_of_temperatures_that_may_move(paper):
    # See instances/facility-tiny.yaml: 1.408 dP = d(cap) + 3.2 d(redline), and a watt of P is worth 1/150.
    assert paper.worth.kilowatt == pytest.approx(1000 / 150 / 1.408, rel=1e-3)
    assert paper.worth.redline_kelvin == pytest.approx(3.2 / 150 / 1.408, rel=1e-2)
    assert paper.worth.node_types["node"] == pytest.approx(2 / 3 - 0.8, rel=1e-3)
    assert paper.worth.task_types["task"] == pytest.approx(0.0, abs=1e-9)  # more arrive than can be done


def test_a_whole_kilowatt_brings_far_less_than_its_derivative(paper):
    # Both cores busy all the time earn 4/3 and draw 220 W, with cooling less than 1,280 W: 0.1333 more than 1.2.
    more = facility(paper_facility(cap=1_280.0), gap=1e-6)
    assert more.bound - paper.reward_rate == pytest.approx(4 / 3 - 1.2, rel=1e-3)
    assert paper.worth.kilowatt > 30 * (more.bound - paper.reward_rate)
    assert more.worth.kilowatt == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("outlets", [None, [20.0]])
def test_an_unfinished_program_has_no_marginal_values(outlets):
    result = facility(paper_facility(), outlets=outlets, time_limit=0.0)
    assert result.status is Status.LIMIT
    assert result.worth is None
    assert result.to_dict()["worth"] is None


def test_a_task_that_hardly_arrives_is_worth_its_reward():
    result = facility(paper_facility(arrivals=0.5), gap=1e-6)
    assert result.reward_rate == pytest.approx(0.5)
    assert result.worth.task_types["task"] == pytest.approx(1.0)
    assert result.worth.kilowatt == pytest.approx(0.0, abs=1e-9)


def test_the_certificate_proves_the_very_bound_that_is_told(paper):
    verdict = check(paper_facility(), paper.certificate)
    assert verdict.accepted
    assert float(verdict.proved) == paper.bound


def test_given_outlets_are_not_searched():
    # At 20 C a watt of heat takes half a watt: P <= 280 / 1.5 = 186.67, 66.67 W above the overhead: one core all
    # the time, and both for a third of it: 2/3 + 1/3 x 4/3 = 10/9.
    result = facility(paper_facility(), outlets=[20.0])
    assert result.fixed_outlets
    assert result.reward_rate == pytest.approx(10 / 9, rel=1e-6)
    assert result.reward_rate <= result.bound <= 10 / 9 * (1 + 1e-6)
    assert check(paper_facility(), result.certificate).accepted


def test_without_colocation_cores_are_counted_as_if_they_were_alone():
    # Two cores then earn 2 for 100 W: 0.8 of 2 = 1.6; in truth they earn 0.8 x 4/3.
    result = facility(paper_facility(), colocation=False, gap=1e-5)
    assert result.reward_rate == pytest.approx(1.6, rel=1e-5)
    assert result.measured.reward_rate == pytest.approx(0.8 * 4 / 3, rel=1e-5)
    assert result.reward_rate <= result.bound
    assert check(paper_facility(), result.certificate).accepted
    assert {row[0]: row[2] for row in result.facts()}["co-located"].startswith("verified")


@pytest.mark.parametrize(
    ("outlets", "issue"),
    [
        pytest.param([20.0, 21.0], "got 2 temperatures, expected 1, one for each CRAC unit", id="too-many"),
        pytest.param([31.0], "crac: got 31 °C, expected 10 to 30 °C", id="too-hot"),
        pytest.param([float("nan")], "crac: got nan °C, expected 10 to 30 °C", id="no-number"),
    ],
)
def test_outlets_that_the_units_have_not_are_refused(outlets, issue):
    with pytest.raises(InstanceError, match=issue):
        facility(paper_facility(), outlets=outlets)


def test_outlets_at_which_even_idle_nodes_are_too_hot_are_told_with_the_numbers():
    # 25.4 C + 120 W / 400 W/K = 25.7 C.
    with pytest.raises(InfeasibleError, match=r"draws in air of 25.700 °C even if all nodes are idle.*25.5 °C"):
        facility(paper_facility(), outlets=[25.4])


def test_an_invalid_allocation_is_never_an_answer(monkeypatch):
    everything = GangAllocation((30.0,), ((),))
    monkeypatch.setattr(stages, "gang", lambda *_: everything)
    with pytest.raises(InvalidScheduleError, match="the allocation found for paper is not valid"):
        facility(paper_facility())


def test_large_facilities_are_proved_exactly_on_request_only(monkeypatch):
    monkeypatch.setattr(stages, "MOST_PROVED", 0)
    result = facility(paper_facility(), gap=1e-4)
    assert result.certificate is None
    assert not result.to_dict()["exactly_proved"]
    proved = facility(paper_facility(), gap=1e-4, prove=True)
    assert proved.certificate is not None
    assert result.bound == pytest.approx(proved.bound, rel=1e-8)


@pytest.mark.slow
def test_a_stopped_search_still_has_a_verified_value_and_a_bound():
    instance = generate_facility("small", np.random.default_rng(3))
    cancel = CancelToken(listener=lambda progress: cancel.stop() if progress.stage == "outlets" else None)
    result = facility(instance, gap=1e-9, cancel=cancel)
    assert result.headline().endswith(" Interrupted; a rerun may differ.")
    assert result.facts()[2][2] == "Interrupted; a rerun may differ."
    assert result.status is Status.LIMIT
    assert 0 < result.reward_rate <= result.bound
    assert check(instance, result.certificate).accepted


@pytest.mark.parametrize("seed", range(12))
def test_value_and_bound_of_random_facilities_hold_together(seed):
    rng = np.random.default_rng(seed)
    instance = tiny_facility(rng)
    result = facility(instance, gap=1e-3, time_limit=5.0)
    assert result.reward_rate <= result.bound * (1 + 1e-9)
    assert check(instance, result.certificate).accepted
    assert examine(instance, result.allocation).violations == ()
    assert examine(instance, result.cores).violations == ()
    assert result.cores_reward_rate <= result.bound * (1 + 1e-9)
    arrays = facility_arrays(instance)
    assert result.reward_rate <= arrays.rewards @ arrays.arrivals * (1 + 1e-9)


def test_where_nothing_can_be_earned_nothing_is_optimal():
    result = facility(paper_facility(arrivals=0.0))
    assert (result.reward_rate, result.gap, result.status) == (0.0, 0.0, Status.OPTIMAL)
    assert result.bound == pytest.approx(0.0, abs=1e-12)


def test_boxes_that_cannot_be_narrowed_are_cut_and_the_proof_follows(monkeypatch):
    monkeypatch.setattr(Tightening, "run", lambda self, *_: self.box)
    result = facility(paper_facility(), gap=1e-3)
    cuts = {box.cut.sides for box in result.certificate.boxes if box.cut is not None}
    assert cuts  # of outlets, of heat, or of both
    assert 1.2 <= result.bound <= 1.2 * (1 + 2e-3)
    assert result.status is Status.OPTIMAL
    assert check(paper_facility(), result.certificate).accepted


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5])
def test_cut_boxes_hold_every_allocation_of_random_facilities(monkeypatch, seed):
    instance = tiny_facility(np.random.default_rng(seed))
    whole = facility(instance, gap=1e-3, time_limit=5.0)
    monkeypatch.setattr(Tightening, "run", lambda self, *_: self.box)
    cut = facility(instance, gap=1e-3, time_limit=2.0)
    assert whole.reward_rate <= cut.bound * (1 + 1e-9)
    assert cut.reward_rate <= whole.bound * (1 + 1e-9)
    assert check(instance, cut.certificate).accepted


def test_another_scheduler_is_chosen_by_its_name(paper):
    found = facility(paper_facility(), scheduler="greedy")
    again = allocate(paper_facility(), method="greedy")
    assert (found.method, found.reward_rate, found.bound) == ("greedy", again.reward_rate, again.bound)
    assert found.bound == pytest.approx(paper.bound, rel=2e-3)
    assert facility(paper_facility(), scheduler="greedy", bound=False).bound is None
    evolved = facility(paper_facility(), scheduler="ga", generations=2, seed=3, start="greedy", bound=False)
    assert (evolved.method, evolved.seed, evolved.details["generations"]) == ("ga", 3, 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": "gready"}, "scheduler: got 'gready', expected one of lp, greedy, ga, nlp; choose one"),
        ({"scheduler": "nlp", "outlets": [20.0]}, "outlets: got [20.0], expected none with scheduler 'nlp'; it goes with 'lp'"),
        ({"scheduler": "ga", "prove": True}, "prove: got True, expected none with scheduler 'ga'; it goes with 'lp'"),
        ({"generations": 3}, "generations: got 3, expected none with scheduler 'lp'; it goes with 'ga'"),
        ({"scheduler": "greedy", "start": "lp"}, "start: got 'lp', expected none with scheduler 'greedy'; it goes with 'ga'"),
        ({"scheduler": "ga", "start": "best"}, "start: got 'best', expected one of random, greedy, lp; choose one"),
    ],
)  # fmt: skip
def test_options_of_another_scheduler_are_rejected(options, message):
    with pytest.raises(InstanceError, match=re.escape(message)):
        facility(paper_facility(), **options)


def test_core_time_is_that_of_the_allocation(paper):
    # Of 280 W, 80 W cool and 120 W are overhead; 80 W are left for cores of 50 W each.
    (only,) = paper.core_time
    assert (only.task_type, only.node_type) == ("task", "node")
    assert (only.cores, only.share) == (pytest.approx(1.6, rel=1e-4), pytest.approx(0.8, rel=1e-4))
    assert paper.to_dict()["core_time"] == [
        {"task_type": "task", "node_type": "node", "cores": only.cores, "share": only.share}
    ]


def test_core_time_of_both_forms_is_the_same_as_in_frames():
    room = generate_facility("small", np.random.default_rng(0))
    found = facility(room, gap=0.5)
    for allocation in (found.allocation, found.cores):
        frame = allocation.to_frame()
        frame["node_type"] = [room.node_types[room.nodes[v]].name for v in frame["node"]]
        sums = frame.groupby(["task_type", "node_type"])["cores"].sum()
        entries = core_time(room, allocation)
        assert {(each.task_type, each.node_type): each.cores for each in entries} == pytest.approx(
            {key: cores for key, cores in sums.items() if cores > 0}
        )
        for each in entries:
            own = next(kind for kind in room.node_types if kind.name == each.node_type)
            count = sum(room.node_types[j].name == own.name for j in room.nodes)
            assert each.share == pytest.approx(each.cores / (count * own.cores))
            assert 0 < each.share <= 1 + 1e-9
