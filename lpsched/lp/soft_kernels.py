"""A pass of `soft_prices.py` over dense tables on a GPU: one kernel that reads every number once.

All blocks have the same columns. Column c of block i costs `costs[i, c]`, uses `loads[i, c]` of the one row that
`firsts` gives it, and perhaps `common[i, c]` of the last row, which all columns share. A thread block takes a few
blocks of the program at a time, and a thread owns some columns: it keeps their numbers in registers for the minimum,
the soft weights y and what they use, and adds up what its columns use without conflicts.

With v_c what column c uses of all rows, the curvature of block i is the sum over pairs of columns b < c of

    y_b y_c (v_b - v_c) (v_b - v_c)' / tau_i,

a sum without cancellation. At low temperatures few columns of a block have a weight that is not negligible, so few
pairs are added, with atomics. They are added as integers, in units of a small part of the sum of all tau, after a
scaling with the prices: so the order does not matter, and the same device gives the same result to the last bit. Blocks
with more than `MOST` such columns are left to the caller, who has matrix products for them. A column of less weight
than `SLIGHT` counts in the diagonal alone. None of this is exact, and nothing has to be: see `soft_prices.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.soft_prices import Soft

if TYPE_CHECKING:
    from lpsched.lp.program import Floats, Integers

GIB: Final = 2**30
EACH: Final = 4  # columns of a thread, if they are so many
MOST_THREADS: Final = 1024
ROWS: Final = 4  # blocks of the program that a thread block holds at a time
RESIDENT: Final = 768  # threads of a multiprocessor, at least: what registers allow
MOST: Final = 32  # columns of a block whose pairs are added with atomics
SLIGHT: Final = 1e-4  # of the cheapest column's weight
TINY: Final = 1e-9  # the same: columns of a thread that weigh less together need not be counted
LIMIT: Final = 2.0**18  # what a column may cost by its prices, in units of tau; more is counted as that
UNITS: Final = 2.0**62 / LIMIT**2  # in the sum of all tau, so that no sum overflows
FLUSH: Final = 64  # rounds between additions in double precision
LEAST_SCALE: Final = 1e-12  # of the mean price: a price of 0 would scale its curvature away
PER_BLOCK: Final = 32  # bytes: temperatures, sizes and marks
MATRICES: Final = 8  # of curvature, and of solving for a step
SUMS: Final = 2**28  # bytes of partial sums, and of what libraries keep
TEMPORARY: Final = 8  # tables of a part, where a block is wide

SOURCE: Final = r"""
#define WARPS (THREADS / 32)
#define ALL 0xffffffffu

__device__ __forceinline__ float cost_of(float load, float price, float cost, float common, float common_price) {
    float total = load * price;
#if HAS_COSTS
    total += cost;
#endif
#if HAS_COMMON
    total += common * common_price;
#endif
    return total;
}

__device__ __forceinline__ void add(long long* cell, float amount) {
    atomicAdd((unsigned long long*)cell, (unsigned long long)__float2ll_rn(amount));
}

// Integers in the order of the numbers: their minimum takes one instruction, and no order of threads changes it.
__device__ __forceinline__ int key_of(float number) {
    int bits = __float_as_int(number);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

__device__ __forceinline__ float number_of(int key) { return __int_as_float(key ^ ((key >> 31) & 0x7fffffff)); }

__device__ __forceinline__ int least_in_warp(int key) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL, key);
#else
    for (int away = 16; away; away >>= 1) key = min(key, __shfl_xor_sync(ALL, key, away));
    return key;
#endif
}

struct Kept { int column; float weight, load, common; };  // a column of some weight

// All pairs of the kept columns of one block of the program, by one warp; what they use is scaled to units of tau.
__device__ void add_pairs(
    Kept* kept, int number, const float* prices, float common_price, float floor, float tau, float unit,
    const int* owner, long long* matrix, int lane)
{
    if (lane < number) {
        Kept own = kept[lane];
        own.load = fminf(own.load * fmaxf(prices[own.column], floor) / tau, LIMIT);
        own.common = fmaxf(-LIMIT, fminf(own.common * fmaxf(common_price, floor) / tau, LIMIT));
        kept[lane] = own;
    }
    __syncwarp();
    for (int each = lane; each < number * number; each += 32) {
        int b = each / number, c = each % number;
        if (b >= c) continue;
        Kept one = kept[b], two = kept[c];
        int first = owner[one.column], second = owner[two.column];
        float both = one.weight * two.weight * unit;
        if (first == second) {
            float apart = one.load - two.load;
            add(matrix + (size_t)first * WIDTH + first, both * apart * apart);
        } else {
            int low = min(first, second), high = max(first, second);
            add(matrix + (size_t)first * WIDTH + first, both * one.load * one.load);
            add(matrix + (size_t)second * WIDTH + second, both * two.load * two.load);
            add(matrix + (size_t)low * WIDTH + high, -both * (one.load * two.load));  // the same in either order
        }
#if HAS_COMMON
        float apart = one.common - two.common;
        add(matrix + (size_t)first * WIDTH + WIDTH - 1, both * one.load * apart);
        add(matrix + (size_t)second * WIDTH + WIDTH - 1, -both * two.load * apart);
        add(matrix + (size_t)(WIDTH - 1) * WIDTH + WIDTH - 1, both * apart * apart);
#endif
    }
}

__device__ __forceinline__ float sum_over(const float* warps) {
    float sum = warps[0];
#pragma unroll
    for (int w = 1; w < WARPS; ++w) sum += warps[w];
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) soften(
    const float* __restrict__ loads, const float* __restrict__ costs, const float* __restrict__ common,
    const float* __restrict__ prices, float common_price, float floor, const int* __restrict__ owner,
    const float* __restrict__ taus, const double* __restrict__ units,
    long long rows, double* slopes, double* slight, double* totals, long long* matrix, unsigned char* wide)
{
    __shared__ int least_of[2][ROWS], number[2][ROWS];  // of this round, and of the next
    __shared__ float sum_of[ROWS][WARPS];
    __shared__ Kept kept[ROWS][MOST];
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const bool has_last = thread + (EACH - 1) * THREADS < COLUMNS;
    float price[EACH], slope[EACH], rest[EACH];
    double value = 0.0;
    float drawn = 0.0f, drawn_rest = 0.0f;
    double all_drawn = 0.0, all_drawn_rest = 0.0;
    slopes += (size_t)blockIdx.x * COLUMNS + thread;
    slight += (size_t)blockIdx.x * COLUMNS + thread;
#pragma unroll
    for (int p = 0; p < EACH; ++p) {
        price[p] = p < EACH - 1 || has_last ? prices[thread + p * THREADS] : __int_as_float(0x7f800000);
        slope[p] = rest[p] = 0.0f;
    }
    if (thread < ROWS) {
        number[0][thread] = 0;
        least_of[0][thread] = least_of[1][thread] = 0x7fffffff;
    }
    __syncthreads();
    int round = 0;
    for (long long first = (long long)blockIdx.x * ROWS; first < rows; first += (long long)gridDim.x * ROWS, ++round) {
        const int now = round & 1;
        float load[ROWS][EACH], total[ROWS][EACH], colder[ROWS];
#if HAS_COMMON
        float shared[ROWS][EACH];
#endif
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const long long row = min(first + r, rows - 1);
            const size_t at = (size_t)row * COLUMNS + thread;
            colder[r] = taus[row];
#pragma unroll
            for (int p = 0; p < EACH; ++p) {
                const bool is_there = p < EACH - 1 || has_last;
                load[r][p] = is_there ? __ldcs(loads + at + p * THREADS) : 1.0f;
#if HAS_COSTS
                total[r][p] = is_there ? __ldcs(costs + at + p * THREADS) : 0.0f;
#endif
#if HAS_COMMON
                shared[r][p] = is_there ? __ldcs(common + at + p * THREADS) : 0.0f;
#endif
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            colder[r] = 1.0f / colder[r];
            float least = __int_as_float(0x7f800000);
#pragma unroll
            for (int p = 0; p < EACH; ++p) {
                float cost = 0.0f, other = 0.0f;
#if HAS_COSTS
                cost = total[r][p];
#endif
#if HAS_COMMON
                other = shared[r][p];
#endif
                total[r][p] = cost_of(load[r][p], price[p], cost, other, common_price);
                least = fminf(least, total[r][p]);
            }
            int key = least_in_warp(key_of(least));
            if (lane == 0) atomicMin(&least_of[now][r], key);
        }
        __syncthreads();
        if (thread < ROWS) number[now ^ 1][thread] = 0;
        unsigned used = 0;  // blocks of the program, as bits, in which a column of this thread has some weight
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const float least = number_of(least_of[now][r]), scale = colder[r] * 1.44269504f;
            float sum = 0.0f;
#pragma unroll
            for (int p = 0; p < EACH; ++p) {
                total[r][p] = exp2f((least - total[r][p]) * scale);  // the weight, relative to the cheapest column's
                sum += total[r][p];
            }
            const bool counts = sum > TINY && first + r < rows;
            if (counts) {
                used |= 1u << r;
#pragma unroll
                for (int p = 0; p < EACH; ++p)
                    if (total[r][p] > SLIGHT) {
                        int place = atomicAdd(&number[now][r], 1);
                        if (place < MOST) {
                            Kept own = {thread + p * THREADS, total[r][p], load[r][p], 0.0f};
#if HAS_COMMON
                            own.common = shared[r][p];
#endif
                            kept[r][place] = own;
                        }
                    }
            }
            if (__any_sync(ALL, counts)) {
#pragma unroll
                for (int away = 16; away; away >>= 1) sum += __shfl_xor_sync(ALL, sum, away);
            } else {
                sum = 0.0f;
            }
            if (lane == 0) sum_of[r][warp] = sum;
        }
        __syncthreads();
        if (thread < ROWS) {
            if (first + thread < rows)
                value += (double)number_of(least_of[now][thread]) -
                    (double)(logf(sum_over(sum_of[thread])) * taus[first + thread]);
            least_of[now][thread] = 0x7fffffff;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (used >> r & 1) {
                const float share = 1.0f / sum_over(sum_of[r]), narrow = number[now][r] > MOST ? 0.0f : colder[r];
#pragma unroll
                for (int p = 0; p < EACH; ++p) {
                    const float uses = total[r][p] * share * load[r][p];
                    const float alone = total[r][p] > SLIGHT ? 0.0f : narrow;
                    slope[p] += uses;
                    rest[p] += uses * load[r][p] * alone;
#if HAS_COMMON
                    const float draws = total[r][p] * share * shared[r][p];
                    drawn += draws;
                    drawn_rest += draws * shared[r][p] * alone;
#endif
                }
            }
#pragma unroll 1
        for (int r = warp; r < ROWS && first + r < rows; r += WARPS) {
            const int many = number[now][r];
            if (many > MOST) {
                if (lane == 0) wide[first + r] = 1;
            } else if (many > 1) {
                const float tau = taus[first + r], sum = sum_over(sum_of[r]), unit = (float)*units * tau / (sum * sum);
                add_pairs(kept[r], many, prices, common_price, floor, tau, unit, owner, matrix, lane);
            }
        }
        if (round % FLUSH == FLUSH - 1) {
#pragma unroll
            for (int p = 0; p < EACH; ++p) {
                if (p < EACH - 1 || has_last) {
                    slopes[p * THREADS] += slope[p];
                    slight[p * THREADS] += rest[p];
                }
                slope[p] = rest[p] = 0.0f;
            }
            all_drawn += drawn;
            all_drawn_rest += drawn_rest;
            drawn = drawn_rest = 0.0f;
        }
    }
#pragma unroll
    for (int p = 0; p < EACH; ++p)
        if (p < EACH - 1 || has_last) {
            slopes[p * THREADS] += slope[p];
            slight[p * THREADS] += rest[p];
        }
    // value, common use and its curvature: three numbers of each thread
    totals += ((size_t)blockIdx.x * THREADS + thread) * 3;
    totals[0] += value;
    totals[1] += all_drawn + drawn;
    totals[2] += all_drawn_rest + drawn_rest;
}

// The curvature from the sums over pairs, which are above the diagonal, and from columns of slight weight.
extern "C" __global__ void __launch_bounds__(256) finish(
    const long long* __restrict__ matrix, const float* __restrict__ scales, const double* __restrict__ units,
    const double* __restrict__ slight, double* curvature)
{
    const long long end = (long long)WIDTH * WIDTH;
    for (long long at = (long long)blockIdx.x * 256 + threadIdx.x; at < end; at += gridDim.x * 256) {
        const int i = (int)(at / WIDTH), j = (int)(at % WIDTH), low = min(i, j), high = max(i, j);
        const double scaled = (double)matrix[(size_t)low * WIDTH + high] / (*units * scales[i] * scales[j]);
        curvature[at] = i == j ? scaled + slight[i] : scaled;
    }
}

// How large the terms of each block's cheapest column are; one warp for each block of the program.
extern "C" __global__ void __launch_bounds__(256) sizes(
    const float* __restrict__ loads, const float* __restrict__ costs, const float* __restrict__ common,
    const float* __restrict__ prices, float common_price, long long rows, float* found)
{
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * (blockDim.x >> 5);
    for (long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < rows; row += warps) {
        float least = __int_as_float(0x7f800000);
        int best = COLUMNS;
#pragma unroll 8
        for (int c = lane; c < COLUMNS; c += 32) {
            size_t at = (size_t)row * COLUMNS + c;
            float cost = 0.0f, other = 0.0f;
#if HAS_COSTS
            cost = __ldcs(costs + at);
#endif
#if HAS_COMMON
            other = __ldcs(common + at);
#endif
            float total = cost_of(__ldcs(loads + at), prices[c], cost, other, common_price);
            if (total < least) { least = total; best = c; }
        }
#pragma unroll
        for (int away = 16; away; away >>= 1) {
            float other = __shfl_xor_sync(ALL, least, away);
            int its = __shfl_xor_sync(ALL, best, away);
            if (other < least || (other == least && its < best)) { least = other; best = its; }
        }
        if (lane == 0) {
            size_t at = (size_t)row * COLUMNS + min(best, COLUMNS - 1);
            float size = loads[at] * prices[min(best, COLUMNS - 1)];
#if HAS_COSTS
            size += fabsf(costs[at]);
#endif
#if HAS_COMMON
            size += fabsf(common[at]) * common_price;
#endif
            found[row] = size;
        }
    }
}
"""


class Tables(Protocol):
    """The tables of all blocks in single precision: on the device, or on the host and copied in parts."""

    @property
    def xp(self) -> Any:  # noqa: ANN401 - cupy
        """The module of the device's arrays."""

    @property
    def loads(self) -> Any:  # noqa: ANN401 - an array of the host or the device
        """What each column uses of its own row."""

    @property
    def costs(self) -> Any | None:  # noqa: ANN401 - as above
        """What each column costs, if any does."""

    @property
    def cap(self) -> Any | None:  # noqa: ANN401 - as above
        """What each column uses of the common row, if there is one."""

    @property
    def firsts(self) -> Integers:
        """The first column of each row."""

    @property
    def cells(self) -> int:
        """How many cells of a table are copied to the device at a time."""


def soften(tables: Tables, prices: Floats, temperatures: Any) -> tuple[Soft, Any]:  # noqa: ANN401 - arrays
    """Return the smooth function, and the blocks whose curvature is not in it because they are wide."""
    xp, (height, columns) = tables.xp, tables.loads.shape
    width = len(prices)
    kernel = _kernel(columns, width, tables.costs is not None, tables.cap is not None)
    floor = np.float32(LEAST_SCALE * float(prices.mean()))
    scales = np.maximum(prices, floor).astype(np.float32)
    lengths = np.diff(np.append(tables.firsts, columns))
    each = xp.asarray(np.concatenate((np.repeat(prices[: len(lengths)], lengths), scales)).astype(np.float32))
    owner = xp.asarray(np.repeat(np.arange(len(lengths), dtype=np.int32), lengths))
    units = UNITS / temperatures.sum(dtype=float)
    sums, totals, matrix, wide = _zeros(
        xp, ((2, kernel.blocks, columns), float), ((kernel.blocks * kernel.threads, 3), float),
        ((width, width), np.int64), ((height,), np.uint8),
    )  # fmt: skip
    for part, loads, costs, cap in parts(tables):
        results = (np.int64(len(loads)), sums[0], sums[1], totals, matrix, wide[part])
        given = (loads, costs, cap, each, np.float32(prices[-1]), floor, owner, temperatures[part], units)
        kernel.soften((kernel.blocks,), (kernel.threads,), given + results)
    slope, slight = by_row(tables, sums.sum(axis=1))
    total = totals.sum(axis=0)
    if tables.cap is not None:
        slope, slight = xp.append(slope, total[1]), xp.append(slight, total[2])
    curvature = xp.empty((width, width))
    kernel.finish((kernel.blocks,), (256,), (matrix, each[columns:], units, slight, curvature))
    found = xp.asnumpy(xp.concatenate((total[:1], wide.sum(keepdims=True, dtype=float), slope)))  # one copy for all
    return Soft(float(found[0]), found[2:], curvature), xp.flatnonzero(wide) if found[1] else xp.arange(0)


def _zeros(xp: Any, *wanted: tuple[tuple[int, ...], Any]) -> list[Any]:  # noqa: ANN401 - arrays
    """Return arrays of zeros of these shapes and types, cleared at once; the types of most bytes come first."""
    sizes = [int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in wanted]
    memory, starts = xp.zeros(sum(sizes), dtype=np.uint8), np.cumsum([0, *sizes])
    return [
        memory[start : start + size].view(kind).reshape(shape)
        for (shape, kind), start, size in zip(wanted, starts.tolist(), sizes, strict=False)
    ]


def sizes(tables: Tables, prices: Floats) -> Any:  # noqa: ANN401 - an array of the device
    """Return how large the terms of each block's cheapest column are."""
    xp, (height, columns) = tables.xp, tables.loads.shape
    kernel = _kernel(columns, len(prices), tables.costs is not None, tables.cap is not None)
    lengths = np.diff(np.append(tables.firsts, columns))
    each = xp.asarray(np.repeat(prices[: len(tables.firsts)], lengths), dtype=np.float32)
    found = xp.empty(height, dtype=np.float32)
    for part, loads, costs, cap in parts(tables):
        given = (loads, costs, cap, each, np.float32(prices[-1]), np.int64(len(loads)), found[part])
        kernel.sizes((kernel.blocks,), (256,), given)
    return found


def by_row(tables: Tables, columns: Any) -> Any:  # noqa: ANN401 - arrays
    """Return sums over the columns of each row, along the last axis."""
    if len(tables.firsts) == tables.loads.shape[1]:
        return columns
    return tables.xp.add.reduceat(columns, tables.xp.asarray(tables.firsts), axis=-1)


def parts(tables: Tables) -> Iterator[tuple[slice, Any, Any, Any]]:
    """Yield blocks with their part of each table on the device: all at once where the tables are there already."""
    xp, height = tables.xp, tables.loads.shape[0]
    own = (tables.loads, tables.costs, tables.cap)
    if isinstance(tables.loads, xp.ndarray):
        yield slice(0, height), *own
        return
    step = max(1, tables.cells // tables.loads.shape[1])
    buffers = [None if table is None else xp.empty((min(step, height), table.shape[1]), np.float32) for table in own]
    for start in range(0, height, step):
        rows = slice(start, min(height, start + step))
        for buffer, table in zip(buffers, own, strict=True):
            if buffer is not None:
                buffer[: rows.stop - start].set(table[rows])
        yield rows, *(None if buffer is None else buffer[: rows.stop - start] for buffer in buffers)


@dataclass(frozen=True, slots=True)
class _Kernel:
    soften: Any  # functions of the device
    sizes: Any
    finish: Any
    blocks: int
    threads: int


@cache
def _kernel(columns: int, width: int, has_costs: bool, has_common: bool) -> _Kernel:  # noqa: FBT001 - a key
    """Return the kernels for tables of this width, compiled."""
    import cupy  # noqa: PLC0415

    threads = min(MOST_THREADS, -(-columns // (32 * EACH)) * 32)
    constants = {
        "COLUMNS": columns,
        "WIDTH": width,
        "THREADS": threads,
        "EACH": -(-columns // threads),
        "ROWS": ROWS if 2 * threads <= MOST_THREADS else 1,  # as the registers allow
        "MOST": MOST,
        "FLUSH": FLUSH,
        "RESIDENT": max(1, RESIDENT // threads),
        "SLIGHT": f"{SLIGHT}f",
        "TINY": f"{TINY}f",
        "LIMIT": f"{LIMIT}f",
        "HAS_COSTS": int(has_costs),
        "HAS_COMMON": int(has_common),
    }
    options = ("--std=c++14", "--use_fast_math", *(f"-D{name}={value}" for name, value in constants.items()))
    module = cupy.RawModule(code=SOURCE, options=options)
    blocks = constants["RESIDENT"] * int(cupy.cuda.Device().attributes["MultiProcessorCount"])
    functions = (module.get_function(name) for name in ("soften", "sizes", "finish"))
    return _Kernel(*functions, blocks, threads)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of device memory: of the tables, and of everything else."""

    tables: int
    working: int

    @property
    def total(self) -> int:
        """Of all, if the tables are on the device as a whole."""
        return self.tables + self.working

    def fits(self, room: int) -> bool:
        """Return whether the tables can be on the device as a whole; an error if they cannot even be in parts."""
        if self.working > room:
            free, least = (f"{number / GIB:.2f} GiB" for number in (room, self.working))
            raise SolverError(f"the device cuda has {free} free, expected at least {least}; leave --device out")
        return self.total <= room


def memory(shape: tuple[int, int], tables: int, width: int, cells: int) -> Memory:
    """Return what passes over this many tables of a shape need, with `width` prices and parts of `cells` cells."""
    height, columns = shape
    blocks = height * PER_BLOCK
    matrices = MATRICES * 8 * width**2
    return Memory(4 * tables * height * columns, blocks + matrices + SUMS + 4 * (tables + TEMPORARY) * cells)


def room(xp: Any) -> int:  # noqa: ANN401 - cupy
    """Return how many bytes of the device are free for arrays."""
    free, _ = xp.cuda.runtime.memGetInfo()
    return int(free) + int(xp.get_default_memory_pool().free_bytes())


def to_device(xp: Any, table: Any, cells: int) -> Any:  # noqa: ANN401 - arrays
    """Return a table in single precision on the device, copied in parts, so that the host needs no second one."""
    if isinstance(table, xp.ndarray):
        return table.astype(np.float32, copy=False)
    copied, step = xp.empty(table.shape, dtype=np.float32), max(1, cells // table.shape[1])
    for start in range(0, len(table), step):
        copied[start : start + step].set(np.ascontiguousarray(table[start : start + step], dtype=np.float32))
    return copied


def on_host(xp: Any, table: Any) -> Any:  # noqa: ANN401 - arrays
    """Return a table in single precision on the host, with its pages locked if possible: copies are then faster."""
    kept = np.ascontiguousarray(table, dtype=np.float32)
    try:
        xp.cuda.runtime.hostRegister(kept.ctypes.data, kept.nbytes, 0)
    except xp.cuda.runtime.CUDARuntimeError:
        return kept  # as before, only slower
    weakref.finalize(kept, xp.cuda.runtime.hostUnregister, kept.ctypes.data)
    return kept
