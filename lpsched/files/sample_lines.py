"""The samples of a bench that runs: one JSON object for each, so that nothing is measured twice.

first line    what the samples rest on                            lpsched-bench-run/1
a line        one run of a setting                                lpsched-sample/1
a line        the power of the idle machine, before all runs      lpsched-idle/1

Where applications were added to a bench, a later line with a head tells of them. What is absent was not
measured. How lines are kept safe is in `added_lines.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import OutputError
from lpsched.files.added_lines import AddedLines, LineKind, read_lines
from lpsched.files.content import one_fault
from lpsched.instance.bench_head import FORMAT as HEAD_FORMAT
from lpsched.instance.bench_head import BenchHead, head_from
from lpsched.instance.fields import LARGEST
from lpsched.instance.setting import Sample, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDING: Final = ".samples.jsonl"
SAMPLE_FORMAT: Final = "lpsched-sample/1"
IDLE_FORMAT: Final = "lpsched-idle/1"
SAMPLES: Final = LineKind(
    "sample", "samples of a bench", "lpsched measure", (SAMPLE_FORMAT, HEAD_FORMAT, IDLE_FORMAT)
)
MOST_DIFFERENCES: Final = 5  # told


@dataclass(frozen=True, slots=True)
class SamplesOnFile:
    """What a file of samples says."""

    head: BenchHead
    samples: tuple[Sample, ...] = ()
    idle_watts_before: float | None = None


def samples_beside(output: Path | str) -> Path:
    """Return where the samples of a bench go whose measurements are written to `output`.

    >>> samples_beside("bench/node.yaml").as_posix()
    'bench/node.samples.jsonl'
    """
    path = Path(output)
    return path.with_name(path.stem + ENDING)


def read_samples(path: Path | str) -> SamplesOnFile:
    """Read the samples of a file; a last line that was cut is left out.

    Raises
    ------
    InstanceError
        If it cannot be read, a line is no sample, or the first does not say what they rest on.
    """
    path = Path(path)
    head: BenchHead | None = None
    samples: list[Sample] = []
    idle: float | None = None
    for told in read_lines(path, SAMPLES, _from_line):
        if isinstance(told, BenchHead):
            head = told
        elif head is None:
            needed = f"a first line with the format '{HEAD_FORMAT}'"
            raise one_fault(path, "samples of no bench", needed, "remove the file, and measure again", 1)
        elif isinstance(told, Sample):
            samples.append(told)
        else:
            idle = told
    if head is None:
        raise one_fault(path, "no line", "samples of a bench", f"see '{SAMPLES.command}'")
    return SamplesOnFile(head, tuple(samples), idle)


class SampleLines(AddedLines):
    """The samples of a bench, open for more; a context manager.

    Attributes
    ----------
    head
        What they rest on: the one on file, where there is one.
    samples
        Those that were on file.
    idle_watts_before
        Of the session that began; `None` if it was not measured.

    Raises
    ------
    OutputError
        If the file is there and is not to be gone on with, rests on something else, another process adds to
        it, or it cannot be written.
    InstanceError
        If a line of it is no sample.
    """

    def __init__(self, path: Path, head: BenchHead, *, resume: bool) -> None:
        super().__init__(path, SAMPLES, resume=resume)
        self.head = head
        self.samples: tuple[Sample, ...] = ()
        self.idle_watts_before: float | None = None
        try:
            if path.stat().st_size:
                self._go_on(read_samples(path))
            else:
                self.add_line(head.to_dict())
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _go_on(self, found: SamplesOnFile) -> None:
        self._refuse_others(found.head.differences(self.head))
        self.samples, self.idle_watts_before = found.samples, found.idle_watts_before
        self.head = found.head.joined(self.head)
        if self.head is not found.head:
            self.add_line(self.head.to_dict())

    def _refuse_others(self, differences: tuple[str, ...]) -> None:
        if not differences:
            return
        told = "; ".join(differences[:MOST_DIFFERENCES])
        if len(differences) > MOST_DIFFERENCES:
            told += f"; and {len(differences) - MOST_DIFFERENCES} more"
        do = "choose another output, or remove the samples and measure again"
        raise OutputError(f"cannot go on with {self.path}: its samples rest on something else: {told}; {do}")

    def add(self, sample: Sample) -> None:
        """Write a sample; it is on the disk when this returns.

        Raises
        ------
        OutputError
            If the disk is full or gone; what was written before stays.
        """
        self.add_line(_to_line(sample))

    def add_idle_before(self, watts: float) -> None:
        """Write the power of the idle machine before all runs.

        Raises
        ------
        OutputError
            If the disk is full or gone.
        """
        self.add_line({"format": IDLE_FORMAT, "watts": watts})
        self.idle_watts_before = watts


def _to_line(sample: Sample) -> dict[str, Any]:
    setting = sample.setting
    told = {
        "format": SAMPLE_FORMAT,
        "application": setting.application,
        "beside": list(setting.beside),
        "mhz": setting.mhz,
        "batch": setting.batch or None,
        "seconds": sample.seconds,
        "joules": sample.joules,
        "misses": sample.misses,
        "instructions": sample.instructions,
        "restarts": sample.restarts or None,
        "failure": sample.failure,
    }
    return {key: value for key, value in told.items() if value is not None}


def _from_line(told: Mapping[str, Any]) -> BenchHead | Sample | float:
    if told["format"] == HEAD_FORMAT:
        return head_from(told)
    if told["format"] == IDLE_FORMAT:
        return _amount(told, "watts", needed=True) or 0.0
    beside = tuple(sorted(map(str, told.get("beside", ()))))
    setting = Setting(str(told["application"]), beside, _amount(told, "mhz"), bool(told.get("batch")))
    failure = told.get("failure")
    return Sample(
        setting,
        _amount(told, "seconds", needed=failure is None),
        _amount(told, "joules"),
        _amount(told, "misses"),
        _amount(told, "instructions"),
        int(told.get("restarts", 0)),
        None if failure is None else str(failure),
    )


def _amount(told: Mapping[str, Any], key: str, *, needed: bool = False) -> float | None:
    """Return a number that is not negative; `None` where there is none."""
    value = told[key] if needed else told.get(key)
    if value is None and not needed:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise ValueError(f"a number that makes sense as {key}")
    return float(value)
