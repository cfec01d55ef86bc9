"""Strict YAML and JSON documents: no key twice, no surprises, and the line of every value."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from lpsched.errors import MOST_ISSUES, InputIssue, Place, quote
from lpsched.io import limits
from lpsched.io.content import as_text, one_issue, read_bytes, require_few_values
from lpsched.text import integer, json_value, number_in

# What a YAML or JSON file says, whichever it was.

_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SPECIAL: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PREFIXED: Final = re.compile(r"0x[0-9a-fA-F]{1,400}|0o[0-7]{1,400}")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, the errors of its form, and the line of each path (YAML only)."""

    value: object
    issues: tuple[InputIssue, ...] = ()
    lines: dict[Place, int] = field(default_factory=dict)

    def line_of(self, path: Place) -> int | None:
        """Return the line of a path, or of the nearest thing around it whose line is known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def given_twice(path: Place, line: int | None = None) -> InputIssue:
    """Return the error of a key that stands twice in one mapping."""
    return InputIssue(path, "a key that was given before", "each key once", "remove one of the two", line=line)


def resolve(text: str) -> object:
    """Return the value of a plain scalar under the core rules of YAML 1.2.

    >>> [resolve(text) for text in ("1e9", "0x1F", "no", "12:30", "~", "True", ".5")]
    [1000000000.0, 31, 'no', '12:30', None, True, 0.5]
    """
    if (number := number_in(text)) is not None:
        return number
    if text in _WORDS:
        return _WORDS[text]
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", ""))
    return integer(str(int(text, 0))) if _PREFIXED.fullmatch(text) else text


# JSON, read strictly: a key given twice, or brackets without end, are errors.
#
# JSON has no line numbers once it is read; an error is found by its path.
class _Repeated(dict[str, Any]):
    """A mapping that stood in the file with a key given twice."""

    twice: tuple[str, ...] = ()


def read_json(path: Path, text: str) -> Document:
    """Read JSON text."""
    repeated: list[_Repeated] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) == len(pairs):
            return content
        content = dict(reversed(pairs))  # the first of two equal keys stays
        marked = _Repeated((key, content[key]) for key, _ in pairs)
        times = Counter(key for key, _ in pairs)
        marked.twice = tuple(key for key in marked if times[key] > 1)
        repeated.append(marked)
        return marked

    try:
        value = json_value(text, object_pairs_hook=mapping)
    except json.JSONDecodeError as error:
        found = f"broken JSON: {error.msg} (column {error.colno})"
        raise one_issue(path, found, "JSON", "fix the line", error.lineno) from None
    except RecursionError:
        raise one_issue(path, "brackets nested very deeply", "a few levels", "flatten it") from None
    issues = [given_twice((*place, key)) for place, each in _find(value, repeated) for key in each.twice]
    return Document(value, tuple(issues[:MOST_ISSUES]))


def _find(value: object, wanted: list[_Repeated], path: Place = ()) -> list[tuple[Place, _Repeated]]:
    """Return where the marked mappings stand; they are rare, so the walk is too."""
    if not wanted:
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


# YAML, read strictly: plain values only, with the line of everything.
#
# Scalars follow the rules of YAML 1.2 (`1e9` is a number, `no` is a text, `12:30` is a text). What could
# surprise or harm is rejected: anchors and aliases (they can blow up a small file), tags, nesting deeper than
# our formats need, a key given twice, several documents in one file. The parser is libyaml's event
# stream, which does not recurse; the values are built here, so nothing invalid is ever built.
LINES_KEPT: Final = 100_000


def read_yaml(path: Path, text: str) -> Document:
    """Read YAML text."""
    builder = _Builder(path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        do = "fix the line, or the one before it"
        raise one_issue(path, f"broken YAML: {error.problem or error.context}", "YAML", do, line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise one_issue(path, "a control character", "plain text", "remove it", line) from None
    return Document(builder.value, tuple(builder.issues), builder.lines)


class _Builder:
    """Builds plain values from YAML events, without recursion, and notes the lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.value: object = None
        self.issues: list[InputIssue] = []
        self.lines: dict[Place, int] = {}
        self._open: list[dict[str, object] | list[object]] = []
        self._keys: list[str | None] = []  # of each open mapping, the key that waits for its value
        self._key_lines: list[int] = []
        self._place: list[str | int] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Add one event to what is built, or reject it."""
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.ScalarEvent):  # first, because most events are
            if event.anchor is not None or event.tag is not None:
                self._reject_features(event, line)
            self._scalar(event, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._reject_features(event, line)
            self._start({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._open.pop()
            self._keys.pop()
            self._key_lines.pop()
            if self._place:
                self._place.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise one_issue(self.path, f"the alias *{event.anchor}", "no aliases", "write the value out", line)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise one_issue(self.path, "a second document", "one document a file", "split the file", line)

    def _reject_features(self, event: yaml.NodeEvent, line: int) -> None:
        if event.anchor is not None:
            raise one_issue(self.path, f"the anchor &{event.anchor}", "no anchors", "write the value out", line)
        if (tag := getattr(event, "tag", None)) is not None:
            raise one_issue(self.path, f"the tag {quote(tag)}", "no tags", "write the plain value", line)

    def _start(self, container: dict[str, object] | list[object], line: int) -> None:
        if len(self._open) >= limits.DEEPEST:
            found = f"brackets nested more than {limits.DEEPEST} deep"
            raise one_issue(self.path, found, f"at most {limits.DEEPEST} levels", "flatten it", line)
        if self._waits_for_key():
            raise one_issue(self.path, "a list or mapping as a key", "a name", "check the indentation", line)
        if self._open:
            self._place.append(self._add(container, line))
        else:
            self.value = container
        self._open.append(container)
        self._keys.append(None)
        self._key_lines.append(line)

    def _waits_for_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], dict) and self._keys[-1] is None

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if self._waits_for_key():
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
                if len(self.issues) < MOST_ISSUES:
                    self.issues.append(given_twice((*self._place, key), line))
                return key
            parent[key] = value
        if len(self.lines) < LINES_KEPT:
            self.lines[(*self._place, key)] = line
        return key


# YAML and JSON documents: plain values, or a list of errors.
SUFFIXES: Final = (".yaml", ".yml", ".json")


def read_document(path: Path) -> Document:
    """Read a YAML or JSON file."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise one_issue(path, f"the ending {quote(path.suffix)}", " or ".join(SUFFIXES), "rename or convert the file")
    content = read_bytes(path, limits.MOST_JSON_BYTES if suffix == ".json" else limits.MOST_YAML_BYTES)
    if suffix == ".json":
        require_few_values(path, content)
    text = as_text(path, content)
    return read_json(path, text) if suffix == ".json" else read_yaml(path, text)
