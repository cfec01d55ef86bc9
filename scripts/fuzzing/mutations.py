"""Ways to break a file: by its structure (documents, rows, archives), and byte by byte."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import string
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from lpsched.model.answers import checksum

Random: TypeAlias = random.Random
Path_: TypeAlias = tuple[Any, ...]

sys.set_int_max_str_digits(0)  # numbers of thousands of digits are written
SCRIPT: Final = "<script>fuzz()</script>"  # must not reach a page as it is
TWICE: Final = "\x01twice"  # marks a key that the text is to have twice
NUMBERS: Final[tuple[Any, ...]] = (
    *(0, -0.0, -1, 1, 2, 0.5, 5e-324, 1e-320, 1e-300, 1e-12, 1e9, 1e12, 1e15, 1e15 + 1, 1e30, 1.1e30, 1e154, 1e300),
    *(1e308, -1e308, float("inf"), float("-inf"), float("nan"), 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63)),
    *(10**20, 10**30, 10**308, 10**309, 10**350, -(10**350), 10**4000, 10**6000),
)
MANY: Final = 100_000
LONG: Final = tuple(  # what a pattern that begins anew at each character takes hours for
    (each * MANY)[:MANY] + end
    for each, end in (
        ("x", ""),
        ("(", ""),
        ("[", ""),
        ("a[1],", "b,"),
        ("b,", "]"),
        (" ", "x"),
        ("\n", "x"),
        ("1", "x"),
    )
)
TEXTS: Final = (
    *("", " ", "x", "null", "true", "nan", "inf", "-", "0x10", "1_0", "0_2.0", "1e5", "12:30", "+1", "١٢", "1,5"),
    *("\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb", "\x00", "\x7f", "\x85", "\x9b31m", "\u2028", "\ufeffx"),
    *(
        "\u202egpj.exe",
        "\u2066x",
        "\u200bx",
        "a\u0301" * 50,
        "\U0001f600",
        "\ud800",
        "\udfff\ud800",
        "[red]x[/]",
        "[/]",
    ),
    *(
        SCRIPT,
        "</script><b>",
        '"><img src=x>',
        "=1+1",
        "@SUM(A1)",
        "-2+3",
        "\t=1",
        "$x^2$",
        "${x}",
        "{{ 7*7 }}",
        "%s%n",
    ),
    *("../../etc/passwd", "/dev/zero", "/dev/stdin", "CON", "a/b", "a:b", "a,b", 'a"b', "a'b", "a|b", ".", ".."),
    *LONG,
    *("x" * 300, "P0", "all", "none", "*", "&a", "!!python/object:os.system", "2024-02-30T25:61Z"),
)
DEPTHS: Final = (5, 13, 60, 974, 3000, 40_000)
EXACT: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")  # a number of a certificate, in quotes
EXACTS: Final = ("0", "1", "-1", "12", "40.000001", "7200", f"0.{'0' * 1199}1", f"1{'0' * 308}", "9" * 309, "9" * 4000)


def other_exact(rng: Random, old: Any) -> str | None:
    """Return another exact decimal for one, or for a term that a certificate leaves out; mostly."""
    is_exact = isinstance(old, str) and EXACT.fullmatch(old)
    if rng.random() < 0.4 or not (old is None or is_exact):
        return None
    if old is None or len(old) > 2000 or rng.random() < 0.4:
        return rng.choice(EXACTS)
    with localcontext(prec=3000):
        factor = rng.choice(("-1", "1.000000000001", "0.999999999", "1.5", "0.1", "1E+3", "1E-9", "1E+100"))
        return f"{Decimal(old) * Decimal(factor):f}"


def other_value(rng: Random, old: Any) -> Any:
    """Return something else for a value: odd numbers, odd texts, other types, the old one in a list or deep inside."""
    match rng.randrange(8):
        case 0 | 1 | 2:
            return rng.choice(NUMBERS)
        case 3:
            if isinstance(old, int | float) and not isinstance(old, bool) and abs(old) < 10**300:
                return old * rng.choice((-1, 1 + 1e-15, 1 - 1e-9, 1.5, 0.1, 1e3, 1e9, 1e-9, 1e100))
            return rng.choice((None, True, False, [], {}))
        case 4 | 5:
            text = rng.choice(TEXTS)
            return f"{old}{text}" if isinstance(old, str) and rng.random() < 0.5 else text
        case 6:
            return rng.choice((None, True, False, [], {}, [old], [old, old], {"x": old}, str(old)[:200]))
        case _:
            return rng.choice(NUMBERS) if isinstance(old, int | float) else rng.choice(TEXTS)


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Return the paths of everything in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def at(value: Any, path: Path_) -> Any:
    """Return what stands at a path."""
    for step in path:
        value = value[step]
    return value


def changed_document(rng: Random, document: Any) -> Any:
    """Return a copy of a document with one to four changes of its structure."""
    document = json.loads(json.dumps(document, default=str))  # YAML has dates
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        paths = list(places(document))
        path = rng.choice(paths)
        if not path:
            if rng.random() < 0.1:
                return other_value(rng, document)
            continue
        around, key = at(document, path[:-1]), path[-1]
        _change(rng, document, around, key, paths)
    return document


def sealed(rng: Random, document: Any) -> Any:
    """Return a document with a checksum that fits, mostly: a forged certificate, in place of a damaged one."""
    if isinstance(document, dict) and "checksum" in document and rng.random() < 0.9:
        with suppress(ValueError, RecursionError):  # of numbers and texts that no JSON has
            document["checksum"] = checksum(document)
    return document


def _change(rng: Random, document: Any, around: Any, key: Any, paths: list[Path_]) -> None:
    """Make one change at a key of a mapping or a place of a list."""
    value = around[key]
    what = rng.randrange(14)
    if what < 6:
        around[key] = other_exact(rng, value) or other_value(rng, value)
    elif what == 6:
        del around[key]
    elif what == 7:
        around[key] = json.loads(json.dumps(at(document, rng.choice(paths))))  # of another place
    elif what == 8 and isinstance(around, dict):
        around[_typo(rng, key)] = around.pop(key)
    elif what == 9 and isinstance(around, dict):
        around[f"{key}{TWICE}"] = other_value(rng, value)
    elif what == 10 and isinstance(around, dict):
        around[rng.choice(TEXTS)] = other_value(rng, value)
    elif what == 11 and isinstance(around, list):
        around[key:key] = [value] * rng.choice((1, 1, 2, 30, 1000))
    elif what == 12 and isinstance(value, list):
        rng.shuffle(value)
    elif what == 13 and isinstance(value, dict | list):
        value.clear()
    else:
        around[key] = other_value(rng, value)


def _typo(rng: Random, key: str) -> str:
    place = rng.randrange(len(key) + 1)
    return rng.choice(
        (key[:place] + key[place + 1 :], key.upper(), key + "s", key[:place] + "_" + key[place:], f" {key}")
    )


def document_text(rng: Random, document: Any, *, as_json: bool) -> str:
    """Write a document as JSON or YAML; marked keys stand twice in it, and some values are nested deeply."""
    text = ""
    if not as_json and rng.random() < 0.7:
        try:
            text = yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=200)
        except (yaml.YAMLError, UnicodeEncodeError):
            text = ""
    if not text:
        text = json.dumps(document, ensure_ascii=rng.random() < 0.8, indent=rng.choice((None, 1)))
    for written in (TWICE, "\\u0001twice", "\\x01twice"):
        text = text.replace(written, "")
    if rng.random() < 0.03:
        depth, place = rng.choice(DEPTHS), text.find(":") + 1
        text = f"{text[:place]} {'[' * depth}{']' * depth}{text[place:]}"
    return text


def changed_text(rng: Random, text: str) -> str:
    """Change the text of a document or table: lines, pieces, marks of YAML, the end."""
    lines = text.splitlines(keepends=True) or [""]
    place = rng.randrange(len(lines))
    cut = rng.randrange(len(text) + 1)
    match rng.randrange(10):
        case 0:
            return text[:cut]
        case 1:
            return text[cut:]
        case 2:
            del lines[place]
        case 3:
            lines[place:place] = [lines[place]] * rng.choice((1, 2, 50))
        case 4:
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        case 5:
            return f"{text[:cut]}{rng.choice(TEXTS)}{text[cut:]}"
        case 6:
            return text[:cut] + "".join(rng.choices(string.printable, k=rng.randint(1, 9))) + text[cut + 1 :]
        case 7:
            marks = (
                "&a ",
                "*a",
                "<<: *a\n",
                "!!python/object/apply:os.system [id]\n",
                "---\n",
                "...\n",
                "? ",
                "|\n",
                "%YAML 9\n",
            )
            lines[place:place] = [rng.choice(marks)]
        case 8:
            return text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\x85", " ")))
        case _:
            lines[place] = lines[place].replace(" ", rng.choice(("\t", "", "  ", "\u00a0")))
    return "".join(lines)


def changed_rows(rng: Random, text: str, mark: str | None) -> str:
    """Change cells, columns and rows of a table in text; without a mark between cells, blanks separate them."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not lines:
            break
        place = rng.choice((0, rng.randrange(len(lines)), rng.randrange(len(lines))))
        cells = lines[place].split(mark)
        column = rng.randrange(len(cells)) if cells else 0
        glue = " " if mark is None else mark
        match rng.randrange(8):
            case 0 | 1 | 2 | 3 if cells:
                cells[column] = str(other_value(rng, _as_number(cells[column])))
                lines[place] = glue.join(cells)
            case 4 if cells:
                for number, line in enumerate(lines):  # a whole column goes, or comes twice
                    parts = line.split(mark)
                    parts[column : column + 1] = parts[column : column + 1] * rng.choice((0, 2))
                    lines[number] = glue.join(parts)
            case 5:
                lines[place:place] = [lines[place]] * rng.choice((1, 5, 2000))
            case 6:
                del lines[place]
            case _:
                lines[place] = glue.join(rng.sample(cells, len(cells)))
    return "\n".join(lines) + "\n" * rng.choice((0, 1, 1, 3))


def _as_number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def changed_bytes(rng: Random, content: bytes) -> bytes:
    """Change bytes: some others, a piece that goes, comes twice or is all one byte, the end."""
    data = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 1, 2, 8))):
        place, size = rng.randrange(len(data) or 1), rng.choice((1, 2, 4, 8, 64, 1024))
        match rng.randrange(6):
            case 0:
                data[place : place + 1] = bytes((rng.randrange(256),))
            case 1:
                data[place : place + size] = bytes((rng.choice((0, 255, 127, 128)),)) * size
            case 2:
                del data[place : place + size]
            case 3:
                data[place:place] = data[place : place + size]
            case 4:
                data[place : place + size] = rng.randbytes(size)
            case _:
                del data[place:]
    return bytes(data)


def changed_encoding(rng: Random, text: str) -> bytes:
    """Write a text in another encoding, with marks of order, or with bytes that are none."""
    encoded = text.encode("utf-8", "surrogatepass")
    match rng.randrange(4):
        case 0:
            return b"\xef\xbb\xbf" + encoded
        case 1:
            return text.encode("utf-16", "surrogatepass")
        case 2:
            place = rng.randrange(len(encoded) + 1)
            return (
                encoded[:place]
                + rng.choice((b"\xff\xfe", b"\xc3\x28", b"\x80", b"\xed\xa0\x80", b"\0\0"))
                + encoded[place:]
            )
        case _:
            return text.encode("latin-1", "replace")


def changed_archive(rng: Random, content: bytes) -> bytes:
    """Make a NumPy archive anew with members that are gone, doubled, renamed, of other types or of huge shapes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = rng.randrange(len(members))
    name, data = members[place]
    match rng.randrange(6):
        case 0:
            del members[place]
        case 1:
            members.append((name, data))
        case 2:
            members[place] = (rng.choice(("../x.npy", "x.npy", "\u202ex.npy", name.upper(), "a" * 300)), data)
        case 3:
            shape = rng.choice(("(10000000000,)", "(-1,)", "(1, 2, 3, 4)", "()", "(99999999999999999999,)", "('a',)"))
            kind = rng.choice(("<f8", "|O", "<U5", "<i8", "<c16", "[('a', '<f8')]", "|V9", "<M8[s]", ">f8", "<f2"))
            head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
            head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
            members[place] = (name, b"\x93NUMPY\x01\0" + len(head).to_bytes(2, "little") + head + data[128:])
        case _:
            members[place] = (name, changed_bytes(rng, data))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in members:
            with warnings.catch_warnings(action="ignore"):  # of names that are doubled
                archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def broken(rng: Random, file: str, content: bytes) -> bytes:
    """Return the broken content of a file of this name."""
    suffix = Path(file).suffix
    if suffix == ".gz":
        inner = broken(rng, file.removesuffix(".gz"), gzip.decompress(content))
        packed = gzip.compress(inner, 1, mtime=0)
        return changed_bytes(rng, packed) if rng.random() < 0.2 else packed + packed * (rng.random() < 0.1)
    if suffix in {".npz", ".parquet"}:
        if suffix == ".npz" and rng.random() < 0.6:
            content = changed_archive(rng, content)
            return content if rng.random() < 0.8 else changed_bytes(rng, content)
        return changed_bytes(rng, content)
    text = content.decode()
    how = rng.random()
    if how < 0.05:
        return changed_bytes(rng, content)
    if how < 0.1:
        return changed_encoding(rng, text)
    if suffix in {".json", ".yaml"} and how < 0.85:
        document = json.loads(text) if suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
        document = sealed(rng, changed_document(rng, document))
        text = document_text(rng, document, as_json=suffix == ".json")
    elif suffix == ".jsonl" and how < 0.85:
        lines = text.splitlines()
        place = rng.randrange(len(lines))
        lines[place] = document_text(rng, changed_document(rng, json.loads(lines[place])), as_json=True).replace(
            "\n", ""
        )
        text = "\n".join(lines) + "\n"
    elif suffix in {".csv", ".txt", ".swf"} and how < 0.85:
        text = changed_rows(rng, text, {".csv": ",", ".txt": "|"}.get(suffix))
    else:
        text = changed_text(rng, text)
    return text.encode("utf-8", "surrogatepass")
