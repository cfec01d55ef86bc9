"""Compiled code on disk: none is loaded from where another user can write; a full or damaged cache costs time only."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lpsched import jit
from lpsched.jit import why_not_private

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows keeps folders of users apart")
only_root = pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can give files to another user")
NOBODY = 65534
KERNELS = "from lpsched.jit import compiled\n@compiled\ndef twice(n):\n    return n * 2\n"
USE = """
import sys, numba, warnings
sys.path.insert(0, sys.argv[1])
import kernels
print(kernels.twice(21), sum(kernels.twice.stats.cache_hits.values()), sum(kernels.twice.stats.cache_misses.values()))
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of this user alone, below others of it."""
    tmp_path.chmod(0o700)
    (own := tmp_path / "cache").mkdir(mode=0o700)
    return own


def test_a_folder_of_this_user_alone_is_private(folder):
    assert why_not_private(folder) is None


@pytest.mark.parametrize("mode", [0o777, 0o703, 0o1777])
def test_a_folder_that_all_can_write_to_is_not(folder, mode):
    folder.chmod(mode)
    assert why_not_private(folder) == f"another user can write to {folder}"


def test_nor_is_one_below_a_folder_that_all_can_write_to(folder):
    (inner := folder / "a" / "b").mkdir(parents=True)
    folder.chmod(0o777)
    assert why_not_private(inner) == f"another user can exchange what is in {folder}"
    folder.chmod(0o1777)  # as /tmp
    jit.why_not_private.cache_clear()
    assert why_not_private(inner) is None


def test_nor_is_one_behind_a_link_in_such_a_folder(folder, tmp_path):
    (there := tmp_path / "open").mkdir()
    (there / "link").symlink_to(folder)
    there.chmod(0o777)
    assert why_not_private(there / "link") == f"another user can exchange what is in {there}"


def test_nor_is_one_that_a_link_finds_in_such_a_folder(folder, tmp_path):
    (there := tmp_path / "open").mkdir()
    (there / "inner").mkdir(mode=0o700)
    there.chmod(0o777)
    (folder / "link").symlink_to(there / "inner")
    for each in (folder / "link", folder / "link" / "below"):
        each.mkdir(exist_ok=True)
        assert why_not_private(each) == f"another user can exchange what is in {there}"


@only_root
@pytest.mark.parametrize("what", ["link", "target"])
def test_nor_is_one_along_a_link_of_another_user_or_to_a_folder_of_one(folder, tmp_path, what):
    (target := tmp_path / "target").mkdir(mode=0o755)
    (target / "inner").mkdir(mode=0o700)
    (link := folder / "link").symlink_to(target)
    os.chown(link if what == "link" else target, NOBODY, NOBODY, follow_symlinks=False)
    assert why_not_private(link / "inner") == f"{link} belongs to another user"


def test_more_rights_than_the_mode_shows_are_those_of_others(folder, monkeypatch):
    folder.chmod(0o770)
    monkeypatch.setattr(jit, "_is_alone", lambda _: True)
    monkeypatch.setattr(os, "listxattr", lambda *_: ["user.a", "system.posix_acl_access"])
    assert why_not_private(folder) == f"another user can write to {folder}"


@pytest.mark.parametrize(
    ("named", "primary", "alone"),
    [((), 8, True), (("me",), 7, True), (("other",), 8, False), ((), 7, False), (("gone",), 8, False)],
)
def test_a_group_is_alone_if_neither_named_nor_primary_members_are_others(monkeypatch, named, primary, alone):
    # group 7; "me" is this user, "other" has the primary group `primary`, or 8, "gone" has no entry
    users = {"me": (os.geteuid(), 7), "other": (12345 if "me" not in named else os.geteuid(), primary)}
    entries = {name: SimpleNamespace(pw_uid=uid, pw_gid=group) for name, (uid, group) in users.items()}
    monkeypatch.setattr("grp.getgrgid", lambda _: SimpleNamespace(gr_mem=list(named)))
    monkeypatch.setattr("pwd.getpwnam", lambda name: entries[name])
    monkeypatch.setattr("pwd.getpwall", lambda: list(entries.values()))
    assert jit._is_alone.__wrapped__(7) is alone  # noqa: SLF001


def test_a_group_without_other_members_does_not_matter(folder, monkeypatch):
    folder.chmod(0o770)
    monkeypatch.setattr(jit, "_is_alone", lambda _: True)
    assert why_not_private(folder) is None
    jit.why_not_private.cache_clear()
    monkeypatch.setattr(jit, "_is_alone", lambda _: False)
    assert why_not_private(folder) == f"another user can write to {folder}"


def test_a_file_of_compiled_code_that_all_can_write_to_is_not_private(folder):
    (folder / "f.nbc").write_bytes(b"")
    (folder / "f.nbc").chmod(0o666)
    assert why_not_private(folder) == f"another user can write to {folder / 'f.nbc'}"


@only_root
def test_what_belongs_to_another_user_is_not_private(folder):
    (inner := folder / "inner").mkdir()
    (inner / "f.nbi").write_bytes(b"")
    os.chown(inner / "f.nbi", NOBODY, NOBODY)
    assert why_not_private(inner) == f"another user can write to {inner / 'f.nbi'}"
    jit.why_not_private.cache_clear()
    os.chown(folder, NOBODY, NOBODY)
    assert why_not_private(inner) == f"{folder} belongs to another user"


def test_a_folder_that_is_gone_is_not_private(tmp_path):
    assert "No such file" in str(why_not_private(tmp_path / "gone"))


def used(folder, cache):
    """Call a compiled function of a module in a process of its own; return what it answers, cache hits and misses."""
    if not (folder / "kernels.py").exists():  # another time of change would be other code
        (folder / "kernels.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", USE, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def test_code_of_a_private_folder_is_used_again_and_of_an_open_one_never(folder, tmp_path):
    assert used(tmp_path, folder) == (["42", "0", "1"], "")
    assert used(tmp_path, folder) == (["42", "1", "0"], "")
    [inner] = [each for each in folder.rglob("*") if each.is_dir() and list(each.glob("*.nbi"))]
    inner.chmod(0o777)
    answer, said = used(tmp_path, folder)
    assert answer == ["42", "0", "1"]
    assert (
        f"compiled code on disk is not used, so everything is compiled again: another user can write to {inner}" in said
    )
    inner.chmod(0o700)
    assert used(tmp_path, folder) == (["42", "1", "0"], "")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80", b"junk" * 100])
def test_damaged_code_is_compiled_again(folder, tmp_path, ending, content):
    used(tmp_path, folder)
    [file] = folder.rglob(f"*.{ending}")
    file.write_bytes(content)
    assert used(tmp_path, folder)[0][0] == "42"
    assert used(tmp_path, folder) == (["42", "1", "0"], ""), "and kept again"


def test_code_that_cannot_be_written_is_used_all_the_same(folder, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    made: Any = jit.compiled(lambda number: number + 1)
    kept = made._cache._cache_file  # noqa: SLF001 - there is no public way

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, "save", full)
    assert made(1) == 2


@pytest.mark.slow
def test_a_cache_that_is_no_folder_is_done_without(folder, tmp_path):
    (blocked := folder / "file").write_text("")
    assert used(tmp_path, blocked / "cache")[0][0] == "42"
