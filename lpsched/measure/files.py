"""Files of benches and of measurements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import WIDTH, document_bytes, made_of, require_suffix, yaml_text
from lpsched.measure.bench_reading import bench_from
from lpsched.measure.measurements import MEASUREMENTS_FORMAT, NOT_TOLD, MeasuredMachine, Meters
from lpsched.measure.measurements_reading import SPREAD_KEYS, USUAL_CONFIDENCE, measurements_from

if TYPE_CHECKING:
    from lpsched.io.documents import Document
    from lpsched.measure.bench import Bench
    from lpsched.measure.measurements import Measured, MeasuredApplication, Measurements, Setting, Spread


def read_bench(path: Path | str) -> Bench:
    """Read a bench from a YAML or JSON file.

    What is legal but suspect comes as an `LpschedWarning`.
    """
    path = Path(path)
    return bench_of(read_document(path), path)


def bench_of(document: Document, path: Path) -> Bench:
    """Make a bench of what the file at `path` says; see `read_bench`."""
    return made_of(document, path, lambda raw: bench_from(raw, str(path)))


# Files of measurements: YAML and JSON; for people the columns first, the evidence after them.
#
# What is absent is left out. Numbers are written with as many digits as it takes to read the same ones again.
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
    return made_of(document, path, lambda raw: measurements_from(raw, str(path)))


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
    told = measurements
    raw = {
        "format": MEASUREMENTS_FORMAT,
        "name": told.name,
        "description": _text(told.description),
        "machine_type": told.machine_type,
        "taken": _text(told.taken),
        "lpsched": _text(told.lpsched),
        "machine": _told(told.machine, MeasuredMachine(NOT_TOLD, NOT_TOLD, ())),
        "meters": _told(told.meters, Meters(NOT_TOLD)),
        "absent": [_text(each) for each in told.absent],
        "idle_watts": told.idle_watts,
        "idle_watts_before": told.idle_watts_before,
        "idle_watts_after": told.idle_watts_after,
        "frequencies_mhz": list(told.frequencies_mhz),
        "applications": [_application(each) for each in told.applications],
        "seconds": _columns(told, told.seconds),
        "watts": _columns(told, told.watts),
        "degradation": {name: dict(row) for name, row in told.class_degradation.items()},
        "degradation_in_full": {name: dict(row) for name, row in told.degradation.items()},
        "confidence": told.confidence if told.measured or told.confidence != USUAL_CONFIDENCE else None,
        "measured": [_measured(each) for each in told.measured],
        "failed": [_setting(each.setting) | {"reason": _text(each.reason)} for each in told.failed],
        "savings": [_some(asdict(each) | {"together": list(each.together)}) for each in told.savings],
        "additive": [
            _setting(each.setting) | {"measured": each.measured, "predicted": each.predicted} for each in told.additive
        ],
    }
    return _some(raw)


def _some(told: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {key: value for key, value in told.items() if value is not None and value not in ("", [], {})}


def _told(part: MeasuredMachine | Meters, nothing: MeasuredMachine | Meters) -> dict[str, Any]:
    """Leave out what a part does not tell; `nothing` is one that tells nothing."""
    kept = {key: value for key, value in asdict(part).items() if value != getattr(nothing, key)}
    return {key: _text(value) if isinstance(value, str) else list(map(list, value)) for key, value in kept.items()}


def _text(text: str) -> str:
    """Return a text that a file can hold: halves of characters become marks."""
    return text.encode(errors="surrogatepass").decode(errors="replace")


def _columns(told: Measurements, table: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    return {name: list(row) if told.frequencies_mhz else row[0] for name, row in table.items()}


def _application(application: MeasuredApplication) -> dict[str, Any]:
    return _some(asdict(application) | {"command": [_text(word) for word in application.command]})


def _measured(measured: Measured) -> dict[str, Any]:
    spreads = {
        "seconds": _spread(measured.seconds),
        "joules": _spread(measured.joules),
        "misses_per_instruction": _spread(measured.intensity),
    }
    return _setting(measured.setting) | _some(spreads)


def _spread(spread: Spread | None) -> dict[str, Any]:
    return {} if spread is None else _some({key: getattr(spread, key) for key in SPREAD_KEYS})


def _setting(setting: Setting) -> dict[str, Any]:
    told = asdict(setting) | {"beside": list(setting.beside), "batch": setting.batch or None}
    return _some(told)
