"""Text of files reaches terminals, JSON, pages and tables by the functions of `text.py` and no other way."""

from __future__ import annotations

import ast
import csv
import io
import json
import logging
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from lpsched.cancellation import Progress
from lpsched.cli.console import PrintableFormatter, ProgressLine, print_json, print_lines, print_tables
from lpsched.cli.main import run
from lpsched.errors import InstanceError
from lpsched.io.content import csv_bytes
from lpsched.online.parts import Levels
from lpsched.online.result.simulation import kinds_of
from lpsched.report.html.page import Paragraph, Section, Table, page
from lpsched.report.tables import FoldingTable, fitted, line, table
from lpsched.text import harmless_cell, number_in, printable
from lpsched.traces.sacct import delimiter_of
from lpsched.traces.slurm_cells import gpus_of_gres, node_names
from lpsched.traces.slurm_system import read_system
from lpsched.traces.swf import read_swf

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lpsched"
# Every module that writes text to a terminal, as CSV or HTML, or loads what does.
PLACES = {
    "__main__.py": {"sys.stdout", "sys.stderr"},  # they are closed, or get a fixed word
    "cli/console.py": {"logging.basicConfig", "rich.console", "rich.text", "sys.stderr", "sys.stdout"},
    "cli/generate.py": {"sys.stderr", "sys.stdout"},  # a table, by `print_tables`
    "cli/main.py": {"sys.__stdout__", "sys.exit", "sys.stderr", "sys.stdout"},  # they are flushed or closed
    "cli/serve.py": {"sys.stdout"},  # it is flushed
    "io/content.py": {"csv.writer"},
    "measure/probes.py": {"sys.stderr"},  # a number of ours
    "measure/supervisor.py": {"os.write"},  # JSON into a pipe
    "report/html/page.py": {"jinja2.Environment"},
    "report/tables.py": {"rich.text"},
    "serve/worker.py": {"sys.stderr", "sys.stdout"},  # messages into a pipe; a traceback in printable characters
    "text.py": {"html.escape"},
}
# Text of ours that a template writes as it is: figures of Matplotlib, the script, the style, the slider's data.
SAFE = {"part.opening", "part.body", "part.data", "policy", "style", "script"}
WRITERS = {
    *("builtins.print", "pprint.pprint", "traceback.print_exc", "traceback.print_exception", "os.write", "sys.exit"),
    *("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "/dev/tty", "/dev/stdout", "/dev/stderr"),
    *("csv.writer", "csv.DictWriter", "markupsafe.Markup", "html.escape", "jinja2.Environment", "jinja2.Template"),
    *("logging.basicConfig", "logging.StreamHandler", "typer.echo", "typer.secho"),
    *("rich.console", "rich.text", "rich.print", "click"),
}  # fmt: skip
SOME = re.compile(
    r"\b(?:print|std(?:out|err)|__std|csv|html|jinja2|Markup|logging|echo|secho|rich|click|exit|pprint|traceback)|os\.write|/dev/"
)


def writers_in(source: str) -> set[str]:
    """Return which of `WRITERS` a module names, by whatever names it imported them, but for types."""
    if not SOME.search(source):
        return set()  # walking through the tree of every module takes seconds
    tree = ast.parse(source)
    full = {"print": "builtins.print", "Markup": "markupsafe.Markup"}  # what a name stands for
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        waiting += ast.iter_child_nodes(node)
        nodes.append(node)
        if isinstance(node, ast.Import):
            full |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    imported = {f"{node.module}" for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    named = {name for node in nodes for name in named_by(node, full)}
    return (named | imported | set(full.values()) - {"builtins.print", "markupsafe.Markup"}) & WRITERS


def named_by(node: ast.AST, full: dict[str, str]) -> set[str]:
    """Return what a name, or an attribute of one, stands for; or a text that is the name of a terminal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Name):
        return {full.get(node.id, node.id)}
    if isinstance(node, ast.Attribute):
        return {f"{of}.{node.attr}" for of in named_by(node.value, full) if of}
    return set()


def test_every_place_that_writes_text_is_known():
    found = {
        path.relative_to(PACKAGE).as_posix(): writers
        for path in sorted(PACKAGE.rglob("*.py"))
        if (writers := writers_in(path.read_text(encoding="utf-8")))
    }
    assert found == PLACES, "write by a function of `text.py`, `cli/console.py` or `report/tables.py`"


@pytest.mark.parametrize(
    ("source", "writer"),
    [
        ("print(name)", "builtins.print"),
        ("say = print", "builtins.print"),
        ("import builtins\nbuiltins.print(name)", "builtins.print"),
        ("import sys\nsys.stdout.write(name)", "sys.stdout"),
        ("import sys\nsys.stdout.buffer.write(name)", "sys.stdout"),
        ("import sys\nwrite = sys.stderr.writelines", "sys.stderr"),
        ("import sys\nsys.__stdout__.write(name)", "sys.__stdout__"),
        ("from sys import stdout as out\nout.write(name)", "sys.stdout"),
        ("import json, sys\njson.dump(name, sys.stdout)", "sys.stdout"),
        ("import sys as s\ns.exit(name)", "sys.exit"),
        ("import os\nos.write(1, name)", "os.write"),
        ("open('/dev/tty', 'w')", "/dev/tty"),
        ("import csv\ncsv.writer(file)", "csv.writer"),
        ("from csv import writer\nwriter(file)", "csv.writer"),
        ("from html import escape", "html.escape"),
        ("from jinja2 import Environment as E", "jinja2.Environment"),
        ("import traceback\ntraceback.print_exc()", "traceback.print_exc"),
        ("Markup(name)", "markupsafe.Markup"),
        ("from typer import echo", "typer.echo"),
        ("import typer\ntyper.echo(name)", "typer.echo"),
        ("from rich.text import Text", "rich.text"),
        ("import rich.console", "rich.console"),
    ],
)
def test_a_new_place_is_noticed(source, writer):
    assert writer in writers_in(source)


def test_templates_escape_all_but_what_is_ours():
    found = {
        name
        for path in PACKAGE.rglob("*.j2")
        for name in re.findall(r"\{\{-?\s*([\w.]+)\s*\|\s*safe", path.read_text(encoding="utf-8"))
    }
    assert found == SAFE


# What a terminal must not get: colours, titles, the start of the line, lines, directions, halves of characters.
HOSTILE = "\x1b[31mx\x1b]0;t\x07\r\x9b2J\u202eFLIP\u2066\u2028\x85\x7f\ud800\ntiny.json: accepted\x00"


def is_plain(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def test_a_text_in_a_table_neither_steers_the_terminal_nor_begins_a_line():
    out = io.StringIO()
    cells = (("a", HOSTILE), (HOSTILE, "b"))
    print_tables([table(("", ""), cells), FoldingTable(("x", "y"), cells), fitted(HOSTILE), line(HOSTILE, "end")], out)
    assert is_plain(out.getvalue())
    assert not [each for each in out.getvalue().split("\n") if each.startswith("tiny.json")]
    assert out.getvalue().count(r"\x1b[31m") == 6


def test_columns_are_as_wide_as_what_is_shown():
    out = io.StringIO()
    print_tables([table(("", "n"), [("\x1b", "1"), ("abcd", "2")], numbers=(1,))], out)
    assert out.getvalue().split("\n")[1:3] == [r"\x1b  1", "abcd  2"]


def test_json_says_the_same_in_printable_characters(capsys):
    print_json({"name": HOSTILE})
    printed = capsys.readouterr().out
    assert is_plain(printed)
    assert json.loads(printed) == {"name": HOSTILE}


def test_a_log_is_printable_and_each_message_one_line():
    made = logging.LogRecord("lpsched", logging.ERROR, "", 0, "job %s failed", (HOSTILE,), None)
    assert PrintableFormatter("%(message)s").format(made) == f"job {printable(HOSTILE)} failed"


def test_a_traceback_in_a_log_is_printable():
    error = ValueError(HOSTILE)
    made = logging.LogRecord("lpsched", logging.ERROR, "", 0, "no", (), (ValueError, error, None))
    written = PrintableFormatter("%(message)s").format(made)
    assert is_plain(written)
    assert r"\x1b[31mx" in written


def test_lines_and_progress_are_printable(capsys):
    print_lines([HOSTILE])
    assert capsys.readouterr().out == f"{printable(HOSTILE)}\n"
    progress = ProgressLine(lambda: 0.0)
    progress.update(Progress(HOSTILE))
    assert progress.text == printable(HOSTILE)


def test_a_page_escapes_and_shows_what_cannot_be_seen():
    text = page(HOSTILE, "<script>", [Section("</script>", (Paragraph(HOSTILE), Table(("<b>",), ((HOSTILE,),))))])
    assert "<script>alert" not in text
    assert "<b>" not in text
    assert not set("\x1b\u202e\u2066\u2028\x9b\x00\ud800") & set(text)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=HYPERLINK(1)"])
def test_a_table_for_people_has_no_formulas(cell):
    rows = list(csv.reader(io.StringIO(csv_bytes(("name",), [(cell,)], for_people=True).decode(), newline="")))
    assert rows[1] == [f"'{printable(cell)}"]
    assert harmless_cell(-1.5) == -1.5


def test_names_in_a_table_that_is_read_again_stay_as_they_are(tmp_path, capsys):
    names = {"scan": "=1+1", "print": "-2", "fast": "@SUM(A1)", "slow": "+x"}
    text = (ROOT / "instances/tiny.yaml").read_text(encoding="utf-8")
    for old, new in names.items():
        text = re.sub(rf"\b{old}\b", f'"{new}"', text)
    (tmp_path / "bag.yaml").write_text(text, encoding="utf-8")
    for words in (
        "convert bag.yaml -o t.yaml --tables csv",
        "solve t.yaml --effort fast -o plan.csv",
        "verify bag.yaml plan.csv",
    ):
        assert run([str(tmp_path / each) if "." in each else each for each in words.split()]) == 0, capsys.readouterr()


@pytest.mark.parametrize(
    "text",
    ["1_000", "0_2.0", "\u0661\u0662", " 1", "1 ", "inf", "Infinity", "nan", "0x10", "1e", ".", "+", "1,5", "", "--1"],
)
def test_what_only_python_takes_for_a_number_is_none(text):
    assert number_in(text) is None


# Hostile text in every text of every kind of file; a file that is rejected is fine, what is printed must be plain.
FILES = {
    "bag.yaml": ("instances/tiny.yaml", ("show", "solve", "convert")),
    "room.yaml": ("instances/facility-tiny.yaml", ("show", "convert")),
    "grid.yaml": ("instances/clusters-small.yaml", ("show", "convert")),
    "bench.yaml": ("tests/data/bench.yaml", ("show",)),
    "node.yaml": ("tests/data/node_new.yaml", ("show", "measure", "convert")),
    "study.yaml": (None, ("study report",)),
}
STUDY = {
    "format": "lpsched-study/1",
    "name": "s",
    "description": "d",
    "instances": [{"file": "bag.yaml"}],
    "methods": ["mct"],
    "parameters": {"objective": ["makespan"]},
    "limits": {"seconds": 5},
}


def texts_in(value, path=()):
    """Yield the path of every text in a document."""
    if isinstance(value, str):
        yield path
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from texts_in(each, (*path, key))


def with_text(document, path, text):
    changed = json.loads(json.dumps(document, default=str))
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = text
    return changed


def printed_by(capsys, *words):
    """Run a command and require plain output, without a line that a file began."""
    run([str(word) for word in words])
    out, err = capsys.readouterr()
    for text in (out, err):
        assert is_plain(text), (words, text)
        assert not [each for each in text.split("\n") if each.startswith("tiny.json: accepted")], (words, text)


@pytest.mark.parametrize("name", FILES)
def test_no_text_of_an_instance_steers_the_terminal(name, tmp_path, capsys, monkeypatch):
    source, commands = FILES[name]
    document = STUDY if source is None else yaml.safe_load((ROOT / source).read_text(encoding="utf-8"))
    (tmp_path / "bag.yaml").write_text((ROOT / "instances/tiny.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    beside = tmp_path / "clusters-small.yaml.tasks.csv"
    beside.write_bytes((ROOT / "instances/clusters-small.yaml.tasks.csv").read_bytes())
    file = tmp_path / f"{Path(name).stem}.json"
    for path in texts_in(document):
        if path[-1] == "format":
            continue
        for text in (HOSTILE, f"{HOSTILE[:-1].replace(chr(0xD800), '')}"):
            file.write_text(json.dumps(with_text(document, path, text)), encoding="utf-8")
            for command in commands:
                more = ("-o", tmp_path / "out.json", "--force") if command == "convert" else ()
                printed_by(capsys, *command.split(), file, *more)
    printed_by(capsys, "show", file, "--json")


@pytest.mark.parametrize("kind", ["schedule", "certificate", "lines"])
def test_no_text_of_an_answer_steers_the_terminal(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bag.yaml").write_text((ROOT / "instances/tiny.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "s.yaml").write_text(json.dumps(STUDY), encoding="utf-8")
    made = {
        "schedule": "solve bag.yaml --effort fast -o a.json",
        "certificate": "certify bag.yaml --effort fast -o a.json",
        "lines": "study run s.yaml --jobs 1 -o a.jsonl",
    }[kind]
    assert run(made.split()) == 0
    capsys.readouterr()
    file = tmp_path / ("a.jsonl" if kind == "lines" else "a.json")
    document = json.loads(file.read_text(encoding="utf-8"))
    for path in texts_in(document):
        file.write_text(json.dumps(with_text(document, path, HOSTILE)) + "\n", encoding="utf-8")
        if kind == "lines":
            printed_by(capsys, "study", "report", file)
            printed_by(capsys, "study", "report", file, "--json")
            printed_by(capsys, "study", "report", file, "-o", tmp_path / "t.csv", "--force")
        else:
            printed_by(capsys, "verify", "bag.yaml", file)
            printed_by(capsys, "verify", "bag.yaml", file, "--json")
            printed_by(capsys, "validate" if kind == "schedule" else "show", "bag.yaml", file)


@pytest.mark.parametrize(
    "words", ["show", "verify bag.yaml", "solve bag.yaml -o", "expand bag.yaml a.json -o", "nonsense"]
)
def test_no_name_of_a_file_begins_a_line(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bag.yaml").write_text((ROOT / "instances/tiny.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    name = "x\n  y\x1b[32m\ntiny.json: accepted\u202e.json"
    (tmp_path / name).write_text("{}", encoding="utf-8")
    printed_by(capsys, *words.split(), name)


# Patterns that begin anew at each character would take minutes to hours for each of these.
MANY = 300_000


def test_long_texts_are_read_in_one_go(capsys):
    assert gpus_of_gres("gpu:2" + "(" * MANY) is not None
    assert node_names("a[1-2]" + ",b" * MANY) == ("a1", "a2", "b")
    with pytest.raises(ValueError, match="a"):
        node_names("[" * MANY + "a")
    assert delimiter_of("a" * MANY) == "|"
    declared = tuple(Levels(f"{'1' * MANY}x{n}", "soon", "A") for n in range(9))
    assert set(kinds_of(SimpleNamespace(arriving=SimpleNamespace(declared=declared)))) == {f"{'1' * MANY}x"}
    print_tables([table(["a", "b"], [[" " * MANY + "x", "y" * MANY], ["a", "b"]])], sys.stdout)
    assert capsys.readouterr().out.rstrip().endswith("b")


def test_a_word_of_a_log_with_very_many_digits_is_no_number(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text("1 0 0 1 1 0 0 1 1 0 1 0 0 0 0 0 0 " + "1" * MANY + "x\n")
    with pytest.raises(InstanceError, match="a number"):
        read_swf(path)


def test_a_list_of_nodes_of_blank_lines_is_none(tmp_path):
    path = tmp_path / "nodes.txt"
    path.write_text("\n" * MANY)
    with pytest.raises(InstanceError):
        read_system(path)
