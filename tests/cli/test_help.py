"""Help texts: grouped, whole, with examples that run; old option names, units, completion."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from lpsched.cli.main import ALIASES, COMMANDS, app, run
from lpsched.cli.options import EVERYWHERE

ROOT = Path(__file__).parents[2]
TINY = str(ROOT / "instances" / "tiny.yaml")
WIDTH = 80
LONG = ("measure", "study")  # examples that take their time
ENDLESS = ("serve",)  # runs until it is stopped; tests/serve starts it


def commands() -> dict[str, Any]:
    """Return all commands by what a user types."""
    found = {command.callback.__name__: command for command in app.registered_commands}
    for group in app.registered_groups:
        found |= {f"{group.name} {each.name}": each for each in group.typer_instance.registered_commands}
    return found


def examples(name: str) -> list[str]:
    """Return the examples in the help of a command."""
    text = commands()[name].epilog.removesuffix(EVERYWHERE).replace("\\\n", "")
    return [line.strip() for line in text.splitlines() if line.startswith("  lpsched ")]


def test_help_lists_every_command_in_its_section_with_a_whole_summary(lpsched):
    code, out, _ = lpsched("-h")
    assert code == 0
    for title, listed in COMMANDS.items():
        section = out.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
        names = [each[0] if isinstance(each, tuple) else each.__name__ for each in listed]
        assert sorted(line.split()[0] for line in section) == sorted(names)  # no summary takes two lines
        assert all(line.endswith(".") and "..." not in line and len(line) <= WIDTH for line in section)


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help_by_h_with_an_example_of_itself(lpsched, name):
    code, out, _ = lpsched(*name.split(), "-h")
    assert code == 0
    assert max(map(len, out.splitlines())) <= WIDTH
    assert any(example.startswith(f"lpsched {name} ") for example in examples(name))
    assert f"Examples:\n    {examples(name)[0]}\n" in out


@pytest.mark.rotate(6)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith(LONG) else ())
        for name in commands()
        if name not in ENDLESS
    ],
)
def test_examples_run_in_a_fresh_clone(lpsched, tmp_path, monkeypatch, name):
    for part in ("instances", "tests/data"):
        shutil.copytree(ROOT / part, tmp_path / part)
    monkeypatch.chdir(tmp_path)
    for example in examples(name):
        code, out, err = lpsched(*shlex.split(example.partition(" > ")[0])[1:])
        assert (code, bool(out)) == (0, True), f"{example}: {err}"


@pytest.mark.parametrize(("name", "old"), [(name, old) for name, known in ALIASES.items() for old in known])
def test_old_option_names_work_and_are_not_shown(lpsched, name, old):
    _, out, _ = lpsched(name, "--help")
    assert not re.search(rf"{old}\b", out)
    assert ALIASES[name][old] in out
    code, _, err = lpsched(name, TINY, old)
    assert (code, f"lpsched: {ALIASES[name][old]}: got no value, expected" in err) == (2, True)


def test_an_old_name_means_the_same(lpsched):
    _, old, _ = lpsched("validate", TINY, "--heuristic=mct", "--json")
    _, new, _ = lpsched("validate", TINY, "--scheduler", "mct", "--json")
    assert [each["name"] for each in old["entries"]] == [each["name"] for each in new["entries"]] == ["mct"]


def test_v_prints_the_version(lpsched):
    assert lpsched("-V") == lpsched("--version")
    assert lpsched("-V")[1].startswith("lpsched 0.")


@pytest.mark.parametrize(("typed", "expected"), [("lpsched wha", "whatif"), ("lpsched solve --dead", "--deadline")])
def test_completion_completes_commands_and_options(capsys, monkeypatch, typed, expected):
    monkeypatch.setenv("_LPSCHED_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    with pytest.raises(SystemExit) as ended:
        run([])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"{expected}\n")


@pytest.mark.parametrize(("plain", "given"), [("30", "0.5min"), ("30", "30 s"), ("3660", "1h 1min"), ("86400", "1d")])
def test_a_deadline_has_a_unit(lpsched, plain, given):
    answers = [lpsched("solve", TINY, "--deadline", each, "--json")[1] for each in (plain, given)]
    for answer in answers:
        answer.pop("timings")
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--deadline", "5x"), "got '5x', expected a time such as 90, 90s, 5min, 2h, 1d"),
        (("--deadline", "5kW"), "got '5kW', expected a time"),
        (("--power-cap", "3kw"), "got '3kw', expected a power such as 250, 250W, 30kW, 1.5MW"),
        (("--time-limit", "-1"), "got '-1', expected a time such as 90, 90s, 5min, 2h, 1d, of at least 0"),
        (("--time-limit", "nan"), "got 'nan', expected a time such as 90"),
    ],
)
def test_a_value_that_is_none_is_rejected_with_examples(lpsched, arguments, message):
    code, out, err = lpsched("solve", TINY, *arguments)
    assert (code, out) == (2, "")
    assert message in err
