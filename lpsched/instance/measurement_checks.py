"""Single values of a file of measurements: numbers of any sign, texts as programs say them, names."""

from __future__ import annotations

from typing import Final

from lpsched.instance.bench_checks import MOST_PLACES
from lpsched.instance.fields import LARGEST, SMALLEST, Amount, check_name, describe, refusal, shown_number

LONGEST_SAYING: Final = 100_000  # characters

check_joules: Final = Amount("joules")
check_intensity: Final = Amount("misses per instruction")
check_multiple: Final = Amount("a multiple of the time alone", least=SMALLEST)


def check_number(value: object) -> float:
    """Return a number of any sign, however small."""
    needed = f"a number from {-LARGEST:g} to {LARGEST:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(describe(value), needed, "write it as a plain number")
    if not -LARGEST <= value <= LARGEST:  # false for NaN too
        raise refusal(shown_number(value), needed, "correct it")
    return float(value)


def check_deviation(value: object) -> float:
    """Return a number that is not negative, however small."""
    number = check_number(value)
    if number < 0:
        raise refusal(shown_number(number), "a deviation of 0 or more", "correct it")
    return number


def check_saying(value: object) -> str:
    """Return a text, which may be whatever a program said."""
    needed = f"a text of at most {LONGEST_SAYING:,} characters"
    if not isinstance(value, str):
        raise refusal(describe(value), needed, "put it in quotes")
    if len(value) > LONGEST_SAYING:
        raise refusal(f"{len(value):,} characters", needed, "shorten it")
    return value


def check_names(value: object) -> tuple[str, ...]:
    """Return names, sorted, so that equal settings are equal."""
    if not isinstance(value, list | tuple):
        raise refusal(describe(value), "a list of applications", "write [ ] around it")
    if len(value) > MOST_PLACES:
        raise refusal(f"{len(value):,} of them", f"at most {MOST_PLACES:,}", "correct it")
    return tuple(sorted(map(check_name, value)))
