"""The page on data sets: its commands print what it says, its Python runs, and it names every file."""

from __future__ import annotations

import re
from dataclasses import replace

from lpsched.files.clusters import read_clusters
from lpsched.files.days import read_day
from tests.test_readme import ROOT, folder, parts, run  # noqa: F401 - a fixture

PAGE = (ROOT / "docs" / "data-sets.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_commands_print_what_the_page_says_and_make_shipped_days(folder):  # noqa: F811
    for command, expected in [pair for block in blocks("console") for pair in parts(block)]:
        assert run(command, folder) == expected, command
    shipped = read_day(ROOT / "instances" / "utility-1000.yaml")
    assert replace(read_day(folder / "day.yaml"), name=shipped.name) == shipped
    assert read_day(folder / "essc.yaml") == read_day(ROOT / "instances" / "essc-33k.yaml")
    assert read_clusters(folder / "paper.yaml") == read_clusters(ROOT / "instances" / "clusters-5k.yaml")


def test_the_python_runs(capsys):
    (code,) = blocks("python")
    exec(code, {})  # noqa: S102 - the page's own code
    assert capsys.readouterr().out.startswith("Bag('mine': 5000 tasks on 9 machines")


def test_every_data_set_is_named():
    names = [path.name for path in (ROOT / "instances").glob("*.yaml")]
    for name in names:
        assert name.startswith(("desktop", "front", "utility", "essc", "energy", "clusters")) == (
            f"| `{name}`" in PAGE or f", `{name}`" in PAGE
        )
