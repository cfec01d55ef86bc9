"""From what a search over outlet temperatures remembers to a proof that anybody can check.

The search thinks in kilowatts and shares of reward, and has the air solved: a price of each redline, and
theta of the heat of each unit. The proof has SI units, and prices of the air balances
(`facility/certificate/cooling.py`). With y = f kappa, and M the shares of inlet air,

    y_u = k_u theta_u at the units,      (I - M_NN)' y_N  =  r,      r = rho + M_CN' y_C,
    y_N  =  r + k (G' r),                because G = (I - M_NN)^-1 M_NN / k.

In floating point some redline's price would come out as minus a hair, which the checker refuses; so a hair is
added to all of them first. That costs the bound as little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import SolverError
from lpsched.facility.air import cop, inlet_mix
from lpsched.facility.certificate.boxes import HEAT, OUTLET, Box, Cut, FacilityCertificate, Step, proved
from lpsched.facility.certificate.facility import Prices, Proof
from lpsched.facility.outlets.box import BoxPrices
from lpsched.facility.patterns import KILO

if TYPE_CHECKING:
    from lpsched.facility.air import HeatMap
    from lpsched.facility.arrays import FacilityArrays
    from lpsched.facility.model import Facility
    from lpsched.facility.outlets.ascent import RecordedBox
    from lpsched.facility.outlets.search import OutletAnswer
    from lpsched.facility.patterns import FacilityRelaxation
    from lpsched.model.arrays import Floats

HAIR: Final = 1e-13  # of the largest price of air
IN_KILOWATTS: Final = ("least", "most")  # what steps about these make large; the others are in kelvin


def proof_of(
    facility: Facility, arrays: FacilityArrays, heat: HeatMap, answer: OutletAnswer, *, colocation: bool
) -> FacilityCertificate:
    """Return the certificate of the best bound that the record proves, in exact arithmetic."""
    translator = _Translator.of(facility, arrays, heat)
    boxes, floor = tuple(translator.box(each) for each in answer.record), answer.cutoff
    return _certified(facility, boxes, floor, None, colocation=colocation)


def proof_at(
    facility: Facility, arrays: FacilityArrays, heat: HeatMap, found: FacilityRelaxation, *, colocation: bool
) -> FacilityCertificate:
    """Return the certificate of the bound at fixed outlet temperatures.

    A watt of heat costs what its cooling takes from the cap, less what more heat is worth where a unit would
    have to heat.
    """
    prices = found.prices
    theta = prices.cap / cop(arrays, found.outlets) - prices.cooling
    air = np.concatenate((prices.redlines, prices.crac_redlines))
    translated = _Translator.of(facility, arrays, heat).prices(
        BoxPrices(prices.tasks, 0.0, prices.cap * KILO, air, theta * KILO, prices.nodes), 1.0
    )
    outlets = tuple(found.outlets.tolist())
    return _certified(facility, (Box(prices=translated),), 0.0, outlets, colocation=colocation)


def _certified(
    facility: Facility, boxes: tuple[Box, ...], floor: float, outlets: tuple[float, ...] | None, *, colocation: bool
) -> FacilityCertificate:
    """Return the certificate of what the boxes prove."""
    bound = proved(Proof(facility, colocation=colocation), boxes, floor, outlets)
    if isinstance(bound, str):
        raise SolverError(f"the bound of {facility.name} could not be proved exactly: {bound}")
    return FacilityCertificate(facility.name, facility.content_hash, colocation, bound, floor, boxes, outlets)


@dataclass(frozen=True, slots=True)
class _Translator:
    """Turns the prices of the search into those of the proof."""

    unit: float  # what a share of reward is worth
    units: int
    flows: Floats  # N + U
    per_kelvin: Floats  # N + U
    from_power: Floats | None  # G; none with a recirculation matrix: air then has the prices of redlines
    back: Floats | None  # M_CN

    @classmethod
    def of(cls, facility: Facility, arrays: FacilityArrays, heat: HeatMap) -> _Translator:
        """Work out what all prices need."""
        flows = np.concatenate((arrays.airflow[arrays.node_type], arrays.crac_airflow))
        solved = facility.mixing.form == "recirculation"
        nodes = len(arrays.node_type)
        return cls(
            unit=float(arrays.rewards @ arrays.arrivals) or 1.0,
            units=len(arrays.crac_airflow),
            flows=flows,
            per_kelvin=arrays.joules_per_m3_kelvin * flows,
            from_power=None if solved else heat.from_power,
            back=None if solved else inlet_mix(facility, arrays)[nodes:, :nodes],
        )

    def box(self, recorded: RecordedBox) -> Box:
        """Return a box with its prices in the terms of the proof."""
        steps = tuple(
            Step(limit, unit, self.prices(prices, KILO if limit in IN_KILOWATTS else 1.0))
            for limit, unit, prices in recorded.steps
        )
        if recorded.cut is not None:
            is_heat, unit, at, below, above = recorded.cut
            sides = HEAT if is_heat else OUTLET
            return Box(steps, Cut(sides, unit, at * KILO if is_heat else at, below, above))
        return Box(steps, None, None if recorded.prices is None else self.prices(recorded.prices, self.unit))

    def prices(self, found: BoxPrices, scale: float) -> Prices:
        """Return prices in SI units; `scale` is what a unit of the search's goal is."""
        nodes = len(self.flows) - self.units
        redlines, theta = found.air[:nodes] * scale, found.heat * scale / KILO
        if self.from_power is None or self.back is None:
            air = np.concatenate((redlines, theta))
        else:
            at_units = self.per_kelvin[nodes:] * theta
            size = max(float(np.abs(at_units).max(initial=0.0)), float(redlines.max(initial=0.0)))
            own = redlines + HAIR * size + at_units @ self.back
            own = own + self.per_kelvin[:nodes] * (own @ self.from_power)
            air = np.concatenate((own, at_units)) / self.flows
        return Prices(
            tasks=tuple((found.worths * scale).tolist()),
            cap=found.cap * scale / KILO,
            air=tuple(air.tolist()),
            unit_redlines=tuple((found.air[nodes:] * scale).tolist()),
            reward=found.reward * scale / self.unit,
        )
