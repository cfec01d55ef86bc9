"""Records of clocks: what they were before a run set them, on disk until they are put back.

A killed run cannot put clocks back, and the next one would take those that it finds for the machine's own. So their
limits are written down before they are changed, in a folder of the user. A record whose run has ended is of one that
was killed: the next run that measures puts its clocks back, or the process that supervised its programs, whichever is
first. A run holds a lock on its record, which goes when the run ends, however it ends. Clocks are the machine's own
after a restart, so a record is valid for one. Only the standard library is imported here: the supervisor has no other.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from lpsched.errors import MeasureError

try:
    import fcntl
except ImportError:  # Windows, where nothing is measured
    fcntl = None  # type: ignore[assignment]

LOWEST: Final = "scaling_min_freq"
HIGHEST: Final = "scaling_max_freq"
FORMAT: Final = "lpsched-clocks/1"
PREFIX: Final = "clocks-"
MOST_BYTES: Final = 2**20  # of a record
BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
Limits: TypeAlias = "dict[Path, tuple[int, int]]"  # lowest and highest kHz by folder of cpufreq


def limits_of(folder: Path) -> tuple[int, int]:
    """Read the lowest and the highest clock that are allowed now."""
    return int((folder / LOWEST).read_text()), int((folder / HIGHEST).read_text())


def set_limits(folder: Path, lowest: int, highest: int) -> None:
    """Set the lowest and the highest clock; the lowest is never above the highest."""
    order = ((HIGHEST, highest), (LOWEST, lowest))
    for file, khz in order if highest >= limits_of(folder)[1] else reversed(order):
        (folder / file).write_text(str(khz))


def state_folder() -> Path:
    """Return the folder of the user's records, as the XDG rules have it."""
    named = os.environ.get("XDG_STATE_HOME", "")
    try:
        return (Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state") / "lpsched"
    except RuntimeError as error:  # neither HOME nor an entry of the user
        raise OSError(str(error)) from error


class Record:
    """The present limits of some clocks, kept on disk until `delete`."""

    def __init__(self, folders: Iterable[Path]) -> None:
        folders = list(folders)
        try:
            folder = state_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(folder):
                _require_free(folder, folders)
                self.limits: Limits = {each: limits_of(each) for each in folders}
                self._path = folder / f"{PREFIX}{secrets.token_hex(8)}.json"
                self._lock = _write(self._path, _content(self.limits))
        except OSError as error:
            why = error.strerror or error
            raise MeasureError(
                f"clocks cannot be set: what they are now cannot be kept on disk ({why}); let XDG_STATE_HOME name a "
                "folder that you may write to, or leave frequencies_mhz out"
            ) from error

    def delete(self) -> None:
        """Forget the limits: the clocks are back."""
        with contextlib.suppress(OSError):
            self._path.unlink()

    def close(self) -> None:
        """Let go of the lock; what was not deleted is restored by the next run."""
        with contextlib.suppress(OSError):
            os.close(self._lock)


def restore_left(used: Collection[Path] = ()) -> tuple[str, ...]:
    """Put back the clocks that killed runs left set; return a sentence for each, and for each that failed.

    Raises
    ------
    MeasureError
        If another run holds clocks of `used` now.
    """
    try:
        folder = state_folder()
        if not folder.is_dir():
            return ()
        with _alone(folder):
            _require_free(folder, used)
            return tuple(sentence for path, content in _left(folder) for sentence in _restore(path, content))
    except OSError:  # a folder that is not ours: nothing of ours is in it
        return ()


def _restore(path: Path, content: Mapping[str, Any]) -> Iterator[str]:
    failed = False
    for each in content["limits"]:
        folder, lowest, highest = Path(each["folder"]), int(each["lowest"]), int(each["highest"])
        killed = f"the clock in {folder} was left set by a run that was killed (process {content['process']})"
        try:
            if limits_of(folder) == (lowest, highest):
                continue
            set_limits(folder, lowest, highest)
            yield f"{killed}: it is from {lowest / 1000:g} to {highest / 1000:g} MHz again, as before that run"
        except (OSError, ValueError) as error:
            failed = True
            yield f"{killed}, and cannot be put back: {getattr(error, 'strerror', None) or error}"
    if not failed:
        path.unlink()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs from reading and writing records meanwhile."""
    lock = os.open(folder / "clocks.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _require_free(folder: Path, used: Collection[Path]) -> None:
    """Raise an error if a run that goes on holds one of these clocks."""
    for path, content in _records(folder):
        if {Path(each["folder"]) for each in content["limits"]} & set(used) and _goes_on(path, content):
            raise MeasureError(
                f"another 'lpsched measure' (process {content['process']}) has set the clocks of these processors; "
                "wait for it, or give the bench other cores"
            )


def _left(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    return [(path, content) for path, content in _records(folder) if not _goes_on(path, content)]


def _records(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the valid records of this user and this machine since its last start; delete older ones of it."""
    for path in sorted(folder.glob(f"{PREFIX}*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with path.open("rb") as file:
                content = json.loads(file.read(MOST_BYTES))
                is_ours = os.fstat(file.fileno()).st_uid == os.geteuid()
            if not is_ours or content["format"] != FORMAT:
                continue
            for each in content["limits"]:
                Path(each["folder"]), int(each["lowest"]), int(each["highest"])
            if content["boot"] == _boot():
                yield path, content
            elif content["machine"] == platform.node():
                path.unlink()


def _goes_on(path: Path, content: Mapping[str, Any]) -> bool:
    """Return whether the run of a record has not ended: it holds the lock, or its process is there."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            started = _started(content["process"])
            return started is not None and started == content["started"]
    return False


def _content(limits: Limits) -> bytes:
    listed = [{"folder": str(each), "lowest": low, "highest": high} for each, (low, high) in limits.items()]
    process = os.getpid()
    about = {"format": FORMAT, "machine": platform.node(), "boot": _boot(), "process": process}
    return json.dumps(about | {"started": _started(process), "limits": listed}, indent=1).encode() + b"\n"


def _write(path: Path, content: bytes) -> int:
    """Write a record that is on the disk when this returns; return the file that holds its lock."""
    temporary = path.with_name(f".{path.name}")
    lock = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(os.dup(lock), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except BaseException:
        os.close(lock)
        for each in (temporary, path):
            with contextlib.suppress(OSError):
                each.unlink()
        raise
    return lock


def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def _started(process: object) -> str | None:
    """Return when a process began, in ticks since the start of the machine; `None` if there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
