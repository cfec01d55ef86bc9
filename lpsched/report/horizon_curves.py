"""Tables of curves over a horizon: cost and carbon, cost and deadline, offers of less power, profit and price level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.model.results import along
from lpsched.report.tables import fitted, line, table
from lpsched.units import duration, power_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve
    from lpsched.bag.horizon.level_curve import LevelCurve

MOST_ROWS: Final = 30  # of a curve; the others are in the JSON and in the CSV file
CONVEX: Final = (
    "The most profit is convex in the level: between two levels no plan earns more than the line between their bounds "
    "(proved)."
)
NEGATIVE: Final = "Some market prices are negative, so it may rise with the level."
KILO: Final = 1000.0


def front_tables(front: HorizonFront, most: int = MOST_ROWS) -> list[ConsoleRenderable]:
    """Return the headline, and a row for each vertex; of more than `most`, some, evenly chosen."""
    money = front.currency
    headers = (
        "",
        f"LP vertex:\ncost, {money}",
        "CO2",
        f"best at {money}\nper t CO2 (LP)",
        "proved cost\nat that CO2",
        f"plan:\ncost, {money}",
        "CO2",
    )
    places = [place for place, each in enumerate(front.vertices) if each.costs is not None]
    return _tables(front.headline(), headers, front.rows(), "vertices", most, also=places)


def deadline_tables(curve: DeadlineCurve, most: int = MOST_ROWS) -> list[ConsoleRenderable]:
    """Return the headline, and a row for each deadline, likewise."""
    money = curve.currency
    headers = ("deadline", f"LP:\ncost, {money}", "proved\nat least", "plan\ncosts")
    found = _tables(curve.headline(), headers, curve.rows(), "deadlines", most, first=0)
    shortest = f"No plan ends before {duration(curve.shortest_seconds, upper=False)} (proved)."
    return [*found, line(shortest)]


def offer_tables(offers: OfferCurve, most: int = MOST_ROWS) -> list[ConsoleRenderable]:
    """Return the headline, and a row for each breakpoint, likewise."""
    money = offers.currency
    headers = (
        "kW less",
        "delivered,\nkW",
        f"{money} per kW\nmore (LP)",
        f"LP: extra\ncost, {money}",
        "proved\nat least",
        "achieved\nat most",
    )
    found = _tables(offers.headline(), headers, offers.rows(), "points", most, first=0)
    if 0 < offers.full_kw < offers.most_kw:
        full = power_text(offers.full_kw * KILO, upper=False)
        found.append(
            line(f"Up to {full}, all {len(offers.slots)} slots draw so much less; beyond, some reach idle power.")
        )
    return found


def level_tables(curve: LevelCurve) -> list[ConsoleRenderable]:
    """Return the headline, a row for each level, and what holds between two of them."""
    money = curve.currency
    headers = (
        "level",
        f"mean price,\n{money}/kWh",
        f"LP: profit,\n{money}",
        "proved\nat most",
        "verified\nplan earns",
        "its tasks",
        "kWh",
    )
    places = [place for place, each in enumerate(curve.points) if each.level == 1.0]
    found = _tables(curve.headline(), headers, curve.rows(), "levels", MOST_ROWS, first=0, also=places)
    return [*found, fitted(CONVEX if curve.never_rises else f"{CONVEX} {NEGATIVE}")]


def _tables(  # noqa: PLR0913 - a table and its words
    headline: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    noun: str,
    most: int,
    *,
    first: int = 1,
    also: Sequence[int] = (),
) -> list[ConsoleRenderable]:
    """Return a headline and a table of some rows, evenly chosen, and some others; numbers from column `first` on."""
    kept = sorted({*along(len(rows), most), *also})
    numbers = range(first, len(headers))
    found: list[ConsoleRenderable] = [
        line(*headline.split("\n")),
        table(headers, [rows[place] for place in kept], numbers=numbers),
    ]
    if len(kept) < len(rows):
        found.append(line(f"{len(kept)} of {len(rows)} {noun}; --json has all."))
    return found
