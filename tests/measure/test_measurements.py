from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.facility.model import facility_from_dict
from lpsched.io.templates import template
from lpsched.measure.evidence import Failed, Setting
from lpsched.measure.files import as_dict, read_measurements, write_measurements
from lpsched.measure.measurements import Measurements
from tests.facilities import SOUND
from tests.measured import measurements_of_seed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("measured")


@pytest.mark.filterwarnings("ignore:.*are below idle_watts")
@settings(deadline=None)
@given(st.integers(0, 2**64))
def test_what_is_written_is_read_again(folder, seed):
    measurements = measurements_of_seed(seed)
    for path in (folder / "node.yaml", folder / "node.json"):
        write_measurements(measurements, path)
        assert read_measurements(path) == measurements


TOLD = """\
format: lpsched-measurements/1
name: node

applications:
  - zip
  - {name: sort, count: 0}
seconds:
  zip: 1.0
  srot: 2.0
measured:
  - {application: zip, seconds: {mean: 2.0}}
  - {application: zip, beside: [sort], seconds: {mean: -2.0}}
"""


def test_faults_come_in_file_order_with_their_lines(tmp_path):
    path = tmp_path / "node.yaml"
    path.write_text(TOLD)
    with pytest.raises(InstanceError) as refused:
        read_measurements(path)
    assert [issue.location for issue in refused.value.issues] == [
        "line 6, applications[1].count",
        "line 9, seconds.srot",
        "line 12, measured[1].seconds.mean",
    ]


def test_the_evidence_is_told_with_the_line_of_the_column(tmp_path):
    path = tmp_path / "node.yaml"
    path.write_text("\n".join(TOLD.replace(", count: 0", "").replace("srot", "sort").splitlines()[:-1]))
    with pytest.raises(InstanceError, match=r"line 8, seconds.zip: got 1.0, expected 2.0, as measured for"):
        read_measurements(path)


def test_a_file_is_for_people(tmp_path):
    # columns before evidence, one line for each setting, degradation as a facility has it
    path = tmp_path / "node.yaml"
    write_measurements(
        Measurements.read(
            {
                "format": "lpsched-measurements/1",
                "name": "node",
                "machine": {"processor": "Some CPU", "cores": 2},
                "absent": ["no energy: " + "x" * 100, "no misses"],
                "frequencies_mhz": [3400],
                "applications": [{"name": "zip", "command": ["xz", "-k", "no"], "memory_class": "III"}],
                "seconds": {"zip": [0.1]},
                "degradation": {"III": {"III": 0.25}},
                "measured": [
                    {"application": "zip", "mhz": 3400, "seconds": {"count": 3, "mean": 0.1, "low": 0.05}},
                    {"application": "zip", "beside": ["zip"], "mhz": 3400, "seconds": {"mean": 0.125}},
                ],
                "failed": [{"application": "zip", "beside": ["zip"], "batch": True, "reason": "too\nslow"}],
            }
        ),
        path,
    )
    assert [line for line in path.read_text().splitlines() if line and not line.startswith("#")] == [
        "format: lpsched-measurements/1",
        "name: node",
        "machine_type: node",
        'machine: {processor: "Some CPU", cores: [[0], [1]]}',
        "absent:",
        f'  - "no energy: {"x" * 100}"',
        '  - "no misses"',
        "frequencies_mhz: [3400.0]",
        "applications:",
        '  - {name: zip, command: [xz, "-k", "no"], count: 1, memory_class: III}',
        "seconds: {zip: [0.1]}",
        "degradation:",
        "  III: {III: 0.25}",
        "confidence: 0.95",
        "measured:",
        "  - {application: zip, mhz: 3400.0, seconds: {mean: 0.1, low: 0.05, count: 3}}",
        "  - {application: zip, beside: [zip], mhz: 3400.0, seconds: {mean: 0.125, count: 1}}",
        "failed:",
        '  - {application: zip, beside: [zip], batch: true, reason: "too\\nslow"}',
    ]


def test_degradation_can_be_pasted_into_a_facility():
    pasted = {"heavy": {"heavy": 0.25, "light": 0.0}, "light": {"heavy": 0.1, "light": 0.0}}
    raw = {
        "format": "lpsched-measurements/1",
        "name": "node",
        "applications": ["zip"],
        "seconds": {"zip": 1.0},
        "degradation": pasted,
    }
    written = as_dict(Measurements.read(raw))["degradation"]
    facility = facility_from_dict(SOUND | {"degradation": written})
    assert facility.memory_classes == ("heavy", "light")
    assert facility.degradation is not None
    assert facility.degradation[0, 0] == 0.25


def test_what_a_program_said_is_written_even_if_it_is_no_text(tmp_path):
    path = tmp_path / "node.yaml"
    raw = {"format": "lpsched-measurements/1", "name": "n", "applications": ["a", "b"], "seconds": {"a": 1.0}}
    failed = Failed.of(Setting("b"), b"ended: \xff\x1b".decode(errors="surrogateescape"))
    write_measurements(Measurements.read(raw).model_copy(update={"failed": (failed,)}), path)
    (found,) = read_measurements(path).failed
    assert found.reason.startswith("ended: \ufffd")
    assert found.reason.endswith("\x1b")


def test_the_template_is_sound(tmp_path):
    path = tmp_path / "node.yaml"
    path.write_text(template("measurements"))
    measurements = read_measurements(path)
    assert measurements.machine.cores == ((0,), (1,), (2,), (3,))
    assert measurements.remarks() == ()
