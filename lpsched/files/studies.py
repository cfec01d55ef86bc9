"""Study files: what a study declares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lpsched.errors import InstanceError
from lpsched.files.documents import read_document
from lpsched.files.instance_files import made_of
from lpsched.instance.study_door import study_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lpsched.errors import Fault
    from lpsched.instance.study import Study


def read_study(path: Path | str, check: Callable[[Study], Iterable[Fault]] | None = None) -> Study:
    """Read a study from a YAML or JSON file.

    Parameters
    ----------
    check
        Finds what else is wrong with a study of sound shape, so that it is told with the line it stands in.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    """
    path = Path(path)

    def make(raw: object) -> Study:
        study = study_from(raw, str(path))
        faults = tuple(check(study)) if check is not None else ()
        if faults:
            raise InstanceError(str(path), faults)
        return study

    return made_of(read_document(path), path, make)
