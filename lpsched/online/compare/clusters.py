"""Schedules of clusters that others made, against what no schedule can pass: all measured or proved.

What our own policies do, `simulations.py` tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.io.rows import unreadable
from lpsched.model.provenance import provenance_of
from lpsched.online.bound.solve import cluster_bound
from lpsched.online.clusters import Clusters
from lpsched.online.result.clusters_validation import ClustersEntry, ClustersValidation
from lpsched.online.schedule_files import read_clusters_schedule
from lpsched.online.verify.clusters import examine

if TYPE_CHECKING:
    from lpsched.cancellation import Watch
    from lpsched.online.schedule import ClustersSchedule

NO_SOLVER: Final = "prices"


def validate_clusters(
    clusters: Clusters | Path | str,
    schedules: Mapping[str, ClustersSchedule] | Sequence[Path | str],
    *,
    time_limit: float | None = None,
    watch: Watch | None = None,
) -> ClustersValidation:
    """Check schedules of clusters, measure them, and tell their distance from the bound.

    Parameters
    ----------
    clusters
        Clusters, or the path of their file.
    schedules
        Schedules by name, or files with one row per task (`.csv`, `.parquet`). A file that cannot be read is
        an entry with a violation, not an error.
    time_limit
        Seconds that the bound may take; whenever it ends, the bound holds.
    watch
        A watch over the bound, that others may stop.

    Raises
    ------
    MissingExtraError
        If Numba is not installed, which the bound needs.
    InvalidScheduleError
        If a valid schedule is above the bound, which is a bug of ours.
    """
    clusters = Clusters.given(clusters)
    if isinstance(schedules, Mapping):
        entries = [_checked(clusters, name, "schedule", each) for name, each in schedules.items()]
    else:
        entries = [_read(clusters, Path(file)) for file in schedules]
    found = cluster_bound(clusters, time_limit=time_limit, watch=watch)
    for entry in entries:
        _require_below(found.bound, entry)
    return ClustersValidation(
        clusters=clusters.clusters,
        period=clusters.period,
        waiting=clusters.waiting,
        bound=found.bound,
        naive_bound=found.naive,
        bound_seconds=found.seconds,
        entries=tuple(entries),
        provenance=provenance_of(clusters, NO_SOLVER),
    )


def _read(clusters: Clusters, file: Path) -> ClustersEntry:
    """Check a schedule file; one that cannot be read breaks the first rule of all."""
    try:
        return _checked(clusters, str(file), "file", read_clusters_schedule(clusters, file))
    except InstanceError as error:
        return ClustersEntry(str(file), "file", None, unreadable(error))


def _checked(clusters: Clusters, name: str, kind: str, schedule: ClustersSchedule) -> ClustersEntry:
    found = examine(clusters, schedule)
    return ClustersEntry(name, kind, found.measured, found.violations, schedule)


def _require_below(bound: float, entry: ClustersEntry) -> None:
    """Refuse a proof that a valid schedule passes."""
    if entry.measured is not None and entry.measured.utility > bound:
        earned = f"{entry.name} earns {entry.measured.utility!r}"
        raise InvalidScheduleError(f"{earned}, more than the bound of {bound!r}")
