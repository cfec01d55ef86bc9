"""Knapsacks of the checker against every pattern of a few items: never below the best, and at last the best itself."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lpsched.bag.certificate import knapsacks
from lpsched.bag.certificate.knapsacks import Item, Knapsack, lots_of

ITEMS = st.lists(st.builds(Item, st.integers(1, 12), st.integers(1, 60), st.integers(1, 4)), min_size=1, max_size=5)
ALIKE = st.lists(st.builds(Item, st.integers(30, 36), st.integers(90, 110), st.integers(1, 3)), min_size=1, max_size=6)
NO_LIMIT = 10**9


class Counter:
    """Counts steps, and ends a knapsack that takes too many."""

    def __init__(self, most: int = NO_LIMIT) -> None:
        self.steps, self.most = 0, most

    def __call__(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.most:
            raise TimeoutError


def best_of(items, room):
    """Return the most that a pattern is worth, of all patterns."""
    return max(
        sum(count * item.value for count, item in zip(counts, items, strict=True))
        for counts in product(*(range(item.limit + 1) for item in items))
        if sum(count * item.size for count, item in zip(counts, items, strict=True)) <= room
    )


def check_rounds(items, room, steps):
    """Prove a little more each time; whatever is proved on the way is true, and what is proved is as much as asked for."""
    best, knapsack, by = best_of(items, room), Knapsack(items, room, Counter()), 0
    first = knapsack.most
    assert first >= best
    while not knapsack.exact:
        knapsack.refine(by)
        assert best <= knapsack.most
        assert knapsack.exact or knapsack.most < first - by
        by += steps
    assert knapsack.most == best


@pytest.fixture(params=["as it is", "always by the number of items"])
def splitting(request, monkeypatch):
    """Small knapsacks are too easy to be split: make them hard."""
    if request.param != "as it is":
        monkeypatch.setattr(knapsacks, "EASY", -1)
        monkeypatch.setattr(knapsacks, "GAIN", NO_LIMIT)


@pytest.mark.usefixtures("splitting")
def test_no_pattern_is_worth_more_and_the_best_is_found():
    @given(ITEMS, st.integers(1, 40), st.integers(1, 30))
    def different(items, room, steps):
        check_rounds(items, room, steps)

    @given(ALIKE, st.integers(30, 250), st.integers(1, 30))
    def alike(items, room, steps):
        check_rounds(items, room, steps)

    different()
    alike()


# Two items at first, one too many: the fee for that comes back when both make room for the third.
@example([Item(5, 5, 1), Item(5, 5, 1), Item(10, 14, 1)], 10, 1, -10, 6)
@given(ITEMS | ALIKE, st.integers(1, 120), st.integers(0, 9), st.integers(-40, 80), st.integers(0, 60))
def test_patterns_of_few_or_many_items_at_any_fee(items, room, number, fee, below):
    few, fits = fee >= 0, [item for item in items if item.size <= room]
    part = knapsacks._Part(items, room, fee, number, few=few)  # noqa: SLF001 - a step of the proof
    values = [
        sum(count * item.value for count, item in zip(counts, fits, strict=True))
        for counts in product(*(range(item.limit + 1) for item in fits))
        if sum(count * item.size for count, item in zip(counts, fits, strict=True)) <= room
        and (not fee or (sum(counts) <= number if few else sum(counts) >= number))
    ]
    assert all(value <= part.bound for value in values)
    aim = max(0, part.bound - below)
    part.refine(aim, Counter())
    assert part.bound == (max(values) if part.exact else aim - 1)
    assert all(value <= part.bound for value in values)


def test_the_number_of_items_is_what_counts():
    # 3.9 of 40 items of 100 fit in 390: three are worth 300. At 1 for a unit of room, nothing is proved below 390; by
    # the number of items, at most three are worth 300 at once, and four take 400.
    items = [Item(100, 100, 1) for _ in range(40)]
    plain, split = Knapsack(items, 390, Counter()), Knapsack(items, 390, Counter())
    assert plain.most == 390
    few, *many = split._by_number  # noqa: SLF001 - a step of the proof
    assert (few.bound, many) == (300, [])
    # 3.41 of them fit in 341 if one of 41 units is there: four items, for 341.
    mixed = [*items, Item(41, 41, 1)]
    assert [part.bound for part in Knapsack(mixed, 341, Counter())._by_number] == [300, 341]  # noqa: SLF001


def test_a_thousand_tasks_of_about_the_same_time_are_quick():
    # 1,000 tasks of 1000 to 1100 units and about the same value, 33.8 of which fit: without the number of items there
    # are far too many patterns between the 33 that fit and the bound.
    items = [Item(1000 + 37 * i % 101, 10**6 + 2741 * i % 5003, 1) for i in range(1000)]
    counter = Counter(2 * 10**5)
    knapsack, by = Knapsack(items, 33_850, counter), 100
    while not knapsack.exact:
        knapsack.refine(by)
        by *= 2
    assert sum(sorted(item.value for item in items)[-33:]) >= knapsack.most > 33 * 10**6


def test_steps_are_counted():
    items = [Item(100 + 7 * i, 1000 + 71 * i, 9) for i in range(12)]
    counter = Counter()
    Knapsack(items, 5000, counter).refine(5000)
    assert counter.steps > 100
    with pytest.raises(TimeoutError):
        Knapsack(items, 5000, Counter(20)).refine(5000)


@given(st.integers(1, 300))
def test_lots_make_every_number_up_to_a_limit(limit):
    lots, sums = lots_of(limit), {0}
    for lot in lots:
        sums |= {each + lot for each in sums}
    assert sums == set(range(limit + 1))
