"""`lpsched measure`: run a bench on this machine, and use its measurements."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lpsched.cli import options
from lpsched.cli.console import Console, cancellable, console_of, exit_with_status, print_notice
from lpsched.cli.options import ENDINGS, output_option
from lpsched.errors import LpschedWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements


# The outputs of `lpsched measure`: a bag, a facility, a figure, a page, and its answer.
OfMachine = TypeVar("OfMachine", "Bench", "Measurements")


def named(measured: OfMachine, machine_type: str | None) -> OfMachine:
    """Return a bench or measurements of a machine type of this name; the same without one."""
    from pydantic_core import PydanticCustomError

    from lpsched.model.fields import check_name

    if machine_type is None:
        return measured
    try:
        return measured.model_copy(update={"machine_type": check_name(machine_type)})
    except PydanticCustomError as error:
        raise typer.BadParameter(error.message(), param_hint="--machine-type") from None  # in our four parts


def warn(sentences: Iterable[str]) -> None:
    """Print warnings on stderr, a line each, unless --quiet is given."""
    for sentence in sentences:
        warnings.warn(sentence, LpschedWarning, stacklevel=1)


@dataclass(frozen=True, slots=True)
class MeasureOutputs:
    """The files to write besides measurements."""

    bag: Path | None
    facility: Path | None
    figure: Path | None
    report: Path | None

    def write(self, measurements: Measurements) -> list[str]:
        """Write them; return their names."""
        files = [*self._instances(measurements)]
        if self.figure is not None:
            from lpsched.io.figure_files import write_figure
            from lpsched.report.figures.measured import measure_figure

            write_figure(measure_figure(measurements), self.figure)
            files.append(str(self.figure))
        if self.report is not None:
            from lpsched.io.content import write_files
            from lpsched.report.html.measurements import measure_page

            write_files({self.report: measure_page(measurements).encode()})
            files.append(str(self.report))
        return files

    def _instances(self, measurements: Measurements) -> Iterable[str]:
        from lpsched.instances import write
        from lpsched.measure.bags import bag_of
        from lpsched.measure.facilities import facility_of

        if self.bag is not None:
            bag = bag_of([measurements], name=self.bag.stem)
            warn(bag.remarks)
            yield from map(str, write(bag.instance, self.bag))
        if self.facility is not None:
            facility = facility_of([measurements], name=self.facility.stem)
            warn(facility.remarks)
            yield from map(str, write(facility.instance, self.facility))

    def answer(self, console: Console, measurements: Measurements, files: list[str], **more: Any) -> None:  # noqa: ANN401
        """Print the measurements and the names of the files."""
        from lpsched.cli.console import header
        from lpsched.report.measured_tables import measurements_shown

        content, tables = measurements_shown(measurements)
        answer = header("lpsched-measure/1", measurements) | content
        console.answer(answer | {"files": files} | more, tables)


def measure(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="BENCH", help="The bench, or measurements to show: a .yaml or .json file.", readable=False
        ),
    ],
    output: Annotated[
        Path | None, output_option("-o", "--output", endings=ENDINGS, help="The measurements; a bench needs it.")
    ] = None,
    *,
    machine_type: Annotated[str | None, typer.Option(help="Name of this type of machine; replaces the file's.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume; skip finished runs.")] = False,
    time_limit: Annotated[
        float | None, options.time_limit_option("Time limit in seconds or with a unit; then the measurements so far.")
    ] = None,
    bag: Annotated[
        Path | None, output_option("--bag", endings=ENDINGS, help="Write a bag of tasks for 'lpsched solve'.")
    ] = None,
    facility: Annotated[
        Path | None,
        output_option(
            "--facility", endings=ENDINGS, help="Write a facility in the default room for 'lpsched facility'."
        ),
    ] = None,
    figure: options.Figure = None,
    report: options.Report = None,
) -> None:
    """Measure times, powers and co-location of programs on this machine.

    Examples
    --------
    lpsched new bench -o bench.yaml
    lpsched measure bench.yaml -o node.yaml --bag bag.yaml
    """
    from lpsched.io.documents import read_document
    from lpsched.measure.files import read_measurements
    from lpsched.model.kinds import format_of, name_of

    made = MeasureOutputs(bag, facility, figure, report)
    if name_of(format_of(read_document(file).value) or "") == "measurements":
        only = {"--output": output, "--resume": resume or None, "--time-limit": time_limit}
        options.reject(only, "for measurements", "a bench")
        measurements = named(read_measurements(file), machine_type)
        made.answer(console_of(context), measurements, made.write(measurements))
        return
    from lpsched.measure.session import read_bench_here

    bench = named(read_bench_here(file), machine_type)
    if output is None:
        raise options.usage_error("--output", "nothing", "a file for the measurements of a bench", "add it")
    _run(console_of(context), bench, file.parent, output, made, resume=resume, time_limit=time_limit)


def _run(
    console: Console,
    bench: Bench,
    folder: Path,
    output: Path,
    made: MeasureOutputs,
    *,
    resume: bool,
    time_limit: float | None,
) -> None:
    from lpsched.measure.files import samples_beside, write_measurements
    from lpsched.measure.session import Session
    from lpsched.units import counted

    session, samples = Session(bench, folder), samples_beside(output)
    if made.facility is not None and session.stage.meters.energy is None:
        why = " ".join(session.stage.absent[:1]) or "the bench asks for none."
        why = why.rstrip(".")
        raise options.usage_error(
            "--facility", f"no power meter ({why})", "one: a facility needs powers", "leave it out"
        )
    warn(session.absent)
    if not console.quiet:
        least, most = session.run_counts
        runs = counted(most, "run") if least == most else f"{least:,} to {counted(most, 'run')}"
        print_notice(f"{counted(len(session.settings), 'setting')}, {runs}; each is kept in {samples}")
    ends = "what runs is ended, the runs made so far stay, and --resume goes on"
    with cancellable(console, time_limit, follows=ends, all_signals=True) as cancel:
        found = session.run(samples, cancel, resume=resume, overwrite=console.force)
    warn(found.remarks)
    if found.measurements.seconds or not cancel.is_stopped:
        found.require_something()
        write_measurements(found.measurements, output)
        files = [str(output), str(samples), *([] if cancel.is_stopped else made.write(found.measurements))]
        made.answer(console, found.measurements, files, runs=found.runs, unfinished=found.unfinished)
    if found.unfinished and not console.quiet:
        print_notice(f"{found.unfinished:,} of {len(session.settings):,} settings need more runs: --resume goes on")
    exit_with_status(cancel)
