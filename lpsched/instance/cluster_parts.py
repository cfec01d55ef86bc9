"""The parts of clusters as users write them."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass as checked

from lpsched.instance.fields import Count, Name
from lpsched.instance.p_states import WithPStates, check_p_states

CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own


@checked(frozen=True, slots=True, config=CONFIG)
class Cluster(WithPStates):
    """Identical nodes; a node runs one task at a time, with all its cores in one P-state.

    >>> fat = Cluster("fat", nodes=12, cores_per_node=64)
    >>> fat.cores, fat.nodes_for(65)
    (768, 2)
    """

    name: Name
    nodes: Count
    cores_per_node: Count = 1
    p_states: Annotated[tuple[Name, ...], BeforeValidator(check_p_states)] | None = None

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return self.nodes * self.cores_per_node

    def nodes_for(self, cores: int) -> int:
        """Return how many nodes a task of so many cores takes."""
        return -(-cores // self.cores_per_node)
