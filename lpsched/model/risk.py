"""Uncertain times and powers: options, samples of times and powers, and the distribution of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.fields import LARGEST_COV, FrozenDict
from lpsched.model.results import JsonObject, brief, json_of, plain
from lpsched.units import duration, energy_text, html_table, number, percent

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask


# Options: how many samples, how far times and powers scatter, which percentiles.
#
# On the command line it is one text, `samples=1000,cov=0.3,power-cov=0.1-1.5,percentiles=5/50/95`:
#
#    samples       how often every task's time and power are drawn
#    cov           coefficient of variation of the times: one number for all, a range `low-high` from which
#                  every pair and P-state gets its own, evenly, or `file`: the instance's tables of them
#    power-cov     the same for the powers; as `cov` where it is not given, as in the thesis
#    percentiles   which ones to report, with slashes
#    percentile    only where a front is evolved: rank by this percentile of the samples, not by the tables
OF_FILE: Final = "file"
Cov: TypeAlias = float | tuple[float, float] | Literal["file"]
LEAST_SAMPLES: Final = 2  # a standard deviation needs two
MOST_SAMPLES: Final = 10_000_000
MOST_PERCENTILES: Final = 100
PERCENTILES: Final = (5.0, 25.0, 50.0, 75.0, 95.0)
NEEDED_COV: Final = f"a number from 0 (certain) to {LARGEST_COV:g}, two of them as a range, or 'file'"
KEYS: Final = ("samples", "cov", "power-cov", "percentiles")


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """What to sample.

    Raises
    ------
    InstanceError
        If a number is out of its range; the error lists every error.

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
        """Reject what cannot be sampled."""
        issues = tuple(self._issues())
        if issues:
            raise InstanceError("", issues)

    @property
    def powers(self) -> Cov:
        """The coefficient of variation of the powers."""
        return self.cov if self.power_cov is None else self.power_cov

    def _issues(self) -> Iterator[InputIssue]:
        whole = isinstance(self.samples, int) and not isinstance(self.samples, bool)
        if not whole or not LEAST_SAMPLES <= self.samples <= MOST_SAMPLES:
            needed = f"a whole number from {LEAST_SAMPLES} to {MOST_SAMPLES:,}"
            yield InputIssue(("samples",), str(self.samples), needed, "1000 is enough for most")
        for name, cov in (("cov", self.cov), ("power-cov", self.power_cov)):
            if cov is None or cov == OF_FILE:
                continue
            low, high = cov if isinstance(cov, tuple) else (cov, cov)
            if isinstance(cov, str) or not 0.0 <= low <= high <= LARGEST_COV:  # false for NaN too
                yield InputIssue((name,), written(cov), NEEDED_COV, "correct it")
        if not 1 <= len(self.percentiles) <= MOST_PERCENTILES:
            needed = f"1 to {MOST_PERCENTILES} percentiles"
            yield InputIssue(("percentiles",), str(len(self.percentiles)), needed, "name some, as in 5/50/95")
        for each in self.percentiles:
            if not 0.0 <= each <= 100.0:  # noqa: PLR2004 - percent
                yield InputIssue(("percentiles",), f"{each:g}", "numbers from 0 to 100", "correct it")
        if self.percentile is not None and not 0.0 < self.percentile <= 100.0:  # noqa: PLR2004 - percent
            needed = "a number above 0, up to 100"
            yield InputIssue(("percentile",), f"{self.percentile:g}", needed, "50 is the median")

    @classmethod
    def read(cls, text: str, *, ranks: bool = False) -> RiskOptions:
        """Read the options from one text; with `ranks`, `percentile` is one of them.

        Raises
        ------
        InstanceError
            If a key is unknown or given twice, or a number is none or out of its range.
        """
        keys = (*KEYS, "percentile") if ranks else KEYS
        values: dict[str, Any] = {}
        issues: list[InputIssue] = []
        for part in filter(None, (each.strip() for each in text.split(","))):
            key, sign, value = (each.strip() for each in part.partition("="))
            read, needed = READ.get(key, (_cov, NEEDED_COV))
            if key not in keys:
                issues.append(InputIssue((key[:40],), "an unknown key", f"one of {', '.join(keys)}", "correct it"))
            elif not sign or not value:
                issues.append(InputIssue((key,), "no value", f"{key}=...", "give one"))
            elif key in values:
                issues.append(InputIssue((key,), "two values", "one", "leave one out"))
            else:
                values[key] = None
                try:
                    values[key] = read(value)
                except ValueError:
                    issues.append(InputIssue((key,), repr(value[:40]), needed, "correct it"))
        if issues:
            raise InstanceError("", tuple(issues))
        return cls(**{key.replace("-", "_"): value for key, value in values.items()})


def written(cov: Cov) -> str:
    """Return a coefficient of variation as it is given on the command line.

    >>> written(0.3), written((0.1, 1.5))
    ('0.3', '0.1-1.5')
    """
    if isinstance(cov, str):
        return cov
    return f"{cov[0]:g}-{cov[1]:g}" if isinstance(cov, tuple) else f"{cov:g}"


def _cov(value: str) -> Cov:
    if value == OF_FILE:
        return OF_FILE
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


READ: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "samples": (_whole, "a whole number"),
    "percentiles": (lambda text: tuple(map(_number, text.split("/"))), "numbers with slashes, as in 5/50/95"),
    "percentile": (_number, "a number"),
}


# Gamma distributions cut into equally likely bins, each stood for by its mean.
#
# Of a gamma distribution with mean 1 and coefficient of variation v, shape k = 1 / v^2, and y = log x:
#
#     density of y  ~  exp(k (y - exp y))        F = its integral        L = the integral of density * exp y
#
# L over F is the Lorenz curve: which part of the mean comes from the smallest F of all values. Both are
# summed up on a grid of y that is denser towards large values, until the density has fallen by exp(-40). The
# mean of the values between the quantiles q / Q and (q + 1) / Q is then
#
#     Q (L((q + 1) / Q) - L(q / Q))
#
# and since L goes from 0 to 1, the mean of all bins is 1, exactly. What a bin's mean leaves out is the
# variance within bins: of 256 bins 0.08 % of all variance at v = 0.1, 0.4 % at v = 1, 0.8 % at v = 1.5, 6 %
# at v = 5.
#
# Source: Friese, thesis of 2015, section 7.3.2, which cuts gamma distributions into bins too.
BINS: Final = 256  # so that a draw is one byte
POINTS: Final = 4096
DECAY: Final = 40.0  # exp(-40) is 4e-18
SURE: Final = 1e-6  # below, a coefficient of variation makes no difference


def bin_means(cov: float, bins: int = BINS) -> Floats:
    """Return the means of equally likely bins of a gamma distribution with mean 1, rising.

    >>> bin_means(1.0, 2).round(4).tolist()  # of an exponential one: 1 - log 2 and 1 + log 2
    [0.3069, 1.6931]
    """
    if cov < SURE:
        return np.ones(bins)
    shape = 1.0 / (cov * cov)
    far = DECAY / shape  # exp y - 1 - y at both ends of the grid
    low = -(1.0 + far) if far > 1.0 else -2.0 * math.sqrt(far)
    high = math.log1p(2.0 * far) if far > 1.0 else math.sqrt(2.0 * far)
    steps: Floats = np.linspace(1.0, 0.0, POINTS) ** 2  # denser towards large values
    y = high - (high - low) * steps
    density = np.exp(shape * (y - np.expm1(y)))
    mass, share = (_integral(each, y) for each in (density, density * np.exp(y)))
    lorenz = np.interp(np.arange(bins + 1) / bins, mass, share)
    return bins * np.diff(lorenz)


def _integral(heights: Floats, y: Floats) -> Floats:
    """Return the integral up to each point, as a share of the whole."""
    parts = 0.5 * (heights[1:] + heights[:-1]) * np.diff(y)
    sums: Floats = np.concatenate(([0.0], np.cumsum(parts)))
    return np.asarray(sums / sums[-1])


# How far times and powers scatter: one coefficient of variation for each pair and P-state.
#
# The tables' seconds and watts are means. A task's own seconds and watts are gamma-distributed around them,
# each task by itself, with the coefficients of variation (standard deviation / mean) below. Where a range is
# given, each pair draws one of 64 values that divide the range evenly: so few that the bins of all of
# them stay in a processor's cache.
#
# Source: Friese, thesis of 2015, section 7.3.2.
LEVELS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Coefficients of variation, T x C; 0 is certain."""

    seconds_cov: Floats
    watts_cov: Floats


def spread_of(
    shape: tuple[int, int],
    options: RiskOptions,
    rng: np.random.Generator,
    of_file: Mapping[str, Floats] = MappingProxyType({}),
) -> Spread:
    """Return a coefficient for each pair and P-state: the one that is given, drawn from its range, or the file's.

    >>> spread = spread_of((2, 3), RiskOptions(cov=0.3, power_cov=(0.1, 0.2)), np.random.default_rng(0))
    >>> spread.seconds_cov.tolist(), bool((spread.watts_cov >= 0.1).all())
    ([[0.3, 0.3, 0.3], [0.3, 0.3, 0.3]], True)
    """
    given = {"seconds_cov": ("cov", options.cov), "watts_cov": ("power-cov", options.powers)}
    issues = [
        InputIssue((option,), f"'{OF_FILE}', but no table {key}", "a table of the instance", f"write {option}=0.3")
        for key, (option, cov) in given.items()
        if cov == OF_FILE and key not in of_file
    ]
    if issues:
        raise InstanceError("", tuple(issues))
    return Spread(
        **{key: of_file[key] if cov == OF_FILE else _drawn(shape, cov, rng) for key, (_, cov) in given.items()}
    )


def _drawn(shape: tuple[int, int], cov: Cov, rng: np.random.Generator) -> Floats:
    """Return the coefficients; a range takes as many draws, whatever its ends are."""
    if not isinstance(cov, tuple):
        return np.full(shape, float(cov))
    low, high = cov
    return low + (high - low) * (rng.integers(0, LEVELS, shape) + 0.5) / LEVELS


# Times and powers of single tasks, drawn once for all: common random numbers.
#
# Each of N tasks has, in each of S samples, one draw for its time and one for its power: the number of one of
# 256 equally likely bins. What the draw stands for depends on where the task runs: the mean of that bin of
# the pair's gamma distribution (`bin_means`), which is the table's mean times a number that only depends on
# the pair's coefficient of variation. So a task that is long in a sample is long on every machine and in every
# schedule, and two schedules are compared on the same samples. The bins' mean is the table's, exactly.
#
# One byte for a draw: 6,000 tasks and 100 samples take 1.2 MB, which stays in a processor's cache.
#
# Source: Friese, thesis of 2015, section 7.3.2.
Draws: TypeAlias = NDArray[np.uint8]
MOST_DRAWS: Final = 500_000_000  # bytes, of times and powers each
SPREADS, TASKS = 1, 2  # beside the seed, so that drawing the one moves no draw of the other


@dataclass(frozen=True, slots=True, eq=False)
class TaskDraws:
    """Bins of K spreads around 1, which spread each pair has, and which bin each task gets in each sample."""

    bins: Floats  # K x 256
    seconds: Floats  # T x C, as in the tables: means
    watts: Floats  # T x C
    time_spread: Integers  # T x C: a row of the bins
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S

    def seconds_of(self, task: int, pair: tuple[int, int]) -> Floats:
        """Return how long a task takes as such a pair, in each sample."""
        return np.asarray(self.seconds[pair] * self.bins[self.time_spread[pair]][self.time_draws[task]])

    def watts_of(self, task: int, pair: tuple[int, int]) -> Floats:
        """Return what a task draws as such a pair, in each sample."""
        return np.asarray(self.watts[pair] * self.bins[self.power_spread[pair]][self.power_draws[task]])


def task_draws(  # noqa: PLR0913 - tables and options
    tasks: int,
    seconds: Floats,
    watts: Floats,
    options: RiskOptions,
    seed: int,
    *,
    of_file: Mapping[str, Floats] = MappingProxyType({}),
) -> TaskDraws:
    """Draw for all tasks of a bag or a day whose tables, T x C, are these."""
    most = MOST_DRAWS // max(1, tasks)
    if options.samples > most:
        found = f"{options.samples:,} samples of {tasks:,} tasks"
        do = f"ask for {most:,} samples" if most >= LEAST_SAMPLES else "take fewer tasks"
        raise InstanceError("", (InputIssue(("samples",), found, f"at most {MOST_DRAWS:,} draws", do),))
    rows, columns = seconds.shape
    spread = spread_of((rows, columns), options, np.random.default_rng((seed, SPREADS)), of_file)
    covs = np.stack([spread.seconds_cov, spread.watts_cov])
    known, places = np.unique(covs, return_inverse=True)
    time_spread, power_spread = places.reshape(covs.shape)
    rng, shape = np.random.default_rng((seed, TASKS)), (tasks, options.samples)
    times, powers = (rng.integers(0, BINS, shape, dtype=np.uint8) for _ in range(2))
    bins = np.stack([bin_means(float(cov)) for cov in known])
    return TaskDraws(bins, seconds, watts, time_spread, power_spread, times, powers)


# The result: distributions of what a schedule takes and earns, and chances of events.
#
# Of S samples of a quantity: mean, standard deviation (the sum of squares divided by S - 1), standard error
# of the mean (that by sqrt(S)), percentiles. Of an event that h of S samples met, the chance h / S with the
# 95 % interval of Wilson (1927), which stays within 0 and 1 and is valid where h is 0:
#
#     (p + z^2 / 2S  +-  z sqrt(p (1 - p) / S + z^2 / 4S^2)) / (1 + z^2 / S),      p = h / S,  z = 1.96
Z: Final = 1.959963984540054  # the 97.5 % point of the normal distribution
NAMES: Final = {  # of quantities and chances, for people
    "profit_per_hour": "profit, {currency}/h",
    "utility": "utility",
    "makespan_seconds": "makespan",
    "energy_joules": "energy",
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
        return json_of(self, "", percentiles={f"{at:g}": value for at, value in self.percentiles.items()})

    def cells(self, quantity: str) -> tuple[str, ...]:
        """Return what was planned, the mean, the deviation and the percentiles, for a row."""
        numbers = (self.planned, self.mean, self.standard_deviation, *self.percentiles.values())
        if quantity == "makespan_seconds":
            return tuple(map(duration, numbers))
        return tuple(map(energy_text if quantity == "energy_joules" else number, numbers))


@dataclass(frozen=True, slots=True)
class Chance(JsonObject):
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


@dataclass(frozen=True, slots=True)
class Risk:
    """Distributions of sampled quantities, and chances of events.

    Attributes
    ----------
    samples, seed, cov, power_cov
        How it was sampled; coefficients of variation as on the command line.
    quantities
        Of a bag `makespan_seconds`, `energy_joules` and `profit_per_hour`, of a day `utility`,
        `energy_joules`, `makespan_seconds` and `dropped_tasks`; those that are known for the instance.
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
    __repr__ = brief

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as it appears in JSON; its keys are stable."""
        made = json_of(self, "samples seed cov power_cov") | dict(plain(self.quantities))
        matrix = {"of": list(self.quantities), "matrix": self.covariance}
        return made | json_of(self, "covariance chances", covariance=matrix)

    def name_of(self, quantity: str) -> str:
        """Return the name of a quantity, with its unit."""
        return NAMES[quantity].format(currency=self.currency)

    def of(self, quantity: str) -> tuple[str, ...]:
        """Return one quantity and all chances, as a part of a row; see `heads`."""
        chances = (percent(chance.share) for chance in self.chances.values())
        return (*self.quantities[quantity].cells(quantity), *chances)

    def heads(self) -> tuple[str, ...]:
        """Return the heads of the columns of `of`."""
        return (*self.headers()[1:], *(NAMES[name] for name in self.chances))

    def heading(self) -> str:
        """Return what was sampled."""
        own = {OF_FILE: "as in the file's tables"}
        of_times, of_powers = (own.get(each, each) for each in (self.cov, self.power_cov))
        covs = of_times if of_times == of_powers else f"{of_times}, of powers {of_powers}"
        return f"If times and powers scatter (coefficient of variation {covs}; {self.samples:,} samples)"

    def headers(self) -> tuple[str, ...]:
        """Return the heads of the columns of `rows`."""
        first = next(iter(self.quantities.values()))
        return ("", "planned", "mean", "deviation", *(f"{at:g} %" for at in first.percentiles))

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each quantity."""
        return [(self.name_of(name), *each.cells(name)) for name, each in self.quantities.items()]

    def chance_rows(self) -> list[tuple[str, str, str]]:
        """Return a row for each chance: the event, the share of samples, the confidence interval."""
        return [
            (NAMES[name], percent(each.share), f"95 % confidence: {percent(each.low)} to {percent(each.high)}")
            for name, each in self.chances.items()
        ]

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows()) + html_table(("", "", ""), self.chance_rows())


def risk_of_samples(
    quantities: Mapping[str, tuple[float | None, Floats]],
    events: Mapping[str, Mask],
    options: RiskOptions,
    seed: int,
    *,
    currency: str = "",
) -> Risk:
    """Return the risk of samples: quantities with what was planned, and events with the samples that met them."""
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
        chances=FrozenDict({name: Chance.of(int(met.sum()), options.samples) for name, met in events.items()}),
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
