"""What packed tasks of days and of clusters have in common: arrival, type and utility of each."""

from __future__ import annotations

from typing import Protocol


class _HasColumns(Protocol):
    @property
    def arrivals(self) -> bytes: ...

    @property
    def types(self) -> bytes: ...

    @property
    def utilities(self) -> bytes: ...


class ArrivingColumns:
    """Columns of doubles and 64-bit numbers, one of each per task."""

    __slots__ = ()

    @property
    def count(self: _HasColumns) -> int:
        """How many tasks there are."""
        return len(memoryview(self.arrivals).cast("d"))

    @property
    def arrival_seconds(self: _HasColumns) -> memoryview[float]:
        """When each arrives."""
        return memoryview(self.arrivals).cast("d")

    @property
    def type_numbers(self: _HasColumns) -> memoryview[int]:
        """The type of each."""
        return memoryview(self.types).cast("q")

    @property
    def utility_numbers(self: _HasColumns) -> memoryview[int]:
        """Which of `told` each has."""
        return memoryview(self.utilities).cast("q")
