from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lpsched.errors import OutputError
from lpsched.io.content import write_files


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path):
    target = tmp_path / "a"
    target.write_text("old and longer")
    write_files({target: b"new"})
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    write_files({tmp_path / "a": b"new"})
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "b").read_text() == "new"


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    (tmp_path / "null").symlink_to(os.devnull)
    with pytest.raises(OutputError, match="it is a device or pipe; name a file"):
        write_files({tmp_path / "null": b"new"})


def test_new_files_have_the_rights_that_files_have_here(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    write_files({tmp_path / "a": b"x"})
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_an_existing_file_stays_if_it_should(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")
    with pytest.raises(OutputError, match="it exists; remove it, or choose another name"):
        write_files({target: b"new"}, replace=False)
    assert target.read_text() == "old"


def test_when_the_second_file_fails_the_first_is_not_written(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write .*b: there is no folder"):
        write_files({tmp_path / "a": b"x", tmp_path / "no" / "b": b"x"})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_files({tmp_path / "a": b"x"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
def test_a_read_only_file_is_not_replaced(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o400)
    with pytest.raises(OutputError, match="it is read-only; choose another name"):
        write_files({tmp_path / "a": b"x"})


def test_a_replaced_file_keeps_its_rights(tmp_path):
    (tmp_path / "a").write_text("secret")
    (tmp_path / "a").chmod(0o600)
    write_files({tmp_path / "a": b"x"})
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied; choose a folder that you may write to"):
        write_files({tmp_path / "a": b"x"})
