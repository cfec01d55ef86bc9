"""A certificate for a day: the bound of its utility, and the prices that prove it to anybody."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.arrivals import DayCertificate
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.arrivals import arrival_bound

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.relaxation import ArrivalPrices
    from lpsched.watch import Watch


def certify_day(day: Day, *, time_limit: float | None = None, watch: Watch | None = None) -> DayCertificate:
    """Find a bound that no schedule of the day can pass, and the prices that prove it.

    Raises
    ------
    MissingExtraError
        If Numba is not installed; who checks the certificate needs none.
    """
    found = arrival_bound(day, time_limit=time_limit, watch=watch)
    return certificate_of(day, found.prices, found.bound)


def certificate_of(day: Day, prices: ArrivalPrices, bound: float) -> DayCertificate:
    """Return the certificate that these prices make, claiming so much."""
    names = (machine.name for machine in day.machine_types)
    rows = (tuple(Fraction(each) for each in row) for row in prices.per_second.tolist())
    return DayCertificate(
        instance_name=day.name,
        instance_hash=day.content_hash,
        bound=Fraction(bound),
        edges=tuple(Fraction(each) for each in prices.edges.tolist()),
        machine_prices=FrozenDict(zip(names, rows, strict=True)),
        per_joule=Fraction(prices.per_joule),
    )
