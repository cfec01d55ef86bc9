"""The choices of some offers at any prices: the best of each, or all that are near it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.arrival_choices import look
from lpsched.formulations.arrival_tables import (
    grid_of,
    room_for_choices,
    room_for_corners,
    tables_of,
)

if TYPE_CHECKING:
    from lpsched.formulations.arrival_offers import Offers
    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.formulations.arrival_tables import Found
    from lpsched.instance.array_types import Floats

ROOM: Final = 8  # near choices of an offer, more or less
SPARE: Final = 1.3  # times as much room as was needed


class Looker:
    """Looks at the choices of some offers on some slots, at any prices."""

    def __init__(self, offers: Offers, edges: Floats) -> None:
        self.edges = np.array(edges, dtype=float)
        self._tables = tables_of(offers)
        self._types = np.array(offers.task_type, dtype=np.int64)
        self._room = ROOM * offers.count
        self._order = np.lexsort((offers.function, offers.task_type)).astype(np.int64)

    def best(self, prices: ArrivalPrices) -> Found:
        """Return the best choice of each offer."""
        return self._looked(prices, None, 1)

    def near(self, prices: ArrivalPrices, floor: Floats) -> Found:
        """Return the choices above the floors; if there are more than there is room for, it is enlarged."""
        found = self._looked(prices, floor, self._room)
        while found.number[0] > len(found.offer):
            self._room = int(SPARE * found.number[0])
            found = self._looked(prices, floor, self._room)
        return found

    def _looked(self, prices: ArrivalPrices, floor: Floats | None, room: int) -> Found:
        corners = room_for_corners(self._tables.seconds.shape[1], len(self.edges))
        found = room_for_choices(len(self._types), floor, room, must_run=self._tables.waits)
        look(self._tables, grid_of(self.edges, prices), corners, found, self._order, self._types)
        return found
