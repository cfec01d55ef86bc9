"""The files that a study names, read once: workers elsewhere are sent what they say, and need no disk."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError, LpschedWarning, quote
from lpsched.files.instances import read_instance
from lpsched.instance import Bag
from lpsched.instance.clusters import Clusters
from lpsched.instance.day import Day
from lpsched.studies.generators import FROM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lpsched.errors import Place
    from lpsched.instance.study import Study
    from lpsched.studies.generators import Instance


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the files say, by the names that the study has for them, and what is wrong with some."""

    instances: Mapping[str, Instance]
    faults: tuple[Fault, ...]


def gather(study: Study, folder: Path) -> Gathered:
    """Read every file that a study names, relative to its own folder."""
    instances: dict[str, Instance] = {}
    faults: list[Fault] = []
    for number, source in enumerate(study.instances):
        key = "file" if source.file is not None else FROM
        file = source.file if source.file is not None else source.options.get(FROM)
        place: Place = ("instances", number, key)
        if file is None or file in instances:
            continue
        if not isinstance(file, str):
            faults.append(Fault(place, repr(file), "the name of a file", "correct it"))
            continue
        try:
            instances[file] = _read(folder / file)
        except InstanceError as error:
            found = f"{quote(file)}, which cannot be used: {error.faults[0]}"
            faults.append(Fault(place, found, "a sound instance", f"see 'lpsched show {file}'"))
    for number, source in enumerate(study.instances):
        base = None if source.file is not None else instances.get(source.options.get(FROM, ""))
        if base is not None and not isinstance(base, Bag):
            place = ("instances", number, FROM)
            faults.append(Fault(place, f"a file of the kind {kind_of_instance(base)!r}", "a bag", "name one"))
    return Gathered(instances, tuple(faults))


def _read(path: Path) -> Instance:
    with warnings.catch_warnings():  # what is legal but suspect is for 'lpsched show'
        warnings.simplefilter("ignore", LpschedWarning)
        return read_instance(path)


def kind_of_instance(instance: Instance) -> str:
    """Return what an instance is: bag, facility, day or clusters."""
    if isinstance(instance, Bag):
        return "bag"
    if isinstance(instance, Day):
        return "day"
    return "clusters" if isinstance(instance, Clusters) else "facility"
