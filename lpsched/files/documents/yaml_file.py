"""YAML, read strictly: plain values only, with the line of everything.

Scalars follow the rules of YAML 1.2 (`1e9` is a number, `no` is a text, `12:30` is a text). What could
surprise or harm is refused: anchors and aliases (they can blow up a small file), tags, nesting deeper than
our formats need, a key given twice, several documents in one file. The parser is libyaml's event
stream, which does not recurse; the values are built here, so nothing refused is ever built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import yaml

from lpsched.errors import MOST_FAULTS, Fault, Place, quote
from lpsched.files.content import one_fault
from lpsched.files.documents.document import DEEPEST, Document, given_twice, resolve

if TYPE_CHECKING:
    from pathlib import Path

LINES_KEPT: Final = 100_000


def read_yaml(path: Path, text: str) -> Document:
    """Read YAML text.

    Raises
    ------
    InstanceError
        If it is not YAML, or uses what is refused.
    """
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

    def __init__(self, path: Path) -> None:
        self.path = path
        self.value: object = None
        self.faults: list[Fault] = []
        self.lines: dict[Place, int] = {}
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
        if tag is not None:
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
                    self.faults.append(given_twice((*self._place, key), line))
                return key
            parent[key] = value
        if len(self.lines) < LINES_KEPT:
            self.lines[(*self._place, key)] = line
        return key
