"""Every block of the README runs, and prints what it says."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import lpsched

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(console|python)\n(.*?)```", README, flags=re.DOTALL)


def parts(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what they print."""
    return [
        (command, output)
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like a fresh clone, for the commands to write into."""
    folder = tmp_path_factory.mktemp("readme")
    for part in ("instances", "tests/data"):
        shutil.copytree(ROOT / part, folder / part)
    return folder


def test_there_are_blocks_of_both_kinds():
    assert {kind for kind, _ in BLOCKS} == {"console", "python"}


def run(command: str, folder: Path) -> str:
    """Run a command as a reader would, with the lpsched of this Python; return stdout and stderr together."""
    bin_folder = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": bin_folder + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(  # noqa: S602 - the README's own commands
        command, shell=True, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout


NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
NEARLY_EVOLVED: Final = 0.1
NEARLY: Final = 0.02  # of a number: another processor may end a search for prices elsewhere


def taken_apart(line: str) -> tuple[str, list[float]]:
    """Return the words of a line, and its numbers."""
    words = re.sub(r"\s+", " ", NUMBER.sub("#", line))
    return words, [float(each.replace(",", "")) for each in NUMBER.findall(line)]


def is_as_shown(command: str, printed: str, expected: str) -> bool:
    """Tell whether a command prints what the page says, but for times; simulated days and evolved fronts nearly.

    Of what was measured on this machine only the words are the same.
    """
    if is_measured(command):
        return is_near(printed.splitlines(), expected.splitlines(), math.inf)
    if command.startswith("lpsched simulate"):
        return is_near(without_times(printed), without_times(expected), NEARLY)
    if "nsga2" in command:  # one other last digit of a processor, and chance goes other ways
        now, then = (["  ".join(row) for row in untimed(each)] for each in (printed, expected))
        return is_near(now, then, NEARLY_EVOLVED)
    return untimed(printed) == untimed(expected)


def is_near(printed: list[str], expected: list[str], share: float) -> bool:
    """Tell whether lines have the same words, and numbers that differ by no more than a share."""
    now, then = ([taken_apart(line) for line in each] for each in (printed, expected))
    return [words for words, _ in now] == [words for words, _ in then] and (
        math.isinf(share)
        or all(
            numbers == pytest.approx(known, rel=share)
            for (_, numbers), (_, known) in zip(now, then, strict=True)
        )
    )


def is_measured(command: str) -> bool:
    """Tell whether a command measures, or reads what was measured."""
    return bool(re.search(r"\bnode[-.]", command))


def without_times(printed: str) -> list[str]:
    """Return the lines without the last column, the time of a mapping event, and that of the bound."""
    lines = [re.sub(r"found in \S+ s", "found", line) for line in printed.splitlines()]
    return ["  ".join(re.split(r"\s{2,}", line)[:9]) for line in lines]


def untimed(printed: str) -> list[str] | list[list[str]]:
    """Return lines; of a table with seconds its cells, without the seconds and what follows from them."""
    lines = printed.splitlines()
    if not any("  seconds" in line for line in lines):
        return lines
    cells, last = [], None
    for line in lines:
        row = re.split(r"\s{2,}", line.strip())
        last = row.index("seconds") if "seconds" in row else last if line else None
        cells.append(row[:last])
    return cells


COMMANDS = [pair for kind, block in BLOCKS if kind == "console" for pair in parts(block)]


def test_the_commands_print_what_the_readme_says(folder):
    plain = [(command, expected) for command, expected in COMMANDS if not command.startswith("scripts/")]
    assert len(plain) == 35
    for command, expected in plain:
        assert is_as_shown(command, run(command, folder), expected), command


def test_the_demo_prints_the_command_that_the_readme_shows_and_runs_it():
    if not (ROOT / ".venv" / "installed-test").exists():
        pytest.skip("there is no .venv that scripts/test made; the demo would make one now")
    position = [command for command, _ in COMMANDS].index("scripts/demo")
    command, expected = COMMANDS[position + 1]
    assert run("scripts/demo 2>/dev/null", ROOT) == f"$ {command}\n{expected}"  # an install speaks on stderr


def test_the_gates_are_those_of_the_readme_and_the_number_of_tests_is_not_less(request):
    shown = dict(COMMANDS)["scripts/test"]
    script = (ROOT / "scripts" / "test").read_text()
    assert re.findall(r"^== (\w+)$", shown, flags=re.MULTILINE) == re.findall(
        r"^gate (\w+)", script, flags=re.MULTILINE
    )
    config = request.config
    if config.args == config.getini("testpaths") and not config.option.keyword:  # the whole suite runs
        (number,) = re.findall(r"= (\d+) passed in", shown)
        assert 0.8 <= int(number) / len(request.session.items) <= 1  # it may lag, but not boast


def test_the_python_blocks_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - the README's own code
    lpsched.heuristics.forget("all-on-one")


def test_every_link_leads_to_a_file():
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/files.md",
        "docs/json.md",
        "docs/checking.md",
        "docs/benchmarks.md",
        "docs/data-sets.md",
        "docs/days.md",
        "docs/simulation.md",
        "docs/thesis-days.md",
        "docs/clusters.md",
        "docs/traces.md",
        "docs/jobs-days.md",
        "docs/policies.md",
        "docs/fronts.md",
        "docs/heuristics.md",
        "docs/uncertainty.md",
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_the_yaml_of_the_file_reference_is_one_and_the_same_table(tmp_path):
    from lpsched.files.bags import read_bag  # noqa: PLC0415 - only this test needs it

    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "files.md").read_text(), flags=re.DOTALL)
    head = "format: lpsched-bag/1\nname: x\nmachine_types:\n  - {name: cpu, count: 2}\n"
    head += "  - {name: gpu, count: 1, p_states: [P0, P1]}\ntask_types:\n  - {name: render, count: 40}\n  - {name: zip, count: 5}\n"
    hashes = set()
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yaml"
        path.write_text(head + block)
        hashes.add(read_bag(path).content_hash)
    assert len(blocks) == 2
    assert len(hashes) == 1
