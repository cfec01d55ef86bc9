"""The hash of clusters: of everything that they say, whatever the form of their file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lpsched.instance.day_tasks import Levels
from lpsched.instance.packed import little_endian
from lpsched.instance.utility_rules import interval_numbers

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters


def hash_of(clusters: Clusters, format: str) -> str:  # noqa: A002 - what the key is called
    """Return the SHA-256 of clusters, in hexadecimal.

    A key added to the format one day leaves the hashes of today's clusters as they are.
    """
    digest = hashlib.sha256(format.encode())
    digest.update(json.dumps(_said(clusters), sort_keys=True, separators=(",", ":")).encode())
    tasks = clusters.arriving
    for code, packed in (
        ("d", tasks.arrivals),
        ("q", tasks.types),
        ("q", tasks.cores),
        ("d", tasks.work),
        ("d", tasks.requested),
        ("q", tasks.utilities),
        ("q", tasks.jobs or b""),
    ):
        digest.update(little_endian(code, packed))
    return digest.hexdigest()


def _said(clusters: Clusters) -> dict[str, Any]:
    later: dict[str, Any] = {} if clusters.period.is_whole else {"period": asdict(clusters.period)}
    if clusters.waiting is not None:
        later["waiting"] = asdict(clusters.waiting)
    return later | {
        "name": clusters.name,
        "clusters": [asdict(each) for each in clusters.clusters],
        "task_types": [asdict(each) for each in clusters.task_types],
        "seconds": clusters.seconds.said(),
        "watts": None if clusters.watts is None else clusters.watts.said(),
        "told": [list(each) if isinstance(each, Levels) else each for each in clusters.arriving.told],
        "levels": asdict(clusters.levels),
        "utility_functions": {
            name: [interval_numbers(each) for each in function.intervals]
            for name, function in clusters.utility_functions.items()
        },
    }
