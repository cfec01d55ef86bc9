"""RAPL in a folder that looks like /sys/class/powercap, with counters that tests turn."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lpsched.measure.meters.energy import RaplMeter, Zone, find_zones

RANGE = 262_143_328_850


def zone(root: Path, folder: str, name: str, microjoules: int = 0, range_microjoules: int = RANGE) -> Path:
    path = root / folder
    path.mkdir(parents=True)
    (path / "name").write_text(f"{name}\n")
    (path / "energy_uj").write_text(f"{microjoules}\n")
    (path / "max_energy_range_uj").write_text(f"{range_microjoules}\n")
    return path / "energy_uj"


@pytest.fixture
def turning(monkeypatch):
    """Counters that go on between any two readings of them, as real ones do."""
    read = Zone.microjoules
    turns = iter(range(1, 1_000_000))
    monkeypatch.setattr(Zone, "microjoules", lambda self: read(self) + next(turns))


def names(root: Path):
    zones = find_zones(root, probe_seconds=0.0)
    assert isinstance(zones, tuple), zones
    return [found.name for found in zones]


@pytest.mark.usefixtures("turning")
class TestWhichZonesCount:
    def test_packages_and_their_memory_but_no_from_terminal_packages_and_nothing_that_contains_them(self, tmp_path):
        zone(tmp_path, "intel-rapl:0", "package-0")
        zone(tmp_path, "intel-rapl:0:0", "core")
        zone(tmp_path, "intel-rapl:0:1", "uncore")
        zone(tmp_path, "intel-rapl:0:2", "dram")
        zone(tmp_path, "intel-rapl:1", "package-1")
        zone(tmp_path, "intel-rapl:1:0", "dram")
        zone(tmp_path, "intel-rapl:2", "psys")
        (tmp_path / "intel-rapl").mkdir()
        assert names(tmp_path) == ["package-0", "dram-0", "package-1", "dram-1"]

    def test_the_same_counter_by_another_way_is_not_counted_twice(self, tmp_path):
        zone(tmp_path, "intel-rapl:0", "package-0")
        zone(tmp_path, "intel-rapl-mmio:0", "package-0")
        assert names(tmp_path) == ["package-0"]

    def test_the_tenth_package_comes_after_the_second(self, tmp_path):
        for k in (10, 2):
            zone(tmp_path, f"intel-rapl:{k}", f"package-{k}")
        assert names(tmp_path) == ["package-2", "package-10"]

    def test_the_platform_counts_where_there_is_no_package(self, tmp_path):
        zone(tmp_path, "intel-rapl:0", "psys")
        assert names(tmp_path) == ["psys"]


class TestWhyThereIsNone:
    def test_no_folder(self, tmp_path):
        assert find_zones(tmp_path / "powercap") == (
            f"there is no RAPL counter in {tmp_path}/powercap; it needs an Intel or AMD processor with the kernel"
            " module intel_rapl_msr, and in a virtual machine it is mostly missing"
        )

    def test_no_zone_that_counts(self, tmp_path):
        zone(tmp_path, "dtpm:0", "pkg")
        assert find_zones(tmp_path).startswith("there is no RAPL counter")

    def test_not_permitted_names_the_file_and_the_way_out(self, tmp_path, monkeypatch):
        file = zone(tmp_path, "intel-rapl:0", "package-0")

        def refuse(self):
            raise PermissionError(13, "Permission denied", str(self.file))

        monkeypatch.setattr(Zone, "microjoules", refuse)  # root may read everything
        assert find_zones(tmp_path) == (
            f"{file} may be read by root alone; run as root, or let root say:"
            f" chmod a+r {tmp_path}/intel-rapl:*/energy_uj"
        )

    def test_a_counter_that_stands_still_is_none(self, tmp_path):
        zone(tmp_path, "intel-rapl:0", "package-0", 12345)
        assert find_zones(tmp_path, probe_seconds=0.01) == f"the RAPL counters in {tmp_path} stand still"

    def test_a_counter_that_is_no_number_is_none(self, tmp_path):
        zone(tmp_path, "intel-rapl:0", "package-0").write_text("soon")
        assert find_zones(tmp_path).startswith("a RAPL counter cannot be read: ")


class Machine:
    """Counters and a clock that stand where a test puts them."""

    def __init__(self, root: Path, *ranges: int) -> None:
        self.now = 100.0
        self.files = [
            zone(root, f"intel-rapl:{k}", f"package-{k}", 0, range_microjoules)
            for k, range_microjoules in enumerate(ranges)
        ]
        self.meter = RaplMeter(
            [Zone(f"package-{k}", file, ranges[k]) for k, file in enumerate(self.files)], lambda: self.now
        )

    def read(self, seconds: float, *microjoules: int) -> None:
        self.now = seconds
        for file, value in zip(self.files, microjoules, strict=True):
            file.write_text(str(value))
        self.meter.mark()


def test_energy_is_the_growth_of_all_counters_between_two_marks(tmp_path):
    machine = Machine(tmp_path, RANGE, RANGE)
    machine.read(1.0, 7_000_000, 100)
    machine.read(3.0, 27_000_000, 5_000_100)  # 20 J and 5 J
    assert machine.meter.joules(1.0, 3.0) == pytest.approx(25.0, abs=1e-12)


def test_a_counter_that_begins_again_goes_on(tmp_path):
    machine = Machine(tmp_path, 10_000_000, RANGE)
    machine.read(0.0, 9_000_000, 0)
    machine.read(1.0, 4_000_000, 0)  # 1 J to the end of the range and 4 J on
    machine.read(2.0, 9_500_000, 0)  # 5.5 J
    machine.read(3.0, 500_000, 0)  # 1 J, over the end again
    assert machine.meter.joules(0.0, 3.0) == pytest.approx(11.5, abs=1e-12)


def test_between_readings_energy_is_linear(tmp_path):
    machine = Machine(tmp_path, RANGE)
    machine.read(0.0, 0)
    machine.read(10.0, 100_000_000)
    machine.read(20.0, 300_000_000)
    # At 8 s 80 J, at 15 s 200 J.
    assert machine.meter.joules(8.0, 15.0) == pytest.approx(120.0)


def test_intervals_in_order_are_all_answered_though_the_past_is_forgotten(tmp_path):
    machine = Machine(tmp_path, RANGE)
    for k in range(6):
        machine.read(float(k), k * 1_000_000)
    assert machine.meter.joules(0.5, 2.0) == pytest.approx(1.5)
    assert machine.meter.joules(0.5, 2.0) == pytest.approx(1.5)  # the reading before it is still there
    assert machine.meter.joules(2.5, 4.0) == pytest.approx(1.5)
    assert machine.meter.joules(0.0, 4.0) is None  # too late: forgotten


def test_before_the_first_reading_nothing_is_known(tmp_path):
    machine = Machine(tmp_path, RANGE)
    machine.read(5.0, 0)
    machine.read(6.0, 1_000_000)
    assert machine.meter.joules(4.9, 6.0) is None


def test_the_end_needs_no_mark(tmp_path):
    machine = Machine(tmp_path, RANGE)
    machine.read(1.0, 0)
    machine.now = 3.0
    machine.files[0].write_text("6000000")
    assert machine.meter.joules(1.0, 2.0) == pytest.approx(3.0)  # half of 6 J


def test_a_counter_that_can_no_longer_be_read_is_told_once_and_guesses_nothing(tmp_path):
    machine = Machine(tmp_path, RANGE)
    machine.read(1.0, 0)
    machine.files[0].unlink()
    machine.now = 2.0
    machine.meter.mark()
    assert machine.meter.joules(1.0, 2.0) is None
    assert len(machine.meter.troubles) == 1
    assert machine.meter.troubles[0].startswith("a RAPL counter cannot be read any more: ")
    machine.read(3.0, 50_000_000)  # it is back, and counts from here
    machine.read(4.0, 52_000_000)
    assert machine.meter.joules(1.0, 4.0) is None
    assert machine.meter.joules(3.0, 4.0) == pytest.approx(2.0)


def test_a_small_counter_is_read_often_enough_for_five_kilowatts(tmp_path):
    # 65 kJ last 13 s at 5 kW: 10 s is often enough. 10 kJ last 2 s.
    assert Machine(tmp_path / "a", 65_532_610_987).meter.poll_seconds == 10.0
    assert Machine(tmp_path / "b", RANGE, 10_000_000_000).meter.poll_seconds == 2.0


def test_the_counters_are_polled_while_it_runs_and_not_afterwards(tmp_path, monkeypatch):
    machine = Machine(tmp_path, 5_000_000)  # 5 J last 1 ms at 5 kW
    polled = threading.Event()
    mark = machine.meter.mark
    marks: list[None] = []

    def count():
        marks.append(mark())
        if len(marks) > 2:
            polled.set()

    monkeypatch.setattr(machine.meter, "mark", count)
    with machine.meter:
        assert polled.wait(20.0)
    assert machine.meter._thread.is_alive() is False  # noqa: SLF001


@pytest.mark.parametrize(
    ("zones", "name", "covers"),
    [
        (["package-0", "dram-0"], "RAPL package-0, dram-0", "processor packages and memory"),
        (["package-0"], "RAPL package-0", "processor packages, without memory"),
        (["psys"], "RAPL psys", "the platform as the processor knows it"),
    ],
)
def test_the_name_tells_what_is_counted(zones, name, covers):
    meter = RaplMeter([Zone(label, Path("energy_uj"), RANGE) for label in zones])
    assert (meter.name, meter.covers) == (name, covers)
