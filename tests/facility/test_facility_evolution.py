"""The genetic algorithm of a facility: valid, reproducible, resumable, and honest about how it ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lpsched.cancellation import CancelToken, Progress
from lpsched.errors import InstanceError
from lpsched.evolve.genes import BIT_GENERATORS, generator_of
from lpsched.facility import genetic as module
from lpsched.facility.genes import read_population, write_population
from lpsched.facility.genetic import evolve_facility
from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.facility.solve import facility as solve_facility
from lpsched.facility.verify import measure
from lpsched.model.table import Table
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import tiny_facility

TINY = tiny_facility(np.random.default_rng(2))


def evolved(facility=TINY, *, seed=3, generations=10, **options):
    return evolve_facility(facility, rng=np.random.default_rng(seed), generations=generations, **options)


def test_the_same_seed_gives_the_same_allocation_and_another_one_another():
    first, again, other = evolved(seed=5), evolved(seed=5), evolved(seed=6)
    assert first.allocation == again.allocation
    assert first.allocation != other.allocation


def test_two_cores_with_one_task_type_come_close_to_the_best_on_paper():
    # At 24.5 C, the hottest step, 198.84 W are allowed, 78.84 W above the overhead: 1.5768 core-seconds a second. Cores of
    # a and b earn (a + b) / 1 less what they slow down: a / (1 + b / 2) + b / (1 + a / 2); best is a = 1, b = 0.5768:
    # 1 / 1.2884 + 0.5768 / 1.5 = 1.16068.
    found = evolved(paper_facility(), generations=3000)
    assert 1.155 <= found.score <= 1.16069
    assert found.allocation.outlets_celsius == (24.5,)


def test_without_co_location_only_core_seconds_count():
    # As above, and 1.5768 core-seconds a second earn 1.5768, whichever core they are on.
    found = evolved(paper_facility(), generations=300, colocation=False)
    assert found.score == pytest.approx(280.0 * 24.5 / 34.5 / 50.0 - 2.4, rel=1e-6)
    assert not found.population.colocation


@pytest.mark.parametrize("colocation", [True, False])
def test_the_score_is_what_the_verifier_measures(colocation):
    found = evolved(colocation=colocation)
    measured = measure(TINY, found.allocation)
    value = measured.reward_rate if colocation else measured.plain_reward_rate
    assert found.score == pytest.approx(value, rel=1e-9)
    assert found.score == found.population.scores[0] == found.history[-1][2]


def assert_same(one, other):
    assert one.allocation == other.allocation
    assert one.generations == other.generations
    for name in ("fractions", "states", "outlets_celsius", "scores"):
        assert np.array_equal(getattr(one.population, name), getattr(other.population, name)), name
    assert one.population.random_state == other.population.random_state
    assert [entry[1:] for entry in one.history] == [entry[1:] for entry in other.history]


def test_ten_generations_a_file_and_ten_more_are_twenty(tmp_path):
    evolved(generations=10, keep=lambda kept: write_population(kept, TINY, tmp_path / "p.npz"))
    population = read_population(tmp_path / "p.npz", TINY)
    before = population.fractions.copy()
    resumed = evolved(seed=99, generations=10, population=replace(population, seconds=1000.0))
    assert_same(resumed, evolved(generations=20))
    assert resumed.population.seconds > 1000.0
    assert all(entry[0] > 1000.0 for entry in resumed.history if entry[1] > 10)
    assert np.array_equal(population.fractions, before)


@pytest.mark.parametrize("bits", BIT_GENERATORS.values())
def test_all_bit_generators_of_numpy_go_on_where_they_were(tmp_path, bits):
    run = {seed: np.random.Generator(bits(seed)) for seed in (1, 2)}
    half = evolve_facility(TINY, rng=run[1], generations=1)
    write_population(half.population, TINY, tmp_path / "p.npz")
    read = read_population(tmp_path / "p.npz", TINY)
    assert generator_of(read.random_state).random(9).tolist() == run[1].random(9).tolist()


def test_a_first_population_that_was_cut_short_is_completed_when_resumed():
    stopped = CancelToken()
    stopped.stop()
    first = evolved(cancel=stopped)
    assert (first.ended, first.generations, len(first.population.scores)) == ("stopped", 0, 1)
    assert_same(evolved(seed=99, population=first.population), evolved())


def idle_and_best():
    """Return an allocation in which nothing runs, and the linear program's, core by core."""
    return CoreAllocation((12.0,) * len(TINY.crac_units), tuple(
        tuple(() for _ in range(TINY.node_types[j].cores)) for j in TINY.nodes
    )), solve_facility(TINY, gap=1e-4).cores  # fmt: skip


def test_a_start_joins_the_first_population_and_is_never_lost():
    idle, best = idle_and_best()
    found = evolved(generations=0, starts=(idle, best))
    assert found.score >= measure(TINY, best).reward_rate * (1 - 1e-12)
    assert found.score > evolved(generations=0).score
    assert len(found.population.scores) == 200
    assert found.population.scores[-1] == 0.0  # nobody else earns nothing


def test_where_nothing_can_run_in_time_nothing_is_earned():
    # A task has half a second, and takes a whole one; a blade would be in time, but there is none.
    paper = paper_facility()
    blade = paper.node_types[0].model_copy(update={"name": "blade"})
    facility = paper.model_copy(
        update={
            "node_types": (*paper.node_types, blade),
            "task_types": (paper.task_types[0].model_copy(update={"deadline_seconds": 0.5}),),
            "speeds": Table.of([[1.0, 4.0]]),
            "watts": Table.of([[50.0, 50.0]]),
        }
    )
    found = evolved(facility)
    assert found.score == 0.0
    assert found.allocation.nodes == (((), ()),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance_hash": "0" * 64}, "instance_hash: got the hash 000000000000..., expected that of tiny; begin without"),
        ({"colocation": False}, "got chromosomes ranked without co-location .GA., expected ranked with co-location .GACL."),
        ({"fractions": np.zeros((200, 1, 9))}, r"fractions: got arrays of \(200, 1, 9\) and"),
        ({"random_state": {"bit_generator": "dice"}}, "got a state of 'dice' that cannot be set, expected the state of one"),
        ({"random_state": {"bit_generator": "PCG64", "state": 7}}, "got a state of 'PCG64' that cannot be set"),
        ({"random_state": {"bit_generator": "PCG64", "state": []}}, "got a state of 'PCG64' that cannot be set"),
    ],
)  # fmt: skip
def test_a_population_of_something_else_is_refused(change, message):
    population = replace(evolved().population, **change)
    with pytest.raises(InstanceError, match=message):
        evolved(population=population)


@pytest.mark.parametrize("key", ["fractions", "states", "outlets_celsius"])
def test_a_population_that_was_changed_to_break_a_limit_is_refused(key):
    population = evolved().population
    cells = getattr(population, key).copy()
    cells[7] = 100
    with pytest.raises(
        InstanceError, match="chromosome 7: got one that breaks a limit, expected allocations that keep"
    ):
        evolved(population=replace(population, **{key: cells}))


def test_scores_that_were_changed_are_not_believed():
    population = evolved().population
    found = evolved(generations=0, population=replace(population, scores=population.scores + 1.0))
    assert found.score == population.scores[0]


def test_the_end_is_told():
    assert evolved(generations=0).ended == "generations"
    assert evolved(generations=None, cancel=CancelToken(0.0)).ended == "time"
    cancel = CancelToken()
    cancel.stop()
    assert evolved(generations=None, cancel=cancel).ended == "stopped"


def test_without_any_limit_it_ends_after_a_while(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)
    assert evolved(generations=None).ended == "time"


def test_generations_below_0_are_refused():
    with pytest.raises(InstanceError, match="got -1, expected 0 or more; correct it"):
        evolved(generations=-1)


def test_progress_is_told_and_the_population_is_kept_now_and_then(monkeypatch):
    monkeypatch.setattr(module, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.0)
    told: list[Progress] = []
    kept: list[Any] = []
    found = evolved(generations=3, cancel=CancelToken(listener=told.append), keep=kept.append)
    stages = [progress.stage for progress in told]
    assert stages[-1] == f"generation 3, reward {found.score:.6g}"
    assert len(stages) == 203
    assert [population.generations for population in kept[-4:]] == [1, 2, 3, 3]
    assert kept[-1] is found.population


def test_a_start_that_names_its_outlets_badly_is_repaired():
    start = CoreAllocation((), (((CoreFraction("task", 0.25),), ()),))
    found = evolved(paper_facility(), generations=0, starts=(start,))
    assert 0.25 in found.population.scores
