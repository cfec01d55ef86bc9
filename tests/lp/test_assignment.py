"""Items into bins: knapsacks against a table of all rooms, and dives against trying everything."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lpsched.jit import is_there
from lpsched.lp import assignment, one_bin
from lpsched.lp.assignment import NEVER, Assignment, Outcome, Pace
from lpsched.lp.one_bin import PRICE_BITS, workspace

pytestmark = pytest.mark.skipif(not is_there(), reason="Numba is not installed")


def most_of(sizes, values, room):
    """Return the most value that fits, in Python's own numbers: by a table of rooms, or where it is large by sets."""
    if room < 0:
        return 0
    if room <= 5_000:
        best = [0] * (room + 1)
        for size, value in zip(sizes, values, strict=True):
            for at in range(room, size - 1, -1):
                best[at] = max(best[at], best[at - size] + value)
        return best[room]
    sets = {0: 0}  # value by room taken
    for size, value in zip(sizes, values, strict=True):
        for taken, found in list(sets.items()):
            if taken + size <= room:
                sets[taken + size] = max(sets.get(taken + size, 0), found + value)
    return max(sets.values())


def starts(rng=None):
    """Return prices and budgets to begin with: any will do."""
    made = np.ones(11, dtype=np.int64)
    if rng is not None:
        made[:8] = rng.integers(1, 1 << int(rng.integers(1, 30)), 8)
    made[8:] = 0
    return made


def filled(sizes, values, room, start=None):
    """Return the value that `fill` says, what it takes, and whether the latter is a filling of that value."""
    sizes, values = np.array(sizes, dtype=np.int64), np.array(values, dtype=np.int64)
    taken = np.ones(len(sizes), dtype=np.bool_)
    most, steps = one_bin.fill(sizes, values, room, starts() if start is None else start, taken, *workspace(len(sizes)))
    assert steps >= len(sizes)
    return most, taken, int(values[taken].sum()) == most and int(sizes[taken].sum()) <= max(room, 0)


def plainly(monkeypatch):
    """Put plain functions in the place of compiled ones: coverage sees them."""
    for module in (assignment, one_bin):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)


def random_sizes(rng, kind, count):
    if kind == "two sizes":
        return rng.choice([50, 71], count)
    low, high = {"any": (1, 30), "alike": (50, 60), "wide": (10, 100), "large": (100, 120), "with 0": (0, 12)}[kind]
    return rng.integers(low, high + 1, count)


def random_values(rng, sizes):
    """Return values of several kinds; their sum is at most 2^46."""
    count = len(sizes)
    kind = int(rng.integers(6))
    values = [
        rng.integers(0, 2000, count),
        np.full(count, 1000),
        1000 + rng.integers(0, 3, count),
        100 * sizes + rng.integers(0, 5, count),
        np.where(rng.random(count) < 0.4, 0, rng.integers(1, 50, count)),
        sizes + 1,  # ties of value per room
    ][kind].astype(np.int64)
    most = (1 << PRICE_BITS) // max(1, int(values.sum()))
    return values * (most if rng.random() < 0.3 else 1 << int(rng.integers(0, most.bit_length())))


@pytest.mark.parametrize("kind", ["any", "alike", "wide", "large", "two sizes", "with 0"])
def test_knapsacks_are_never_below_a_table_of_all_rooms_and_mostly_equal(kind):
    rng, exact, tried = np.random.default_rng(len(kind)), 0, 0
    for _ in range(25):
        sizes = random_sizes(rng, kind, int(rng.integers(1, 70)))
        values = random_values(rng, sizes)
        room = int(rng.integers(0, max(2, 2 * int(sizes.sum()) // 3)))
        true, start = most_of(sizes.tolist(), values.tolist(), room), starts(rng)
        for _again in range(3):  # from what is known after the one before
            most, taken, is_filling = filled(sizes, values, room, start)
            assert most >= true
            assert is_filling or not taken.any()  # too many states, as with ties: a bound, and no filling
            assert most == true or not is_filling
            exact, tried = exact + (most == true), tried + 1
    assert exact > 0.75 * tried


def test_knapsacks_go_on_from_those_of_other_prices():
    rng = np.random.default_rng(7)
    sizes, start = rng.integers(20, 90, 40), starts()
    prices = rng.integers(1, 1 << 38, 40)
    for turn in range(40):  # longer than the number of knapsacks after which the other way is tried
        prices += rng.integers(0, 1 << 33, 40)
        room = 300 + 7 * turn
        most, _, is_filling = filled(sizes, prices, room, start)
        assert most == most_of(sizes.tolist(), prices.tolist(), room)
        assert is_filling


@pytest.mark.parametrize("seed", range(3))
def test_sizes_may_be_as_large_as_the_grid_of_real_times(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1 << 25, 1 << 28, 16)
    values = rng.integers(0, 1 << 42, 16)
    room = int(sizes.sum()) // 3
    most, _, is_filling = filled(sizes, values, room)
    assert (most, is_filling) == (most_of(sizes.tolist(), values.tolist(), room), True)


@pytest.mark.parametrize(
    ("sizes", "values", "room", "most", "taken"),
    [
        ([3, 4], [1, 1], 2, 0, []),  # none fits
        ([3, 4], [1, 1], -5, 0, []),
        ([0, 4], [7, 1], 0, 7, [0]),
        ([3, 4], [0, 0], 9, 0, []),  # all fit, none is worth anything
        ([3, 4], [0, 5], 3, 0, []),
        ([3, 4, NEVER], [2, 5, 1 << 40], 7, 7, [0, 1]),  # one cannot be here
        ([5, 5, 5], [2, 2, 2], 10, 4, None),  # ties
        ([2, 3, 4], [3, 4, 6], 6, 9, [0, 2]),
        ([1], [1], 1, 1, [0]),
    ],
)
def test_knapsacks_by_hand(sizes, values, room, most, taken):
    found, chosen, is_filling = filled(sizes, values, room)
    assert (found, is_filling) == (most, True)
    assert taken is None or np.flatnonzero(chosen).tolist() == taken


def test_prices_of_room_stay_so_small_that_no_product_overflows():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = 1 << rng.integers(0, 34, 6)
        values = rng.integers(1, 1 << 43, 6)
        room = int(rng.choice(sizes)) + int(rng.integers(0, 2))
        start = starts(rng)
        start[:8] <<= rng.integers(0, 17, 8)
        for _again in range(3):
            most, _, is_filling = filled(sizes, values, room, start)
            assert most >= most_of(sizes.tolist(), values.tolist(), room)
            assert is_filling == (most == most_of(sizes.tolist(), values.tolist(), room))


def test_too_many_states_give_a_bound_from_above(monkeypatch):
    plainly(monkeypatch)
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(30):
        sizes, values = rng.integers(40, 60, 14), rng.integers(1000, 1100, 14)
        room, taken = int(rng.integers(100, 500)), np.ones(14, dtype=np.bool_)
        own, states, nodes = workspace(14)
        most, _ = one_bin.fill(sizes, values, room, starts(rng), taken, own, states[..., :3], nodes)
        true = most_of(sizes.tolist(), values.tolist(), room)
        assert most >= true
        assert not taken.any() or (sizes[taken].sum() <= room and values[taken].sum() == most)
        cut += most > true
    assert cut  # else nothing was shown


def test_compiled_and_plain_loops_agree(monkeypatch):
    rng = np.random.default_rng(3)
    cases = []
    for kind in ("any", "alike", "with 0"):
        for _ in range(6):
            sizes = random_sizes(rng, kind, int(rng.integers(2, 12)))
            cases.append((sizes, random_values(rng, sizes), int(rng.integers(-3, 120))))
    sizes, rooms = random_items(rng, 6, 3)
    pace = Pace(first=8, later=3, noise=0.1)

    def results():
        found = [(most, taken.tolist()) for most, taken, _ in (filled(*case) for case in cases)]
        return found, [dived(sizes, [room] * 3, seed=5, pace=pace) for room in range(min(rooms) - 4, max(rooms) + 8, 4)]

    compiled = results()
    plainly(monkeypatch)
    with np.errstate(over="ignore"):  # of random numbers, which wrap around
        plain = results()
    assert plain[0] == compiled[0]
    assert [same(each) for each in plain[1]] == [same(each) for each in compiled[1]]


def random_items(rng, count, bins):
    """Return sizes (bins x items), and rooms about as large as they need."""
    sizes = rng.integers(1, int(rng.choice([5, 30, 1000])), (bins, count))
    absent = rng.random(sizes.shape) < 0.15
    absent[rng.integers(bins, size=count), np.arange(count)] = False
    sizes = np.where(absent, NEVER, sizes)
    share = int(sizes.min(axis=0).sum()) / bins
    rooms = [max(1, int(share * rng.uniform(0.7, 1.8))) for _ in range(bins)]
    return sizes, rooms


def dived(sizes, rooms, *, seed=0, pace=None, is_stopped=False):
    bins = len(sizes)
    prices = np.where(sizes < NEVER, sizes, sizes.max()).min(axis=0).astype(float)
    unit_prices = np.full(bins, 1.0 / bins)
    made = Assignment(sizes.astype(np.int64))
    stop = np.array([is_stopped])
    return made.dive(np.array(rooms, dtype=np.int64), prices, unit_prices, pace or Pace(), seed, stop)


def same(dive):
    """Return a dive as something to compare."""
    return dive.outcome, dive.bins.tolist(), dive.whole.tolist(), dive.prices.tolist(), dive.steps


def fits(sizes, rooms):
    """Try every bin for every item."""
    bins, items = sizes.shape
    for places in itertools.product(range(bins), repeat=items):
        loads = [0] * bins
        for i, j in enumerate(places):
            loads[j] += int(sizes[j, i])
        if all(load <= room for load, room in zip(loads, rooms, strict=True)):
            return True
    return False


def test_dives_say_nothing_that_trying_everything_refutes():
    rng = np.random.default_rng(0)
    seen = dict.fromkeys(Outcome, 0)
    for seed in range(150):
        sizes, rooms = random_items(rng, int(rng.integers(3, 9)), int(rng.integers(2, 4)))
        dive = dived(sizes, rooms, seed=seed, pace=Pace(noise=0.1 * (seed % 2), most_steps=1_000_000))
        seen[dive.outcome] += 1
        if dive.outcome is Outcome.FOUND:
            loads = np.bincount(dive.bins, weights=sizes[dive.bins, np.arange(len(dive.bins))], minlength=len(rooms))
            assert (loads <= rooms).all()
        elif dive.outcome is Outcome.IMPOSSIBLE:
            assert not fits(sizes, rooms)
            whole = dive.whole.tolist()
            assert sum(whole) <= 1 << PRICE_BITS + 1
            held = [most_of(sizes[j].tolist(), whole, room) for j, room in enumerate(rooms)]
            assert sum(whole) - sum(held) > 0  # the proof
        else:  # a filling that was missed is allowed, but rarely
            seen[Outcome.OPEN] += 3 * fits(sizes, rooms)
    assert seen[Outcome.FOUND] > 30
    assert seen[Outcome.IMPOSSIBLE] > 30
    assert seen[Outcome.OPEN] < 15


def test_the_same_seed_gives_the_same_dive_in_threads_too():
    rng = np.random.default_rng(1)
    cases = [(*random_items(rng, 30, 4), seed) for seed in range(12)]
    pace = Pace(noise=0.1, most_steps=3_000_000)

    def run(case):
        sizes, rooms, seed = case
        return same(dived(sizes, rooms, seed=seed, pace=pace))

    alone = [run(case) for case in cases]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, cases)) == alone
    assert [run(case) for case in reversed(cases)] == alone[::-1]


@pytest.mark.parametrize("seed", [10**7, 1 << 63, 10**30])
def test_any_seed_will_do(seed):
    sizes, rooms = random_items(np.random.default_rng(2), 12, 3)
    assert dived(sizes, rooms, seed=seed, pace=Pace(noise=0.1)).steps > 0


def test_steps_are_limited_and_what_was_placed_is_kept():
    rng = np.random.default_rng(4)
    sizes = rng.integers(10, 100, (4, 60))
    room = int(sizes.min(axis=0).sum() / 4 * 1.15)
    dive = dived(sizes, [room] * 4, pace=Pace(most_steps=0))
    assert dive.outcome is Outcome.OPEN
    assert dive.bins.tolist() == [-1] * 60
    longer = dived(sizes, [room] * 4, pace=Pace(first=60, later=2, most_steps=2 * dive.steps))
    assert longer.steps > dive.steps


def test_a_dive_that_is_stopped_still_has_what_it_knows():
    rng = np.random.default_rng(4)
    sizes = rng.integers(10, 100, (4, 60))
    room = int(sizes.min(axis=0).sum() / 4 * 1.15)
    dive = dived(sizes, [room] * 4, is_stopped=True)
    assert dive.outcome is Outcome.OPEN
    assert dive.steps < dived(sizes, [room] * 4, pace=Pace(most_steps=0)).steps
    # the first prices are enough: half of the room
    assert dived(sizes, [room // 2] * 4, is_stopped=True).outcome is Outcome.IMPOSSIBLE
