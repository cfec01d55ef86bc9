"""How a schedule fares if tasks do not take what the tables say: what was sampled, in numbers and rows.

Of S samples of a quantity: mean, standard deviation (the sum of squares divided by S - 1), standard error of
the mean (that by sqrt(S)), percentiles. Of an event that h of S samples met, the chance h / S with the 95 %
interval of Wilson (1927), which stays within 0 and 1 and is honest where h is 0:

    (p + z^2 / 2S  +-  z sqrt(p (1 - p) / S + z^2 / 4S^2)) / (1 + z^2 / S),      p = h / S,  z = 1.96
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.frozen import FrozenDict
from lpsched.risk.options import RiskOptions, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.array_types import Floats, Mask

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import html_table, number, percent

Z: Final = 1.959963984540054  # the 97.5 % point of the normal distribution
NAMES: Final = {  # of quantities and chances, for people
    "profit_per_hour": "profit, {currency}/hour",
    "utility": "utility",
    "makespan_seconds": "makespan, seconds",
    "energy_joules": "energy, joules",
    "dropped_tasks": "dropped tasks",
    "loss": "chance of a loss",
    "after_deadline": "chance to end after the deadline",
    "over_power_cap": "chance to draw more than the power cap",
}


@dataclass(frozen=True, slots=True)
class Distribution:
    """A quantity over the samples; a moment that does not exist is `None`, as the mean of 1 / t may be."""

    planned: float | None  # if every task took exactly what the tables say
    mean: float | None
    standard_deviation: float | None
    standard_error: float | None  # of the mean
    percentiles: FrozenDict[float, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the quantity as it appears in JSON."""
        return {
            "planned": self.planned,
            "mean": self.mean,
            "standard_deviation": self.standard_deviation,
            "standard_error": self.standard_error,
            "percentiles": {f"{at:g}": value for at, value in self.percentiles.items()},
        }


@dataclass(frozen=True, slots=True)
class Chance:
    """The share of samples that met an event, and the 95 % interval of what it is a sample of."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, samples: int) -> Chance:
        """Return the chance of what `hits` of the samples met.

        >>> Chance.of(0, 1000).high  # z^2 / (1000 + z^2)
        0.0038267...
        """
        share, weight = hits / samples, Z * Z / samples
        middle = share + weight / 2.0
        half = Z * math.sqrt(share * (1.0 - share) / samples + weight / (4.0 * samples))
        low, high = (middle - half) / (1.0 + weight), (middle + half) / (1.0 + weight)
        return cls(share, 0.0 if hits == 0 else low, 1.0 if hits == samples else high)

    def to_dict(self) -> dict[str, float]:
        """Return the chance as it appears in JSON."""
        return {"share": self.share, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Risk:
    """What was sampled, and how it turned out.

    Attributes
    ----------
    samples, seed, cov, power_cov
        How it was sampled; coefficients of variation as on the command line.
    quantities
        Of a bag `makespan_seconds`, `energy_joules` and `profit_per_hour`, of a day `utility`,
        `energy_joules`, `makespan_seconds` and `dropped_tasks`; those that the instance tells.
    covariance
        Of the quantities, in their order; `None` where one of them has no variance.
    chances
        `loss` where the profit is known; `after_deadline` and `over_power_cap` where there is such a limit.
    """

    samples: int
    seed: int
    cov: str
    power_cov: str
    quantities: FrozenDict[str, Distribution]
    covariance: tuple[tuple[float | None, ...], ...]
    chances: FrozenDict[str, Chance]
    currency: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as it appears in JSON; its keys are stable."""
        return {
            "samples": self.samples,
            "seed": self.seed,
            "cov": self.cov,
            "power_cov": self.power_cov,
            **{name: each.to_dict() for name, each in self.quantities.items()},
            "covariance": {"of": list(self.quantities), "matrix": [list(row) for row in self.covariance]},
            "chances": {name: each.to_dict() for name, each in self.chances.items()},
        }

    def name_of(self, quantity: str) -> str:
        """Return what a quantity is, and its unit, in words."""
        return NAMES[quantity].format(currency=self.currency)

    def of(self, quantity: str) -> tuple[str, ...]:
        """Return one quantity and all chances, as a part of a row; see `heads`."""
        each = self.quantities[quantity]
        cells = (number(each.planned), number(each.mean), number(each.standard_deviation, 4))
        chances = (percent(chance.share) for chance in self.chances.values())
        return (*cells, *(number(value) for value in each.percentiles.values()), *chances)

    def heads(self) -> tuple[str, ...]:
        """Return the heads of the columns of `of`."""
        return (*self.headers()[1:], *(NAMES[name] for name in self.chances))

    def heading(self) -> str:
        """Say what was sampled."""
        covs = self.cov if self.cov == self.power_cov else f"{self.cov}, of powers {self.power_cov}"
        return f"if times and powers scatter (coefficient of variation {covs}; {self.samples:,} samples)"

    def headers(self) -> tuple[str, ...]:
        """Return the heads of the columns of `rows`."""
        first = next(iter(self.quantities.values()))
        return ("", "planned", "mean", "deviation", *(f"{at:g} %" for at in first.percentiles))

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each quantity."""
        return [
            (
                self.name_of(name),
                number(each.planned),
                number(each.mean),
                number(each.standard_deviation, 4),
                *(number(value) for value in each.percentiles.values()),
            )
            for name, each in self.quantities.items()
        ]

    def chance_rows(self) -> list[tuple[str, str, str]]:
        """Return a row for each chance: what of, how large, how sure we are."""
        return [
            (NAMES[name], percent(each.share), f"95 % sure: {percent(each.low)} to {percent(each.high)}")
            for name, each in self.chances.items()
        ]

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows()) + html_table(("", "", ""), self.chance_rows())


def told(
    quantities: Mapping[str, tuple[float | None, Floats]],
    events: Mapping[str, Mask],
    options: RiskOptions,
    seed: int,
    *,
    currency: str = "",
) -> Risk:
    """Sum up samples: quantities with what was planned, and events that happened in some."""
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = np.atleast_2d(np.cov(np.stack([drawn for _, drawn in quantities.values()])))
        distributions = {name: _distribution(*each, options.percentiles) for name, each in quantities.items()}
    return Risk(
        samples=options.samples,
        seed=seed,
        cov=written(options.cov),
        power_cov=written(options.powers),
        quantities=FrozenDict(distributions),
        covariance=tuple(tuple(map(_finite, row)) for row in matrix.tolist()),
        chances=FrozenDict(
            {name: Chance.of(int(met.sum()), options.samples) for name, met in events.items()}
        ),
        currency=currency,
    )


def _distribution(planned: float | None, drawn: Floats, percentiles: Sequence[float]) -> Distribution:
    deviation = float(drawn.std(ddof=1))
    values = np.percentile(drawn, percentiles).tolist()
    return Distribution(
        planned=planned,
        mean=_finite(float(drawn.mean())),
        standard_deviation=_finite(deviation),
        standard_error=_finite(deviation / len(drawn) ** 0.5),
        percentiles=FrozenDict(zip(percentiles, map(_finite, values), strict=True)),
    )


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
