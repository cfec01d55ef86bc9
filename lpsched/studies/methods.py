"""Every method of a study by its name and the kind of instance that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import InstanceError
from lpsched.simulation.clusters.registry import POLICIES as CLUSTER_POLICIES
from lpsched.simulation.registry import POLICIES
from lpsched.studies.bag_methods import bag_methods
from lpsched.studies.facility_methods import facility_methods
from lpsched.studies.policies import policy_method

if TYPE_CHECKING:
    from lpsched.studies.method import Method

KINDS: Final = ("bag", "facility", "day", "clusters")


def method_names(kind: str) -> tuple[str, ...]:
    """Return the names of methods for a kind of instance; policies may have a number after a colon."""
    if kind == "bag":
        return tuple(bag_methods())
    if kind == "facility":
        return tuple(facility_methods())
    return (POLICIES if kind == "day" else CLUSTER_POLICIES).names()


def find_method(name: str, kind: str) -> Method | None:
    """Return the method of a name, if there is one for that kind of instance."""
    if kind == "bag":
        return bag_methods().get(name)
    if kind == "facility":
        return facility_methods().get(name)
    try:
        return policy_method(name, kind)
    except InstanceError:
        return None
