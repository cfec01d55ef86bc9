"""Measurements that can be joined in one's head."""

from __future__ import annotations

from lpsched.measure.measurements import MeasuredApplication, MeasuredMachine, Measurements, Meters
from lpsched.model.fields import FrozenDict


def table(rows):
    return FrozenDict({name: FrozenDict(row) for name, row in rows.items()})


FULL = table({"calm": {"calm": 0.0, "wild": 0.25}, "wild": {"calm": 0.1, "wild": 1.0}})
BY_CLASS = table({"I": {"I": 0.0, "III": 0.25}, "III": {"I": 0.1, "III": 1.0}})


def old(**changes) -> Measurements:
    """Two cores, 40 W idle; calm takes 2 s and 10 W more, wild 4 s and 20 W more."""
    plain = Measurements(
        name="bench",
        machine_type="old",
        machine=MeasuredMachine("a processor", "Linux", ((0,), (1,))),
        meters=Meters("wall clock", "watts.sh", "the outlet"),
        applications=(
            MeasuredApplication("calm", ("count",), 10, "I"),
            MeasuredApplication("wild", ("scan",), 5, "III"),
        ),
        seconds=FrozenDict({"calm": (2.0,), "wild": (4.0,)}),
        watts=FrozenDict({"calm": (50.0,), "wild": (60.0,)}),
        idle_watts=40.0,
        degradation_in_full=FULL,
        degradation=BY_CLASS,
    )
    return plain.model_copy(update=changes)


def new(**changes) -> Measurements:
    """Four cores at two clocks, 100 W idle, which never ran wild."""
    plain = old(
        machine_type="new",
        machine=MeasuredMachine("another", "Linux", ((0,), (1,), (2,), (3,))),
        applications=(MeasuredApplication("calm", ("count",), 10, "I"),),
        seconds=FrozenDict({"calm": (1.0, 1.6)}),
        watts=FrozenDict({"calm": (130.0, 112.0)}),
        frequencies_mhz=(3400.0, 1700.0),
        idle_watts=100.0,
        degradation_in_full=table({"calm": {"calm": 0.2}}),
        degradation=table({"I": {"I": 0.2}}),
    )
    return plain.model_copy(update=changes)
