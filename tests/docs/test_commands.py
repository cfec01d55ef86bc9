"""Every command of the README and of the other pages prints what the page says."""

from __future__ import annotations

import pytest

from lpsched.online.files import read_clusters, read_day
from tests.docs.pages import PAGES, README, ROOT, assert_as_shown, in_a_shell

pytestmark = pytest.mark.unwatched  # what commands do is tested elsewhere


@pytest.mark.parametrize(("page", "number"), [each for page in PAGES.values() for each in page.runnable()])
def test_a_command_prints_what_the_page_says(folder, page, number):
    command, expected = page.commands[number]
    assert_as_shown(command, page.run(number, folder), expected)


def test_there_are_commands_on_many_pages():
    assert len(README.runnable()) == 35
    assert sum(len(page.runnable()) > 0 for page in PAGES.values()) == 15


def test_the_days_that_a_page_makes_are_shipped(folder):
    page = PAGES["docs/data-sets.md"]
    for number in range(len(page.commands)):
        page.run(number, folder)
    made, shipped = page.folder_in(folder), ROOT / "instances"
    small = read_day(shipped / "utility-1000.yaml")
    assert read_day(made / "day.yaml").model_copy(update={"name": small.name}) == small
    assert read_day(made / "essc.yaml") == read_day(shipped / "essc-33k.yaml")
    assert read_clusters(made / "paper.yaml") == read_clusters(shipped / "clusters-5k.yaml")


def test_the_demo_prints_the_command_that_the_readme_shows_and_runs_it():
    if not (ROOT / ".venv" / "installed-test").exists():
        pytest.skip("there is no .venv that scripts/test made; the demo would make one now")
    position = [command for command, _ in README.commands].index("scripts/demo")
    command, expected = README.commands[position + 1]
    assert in_a_shell("scripts/demo 2>/dev/null", ROOT) == f"$ {command}\n{expected}"  # an install speaks on stderr
