"""YAML and JSON documents, read strictly: plain values only, or a list of faults with line numbers.

YAML follows the scalar rules of YAML 1.2 (`1e9` is a number, `no` is a text, `12:30` is a text). What
could surprise or harm is refused: anchors and aliases (they can blow up a small file), tags, nesting
deeper than our formats need, a key given twice, several documents in one file. The parser is libyaml's
event stream, which does not recurse; the values are built here, so nothing refused is ever built.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, Path
from lpsched.instance.fields import quote

if TYPE_CHECKING:
    from pathlib import Path as FilePath

MOST_YAML_BYTES: Final = 8 * 2**20  # seconds of parsing at the worst; a file of 512 x 16 numbers has 0.2
MOST_JSON_BYTES: Final = 64 * 2**20
DEEPEST: Final = 12
LINES_KEPT: Final = 100_000
LONGEST_INTEGER: Final = 400  # digits; Python refuses to convert very long ones
SUFFIXES: Final = (".yaml", ".yml", ".json")

_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PREFIXED: Final = re.compile(r"0x[0-9a-fA-F]{1,400}|0o[0-7]{1,400}")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, the faults of its form, and the line of each path (YAML only)."""

    value: object
    faults: tuple[Fault, ...] = ()
    lines: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int | None:
        """Return the line of a path, or of the nearest thing around it whose line is known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_document(path: FilePath) -> Document:
    """Read a YAML or JSON file.

    Raises
    ------
    InstanceError
        If it is not a readable file, not text, too large, or not well formed.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise one_fault(
            path, f"the ending {quote(path.suffix)}", " or ".join(SUFFIXES), "rename or convert the file"
        )
    text = read_text(path, MOST_JSON_BYTES if suffix == ".json" else MOST_YAML_BYTES)
    return _read_json(path, text) if suffix == ".json" else _read_yaml(path, text)


def one_fault(path: FilePath, found: str, needed: str, do: str, line: int | None = None) -> InstanceError:
    """Return the error for a file that cannot be read at all."""
    return InstanceError(str(path), (Fault((), found, needed, do, line=line),))


def read_bytes(path: FilePath, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes.

    Raises
    ------
    InstanceError
        If there is no such file, it is something else, or it is too large.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
            raise one_fault(path, kind, "a file", "name a file")
        if status.st_size > most:
            do = "put its tables into .npz files beside it"
            raise one_fault(path, f"{status.st_size:,} bytes", f"at most {most:,} bytes", do)
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
        if isinstance(error, InstanceError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise one_fault(path, f"no file to read ({reason})", "a file", "check its name and rights") from error
    if len(content) > most:
        raise one_fault(path, "a file that grows", f"at most {most:,} bytes", "wait until it is complete")
    return content


def read_text(path: FilePath, most: int) -> str:
    """Return the text of a UTF-8 file that is not empty.

    Raises
    ------
    InstanceError
        If the file cannot be read, is empty, or is not UTF-8 text.
    """
    return as_text(path, read_bytes(path, most))


def as_text(path: FilePath, content: bytes) -> str:
    """Decode the UTF-8 content of a file, and refuse an empty one or junk."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise one_fault(
            path, "bytes that are not UTF-8 text", "a text file", "check which file this is", line
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise one_fault(
            path, "a NUL character, as in binary data", "a text file", "check which file this is", line
        )
    if not text.strip():
        raise one_fault(path, "an empty file", "a file with content", "see 'lpsched new bag'")
    return text


# --- JSON


class _Repeated(dict[str, Any]):
    """A mapping that stood in the file with a key given twice."""

    twice: tuple[str, ...] = ()


def _read_json(path: FilePath, text: str) -> Document:
    repeated: list[_Repeated] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(reversed(pairs))  # the first of two equal keys stays
        if len(content) == len(pairs):
            return dict(pairs)
        marked = _Repeated((key, content[key]) for key, _ in pairs)
        names = [key for key, _ in pairs]
        marked.twice = tuple(key for key in content if names.count(key) > 1)
        repeated.append(marked)
        return marked

    try:
        value = json.loads(text, object_pairs_hook=mapping, parse_int=_integer, parse_constant=float)
    except json.JSONDecodeError as error:
        found = f"broken JSON: {error.msg} (column {error.colno})"
        raise one_fault(path, found, "JSON", "mend the line", error.lineno) from None
    except RecursionError:
        raise one_fault(
            path, "brackets nested very deeply", f"at most {DEEPEST} levels", "flatten it"
        ) from None
    faults = [_twice((*place, key)) for place, each in _find(value, repeated) for key in each.twice]
    return Document(value, tuple(faults[:MOST_FAULTS]))


def _find(value: object, wanted: list[_Repeated], path: Path = ()) -> list[tuple[Path, _Repeated]]:
    """Return where the marked mappings stand; they are rare, so the walk is too."""
    if not wanted or len(path) > DEEPEST:
        return []
    found = [(path, value)] if isinstance(value, _Repeated) else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _find(inner, wanted, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                found += _find(inner, wanted, (*path, index))
    return found


def _twice(path: Path, line: int | None = None) -> Fault:
    return Fault(path, "a key that was given before", "each key once", "remove one of the two", line=line)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_INTEGER else float(digits)


# --- YAML


def _read_yaml(path: FilePath, text: str) -> Document:
    builder = _Builder(path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        do = "mend the line, or the one before it"
        raise one_fault(path, f"broken YAML: {error.problem or error.context}", "YAML", do, line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise one_fault(path, "a control character", "plain text", "remove it", line) from None
    return Document(builder.value, tuple(builder.faults), builder.lines)


class _Builder:
    """Builds plain values from YAML events, without recursion, and notes the lines."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.value: object = None
        self.faults: list[Fault] = []
        self.lines: dict[Path, int] = {}
        self._open: list[dict[str, object] | list[object]] = []
        self._keys: list[str | None] = []  # of each open mapping, the key that waits for its value
        self._key_lines: list[int] = []
        self._place: list[str | int] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Add one event to what is built, or refuse it."""
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.ScalarEvent):  # first, because most events are
            if event.anchor is not None or event.tag is not None:
                self._refuse_features(event, line)
            self._scalar(event, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._refuse_features(event, line)
            self._start({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._open.pop()
            self._keys.pop()
            self._key_lines.pop()
            if self._place:
                self._place.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise one_fault(
                self.path, f"the alias *{event.anchor}", "no aliases", "write the value out", line
            )
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise one_fault(self.path, "a second document", "one document a file", "split the file", line)

    def _refuse_features(self, event: yaml.NodeEvent, line: int) -> None:
        if event.anchor is not None:
            raise one_fault(
                self.path, f"the anchor &{event.anchor}", "no anchors", "write the value out", line
            )
        tag = getattr(event, "tag", None)
        if tag is not None and tag != "!":  # '!' is what the parser reports for a quoted text
            raise one_fault(self.path, f"the tag {quote(tag)}", "no tags", "write the plain value", line)

    def _start(self, container: dict[str, object] | list[object], line: int) -> None:
        if len(self._open) >= DEEPEST:
            found = f"brackets nested more than {DEEPEST} deep"
            raise one_fault(self.path, found, f"at most {DEEPEST} levels", "flatten it", line)
        self._refuse_as_key(line)
        if self._open:
            self._place.append(self._add(container, line))
        else:
            self.value = container
        self._open.append(container)
        self._keys.append(None)
        self._key_lines.append(line)

    def _refuse_as_key(self, line: int) -> None:
        if self._open and isinstance(self._open[-1], dict) and self._keys[-1] is None:
            raise one_fault(self.path, "a list or mapping as a key", "a name", "check the indentation", line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if self._open and isinstance(self._open[-1], dict) and self._keys[-1] is None:
            self._keys[-1] = event.value
            self._key_lines[-1] = line
            return
        value = resolve(event.value) if event.implicit[0] else event.value  # that is, if not quoted
        if self._open:
            self._add(value, line)
        else:
            self.value = value

    def _add(self, value: object, line: int) -> str | int:
        """Put a value into the innermost open container; return its key there."""
        parent = self._open[-1]
        if isinstance(parent, list):
            parent.append(value)
            key: str | int = len(parent) - 1
        else:
            key, line = self._keys[-1] or "", self._key_lines[-1]
            self._keys[-1] = None
            if key in parent:
                if len(self.faults) < MOST_FAULTS:
                    self.faults.append(_twice((*self._place, key), line))
                return key
            parent[key] = value
        if len(self.lines) < LINES_KEPT:
            self.lines[(*self._place, key)] = line
        return key


def resolve(text: str) -> object:
    """Return the value of a plain scalar under the core rules of YAML 1.2.

    >>> [resolve(text) for text in ("1e9", "0x1F", "no", "12:30", "~", "True", ".5")]
    [1000000000.0, 31, 'no', '12:30', None, True, 0.5]
    """
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text in _WORDS:
        return _WORDS[text]
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", ""))
    return int(text, 0) if _PREFIXED.fullmatch(text) else text
