"""Files of benches, of measurements, and of the samples of a bench that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

from lpsched.errors import OutputError, quote
from lpsched.io.content import AddedLines, LineContent, LineKind, one_issue, read_lines, write_files
from lpsched.io.instance_files import WIDTH, document_bytes, require_suffix, yaml_text
from lpsched.measure.bench import Bench
from lpsched.measure.evidence import LONGEST_FREE_TEXT, Sample, Setting
from lpsched.measure.measurements import USUAL_CONFIDENCE, MeasuredMachine, Measurements, Meters
from lpsched.model.fields import LARGEST

read_bench: Final = Bench.from_file

# Files of measurements: YAML and JSON; for people the columns first, the evidence after them.
#
# What is absent is left out. Numbers are written with as many digits as it takes to read the same ones again.
KEYS: Final = (
    "format", "name", "description", "machine_type", "taken", "lpsched", "machine", "meters", "absent",
    "idle_watts", "idle_watts_before", "idle_watts_after", "frequencies_mhz", "applications", "seconds", "watts",
    "degradation", "degradation_in_full", "confidence", "measured", "failed", "savings", "additive",
)  # fmt: skip
NOTES: Final = {  # above these keys, in YAML
    "applications": "one task type each; memory classes go from calm (I) to intensive",
    "seconds": "ETC: seconds of an application alone, one for each clock where there are some",
    "watts": "APC: watts meanwhile, of all that the meter sees, idle power included",
    "degradation": "PD by memory class: how much longer the first takes for each core that runs the second",
    "degradation_in_full": "PD by application",
    "confidence": "the evidence; low and high are the interval of the mean, at this confidence",
    "failed": "what could not be measured, and why",
    "savings": "energy of applications one after another, all at once, and as shared static power has it",
    "additive": "time in a group as a multiple of the time alone: measured, and as the sum of PD has it",
}

read_measurements: Final = Measurements.from_file


def write_measurements(measurements: Measurements, path: Path | str) -> tuple[Path, ...]:
    """Write measurements, without loss; return the file."""
    path = Path(path)
    require_suffix(path)
    write_files({path: document_bytes(as_dict(measurements), path, as_yaml=_yaml)})
    return (path,)


def _yaml(raw: dict[str, Any]) -> str:
    notes = {key: f"\n# {note}\n" for key, note in NOTES.items()}
    return "".join(notes.get(key, "") + yaml_text({key: value}, widest=WIDTH) for key, value in raw.items())


def as_dict(measurements: Measurements) -> dict[str, Any]:
    """Return measurements as a mapping with the keys of a file; what is absent is left out."""
    fields = _plain(measurements.model_dump())
    fields["machine"] = _without_defaults(fields["machine"], MeasuredMachine())
    fields["meters"] = _without_defaults(fields["meters"], Meters())
    fields["applications"] = [_some(each) for each in fields["applications"]]
    for key in ("seconds", "watts"):
        fields[key] = {name: row if fields["frequencies_mhz"] else row[0] for name, row in fields[key].items()}
    if not fields["measured"] and fields["confidence"] == USUAL_CONFIDENCE:
        del fields["confidence"]
    fields["savings"] = [{"together": each["together"], "mhz": each["mhz"]} | each for each in fields["savings"]]
    for key in ("measured", "failed", "savings", "additive"):
        fields[key] = [_entry(each) for each in fields[key]]
    return _some({key: fields[key] for key in KEYS if key in fields})


def _plain(value: Any) -> Any:  # noqa: ANN401 - anything that a model holds
    """Return lists for tuples, and texts that a file can hold: halves of characters become marks."""
    match value:
        case str():
            return value.encode(errors="surrogatepass").decode(errors="replace")
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case tuple():
            return [_plain(each) for each in value]
    return value


def _some(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty values."""
    return {key: value for key, value in fields.items() if value is not None and value not in ("", [], {})}


def _without_defaults(fields: dict[str, Any], nothing: MeasuredMachine | Meters) -> dict[str, Any]:
    """Leave out what a part has by default; `nothing` is a part of defaults."""
    return {key: value for key, value in fields.items() if value != _plain(getattr(nothing, key))}


def _entry(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a setting with what was found."""
    order = ("mean", "low", "high", "deviation", "count")
    found = {key: _some({k: x[k] for k in order}) if isinstance(x, dict) else x for key, x in fields.items()}
    return {key: value for key, value in found.items() if value is not None and value is not False and value != []}


# What samples of a bench depend on: a bench can be resumed where none of this has changed.
#
# A sample is one run of a setting (application, corunners, clock), so the rest of a bench may change between two
# sessions: more applications, pairs, clocks or repeats, other bounds, another seed. What must not change is what
# would make the same setting another thing to measure:
#
#     applications   the command, folder and environment of each that both sessions know
#     energy         where it is read, and what that covers
#     counters       whether misses are counted
#     lpsched        the version: the interference probes are programs of its own
#     machine        processor, system, and the places where applications run
#     meters         those that were found; not the clocks, which are part of a setting
HEAD_FORMAT: Final = "lpsched-bench-run/1"
HEAD_KEYS: Final = ("format", "name", "applications", "energy", "counters", "machine", "meters", "lpsched", "began")
FOR_PEOPLE: Final = ("format", "name", "began")
SHOWN: Final = 100  # characters of what differs


def head_of(
    bench: Bench, *, machine: MeasuredMachine, meters: Meters, lpsched: str = "", began: str = ""
) -> LineContent:
    """Return what the samples of a bench on this machine depend on, as JSON has it."""
    applications = {
        each.name: each.model_dump(include={"command", "folder", "environment"}, exclude_defaults=True)
        for each in bench.applications
    }
    energy: LineContent = {"kind": bench.energy.kind, "command": bench.energy.program}
    energy |= {"every_seconds": bench.energy.every_seconds, "covers": bench.energy.covers}
    of_machine = machine.model_dump()
    of_meters = meters.model_dump(exclude_none=True)
    fields = (HEAD_FORMAT, bench.name, applications, energy, bench.counters, of_machine, of_meters, lpsched, began)
    head: LineContent = json.loads(json.dumps(dict(zip(HEAD_KEYS, fields, strict=True))))  # lists for tuples
    return head


def head_from(fields: LineContent) -> LineContent:
    """Return the head in a line, if it is complete."""
    machine = dict(fields["machine"])
    MeasuredMachine(cores=machine.pop("cores"), **machine)
    Meters(**fields["meters"])
    if not isinstance(fields["began"], str) or len(fields["began"]) > LONGEST_FREE_TEXT:
        raise ValueError("a text as began")
    return {key: fields[key] for key in HEAD_KEYS}


def _deciding(head: LineContent) -> LineContent:
    """Return what decides a setting's outcome."""
    fields = {key: value for key, value in head.items() if key not in FOR_PEOPLE}
    return fields | {"meters": {key: value for key, value in head["meters"].items() if key != "frequencies"}}


def _differences(before: LineContent, now: LineContent, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Describe what has changed; an application that only one of the two has is no difference."""
    for key in dict.fromkeys((*before, *now)):
        here = (*place, key)
        if place == ("applications",) and (key not in before or key not in now):
            continue
        one, other = before.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, here)
        elif one != other:
            yield f"{' of '.join(reversed(here))} was {_shown(one)}, is {_shown(other)}"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return quote(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


# The samples of a bench that runs: one JSON object for each, so that nothing is measured twice.
#
# first line    what the samples depend on                          lpsched-bench-run/1
# a line        one run of a setting                                lpsched-sample/1
# a line        the power of the idle machine, before all runs      lpsched-idle/1
#
# Where applications were added to a bench, a later line has a head with them. What is absent was not
# measured. How lines are kept safe is in `io/content.py`.
ENDING: Final = ".samples.jsonl"
SAMPLE_FORMAT: Final = "lpsched-sample/1"
IDLE_FORMAT: Final = "lpsched-idle/1"
SAMPLES: Final = LineKind("sample", "samples of a bench", "lpsched measure", (SAMPLE_FORMAT, HEAD_FORMAT, IDLE_FORMAT))
MOST_DIFFERENCES: Final = 5  # shown


class SamplesOnFile(NamedTuple):
    """The content of a file of samples."""

    head: LineContent
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
    head: LineContent | None = None
    samples: list[Sample] = []
    idle: float | None = None
    for line in read_lines(path, SAMPLES, _from_line):
        if isinstance(line, dict):
            head = line
        elif head is None:
            needed = f"a first line with the format '{HEAD_FORMAT}'"
            raise one_issue(path, "samples of no bench", needed, "remove the file, and measure again", 1)
        elif isinstance(line, Sample):
            samples.append(line)
        else:
            idle = line
    if head is None:
        raise one_issue(path, "no line", "samples of a bench", f"see '{SAMPLES.command}'")
    return SamplesOnFile(head, tuple(samples), idle)


class SampleLines(AddedLines):
    """The samples of a bench, open for more; a context manager.

    `head` is what they depend on, as on file where there is one; `samples` and `idle_watts_before` are those on file.
    """

    def __init__(self, path: Path, head: LineContent, *, resume: bool, overwrite: bool = False) -> None:
        super().__init__(path, SAMPLES, resume=resume, overwrite=overwrite)
        self.head = head
        self.samples: tuple[Sample, ...] = ()
        self.idle_watts_before: float | None = None
        try:
            if path.stat().st_size:
                self._go_on(read_samples(path))
            else:
                self.add_line(head)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _go_on(self, found: SamplesOnFile) -> None:
        """Resume from the file; its head then has the applications of both sessions."""
        before, now = found.head, self.head
        if differences := list(_differences(_deciding(before), _deciding(now))):
            shown = "; ".join(differences[:MOST_DIFFERENCES])
            if len(differences) > MOST_DIFFERENCES:
                shown += f"; and {len(differences) - MOST_DIFFERENCES} more"
            do = "choose another output, or remove the samples and measure again"
            raise OutputError(f"cannot go on with {self.path}: its samples rest on something else: {shown}; {do}")
        _, self.samples, self.idle_watts_before = found
        self.head = before | {"applications": before["applications"] | now["applications"]}
        if self.head != before:
            self.add_line(self.head)

    def add(self, sample: Sample) -> None:
        """Write a sample; it is on the disk when this returns."""
        self.add_line(_to_line(sample))

    def add_idle_before(self, watts: float) -> None:
        """Write the power of the idle machine before all runs."""
        self.add_line({"format": IDLE_FORMAT, "watts": watts})
        self.idle_watts_before = watts


def _to_line(sample: Sample) -> LineContent:
    fields = {"format": SAMPLE_FORMAT, **asdict(sample.setting), **asdict(sample)}
    del fields["setting"]
    unusual = {"batch": fields["batch"] or None, "restarts": fields["restarts"] or None}
    return {key: value for key, value in (fields | unusual).items() if value is not None}


def _from_line(fields: LineContent) -> LineContent | Sample | float:
    if fields["format"] == HEAD_FORMAT:
        return head_from(fields)
    if fields["format"] == IDLE_FORMAT:
        return _amount(fields, "watts", needed=True) or 0.0
    beside = tuple(sorted(map(str, fields.get("beside", ()))))
    setting = Setting(str(fields["application"]), beside, _amount(fields, "mhz"), bool(fields.get("batch")))
    failure = fields.get("failure")
    seconds = _amount(fields, "seconds", needed=failure is None)
    joules, misses, instructions = (_amount(fields, key) for key in ("joules", "misses", "instructions"))
    why = None if failure is None else str(failure)
    return Sample(setting, seconds, joules, misses, instructions, int(fields.get("restarts", 0)), why)


def _amount(fields: LineContent, key: str, *, needed: bool = False) -> float | None:
    """Return a number that is not negative; `None` where there is none."""
    value = fields[key] if needed else fields.get(key)
    if value is None and not needed:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise ValueError(f"a number that makes sense as {key}")
    return float(value)
