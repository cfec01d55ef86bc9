"""The lock file has what the project asks for, with hashes; the lowest versions are those of the project file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from scripts.lowest_versions import lowest_versions

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = re.findall(
    r"^([\w.-]+)==([\w.]+)((?: ; [^\\\n]+)?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", LOCK, re.MULTILINE
)


def wanted(extra):
    """Return the requirements of an extra, with those of extras that it names."""
    for each in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if each.name == "lpsched":
            for inner in each.extras:
                yield from wanted(inner)
        else:
            yield each


def test_the_lock_has_every_package_in_an_allowed_version_with_hashes():
    locked: dict[str, set[str]] = {}
    for name, version, _, _ in LOCKED:
        locked.setdefault(name.lower().replace("_", "-"), set()).add(version)
    needed = [*map(Requirement, PROJECT["dependencies"]), *wanted("test")]
    assert len(needed) > 20
    for each in needed:
        versions = locked.get(each.name.lower().replace("_", "-"), set())
        assert versions, f"{each.name} is not locked; run scripts/lock"
        assert all(each.specifier.contains(version) for version in versions), (
            f"{each}: locked are {versions}; run scripts/lock"
        )
    assert len(LOCKED) == len(re.findall(r"^[\w.-]+==", LOCK, re.MULTILINE))  # each has hashes
    assert "://" not in LOCK  # from the usual index, whichever that is


def test_the_lowest_versions_are_those_that_the_project_file_names():
    found = dict(line.split("==") for line in lowest_versions((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    for each in [*map(Requirement, PROJECT["dependencies"]), *wanted("test"), *wanted("all")]:
        assert each.specifier.contains(found[each.name]), each


def test_other_versions_than_lowest_and_newest_are_refused():
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "test"), "--versions", "oldest"],  # noqa: S607 - any shell
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "--versions: got 'oldest', expected lowest or newest" in done.stderr


def test_no_package_is_imported_that_the_project_file_does_not_name():
    """Neither in the package nor as something that another package happens to bring."""
    named = {
        Requirement(each).name.lower()
        for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
        for each in group
    }
    called = {"yaml": "pyyaml", "pydantic_core": "pydantic-core", "cupyx": "cupy-cuda12x", "cupy": "cupy-cuda12x"}
    found = set()
    for path in (ROOT / "lpsched").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found |= {(name.partition(".")[0], path.name) for name in names}
    foreign = {(name, file) for name, file in found if name not in sys.stdlib_module_names and name != "lpsched"}
    assert {(name, file) for name, file in foreign if called.get(name, name).lower() not in named} == set()
