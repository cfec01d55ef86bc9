"""What the runner needs of a machine: one run of a setting, a warm-up, and the power of doing nothing.

The machine itself is `machine_stage.py`; tests bring a stage whose numbers are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lpsched.instance.measurements import MeasuredMachine, Meters
    from lpsched.instance.setting import Sample, Setting
    from lpsched.watch import Watch


class Stage(Protocol):
    """A machine with its meters; nothing that it started is left running when a method returns or raises."""

    @property
    def machine(self) -> MeasuredMachine:
        """What was found out about the machine, and the places where applications run."""

    @property
    def meters(self) -> Meters:
        """What it measures with."""

    @property
    def frequencies_mhz(self) -> tuple[float, ...]:
        """The clocks that can be set, of those asked for, fastest first; empty where none can be."""

    @property
    def absent(self) -> tuple[str, ...]:
        """What was asked for and cannot be measured here, each in a sentence with its reason."""

    def warm_up(self, application: str, watch: Watch) -> str | None:
        """Run an application once, unmeasured; return why it failed, or `None`."""

    def idle_watts(self, watch: Watch) -> float | None:
        """Measure the idle machine; `None` without a meter, or if it failed."""

    def perform(self, setting: Setting, watch: Watch) -> Sample | None:
        """Run a setting once; `None` if the watch was over before the run had ended."""
