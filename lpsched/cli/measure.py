"""`lpsched measure`: run the applications of a bench on this machine, and tell what they take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.options import Figure, Report, refuse
from lpsched.cli.patience import StoppedEarly, watched
from lpsched.cli.talk import talk_of, tell

if TYPE_CHECKING:
    from lpsched.cli.measured import Made
    from lpsched.cli.talk import Talk
    from lpsched.instance.bench import Bench


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
        Path | None,
        typer.Option("-o", "--output", help="What was measured: .yaml or .json. A bench needs it."),
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
    bag: Annotated[
        Path | None, typer.Option(help="Make a bag of it, for 'lpsched solve': .yaml or .json.")
    ] = None,
    facility: Annotated[
        Path | None,
        typer.Option(help="Make a facility of it, in a plain room, for 'lpsched facility': .yaml or .json."),
    ] = None,
    figure: Figure = None,
    report: Report = None,
) -> None:
    """Measure times, powers and co-location of applications on this machine: alone and together."""
    from lpsched.cli.measured import Made, holds_measurements, named
    from lpsched.files.measurements import read_measurements

    made = Made(bag, facility, figure, report)
    made.require_places(file, output)
    if holds_measurements(file):
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
    talk: Talk,
    bench: Bench,
    folder: Path,
    output: Path,
    made: Made,
    *,
    resume: bool,
    time_limit: float | None,
) -> None:
    from lpsched.cli.measured import warn
    from lpsched.files.measurements import write_measurements
    from lpsched.files.sample_lines import samples_beside
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
