"""Tables of bad inputs: what is wrong with a file, and what the command line says of it.

Each `*.yaml` beside this module is the table of one kind of file: a valid one, the command that reads it, its exit code,
and cases. A case changes the valid file (`set` values at dotted places, `without` some) or is a whole `text`; `says` is
every problem that is reported, in order; with its line where the case is a text. After a change of wording

    python -m tests.bad_inputs.tables

writes what is said now into the tables: read the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any, Final

import yaml

from lpsched.cli.main import run
from tests.documents import replaced

FOLDER: Final = Path(__file__).parent
TABLES: Final = sorted(FOLDER.glob("*.yaml"))
LINE: Final = re.compile(r"^line \d+, ")
WIDTH: Final = 1_000_000  # a problem is one line


def read(path: Path) -> dict[str, Any]:
    """Read a table."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)  # type: ignore[no-any-return]


def write(path: Path, table: dict[str, Any]) -> None:
    """Write a table, one line for each change and for each problem."""
    parts = [
        _dumped({key: value}, style=None if isinstance(value, dict) else False)
        for key, value in table.items()
        if key != "cases"
    ]
    parts.append("cases:\n")
    for case in table["cases"]:
        parts.append(f"\n- {_dumped({'case': case['case']}, style=False)}")
        parts += [f"  {key}: {_line(case[key])}\n" for key in ("text", "set", "without") if key in case]
        parts.append("  says:\n")
        parts += [f"  - {_line(each)}\n" for each in case["says"]]
    path.write_text("".join(parts), encoding="utf-8")


def _dumped(value: Any, *, style: bool | None = None) -> str:
    """Return YAML: by default what holds no other collection on one line."""
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=style)
    return str(text)


def _line(value: Any) -> str:
    """Return YAML on one line, text in quotes."""
    return json.dumps(value) if isinstance(value, str) else _dumped(value, style=True).strip()


class _Dumper(yaml.SafeDumper):
    """YAML without references from one place to another."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature of PyYAML
        return True


def changed(valid: Any, case: dict[str, Any]) -> Any:
    """Return the valid file with the change of a case."""
    return replaced(valid, case.get("set", {}) | dict.fromkeys(case.get("without", ()), ...))


def said(table: dict[str, Any], case: dict[str, Any], folder: Path) -> tuple[int, list[str]]:
    """Return the exit code of the command for a case, and the problems that it reports."""
    name = table["file"]
    for beside, content in table.get("beside", {}).items():
        (folder / beside).write_text(_text(beside, content), encoding="utf-8")
    text = case["text"] if "text" in case else _text(name, changed(table["valid"], case))
    (folder / name).write_text(text, encoding="utf-8", newline="")
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run([*table["command"].replace("FILE", name).split(), "--json"])
    answer = json.loads(out.getvalue())
    problems = [
        f"{each['where']}: got {each['found']}, expected {each['needed']}; {each['do']}"
        for each in answer.get("error", {}).get("faults", ())
    ]
    verdicts = answer["files"] if answer["format"] == "lpsched-verify/1" else []
    problems += [reason for each in verdicts for reason in each["reasons"]]
    if "text" in case:
        return code, problems
    return code, [LINE.sub("", each) for each in problems]  # of a file that is written here


def _text(name: str, content: Any) -> str:
    """Return a document as the text of a file with this name."""
    if isinstance(content, str):
        return content
    if name.endswith(".json"):
        return json.dumps(content)
    return str(yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=WIDTH))


def main() -> None:
    """Write what is said now into all tables."""
    for path in TABLES:
        table = read(path)
        with tempfile.TemporaryDirectory() as folder:
            for case in table["cases"]:
                code, case["says"] = said(table, case, Path(folder))
                if code != table["exit"]:
                    raise SystemExit(f"{path.name}, {case['case']}: exit code {code}, not {table['exit']}")
        write(path, table)


if __name__ == "__main__":
    main()
