"""`lpsched study`: run a declared study, and report its runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lpsched.cli.console import cancellable, console_of, exit_with_status, print_notice
from lpsched.cli.options import (
    ENDINGS,
    LINES,
    Figure,
    Report,
    add_command,
    epilog_of,
    new_app,
    output_option,
    reject,
    words_of,
    write_figure_and_page,
)

if TYPE_CHECKING:
    from lpsched.studies.executors import Executor

study_app = new_app(
    help="Run a study of many solves and simulations, and report it.",
    epilog=epilog_of("lpsched new study -o study.yaml", "lpsched study run study.yaml"),
)


def study_run(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="The study: a .yaml or .json file.", readable=False)],
    output: Annotated[
        Path | None,
        output_option(
            "-o", "--output", endings=(LINES,), help="One line of JSON per run; by default beside the study."
        ),
    ] = None,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Resume; skip finished runs.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Resume; repeat failed runs.")] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes that share the work; by default one per core.", min=1)
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the workers of a Dask scheduler: tcp://HOST:PORT.")
    ] = None,
) -> None:
    """Run a study; write one line of JSON per finished run.

    Examples
    --------
    lpsched new study -o study.yaml
    lpsched study run study.yaml --jobs 2
    """
    from lpsched.studies.executors import use_one_thread

    use_one_thread()  # before NumPy is loaded by one of these
    from lpsched.report.studies import run_tables
    from lpsched.studies.running import run_study
    from lpsched.studies.study import lines_of

    if dask is not None:
        reject({"--jobs": jobs}, "with --dask", "one of them")
    lines = lines_of(study) if output is None else output
    executor, console = _executor(jobs, dask), console_of(context)
    ends = "runs under way are waited for, those written stay, and --resume goes on"
    with cancellable(console, None, follows=ends) as cancel:
        summary = run_study(
            study,
            lines,
            executor=executor,
            resume=resume,
            retry_failed=retry_failed,
            overwrite=console.force,
            cancel=cancel,
        )
    if summary.versions:
        print_notice(f"some of the lines were made by lpsched {', '.join(summary.versions)}")
    if summary.others:
        print_notice(f"{summary.others:,} lines are of runs that the study no longer has; they stay")
    console.answer(summary.to_dict(), run_tables(summary))
    exit_with_status(cancel)


def _executor(jobs: int | None, dask: str | None) -> Executor:
    """Return the executor of the runs: Dask workers, several processes, or this process."""
    from lpsched.studies.executors import LocalExecutor
    from lpsched.studies.running import SerialExecutor

    if dask is not None:
        from lpsched.studies.dask_executor import DaskExecutor

        return DaskExecutor(dask)
    wanted = _cores() if jobs is None else jobs
    return SerialExecutor() if wanted == 1 else LocalExecutor(wanted)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def study_report(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The lines (.jsonl) of a study, or the study.", readable=False)],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns that distinguish groups of runs: instances, method, any parameter, limit. By default those "
            "that differ.",
        ),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Quantities to report, of the runs' results, or seconds. By default gap,value,bound.",
        ),
    ] = None,
    output: Annotated[
        Path | None, output_option("-o", "--output", endings=(".csv",), help="Write the table in full precision.")
    ] = None,
    figure: Figure = None,
    report: Report = None,
) -> None:
    """Report the finished runs of a study; nothing is solved.

    Examples
    --------
    lpsched new study -o study.yaml
    lpsched study run study.yaml
    lpsched study report study.yaml --by method -o table.csv
    """
    from lpsched.instances import read_with_kind
    from lpsched.io.content import write_files
    from lpsched.report.studies import report_csv, report_tables
    from lpsched.studies.report import study_report as report_of
    from lpsched.studies.study import lines_of

    lines = lines_of(file) if file.suffix.lower() in ENDINGS else file
    if lines != file and not lines.exists():
        read_with_kind(file, ("study",))  # is it one at all?
    result = report_of(lines, by=words_of(by) or None, quantities=words_of(value) or None)
    if output is not None:
        write_files({output: report_csv(result)})
    if figure is not None or report is not None:
        from lpsched.report.figures.comparisons import study_figure
        from lpsched.report.html.comparisons import study_page

        write_figure_and_page(figure, report, lambda: study_figure(result), lambda: study_page(result))
    console_of(context).answer(result.to_dict(), report_tables(result))


add_command(study_app, study_run, "run", aliases={"--scheduler": "--dask"})
add_command(study_app, study_report, "report")
