"""Keeping what a task can do at some prices: its best choice so far, or all that are good. Compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.compiled import compiled_inside

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Found, Grid, Tables

REST: Final = 2.0**-46  # see `arrival_choices.py`


@compiled_inside
def slack(tables: Tables, grid: Grid, i: int, column: int, worth: float) -> float:
    """Return what is added to a value, so that rounding cannot have made it too small."""
    return float(REST * abs(worth) + tables.width[i, column] * grid.hair[tables.column_type[column]])


@compiled_inside
def bar(found: Found, n: int) -> float:
    """Return what a choice must be worth to matter."""
    return float(found.floor[n] if found.is_list else found.best[n])


@compiled_inside
def take(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    found: Found, n: int, column: int, value: float, worth: float, joules: float, start: float, end: float
) -> None:
    """Keep a choice if it is the best so far, or list it if it is above the floor."""
    if not found.is_list:
        if value > found.best[n]:
            found.best[n], found.column[n], found.start[n] = value, column, start
    elif value > found.floor[n]:
        k = found.number[0]
        if k < len(found.offer):
            found.offer[k], found.listed[k] = n, column
            found.near[k, 0], found.near[k, 1] = worth, joules
            found.near[k, 2], found.near[k, 3] = start, end
        found.number[0] = k + 1
