"""Clocks in a folder that looks like /sys/devices/system/cpu, under a kernel as strict as the real one."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from lpsched.measure.meters.clocks import find_clocks


def policy(root: Path, number: int, *, low=800_000, high=3_400_000, table="", least=800_000, most=3_400_000):
    folder = root / "cpufreq" / f"policy{number}"
    folder.mkdir(parents=True)
    (folder / "cpuinfo_min_freq").write_text(str(least))
    (folder / "cpuinfo_max_freq").write_text(str(most))
    (folder / "scaling_min_freq").write_text(str(low))
    (folder / "scaling_max_freq").write_text(str(high))
    (folder / "scaling_driver").write_text("acpi-cpufreq\n" if table else "intel_pstate\n")
    if table:
        (folder / "scaling_available_frequencies").write_text(f"{table} \n")
    return folder


def processor(root: Path, number: int, folder: Path) -> None:
    (root / f"cpu{number}").mkdir(parents=True)
    (root / f"cpu{number}" / "cpufreq").symlink_to(folder)


def limits(folder: Path) -> tuple[int, int]:
    return int((folder / "scaling_min_freq").read_text()), int((folder / "scaling_max_freq").read_text())


@pytest.fixture
def machine(tmp_path):
    folder = policy(tmp_path, 0)
    processor(tmp_path, 0, folder)
    return tmp_path, folder


@pytest.fixture
def strict_kernel(machine, monkeypatch):  # noqa: ARG001 - files first, rules then
    """Refuse what the kernel refuses: a lowest clock above the highest, at any moment."""
    write = Path.write_text

    def checked(self, text, *args, **kwargs):
        if self.name in {"scaling_min_freq", "scaling_max_freq"}:
            low, high = limits(self.parent)
            low, high = (int(text), high) if self.name == "scaling_min_freq" else (low, int(text))
            if low > high:
                raise OSError(errno.EINVAL, "Invalid argument")
        return write(self, text, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", checked)


@pytest.mark.usefixtures("strict_kernel")
def test_a_clock_goes_up_and_down_and_comes_back(machine):
    root, folder = machine
    clocks, absent = find_clocks([0], [3400.0, 1700.0, 800.0], root)
    assert absent == ()
    with clocks:
        for mhz in (1700.0, 3400.0, 800.0, 1700.0):
            assert clocks.set(mhz) is None
            assert limits(folder) == (mhz * 1000, mhz * 1000)
        assert clocks.set(None) is None
        assert limits(folder) == (800_000, 3_400_000)
        clocks.set(800.0)
    assert limits(folder) == (800_000, 3_400_000)
    assert clocks.troubles == ()


def test_the_old_limits_come_back_after_an_interrupt(tmp_path):
    folder = policy(tmp_path, 0, low=1_000_000, high=2_000_000)
    processor(tmp_path, 0, folder)
    clocks, _ = find_clocks([0], [3000.0], tmp_path)

    def interrupted():
        with clocks:
            clocks.set(3000.0)
            assert limits(folder) == (3_000_000, 3_000_000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert limits(folder) == (1_000_000, 2_000_000)


def test_every_processor_is_set_and_shared_clocks_once(tmp_path):
    first, second = policy(tmp_path, 0), policy(tmp_path, 2, low=900_000)
    for number, folder in ((0, first), (1, first), (2, second), (3, policy(tmp_path, 3))):
        processor(tmp_path, number, folder)
    clocks, _ = find_clocks([2, 0, 1], [1700.0], tmp_path)
    with clocks:
        clocks.set(1700.0)
        assert limits(first) == limits(second) == (1_700_000, 1_700_000)
        assert limits(tmp_path / "cpufreq" / "policy3") == (800_000, 3_400_000)
    assert (limits(first), limits(second)) == ((800_000, 3_400_000), (900_000, 3_400_000))


def test_of_a_table_only_what_stands_in_it_can_be_set(tmp_path):
    folder = policy(tmp_path, 0, table="3401000 3400000 1700000")
    processor(tmp_path, 0, folder)
    clocks, absent = find_clocks([0], [3400.0, 1702.0, 1700.0], tmp_path)
    assert clocks.frequencies_mhz == (3400.0, 1700.0)
    assert absent == ("1702 MHz cannot be set: cpufreq offers 3401, 3400, 1700 MHz",)
    with clocks:
        clocks.set(3400.0)
        assert limits(folder) == (3_400_000, 3_400_000)  # not the 3401 that stands for turbo


def test_without_a_table_anything_in_the_range_can_be_set(machine):
    clocks, absent = find_clocks([0], [800.0, 3400.0, 3400.1, 799.9, 1234.5], machine[0])
    assert clocks.frequencies_mhz == (3400.0, 1234.5, 800.0)
    assert absent == (
        "3400.1 MHz cannot be set: cpufreq offers 800 to 3400 MHz",
        "799.9 MHz cannot be set: cpufreq offers 800 to 3400 MHz",
    )


def test_a_clock_that_one_kind_of_core_lacks_cannot_be_set(tmp_path):
    for number, most in ((0, 4_000_000), (1, 2_000_000)):
        processor(tmp_path, number, policy(tmp_path, number, most=most, high=most))
    clocks, absent = find_clocks([0, 1], [3000.0, 2000.0], tmp_path)
    assert clocks.frequencies_mhz == (2000.0,)
    assert absent == ("3000 MHz cannot be set: cpufreq offers 800 to 2000 MHz",)


def test_without_any_clock_that_can_be_set_there_are_no_clocks(machine):
    assert find_clocks([0], [5000.0], machine[0])[0] is None


def test_the_name_tells_the_driver(machine):
    assert find_clocks([0], [1700.0], machine[0])[0].name == "cpufreq, intel_pstate"


def test_no_cpufreq_is_told(tmp_path):
    assert find_clocks([0], [1700.0], tmp_path) == (
        None,
        (
            (
                f"clocks cannot be set: there is no {tmp_path}/cpu0/cpufreq; the machine (often a virtual one) or its"
                " kernel has no cpufreq; everything is measured at the machine's own clock"
            ),
        ),
    )


def test_not_permitted_is_told_and_changes_nothing(machine, monkeypatch):
    root, folder = machine

    def refuse(self, *_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_text", refuse)  # root may write everything
    assert find_clocks([0], [1700.0], root) == (
        None,
        (
            (
                f"clocks cannot be set: {folder}/scaling_max_freq may not be written (Permission denied); run as root,"
                " or let root make scaling_min_freq and scaling_max_freq writable; everything is measured at the"
                " machine's own clock"
            ),
        ),
    )
    assert limits(folder) == (800_000, 3_400_000)


def test_a_driver_that_sets_another_clock_is_told(machine, monkeypatch):
    root, folder = machine
    clocks, _ = find_clocks([0], [1700.0], root)
    with clocks:
        monkeypatch.setattr(Path, "write_text", lambda *_: None)  # it takes everything and does nothing
        why = f"{folder} was set to 1700 to 1700 MHz and says 800 to 3400 MHz"
        assert clocks.set(1700.0) == why
        assert clocks.set(1700.0) == why
    assert clocks.troubles == (why,)


def test_one_clock_that_cannot_be_put_back_does_not_keep_the_others_from_it(tmp_path, monkeypatch):
    folders = [policy(tmp_path, number) for number in (0, 1)]
    for number, folder in enumerate(folders):
        processor(tmp_path, number, folder)
    clocks, _ = find_clocks([0, 1], [1700.0], tmp_path)
    write = Path.write_text
    with clocks:
        clocks.set(1700.0)

        def refuse(self, text):
            if self.parent == folders[0]:
                raise OSError(errno.EBUSY, "Device or resource busy")
            return write(self, text)

        monkeypatch.setattr(Path, "write_text", refuse)
    assert limits(folders[1]) == (800_000, 3_400_000)
    assert clocks.troubles == (f"the clock in {folders[0]} cannot be set: Device or resource busy",)
