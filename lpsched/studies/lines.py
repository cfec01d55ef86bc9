"""Lines of a study: one run each, its summary, and their files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.content import AddedLines, LineKind, read_lines
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import frozen_note, version_of_lpsched
from lpsched.model.results import json_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# One run of a study: its options, its outcome and its provenance; one line of JSON.
#
# `key` names the run: a digest of everything that decides its outcome (instance, method, parameters, seed,
# limits), so that a study which goes on knows what it has. `outcome` is a plain object of numbers and words
# that is the same, bit for bit, wherever and whenever the run is made again; what is not (seconds, the machine)
# is in `timings` and `where`. A run that failed has a reason and no outcome.
FORMAT: Final = "lpsched-run/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """A run that ended, well or not.

    Attributes
    ----------
    source
        The file, or the generator with its options, that the instance came from, as the study declares it.
    instance_name, instance_hash
        Of the instance itself; `None` if it could not be read or made.
    kind
        `bag`, `facility`, `day` or `clusters`; `None` likewise.
    method, parameters, limits
        As declared, for this run.
    instance_seed, seed
        Of the generator (`None` for a file) and of the method.
    outcome
        What `lpsched` answered; `None` if the run failed.
    reason
        Why it failed; `None` if it did not.
    timings
        Seconds by stage; `total` is one of them.
    where
        The machine, the process and when: not part of the result.
    """

    study: str
    key: str
    source: FrozenDict[str, Any]
    instance_name: str | None = None
    instance_hash: str | None = None
    kind: str | None = None
    method: str
    parameters: FrozenDict[str, Any]
    limits: FrozenDict[str, Any]
    instance_seed: int | None
    seed: int
    outcome: FrozenDict[str, Any] | None = None
    reason: str | None
    lpsched: str = field(default_factory=version_of_lpsched)
    solver: str
    timings: FrozenDict[str, float] = field(default_factory=FrozenDict)
    where: FrozenDict[str, Any] = field(default_factory=FrozenDict)

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


def run_from(line: Mapping[str, Any]) -> StudyRun:
    """Return the run that a line describes."""
    instance, outcome, reason = line["instance"], line["outcome"], line["reason"]
    if outcome is None and reason is None:
        reason = "none was written"
    words: dict[str, Any] = {name: str(line[name]) for name in ("study", "key", "method", "lpsched", "solver")}
    objects: dict[str, Any] = {name: FrozenDict(line[name]) for name in ("parameters", "limits", "where")}
    return StudyRun(
        source=FrozenDict(frozen_note(line["source"])),
        instance_name=instance["name"],
        instance_hash=instance["hash"],
        kind=instance["kind"],
        instance_seed=line["instance_seed"],
        seed=line["seed"],
        outcome=None if outcome is None else FrozenDict(outcome),
        reason=None if reason is None else str(reason),
        timings=FrozenDict({name: float(each) for name, each in line["timings"].items()}),
        **words,
        **objects,
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
    lpsched: str = field(default_factory=version_of_lpsched)

    @property
    def left(self) -> int:
        """How many runs have not been made."""
        return self.runs - self.found - self.made

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study run --json` prints; its keys are stable."""
        keys = "format lpsched study lines runs found made left failed reasons others versions seconds"
        reasons = [{"reason": reason, "runs": runs} for reason, runs in self.reasons]
        return json_of(self, keys, format=SUMMARY_FORMAT, reasons=reasons)


# The lines of a study: one JSON object for each run; how they are kept safe is in `io/content.py`.
ENDING: Final = ".runs.jsonl"
RUNS: Final = LineKind("run", "lines of a study", "lpsched study run", (FORMAT,))


def lines_of(study: Path | str) -> Path:
    """Return the default file for the lines of a study: next to the study file.

    >>> lines_of("studies/sweep.yaml").as_posix()
    'studies/sweep.runs.jsonl'
    """
    path = Path(study)
    return path.with_name(path.stem + ENDING)


def read_runs(path: Path | str) -> Iterator[StudyRun]:
    """Yield the runs of a file, of two lines for one run both; a last line that was cut is left out.

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
