"""What every static heuristic must do, on every bag there is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from lpsched import read, validate
from lpsched.bag.heuristics import heuristic, names
from lpsched.bag.schedule import Schedule
from lpsched.bag.verify import measure, violations
from lpsched.errors import InfeasibleError, InstanceError
from lpsched.model.table import Table
from tests.bag.one_by_one import loads_of
from tests.property.bags import ORDINARY, plain_bags, priced_bags
from tests.support import bags, simple_bag

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

pytestmark = pytest.mark.rotate_tests(7)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
SHIPPED = ["tiny", "video-transcoding", "spec-2010", "profit-30x9", "profit-30x9-idle"]
BUILT_IN = ("min-min", "max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "min-energy", "random")
ODD = {
    "one-of-everything": simple_bag([[3.0]], [1], [1], watts=[[1.0]]),
    "absent-pairs": simple_bag([[1.0, None], [None, 2.0], [5.0, 1.0]], [7, 1, 9], [2, 3], [[1.0, None], [None, 0.0], [9.0, 1.0]]),
    "watts-below-idle": simple_bag([[1.0, 2.0]], [5], [2, 2], [[1.0, 3.0]], idle=[50.0, 60.0]),
    "no-task-for-a-machine": simple_bag([[1.0, None]], [5], [2, 2], [[1.0, None]]),
    "far-more-machines-than-tasks": simple_bag([[1.0, 2.0], [2.0, 1.0]], [3, 2], [10**12, 10**9], [[1.0, 2.0], [2.0, 1.0]]),
    "scales-far-apart": simple_bag([[1e-12, 1e9], [1e12, 1e-9]], [10**3, 3], [1, 1000], [[1.0, 1.0], [1.0, 1.0]]),
}  # fmt: skip


def test_all_are_registered():
    assert set(BUILT_IN) <= set(names())


@pytest.fixture(params=BUILT_IN)
def name(request):
    return request.param


def mapped(name, bag, seed=3) -> Schedule:
    found = heuristic(name)(bag, np.random.default_rng(seed))
    assert isinstance(found, Schedule)
    return found


def scaled(bag: Bag, factor: float) -> Bag:
    rows = [[None if cell is None else factor * cell for cell in row] for row in bag.seconds]
    return bag.model_copy(update={"seconds": Table.of(rows)})


@pytest.mark.rotate(1)
@pytest.mark.parametrize("file", SHIPPED)
def test_every_shipped_bag_is_mapped_within_its_bound(name, file):
    bag = read(INSTANCES / f"{file}.yaml")
    schedule = mapped(name, bag)
    for objective in ("makespan", "energy"):
        (entry,) = (result := validate(bag, {name: schedule}, objective=objective)).entries
        assert entry.valid
        assert entry.value >= result.bound


@pytest.mark.parametrize("bag", ODD.values(), ids=list(ODD))
def test_odd_bags_are_mapped_within_their_bound(name, bag):
    (entry,) = (result := validate(bag, heuristics=[name], objective="makespan")).entries
    assert entry.violations == ()
    assert entry.value >= result.bound


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bag=bags(most_tasks=30, most_machines=6))
def test_bags_at_random_are_mapped_or_refused_in_words(bag):
    free = bag.without_limits()
    for name in BUILT_IN:
        if name == "min-energy" and bag.watts is None:
            with pytest.raises(InstanceError, match="watts: got none"):
                mapped(name, free)
        else:
            assert violations(free, mapped(name, free)) == ()


@settings(max_examples=15, deadline=None)
@given(bag=plain_bags(ORDINARY))
def test_no_heuristic_passes_any_bound_on_bags_at_random(bag):
    small = bag.model_copy(
        update={"task_types": tuple(t.model_copy(update={"count": t.count % 50 + 1}) for t in bag.task_types)}
    )
    for objective in ("makespan", "energy"):
        result = validate(small, heuristics=BUILT_IN, objective=objective)
        # Beyond the bound, `validate` itself would raise; random may have too many machines to draw.
        assert all(entry.value >= result.bound for entry in result.entries if entry.valid)
        assert [entry.name for entry in result.entries if not entry.valid] in ([], ["random"])


@settings(max_examples=10, deadline=None)
@given(bag=priced_bags(ORDINARY))
def test_no_heuristic_earns_more_than_the_bound_whatever_the_price_and_the_cap(bag):
    few = tuple(task.model_copy(update={"count": task.count % 50 + 1}) for task in bag.task_types)
    result = validate(
        bag.without_deadline().model_copy(update={"task_types": few}), heuristics=BUILT_IN, objective="profit"
    )
    assert all(entry.value <= result.bound for entry in result.entries if entry.valid)
    broken = {each.code for entry in result.entries for each in entry.violations}
    assert broken <= {"failed", "over-power-cap"}  # too many machines to draw for; below the idle floor


def test_the_same_seed_gives_the_same_schedule_and_the_bag_stays_as_it_was(name):
    bag = read(INSTANCES / "profit-30x9.yaml")
    before = bag.content_hash
    assert mapped(name, bag) == mapped(name, bag)
    fresh = read(INSTANCES / "profit-30x9.yaml")
    assert (fresh.content_hash, fresh) == (before, bag)


def test_only_random_depends_on_the_seed(name):
    bag = read(INSTANCES / "spec-2010.yaml")
    assert (mapped(name, bag, 1) == mapped(name, bag, 2)) is (name != "random")


def test_twice_the_seconds_are_twice_the_loads(name):
    bag = read(INSTANCES / "profit-30x9.yaml")
    once, twice = mapped(name, bag), mapped(name, scaled(bag, 2.0))
    doubled = Counter({(j, 2 * load): n for (j, load), n in loads_of(bag, once).items()})
    assert loads_of(scaled(bag, 2.0), twice) == doubled


def split_in_two(types, which):
    """Split one type in two neighbours that are alike but for their names."""
    one = types[which]
    parts = [
        one.model_copy(update={"count": one.count // 3}),
        one.model_copy(update={"name": "new", "count": one.count - one.count // 3}),
    ]
    return (*types[:which], *parts, *types[which + 1 :])  # fmt: skip


@pytest.mark.rotate(4)
@pytest.mark.parametrize("which", [0, 4])
def test_a_task_type_split_in_two_changes_no_load(name, which):
    if name == "random":
        return  # it draws otherwise
    bag = read(INSTANCES / "profit-30x9.yaml")
    rows, powers = [list(row) for row in bag.seconds], [list(row) for row in bag.watts]
    rows.insert(which, rows[which])
    powers.insert(which, powers[which])
    split = bag.model_copy(
        update={"task_types": split_in_two(bag.task_types, which), "seconds": Table.of(rows), "watts": Table.of(powers)}
    )
    assert loads_of(split, mapped(name, split)) == loads_of(bag, mapped(name, bag))


@pytest.mark.parametrize("name", ["min-min", "max-min", "sufferage", "mct", "olb"])
def test_a_machine_type_split_in_two_changes_no_load(name):
    # Not so for met, k-percent-best and min-energy, which choose whole machine types.
    bag = read(INSTANCES / "profit-30x9.yaml")
    rows, powers = (
        [[*row[:3], row[2], *row[3:]] for row in bag.seconds],
        [[*row[:3], row[2], *row[3:]] for row in bag.watts],
    )
    split = bag.model_copy(
        update={
            "machine_types": split_in_two(bag.machine_types, 2),
            "seconds": Table.of(rows),
            "watts": Table.of(powers),
        }
    )
    joined = Counter[tuple[int, object]]()
    for (j, load), n in loads_of(split, mapped(name, split)).items():
        joined[j - (j > 2), load] += n
    assert joined == loads_of(bag, mapped(name, bag))


def test_a_schedule_of_each_is_measured_alike_task_by_task(name):
    bag = read(INSTANCES / "spec-2010.yaml")
    schedule = mapped(name, bag)
    load = max(load for _, load in loads_of(bag, schedule))
    assert measure(bag, schedule).makespan_seconds == pytest.approx(float(load), rel=1e-15)


def test_a_bag_without_a_schedule_is_refused_before_any_heuristic_runs():
    with pytest.raises(InfeasibleError):
        validate(read(INSTANCES / "tiny.yaml"), heuristics=["mct"], deadline=1.0)
