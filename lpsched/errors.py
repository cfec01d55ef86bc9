"""Every exception and warning of lpsched.

    LpschedError
    ├── InstanceError (also ValueError)   the user's input is invalid; lists every error
    ├── OutputError (also OSError)        an answer could not be written
    ├── MissingExtraError                 an optional package is needed for this
    ├── InfeasibleError                   no schedule exists
    ├── NotFoundError                     no schedule was found, but there may be one
    ├── SolverError                       a solver failed or answered nonsense
    │   └── InfeasibleProgramError        a solver says that a linear program has no solution
    ├── PolicyError                       a policy answered with something that cannot be
    ├── StalledError                      a policy mapped nothing, though there was something to map
    ├── WorkersError                      the workers of a study were lost, or cannot be used
    ├── MeasureError                      a machine cannot be measured, or no longer
    └── InvalidScheduleError              our own schedule failed verification: a bug of ours

    LpschedWarning (a UserWarning)        usable, but look at it again

An `InputIssue` says where it is, what was got, what is expected, and a hint. One function writes its sentence, so
all messages read alike.
"""

from __future__ import annotations

import contextlib
import difflib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from lpsched.text import printable

LONGEST_NAME: Final = 200
LONGEST_QUOTE: Final = 60
LONGEST_HASH: Final = 64
MOST_COMPARED: Final = 1000  # words compared for one suggestion
MOST_ISSUES: Final = 1000  # collected from one table or list; a file of junk has no end of them
LONGEST_STEP: Final = 200  # characters of a key in a place
MOST_SHOWN: Final = 100  # written out in a message


Place: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class InputIssue:
    """One error in an input: where it is, what was got, what is expected, and a hint.

    >>> print(InputIssue(("machine_types", 0, "count"), "0", "a whole number from 1 up", "correct it", line=4))
    line 4, machine_types[0].count: got 0, expected a whole number from 1 up; correct it
    """

    path: Place
    got: str
    expected: str
    hint: str
    line: int | None = None
    file: str | None = None

    @property
    def location(self) -> str:
        """File and line where they are known, then the path of keys."""
        place = ""
        for step in self.path:
            if isinstance(step, int):
                place += f"[{step}]"
            else:
                name = step if len(step) <= LONGEST_STEP else step[:LONGEST_STEP] + "..."
                place += ("." if place else "") + (name if name.isprintable() else repr(name))
        known = [self.file or "", f"line {self.line}" if self.line else "", place]
        return ", ".join(filter(None, known)) or "the file"

    def __str__(self) -> str:
        """Return the issue as one sentence."""
        return f"{self.location}: got {self.got}, expected {self.expected}; {self.hint}"

    def to_dict(self) -> dict[str, str]:
        """Return the issue as it appears in JSON; the keys are stable."""
        return {"where": self.location, "found": self.got, "needed": self.expected, "do": self.hint}


class LpschedError(Exception):
    """The base of every error that lpsched raises on purpose."""

    code = "error"
    has_lines = False  # whether the ends of lines in the message are layout; what is from a file has none then


class InstanceError(LpschedError, ValueError):
    """The input is invalid; `issues` lists every error in it, in file order, and `source` is what was read.

    Without a source the issues are about options of a function, each of which is named by its issue.
    """

    code = "bad-input"
    has_lines = True

    def __init__(self, source: str, issues: tuple[InputIssue, ...]) -> None:
        super().__init__(source, issues)  # so that the error can be pickled
        self.source, self.issues = source, issues

    def __str__(self) -> str:
        """Write a headline and one line for each error."""
        count = len(self.issues)
        lines = [f"{printable(self.source)}: {count} error{'' if count == 1 else 's'}"] if self.source else []
        lines += [printable(str(issue)) for issue in self.issues[:MOST_SHOWN]]
        if count > MOST_SHOWN:
            lines.append(f"... and {count - MOST_SHOWN} more; fix these first")
        return "\n  ".join(lines)


class OutputError(LpschedError, OSError):
    """An answer could not be written; nothing is left half written."""

    code = "output"

    def __str__(self) -> str:
        """Return the message, without the number that OSError would add."""
        return str(self.args[0])


class MissingExtraError(LpschedError):
    """An optional package is needed; the message says how to install it."""

    code = "missing-extra"
    has_lines = True

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(purpose, extra)  # so that the error can be pickled
        self.purpose, self.extra = purpose, extra

    def __str__(self) -> str:
        """Say what needs the extra, and on a line of its own the command that installs it."""
        command = install_command(*packages_of(self.extra))
        return f"{printable(self.purpose)} needs the extra '{self.extra}'; install it:\n    {command}"


def raise_signal_in(error: BaseException | None) -> None:
    """Raise the Ctrl-C that an `ImportError` stands for: it becomes one while compiled code of a package is loaded.

    Who takes the error for a missing package would lose it.
    """
    while error is not None:
        if not isinstance(error, Exception | GeneratorExit | SystemExit):
            raise error from None
        error = error.__cause__ or error.__context__


def packages_of(extra: str) -> list[str]:
    """Return the packages of an extra, as lpsched's metadata name them: pip finds these wherever lpsched came from.

    >>> packages_of("report")
    ['jinja2>=3.1.6', 'matplotlib>=3.10']
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - only a message needs it

    with contextlib.suppress(PackageNotFoundError):
        found = [line.partition(";") for line in requires("lpsched") or ()]
        marked = re.compile(rf"""\bextra == ['"]{re.escape(extra)}['"]""")
        if packages := [name.strip() for name, _, marker in found if marked.search(marker)]:
            return packages
    return [f"lpsched[{extra}]"]


def install_command(*packages: str) -> str:
    """Return the command that adds packages to the environment of this Python: of pipx, pip or uv."""
    import shlex  # noqa: PLC0415 - only a message needs these
    import shutil  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    def quoted(word: str) -> str:
        if sys.platform != "win32":
            return shlex.quote(word)
        return word if re.fullmatch(r"[\w.:\\/-]+", word) else f'"{word}"'  # cmd.exe has no other quotes

    home, python, named = Path(sys.prefix), quoted(sys.executable), shutil.which("python")
    is_active = sys.prefix != sys.base_prefix and named and Path(named).parent == Path(sys.executable).parent
    if (home / "pipx_metadata.json").exists():
        begin = f"pipx inject {quoted(home.name)}"
    elif find_spec("pip"):
        begin = f"{'python' if is_active else python} -m pip install"
    else:  # uv makes environments without pip, and activates some only while a command runs
        begin = f"uv pip install --python {python}"
    return " ".join([begin, *map(quoted, packages)])


class InfeasibleError(LpschedError):
    """No schedule meets every constraint; the message names the numbers that clash."""

    code = "infeasible"


class NotFoundError(LpschedError):
    """No schedule was found that meets the deadline, and none was proved impossible."""

    code = "not-found"


class SolverError(LpschedError):
    """A solver failed, or its answer does not make sense."""

    code = "solver"


class InfeasibleProgramError(SolverError):
    """A solver says that a linear program has no solution."""


class InvalidScheduleError(LpschedError):
    """A schedule that lpsched made failed verification: a bug of ours, never an answer."""

    code = "invalid-schedule"
    has_lines = True


class PolicyError(LpschedError):
    """A policy answered with something that cannot be; the message names the policy and the decision."""


class StalledError(LpschedError):
    """A policy mapped nothing all day, though there was something to map."""


class WorkersError(LpschedError):
    """The workers of a study were lost, or cannot be used; runs that were written stay."""

    code = "workers"


class MeasureError(LpschedError):
    """A machine cannot be measured, or no longer; samples that were written stay."""

    code = "measure"


class LpschedWarning(UserWarning):
    """A usable but suspect input or result."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return advice that names the known word nearest to a mistaken one, or '' when none is near.

    >>> nearest("a100", ["V100", "A100"]), nearest("5", ["fast"])  # as in {fast: 2,5}
    ("did you mean 'A100'?", 'a decimal comma? write a point')
    """
    choices = list(islice(known, MOST_COMPARED))
    close = [each for each in choices if each.lower() == word.lower()]
    close = close or difflib.get_close_matches(word[:LONGEST_NAME], choices, n=1)
    if not close and word.isdecimal():
        return "a decimal comma? write a point"
    return f"did you mean {quote(close[0])}?" if close else ""


def quote(text: str) -> str:
    """Quote a text for a message: escaped, and cut where it is long."""
    return repr(text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "...")


def quoted_hash(text: str) -> str:
    """Write a hash as it is, and quote any other text that a file has in its place."""
    return text if text.isascii() and text.isalnum() and len(text) <= LONGEST_HASH else quote(text)
