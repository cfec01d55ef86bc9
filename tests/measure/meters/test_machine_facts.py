"""What machine this is, told by files that look like those of the kernel."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest

from lpsched.measure.meters.machine import (
    allowed_processors,
    missed_level,
    physical_cores,
    processor_name,
    read_list,
    siblings_of,
    system_name,
)

if TYPE_CHECKING:
    from pathlib import Path


def share(root: Path, *cores: str) -> Path:
    for core in cores:
        for number in read_list(core):
            folder = root / f"cpu{number}" / "topology"
            folder.mkdir(parents=True)
            (folder / "thread_siblings_list").write_text(f"{core}\n")
    return root


def test_processors_are_grouped_by_the_core_that_they_share(tmp_path):
    root = share(tmp_path, "0,4", "1,5", "2-3")
    assert physical_cores({0, 1, 2, 3, 4, 5}, root) == ((0, 4), (1, 5), (2, 3))


def test_a_processor_that_we_may_not_use_is_not_in_its_core(tmp_path):
    assert physical_cores({5, 1, 4}, share(tmp_path, "0,4", "1,5")) == ((1, 5), (4,))


def test_without_topology_every_processor_is_a_core(tmp_path):
    assert physical_cores({1, 0}, tmp_path) == ((0,), (1,))
    assert siblings_of(3, tmp_path) == (3,)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   CPU @ 2.50GHz\n", "Intel(R) Xeon(R) CPU @ 2.50GHz"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ],
)
def test_the_processor_is_called_as_it_calls_itself(tmp_path, text, name):
    (tmp_path / "cpuinfo").write_text(text)
    assert processor_name(tmp_path / "cpuinfo") == name


def test_a_processor_without_a_name_is_called_after_its_architecture(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert processor_name(tmp_path / "cpuinfo") in {platform.processor(), platform.machine()} - {""}
    assert processor_name(tmp_path / "none") == processor_name(tmp_path / "cpuinfo")


@pytest.mark.parametrize(
    ("text", "architecture", "level"),
    [
        ("vendor_id\t: GenuineIntel\n", "x86_64", None),
        ("vendor_id\t: AuthenticAMD\n", "x86_64", "the L2 cache"),
        ("BogoMIPS\t: 50.00\n", "aarch64", "the L1 data cache"),
        ("vendor_id\t: IBM/S390\n", "s390x", "an unknown cache"),
    ],
)
def test_the_last_level_is_not_claimed_where_another_is_missed(tmp_path, text, architecture, level):
    (tmp_path / "cpuinfo").write_text(text)
    assert missed_level(tmp_path / "cpuinfo", architecture) == level


def test_the_system_names_its_kernel(monkeypatch):
    kernel = f"{platform.system()} {platform.release()} {platform.machine()}"
    assert system_name().endswith(kernel)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"PRETTY_NAME": "Debian 12"})
    assert system_name() == f"Debian 12, {kernel}"

    def none():
        raise OSError

    monkeypatch.setattr(platform, "freedesktop_os_release", none)
    assert system_name() == kernel


def test_only_processors_that_we_may_use_are_allowed():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert allowed_processors() == {min(before)}
    finally:
        os.sched_setaffinity(0, before)
