"""Air of rooms that exchange none is solved room by room, and comes out the same."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import air_groups


def test_nodes_are_in_one_room_if_air_goes_between_them_by_any_way():
    # 0 -> 3 -> 1 in a chain, 2 and 4 draw in each other's air, 5 only its own.
    among = np.zeros((6, 6))
    among[3, 0] = among[1, 3] = among[2, 4] = among[5, 5] = 0.1
    assert [room.tolist() for room in air_groups(among)] == [[0, 1, 3], [2, 4], [5]]


@pytest.mark.parametrize("seed", range(10))
def test_rooms_are_the_components_of_the_air(seed):
    rng = np.random.default_rng(seed)
    among = rng.random((30, 30)) * (rng.random((30, 30)) < 0.03)
    found = air_groups(among)
    reach = np.linalg.matrix_power(np.eye(30) + among + among.T, 40) > 0
    assert sorted(np.concatenate(found).tolist()) == list(range(30))
    for room in found:
        assert np.flatnonzero(reach[room[0]]).tolist() == room.tolist()
