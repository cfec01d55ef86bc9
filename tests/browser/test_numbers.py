from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from lpsched import units as display
from lpsched.report.html import page

pytestmark = pytest.mark.slow

NUMBERS = (Path(page.__file__).parents[1] / "browser" / "numbers.js").read_text(encoding="utf-8")


def all_sizes() -> list[float]:
    """Return numbers of all sizes: round ones, their neighbours, exact halves of the last digit shown, random."""
    drawn = random.Random(0)  # noqa: S311 - no secret
    powers = [float(f"{digit}e{power}") for power in range(-30, 31) for digit in (1, 2.5, 9.999995, 1.000005)]
    near = [neighbour for each in powers for neighbour in (math.nextafter(each, 0.0), math.nextafter(each, 9e99))]
    halves = [drawn.randrange(10**7) + drawn.choice((0.5, 0.25, 0.125, 0.0625, 0.75)) for _ in range(2000)]
    large = [float(drawn.randrange(10**6, 10**7) * 10 ** drawn.randrange(8, 13) + 5 * 10**8) for _ in range(200)]
    tiny = [drawn.randrange(1, 2000) * 2.0 ** -drawn.randrange(8, 22) for _ in range(1000)]
    wide = [drawn.uniform(1, 10) * 10.0 ** drawn.randrange(-320, 308) for _ in range(1500)]
    usual = [drawn.uniform(0, 10) * 10.0 ** drawn.randrange(-4, 17) for _ in range(2000)]
    ends = [0.0, 5e-324, 1.7976931348623157e308, 2.0**-10, 1e15, 999999.5, 0.001, 0.00099999995, 99999.95]
    sizes = powers + near + halves + large + tiny + wide + usual + ends
    return [value for size in sizes for value in (size, -size)]


def test_the_browser_writes_numbers_as_python_does(open_page):
    opened = open_page("<!DOCTYPE html><title>numbers</title>")
    values = all_sizes()
    assert len(values) > 10_000
    call = f"(text) => {{ {NUMBERS}; return JSON.parse(text).map((call) => number(...call)).join(' '); }}"
    calls = [(value, digits) for digits in (6, 4, 1, 12) for value in values]
    shown = opened.evaluate(call, json.dumps(calls)).split(" ")
    expected = [display.number(value, digits) for value, digits in calls]
    different = [each for each in zip(calls, expected, shown, strict=True) if each[1] != each[2]]
    assert different[:5] == []


def test_the_browser_writes_shares_and_what_is_no_number_as_python_does(open_page):
    opened = open_page("<!DOCTYPE html><title>numbers</title>")
    shares = [None, 0.0, 1e-14, 1.1e-14, 0.01234, -0.5, 1 / 3, 12.0, 2e-16, 1e-6]
    shown = opened.evaluate(f"(shares) => {{ {NUMBERS}; return shares.map(percent); }}", shares)
    assert shown == [display.percent(share) for share in shares]
    odd = opened.evaluate(f"() => {{ {NUMBERS}; return [null, NaN, Infinity, -Infinity].map((v) => number(v)); }}")
    assert odd == [display.number(value) for value in (None, math.nan, math.inf, -math.inf)]


def test_the_browser_rounds_bounds_and_gaps_as_python_does(open_page):
    opened = open_page("<!DOCTYPE html><title>numbers</title>")
    values = all_sizes()
    call = f"(text) => {{ {NUMBERS}; return JSON.parse(text).map((call) => roundedUp(...call)).join(' '); }}"
    down = f"(text) => {{ {NUMBERS}; return JSON.parse(text).map((call) => roundedDown(...call)).join(' '); }}"
    calls = [(value, digits) for digits in (6, 4) for value in values]
    shown = opened.evaluate(call, json.dumps(calls)).split(" ")
    expected = [display.bound_text(value, upper=True, digits=digits) for value, digits in calls]
    different = [each for each in zip(calls, expected, shown, strict=True) if each[1] != each[2]]
    assert different[:5] == []
    shown = opened.evaluate(down, json.dumps(calls)).split(" ")
    expected = [display.bound_text(value, upper=False, digits=digits) for value, digits in calls]
    assert [each for each in zip(calls, expected, shown, strict=True) if each[1] != each[2]][:5] == []
    gaps = [None, 0.0, 1e-14, 1.1e-14, 2e-16, *(abs(each) for each in values if abs(each) < 1e9)]
    told = opened.evaluate(f"(gaps) => {{ {NUMBERS}; return gaps.map(gapText); }}", gaps)
    assert told == [display.gap_text(gap) for gap in gaps]
