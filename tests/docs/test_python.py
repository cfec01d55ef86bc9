"""The Python that our pages show runs, and prints what follows from the page."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

import lpsched
from lpsched.errors import LpschedError
from lpsched.online import policies as days
from lpsched.simulation import clusters
from tests.docs.pages import PAGES

pytestmark = pytest.mark.unwatched  # what commands do is tested elsewhere

# Each page, and a pattern of all that its blocks print.
SHOWN = [
    (PAGES["README.md"], re.escape(PAGES["README.md"].blocks("text")[0])),
    (PAGES["docs/start/researcher.md"], r""),
    (PAGES["docs/guides/clusters.md"], r"\(Run\(nodes=128, seconds=1.0, watts=None\),\)\n"),
    (PAGES["docs/guides/data-sets.md"], r"<Bag 'mine': 5,000 tasks on 9 machines.*\n"),
    (PAGES["docs/guides/heuristics.md"], r"[01]\.\d+\n"),
    (PAGES["docs/guides/policies.md"], r"250\n[1-9]\d*\n"),  # every task of that day, which never ends; then clusters
    (PAGES["docs/guides/simulation.md"], r"first_come True\nmax-max-upt True\n"),
    (PAGES["docs/guides/traces.md"], r"(?s)8 5 \{'a part of a job.*"),
]


FORGET = [
    (lpsched.heuristics.forget, "all-on-one"),
    (lpsched.heuristics.forget, "first-machine"),
    (days.forget, "energy-saver"),
    (clusters.forget, "narrow-first"),
]


@pytest.fixture(autouse=True)
def _own_methods_are_forgotten():
    yield
    for forget, name in FORGET:
        with contextlib.suppress(KeyError, LpschedError):  # of another page
            forget(name)


@pytest.mark.parametrize(("page", "pattern"), SHOWN, ids=[page.name for page, _ in SHOWN])
def test_the_python_of_a_page_runs_and_prints_this(folder, page, pattern):
    printed = io.StringIO()
    with contextlib.chdir(page.folder_in(folder)), contextlib.redirect_stdout(printed):
        for block in page.blocks("python"):
            exec(compile(block, page.name, "exec"), {})  # noqa: S102 - our own page's code
    assert re.fullmatch(pattern, printed.getvalue())
