"""The referee: what lpsched answers, recorded, so that moving code shows whether anything else has changed.

    python -m tests.referee.recording              compare with what is recorded, and print every difference
    python -m tests.referee.recording help names   compare these sections
    python -m tests.referee.recording --write      record what the code of this checkout says

Recorded are the content hashes of all instances, what some ninety commands print with --json and which files they write,
every `--help`, and the public names with their signatures. The messages of some five hundred bad inputs are the tables in
`tests/bad_inputs`. Left out is only what must vary: how long something took, versions, paths. Numbers in JSON have nine
digits, as processors differ in the last ones; figures, pages, tables and models are compared byte for byte. A long answer
is recorded by its first lines and a digest of all of it. What depends on other packages is compared only where their
versions are the recorded ones, and answers only on the recorded kind of processor, whose last digits turn searches.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import hashlib
import importlib.metadata
import inspect
import io
import json
import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

import lpsched
from lpsched.cli.main import app, run
from lpsched.instances import read_instance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER: Final = Path(__file__).parent
RECORDED: Final = FOLDER / "recorded"
ROOT: Final = FOLDER.parent.parent
COMMANDS: Final = {  # by their sections
    part.splitlines()[0]: [line for line in part.splitlines()[1:] if line]
    for part in (FOLDER / "commands.txt").read_text().split("\n## ")[1:]
}
LEFT_OUT: Final = {"lpsched", "timings", "process", "ended", "milliseconds_per_event", "times_as_long", "bound_seconds"}
TIMES: Final = "seconds"  # as a number, or numbers of many runs: how long something took; data has tables of it
VERSION: Final = re.compile(r"(?<=\S) \d+(?:\.\d+)+")  # of a solver
MODULES: Final = re.compile(r"(?:[A-Za-z_]\w*\.)+(?=\w)|0x[0-9a-f]+")  # where things live may change
GLYPH: Final = re.compile(
    "(?<=DejaVuSans)((?:-[A-Z][A-Za-z]*)?)-[0-9a-f]+"
)  # its number differs among packages of a font
FOOTER: Final = re.compile("<footer>.*?</footer>", flags=re.DOTALL)  # of a page: versions and times
LINES: Final = 60  # of an answer that are recorded
DIGITS: Final = 9
PRINTING: Final = ("click", "pydantic", "python", "rich", "typer")  # help texts and signatures depend on them
SOLVING: Final = ("highspy", "matplotlib", "numba", "numpy", "pulp", "pymoo", "scipy")  # answers and figures
PROCESSOR: Final = "processor"  # whose last digits may turn a search: answers depend on it as well


def sections() -> dict[str, Callable[[], str]]:
    """Return what is recorded: for each file of the record the function that makes its text."""
    return {"hashes": hashes, "help": helps, "names": names, **{part: answers(part) for part in COMMANDS}}


def hashes(folder: Path = ROOT / "instances") -> str:
    """Return the content hash of every instance."""
    found = {path.name: read_instance(path).content_hash for path in sorted(folder.glob("*.yaml"))}
    return "".join(f"{digest}  {name}\n" for name, digest in found.items())


def helps() -> str:
    """Return what --help prints for lpsched and each of its commands."""
    tree, texts = typer.main.get_command(app), []
    for words in _commands_with_help():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tree(words, prog_name="lpsched", standalone_mode=False)
        texts.append(f"$ lpsched {' '.join(words)}\n{out.getvalue()}\n")
    return "".join(texts)


def _commands_with_help() -> Iterator[list[str]]:
    yield ["--help"]
    for command in app.registered_commands:
        yield [command.callback.__name__, "--help"]
    for group in app.registered_groups:
        yield [str(group.name), "--help"]
        for command in group.typer_instance.registered_commands:
            yield [str(group.name), command.name or command.callback.__name__, "--help"]


def names() -> str:
    """Return the public names with their signatures; of a class those of its public parts too."""
    return "".join(line + "\n" for name in lpsched.__all__ for line in described(name, getattr(lpsched, name)))


def described(name: str, thing: Any) -> Iterator[str]:
    """Return the lines of one public name."""
    if inspect.ismodule(thing):
        yield f"{name}: module"
        return
    if not inspect.isclass(thing):
        yield f"{name}{_signature(thing)}"
        return
    bases = ", ".join(base.__name__ for base in thing.__mro__[1:-1])
    yield f"class {name}({bases})"
    if dataclasses.is_dataclass(thing):
        yield from (f"  {each.name}: {each.type}{_default(each.default)}" for each in dataclasses.fields(thing))
    for part, known in getattr(thing, "model_fields", {}).items():
        yield f"  {part}{_default(known.default)}"
    parts = {part: own for base in reversed(thing.__mro__) if _is_ours(base) for part, own in vars(base).items()}
    for part, own in sorted(parts.items()):
        if not part.startswith("_"):
            inner = getattr(own, "__func__", getattr(own, "fget", own))
            yield f"  .{part}{_signature(inner)}" if callable(inner) else f"  .{part}"


def _is_ours(base: type) -> bool:
    return base.__module__.split(".")[0] == "lpsched"


def _signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    return MODULES.sub("", text)


def _default(value: Any) -> str:
    absent = value is dataclasses.MISSING or type(value).__name__ == "PydanticUndefinedType"
    return "" if absent else f" = {MODULES.sub('', repr(value))}"


def answers(section: str) -> Callable[[], str]:
    """Return a function that says what the commands of a section print with --json, and digests of what they write."""

    def make() -> str:
        with tempfile.TemporaryDirectory() as folder:
            for part in ("instances", "tests/data"):
                shutil.copytree(ROOT / part, Path(folder) / part)
            with contextlib.chdir(folder):
                return "\n".join(answered(command, Path(folder)) for command in COMMANDS[section])

    return make


def answered(command: str, folder: Path) -> str:
    """Return what is recorded of one command."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    plain = command.removeprefix("! ")
    code, out, err = printed([*shlex.split(plain), "--json", "--force"])
    if (code == 0) == command.startswith("!"):
        raise RuntimeError(f"{command}: exit code {code}\n{err}")
    try:
        text = json.dumps(steady(json.loads(out)), indent=1, ensure_ascii=False) + "\n"
    except ValueError:
        text = out
    text = text.replace(str(folder), "FOLDER")
    changed = sorted(path for path in folder.iterdir() if path.stat().st_mtime_ns != before.get(path))
    files = [f"{path.name}: {digest_of_file(path)}" for path in changed]
    return "\n".join([f"$ {plain}", f"exit {code}", *files, shortened(text)])


def printed(words: list[str]) -> tuple[int, str, str]:
    """Run a command here; return its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def steady(value: Any, key: str = "") -> Any:
    """Return a value without what must vary, its numbers rounded."""
    if isinstance(value, dict):
        if key == TIMES and "half_width" in value:
            return None
        return {name: steady(inner, name) for name, inner in value.items() if name not in LEFT_OUT}
    if isinstance(value, list):
        return [steady(inner) for inner in value]
    if isinstance(value, float):
        return None if key == TIMES else float(f"{value:.{DIGITS}g}")
    return VERSION.sub("", value) if key == "solver" and isinstance(value, str) else value


def shortened(text: str) -> str:
    """Return a text, or its first lines and a digest."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= LINES:
        return text
    return "".join(lines[:LINES]) + f"... {len(lines)} lines, {digest(text)}\n"


def digest_of_file(path: Path) -> str:
    """Return a digest of a file: its bytes, or of a document its steady content."""
    content = path.read_bytes()
    if path.suffix == ".json":
        content = json.dumps(steady(json.loads(content))).encode()
    elif path.suffix == ".jsonl":
        content = json.dumps([steady(json.loads(line)) for line in content.splitlines()]).encode()
    elif path.suffix in {".html", ".svg", ".yaml", ".swf"}:
        version = importlib.metadata.version("lpsched")
        text = content.decode().replace(str(path.parent), "FOLDER").replace(f"lpsched {version}", "lpsched")
        content = GLYPH.sub(r"\1", FOOTER.sub("", text)).encode()
    return f"{len(content)} bytes, {digest(content)}"


def digest(content: str | bytes) -> str:
    """Return the first digits of a SHA-256."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:24]


def versions() -> str:
    """Return the versions of Python and of the packages that what is recorded depends on, and the processor."""
    found = {"python": platform.python_version(), PROCESSOR: processor()}
    found |= {name: importlib.metadata.version(name) for name in (*PRINTING, *SOLVING) if name != "python"}
    return "".join(f"{name} {version}\n" for name, version in sorted(found.items()))


def processor(described: Path = Path("/proc/cpuinfo")) -> str:
    """Return the kind of processor: its family, model and vector instructions, as far as the system says."""
    if not described.exists():
        return platform.machine()
    lines = (line.partition(":") for line in described.read_text(encoding="utf-8").splitlines())
    known = {name.strip(): value.strip() for name, _, value in lines}
    vectors = sorted(each for each in known.get("flags", "").split() if each.startswith(("avx", "fma", "sse", "amx")))
    kind = [known.get(name, "?") for name in ("vendor_id", "cpu family", "model")]
    return f"{platform.machine()} {'/'.join(kind)} {digest(' '.join(vectors))[:8]}"


def other_versions(section: str) -> list[str]:
    """Return what a section depends on and is of another version than recorded, as `numpy 2.4.6`."""
    needed = {"hashes": (), "help": PRINTING, "names": PRINTING}.get(section, (*PRINTING, *SOLVING, PROCESSOR))
    recorded = (RECORDED / "versions.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in versions().splitlines() if line not in recorded and line.split()[0] in needed]


def differences(name: str, text: str) -> list[str]:
    """Return the lines in which a text differs from what is recorded under this name."""
    recorded = (RECORDED / f"{name}.txt").read_text(encoding="utf-8")
    return list(difflib.unified_diff(recorded.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=4))


def main(arguments: list[str]) -> int:
    """Compare, or record."""
    os.environ["COLUMNS"] = "80"
    made = sections()
    if arguments == ["--write"]:
        for name, make in {**made, "versions": versions}.items():
            (RECORDED / f"{name}.txt").write_text(make(), encoding="utf-8")
        return 0
    found = [line for name in arguments or made for line in differences(name, made[name]())]
    sys.stdout.write("".join(line + "\n" for line in found) or "nothing has changed\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
