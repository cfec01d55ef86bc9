"""`lpsched study`: run a declared study, and report what its lines say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.console import StoppedEarly, talk_of, tell, watched
from lpsched.cli.options import ENDINGS, Figure, Report, require_looks, require_output, words_of

if TYPE_CHECKING:
    from lpsched.studies.executors import Crew

study_app = typer.Typer(
    help="Run a declared study, and report what its lines say.", no_args_is_help=True, rich_markup_mode=None
)


@study_app.command("run")
def study_run(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="The study: a .yaml or .json file.", readable=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="One line of JSON for each run: .jsonl. By default beside the study."),
    ] = None,
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with lines that are there: their runs are not made again.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Go on, and make runs again that failed.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Processes of this machine; by default one for each core.", min=1)
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler whose workers make the runs: tcp://HOST:PORT.")
    ] = None,
) -> None:
    """Make every run of a study, and write each as one line of JSON as soon as it has ended."""
    from lpsched.studies.executors import use_one_thread

    use_one_thread()  # before NumPy is loaded by one of these
    from lpsched.report.studies import run_tables
    from lpsched.studies.lines import lines_of
    from lpsched.studies.running import run_study

    if scheduler is not None and jobs is not None:
        raise typer.BadParameter("goes without --scheduler, whose workers decide", param_hint="--jobs")
    lines = lines_of(study) if output is None else output
    require_output(lines, (".jsonl",), study)
    crew, talk = _crew(jobs, scheduler), talk_of(context)
    ends = "runs under way are waited for, those written stay, and --resume goes on"
    with watched(talk, None, follows=ends) as watch:
        summary = run_study(study, lines, crew=crew, resume=resume, retry_failed=retry_failed, watch=watch)
    if summary.versions:
        tell(f"some of the lines were made by lpsched {', '.join(summary.versions)}")
    if summary.others:
        tell(f"{summary.others:,} lines are of runs that the study no longer has; they stay")
    talk.answer(summary.to_dict(), run_tables(summary))
    if watch.is_stopped:
        raise StoppedEarly


def _crew(jobs: int | None, scheduler: str | None) -> Crew:
    """Return who makes the runs: a scheduler's workers, several processes, or this one alone."""
    from lpsched.studies.executors import LocalCrew
    from lpsched.studies.running import SerialCrew

    if scheduler is not None:
        from lpsched.studies.dask_executor import DaskCrew

        return DaskCrew(scheduler)
    wanted = _cores() if jobs is None else jobs
    return SerialCrew() if wanted == 1 else LocalCrew(wanted)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@study_app.command("report")
def study_report(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="The lines (.jsonl), or the study that they stand beside.", readable=False)
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns that tell groups of runs apart, with commas or repeated: instances, method, any "
            "parameter, limit. By default, those that differ."
        ),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(help="Numbers to tell, of the runs' outcomes, or seconds. By default gap, value, bound."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the table, numbers in full: a .csv file.")
    ] = None,
    figure: Figure = None,
    report: Report = None,
) -> None:
    """Tell what the lines of a study say; nothing is solved."""
    from lpsched.io.content import write_files
    from lpsched.io.pictures import write_picture
    from lpsched.report.studies import csv_text, report_tables
    from lpsched.studies.lines import lines_of
    from lpsched.studies.report import study_report as told_by

    lines = lines_of(file) if file.suffix.lower() in ENDINGS else file
    if output is not None:
        require_output(output, (".csv",), file, lines)
    require_looks(file, lines, figure=figure, report=report)
    told = told_by(lines, by=words_of(by) or None, quantities=words_of(value) or None)
    if output is not None:
        write_files({output: csv_text(told).encode()})
    if figure is not None:
        from lpsched.report.figures.comparisons import study_picture

        write_picture(study_picture(told), figure)
    if report is not None:
        from lpsched.report.html.validation import study_page

        write_files({report: study_page(told).encode()})
    talk_of(context).answer(told.to_dict(), report_tables(told))
