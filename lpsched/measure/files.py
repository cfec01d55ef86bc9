"""Files of benches and of measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import WIDTH, document_bytes, made_of, require_suffix, yaml_text
from lpsched.measure.bench import Bench
from lpsched.measure.measurements import USUAL_CONFIDENCE, MeasuredMachine, Measurements, Meters

if TYPE_CHECKING:
    from lpsched.io.documents import Document


def read_bench(path: Path | str) -> Bench:
    """Read a bench from a YAML or JSON file.

    What is legal but suspect comes as an `LpschedWarning`.
    """
    path = Path(path)
    return bench_of(read_document(path), path)


def bench_of(document: Document, path: Path) -> Bench:
    """Make a bench of what the file at `path` says; see `read_bench`."""
    return made_of(document, path, lambda raw: Bench.read(raw, str(path)))


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


def read_measurements(path: Path | str) -> Measurements:
    """Read what a bench found out from a YAML or JSON file.

    What is legal but suspect comes as an `LpschedWarning`.
    """
    path = Path(path)
    return measurements_of(read_document(path), path)


def measurements_of(document: Document, path: Path) -> Measurements:
    """Make measurements of what the file at `path` says; see `read_measurements`."""
    return made_of(document, path, lambda raw: Measurements.read(raw, str(path)))


def write_measurements(measurements: Measurements, path: Path | str) -> tuple[Path, ...]:
    """Write measurements, without loss; return the file."""
    path = Path(path)
    require_suffix(path)
    write_files({path: document_bytes(as_dict(measurements), path, as_yaml=_yaml)})
    return (path,)


def _yaml(raw: dict[str, Any]) -> str:
    parts = (
        (f"\n# {NOTES[key]}\n" if key in NOTES else "") + yaml_text({key: value}, widest=WIDTH)
        for key, value in raw.items()
    )
    return "".join(parts)


def as_dict(measurements: Measurements) -> dict[str, Any]:
    """Return measurements as a mapping with the keys of a file; what is absent is left out."""
    told = _plain(measurements.model_dump())
    told["machine"] = _told(told["machine"], MeasuredMachine())
    told["meters"] = _told(told["meters"], Meters())
    told["applications"] = [_some(each) for each in told["applications"]]
    for key in ("seconds", "watts"):
        told[key] = {name: row if told["frequencies_mhz"] else row[0] for name, row in told[key].items()}
    if not told["measured"] and told["confidence"] == USUAL_CONFIDENCE:
        del told["confidence"]
    told["savings"] = [{"together": each["together"], "mhz": each["mhz"]} | each for each in told["savings"]]
    for key in ("measured", "failed", "savings", "additive"):
        told[key] = [_entry(each) for each in told[key]]
    return _some({key: told[key] for key in KEYS if key in told})


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


def _some(told: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {key: value for key, value in told.items() if value is not None and value not in ("", [], {})}


def _told(told: dict[str, Any], nothing: MeasuredMachine | Meters) -> dict[str, Any]:
    """Leave out what a part does not tell; `nothing` is one that tells nothing."""
    return {key: value for key, value in told.items() if value != _plain(getattr(nothing, key))}


def _entry(told: dict[str, Any]) -> dict[str, Any]:
    """Return a setting with what was found."""
    found = {key: _spread(value) if isinstance(value, dict) else value for key, value in told.items()}
    return {key: value for key, value in found.items() if value is not None and value is not False and value != []}


def _spread(told: dict[str, Any]) -> dict[str, Any]:
    return _some({key: told[key] for key in ("mean", "low", "high", "deviation", "count")})
