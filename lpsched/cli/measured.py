"""What `lpsched measure` makes of measurements: a bag, a facility, a picture, a page, and its answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from lpsched.cli.import_options import ENDINGS
from lpsched.cli.options import PICTURES, require_output, require_pictures
from lpsched.errors import LpschedWarning, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lpsched.cli.talk import Talk
    from lpsched.instance.bench import Bench
    from lpsched.instance.measurements import Measurements

OfMachine = TypeVar("OfMachine", "Bench", "Measurements")


def holds_measurements(path: Path) -> bool:
    """Tell whether a file says that it holds measurements.

    Raises
    ------
    InstanceError
        If it cannot be read.
    """
    from lpsched.files.documents import read_document
    from lpsched.instance.measurements import MEASUREMENTS_FORMAT
    from lpsched.instance.reading import kind_of

    content = read_document(path).value
    found = content.get("format") if isinstance(content, Mapping) else None
    return isinstance(found, str) and kind_of(found) == kind_of(MEASUREMENTS_FORMAT)


def named(told: OfMachine, machine_type: str | None) -> OfMachine:
    """Return a bench or measurements of a machine type of this name; the same without one.

    Raises
    ------
    typer.BadParameter
        If it is no name.
    """
    from pydantic_core import PydanticCustomError

    from lpsched.instance.fields import check_name

    if machine_type is None:
        return told
    try:
        return replace(told, machine_type=check_name(machine_type))
    except PydanticCustomError as refused:
        raise typer.BadParameter(refused.message(), param_hint="--machine-type") from None


def warn(sentences: Iterable[str]) -> None:
    """Say something on stderr, a line each, unless it should be quiet."""
    for sentence in sentences:
        warnings.warn(sentence, LpschedWarning, stacklevel=1)


@dataclass(frozen=True, slots=True)
class Made:
    """The files that are asked for besides measurements."""

    bag: Path | None
    facility: Path | None
    figure: Path | None
    report: Path | None

    def require_places(self, file: Path, output: Path | None) -> None:
        """Refuse, before anything is run, what could not be written in the end.

        Raises
        ------
        OutputError
            If a file cannot be written, or two are one.
        MissingExtraError
            If Matplotlib is not installed, and something is to be drawn.
        """
        asked: tuple[tuple[Path | None, tuple[str, ...]], ...] = (
            (output, ENDINGS),
            (self.bag, ENDINGS),
            (self.facility, ENDINGS),
            (self.figure, PICTURES),
            (self.report, (".html",)),
        )
        seen: set[Path] = set()
        for path, endings in asked:
            if path is None:
                continue
            require_output(path, endings, file)
            if path.absolute() in seen:
                raise OutputError(
                    f"cannot write {path}: two files of this name are asked for; choose another"
                )
            seen.add(path.absolute())
        if self.figure is not None or self.report is not None:
            require_pictures()

    def write(self, measurements: Measurements) -> list[str]:
        """Write what is asked for; return the files.

        Raises
        ------
        InstanceError
            If measurements do not tell what a bag or a facility needs.
        OutputError
            If a file cannot be written.
        """
        files = [*self._instances(measurements)]
        if self.figure is not None:
            from lpsched.files.pictures import write_picture
            from lpsched.reports.measure_picture import measure_picture

            write_picture(measure_picture(measurements), self.figure)
            files.append(str(self.figure))
        if self.report is not None:
            from lpsched.files.writing import write_files
            from lpsched.reports.measure_page import measure_page

            write_files({self.report: measure_page(measurements).encode()})
            files.append(str(self.report))
        return files

    def _instances(self, measurements: Measurements) -> Iterable[str]:
        from lpsched.files.instances import write_instance
        from lpsched.measure.bags import bag_of
        from lpsched.measure.facilities import facility_of

        if self.bag is not None:
            bag = bag_of([measurements], name=self.bag.stem)
            warn(bag.remarks)
            yield from map(str, write_instance(bag.instance, self.bag))
        if self.facility is not None:
            facility = facility_of([measurements], name=self.facility.stem)
            warn(facility.remarks)
            yield from map(str, write_instance(facility.instance, self.facility))

    def answer(self, talk: Talk, measurements: Measurements, files: list[str], **more: Any) -> None:  # noqa: ANN401
        """Print what was measured, and which files there are now."""
        from lpsched.cli.answers import header
        from lpsched.cli.show import measured_content
        from lpsched.reports.measure_tables import measure_tables

        content = header("lpsched-measure/1", measurements) | measured_content(measurements)
        talk.answer(content | {"files": files} | more, measure_tables(measurements))
