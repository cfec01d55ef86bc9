"""Lines of samples: what they rest on, and resuming where nothing of this has changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import OutputError, quote
from lpsched.io.content import one_fault
from lpsched.io.lines import AddedLines, LineKind, read_lines
from lpsched.measure.evidence import Sample, Setting
from lpsched.measure.measurements import MeasuredMachine, Meters
from lpsched.model.fields import LARGEST, FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lpsched.measure.bench import Application, Bench


# What samples of a bench rest on: they may be gone on with where nothing of this has changed.
#
# A sample is one run of a setting (application, what is beside it, clock), so what else a bench asks for may
# change between two sessions: more applications, pairs, clocks or repeats, other bounds, another seed. What
# must not change is what would make the same setting another thing to measure:
#
#     applications   the command, folder and environment of each that both sessions know
#     energy         where it is read, and what that covers
#     counters       whether misses are counted
#     lpsched        the version: the companions are programs of its own
#     machine        processor, system, and the places where applications run
#     meters         those that were found; not the clocks, which are part of a setting
FORMAT: Final = "lpsched-bench-run/1"
SHOWN: Final = 100  # characters of what differs


@dataclass(frozen=True, slots=True)
class BenchHead:
    """What the samples of a file rest on; its first line.

    Attributes
    ----------
    name
        The bench's; for people.
    applications
        By name: command, folder, environment, as JSON has them.
    energy
        Kind, command, seconds between readings, what it covers.
    began
        Date and time, ISO 8601; for people.
    """

    name: str
    applications: FrozenDict[str, Any]
    energy: FrozenDict[str, Any]
    counters: str
    machine: MeasuredMachine
    meters: Meters
    lpsched: str = ""
    began: str = ""

    def _deciding(self) -> dict[str, Any]:
        told = self.to_dict()
        told["meters"].pop("frequencies", None)
        return {key: told[key] for key in told if key not in ("format", "name", "began")}

    def to_dict(self) -> dict[str, Any]:
        """Return the head as its line says it; keys are stable."""
        return {
            "format": FORMAT,
            "name": self.name,
            "applications": _plain(self.applications),
            "energy": _plain(self.energy),
            "counters": self.counters,
            "machine": {**self.machine.model_dump(), "cores": [list(place) for place in self.machine.cores]},
            "meters": {key: value for key, value in self.meters.model_dump().items() if value is not None},
            "lpsched": self.lpsched,
            "began": self.began,
        }

    def differences(self, now: BenchHead) -> tuple[str, ...]:
        """Tell in words what decides a setting's outcome and has changed since.

        An application that only one of the two knows is no difference.
        """
        return tuple(_differences(self._deciding(), now._deciding()))

    def joined(self, now: BenchHead) -> BenchHead:
        """Return the head of both sessions: as it began, with the applications of both."""
        both = {**self.applications, **now.applications}
        return self if both == self.applications else replace(self, applications=FrozenDict(both))


def head_of(bench: Bench, *, machine: MeasuredMachine, meters: Meters, lpsched: str = "", began: str = "") -> BenchHead:
    """Return the head of a bench that is about to begin on a machine."""
    energy = bench.energy
    return BenchHead(
        name=bench.name,
        applications=FrozenDict({each.name: _application(each) for each in bench.applications}),
        energy=FrozenDict(
            {
                "kind": energy.kind,
                "command": energy.program,
                "every_seconds": energy.every_seconds,
                "covers": energy.covers,
            }
        ),
        counters=bench.counters,
        machine=machine,
        meters=meters,
        lpsched=lpsched,
        began=began,
    )


def _application(application: Application) -> FrozenDict[str, Any]:
    told: dict[str, Any] = {"command": tuple(application.command)}
    if application.folder is not None:
        told["folder"] = application.folder
    if application.environment:
        told["environment"] = application.environment
    return FrozenDict(told)


def head_from(told: Mapping[str, Any]) -> BenchHead:
    """Return the head that a line tells."""
    machine = dict(told["machine"])
    cores = tuple(tuple(int(number) for number in place) for place in machine.pop("cores"))
    return BenchHead(
        name=str(told["name"]),
        applications=FrozenDict({str(name): _frozen(each) for name, each in told["applications"].items()}),
        energy=_frozen(told["energy"]),
        counters=str(told["counters"]),
        machine=MeasuredMachine(cores=cores, **machine),
        meters=Meters(**told["meters"]),
        lpsched=str(told["lpsched"]),
        began=str(told["began"]),
    )


def _frozen(value: Any) -> Any:  # noqa: ANN401 - anything that JSON has
    if isinstance(value, dict):
        return FrozenDict({key: _frozen(each) for key, each in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:  # noqa: ANN401 - likewise
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[str]:
    for key in dict.fromkeys((*before, *now)):
        here = (*place, key)
        if place == ("applications",) and (key not in before or key not in now):
            continue
        one, other = before.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, here)
        elif one != other:
            yield f"{' of '.join(reversed(here))} was {_said(one)}, is {_said(other)}"


def _said(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return quote(value)
    told = json.dumps(value, ensure_ascii=False)
    return told if len(told) <= SHOWN else told[:SHOWN] + "..."


# The samples of a bench that runs: one JSON object for each, so that nothing is measured twice.
#
# first line    what the samples rest on                            lpsched-bench-run/1
# a line        one run of a setting                                lpsched-sample/1
# a line        the power of the idle machine, before all runs      lpsched-idle/1
#
# Where applications were added to a bench, a later line with a head tells of them. What is absent was not
# measured. How lines are kept safe is in `io/lines.py`.
ENDING: Final = ".samples.jsonl"
SAMPLE_FORMAT: Final = "lpsched-sample/1"
IDLE_FORMAT: Final = "lpsched-idle/1"
SAMPLES: Final = LineKind("sample", "samples of a bench", "lpsched measure", (SAMPLE_FORMAT, FORMAT, IDLE_FORMAT))
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
    """Read the samples of a file; a last line that was cut is left out."""
    path = Path(path)
    head: BenchHead | None = None
    samples: list[Sample] = []
    idle: float | None = None
    for told in read_lines(path, SAMPLES, _from_line):
        if isinstance(told, BenchHead):
            head = told
        elif head is None:
            needed = f"a first line with the format '{FORMAT}'"
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
        """Write a sample; it is on the disk when this returns."""
        self.add_line(_to_line(sample))

    def add_idle_before(self, watts: float) -> None:
        """Write the power of the idle machine before all runs."""
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
    if told["format"] == FORMAT:
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
