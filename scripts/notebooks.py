"""Run the notebooks of docs/notebooks, and write their outputs into them: `python -m scripts.notebooks [NAME...]`.

The .ipynb files are the only source: edit them in Jupyter or as text, then run this. It runs each notebook from top to
bottom in a fresh kernel and drops whatever differs from run to run, so that a diff shows changed cells and results
only. `tests/docs/test_notebooks.py` runs them again, and compares what they print with what is in the file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

FOLDER: Final = Path(__file__).parent.parent / "docs" / "notebooks"
CELL_SECONDS: Final = 120
METADATA: Final = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TIMED: Final = "<th>seconds</th></tr>"  # a table whose last column says how long something took
LAST: Final = re.compile(r"<td>[^<]*</td></tr>")


def notebooks() -> list[Path]:
    """Return the notebooks, by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def run(path: Path, folder: Path = FOLDER) -> Any:  # noqa: ANN401 - a notebook is a dictionary with attributes
    """Return the notebook with the outputs of a fresh run in a folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return tidy(notebook)


def tidy(notebook: Any) -> Any:  # noqa: ANN401 - likewise
    """Return the notebook without what differs from run to run; printed text that came in pieces is one text."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        outputs: list[Any] = []
        for output in cell.outputs:
            same = outputs and output.output_type == "stream" == outputs[-1].output_type
            if same and output.name == outputs[-1].name:
                outputs[-1].text += output.text
            else:
                outputs.append(output)
        cell.outputs = outputs
    return notebook


def texts(notebook: Any) -> list[list[str]]:  # noqa: ANN401 - likewise
    """Return what each code cell prints and shows as text or as a table, without times."""
    return [
        [LAST.sub("", text) if TIMED in text else text for output in cell.outputs for text in _texts(output)]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _texts(output: Any) -> list[str]:  # noqa: ANN401 - likewise
    if output.output_type == "stream":
        return [output.text]
    return [output.data[kind] for kind in ("text/plain", "text/html") if kind in output.data]


def main() -> None:
    """Run the notebooks that are named, or all."""
    for path in notebooks():
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            nbformat.write(run(path), path)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
