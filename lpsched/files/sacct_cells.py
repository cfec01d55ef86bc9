"""The cells of Slurm's accounting: how `sacct` writes times, energy, nodes and states.

    elapsed, limits   [days-]hours:minutes:seconds, or minutes:seconds; `ElapsedRaw` in seconds,
                      `TimelimitRaw` in minutes; UNLIMITED and Partition_Limit say nothing
    moments           2024-02-29T14:28:30, or seconds since 1970 (`SLURM_TIME_FORMAT=%s`); Unknown and None
                      say nothing
    energy            joules, with K, M, G, T or P for powers of 1,000; 0, and 2^53 or more (2^64 - 2 is how
                      Slurm says that it does not know), mean that it was not measured
    nodes             with K or M for powers of 1,024 (`--noconvert` avoids them)
    state             COMPLETED, FAILED, `CANCELLED by 1000` ...; the first word counts

An empty cell says nothing either. Each function returns `None` for nothing, and raises a `ValueError` for
what it cannot read.

Sources: the manual page sacct(1); Slurm's `src/sacct/print.c`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

NOTHING: Final = frozenset(("", "unknown", "none", "unlimited", "partition_limit", "infinite", "n/a"))
LARGEST: Final = 2.0**53
MOST_NODES: Final = 1e9
DECIMAL: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY: Final = {"": 1, "K": 2**10, "M": 2**20}
_SPAN: Final = re.compile(r"(?:(\d{1,9})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,2}(?:\.\d{1,9})?)")
_AMOUNT: Final = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)([KMGTP]?)")
_WHOLE: Final = re.compile(r"\d{1,15}")


def seconds_of(cell: str) -> float | None:
    """Return a span of time.

    >>> seconds_of("1-02:00:05"), seconds_of("01:30"), seconds_of("UNLIMITED")
    (93605.0, 90.0, None)
    """
    found = _SPAN.fullmatch(cell)
    if found is None:
        require_nothing(cell)
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def raw_seconds_of(cell: str) -> float | None:
    """Return a number of seconds."""
    if _WHOLE.fullmatch(cell):
        return float(cell)
    require_nothing(cell)
    return None


def raw_minutes_of(cell: str) -> float | None:
    """Return a number of minutes, in seconds."""
    minutes = raw_seconds_of(cell)
    return None if minutes is None else 60.0 * minutes


def moment_of(cell: str) -> float | None:
    """Return a moment in seconds; one without a zone counts as if it were in Greenwich.

    >>> moment_of("1970-01-02T00:00:01"), moment_of("86401"), moment_of("Unknown")
    (86401.0, 86401.0, None)
    """
    if _WHOLE.fullmatch(cell):
        return float(cell)
    if cell.lower() in NOTHING:
        return None
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def joules_of(cell: str) -> float | None:
    """Return an energy, `None` if it was not measured.

    >>> joules_of("101.63K"), joules_of("0"), joules_of("18446744073709551614"), joules_of("18446744073.71G")
    (101630.0, None, None, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None:
        require_nothing(cell)
        return None
    whole, _, fraction = found[1].partition(".")
    joules = int(whole + fraction) * DECIMAL[found[2]] / 10.0 ** len(fraction)  # 101.63K is 101,630 exactly
    if joules == 0 or joules >= LARGEST:
        return None
    return joules


def nodes_of(cell: str) -> int | None:
    """Return a number of nodes, `None` for 0: the job never had any.

    >>> nodes_of("4"), nodes_of("1.5K"), nodes_of("0")
    (4, 1536, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None or found[2] not in BINARY:
        require_nothing(cell)
        return None
    nodes = float(found[1]) * BINARY[found[2]]
    if not nodes.is_integer() or nodes > MOST_NODES:
        raise ValueError(cell)
    return int(nodes) or None


def state_of(cell: str) -> str:
    """Return the state without what follows it.

    >>> state_of("CANCELLED by 1000"), state_of("OUT_OF_ME+")
    ('CANCELLED', 'OUT_OF_ME')
    """
    return (cell.split() or ["unknown"])[0].rstrip("+").upper()


def require_nothing(cell: str) -> None:
    """Refuse a cell that says something, and cannot be read.

    Raises
    ------
    ValueError
        If it does.
    """
    if cell.lower() not in NOTHING:
        raise ValueError(cell)
