"""Measurements in a few sentences: what was measured, who suffers most, what saves most, what is absent.

A slowdown is clear of noise where, at some clock, the confidence interval of the time beside the other lies
above that of the time alone; a saving, where that of the energy together lies below the sum of the lower ends
alone. Only what is clear is put first. Of a file without settings nothing tells noise, and its numbers count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.setting import Setting
from lpsched.reports.measured_words import in_counts, share_text

if TYPE_CHECKING:
    from lpsched.instance.measurements import Measured, Measurements, Saving


def lead_of(measurements: Measurements) -> str:
    """Return the answer."""
    count, clocks = len(measurements.seconds), len(measurements.frequencies_mhz)
    applications = "one application" if count == 1 else f"{count:,} applications"
    at = f" at {clocks} clocks" if clocks > 1 else ""
    what = "Times and powers" if measurements.watts else "Times"
    told = [f"{what} of {applications}{at} on {measurements.machine_type}."]
    found = {each.setting: each for each in measurements.measured}
    told += _slowdown(measurements, found)
    told += _saving(measurements, found)
    told += [] if measurements.meters.energy else ["No energy was measured."]
    told += [] if measurements.meters.counters else ["Cache misses were not counted."]
    return " ".join(told)


def _slowdown(measurements: Measurements, found: dict[Setting, Measured]) -> list[str]:
    pairs = [(share, a, b) for a, row in measurements.degradation.items() for b, share in row.items()]
    if not pairs:
        return []
    clocks = measurements.frequencies_mhz or (None,)
    clear = [
        (share, a, b)
        for share, a, b in pairs
        if share > 0 and (not found or any(_slower(found, a, b, mhz) for mhz in clocks))
    ]
    if not clear:
        return [
            "No slowdown beside another is clear of noise." if found else "None takes longer beside another."
        ]
    share, name, other = max(clear, key=lambda pair: pair[0])
    beside = "a copy of it" if name == other else other
    return [f"{name} suffers most: it takes {share_text(share)} longer for each core that runs {beside}."]


def _saving(measurements: Measurements, found: dict[Setting, Measured]) -> list[str]:
    clear = [
        each for each in measurements.savings if each.share_saved > 0 and (not found or _less(found, each))
    ]
    if clear:
        best = max(clear, key=lambda saving: saving.share_saved)
        return [f"{in_counts(best.together)} together save the most energy: {share_text(best.share_saved)}."]
    return ["No saving by running together is clear of noise."] if measurements.savings else []


def _slower(found: dict[Setting, Measured], name: str, other: str, mhz: float | None) -> bool:
    """Whether the time beside another is clearly longer."""
    alone, pair = found.get(Setting(name, (), mhz)), found.get(Setting(name, (other,), mhz))
    if alone is None or pair is None:
        return False
    ends = alone.seconds.high, pair.seconds.low
    return ends[0] is not None and ends[1] is not None and ends[1] > ends[0]


def _less(found: dict[Setting, Measured], saving: Saving) -> bool:
    """Whether the energy together is clearly less."""
    alone = [found.get(Setting(name, (), saving.mhz)) for name in saving.together]
    lows = [each.joules.low for each in alone if each is not None and each.joules is not None]
    known = [low for low in lows if low is not None]
    batch = found.get(Setting(saving.together[0], saving.together[1:], saving.mhz, batch=True))
    high = None if batch is None or batch.joules is None else batch.joules.high
    return high is not None and high < sum(known)  # what is not known only adds to it
