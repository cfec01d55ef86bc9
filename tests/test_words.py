"""Texts use the field's words: those of an older private vocabulary do not come back.

Looked through are all texts and comments of the package (docstrings, messages, help, headings), the templates of files and
pages, the scripts of pages, and what is printed by `--help`. Names of JSON keys and of keys of files stay what they are.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "lpsched"
REPLACED: Final = re.compile(
    r"\b(told|tells?|telling|refus(?:e|es|ed|al|ing)|mend(?:s|ed)?|nobody|somebody|whoever|anybody|so many|for ever"
    r"|dearer|thrifty|faults?|remarks?|rehears\w*|second road|from birth|does not live|at the door|levelling)\b",
    re.IGNORECASE,
)
KEYS: Final = {"faults", "told", "refused", "remarks", "companions"}  # of JSON objects and files, as whole texts
CODE: Final = re.compile(r"`[^`]*`|\{[^{}]*\}|>>> .*|\w*\.\w+|_\w+")  # names of attributes and parameters
ATTRIBUTE: Final = re.compile(r"\.\w+")  # of a JSON object, in a script
MEANT: Final = (
    "ask and tell",
    "Segmentation fault",
    "ended refused violations",
    "Fault=InputIssue",
    '"not told"',
    "told      ",
)


def texts_of(path: Path) -> list[tuple[int, str]]:
    """Return the texts and comments of a module with their lines; of other files every line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        source = ATTRIBUTE.sub("", source)
    if path.suffix != ".py":
        return list(enumerate(source.splitlines(), start=1))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [
        (token.start[0], _prose(token.string))
        for token in tokens
        if token.type in {tokenize.STRING, tokenize.COMMENT} and token.string.strip("\"'") not in KEYS
    ]


def _prose(text: str) -> str:
    """Return a text without code and without the phrases that are meant."""
    for phrase in MEANT:
        text = text.replace(phrase, "")
    return CODE.sub("", text)


@pytest.mark.parametrize(
    "folder", sorted(each.name for each in PACKAGE.iterdir() if each.is_dir() and each.name != "__pycache__")
)
def test_texts_of_the_package_use_the_fields_words(folder):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]}"
        for path in sorted((PACKAGE / folder).rglob("*"))
        if path.suffix in {".py", ".js", ".html", ".j2", ".yaml", ".css"}
        for line, text in texts_of(path)
        for match in REPLACED.finditer(text)
    ]
    assert found == []
