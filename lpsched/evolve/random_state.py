"""The state of a random generator, kept with a population, so that it goes on as if it had never stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from collections.abc import Mapping

BIT_GENERATORS: Final = {
    each.__name__: each
    for each in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


class Resumable(Protocol):
    """A population that can be gone on from."""

    @property
    def random_state(self) -> Mapping[str, Any]:
        """The state of its bit generator."""


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator, with lists in place of arrays, so that it can be written as JSON."""
    return _changed(dict(rng.bit_generator.state), np.ndarray, np.ndarray.tolist)


def generator_of(population: Resumable) -> np.random.Generator:
    """Return a generator that goes on where the population's was."""
    state = population.random_state
    try:
        bits = BIT_GENERATORS[state["bit_generator"]]()
        bits.state = _changed(  # type: ignore[assignment]
            dict(state), list, lambda cells: np.array(cells, dtype=np.uint64)
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        there = f"a state of {state.get('bit_generator')!r} that cannot be set"
        needed = f"the state of one of {', '.join(BIT_GENERATORS)}"
        raise population_refusal("random_state", there, needed) from error
    return np.random.Generator(bits)


def population_refusal(where: str, found: str, needed: str) -> InstanceError:
    """Return the error about a population that cannot be resumed."""
    return InstanceError("population", (Fault((where,), found, needed, "begin without it"),))


def _changed(state: dict[str, Any], kind: type, change: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Return a nested mapping with all values of one kind changed."""
    return {
        key: _changed(value, kind, change)
        if isinstance(value, dict)
        else change(value)
        if isinstance(value, kind)
        else value
        for key, value in state.items()
    }
