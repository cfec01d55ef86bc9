"""What a bench measures: an application, what runs beside it and at which clock; and one run of that."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to be measured, several times.

    Attributes
    ----------
    application
        The one whose time is taken, on the first core.
    beside
        Those that run on the next cores, started again whenever they end, so that the load stays the same;
        empty: it runs alone. Sorted, so that equal settings are equal.
    mhz
        The clock that the cores are set to; `None`: whatever the machine chooses.
    batch
        All are started at once and none again, and the time is that until the last has ended. This is what
        tells how much energy running together saves; `application` is then just the first in order.

    Examples
    --------
    >>> Setting("canneal", ("bodytrack", "canneal")).together
    ('bodytrack', 'canneal', 'canneal')
    """

    application: str
    beside: tuple[str, ...] = ()
    mhz: float | None = None
    batch: bool = False

    @property
    def together(self) -> tuple[str, ...]:
        """Everything that runs, sorted."""
        return tuple(sorted((self.application, *self.beside)))

    def __str__(self) -> str:
        """Name it for messages and tables.

        >>> str(Setting("a", ("b", "c"), 1700.0)), str(Setting("a", ("b",), batch=True)), str(Setting("a"))
        ('a beside b, c at 1700 MHz', 'a with b, until all have ended', 'a alone')
        """
        clock = "" if self.mhz is None else f" at {self.mhz:g} MHz"
        if self.batch:
            return f"{self.application} with {', '.join(self.beside)}, until all have ended{clock}"
        beside = f"beside {', '.join(self.beside)}" if self.beside else "alone"
        return f"{self.application} {beside}{clock}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a setting; what no meter told is `None`.

    Attributes
    ----------
    seconds
        From the start of the application until it ended; `None` if the run failed.
    joules
        Of everything that the meter sees, from the start to the end of the application.
    misses, instructions
        Last-level cache misses and instructions of the measured application alone.
    restarts
        How often one of those beside it was started again.
    failure
        Why there is no time, in words: a time limit, an exit code, a signal, a program that is not there.
    """

    setting: Setting
    seconds: float | None
    joules: float | None = None
    misses: float | None = None
    instructions: float | None = None
    restarts: int = 0
    failure: str | None = None
