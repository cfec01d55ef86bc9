"""What running together saves: static power runs for as long as anything does, and is shared.

    E_i, t_i   energy and time of application i alone         P_0   idle power
    E, T       energy and time of all at once, until the last has ended

    apart      sum_i E_i                        one after another
    together   E                                measured
    predicted  P_0 T + sum_i (E_i - P_0 t_i)    static power once, and each one's own energy as if alone

The prediction leaves out what running together costs besides time, so it shows whether static power explains
the saving. Source: section 8.5 and table 8.5 of the thesis.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from lpsched.instance.measurements import Saving

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.instance.measurements import Measured


def savings_of(measured: Iterable[Measured], idle_watts: float | None) -> tuple[Saving, ...]:
    """Return the saving of each batch whose energy, and that of its applications alone, is known."""
    known = [each for each in measured if each.joules is not None]
    alone = {(each.setting.application, each.setting.mhz): each for each in known if not each.setting.beside}
    found = []
    for batch in known:
        setting = batch.setting
        parts = [alone.get((name, setting.mhz)) for name in setting.together]
        if setting.batch and all(parts):
            found.append(_saving(batch, [part for part in parts if part], idle_watts))
    return tuple(found)


def _saving(batch: Measured, parts: list[Measured], idle_watts: float | None) -> Saving:
    joules = [_joules(part) for part in parts]
    predicted = None
    if idle_watts is not None:
        own = [energy - idle_watts * part.seconds.mean for energy, part in zip(joules, parts, strict=True)]
        predicted = fsum([idle_watts * batch.seconds.mean, *own])
    return Saving(batch.setting.together, batch.setting.mhz, fsum(joules), _joules(batch), predicted)


def _joules(measured: Measured) -> float:
    assert measured.joules is not None, "only settings with energy are compared"
    return measured.joules.mean
