"""The policies for clusters by name: ours, those that others register, those of installed packages.

A policy is a function from a state and a random generator to placements:

    @register("mine", drops=False)
    def mine(state, rng):
        draft = Draft(state)
        ...
        return draft.placements

What it uses is said when it is registered (see `policy.py`). A package announces its own in its
`pyproject.toml`; a function says what it uses by attributes of these names, where it differs from what is
usual:

    [project.entry-points."lpsched.cluster_policies"]
    mine = "package.module:function"

Max Util, Max UPT, Max UPR and Max UPE use permanent reservations or place-holders, as the options say;
`:placeholders` or `:reservations` behind the name says it too, and has the last word. The engine checks every
placement of every policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, overload

from lpsched.named import Named
from lpsched.simulation.clusters.policies.conservative import conservative
from lpsched.simulation.clusters.policies.easy import easy
from lpsched.simulation.clusters.policies.multiple_queues import multiple_queues
from lpsched.simulation.clusters.policies.random_cluster import random_cluster
from lpsched.simulation.clusters.policies.utility_aware import max_upe, max_upr, max_upt, max_util
from lpsched.simulation.clusters.policy import ClusterPolicy, Place

if TYPE_CHECKING:
    from collections.abc import Callable

COMPARED: Final[dict[str, Place]] = {
    "random": random_cluster,
    "conservative": conservative,
    "easy": easy,
    "multiple-queues": multiple_queues,
}
UTILITY_AWARE: Final[dict[str, Place]] = {
    "max-util": max_util,
    "max-upt": max_upt,
    "max-upr": max_upr,
    "max-upe": max_upe,
}
ENERGY_AWARE: Final = "max-upe"  # and not filtered: section IV.C
PLACEHOLDERS: Final = "placeholders"
RESERVATIONS: Final = "reservations"
POLICIES: Final[Named[Place]] = Named(
    "cluster",
    "lpsched.cluster_policies",
    {**COMPARED, **UTILITY_AWARE},
    words=("policy", "policies"),
    needed="a function of a state and a random generator",
)


class _Uses(NamedTuple):
    """What a policy uses that somebody registered."""

    placeholders: bool = False
    drops: bool = True
    filtered: bool = True
    needs_utility: bool = False


_uses: Final[dict[str, _Uses]] = {}

cluster_policy_names = POLICIES.names


def cluster_policy(name: str, *, placeholders: bool = False) -> ClusterPolicy:
    """Return the policy of a name.

    Parameters
    ----------
    name
        For Max Util, UPT, UPR and UPE, `:placeholders` or `:reservations` may stand behind it.
    placeholders
        Whether those four use place-holders where their name does not say.

    Raises
    ------
    InstanceError
        If there is none, if what is behind the colon is something else, or if the package that announces it
        cannot be loaded.

    Examples
    --------
    >>> cluster_policy("easy").drops
    False
    """
    plain, colon, kind = name.partition(":")
    place = POLICIES.get(plain)
    if colon and (plain not in UTILITY_AWARE or kind not in (PLACEHOLDERS, RESERVATIONS)):
        needed = f"{PLACEHOLDERS} or {RESERVATIONS} after {', '.join(UTILITY_AWARE)}; nothing after others"
        raise POLICIES.refusal(repr(name), needed, f"write {plain}")
    if plain in COMPARED:
        return ClusterPolicy(plain, place, drops=False, filtered=False)
    if plain in UTILITY_AWARE:
        held = kind == PLACEHOLDERS if colon else placeholders
        shown = f"{plain}:{PLACEHOLDERS}" if held else plain
        filtered = plain != ENERGY_AWARE
        return ClusterPolicy(shown, place, placeholders=held, filtered=filtered, needs_utility=True)
    uses = _uses.get(plain) or _Uses(
        *(bool(getattr(place, field, usual)) for field, usual in _Uses()._asdict().items())
    )
    return ClusterPolicy(plain, place, *uses)


@overload
def register(
    name: str,
    *,
    placeholders: bool = False,
    drops: bool = True,
    filtered: bool = True,
    needs_utility: bool = False,
) -> Callable[[Place], Place]: ...


@overload
def register(
    name: str,
    function: Place,
    *,
    placeholders: bool = False,
    drops: bool = True,
    filtered: bool = True,
    needs_utility: bool = False,
) -> Place: ...


def register(  # noqa: PLR0913 - options are keyword-only
    name: str,
    function: Place | None = None,
    *,
    placeholders: bool = False,
    drops: bool = True,
    filtered: bool = True,
    needs_utility: bool = False,
) -> Place | Callable[[Place], Place]:
    """Let a policy be known by a name, in this process; without a function, as a decorator.

    Raises
    ------
    InstanceError
        If the name is taken, or not lower-case letters, digits and hyphens; or if it is no function.
    """
    uses = _Uses(placeholders, drops, filtered, needs_utility)

    def registered(place: Place) -> Place:
        POLICIES.register(name, place)
        _uses[name] = uses
        return place

    return registered if function is None else registered(function)


def forget(name: str) -> None:
    """Take back what was registered under a name in this process, if anything was."""
    POLICIES.forget(name)
    _uses.pop(name, None)
