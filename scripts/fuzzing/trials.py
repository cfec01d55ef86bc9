"""One trial: a broken file in a folder, the commands that follow, and what counts as a finding."""

from __future__ import annotations

import gzip
import json
import os
import re
import selectors
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from scripts.fuzzing.kinds import MADE, OUT, TEXTS, Kind, main_of
from scripts.fuzzing.mutations import SCRIPT

ROOT: Final = Path(__file__).parent.parent.parent
MOST_MEGABYTES: Final = 1500  # that a command may take with a file of some kilobytes
IDLE_SECONDS: Final = 30  # without using the processor: it waits for something that does not come
LONGEST_SECONDS: Final = 600
BAD_INPUT: Final = 2
CODES: Final = (0, 1, BAD_INPUT)
RAW_WARNING: Final = re.compile(r"\b(?!Lpsched)\w+Warning: ")
LEFT: Final = ".lpsched-"
HIGHER: Final = {"profit": "profit_per_hour", "reward": "reward_rate", "utility": "utility"}  # bounded from above
LOWER: Final = {"makespan": "makespan_seconds", "energy": "energy_joules", "cost": "cost"}
ROUNDING: Final = 1e-12  # of a bound written as a double


@dataclass(frozen=True)
class Finding:
    """Something that must not be: what, in which command, and all that is known."""

    what: str
    command: str
    detail: str

    @property
    def signature(self) -> tuple[str, str]:
        """Return what two findings with the same cause have in common."""
        return self.what, self.command.split(maxsplit=1)[0] if "Error in" not in self.what else ""


class Worker:
    """The process that runs the commands; started anew after a finding, and whenever it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def end(self) -> None:
        """End the process; the next request starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, folder: Path, commands: list[list[str]], seconds: float) -> list[dict[str, Any]] | Finding:
        """Return what the commands did, or that the process hung or died."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request = json.dumps({"folder": str(folder), "commands": commands}).encode()
        command = " && ".join(map(" ".join, commands))
        try:
            process.stdin.write(request + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            began = used = _processor_seconds(process.pid)
            started = moved = time.monotonic()
            while not selector.select(0.5):
                now, used_now = time.monotonic(), _processor_seconds(process.pid)
                if abs(used_now - used) > 0.2:  # less where a process has ended
                    used, moved = used_now, now
                why = ""
                if used_now - began > seconds * len(commands):
                    why = f"more than {seconds * len(commands):g} s of a processor"
                elif now - moved > IDLE_SECONDS:
                    why = "waits for something that does not come"
                elif now - started > LONGEST_SECONDS:
                    why = "does not end"
                if why:
                    self.end()
                    return Finding("takes too long", command, why)
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self.end()
            return Finding("the process died", command, f"exit status {code}")
        answer: list[dict[str, Any]] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        words = [sys.executable, "-m", "scripts.fuzzing.worker"]
        return subprocess.Popen(  # noqa: S603 - our own module
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
        )


def _processor_seconds(pid: int) -> float:
    """Return what a process and those it started have used of processors; the clock where the system does not say."""
    ticks, processes = 0, [pid]
    while processes:
        home = Path(f"/proc/{processes.pop()}")
        try:
            fields = (home / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own, and of processes that have ended
            for task in (home / "task").iterdir():
                processes += map(int, (task / "children").read_text(encoding="ascii").split())
        except (OSError, IndexError):
            if not ticks:
                return time.monotonic()
    return ticks / os.sysconf("SC_CLK_TCK")


class Samples:
    """Valid files, made when they are first needed."""

    def __init__(self, folder: Path, worker: Worker) -> None:
        self.folder, self.worker = folder, worker

    def path(self, name: str) -> Path:
        """Return where a sample is, after it was made."""
        path = self.folder / name
        if path.exists():
            return path
        recipe = MADE[name]
        if recipe.startswith("@"):
            self._taken(name, recipe[1:], path)
        else:
            self._from_command(name, recipe.split())
        if not path.exists():
            raise SystemExit(f"no sample {name}; there are {sorted(each.name for each in self.folder.iterdir())}")
        return path

    def _taken(self, name: str, recipe: str, path: Path) -> None:
        """Make a sample without a command: of the checkout, a text, or another one in another form."""
        match recipe.split():
            case ["text", *others]:
                for other in others:
                    self.path(other)  # which it names
                path.write_text(TEXTS[name], encoding="utf-8")
            case ["gzip", other]:
                path.write_bytes(gzip.compress(self.path(other).read_bytes(), mtime=0))
            case ["parquet", other]:
                import pyarrow.csv  # noqa: PLC0415 - takes long, and is rarely needed
                import pyarrow.parquet  # noqa: PLC0415

                pyarrow.parquet.write_table(pyarrow.csv.read_csv(self.path(other)), path)
            case [other] if "/" in other:
                shutil.copy(ROOT / other, path)
            case [other]:
                self.path(other)  # whose command makes this one, too

    def _from_command(self, name: str, words: list[str]) -> None:
        for word in words:
            if word in MADE and word != name:
                self._with_beside(word)
        answer = self.worker.ask(self.folder, [words], 120)
        if isinstance(answer, Finding) or answer[0]["code"] != 0:
            raise SystemExit(f"cannot make the sample {name}: {answer}")

    def _with_beside(self, name: str) -> None:
        """Make a sample and the tables that it names."""
        self.path(name)
        for other in MADE:
            if main_of(other) == name and other != name:
                self.path(other)


def commands_of(command: str, file: str) -> list[list[str]]:
    """Return the commands of a line for a broken file, each as its words."""
    main = main_of(file)
    return [
        [word.replace("FILE", file).replace("MAIN", main) for word in each.split()] for each in command.split(" && ")
    ]


class Trials:
    """Trials in one folder, which is emptied before and after each."""

    def __init__(self, worker: Worker, home: Path) -> None:
        self.worker, self.folder = worker, home / "trial"
        self.samples = Samples(home / "samples", worker)
        self.samples.folder.mkdir()

    def place(self, kind: Kind, file: str) -> Path:
        """Put what must be beside a broken file into the folder, and return where that one is to be."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / OUT).mkdir(parents=True)
        for name in {*kind.needed(), main_of(file)} - {file}:
            shutil.copy(self.samples.path(name), self.folder / name)
        return self.folder / file

    def findings(
        self, kind: Kind, file: str, content: bytes, command: str, *, seconds: float | None = None
    ) -> list[Finding]:
        """Run commands on a broken file, and return what must not be."""
        path = self.place(kind, file)
        path.write_bytes(content)
        answer = self.worker.ask(self.folder, commands_of(command, file), seconds or kind.seconds)
        if isinstance(answer, Finding):
            return [answer]
        found = [finding for number, each in enumerate(answer) for finding in judged(each, first=number == 0)]
        named = " ".join(answer[-1]["words"])
        if answer[0]["code"] == BAD_INPUT and (written := list((self.folder / OUT).iterdir())):
            found.append(Finding("written in spite of bad input", named, str(written)))
        if "--state" not in command and "--resume" not in command and path.read_bytes() != content:
            found.append(Finding("the input was changed", named, file))
        for each in self.folder.rglob("*"):
            if each.name.startswith(LEFT):
                found.append(Finding("a temporary file is left", named, each.name))
            elif each.suffix == ".html" and SCRIPT in each.read_text(encoding="utf-8"):
                found.append(Finding("a script reaches a page", named, each.name))
        shutil.rmtree(self.folder, ignore_errors=True)
        if found:
            self.worker.end()  # the next trial begins with the memory and state of a new process
        return found


def judged(did: dict[str, Any], *, first: bool) -> list[Finding]:
    """Return what is wrong with one command's doings."""
    command = " ".join(did["words"])
    if did["raised"]:
        return [Finding(did["raised"][0], command, did["raised"][1])]
    code, err = did["code"], did["err"]
    wrong = {
        f"exit code {code}": err if code not in CODES else None,
        "an answer of ours is not accepted": did["out"] + err if not first and code != 0 else None,
        "bad input without a message": err if code == BAD_INPUT and not err.startswith("lpsched: ") else None,
        "control characters are printed": _odd(did["out"]) or _odd(err),
        "a warning of Python is printed": err if RAW_WARNING.search(err) else None,
        "takes too much memory": f"{did['megabytes']:.0f} MB" if did["megabytes"] > MOST_MEGABYTES else None,
        **(_wrong_json(did["out"]) if "--json" in did["words"] else {}),
    }
    if "failed verification" in err:
        wrong["our own schedule is invalid"] = err
    return [Finding(what, command, detail[:4000]) for what, detail in wrong.items() if detail is not None]


def _odd(text: str) -> str | None:
    """Return the characters of an output that a terminal would not print, or `None`."""
    odd = sorted({letter for letter in text if not letter.isprintable() and letter != "\n"})
    return f"{odd!r} in {text[:500]!r}" if odd else None


def _wrong_json(text: str) -> dict[str, str | None]:
    """Return what is wrong with an answer in JSON."""
    try:
        answer = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        return {"no valid JSON": f"{error}: {text[:500]}"}
    invalid = answer.get("error", {}).get("code") == "invalid-schedule"
    return {
        "our own schedule is invalid": text if invalid else None,
        "a bound is contradicted by a schedule": "\n".join(contradictions(answer)) or None,
    }


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def contradictions(answer: dict[str, Any]) -> list[str]:
    """Return each accepted bound that an accepted schedule of the same verdicts passes."""
    files = [each for each in answer.get("files", ()) if isinstance(each, dict) and each.get("accepted")]
    found = []
    for claim in files:
        objective, bound = str(claim.get("objective")), claim.get("proved")
        if bound is None:
            continue
        for other in files:
            upper, lower = other.get(HIGHER.get(objective, "")), other.get(LOWER.get(objective, ""))
            if objective == "profit" and not (claim.get("unit") or "/hour").endswith("/hour"):
                upper = None  # of a horizon, not of an hour
            if objective == "cost" and other.get("dropped"):
                lower = None  # of plans that run all tasks
            if upper is not None and upper > bound + abs(bound) * ROUNDING:
                found.append(f"{claim['name']}: {objective} at most {bound!r}, {other['name']} has {upper!r}")
            if lower is not None and lower < bound - abs(bound) * ROUNDING:
                found.append(f"{claim['name']}: {objective} at least {bound!r}, {other['name']} has {lower!r}")
    return found
