"""The `lpsched` command: registers the commands, and turns every failure into one message and an exit code.

0    a verified answer was printed
1    there is none: infeasible, a refused certificate, an invalid schedule, or a solver failed
2    bad input, or the answer could not be printed: no space left, or stdout is closed
130  interrupted
141  whoever read our output closed it
"""

from __future__ import annotations

import errno
import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Final, NoReturn

import typer

from lpsched.cli.console import StoppedEarly, Talk, print_json, tell
from lpsched.cli.facility import facility
from lpsched.cli.files import certify, convert, expand, new, schema, show, verify
from lpsched.cli.front import front
from lpsched.cli.generate import generate_app
from lpsched.cli.imports import import_app
from lpsched.cli.measure import measure
from lpsched.cli.simulate import simulate
from lpsched.cli.solve import export, price, solve, whatif
from lpsched.cli.study import study_app
from lpsched.cli.validate import validate
from lpsched.errors import Fault, InstanceError, LpschedError, OutputError

GLOBAL: Final = ("--json", "--quiet", "--verbose")
EPILOG: Final = "--json, --quiet and --verbose may stand anywhere; see 'lpsched --help'."
ANSWERLESS, BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141

app = typer.Typer(
    name="lpsched",
    help="The most any schedule could earn, a real schedule that comes near, and what each part is worth.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    solve,
    facility,
    front,
    price,
    validate,
    simulate,
    measure,
    whatif,
    certify,
    verify,
    expand,
    export,
    show,
    convert,
    new,
    schema,
):
    app.command(epilog=EPILOG)(command)
app.add_typer(generate_app, name="generate")
app.add_typer(import_app, name="import")
app.add_typer(study_app, name="study")


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
    verbose: Annotated[bool, typer.Option("--verbose", help="Say more on stderr, timings too.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Talk(as_json=as_json, quiet=quiet, verbose=verbose)
    context.obj.start_logging()


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _have_streams()
    try:
        code = run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
        _give_up_stdout()
    except OSError as error:  # files' errors are told as such; this is the answer that could not be printed
        why = "stdout is closed" if error.errno == errno.EBADF else error.strerror or error
        tell(f"cannot print the answer: {why}; send it elsewhere")
        code = BAD_INPUT
        _give_up_stdout()
    sys.exit(code)


def _have_streams() -> None:
    """Make sure that there is something to print to, and that every letter can be printed.

    An answer that is not printed in full must not end with 0. So a stdout that the caller closed becomes one
    that rejects every write; and an unbuffered one (PYTHONUNBUFFERED), which drops the rest of a write that
    ends early because the reader is gone, becomes one that is buffered by lines.
    """
    own = sys.__stdout__
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    elif own is not None and sys.stdout is own and isinstance(own.buffer, io.RawIOBase):
        sys.stdout = os.fdopen(own.fileno(), "w", buffering=1, encoding=own.encoding, closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets its code instead
            stream.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Let what is still waiting to be printed flow into nothing, or the exit would fail over it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@functools.cache
def _command() -> Callable[..., object]:
    """Build the tree of commands once for all calls of `run` in a process: it takes a tenth of a second."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return the exit code, after any error has been told."""
    wanted = [flag for flag in GLOBAL if flag in arguments]
    rest = [argument for argument in arguments if argument not in GLOBAL]
    as_json = "--json" in wanted
    try:
        with warnings.catch_warnings():  # what a command changes about warnings ends with it
            code = _command()([*wanted, *rest], standalone_mode=False)
    except typer.TyperException as error:
        return _told("usage", error.format_message(), BAD_INPUT, as_json=as_json)
    except LpschedError as error:
        code = BAD_INPUT if isinstance(error, InstanceError | OutputError) else ANSWERLESS
        return _told(error.code, str(error), code, as_json=as_json, faults=getattr(error, "faults", ()))
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # Typer turns a closed pipe into a plain exit
            raise stop.__context__ from None
        raise
    except StoppedEarly:
        return INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:  # Typer turns Ctrl-C into this code
        return _told("interrupted", "interrupted", INTERRUPTED, as_json=as_json)
    return code if isinstance(code, int) else 0


def _told(kind: str, message: str, code: int, *, as_json: bool, faults: Sequence[Fault] = ()) -> int:
    """Tell an error on stderr, and as an object on stdout where JSON was asked for; return the exit code."""
    tell(message)
    if as_json:
        from importlib.metadata import version

        error = {"code": kind, "message": message, "faults": [fault.to_dict() for fault in faults]}
        print_json({"format": "lpsched-error/1", "lpsched": version("lpsched"), "error": error})
    return code
