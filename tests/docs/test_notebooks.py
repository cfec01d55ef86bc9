"""The notebooks run, wherever they are started, and print what is in them."""

from __future__ import annotations

from itertools import chain

import nbformat
import pytest

from scripts.notebooks import FOLDER, METADATA, TIMED, notebooks, run, texts
from tests.docs.pages import PAGES, ROOT, numbers, words

pytestmark = pytest.mark.unwatched  # they run in processes of their own

NAMES = {"encoded-minute", "log-to-verdict", "mlperf-fleet", "your-scheduler", "zeus-front"}
BOTH = (FOLDER, ROOT)  # where a reader may start them


@pytest.mark.slow
@pytest.mark.parametrize(("number", "path"), list(enumerate(notebooks())), ids=lambda each: getattr(each, "stem", None))
def test_a_notebook_prints_what_is_in_it(number, path):
    kept = nbformat.read(path, as_version=4)
    now, then = texts(run(path, BOTH[number % 2])), texts(kept)
    assert [list(map(words, cell)) for cell in now] == [list(map(words, cell)) for cell in then]
    for printed, known in zip(chain(*now), chain(*then), strict=True):  # last digits of a solver differ by processor
        assert numbers(printed) == pytest.approx(numbers(known), rel=5e-3, abs=1e-3)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_small_and_was_run_from_top_to_bottom(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < 100_000
    assert 10 <= len(notebook.cells) <= 20
    assert notebook.metadata == METADATA
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert len(outputs) >= 5
    assert all(output.output_type != "error" and output.get("name") != "stderr" for output in outputs)


def test_there_are_five_notebooks_and_the_findings_lead_to_those_of_measured_data():
    assert {path.stem for path in notebooks()} == NAMES
    text = PAGES["docs/findings.md"].text
    assert {name for name in NAMES if f"(notebooks/{name}.ipynb)" in text} == NAMES - {"log-to-verdict"}


def test_only_times_are_left_out_of_the_comparison():
    shown = f"<table><tr><th>cost</th>{TIMED}<tr><td>3</td><td>0.12</td></tr><tr><td>4</td><td>0.5</td></tr></table>"
    plain = "<table><tr><th>cost</th></tr><tr><td>3</td></tr></table>"
    cell = nbformat.v4.new_code_cell(
        outputs=[
            nbformat.v4.new_output("display_data", {"text/html": shown, "image/png": "..."}),
            nbformat.v4.new_output("display_data", {"text/html": plain}),
            nbformat.v4.new_output("stream", text="gap 3 %\n"),
        ]
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("words"), cell])
    left = shown.replace("<td>0.12</td></tr>", "").replace("<td>0.5</td></tr>", "")
    assert texts(notebook) == [[left, plain, "gap 3 %\n"]]
