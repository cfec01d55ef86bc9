"""Imports point down, and only along the table of who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "lpsched"
FORMULATION = {"errors", "instance", "heat", "lp", "relaxation", "watch", "compiled"}
BELOW_FILES = {"errors", "instance", "schedule", "result", "certificate"}
BELOW_PIPELINE = (
    FORMULATION
    | {"formulations", "search", "recovery", "schedule", "verify", "generate", "risk"}
    | BELOW_FILES
    | {"files"}
)
MAY_IMPORT = {
    "errors": set(),
    "display": set(),
    "compiled": {"errors"},
    "named": {"errors", "instance"},
    "instance": {"errors"},
    "watch": set(),
    "lp": {"errors", "watch"},
    "heat": {"errors", "instance"},
    "schedule": {"instance"},
    "relaxation": {"instance"},
    "verify": {"instance", "schedule"},
    "certificate": {"errors", "instance"},
    "generate": {"errors", "instance"},
    "formulations": FORMULATION,
    "search": FORMULATION | {"formulations"},
    "recovery": FORMULATION | {"schedule"},
    "risk": {"errors", "instance", "schedule", "watch"},
    "heuristics": {"errors", "instance", "heat", "schedule", "watch", "named"},
    "evolve": {"errors", "instance", "heat", "schedule", "watch", "risk", "compiled"},
    "simulation": {"errors", "instance", "heat", "relaxation", "schedule", "watch", "compiled", "named"},
    "result": {"display", "instance", "relaxation", "schedule", "verify", "certificate"},
    "files": BELOW_FILES,
    "pipeline": BELOW_PIPELINE | {"display"},
    "auditing": BELOW_FILES | {"files", "verify"},
    "compare": BELOW_PIPELINE | {"pipeline", "auditing", "heuristics", "evolve", "simulation"},
    "measure": {"errors", "instance", "files", "watch"},
    "studies": BELOW_PIPELINE | {"pipeline", "auditing", "heuristics", "evolve", "simulation", "compare"},
    "traces": {"errors", "instance", "schedule", "verify", "files"},
    "reports": {"display", "certificate", "files", "instance", "schedule", "result"},
}
ANYTHING = {"cli", "__init__", "__main__"}
MAY_IMPORT_IN_FUNCTIONS = {"lp", "reports", "files", "compare"} | ANYTHING  # optional packages; start-up time


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, bool]]:
    """Return every imported module, and whether the import is inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in inner) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [(f"{node.module}.{alias.name}", id(node) in inner) for alias in node.names]
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


def broken_rules(path):
    """Return what a file imports although it may not."""
    part, broken = part_of(path), []
    for module, inside in imports(path):
        names = module.split(".")
        if inside and part not in MAY_IMPORT_IN_FUNCTIONS:
            broken.append(f"{path}: imports {module} inside a function")
        if names[0] == "models":
            broken.append(f"{path}: imports an independent model")
        if names[0] == "lpsched" and part not in ANYTHING and names[1] not in {part, *MAY_IMPORT[part]}:
            broken.append(f"{path}: {part} may not import {module}")
        if part == "certificate" and (
            names[0] in {"numpy", "highspy", "scipy"} or names[:3] == ["lpsched", "instance", "arrays"]
        ):
            broken.append(f"{path}: a certificate may not import {module}")
    return broken


def test_every_import_points_down():
    assert [rule for path in FILES for rule in broken_rules(path)] == []


def test_the_table_covers_every_part():
    assert {part_of(path) for path in FILES} <= set(MAY_IMPORT) | ANYTHING


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_certificate_and_the_verifier_load_no_numpy_and_no_solver():
    ours = ("certificate.claim", "verify.tasks", "verify.day", "verify.clusters")
    loaded = loaded_by("import " + ", ".join(f"lpsched.{name}" for name in ours))
    assert not loaded & {"numpy", "highspy", "scipy", "yaml"}


def test_importing_lpsched_loads_nothing_else():
    assert not loaded_by("import lpsched") & {"numpy", "highspy", "pydantic", "yaml", "typer", "lpsched.errors"}


HEAVY = {"numpy", "highspy", "scipy", "yaml", "pyarrow", "rich.console", "rich.markdown"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [(["--help"], HEAVY | {"pydantic"}), (["solve", "--help"], HEAVY)],  # Typer itself loads Pydantic for options
    ids=["of-lpsched", "of-a-command"],
)
def test_help_loads_only_the_command_line(arguments, heavy):
    # Start-up is a promise of 0.4 s; what costs time is what is imported, so that is what is checked.
    quietly = "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()): run"
    loaded = loaded_by(f"from lpsched.cli.main import run; exec({f'{quietly}({arguments})'!r})")
    assert not loaded & heavy
    assert not {name for name in loaded if name.startswith(("lpsched.instance", "lpsched.files", "lpsched.lp"))}
