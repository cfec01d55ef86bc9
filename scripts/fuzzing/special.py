"""Things that are no ordinary files, and files that unpack to much: pipes, folders, links, devices, archives."""

from __future__ import annotations

import gzip
import io
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.trials import Finding, Trials, commands_of, judged

if TYPE_CHECKING:
    import random

NAME: Final = "special"
SECONDS: Final = 120.0  # of a processor, for millions of rows
UNPACKED: Final = 1 << 30  # bytes that a bomb unpacks to
BLOCK: Final = 1 << 24
UNREAD: Final = ("study", "samples")  # the lines beside a study are reported; samples begin anew after a cut line
LONG: Final = ("simulate", "certify")  # millions of tasks may be a valid file, which is work for minutes
PACKED: Final = [
    (kind, file) for kind in KINDS.values() for file in kind.files if file.endswith((".gz", ".npz", ".parquet"))
]


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def _long_line(path: Path) -> None:
    path.write_bytes(b"x" * (64 << 20))


def _many_columns(path: Path) -> None:
    path.write_bytes(b",".join(b"c%d" % number for number in range(40_000)) + b"\n")


NOWHERE: Final = "a link to nowhere"
ODD_NAMES: Final = (
    "\x1b[31mred",
    "a\nb: accepted",
    "\u202exe",
    "\x9b2J",
    "[red]x[bold]",
    " ",
    "=1+1",
    "<b>",
    "'",
    "-o",
    "ä\udcff",
)
SPECIAL: Final[dict[str, Callable[[Path], None]]] = {
    "a FIFO": os.mkfifo,
    "a folder": _folder,
    "a loop of links": _loop,
    NOWHERE: _nowhere,
    "/dev/zero": _device,
    "a socket": _socket,
    "3 GB of nothing": _sparse,
    "a long line": _long_line,
    "many columns": _many_columns,
}


def bomb(file: str, content: bytes) -> bytes | None:
    """Return a file of this name that unpacks to a gigabyte: of its own rows where it has rows."""
    if file.endswith(".gz"):
        rows = gzip.decompress(content)
        block = rows * (BLOCK // len(rows) + 1)
        return gzip.compress(block, mtime=0) * (UNPACKED // len(block))  # gzip may have many parts
    if file.endswith(".npz"):
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            for name in archive.namelist()[:1]:
                head = archive.read(name)[:128].replace(b"'shape': (", b"'shape': (9999, 9999, ")[:128]
                with made.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                    member.write(head)
                    for _ in range(UNPACKED // BLOCK):
                        member.write(bytes(BLOCK))
        return out.getvalue()
    if file.endswith(".parquet"):
        import pyarrow as pa  # noqa: PLC0415 - only here
        import pyarrow.parquet as pq  # noqa: PLC0415

        table = pq.read_table(io.BytesIO(content))
        rows = pa.concat_tables([table.slice(0, 1)] * 1000)
        out = io.BytesIO()
        with pq.ParquetWriter(out, table.schema, compression="zstd") as writer:
            many = pa.concat_tables([rows] * 1000).combine_chunks()
            for _ in range(5):
                writer.write_table(many)
        return out.getvalue()
    return None


class Special:
    """Tries special files in the place of samples; bombs are made once."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.bombs: dict[str, bytes | None] = {}

    def findings(self, rng: random.Random) -> list[Finding]:
        """Try one special file."""
        if rng.random() < 0.3:
            kind, file = rng.choice(PACKED)
            if file not in self.bombs:
                self.bombs[file] = bomb(file, self.trials.samples.path(file).read_bytes())
            content = self.bombs[file]
            assert content is not None, "it is packed"
            command = rng.choice([each for each in kind.commands if each.split()[0] not in LONG])
            return self.trials.findings(kind, file, content, command, seconds=SECONDS)
        if rng.random() < 0.3:
            return self._odd_name(rng)
        kind = rng.choice(list(KINDS.values()))
        file, command, what = rng.choice(kind.files), rng.choice(kind.commands), rng.choice(list(SPECIAL))
        SPECIAL[what](self.trials.place(kind, file))
        answer = self.trials.worker.ask(self.trials.folder, commands_of(command, file), SECONDS)
        if isinstance(answer, Finding):
            return [Finding(f"{answer.what}: {what}", answer.command, answer.detail)]
        did = answer[0]
        made_there = what == NOWHERE and "--state" in did["words"]  # a population that is yet to be written
        wrong = did["code"] == 0 and not made_there and kind.name not in UNREAD
        accepted = [Finding(f"exit code 0 for {what}", " ".join(did["words"]), did["out"])] if wrong else []
        found = accepted + judged(did, first=True)
        if found:
            self.trials.worker.end()
        return found

    def _odd_name(self, rng: random.Random) -> list[Finding]:
        """Try a valid file under a name with control characters, marks or blanks."""
        kind = rng.choice([each for each in KINDS.values() if any("FILE" in command for command in each.commands)])
        file, command = rng.choice(kind.files), rng.choice([each for each in kind.commands if "FILE" in each])
        content, path = self.trials.samples.path(file).read_bytes(), self.trials.place(kind, file)
        odd = path.with_name(rng.choice(ODD_NAMES) + "".join(path.suffixes))
        odd.write_bytes(content)
        answer = self.trials.worker.ask(self.trials.folder, commands_of(command, odd.name), SECONDS)
        if isinstance(answer, Finding):
            return [Finding(f"{answer.what}: an odd name", answer.command, answer.detail)]
        return [finding for number, each in enumerate(answer) for finding in judged(each, first=number == 0)]
