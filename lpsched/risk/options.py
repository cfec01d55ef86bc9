"""What is asked about uncertainty: how many samples, how far times and powers scatter, which percentiles.

On the command line it is one text, `samples=1000,cov=0.3,power-cov=0.1-1.5,percentiles=5/50/95`:

    samples       how often every task's time and power are drawn
    cov           coefficient of variation of the times: one number for all, or a range `low-high` from which
                  every pair and P-state gets its own, evenly
    power-cov     the same for the powers; as `cov` where it is not given, as in the thesis
    percentiles   which ones to tell, with slashes
    percentile    only where a front is evolved: rank by this percentile of the samples, not by the tables

This module imports no NumPy, so that a mistake is told before anything is loaded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from collections.abc import Iterator

Cov: TypeAlias = float | tuple[float, float]

SOURCE: Final = "the risk asked about"
LARGEST_COV: Final = 5.0  # beyond, nearly all times are nearly 0 and a few are enormous
LEAST_SAMPLES: Final = 2  # a standard deviation needs two
MOST_SAMPLES: Final = 10_000_000
MOST_PERCENTILES: Final = 100
PERCENTILES: Final = (5.0, 25.0, 50.0, 75.0, 95.0)
NEEDED_COV: Final = f"a number from 0 (certain) to {LARGEST_COV:g}, or two of them as a range"
KEYS: Final = ("samples", "cov", "power-cov", "percentiles")


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """What to sample.

    Raises
    ------
    InstanceError
        If a number is out of its range; the error lists every fault.

    Examples
    --------
    >>> RiskOptions(cov=0.3).powers
    0.3
    >>> RiskOptions.read("samples=100,cov=0.1-1.5,percentiles=50").cov
    (0.1, 1.5)
    """

    samples: int = 1000
    cov: Cov = 0.3
    power_cov: Cov | None = None
    percentiles: tuple[float, ...] = PERCENTILES
    percentile: float | None = None  # that a front is ranked by; None: by the tables' means

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled."""
        faults = tuple(self._faults())
        if faults:
            raise InstanceError(SOURCE, faults)

    @property
    def powers(self) -> Cov:
        """The coefficient of variation of the powers."""
        return self.cov if self.power_cov is None else self.power_cov

    def _faults(self) -> Iterator[Fault]:
        whole = isinstance(self.samples, int) and not isinstance(self.samples, bool)
        if not whole or not LEAST_SAMPLES <= self.samples <= MOST_SAMPLES:
            needed = f"a whole number from {LEAST_SAMPLES} to {MOST_SAMPLES:,}"
            yield Fault(("samples",), str(self.samples), needed, "1000 is enough for most")
        for name, cov in (("cov", self.cov), ("power-cov", self.power_cov)):
            low, high = ends_of(0.0 if cov is None else cov)
            if cov is not None and not 0.0 <= low <= high <= LARGEST_COV:  # false for NaN too
                yield Fault((name,), written(cov), NEEDED_COV, "correct it")
        if not 1 <= len(self.percentiles) <= MOST_PERCENTILES:
            needed = f"1 to {MOST_PERCENTILES} percentiles"
            yield Fault(("percentiles",), str(len(self.percentiles)), needed, "name some, as in 5/50/95")
        for each in self.percentiles:
            if not 0.0 <= each <= 100.0:  # noqa: PLR2004 - percent
                yield Fault(("percentiles",), f"{each:g}", "numbers from 0 to 100", "correct it")
        if self.percentile is not None and not 0.0 < self.percentile <= 100.0:  # noqa: PLR2004 - percent
            needed = "a number above 0, up to 100"
            yield Fault(("percentile",), f"{self.percentile:g}", needed, "50 is the median")

    @classmethod
    def read(cls, text: str, *, ranks: bool = False) -> RiskOptions:
        """Read the options from one text; with `ranks`, `percentile` is one of them.

        Raises
        ------
        InstanceError
            If a key is unknown or given twice, or a number is none or out of its range.
        """
        given, faults = _taken_apart(text, (*KEYS, "percentile") if ranks else KEYS)
        values = {key: _read(key, value, faults) for key, value in given.items()}
        if faults:
            raise InstanceError(SOURCE, tuple(faults))
        return cls(**{key.replace("-", "_"): value for key, value in values.items()})  # type: ignore[arg-type]


def ends_of(cov: Cov) -> tuple[float, float]:
    """Return the least and the largest coefficient of variation."""
    return cov if isinstance(cov, tuple) else (cov, cov)


def written(cov: Cov) -> str:
    """Return a coefficient of variation as it is given on the command line.

    >>> written(0.3), written((0.1, 1.5))
    ('0.3', '0.1-1.5')
    """
    return f"{cov[0]:g}-{cov[1]:g}" if isinstance(cov, tuple) else f"{cov:g}"


def _taken_apart(text: str, keys: tuple[str, ...]) -> tuple[dict[str, str], list[Fault]]:
    """Return the values by key, and what is wrong with the keys."""
    given: dict[str, str] = {}
    faults: list[Fault] = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        key, sign, value = (each.strip() for each in part.partition("="))
        if key not in keys:
            faults.append(Fault((key[:40],), "an unknown key", f"one of {', '.join(keys)}", "correct it"))
        elif not sign or not value:
            faults.append(Fault((key,), "no value", f"{key}=...", "give one"))
        elif key in given:
            faults.append(Fault((key,), "two values", "one", "leave one out"))
        else:
            given[key] = value
    return given, faults


def _read(key: str, value: str, faults: list[Fault]) -> object:
    """Return one value; what is none is added to the faults."""
    try:
        match key:
            case "samples":
                return _whole(value)
            case "percentiles":
                return tuple(_number(each) for each in value.split("/"))
            case "percentile":
                return _number(value)
            case _:
                return _cov(value)
    except ValueError:
        needed = {
            "samples": "a whole number",
            "percentiles": "numbers with slashes, as in 5/50/95",
            "percentile": "a number",
        }.get(key, NEEDED_COV)
        faults.append(Fault((key,), repr(value[:40]), needed, "correct it"))
        return None


def _cov(value: str) -> Cov:
    try:
        return _number(value)
    except ValueError:
        dash = value.index("-", 1)
        while value[dash - 1] in "eE":  # of an exponent, as in 1e-3-0.5
            dash = value.index("-", dash + 1)
        return _number(value[:dash]), _number(value[dash + 1 :])


def _whole(value: str) -> int:
    number = _number(value)
    if not number.is_integer():
        raise ValueError(value)
    return int(number)


def _number(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number
