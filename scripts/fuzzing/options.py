"""Options of commands with numbers at the edge of what a double or a whole number can be, on small valid files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from scripts.fuzzing.kinds import MADE, OUT, Kind
from scripts.fuzzing.trials import Finding, Trials, judged

if TYPE_CHECKING:
    import random

NAME: Final = "options"
SECONDS: Final = 60.0  # of a processor
VALUES: Final = (
    *("0", "-0", "-0.0", "1", "2", "0.5", "-1", "1e-320", "5e-324", "-5e-324", "1e-30", "1e-9", "1e9", "1e15", "1e30"),
    *("1e150", "1e300", "1e308", "1.7976931348623157e308", "-1e308", "1e309", "nan", "inf", "-inf", "-nan"),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1" * 350, "9" * 5000),
    *("", " ", "1_000", "0x10", "١٢", "1,2", "1e5s", "1e300kW", "5x", "\x1b[31m", "\u202e", "a\nb"),
)
LISTED: Final = (
    "{0},{0}",
    "fast={0}",
    "fast={0},slow={0}",
    "normal:{0}",
    "cov={0}",
    "{0}-{0}",
)  # of options with texts
DAY_SIZE: Final = "--tasks 12 --task-types 6 --machines 2,1,1 --special-machines 1 --special-task-types 3"
HOURS: Final = "--horizon 2h --start 2024-01-08T03:00Z"
BASES: Final = {  # valid commands, to each of which an option is added
    "solve": ("solve bag.yaml --effort fast --time-limit 2", f"solve bag.yaml {HOURS} --objective cost --effort fast"),
    "facility": (
        "facility room.yaml --gap 0.5 --time-limit 5",
        "facility room.yaml --scheduler ga --generations 2 --no-bound",
    ),
    "front": (
        "front bag.yaml --time-limit 2",
        "front bag.yaml --scheduler nsga2 --generations 2",
        "front day.yaml --generations 2",
    ),
    "price": ("price bag.yaml --time-limit 2",),
    "offer": (f"offer bag.yaml {HOURS} --objective cost --time-limit 5",),
    "whatif": ("whatif bag.yaml --set fast=+1 --effort fast --time-limit 2", "whatif grid.yaml --set fast=+1"),
    "validate": ("validate bag.yaml --scheduler mct --effort fast --time-limit 2", "validate day.yaml --scheduler mct"),
    "simulate": (
        "simulate day.yaml --scheduler min-min",
        "simulate grid.yaml --scheduler easy",
        f"simulate bag.yaml {HOURS}",
    ),
    "certify": ("certify bag.yaml -o out/proof.json --effort fast --time-limit 2",),
    "verify": ("verify bag.yaml hours.json",),
    "measure": ("measure node.yaml",),
    "export": ("export bag.yaml -o out/bag.lp",),
    "study run": ("study run study.yaml -o out/runs.jsonl --jobs 1",),
    "study report": ("study report study.runs.jsonl",),
    "generate bag": (
        "generate bag -o out/bag.yaml --seed 1 --tasks 20 --task-types 6 --machines 2,1,1 --special-machines 1",
    ),
    "generate day": (f"generate day -o out/day.yaml --seed 1 {DAY_SIZE}",),
    "generate clusters": ("generate clusters -o out/grid.yaml --seed 1 --tasks 20 --tables names",),
    "generate facility": ("generate facility -o out/room.yaml --seed 1 --nodes 10 --task-types 3",),
    "import etc": ("import etc table.yaml.seconds.csv -o out/bag.yaml",),
    "import swf": ("import swf log.swf -o out/grid.yaml", "import swf log.swf -o out/bag.yaml --to bag"),
    "import slurm": ("import slurm sacct.txt -o out/grid.yaml", "import slurm sacct.txt -o out/bag.yaml --to bag"),
    "import measurements": (
        "import measurements node.yaml -o out/bag.yaml",
        "import measurements node.yaml -o out/room.yaml --to facility",
    ),
    "import runs": ("import runs runs.csv -o out/bag.yaml --fill",),
    "import gavel": ("import gavel gavel.json -o out/room.yaml --count 4",),
}
WORK: Final = frozenset(("--generations", "--trials", "--permute", "--points", "--sample"))  # as long as they say
LEFT_OUT: Final = frozenset(("--jobs", "--dask", "--solver", "--host", "--token"))  # processes, and names of others
BESIDE: Final = ("table.yaml", "clusters-small.yaml.tasks.csv")


def options_of(command: Any) -> Iterator[tuple[str, bool]]:
    """Yield each option of a command that takes a number or a text, and whether it is a text."""
    for param in command.get_params(command.make_context("", [], resilient_parsing=True)):
        described = getattr(param, "type_descriptor", None)
        kind = getattr(described, "annotation", None)
        name = param.opts[-1]
        if not name.startswith("--") or getattr(param, "is_flag", False) or name in LEFT_OUT:
            continue
        if getattr(described, "choices", None) or "Path" in str(kind):
            continue
        yield name, kind not in (int, float)


def all_options() -> list[tuple[str, str, bool]]:
    """Return every option of every command: the words of the command, the option, and whether it takes a text."""
    from lpsched.cli.main import _command  # noqa: PLC0415 - so that the help of the fuzzer is quick

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, str, bool]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))
        if (found := " ".join(words)) in BASES:
            yield from ((found, *each) for each in options_of(command))

    return list(walk(_command(), ()))


class Options:
    """Tries options with odd values."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.options = all_options()

    def findings(self, rng: random.Random) -> list[Finding]:
        """Try one value of one option."""
        command, option, is_text = rng.choice(self.options)
        value = rng.choice(VALUES)
        if is_text and rng.random() < 0.7:
            value = rng.choice(LISTED).format(value)
        return self.attempt(rng.choice(BASES[command]), option, value)

    def attempt(self, base: str, option: str, value: str) -> list[Finding]:
        """Run a command with one option more, or with another value of one that it has."""
        words = base.split()
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
        words = [*words, f"{option}={value}"]
        files = tuple(word for word in words if word in MADE)
        kind = Kind(NAME, files[:1] or ("bag.yaml",), (), (*files, *BESIDE, "bag.yaml"))
        self.trials.place(kind, kind.files[0])
        for name in {*kind.needed(), *kind.files}:
            (self.trials.folder / name).write_bytes(self.trials.samples.path(name).read_bytes())
        answer = self.trials.worker.ask(self.trials.folder, [words], SECONDS)
        if isinstance(answer, Finding):
            if option in WORK and "too long" in answer.what:
                return []
            return [Finding(f"{answer.what}: {option}", answer.command, answer.detail)]
        found = judged(answer[0], first=True)
        if answer[0]["code"] == 2 and (written := list((self.trials.folder / OUT).iterdir())):
            found.append(Finding("written in spite of bad input", " ".join(words), str(written)))
        return found
