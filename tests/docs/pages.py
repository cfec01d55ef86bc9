"""Commands that our pages show: found, run in this process, and compared with what the page says they print.

A command is run where the ones before it left their files: `Page.run` first runs those earlier commands of the page that
write a file which it names. A plain `lpsched` command runs in this process, what it is piped into in a shell; all
other commands run in a shell. After a change of what is printed

    python -m tests.docs.pages [README.md docs/guides/fronts.md ...]

writes what commands print now into the pages, where it differs: read the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest

from lpsched.cli.main import run as run_lpsched
from tests.selection import ROTATION, taken

ROOT: Final = Path(__file__).parent.parent.parent
COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)
PIPE: Final = re.compile(r" \| (?=(?:head|tail|sed) )")
REDIRECTION: Final = re.compile(r" (2>>|2>|>) ?(\S+)")
FILE: Final = re.compile(r"(?<![\w/.-])[\w-]+\.(?:yaml|json|csv|swf|html)\b")  # without a folder: the page's own
WRITES: Final = re.compile(r" -o | > |\bstudy run\b")
NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
CELLS: Final = re.compile(r"\s{2,}")
TIMES: Final = re.compile(r"(?<=found in )\S+(?= s\b)|(?<=  in )\S+(?= seconds$)|(?<=now in )[^)]+(?=\))")
TIMED: Final = ("seconds", "ms/event")  # columns with how long something took, if they are last
NOT_HERE: Final = re.compile(
    r"^(scripts/|python |dask |\. |pip )|--dask"
)  # they install, take minutes, or need a cluster
SLOW: Final = re.compile(r"--offline|--trials|,ga,|facility-small.yaml$")  # more than 4 s
# Commands of 5 to 15 s are run in turn, with those that need what they write.
LONG: Final = (
    re.compile("--report (?:page|front|price).html"),
    re.compile("energy-2k.yaml --scheduler fcfs"),
    re.compile("ai-week"),
    re.compile("render-day"),
    re.compile("--forecast"),
    re.compile("--generations 200"),
    re.compile(r"(?<!my-)\bnode[-.]"),
    re.compile("my-node|my-bench"),
)

# How near numbers must be, as a share, by the first pattern that the command has. By default they are the same.
NEARLY: Final = (
    (re.compile(r"\bnode[-.]"), math.inf),  # measured on this machine
    (re.compile("ai-week|render-day"), 0.1),  # thousands of steps of a search, each of which a last digit may turn
    (re.compile("--forecast"), 0.5),  # likewise, in every slot; among others it prints how many plans were adopted
    (re.compile("nsga2|,ga,"), 0.1),  # one other last digit of a processor, and chance goes other ways
    (re.compile("--offline"), 0.05),  # the best of thousands of schedules
    (re.compile("--bound|front-30x9.*makespan"), 5e-3),  # last digits of a solver, and the schedule made of them
    (re.compile("--no-colocation"), 1e-3),  # its gap is the last digits of two sums
)
LIMITS: Final = re.compile(r"\s(?:Limits reached|Neither power cap)[\s\S]*?(?=\n\n)")  # of a machine that was measured
SPAN: Final = re.compile(r"(?:\d[\d.]* (?:h|min|s|ms)\b ?)+")  # one duration, whatever its units
ANY: Final = ("gap", "hottest inlet", "co-located")  # rows that depend on which optimum is found


@dataclass
class Page:
    """A page of the documentation: its text, its commands, and a folder where they are run."""

    name: str
    files: dict[str, str | Path] = field(default_factory=dict)  # that the reader is supposed to have, beside ours
    folder: Path | None = None
    printed: dict[int, str] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """What the page says."""
        return (ROOT / self.name).read_text(encoding="utf-8")

    def blocks(self, kind: str) -> list[str]:
        """Return the blocks of a kind, such as `python`."""
        return re.findall(rf"```{kind}\n(.*?)```", self.text, flags=re.DOTALL)

    @cached_property
    def commands(self) -> list[tuple[str, str]]:
        """Commands and what they print."""
        return [pair for block in self.blocks("console") for pair in COMMAND.findall(block)]

    def run(self, number: int, folder: Path) -> str:
        """Run a command after those that it needs; return what it prints, stderr too."""
        if number not in self.printed:
            command, _ = self.commands[number]
            needed = set(FILE.findall(command))
            for earlier in range(number):
                before, _ = self.commands[earlier]
                if WRITES.search(before) and needed & set(FILE.findall(before)):
                    self.run(earlier, folder)
            self.printed[number] = run(command, self.folder_in(folder))
        return self.printed[number]

    def folder_in(self, folder: Path) -> Path:
        """Return a folder of this page, like a fresh clone, with the files that its reader has."""
        if self.folder is None:
            self.folder = folder / self.name.replace("/", "-")
            for part in ("instances", "tests/data"):
                shutil.copytree(ROOT / part, self.folder / part)
            for name, content in self.files.items():
                text = content.read_text() if isinstance(content, Path) else content
                (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder

    def runnable(self) -> list[Any]:
        """Return the commands that can be run here, as parameters of a test."""
        return [
            pytest.param(
                self,
                number,
                id=f"{self.name}: {command}"[:100],
                marks=[pytest.mark.slow] if SLOW.search(command) or _has_its_turn_later(command) else [],
            )
            for number, (command, _) in enumerate(self.commands)
            if not NOT_HERE.search(command)
        ]


def _has_its_turn_later(command: str) -> bool:
    """Tell whether a command takes long and others like it are run today."""
    today = [LONG[place] for place in taken(len(LONG), 2, ROTATION)]
    return any(each.search(command) for each in LONG if each not in today)


def run(command: str, folder: Path) -> str:
    """Run a command as a reader would; return stdout and stderr together."""
    first, *pipes = PIPE.split(command)
    to = dict(REDIRECTION.findall(first))
    plain = REDIRECTION.sub("", first)
    if not plain.startswith("lpsched ") or set(plain) & set(";&|<>$`"):
        return in_a_shell(command, folder)
    out, err = io.StringIO(), io.StringIO()
    if not pipes and not to:
        err = out  # both in their order
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run_lpsched(shlex.split(plain)[1:])
    for sign, name in to.items():
        with (folder / name).open("a" if sign == "2>>" else "w", encoding="utf-8") as file:
            file.write((out if sign == ">" else err).getvalue())
    printed = "" if ">" in to else out.getvalue()
    for pipe in pipes:
        printed = in_a_shell(pipe, folder, printed)
    return printed if err is out or {"2>", "2>>"} & set(to) else printed + err.getvalue()


def in_a_shell(command: str, folder: Path, given: str = "") -> str:
    """Run a command in a shell that finds the lpsched of this Python."""
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(  # noqa: S602 - our own pages' commands
        command, shell=True, cwd=folder, env=os.environ | {"PATH": path}, input=given, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout


OTHER_VERSIONS: Final = 0.05 if os.environ.get("LPSCHED_VERSIONS") else 0.0  # other solvers make other schedules


def assert_as_shown(command: str, printed: str, expected: str) -> None:
    """Require the words of the page, and its numbers as nearly as the command allows; times are left out."""
    share = next((share for pattern, share in NEARLY if pattern.search(command)), OTHER_VERSIONS)
    if share == math.inf:
        printed, expected = (SPAN.sub("# s ", LIMITS.sub("", text)) for text in (printed, expected))
    now, then = without_times(printed), without_times(expected)
    if share == 0.0:
        assert now == then, command
        return
    if OTHER_VERSIONS:  # another Rich may break lines elsewhere
        now, then = ([" ".join(each)] for each in (now, then))
    assert [words(line) for line in now] == [words(line) for line in then], command
    for line, known in zip(now, then, strict=True):
        if share < math.inf and not line.startswith(ANY):
            assert numbers(line) == pytest.approx(numbers(known), rel=share, abs=1e-3), f"{command}: {line}"


def words(line: str) -> str:
    """Return a line without its numbers."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def numbers(line: str) -> list[float]:
    """Return the numbers of a line."""
    return [float(each.replace(",", "")) for each in NUMBER.findall(line)]


def without_times(printed: str) -> list[str]:
    """Return lines without how long something took: last columns of tables, and the ends of sentences."""
    lines, last = [], None
    for line in printed.splitlines():
        row = CELLS.split(TIMES.sub("#", line.rstrip()))
        timed = [row.index(name) for name in TIMED if name in row]
        if timed and (timed[0] == len(row) - 1 or row[-1] == "the front's"):
            last = timed[0]
        last = last if line else None
        lines.append("  ".join(row[:last]))
    return lines


PAGES: Final = {
    str(path.relative_to(ROOT)): Page(str(path.relative_to(ROOT)))
    for path in sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
}
README: Final = PAGES["README.md"]
CLUSTERS: Final = PAGES["docs/guides/clusters.md"]
CLUSTERS.files = dict(
    zip(("lab.yaml", "mine.csv", "worse.csv"), (CLUSTERS.blocks("yaml")[0], *CLUSTERS.blocks("csv")), strict=True)
)
STUDIES: Final = PAGES["docs/guides/studies.md"]
STUDIES.files = {"sweep.yaml": STUDIES.blocks("yaml")[0]}
DATA: Final = ROOT / "tests" / "data"
PAGES["docs/guides/measuring.md"].files = {"old.yaml": DATA / "node_old.yaml", "new.yaml": DATA / "node_new.yaml"}
PAGES["docs/guides/traces.md"].files = {
    "log.swf": DATA / "small.swf",
    "sacct.txt": DATA / "sacct_shared.txt",
    "nodes.txt": DATA / "scontrol_nodes.txt",
    "steps.txt": DATA / "sacct_with_steps.txt",
}
PAGES["docs/findings.md"].files = {"patient.py": PAGES["docs/findings.md"].blocks("python")[0]}


def rewrite(page: Page, folder: Path) -> list[str]:
    """Write what the commands of a page print now into it; return the commands whose output differs."""
    text, changed, begin = page.text, [], 0
    for number, (command, expected) in enumerate(page.commands):
        begin = text.index(f"$ {command}\n{expected}", begin) + len(f"$ {command}\n")
        if not NOT_HERE.search(command):
            printed = page.run(number, folder)
            try:
                assert_as_shown(command, printed, expected)
            except AssertionError:
                changed.append(command)
                text = f"{text[:begin]}{printed}{text[begin + len(expected) :]}"
    (ROOT / page.name).write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for name in sys.argv[1:] or PAGES:
            for changed in rewrite(PAGES[name], Path(made)):
                sys.stdout.write(f"{name}: {changed}\n")
