"""Files of `lpsched simulate`: the day that is read, and what is written of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from lpsched.cli.options import PICTURES, require_output, require_pictures
from lpsched.cli.talk import tell

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.instance.day import Day
    from lpsched.result.simulation import Simulation

GIGA = 1e9


def read_day(instance: Path, energy_gigajoules: float | None) -> Day:
    """Read the day, and change its energy constraint where that is asked.

    Raises
    ------
    typer.BadParameter
        If the file holds something else.
    """
    from dataclasses import replace

    from lpsched.files.instances import read_instance
    from lpsched.instance.day import Day

    day = read_instance(instance)
    if not isinstance(day, Day):
        raise typer.BadParameter(
            "is no day; needs a file with 'format: lpsched-day/1'", param_hint="INSTANCE"
        )
    if energy_gigajoules is None:
        return day
    return replace(day, period=replace(day.period, energy_constraint_joules=GIGA * energy_gigajoules))


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write: a schedule, pictures, a page."""

    schedule: Path | None
    figure: Path | None
    timeline: Path | None
    report: Path | None

    def require(self, names: tuple[str, ...], instance: Path) -> None:
        """Refuse what could not be written in the end.

        Raises
        ------
        typer.BadParameter
            If a schedule is asked for, and not of one policy.
        OutputError
            If a file cannot be written.
        MissingExtraError
            If Matplotlib is not installed, and something is to be drawn.
        """
        if self.schedule is not None:
            if len(names) > 1 or names == ("all",):
                raise typer.BadParameter("goes with one policy", param_hint="--output")
            require_output(self.schedule, (".csv", ".parquet"), instance)
        drawn = ((self.figure, PICTURES), (self.timeline, PICTURES), (self.report, (".html",)))
        for path, endings in drawn:
            if path is not None:
                require_output(path, endings, instance)
                require_pictures()

    def write(self, day: Day, result: Simulation) -> None:
        """Write them, as far as there is an answer."""
        from lpsched.files.day_schedules import write_day_schedule
        from lpsched.files.pictures import write_picture
        from lpsched.files.writing import write_files
        from lpsched.reports.simulation_page import simulation_page
        from lpsched.reports.simulation_picture import simulation_picture
        from lpsched.reports.timeline import timeline_of, timeline_picture

        if self.report is not None:
            write_files({self.report: simulation_page(day, result).encode()})
        best = result.best
        if best is None or best.schedule is None:
            for path in (self.schedule, self.figure, self.timeline):
                if path is not None:
                    tell(f"{path} is not written: no policy has an answer for the day")
            return
        if self.schedule is not None:
            write_day_schedule(best.schedule, self.schedule)
        if self.figure is not None:
            write_picture(simulation_picture(result), self.figure)
        if self.timeline is not None:
            write_picture(timeline_picture(timeline_of(day, best.schedule), best.name), self.timeline)
