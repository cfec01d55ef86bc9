"""What was measured of an allocation: as JSON, and in rows of a word, a number with its unit, its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lpsched.display import number, percent, upper_text

if TYPE_CHECKING:
    from lpsched.verify.facility import Measurement

UNIT: Final = "reward/second"
Fact = tuple[str, str, str]
NOT_CERTIFIED: Final = "not certified"  # of a bound that was not derived again in exact arithmetic


def measured_keys(measured: Measurement, cap_watts: float) -> dict[str, Any]:
    """Return what was measured as it appears in the JSON of every method."""
    return {
        "colocated_reward_rate": measured.reward_rate,
        "plain_reward_rate": measured.plain_reward_rate,
        "power_watts": measured.total_watts,
        "power_cap_watts": cap_watts,
        "cooling_watts": sum(measured.cooling_watts),
        "hottest_inlet_margin_celsius": measured.hottest_inlet_margin_celsius,
    }


def bound_fact(bound: float, *, exactly_proved: bool, at: str) -> Fact:
    """Return the bound, and how it is known."""
    how = "proved" if exactly_proved else f"of linear programs in doubles, {NOT_CERTIFIED}"
    return (
        "bound",
        f"{upper_text(bound)} {UNIT}",
        f"{how}: no allocation earns more at {at} outlet temperatures",
    )


def power(measured: Measurement, cap_watts: float) -> Fact:
    """Return what nodes and units draw, and the share of the cap."""
    cooling = sum(measured.cooling_watts)
    share = percent(measured.total_watts / cap_watts)
    source = f"measured: {share} of the cap of {number(cap_watts)} W; {number(cooling)} W of it cools"
    return ("power", f"{number(measured.total_watts)} W", source)


def hottest_inlet(measured: Measurement) -> Fact:
    """Return the inlet that is nearest to its redline."""
    inlet, margin = hottest_inlet_celsius(measured), measured.hottest_inlet_margin_celsius
    redline = f"{number(margin, 3)} K below its redline of {number(inlet + margin)} C"
    return ("hottest inlet", f"{number(inlet)} C", f"measured: node {measured.hottest_node}, {redline}")


def hottest_inlet_celsius(measured: Measurement) -> float:
    """Return the temperature of the inlet that is nearest to its redline."""
    return measured.node_inlets_celsius[measured.hottest_node]


def colocated(measured: Measurement) -> Fact:
    """Return what an allocation that ignored co-location brings in truth."""
    rate = f"{number(measured.reward_rate)} {UNIT}"
    return ("co-located", rate, "verified: the same allocation, with cores slowing each other")
