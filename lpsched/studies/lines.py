"""Lines of a study: one run each, its summary, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.lines import AddedLines, LineKind, read_lines
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import frozen_note
from lpsched.model.results import json_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# One run of a study: what was asked, what came out, and where it came from; one line of JSON.
#
# `key` names the run: a digest of everything that decides its outcome (instance, method, parameters, seed,
# limits), so that a study which goes on knows what it has. `outcome` is a plain object of numbers and words
# that is the same, bit for bit, wherever and whenever the run is made again; what is not (seconds, the machine)
# is in `timings` and `where`. A run that failed has a reason and no outcome.
FORMAT: Final = "lpsched-run/1"


@dataclass(frozen=True, slots=True)
class StudyRun:
    """A run that ended, well or not.

    Attributes
    ----------
    study
        The study's name.
    key
        The digest that names the run.
    source
        The file, or the generator with its options, that the instance came from, as the study declares it.
    instance_name, instance_hash
        Of the instance itself; `None` if it could not be read or made.
    kind
        `bag`, `facility`, `day` or `clusters`; `None` likewise.
    method
        Its name, as declared.
    parameters, limits
        As declared, for this run.
    instance_seed, seed
        Of the generator (`None` for a file) and of the method.
    outcome
        What `lpsched` answered; `None` if the run failed.
    reason
        Why it failed; `None` if it did not.
    lpsched, solver
        Versions.
    timings
        Seconds by stage; `total` is one of them.
    where
        The machine, the process and when: not part of the result.
    """

    study: str
    key: str
    source: FrozenDict[str, Any]
    instance_name: str | None
    instance_hash: str | None
    kind: str | None
    method: str
    parameters: FrozenDict[str, Any]
    limits: FrozenDict[str, Any]
    instance_seed: int | None
    seed: int
    outcome: FrozenDict[str, Any] | None
    reason: str | None
    lpsched: str
    solver: str
    timings: FrozenDict[str, float]
    where: FrozenDict[str, Any]

    @property
    def failed(self) -> bool:
        """Whether there is no outcome."""
        return self.outcome is None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as its line says it; keys are stable."""
        keys = (
            "format study key source instance method parameters limits instance_seed seed outcome reason lpsched "
            "solver timings where"
        )
        instance = {"name": self.instance_name, "hash": self.instance_hash, "kind": self.kind}
        return json_of(self, keys, format=FORMAT, instance=instance)


def run_from(told: Mapping[str, Any]) -> StudyRun:
    """Return the run that a line tells."""
    instance, outcome, reason = told["instance"], told["outcome"], told["reason"]
    if outcome is None and reason is None:
        reason = "none was written"
    return StudyRun(
        study=str(told["study"]),
        key=str(told["key"]),
        source=FrozenDict(frozen_note(told["source"])),
        instance_name=instance["name"],
        instance_hash=instance["hash"],
        kind=instance["kind"],
        method=str(told["method"]),
        parameters=FrozenDict(told["parameters"]),
        limits=FrozenDict(told["limits"]),
        instance_seed=told["instance_seed"],
        seed=told["seed"],
        outcome=None if outcome is None else FrozenDict(outcome),
        reason=None if reason is None else str(reason),
        lpsched=str(told["lpsched"]),
        solver=str(told["solver"]),
        timings=FrozenDict({name: float(each) for name, each in told["timings"].items()}),
        where=FrozenDict(told["where"]),
    )


# What became of a study that was run: how many runs there are, were there already, were made, failed.
SUMMARY_FORMAT: Final = "lpsched-study-run/1"


@dataclass(frozen=True, slots=True)
class StudySummary:
    """A study after it was run, as far as it got.

    Attributes
    ----------
    lines
        The file with one line for each run.
    runs
        How many the study declares.
    found, made
        Runs whose lines were there before, and that were made now.
    failed
        Of all these, how many have a reason instead of an outcome; `reasons` has the first few.
    others
        Lines in the file that are not of this study as it is now.
    versions
        Of lpsched that made lines found there, other than this one.
    seconds
        From the first run made now to the last.
    """

    study: str
    lines: str
    runs: int
    found: int
    made: int
    failed: int
    reasons: tuple[tuple[str, int], ...]
    others: int
    versions: tuple[str, ...]
    seconds: float
    lpsched: str

    @property
    def left(self) -> int:
        """How many runs have not been made."""
        return self.runs - self.found - self.made

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study run --json` prints; its keys are stable."""
        keys = "format lpsched study lines runs found made left failed reasons others versions seconds"
        reasons = [{"reason": reason, "runs": runs} for reason, runs in self.reasons]
        return json_of(self, keys, format=SUMMARY_FORMAT, reasons=reasons)


# The lines of a study: one JSON object for each run; how they are kept safe is in `io/lines.py`.
ENDING: Final = ".runs.jsonl"
RUNS: Final = LineKind("run", "lines of a study", "lpsched study run", (FORMAT,))


def lines_of(study: Path | str) -> Path:
    """Return where the lines of a study file go, if nobody says: beside it.

    >>> lines_of("studies/sweep.yaml").as_posix()
    'studies/sweep.runs.jsonl'
    """
    path = Path(study)
    return path.with_name(path.stem + ENDING)


def read_runs(path: Path | str) -> Iterator[StudyRun]:
    """Yield the runs of a file, one after another; of two lines for one run, both.

    A last line that was cut is left out.

    Raises
    ------
    InstanceError
        If it cannot be read, or a line is no run.
    """
    return read_lines(Path(path), RUNS, run_from)


class RunLines(AddedLines):
    """The file of a study that is open for more runs; a context manager."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        super().__init__(path, RUNS, resume=resume)

    def add(self, run: StudyRun) -> None:
        """Write a run; it is on the disk when this returns."""
        self.add_line(run.to_dict())
