"""Terms of a claim: what it is about besides the instance, and whether that is what the reader takes it to be about."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.fields import FrozenDict
from lpsched.model.series import moment_text

if TYPE_CHECKING:
    from collections.abc import Mapping

TERMS: Final = {  # what a claim is about besides the instance: its name, its unit, and the option that says it
    "price": ("price", "currency", "--price"),
    "power_cap_watts": ("power cap", "W", "--power-cap"),
    "deadline_seconds": ("deadline", "s", "--deadline"),
    "horizon_seconds": ("horizon", "s", "--horizon"),
    "start": ("start", "", "--start"),
    "carbon_price_per_kg": ("carbon price", "currency/kg", "--carbon-price"),
    "outlets_celsius": ("outlets", "°C", "--outlets"),
}
KILOGRAMS: Final = 1000  # of a tonne, of which the option has the price


def differing(claimed: Mapping[str, Any], own: Mapping[str, Any], currency: str = "") -> tuple[str, ...]:
    """Return the terms of a claim that are not those that count here, each in words with what to do."""
    found = []
    for key, value in claimed.items():
        if value == own[key]:
            continue
        name, _, option = TERMS[key]
        none = "any" if key == "outlets_celsius" else "none"
        here = f"here {none if own[key] is None else term_text(key, own[key], currency)}"
        if value is None:
            found.append(f"no {name}, {here}; leave out {option}")
            continue
        typed = value
        if key == "carbon_price_per_kg":
            typed = max(-sys.float_info.max, min(value * KILOGRAMS, sys.float_info.max))
        plain = _plain(typed, key)
        found.append(f"{name} {term_text(key, value, currency)}, {here}; add {option} {plain.replace(' ', '')}")
    return tuple(found)


def words_of(terms: Mapping[str, Any], currency: str = "") -> tuple[str, str]:
    """Return terms in words, and as options; both begin with a blank, or are empty.

    >>> words_of({"price": 0.5, "deadline_seconds": 20.0}, "USD")
    (' with price 0.5 USD, deadline 20 s', ' --price 0.5 --deadline 20')
    """
    named = ", ".join(f"{TERMS[key][0]} {term_text(key, value, currency)}" for key, value in terms.items())
    options = "".join(f" {TERMS[key][2]} {_plain(value, key)}" for key, value in terms.items())
    return f" with {named}" if named else "", options


def term_text(key: str, value: Any, currency: str = "") -> str:  # noqa: ANN401 - of any term
    """Write a term of a claim with all its digits and its unit.

    >>> term_text("power_cap_watts", 40.000001), term_text("price", 5, "USD"), term_text("outlets_celsius", (18, 20.5))
    ('40.000001 W', '5 USD', '18, 20.5 °C')
    """
    return f"{_plain(value, key)} {TERMS[key][1].replace('currency', currency)}".rstrip()


def _plain(value: Any, key: str) -> str:  # noqa: ANN401 - likewise
    if isinstance(value, tuple):
        return ", ".join(_plain(each, key) for each in value)
    if key == "start":
        return moment_text(value)
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def written(terms: Mapping[str, Any]) -> FrozenDict[str, Any]:
    """Return terms as JSON has them."""
    return FrozenDict({key: float(value) if isinstance(value, Fraction) else value for key, value in terms.items()})
