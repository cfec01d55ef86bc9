"""The nodes of a facility as buyers of watts: what each runs at its price, and as which columns.

Shared by all programs of a facility: patterns depend neither on temperatures nor on limits. Units inside are
kilowatts, and rewards in shares of what all arrivals together would bring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.facility_relaxation import FacilityPrices
from lpsched.formulations.node_patterns import NodeKind
from lpsched.lp.master import Columns, with_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.formulations.facility_relaxation import NodePattern
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.program import LinearProgram

KILO: Final = 1000.0
SLACK: Final = 1.01  # between what a variable can be and its upper limit
PENALTY: Final = 100.0  # for a kilowatt or a kelvin beyond a limit: times the largest worth of a kilowatt
HOTTEST: Final = 1000.0  # kelvin: more than any air is too hot or too cold
MARGIN: Final = 0.05  # of the prices: how far beyond them patterns are looked for
NEIGHBOURS: Final = 1  # patterns on each side of the best that a node is offered as well

Run = tuple[int, "NodePattern"] | None  # a node and its pattern; `None` for a column of something else


class NodeMarket:
    """All nodes; each may stand for several that are alike in everything (`copies`)."""

    def __init__(
        self, arrays: FacilityArrays, copies: Floats | None = None, kinds: list[NodeKind] | None = None
    ) -> None:
        self.arrays = arrays
        self.copies = np.ones(len(arrays.node_type)) if copies is None else copies
        self.kinds = kinds or [NodeKind(arrays, j) for j in range(len(arrays.cores))]
        self.members = [np.flatnonzero(arrays.node_type == j) for j in range(len(self.kinds))]
        self.earns = arrays.rewards * arrays.arrivals
        self.unit = float(self.earns.sum()) or 1.0
        self.flow = np.where(arrays.arrivals > 0, arrays.arrivals, 1.0)
        self.hungriest = [self._hungriest(kind) for kind in self.kinds]
        hungry = np.array([pattern.watts for pattern in self.hungriest])[arrays.node_type]
        self.overhead = self.copies * arrays.overhead_watts[arrays.node_type] / KILO
        self.most = self.overhead + self.copies * hungry / KILO

    def _hungriest(self, kind: NodeKind) -> NodePattern:
        """Return the pattern that takes most watts: the best one if watts are paid for."""
        envelope = kind.envelope(np.zeros_like(self.arrays.rewards), -1.0, -1.0)
        return kind.pattern(envelope.codes[0])

    def first_runs(self) -> list[tuple[int, NodePattern]]:
        """Return the hungriest pattern of each node: with idling, every power that can be is a mixture."""
        return [(v, self.hungriest[j]) for v, j in enumerate(self.arrays.node_type.tolist())]

    def dearest(self) -> float:
        """Return what a kilowatt could be worth at most: a core's best reward for it."""
        arrays = self.arrays
        runs = (arrays.speeds > 0) & (arrays.watts > 0)
        earned = np.where(runs, arrays.rewards[:, None] * arrays.speeds, 0.0)
        per_watt = earned / np.where(runs, arrays.watts, 1.0)
        return float(per_watt.max(initial=0.0)) * KILO / self.unit or 1.0

    def best(self, worths: Floats, prices: Floats) -> tuple[Floats, list[tuple[int, NodePattern]]]:
        """Return what each node gains at its price of a kilowatt, and patterns that it may run there."""
        gains = np.zeros(len(prices))
        runs: list[tuple[int, NodePattern]] = []
        for kind, nodes in zip(self.kinds, self.members, strict=True):
            if not len(nodes):
                continue
            own = prices[nodes] / KILO
            low, high = float(own.min()), float(own.max())
            margin = MARGIN * max(abs(low), abs(high))
            envelope = kind.envelope(worths, low - margin, high + margin)
            best = envelope.at(own)
            gains[nodes] = envelope.worths[best] - own * envelope.watts[best]
            patterns = [kind.pattern(code) for code in envelope.codes]
            for step in range(-NEIGHBOURS, NEIGHBOURS + 1):
                near = best + step
                there = (near >= 0) & (near < len(patterns))
                chosen = zip(nodes[there].tolist(), near[there].tolist(), strict=True)
                runs += [(v, patterns[q]) for v, q in chosen if patterns[q].runs]
        return gains, runs

    def begun(
        self, master: LinearProgram, runs: Sequence[tuple[int, NodePattern]]
    ) -> tuple[LinearProgram, list[Run]]:
        """Return a program with columns for these patterns, and what all its columns stand for."""
        return with_columns(master, self.columns(runs)), [*[None] * len(master.costs), *runs]

    def prices(  # noqa: PLR0913 - one for each kind of limit
        self,
        *,
        worths: Floats,
        cap: float,
        redlines: Floats,
        crac_redlines: Floats,
        cooling: Floats,
        nodes: Floats,
    ) -> FacilityPrices:
        """Return multipliers in reward per second and SI units; a node's is that of its kilowatts."""
        gains, _ = self.best(worths, nodes)
        per_watt = self.unit / KILO
        return FacilityPrices(
            arrivals=np.maximum(self.arrays.rewards - worths * self.unit, 0.0),
            tasks=worths * self.unit,
            cap=cap * per_watt,
            redlines=redlines * self.unit,
            crac_redlines=crac_redlines * self.unit,
            cooling=cooling * per_watt,
            nodes=gains * self.unit,
            watts=nodes * per_watt,
        )

    def columns(self, runs: Sequence[tuple[int, NodePattern]]) -> Columns:
        """Return patterns of nodes as columns of the rows of demand, nodes and power, in that order."""
        types, nodes = len(self.flow), len(self.overhead)
        rows, values, starts = [], [], [0]
        cells: dict[int, tuple[list[int], list[float]]] = {}
        for v, pattern in runs:
            if id(pattern) not in cells:
                use = np.flatnonzero(pattern.rates)
                cells[id(pattern)] = (use.tolist(), (-pattern.rates[use] / self.flow[use]).tolist())
            at, rates = cells[id(pattern)]
            rows += [*at, types + v, types + nodes + v]
            values += [*rates, 1.0, -pattern.watts / KILO]
            starts.append(len(rows))
        return Columns(
            costs=np.zeros(len(runs)),
            upper=SLACK * self.copies[[v for v, _ in runs]],
            starts=np.array(starts, dtype=np.int32),
            rows=np.array(rows, dtype=np.int32),
            values=np.array(values, dtype=float),
        )
