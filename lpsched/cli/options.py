"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.files.instance_files import TableForm


class Kind(StrEnum):
    """Kinds of files."""

    BAG = "bag"
    FACILITY = "facility"
    DAY = "day"
    CLUSTERS = "clusters"
    STUDY = "study"
    BENCH = "bench"
    MEASUREMENTS = "measurements"


class Tables(StrEnum):
    """How to write tables; the names of `lpsched.files.bags.TableForm`, without loading it."""

    NAMES = "names"
    MATRIX = "matrix"
    CSV = "csv"
    NPZ = "npz"
    PARQUET = "parquet"


class Objective(StrEnum):
    """What to optimise; the names of `lpsched.pipeline.objectives.OBJECTIVES`, without loading it."""

    PROFIT = "profit"
    MAKESPAN = "makespan"
    ENERGY = "energy"


class Effort(StrEnum):
    """How hard to try; the names of `lpsched.result.solve.Effort`, without loading it."""

    FAST = "fast"
    BALANCED = "balanced"
    AUTO = "auto"
    TIGHT = "tight"


class Marginals(StrEnum):
    """What to say about one more; the names of `lpsched.pipeline.steps.Marginals`, without loading it."""

    LP = "lp"
    TOP = "top"
    PROVED = "proved"


class Device(StrEnum):
    """Where huge bags are looked through; the names of `lpsched.lp.devices.Device`, without loading it."""

    CPU = "cpu"
    CUDA = "cuda"


PICTURES = (".png", ".svg", ".pdf")

BagFile = Annotated[Path, typer.Argument(help="The bag: a .yaml or .json file.", readable=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write: .yaml or .json.")]
TablesOption = Annotated[
    Tables | None,
    typer.Option(
        "--tables",
        help="Inside the file by name or as a matrix, or in files beside it. "
        "By default: by name up to 1,000 pairs, a matrix up to 100,000, else .npz.",
    ),
]
ObjectiveOption = Annotated[
    Objective | None,
    typer.Option(help="What to optimise. By default profit where a price is known, else makespan."),
]
Price = Annotated[
    float | None, typer.Option("--price", help="What the whole bag sells for, in place of the file's prices.")
]
ProfitRatio = Annotated[
    float | None,
    typer.Option("--profit-ratio", help="The price, as a multiple of what the least energy costs."),
]
PowerCap = Annotated[
    float | None,
    typer.Option("--power-cap", help="Average-power cap in watts, in place of the file's."),
]
Deadline = Annotated[
    float | None, typer.Option("--deadline", help="Seconds by which all must be done: forces the work.")
]
EFFORT_HELP = (
    "fast: one linear program, rounded. balanced: and loads evened out, in milliseconds. auto: balanced, "
    "then about 1 s of search where the gap is above 0.1 %. tight: up to 30 s of search."
)
EffortOption = Annotated[Effort, typer.Option("--effort", help=EFFORT_HELP)]
EffortOfBag = Annotated[  # for commands that take other instances as well
    Effort | None, typer.Option("--effort", help=f"Of a bag: {EFFORT_HELP}", show_default="auto")
]
MarginalsOption = Annotated[
    Marginals,
    typer.Option(
        "--marginals",
        help="lp: marginal values of the linear program. top: and what one more machine or task changes, "
        "proved, of the three types of largest value. proved: of all types.",
    ),
]
SolverName = Annotated[
    str, typer.Option("--solver", help="highs, or pulp:NAME for a solver that PuLP finds.")
]
Seed = Annotated[int, typer.Option(help="Of what is left to chance; the same seed, the same answer.", min=0)]
Generations = Annotated[
    int | None,
    typer.Option(help="ga, nsga2: stop after so many; alike on every machine, unlike a time limit.", min=0),
]
Figure = Annotated[
    Path | None, typer.Option(help="Draw it: a .png, .svg or .pdf file. Needs the extra 'report'.")
]
Report = Annotated[
    Path | None, typer.Option(help="Write a page to read and look at: .html. Needs the extra 'report'.")
]


def form_of(tables: Tables | None) -> TableForm | None:
    """Return the library's name for the choice."""
    from lpsched.files.instance_files import TableForm

    return None if tables is None else TableForm(tables.value)


def words_of(given: list[str] | None) -> tuple[str, ...]:
    """Read words that come with commas, with repetition, or both; each once."""
    return tuple(dict.fromkeys(word.strip() for part in given or [] for word in part.split(",")))


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that were given, and do not go with the rest.

    Raises
    ------
    typer.BadParameter
        If one was.
    """
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)


def require_output(output: Path, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse an output of another ending, one that would overwrite what is read, or that cannot be written.

    Raises
    ------
    OutputError
        If it is refused.
    """
    from lpsched.errors import OutputError
    from lpsched.files.writing import require_place

    if output.suffix.lower() not in endings:
        raise OutputError(f"cannot write {output}: needs the ending {' or '.join(endings)}; choose one")
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise OutputError(f"cannot write {output}: it is what is read; choose another name")
    require_place(output)


def require_pictures() -> None:
    """Refuse to begin long work whose picture could not be drawn in the end.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    from lpsched.files.pictures import load_matplotlib

    load_matplotlib()
