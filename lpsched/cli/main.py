"""The `lpsched` command: registers the commands, and turns every failure into one message and an exit code.

0    a verified answer was printed
1    there is none: infeasible, a rejected certificate, an invalid schedule, a solver failed, or memory ran out
2    bad input, or the answer could not be printed: no space left, or stdout is closed
130  interrupted (SIGINT); 143 and 129: ended by SIGTERM or SIGHUP
141  the reader of our output closed the pipe
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import math
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NoReturn

import typer

from lpsched.cli.console import (
    ENDS,
    Console,
    StoppedEarly,
    Terminated,
    orderly_ends,
    print_help,
    print_json,
    print_lines,
    print_notice,
)
from lpsched.cli.curves import offer
from lpsched.cli.facility import facility
from lpsched.cli.files import certify, convert, expand, new, schema, show, verify
from lpsched.cli.front import front
from lpsched.cli.generate import generate_app
from lpsched.cli.imports import import_app
from lpsched.cli.measure import measure
from lpsched.cli.options import GLOBAL, add_command, expected_of, new_app, place_of
from lpsched.cli.price import price
from lpsched.cli.serve import serve
from lpsched.cli.simulate import simulate
from lpsched.cli.solve import export, solve
from lpsched.cli.study import study_app
from lpsched.cli.validate import validate
from lpsched.cli.whatif import whatif
from lpsched.errors import InputIssue, InstanceError, LpschedError, OutputError, nearest, quote, raise_signal_in

NAME: Final = "lpsched"
NO_ANSWER, BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141
ENDED: Final = (INTERRUPTED, *(128 + number for number in ENDS))
ENDING_SECONDS: Final = 1.0
COMMANDS: Final[dict[str, tuple[Callable[..., None] | tuple[str, typer.Typer], ...]]] = {
    "Find the best": (solve, facility, front, price, offer, whatif),
    "Show and share": (serve,),
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
OPTIONS: Final = {  # names of the library's options, where those of the command differ
    **{old: new for aliases in ALIASES.values() for old, new in aliases.items()},
    **{f"--{key}": f"--risk {key}" for key in ("samples", "cov", "power-cov", "percentiles", "percentile")},
    "--changes": "--set",
    "--leniency": "--energy-filter",
    "--policies": "--scheduler",
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

        print_lines([f"lpsched {version('lpsched')}"])
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
        with orderly_ends():
            code = run(given)
            with _ending(code) if code in ENDED else contextlib.nullcontext():
                sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
        _discard_stdout()
    except (KeyboardInterrupt, Terminated) as end:  # while the rest of the answer waited for its reader
        code = end.code if isinstance(end, Terminated) else INTERRUPTED
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


@contextlib.contextmanager
def _ending(code: int) -> Iterator[None]:
    """Exit with this code if what a signal ended cannot be printed in a second: a reader may have stopped reading."""
    timer = threading.Timer(ENDING_SECONDS, os._exit, (code,))
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no room for a thread
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@functools.cache
def _command() -> Callable[..., Any]:
    """Build the tree of commands once for all calls of `run` in a process: it takes a tenth of a second."""
    return typer.main.get_command(app)


NO_MEMORY: Final = re.compile("failed to map segment|Cannot allocate memory|can't start new thread")  # of libraries


def run(arguments: Sequence[str]) -> int:
    """Run one command, print its error if there is one, and return the exit code."""
    with contextlib.suppress(MemoryError):  # what filled it is let go of before the message is made
        try:
            return _run(arguments)
        except (ImportError, RuntimeError) as error:
            if not NO_MEMORY.search(str(error)):
                raise
    return _print_error("out-of-memory", _memory_ran_out(), NO_ANSWER, as_json="--json" in arguments)


def _run(arguments: Sequence[str]) -> int:
    wanted = [flag for flag in GLOBAL if flag in arguments]
    rest = [argument for argument in arguments if argument not in GLOBAL]
    as_json = "--json" in wanted
    try:
        with warnings.catch_warnings(), _signals_while_loading():  # what is changed about warnings ends with it
            code = _command()([*wanted, *rest], prog_name=NAME, standalone_mode=False)
    except (typer.TyperException, LpschedError) as error:
        return _print_failure(error, as_json=as_json)
    except Terminated as end:
        with _ending(end.code):
            return _print_error("terminated", f"ended by {end.signal}", end.code, as_json=as_json)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # Typer turns a closed pipe into a plain exit
            raise stop.__context__ from None
        raise
    except StoppedEarly:
        sys.stdout.flush()
        return INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:  # Typer turns Ctrl-C into this code
        with _ending(INTERRUPTED):
            return _print_error("interrupted", "interrupted", INTERRUPTED, as_json=as_json)
    return code if isinstance(code, int) else 0


@contextlib.contextmanager
def _signals_while_loading() -> Iterator[None]:
    """Raise a signal as it was: while compiled code of a package is loaded it becomes an `ImportError`."""
    try:
        yield
    except ImportError as error:
        raise_signal_in(error)
        raise


def _print_failure(error: typer.TyperException | LpschedError, *, as_json: bool) -> int:
    """Print a usage error or an error of lpsched; return the exit code."""
    if isinstance(error, typer.TyperException):
        if type(error).__name__ == "NoArgsIsHelpError":  # whose message is the help
            print_help(error.message)
            return _print_error("usage", error.message, BAD_INPUT, as_json=as_json, printed=True)
        return _print_error("usage", _usage_message(error), BAD_INPUT, as_json=as_json)
    issues: Sequence[InputIssue] = getattr(error, "issues", ())
    if isinstance(error, InstanceError) and not error.source:
        issues = tuple(map(_as_option, issues))
        error = InstanceError("", issues)
    code = BAD_INPUT if isinstance(error, InstanceError | OutputError) else NO_ANSWER
    return _print_error(error.code, str(error), code, as_json=as_json, issues=issues, has_lines=error.has_lines)


def _memory_ran_out() -> str:
    """Say how much memory was taken, how much is allowed, and what to do."""
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        kilobytes = 1024 if sys.platform != "darwin" else 1
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobytes // 2**20
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        allowed = (
            f"the limit is {most // 2**20:,} MB (ulimit -v)" if most != resource.RLIM_INFINITY else "no limit is set"
        )
        return f"memory ran out: {taken:,} MB were taken, {allowed}; use a machine with more, or a smaller instance"
    return "memory ran out; use a machine with more, or a smaller instance"


EXTRA_ARGUMENTS: Final = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)")
UNKNOWN_COMMAND: Final = re.compile(r"(?:No such command '(.*?)'|Missing command)\..*", re.DOTALL)


def _usage_message(error: typer.TyperException) -> str:
    """Translate a usage error of Typer: where, what was got, what is expected, and a hint.

    Typer has public names for few of the exceptions of its copy of click, so they are distinguished by their own names.
    """
    context: Any = getattr(error, "ctx", None)
    param: Any = getattr(error, "param", None)
    path = NAME if context is None else context.command_path
    see = f"see '{path} --help'"
    place = getattr(error, "param_hint", None) or ("" if param is None else place_of(param))
    option = getattr(error, "option_name", "")
    match type(error).__name__:
        case "MissingParameter" if param is not None:
            issue = InputIssue((place,), "nothing", expected_of(param), "add it")
        case "NoSuchOption":
            near = getattr(error, "possibilities", None)
            hint = f"did you mean {near[0]}?" if near else see
            issue = InputIssue((option,), "an unknown option", f"an option of '{path}'", hint)
        case "BadOptionUsage":
            known = () if context is None else context.command.get_params(context)
            found: Any = next((each for each in known if option in each.opts), None)
            if found is not None and found.is_flag:
                issue = InputIssue((option,), "a value", "none", "leave it out")
            else:
                issue = InputIssue((option,), "no value", "a value" if found is None else expected_of(found), "add it")
        case "BadParameter":
            cause: Any = error.__cause__
            if param is None or not hasattr(cause, "errors"):
                return f"{place}: {error.message}" if place else error.message
            issue = _invalid_value(param, place, cause.errors()[0]["input"])
        case _ if extra := EXTRA_ARGUMENTS.fullmatch(error.message):
            issue = InputIssue((path.removeprefix(f"{NAME} "),), quote(extra[1]), "no such argument", see)
        case _ if (unknown := UNKNOWN_COMMAND.fullmatch(error.message)) and context is not None:
            known = context.command.list_commands(context)
            got, near = ("nothing", "") if unknown[1] is None else (quote(unknown[1]), nearest(unknown[1], known))
            issue = InputIssue(("COMMAND",), got, f"one of {', '.join(known)}", near or see)
        case _:
            return f"{path}: {error.format_message()}"
    return str(issue)


def _as_option(issue: InputIssue) -> InputIssue:
    """Return an issue of an option of a library function as one of the command's option, which has the same name."""
    first, *rest = map(str, issue.path or ("options",))
    option = first if first.startswith("-") else f"--{first.replace('_', '-')}"
    return replace(issue, path=(" ".join((OPTIONS.get(option, option), *rest)),))


def _invalid_value(param: Any, place: str, value: object) -> InputIssue:  # noqa: ANN401 - Typer hides the class
    """Return the issue of a value that is no number or word of those that an option takes."""
    text, choices = str(value), param.type_descriptor.choices
    if choices:
        return InputIssue((place,), quote(text), expected_of(param), nearest(text, choices) or "choose one")
    percent = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?) ?%", text) if param.type_descriptor.annotation is float else None
    hint = f"write {float(percent[1]) / 100:g}" if percent else "write a plain number"
    with contextlib.suppress(ValueError):
        hint = "correct it" if math.isfinite(float(text)) else hint
    return InputIssue((place,), quote(text), expected_of(param), hint)


def _print_error(
    kind: str,
    message: str,
    code: int,
    *,
    as_json: bool,
    issues: Sequence[InputIssue] = (),
    printed: bool = False,
    has_lines: bool = False,
) -> int:
    """Print an error on stderr, with `--json` also as an object on stdout; return the exit code."""
    if not printed:
        print_notice(*(message.split("\n") if has_lines else [message]))
    if as_json:
        from importlib.metadata import version

        error = {"code": kind, "message": message, "faults": [issue.to_dict() for issue in issues]}
        print_json({"format": "lpsched-error/1", "lpsched": version("lpsched"), "error": error})
    return code
