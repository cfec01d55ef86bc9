"""Estimates for cells without samples, from the other cells of their row and of their column.

A cell is taken to be the product of something of its task type and something of its machine type: with r_i
and c_j their logarithms,

    log v_ij  =  r_i + c_j,     with the least  sum over cells with samples of  n_ij (log v_ij - r_i - c_j)^2

where n_ij is the number of samples. Given c, the best r_i is the weighted mean of log v_ij - c_j over the
row; put in, that leaves one linear equation per machine type. A cell is estimated only if its row and its
column are *connected*: if one gets from the one to the other over cells with samples. Where they are, the
estimate is the only one; where they are not, nothing is known about how the two compare.

Powers of pairs whose times are known are needed even then: those are taken as typical of the machine type,
the geometric mean of its column, by samples (`typical`).

It is the two-way analysis of variance without interaction, on logarithms: what one machine type does better
than another for one kind of work, it does for all. Real machines differ more than that, so estimated cells
are marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def estimates(values: NDArray[np.float64], samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return an estimate for every cell that is connected, NaN elsewhere.

    Parameters
    ----------
    values
        Task types by machine types; used where there are samples and the value is positive.

    Examples
    --------
    >>> two, all_but_one = np.array([[1.0, 3.0], [2.0, np.nan]]), np.array([[1, 1], [1, 0]])
    >>> estimates(two, all_but_one).round(9)
    array([[1., 3.],
           [2., 6.]])
    """
    weights = np.where((samples > 0) & (np.nan_to_num(values) > 0), samples, 0).astype(np.float64)
    logs = np.log(np.where(weights > 0, values, 1.0))
    per_row = np.maximum(weights.sum(axis=1), 1.0)  # empty rows have no say
    share = weights / per_row[:, None]
    # sum_i n_ij (log v_ij - r_i - c_j) = 0 for every j, with r_i = sum_k share_ik (log v_ik - c_k)
    matrix = np.diag(weights.sum(axis=0)) - weights.T @ share
    wanted = (weights * logs).sum(axis=0) - weights.T @ (share * logs).sum(axis=1)
    column = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    row = (share * (logs - column)).sum(axis=1)
    return np.where(connected(weights > 0), np.exp(row[:, None] + column), np.nan)


def typical(values: NDArray[np.float64], samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the geometric mean of each column, by samples; NaN where it has none.

    >>> typical(np.array([[2.0, np.nan], [8.0, np.nan]]), np.array([[1, 0], [1, 0]]))
    array([ 4., nan])
    """
    weights = np.where((samples > 0) & (np.nan_to_num(values) > 0), samples, 0).astype(np.float64)
    logs = np.log(np.where(weights > 0, values, 1.0))
    total = weights.sum(axis=0)
    means = np.exp((weights * logs).sum(axis=0) / np.maximum(total, 1.0))
    return np.where(total > 0, means, np.nan)


def connected(has_samples: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether one gets from the row to the column of each cell over cells with samples.

    >>> connected(np.array([[True, True, False], [True, False, False], [False, False, True]])).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    columns = has_samples.shape[1]
    part = np.arange(columns)  # the lowest column that each is connected with, so far
    while True:
        of_row = np.where(has_samples, part, columns).min(axis=1, initial=columns)
        now = np.minimum(part, np.where(has_samples, of_row[:, None], columns).min(axis=0, initial=columns))
        if (now == part).all():
            break
        part = now
    together: NDArray[np.bool_] = of_row[:, None] == part  # a row without samples has no part
    return together
