"""NSGA-II as a whole: the same seed gives the same front, seeds are kept, what was saved goes on."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lpsched import jit as compiled
from lpsched.bag import verify as verify_bag
from lpsched.bag.evolve import BagProblem, BagScorer, bag_scores
from lpsched.bag.exact_front import front
from lpsched.bag.model import bag_from_dict
from lpsched.cancellation import CancelToken, Progress
from lpsched.errors import InstanceError, MissingExtraError
from lpsched.evolve import nsga2 as task_front
from lpsched.evolve import nsga2 as task_generations
from lpsched.evolve.fronts import hypervolume
from lpsched.evolve.genes import BIT_GENERATORS, Genes, fill, mutate
from lpsched.evolve.nsga2 import evolve_front, warm_up
from lpsched.io.populations import read_task_population, write_task_population
from lpsched.online.day import day_from_dict
from lpsched.online.evolve import DayProblem, day_scores
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.verify import day as verify_day
from tests.days import decaying, simple_day, sound_day
from tests.problems import problem_of
from tests.support import simple_bag, sound

pytestmark = pytest.mark.rotate_tests(2)

BAG = simple_bag(
    [[2.0, 5.0, 9.0], [8.0, 3.0, 4.0], [6.0, 6.0, 2.5]], [7, 5, 8], [2, 1, 2],
    [[100.0, 30.0, 9.0], [80.0, 90.0, 70.0], [50.0, 20.0, 85.0]], [5.0, 0.0, 30.0],
)  # fmt: skip
DAY = simple_day(
    [[2.0, 5.0], [8.0, 3.0]], [[100.0, 30.0], [80.0, 90.0]], [2, 1],
    [(float(k), k % 2, decaying(8.0 - k / 3.0, 0.05, until=25.0)) for k in range(12)],
)  # fmt: skip
KERNELS: tuple[Any, ...] = (fill, mutate, bag_scores, day_scores)


def evolved(instance=BAG, seed=1, generations=10, size=20, drop_below=None, **options):
    rng = np.random.default_rng(seed)
    return evolve_front(problem_of(instance, drop_below), rng=rng, generations=generations, size=size, **options)


def assert_same(one, other):
    assert one.points == other.points
    assert one.generations == other.generations
    for name in ("machines", "columns", "orders"):
        assert np.array_equal(getattr(one.population.genes, name), getattr(other.population.genes, name)), name
    assert np.array_equal(one.population.scores, other.population.scores)
    assert one.population.random_state == other.population.random_state
    assert [note[1:] for note in one.history] == [note[1:] for note in other.history]
    assert one.reference == other.reference


@pytest.mark.parametrize("instance", [BAG, DAY], ids=["bag", "day"])
def test_a_seed_gives_one_front(instance):
    assert_same(evolved(instance), evolved(instance))
    assert evolved(instance).points != evolved(instance, seed=2).points


def test_a_run_does_not_depend_on_numpys_own_generator():
    np.random.seed(1)  # noqa: NPY002 - the point of the test
    first = evolved()
    np.random.seed(2)  # noqa: NPY002
    assert_same(first, evolved())


def test_the_points_of_a_bag_are_what_the_verifier_measures():
    found = evolved(generations=30)
    assert len(found.points) > 3
    for (joules, seconds), schedule in zip(found.points, found.schedules(), strict=True):
        measured = verify_bag.measure(BAG, schedule)
        assert joules == pytest.approx(measured.energy_joules, rel=1e-12)
        assert seconds == pytest.approx(measured.makespan_seconds, rel=1e-12)


@pytest.mark.parametrize("drop_below", [None, 2.0])
def test_the_points_of_a_day_are_what_the_verifier_measures(drop_below):
    found = evolved(DAY, generations=30, drop_below=drop_below)
    assert len(found.points) > 1
    dropped = 0
    for (joules, utility), schedule in zip(found.points, found.schedules(), strict=True):
        measured = verify_day.measure(DAY, schedule)
        dropped += measured.dropped
        assert joules == pytest.approx(measured.energy_joules, rel=1e-12)
        assert utility == pytest.approx(measured.utility, rel=1e-12)
    assert (dropped > 0) == (drop_below is not None)


@pytest.mark.parametrize(("instance", "sign"), [(BAG, -1.0), (DAY, 1.0)], ids=["bag", "day"])
def test_along_the_front_more_energy_always_buys_something(instance, sign):
    points = evolved(instance, generations=30).points
    assert all(b[0] > a[0] and sign * b[1] > sign * a[1] for a, b in pairwise(points))


def test_a_front_gets_better_and_its_hypervolume_says_so():
    found = evolved(generations=60)
    assert [note[1] for note in found.history][:3] == [0, 1, 2]
    assert found.history[-1][1] == 60
    assert found.history[-1][2] > 1.2 * found.history[0][2]
    assert found.history[-1][2] == hypervolume(found.population.scores, found.reference)
    assert found.reference == (
        evolved(generations=0).population.scores[:, 0].max(), evolved(generations=0).population.scores[:, 1].max(),
    )  # fmt: skip


def test_the_history_of_a_long_run_is_short():
    found = evolved(generations=400, size=4)
    notes = [note[1] for note in found.history]
    assert notes == sorted(set(notes))
    assert notes[-1] == 400
    assert len(notes) < 300  # after generation 100 only every hundredth part of what there was


def exact():
    return front(BAG)


@pytest.mark.rotate(1)
@pytest.mark.parametrize("generations", [0, 1, 25])
def test_a_schedule_of_every_vertex_of_the_exact_front_is_kept_or_beaten(generations):
    # A small population, so that crowding throws points out.
    result = exact()
    seeds = tuple(schedule for schedule in result.schedules if schedule is not None)
    assert len(seeds) > 3
    found = evolved(seeds=seeds, size=len(seeds), generations=generations)
    assert len(found.population.scores) == len(seeds)
    for (joules, _), schedule in zip(found.points, found.schedules(), strict=True):
        assert verify_bag.measure(BAG, schedule).energy_joules == pytest.approx(joules, rel=1e-12)
    for schedule in seeds:
        measured = verify_bag.measure(BAG, schedule)
        assert any(
            joules <= measured.energy_joules * (1 + 1e-12) and seconds <= measured.makespan_seconds * (1 + 1e-12)
            for joules, seconds in found.points
        )


def test_seeds_of_a_resumed_run_join_the_front():
    seeds = tuple(schedule for schedule in exact().schedules if schedule is not None)
    plain = evolved()
    found = evolved(seeds=seeds, population=plain.population, generations=0)
    assert found.points != plain.points
    assert found.points[0][0] <= verify_bag.measure(BAG, seeds[0]).energy_joules * (1 + 1e-12)


def test_a_schedule_of_a_day_is_kept_or_beaten():
    placed = tuple(PlacedTask(task, "m1", 1, 50.0 + 5.0 * task) for task in range(12))  # with pauses
    measured = verify_day.measure(DAY, DaySchedule(placed))
    found = evolved(DAY, seeds=(DaySchedule(placed),), size=2, generations=5)
    assert any(e <= measured.energy_joules * (1 + 1e-12) and u >= measured.utility for e, u in found.points)


@pytest.mark.parametrize("instance", [BAG, DAY], ids=["bag", "day"])
def test_ten_generations_a_file_and_ten_more_are_twenty(tmp_path, instance):
    evolved(instance, keep=lambda kept: write_task_population(kept, instance, tmp_path / "p.npz"))
    population = replace(read_task_population(tmp_path / "p.npz", instance), seconds=1000.0)
    before = population.genes.machines.copy()
    resumed = evolved(instance, seed=99, size=7, population=population)
    assert_same(resumed, evolved(instance, generations=20))
    assert resumed.population.seconds > 1000.0
    assert all(note[0] > 1000.0 for note in resumed.history if note[1] > 10)
    assert np.array_equal(population.genes.machines, before)


@pytest.mark.parametrize("bits", BIT_GENERATORS.values())
def test_all_bit_generators_of_numpy_go_on_where_they_were(bits):
    half = evolve_front(BagProblem(BAG), rng=np.random.Generator(bits(1)), size=4, generations=2)
    whole = evolve_front(BagProblem(BAG), rng=np.random.Generator(bits(1)), size=4, generations=4)
    assert_same(evolved(population=half.population, generations=2), whole)


def test_an_odd_number_of_chromosomes_stays_odd():
    assert len(evolved(size=5).population.scores) == 5


def test_every_chromosome_keeps_its_place_when_it_survives():
    # What the slots hold is what was scored: all scores of the population are those of its genes.
    found = evolved(generations=40, size=9).population
    assert (BagScorer(BAG)(found.genes) == found.scores).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance_hash": "0" * 64}, "instance_hash: got the hash 000000000000..., expected that of the instance, "),
        ({"objectives": "speed"}, "objectives: got 'speed', expected 'energy and makespan'; begin without it"),
        ({"random_state": {"bit_generator": "dice"}}, "got a state of 'dice' that cannot be set"),
        ({"random_state": {"bit_generator": "PCG64", "state": []}}, "got a state of 'PCG64' that cannot be set"),
    ],
)  # fmt: skip
def test_a_population_of_something_else_is_refused(change, message):
    with pytest.raises(InstanceError, match=message):
        evolved(population=replace(evolved().population, **change))


@pytest.mark.parametrize("key", ["machines", "columns", "orders"])
def test_a_population_that_was_changed_is_refused(key):
    population = evolved().population
    genes = Genes(
        *(each.copy() for each in (population.genes.machines, population.genes.columns, population.genes.orders))
    )
    getattr(genes, key)[7, 3] = 100
    message = "chromosome 7: got a gene that cannot be, expected machines that can run their tasks; begin without it"
    with pytest.raises(InstanceError, match=message):
        evolved(population=replace(population, genes=genes))


def test_a_population_of_other_sizes_is_refused():
    population = evolved().population
    few = replace(population, genes=population.genes.take(slice(1)), scores=population.scores[:1])
    with pytest.raises(InstanceError, match="at least 2"):
        evolved(population=few)
    genes = Genes(population.genes.machines[:, 1:], population.genes.columns, population.genes.orders)
    with pytest.raises(InstanceError, match="expected at least 2 chromosomes of 20 tasks"):
        evolved(population=replace(population, genes=genes))


def test_scores_that_were_changed_are_not_believed():
    population = evolved().population
    found = evolved(generations=0, population=replace(population, scores=population.scores - 1.0))
    assert (found.population.scores == population.scores).all()


def test_another_scorer_may_rank():
    class Swift:
        name = "energy and makespan, in hours"

        def __call__(self, genes):
            return BagScorer(BAG)(genes) / (1.0, 3600.0)

    found = evolved(scorer=Swift())
    assert found.population.objectives == "energy and makespan, in hours"
    assert 0.0 < max(hours for _, hours in found.points) < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"generations": -1}, "generations: got -1, expected 0 or more; correct it"),
        ({"size": 1}, "size: got 1 chromosomes for 0 seeds, expected at least 2, and as many as seeds; correct it"),
        ({"mutation": 1.5}, "mutation: got 1.5, expected a probability; correct it"),
        ({"mutation": float("nan")}, "mutation: got nan, expected a probability; correct it"),
        ({"size": 2_500_001}, "size: got 2,500,001 chromosomes of 20 tasks, expected at most 50,000,000 genes in all; take"),
        ({"seeds": (DaySchedule(()),)}, r"\[0\]: got another one: it is a DaySchedule, expected a schedule of 'simple'; leave"),
    ],
)  # fmt: skip
def test_options_that_are_not_sound_are_refused(options, message):
    with pytest.raises(InstanceError, match=message):
        evolved(**options)


@pytest.mark.parametrize("limit", [-0.1, float("nan"), float("inf")])
def test_only_a_utility_from_0_up_is_a_limit(limit):
    with pytest.raises(InstanceError, match=r"drop_below: got .*, expected a utility from 0 up; correct it"):
        evolved(DAY, drop_below=limit)


def test_more_seeds_than_chromosomes_are_refused():
    seed = evolved(generations=0).schedule(0)
    assert len(evolved(generations=0, size=2, seeds=(seed,) * 2).population.scores) == 2
    with pytest.raises(InstanceError, match="size: got 2 chromosomes for 3 seeds, expected at least 2, and as many as"):
        evolved(size=2, seeds=(seed,) * 3)


def test_a_seed_of_another_bag_is_refused():
    seed = evolved(simple_bag([[1.0]], [2], [1], [[1.0]]), generations=0).schedule(0)
    with pytest.raises(InstanceError, match=r"seeds.*\n.*there are not enough|it runs 2 of 20 tasks"):
        evolved(seeds=(seed,))


def test_too_many_tasks_or_machines_are_refused_at_once():
    with pytest.raises(
        InstanceError, match="tasks: got 1,000,000,000,000, expected 1 to 200,000, because every task is"
    ):
        evolved(simple_bag([[1.0]], [10**12], [1], [[1.0]]))
    many = simple_bag([[1.0] * 60], [200_000], [10**12] * 60, [[1.0] * 60])
    with pytest.raises(
        InstanceError, match="machine_types: got 12,000,000 machines, expected at most 10,000,000 that may"
    ):
        evolved(many)


def test_a_bag_without_watts_is_refused():
    with pytest.raises(InstanceError, match="watts: got none"):
        evolved(simple_bag([[1.0]], [3], [1]))


def test_counts_of_a_trillion_machines_and_one_task_are_no_obstacle():
    bag = simple_bag([[3.0, 1.0]], [1], [10**12, 1], [[5.0, 50.0]], [0.0, 0.0])
    assert evolved(bag).points == ((15.0, 3.0), (50.0, 1.0))


def test_the_end_is_told():
    assert evolved(generations=0).ended == "generations"
    assert evolved(generations=None, cancel=CancelToken(0.0)).ended == "time"
    cancel = CancelToken()
    cancel.stop()
    found = evolved(generations=None, cancel=cancel)
    assert (found.ended, found.generations, len(found.population.scores)) == ("stopped", 0, 20)
    assert found.points  # also then


def test_without_any_limit_it_ends_after_a_while(monkeypatch):
    monkeypatch.setattr(task_front, "SECONDS", 0.05)
    assert evolved(generations=None).ended == "time"


def test_progress_is_told_with_the_judges_gap_and_the_population_is_kept(monkeypatch):
    monkeypatch.setattr(task_front, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(task_front, "SAVE_SECONDS", 0.0)
    told: list[Progress] = []
    kept: list[Any] = []
    judged: list[Any] = []

    def judge(scores):
        judged.append(scores)
        return 0.25

    found = evolved(generations=3, cancel=CancelToken(listener=told.append), keep=kept.append, judge=judge)
    assert [progress.gap for progress in told] == [0.25] * 3
    grown = found.history[-1][2] / found.history[0][2] - 1.0
    assert told[-1].stage == f"generation 3, hypervolume +{100 * grown:.1f} %"
    assert tuple(map(tuple, judged[-1].tolist())) == found.points
    assert [population.generations for population in kept] == [1, 2, 3, 3]
    assert kept[-1] is found.population
    told.clear()
    evolved(generations=1, cancel=CancelToken(listener=told.append))
    assert told[0].gap is None


def test_progress_is_told_at_most_four_times_a_second():
    told: list[Progress] = []
    evolved(generations=20, size=4, cancel=CancelToken(listener=told.append))
    assert len(told) <= 4  # it takes a small part of a second


def test_after_warming_up_nothing_is_left_to_compile():
    warm_up(BagProblem.of_one_task())
    warm_up(DayProblem.of_one_task())
    known = [len(kernel.signatures) for kernel in KERNELS]
    evolved(bag_from_dict(sound()), seeds=evolved(bag_from_dict(sound())).schedules()[:1])
    evolved(day_from_dict(sound_day()), drop_below=0.5)
    assert [len(kernel.signatures) for kernel in KERNELS] == known == [1, 1, 1, 1]


def test_without_pymoo_or_numba_whoever_asks_is_told_what_to_install(monkeypatch):
    for module, name in ((compiled, "numba"), (task_generations, "pymoo")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, None)
            with pytest.raises(MissingExtraError, match="NSGA-II needs the extra 'evolve'"):
                evolved()
