"""What `facility` returns: a verified allocation, the bound of all of them, and what each limit is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import gap_text, html_table, number
from lpsched.result.facility_facts import UNIT, bound_fact, colocated, hottest_inlet, measured_keys, power

if TYPE_CHECKING:
    from lpsched.certificate.boxes import FacilityCertificate
    from lpsched.instance.frozen import FrozenDict
    from lpsched.result.provenance import Provenance
    from lpsched.result.status import Status
    from lpsched.schedule.facility import CoreAllocation, GangAllocation
    from lpsched.verify.facility import Measurement

FORMAT: Final = "lpsched-facility-result/1"


@dataclass(frozen=True, slots=True)
class FacilityWorth:
    """Marginal values of one more, in reward: derivatives of the LP bound at the outlet temperatures found.

    They say how the optimum of the linear program begins to change with a limit, and hold for small changes
    only: a whole kilowatt may bring far less than its derivative says. A node brings its cores and its
    overhead, in the place of a node of its type, on average; below 0 it costs more of the cap and of the
    redlines than its cores earn.
    """

    kilowatt: float  # under the cap, per second
    redline_kelvin: float  # all node redlines one kelvin higher, per second
    node_types: FrozenDict[str, float]  # one more node, per second
    task_types: FrozenDict[str, float]  # one more arriving task

    def to_dict(self) -> dict[str, Any]:
        """Return the marginal values as they appear in JSON."""
        return {
            "kilowatt": self.kilowatt,
            "redline_kelvin": self.redline_kelvin,
            "node_types": dict(self.node_types),
            "task_types": dict(self.task_types),
        }


@dataclass(frozen=True, slots=True)
class FacilityResult:
    """A verified allocation, what it was measured to bring and take, and the bound that none can pass."""

    method: str
    colocation: bool
    status: Status
    reward_rate: float
    bound: float
    gap: float | None
    fixed_outlets: bool  # whether value and bound are for given temperatures only
    boxes: int  # of outlet temperatures that the bound rests on
    certificate: FacilityCertificate | None  # of the bound in exact arithmetic, where it was asked for
    measured: Measurement
    cap_watts: float
    unit_names: tuple[str, ...]
    allocation: GangAllocation
    cores: CoreAllocation
    cores_reward_rate: float
    worth: FacilityWorth | None  # none where the linear program was not solved to the end
    timings: FrozenDict[str, float]
    provenance: Provenance

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched facility --json` prints; its keys are stable."""
        measured = measured_keys(self.measured, self.cap_watts)
        return (
            self.provenance.header(FORMAT)
            | measured
            | {
                "method": self.method,
                "colocation": self.colocation,
                "status": self.status.value,
                "reward_rate": self.reward_rate,
                "bound": self.bound,
                "unit": UNIT,
                "gap": self.gap,
                "fixed_outlets": self.fixed_outlets,
                "boxes": self.boxes,
                "exactly_proved": self.exactly_proved,
                "outlet_celsius": list(self.allocation.outlets_celsius),
                "cores_reward_rate": self.cores_reward_rate,
                "task_rates_per_second": list(self.rates),
                "worth": None if self.worth is None else self.worth.to_dict(),
                "timings": dict(self.timings),
            }
        )

    @property
    def exactly_proved(self) -> bool:
        """Whether the bound was derived in exact arithmetic, and is the one that the certificate claims."""
        return self.certificate is not None

    @property
    def rates(self) -> tuple[float, ...]:
        """Tasks of each type done in a second, co-location counted as the question does."""
        return self.measured.rates if self.colocation else self.measured.plain_rates

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        measured = self.measured
        at = "these" if self.fixed_outlets else "any"
        rows = [
            bound_fact(self.bound, exactly_proved=self.exactly_proved, at=at),
            ("value", f"{number(self.reward_rate)} {UNIT}", "verified: this allocation"),
            ("gap", gap_text(self.gap), self.status.value),
            power(measured, self.cap_watts),
            hottest_inlet(measured),
            (
                "core by core",
                f"{number(self.cores_reward_rate)} {UNIT}",
                "verified: every core divides its time on its own",
            ),
        ]
        if not self.colocation:
            rows.insert(2, colocated(measured))
        return rows

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())
