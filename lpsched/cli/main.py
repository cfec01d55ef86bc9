"""The `lpsched` command: registers the commands, and turns every failure into one message and an exit code.

0    a verified answer was printed
1    there is none: infeasible, a rejected certificate, an invalid schedule, or a solver failed
2    bad input, or the answer could not be printed: no space left, or stdout is closed
130  interrupted
141  the reader of our output closed the pipe
"""

from __future__ import annotations

import errno
import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NoReturn

import typer

from lpsched.cli.console import Console, StoppedEarly, print_json, print_notice
from lpsched.cli.facility import facility
from lpsched.cli.files import certify, convert, expand, new, schema, show, verify
from lpsched.cli.front import front
from lpsched.cli.generate import generate_app
from lpsched.cli.imports import import_app
from lpsched.cli.measure import measure
from lpsched.cli.options import GLOBAL, add_command, new_app
from lpsched.cli.simulate import simulate
from lpsched.cli.solve import export, price, solve, whatif
from lpsched.cli.study import study_app
from lpsched.cli.validate import validate
from lpsched.errors import InputIssue, InstanceError, LpschedError, OutputError

NAME: Final = "lpsched"
NO_ANSWER, BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141
COMMANDS: Final[dict[str, tuple[Callable[..., None] | tuple[str, typer.Typer], ...]]] = {
    "Find the best": (solve, facility, front, price, whatif),
    "Compare and check": (validate, simulate, ("study", study_app), certify, verify),
    "Instances": (new, ("generate", generate_app), ("import", import_app), measure),
    "Files": (show, convert, expand, export, schema),
}
ALIASES: Final[dict[str, dict[str, str]]] = {  # old names of options
    "facility": {"--method": "--scheduler"},
    "front": {"--compare": "--scheduler"},
    "price": {"--lifetime-hours": "--lifetime"},
    "validate": {"--heuristic": "--scheduler", "--method": "--scheduler"},
    "simulate": {"--policy": "--scheduler", "--every-seconds": "--every", "--energy-gigajoules": "--energy"},
}

app = new_app(
    name=NAME,
    help="Schedules with proved bounds: what to run where, what it earns, and the most any schedule could earn.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for title, commands in COMMANDS.items():
    for each in commands:
        if isinstance(each, tuple):
            app.add_typer(each[1], name=each[0], rich_help_panel=title)
        else:
            add_command(app, each, section=title, aliases=ALIASES.get(each.__name__))


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callback
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"lpsched {version('lpsched')}\n")
        raise typer.Exit


@app.callback()
def _global_options(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No warnings, no progress.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print more on stderr, e.g. timings.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    _version: Annotated[
        bool, typer.Option("-V", "--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Console(as_json=as_json, quiet=quiet, verbose=verbose, force=force)
    context.obj.start_logging()


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    try:
        code = run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
        _discard_stdout()
    except OSError as error:  # of stdout: errors of files are an OutputError
        why = "stdout is closed" if error.errno == errno.EBADF else error.strerror or error
        print_notice(f"cannot print the answer: {why}; send it elsewhere")
        code = BAD_INPUT
        _discard_stdout()
    sys.exit(code)


def _prepare_streams() -> None:
    """Make sure that there are streams to print to, and that they take every character.

    An answer that is not printed in full must not end with 0. So a stdout that the caller closed becomes one
    that rejects every write; and an unbuffered one (PYTHONUNBUFFERED), which drops the rest of a write that
    ends early because the pipe was closed, becomes one that is buffered by lines.
    """
    own = sys.__stdout__
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    elif own is not None and sys.stdout is own and isinstance(own.buffer, io.RawIOBase):
        sys.stdout = os.fdopen(own.fileno(), "w", buffering=1, encoding=own.encoding, closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character gets its code instead
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Discard buffered output, or the exit would fail to flush it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@functools.cache
def _command() -> Callable[..., Any]:
    """Build the tree of commands once for all calls of `run` in a process: it takes a tenth of a second."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command, print its error if there is one, and return the exit code."""
    wanted = [flag for flag in GLOBAL if flag in arguments]
    rest = [argument for argument in arguments if argument not in GLOBAL]
    as_json = "--json" in wanted
    try:
        with warnings.catch_warnings():  # what a command changes about warnings ends with it
            code = _command()([*wanted, *rest], prog_name=NAME, standalone_mode=False)
    except typer.TyperException as error:
        return _print_error("usage", error.format_message(), BAD_INPUT, as_json=as_json)
    except LpschedError as error:
        issues: Sequence[InputIssue] = getattr(error, "issues", ())
        code = BAD_INPUT if isinstance(error, InstanceError | OutputError) else NO_ANSWER
        return _print_error(error.code, str(error), code, as_json=as_json, issues=issues)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # Typer turns a closed pipe into a plain exit
            raise stop.__context__ from None
        raise
    except StoppedEarly:
        return INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:  # Typer turns Ctrl-C into this code
        return _print_error("interrupted", "interrupted", INTERRUPTED, as_json=as_json)
    return code if isinstance(code, int) else 0


def _print_error(kind: str, message: str, code: int, *, as_json: bool, issues: Sequence[InputIssue] = ()) -> int:
    """Print an error on stderr, with `--json` also as an object on stdout; return the exit code."""
    print_notice(message)
    if as_json:
        from importlib.metadata import version

        error = {"code": kind, "message": message, "faults": [issue.to_dict() for issue in issues]}
        print_json({"format": "lpsched-error/1", "lpsched": version("lpsched"), "error": error})
    return code
