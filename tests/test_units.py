"""A printed bound is true: parsed back as an exact number it is on the right side of the double."""

from __future__ import annotations

import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lpsched.units import (
    NOISE,
    TIMES,
    beside_limit,
    bound_text,
    duration,
    energy_text,
    finer_by,
    gap_text,
    meant,
    number,
    paired,
    parse_quantity,
    plain_text,
    range_text,
    share_text,
)

ANY_NUMBER = st.floats(allow_nan=False, allow_infinity=False)
DIGITS = st.integers(1, 17)


def parsed(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def last_digit(value: float, digits: int) -> Fraction:
    """Return one unit of the last digit that is written: of `digits` figures, or of a whole number."""
    unit = Fraction(10) ** (Decimal(value).adjusted() - digits + 1)
    return min(unit, Fraction(1)) if Fraction(1, 1000) <= abs(Fraction(value)) < 10**15 else unit


@given(ANY_NUMBER, DIGITS)
@example(999_999.6, 6)  # the carry makes a digit more
@example(0.00099999999, 6)  # and so does this one, into another notation
@example(-1234.5678, 6)
@example(5e-324, 6)
@example(1.7976931348623157e308, 6)
def test_an_upper_bound_is_written_no_lower_and_a_lower_one_no_higher(value, digits):
    upper, lower = (parsed(bound_text(value, upper=side, digits=digits)) for side in (True, False))
    unit, rounding = last_digit(value, digits), abs(Fraction(value)) / 10**14  # that of doubles is left out
    assert lower - rounding <= Fraction(value) <= upper + rounding
    assert upper - Fraction(value) < unit
    assert Fraction(value) - lower < unit


@given(st.floats(-1e17, 1e17).filter(lambda value: not 0.0 < abs(value) < NOISE))
def test_a_bound_looks_as_any_number_does(value):
    assume(value == 0.0 or abs(value) >= NOISE)  # `number` shows less as 0
    # Rounding to the nearest goes either up or down.
    assert number(value + 0.0) in {bound_text(value, upper=True), bound_text(value, upper=False)}


@given(st.fractions(max_denominator=10**9), st.booleans())
def test_exact_fractions_are_rounded_once(value, upper):
    shown, rounding = parsed(bound_text(value, upper=upper)), abs(value) / 10**14
    assert shown >= value - rounding if upper else shown <= value + rounding


@pytest.mark.parametrize("value", [0.0, -0.0, 12.0, -3.5, 1_234_567.0, 0.25])
def test_what_needs_no_rounding_is_the_same_on_both_sides(value):
    assert bound_text(value, upper=True) == bound_text(value, upper=False) == number(value + 0.0)


@given(st.floats(1e-13, 1e6))
def test_no_gap_looks_smaller_and_no_share_larger_than_it_is(share):
    rounding = Fraction(2, 10**14)  # of quotients of doubles
    assert parsed(gap_text(share).removeprefix("under ").removesuffix(" %")) >= 100 * Fraction(share) * (1 - rounding)
    assert parsed(share_text(share).removesuffix(" %")) <= 100 * Fraction(share) * (1 + rounding)


@given(st.integers(1, 9_999))
def test_a_gap_of_four_digits_is_written_as_it_is(hundredths):
    # 12.34 % is 0.1234, whose double is a little above or below.
    assert gap_text(hundredths / 10_000) == share_text(hundredths / 10_000) == f"{number(hundredths / 100)} %"


@given(st.floats(0.0, 1e9))
def test_a_duration_is_rounded_to_its_second_unit_and_a_bound_to_its_side(seconds):
    size = {name: Fraction(size) for size, name in TIMES}

    def parsed_duration(text):
        words = text.replace(",", "").split()
        return sum(Fraction(figures) * size[name] for figures, name in zip(words[::2], words[1::2], strict=True))

    lower, nearest, upper = (parsed_duration(duration(seconds, upper=side)) for side in (False, None, True))
    rounding = Fraction(seconds) / 10**14  # that of doubles is left out
    assert lower - rounding <= Fraction(seconds) <= upper + rounding
    assert nearest in {lower, upper} or abs(nearest - Fraction(seconds)) < Fraction(1, 10**12)
    assert upper - lower <= max(Fraction(seconds) / 12, Fraction(1, 10**300))


@pytest.mark.parametrize("write", [plain_text, duration, energy_text])
@given(bound=st.floats(1e-2, 1e9), gap=st.floats(1e-5, 0.5), upper=st.booleans())
@example(bound=10_739.0, gap=0.0008314, upper=False)  # 2 h 59 min, of which the bound was 2 h 58 min
def test_a_value_and_its_bound_are_written_as_far_apart_as_they_are(write, bound, gap, upper):
    value = bound * (1.0 - gap if upper else 1.0 + gap)
    texts = [meant(text) for text in paired(value, bound, upper=upper, write=write)]
    assert texts[0] < texts[1] if upper else texts[0] > texts[1]
    assert abs(abs(texts[0] - texts[1]) - abs(value - bound)) <= 0.501 * abs(value - bound)
    assert (texts[1] - bound) * (1.0 if upper else -1.0) >= -1e-13 * bound


@pytest.mark.parametrize("write", [plain_text, duration, energy_text])
@given(bound=st.floats(1e-2, 1e9), upper=st.booleans())
@example(bound=3_155_677.2, upper=False)  # 876.5 Wh, rounded to its side, and 876.6 Wh, to the nearest
def test_a_value_that_is_its_bound_is_written_as_that(write, bound, upper):
    first, second = paired(bound, bound, upper=upper, write=write)
    assert first == second
    assert (meant(second) - bound) * (1.0 if upper else -1.0) >= -1e-13 * bound
    assert abs(meant(second) - bound) <= bound / (12 if write is duration else 1000)


@pytest.mark.parametrize("write", [plain_text, duration, energy_text])
@given(bound=st.floats(1e-2, 1e9), gaps=st.tuples(st.floats(1e-7, 0.5), st.floats(1e-7, 0.5)), upper=st.booleans())
@example(bound=45_852.9, gaps=(3e-6, 1e-4), upper=False)  # at least 12 h 44 min 13 s, and done in 12 h 44 min
def test_no_value_below_a_common_bound_is_written_beyond_it(write, bound, gaps, upper):
    values = [bound * (1.0 - gap if upper else 1.0 + gap) for gap in gaps]
    finer = [finer_by(value, bound, upper=upper, write=write) for value in values]
    limit = write(bound, upper=upper, finer=max(finer))
    for value, own in zip(values, finer, strict=True):
        text = beside_limit(value, limit, upper=upper, finer=(own, max(finer)), write=write)
        assert (meant(text) - meant(limit)) * (1.0 if upper else -1.0) <= 0.0
        assert abs(meant(text) - value) <= value / (12 if write is duration else 1000)


@given(st.floats(-1e6, 1e6), st.floats(0.0, 1e3))
def test_a_range_contains_both_ends_or_is_their_number(low, width):
    low, high = low + 0.0, low + width
    first, _, last = range_text(low, high).partition(" to ")
    if last:
        assert parsed(first) - Fraction(1, 10**9) <= Fraction(low)
        assert parsed(last) + Fraction(1, 10**9) >= Fraction(high)
        assert first != last
    else:
        assert parsed(first) == parsed(number(low)) == parsed(number(high))


@pytest.mark.parametrize("text", ["9" * 5000, "." * 5000, " " * 5000 + "x", "9" * 2500 + "." + "9" * 2500, "1s" * 5000])
def test_endless_digits_are_no_quantity_and_are_rejected_at_once(text):
    before = time.process_time()
    with pytest.raises(ValueError, match="expected a time such as"):
        parse_quantity(text, "time")
    assert time.process_time() - before < 2.0  # of 5,000 digits, a minute was not enough


def test_a_point_needs_no_digit_on_one_side():
    assert [parse_quantity(text, "time") for text in ("5.s", ".5s", "1.5h", "5.", ".5")] == [5.0, 0.5, 5400.0, 5.0, 0.5]
