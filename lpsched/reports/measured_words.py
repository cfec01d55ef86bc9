"""How measured numbers, settings and groups are written, in tables and pictures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from lpsched.display import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.measurements import Spread
    from lpsched.instance.setting import Setting

NOTHING: Final = "-"
DIGITS: Final = 5
SHARE_DIGITS: Final = 3


def in_counts(names: Sequence[str]) -> str:
    """Return names, each once with how often it is there.

    >>> in_counts(("canneal", "bodytrack", "canneal"))
    'bodytrack + 2 canneal'
    """
    counts = Counter(sorted(names))
    return " + ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def in_words(setting: Setting) -> str:
    """Return a setting in words, equal companions counted.

    >>> from lpsched.instance.setting import Setting
    >>> in_words(Setting("a", ("b", "c", "c"), 1700.0)), in_words(Setting("a"))
    ('a beside b + 2 c at 1,700 MHz', 'a alone')
    """
    clock = at_clock(setting.mhz)
    if setting.batch:
        return f"{in_counts(setting.together)}{clock}, until all have ended"
    beside = f"beside {in_counts(setting.beside)}" if setting.beside else "alone"
    return f"{setting.application} {beside}{clock}"


def at_clock(mhz: float | None) -> str:
    """Return the clock as the end of a phrase; nothing where none was set."""
    return "" if mhz is None else f" at {number(mhz)} MHz"


def share_text(share: float | None) -> str:
    """Write a measured share in percent: three digits are more than is known.

    >>> share_text(0.123456), share_text(-0.02), share_text(-1e-17), share_text(None)
    ('12.3 %', '-2 %', '0 %', '-')
    """
    if share is None:
        return NOTHING
    return f"{number(round(100 * share, SHARE_DIGITS) + 0.0, SHARE_DIGITS)} %"  # no sign before a zero


def with_half(spread: Spread | None, digits: int = DIGITS) -> str:
    """Write a mean, and how far its confidence interval goes to each side: two digits are enough for that.

    >>> from lpsched.instance.measurements import Spread
    >>> with_half(Spread(12.0, 3, 0.5, 10.75, 13.25)), with_half(Spread(12.0, 1)), with_half(None)
    ('12 ± 1.2', '12', '-')
    """
    if spread is None:
        return NOTHING
    mean = number(spread.mean, digits)
    if spread.low is None or spread.high is None:
        return mean
    return f"{mean} ± {number((spread.high - spread.low) / 2, 2)}"
