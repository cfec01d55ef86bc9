"""Files of `lpsched simulate`: the day or clusters that are read, and what is written of the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from lpsched.cli.options import PICTURES, refuse, require_output, require_pictures
from lpsched.cli.talk import tell

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.cli.simulation_options import Cost, Weight
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.result.simulation import Simulation
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.schedule.day import DaySchedule

GIGA = 1e9
SCHEDULES = (".csv", ".parquet")
TRACES = (".swf", ".swf.gz", "_jobs.csv")  # whose rows are of all tasks


@dataclass(frozen=True, slots=True)
class Changes:
    """What is asked for in place of what the file says."""

    energy_gigajoules: float | None
    cost: Cost | None
    weight: Weight | None


def read_arriving(path: Path, changes: Changes) -> Day | Clusters:
    """Read a day or clusters, and change what is asked.

    Raises
    ------
    typer.BadParameter
        If the file holds something else, or the changes have no meaning for it.
    """
    from lpsched.files.instances import read_instance
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day

    instance = read_instance(path)
    if isinstance(instance, Clusters):
        return _changed_clusters(instance, changes)
    if not isinstance(instance, Day):
        needed = "needs a file with 'format: lpsched-day/1' or 'format: lpsched-clusters/1'"
        raise typer.BadParameter(f"is no day and no clusters; {needed}", param_hint="INSTANCE")
    costs = {"--cost": changes.cost, "--weight": changes.weight}
    refuse(costs, "is for clusters whose tasks are judged by what they wait")
    if changes.energy_gigajoules is None:
        return instance
    joules = GIGA * changes.energy_gigajoules
    return replace(instance, period=replace(instance.period, energy_constraint_joules=joules))


def _changed_clusters(clusters: Clusters, changes: Changes) -> Clusters:
    """Change the energy constraint, or what waiting costs: clusters have one or the other."""
    costs = {"--cost": changes.cost, "--weight": changes.weight}
    energy = {"--energy-gigajoules": changes.energy_gigajoules}
    if clusters.waiting is None:
        refuse(costs, "is for clusters whose tasks are judged by what they wait; these have a utility")
        if clusters.watts is None:
            refuse(energy, "needs watts, and the file has none")
        if changes.energy_gigajoules is None:
            return clusters
        joules = GIGA * changes.energy_gigajoules
        return replace(clusters, period=replace(clusters.period, energy_constraint_joules=joules))
    refuse(energy, "is for tasks with a utility; these are judged by what they wait, and all have to run")
    waiting = clusters.waiting
    if changes.cost is not None:
        waiting = replace(waiting, measure=changes.cost.value, points=())
    if changes.weight is not None:
        waiting = replace(waiting, weight=changes.weight.value)
    return clusters if waiting == clusters.waiting else replace(clusters, waiting=waiting)


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write: a schedule, pictures, a page."""

    schedule: Path | None
    figure: Path | None
    timeline: Path | None
    report: Path | None

    def require(self, names: tuple[str, ...], path: Path) -> None:
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
            require_ending(self.schedule, (*SCHEDULES, *TRACES))
            require_output(self.schedule, (self.schedule.suffix.lower(),), path)
        drawn = ((self.figure, PICTURES), (self.timeline, PICTURES), (self.report, (".html",)))
        for output, endings in drawn:
            if output is not None:
                require_output(output, endings, path)
                require_pictures()

    def write(self, instance: Day | Clusters, result: Simulation) -> None:
        """Write them, as far as there is an answer."""
        from lpsched.files.pictures import write_picture
        from lpsched.files.writing import write_files
        from lpsched.reports.simulation_page import simulation_page
        from lpsched.reports.simulation_picture import simulation_picture
        from lpsched.reports.simulation_times import times_picture

        if self.report is not None:
            write_files({self.report: simulation_page(instance, result).encode()})
        best = result.best
        if best is None or best.schedule is None:
            for path in (self.schedule, self.figure, self.timeline):
                if path is not None:
                    tell(f"{path} is not written: no policy has an answer for the day")
            return
        if self.schedule is not None:
            _write_schedule(instance, best.schedule, self.schedule)
        if self.figure is not None:
            write_picture(simulation_picture(result), self.figure)
        if self.timeline is not None:
            write_picture(times_picture(instance, best), self.timeline)


def require_ending(output: Path, endings: tuple[str, ...]) -> None:
    """Refuse a file whose name ends otherwise.

    Raises
    ------
    OutputError
        If it does.
    """
    from lpsched.errors import OutputError

    if not output.name.lower().endswith(endings):
        raise OutputError(f"cannot write {output}: needs the ending {' or '.join(endings)}; choose one")


def _write_schedule(instance: Day | Clusters, schedule: DaySchedule | ClustersSchedule, path: Path) -> None:
    """Write a schedule, or all tasks of a simulated trace."""
    from lpsched.files.cluster_schedules import write_clusters_schedule
    from lpsched.files.day_schedules import write_day_schedule
    from lpsched.schedule.day import DaySchedule
    from lpsched.traces.told_tasks import export_schedule

    if path.name.lower().endswith(TRACES):
        export_schedule(instance, schedule, path)
    elif isinstance(schedule, DaySchedule):
        write_day_schedule(schedule, path)
    else:
        write_clusters_schedule(schedule, path)
