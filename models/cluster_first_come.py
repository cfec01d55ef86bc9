"""The policies for clusters of Machovec et al. that come from homogeneous ones, again: each over a plain draft.

Like their twins they reserve particular nodes; `backfilling.py` has the published EASY and conservative backfilling.

Source: Machovec et al. (2016), section III.D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

    from models.cluster_nodes import PlainDraft

LARGE: Final = 0.6  # of the resources of the kind that needs most
SMALL: Final = 0.3


def first_columns(draft: PlainDraft, kind: int) -> list[int]:
    """Return of each cluster the first column in which a kind can run."""
    found: dict[int, int] = {}
    for column, can in enumerate(draft.arrays.can_run[kind].tolist()):
        if can:
            found.setdefault(draft.cluster(column), column)
    return list(found.values())


def first_start(draft: PlainDraft, place: int) -> int | None:
    """Return the column where a task can start first."""
    fitting = [column for column in first_columns(draft, draft.kinds[place]) if draft.fits(place, column)]
    return min(fitting, key=lambda column: draft.earliest(place, column), default=None)


def conservative(draft: PlainDraft, _rng: np.random.Generator) -> None:
    """Place everything, in order."""
    for place in range(len(draft.tasks)):
        column = first_start(draft, place)
        if column is not None:
            draft.take(place, column)


def easy(draft: PlainDraft, _rng: np.random.Generator) -> None:
    """Place what can start now, and one that cannot."""
    reserved = draft.reservations
    for place in range(len(draft.tasks)):
        column = first_start(draft, place)
        if column is None:
            continue
        starts_now = draft.earliest(place, column) == draft.now
        if starts_now or reserved == 0:
            reserved += not starts_now
            draft.take(place, column)


def random_cluster(draft: PlainDraft, rng: np.random.Generator) -> None:
    """Place everything somewhere."""
    for place, (x, y) in enumerate(rng.random((len(draft.tasks), 2)).tolist()):
        able = [column for column, can in enumerate(draft.arrays.can_run[draft.kinds[place]].tolist()) if can]
        clusters = sorted({draft.cluster(column) for column in able})
        cluster = clusters[int(x * len(clusters))]
        columns = [column for column in able if draft.cluster(column) == cluster]
        column = columns[int(y * len(columns))]
        if draft.fits(place, column):
            draft.take(place, column)


def multiple_queues(draft: PlainDraft, _rng: np.random.Generator) -> None:
    """Place one large task, four medium ones, eight small ones, and so on."""
    means = [mean_resources(draft, kind) for kind in range(len(draft.arrays.can_run))]
    queues: list[list[int]] = [[], [], []]
    for place, kind in enumerate(draft.kinds):
        share = means[kind] / max(means)
        queues[0 if share > LARGE else 1 if share >= SMALL else 2].append(place)
    while any(queues):
        for queue, most in zip(queues, (1, 4, 8), strict=True):
            placed = 0
            while queue and placed < most:
                place = queue.pop(0)
                column = first_start(draft, place)
                if column is not None:
                    draft.take(place, column)
                    placed += 1


def mean_resources(draft: PlainDraft, kind: int) -> float:
    """Return planned seconds times cores of a kind, the mean over clusters."""
    arrays, columns = draft.arrays, first_columns(draft, kind)
    each = [
        arrays.requested_seconds[kind, c] * (arrays.nodes[kind, c] * arrays.cores_per_node[draft.cluster(c)])
        for c in columns
    ]
    return float(sum(each)) / len(columns)


POLICIES = {
    "conservative-nodes": conservative,
    "easy-nodes": easy,
    "random": random_cluster,
    "multiple-queues": multiple_queues,
}
