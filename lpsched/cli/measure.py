"""`lpsched measure`: run a bench on this machine, and use what it measured."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lpsched.cli.console import StoppedEarly, Talk, talk_of, tell, watched
from lpsched.cli.options import ENDINGS, PICTURES, Figure, Report, refuse, require_looks, require_output
from lpsched.errors import LpschedWarning, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measurements


# What `lpsched measure` makes of measurements: a bag, a facility, a picture, a page, and its answer.
OfMachine = TypeVar("OfMachine", "Bench", "Measurements")


def named(told: OfMachine, machine_type: str | None) -> OfMachine:
    """Return a bench or measurements of a machine type of this name; the same without one."""
    from pydantic_core import PydanticCustomError

    from lpsched.model.fields import check_name

    if machine_type is None:
        return told
    try:
        return told.model_copy(update={"machine_type": check_name(machine_type)})
    except PydanticCustomError as refused:
        raise typer.BadParameter(refused.message(), param_hint="--machine-type") from None


def warn(sentences: Iterable[str]) -> None:
    """Say something on stderr, a line each, unless it should be quiet."""
    for sentence in sentences:
        warnings.warn(sentence, LpschedWarning, stacklevel=1)


@dataclass(frozen=True, slots=True)
class Made:
    """The files that are asked for besides measurements."""

    bag: Path | None
    facility: Path | None
    figure: Path | None
    report: Path | None

    def require_places(self, file: Path, output: Path | None) -> None:
        """Refuse, before anything is run, what could not be written in the end."""
        instances, looks = (output, self.bag, self.facility), ((self.figure, PICTURES), (self.report, (".html",)))
        seen: set[Path] = set()
        for path, endings in (*((each, ENDINGS) for each in instances), *looks):
            if path is None:
                continue
            require_output(path, endings, file)
            if path.absolute() in seen:
                raise OutputError(f"cannot write {path}: two files of this name are asked for; choose another")
            seen.add(path.absolute())
        require_looks(file, figure=self.figure, report=self.report)

    def write(self, measurements: Measurements) -> list[str]:
        """Write what is asked for; return the files."""
        files = [*self._instances(measurements)]
        if self.figure is not None:
            from lpsched.io.pictures import write_picture
            from lpsched.report.figures.measured import measure_picture

            write_picture(measure_picture(measurements), self.figure)
            files.append(str(self.figure))
        if self.report is not None:
            from lpsched.io.content import write_files
            from lpsched.report.html.measurements import measure_page

            write_files({self.report: measure_page(measurements).encode()})
            files.append(str(self.report))
        return files

    def _instances(self, measurements: Measurements) -> Iterable[str]:
        from lpsched.instances import write_instance
        from lpsched.measure.bags import bag_of
        from lpsched.measure.facilities import facility_of

        if self.bag is not None:
            bag = bag_of([measurements], name=self.bag.stem)
            warn(bag.remarks)
            yield from map(str, write_instance(bag.instance, self.bag))
        if self.facility is not None:
            facility = facility_of([measurements], name=self.facility.stem)
            warn(facility.remarks)
            yield from map(str, write_instance(facility.instance, self.facility))

    def answer(self, talk: Talk, measurements: Measurements, files: list[str], **more: Any) -> None:  # noqa: ANN401
        """Print what was measured, and which files there are now."""
        from lpsched.cli.console import header
        from lpsched.report.measured_tables import measurements_shown

        content, tables = measurements_shown(measurements)
        answer = header("lpsched-measure/1", measurements) | content
        talk.answer(answer | {"files": files} | more, tables)


def measure(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="BENCH",
            help="The bench: a .yaml or .json file. Of a file of measurements nothing is run: it is shown.",
            readable=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="What was measured: .yaml or .json. A bench needs it.")
    ] = None,
    *,
    machine_type: Annotated[
        str | None, typer.Option(help="What this type of machine is called, in place of the file's.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with runs that are there: they are not made again.")
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; what was measured by then counts.", min=0.0)
    ] = None,
    bag: Annotated[Path | None, typer.Option(help="Make a bag of it, for 'lpsched solve': .yaml or .json.")] = None,
    facility: Annotated[
        Path | None,
        typer.Option(help="Make a facility of it, in a plain room, for 'lpsched facility': .yaml or .json."),
    ] = None,
    figure: Figure = None,
    report: Report = None,
) -> None:
    """Measure times, powers and co-location of applications on this machine: alone and together."""
    from lpsched.io.documents import read_document
    from lpsched.measure.files import read_measurements
    from lpsched.model.kinds import format_of, name_of

    made = Made(bag, facility, figure, report)
    made.require_places(file, output)
    if name_of(format_of(read_document(file).value) or "") == "measurements":
        only = {"--output": output, "--resume": resume or None, "--time-limit": time_limit}
        refuse(only, "goes with a bench, and these are measurements; drop it")
        measurements = named(read_measurements(file), machine_type)
        made.answer(talk_of(context), measurements, made.write(measurements))
        return
    if output is None:
        raise typer.BadParameter("needed for what a bench measures; name a file", param_hint="--output")
    from lpsched.measure.session import read_bench_here

    bench = named(read_bench_here(file), machine_type)
    _run(talk_of(context), bench, file.parent, output, made, resume=resume, time_limit=time_limit)


def _run(
    talk: Talk, bench: Bench, folder: Path, output: Path, made: Made, *, resume: bool, time_limit: float | None
) -> None:
    from lpsched.measure.files import samples_beside, write_measurements
    from lpsched.measure.session import Session

    session, samples = Session(bench, folder), samples_beside(output)
    if made.facility is not None and session.stage.meters.energy is None:
        why = " ".join(session.stage.absent[:1]) or "the bench asks for none."
        raise typer.BadParameter(f"a facility needs powers. {why}", param_hint="--facility")
    warn(session.absent)
    if not talk.quiet:
        least, most = session.run_counts
        tell(f"{len(session.settings):,} settings, {least:,} to {most:,} runs; each is kept in {samples}")
    ends = "what runs is ended, the runs made so far stay, and --resume goes on"
    with watched(talk, time_limit, follows=ends, all_signals=True) as watch:
        found = session.run(samples, watch, resume=resume)
    warn(found.remarks)
    if found.measurements.seconds or not watch.is_stopped:
        found.require_something()
        write_measurements(found.measurements, output)
        files = [str(output), str(samples), *([] if watch.is_stopped else made.write(found.measurements))]
        made.answer(talk, found.measurements, files, runs=found.runs, unfinished=found.unfinished)
    if found.unfinished and not talk.quiet:
        tell(f"{found.unfinished:,} of {len(session.settings):,} settings need more runs: --resume goes on")
    if watch.is_stopped:
        raise StoppedEarly
