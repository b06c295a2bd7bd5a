"""``plan``: the one ladder in the library. It says route, bytes and passes before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from gramian.errors import MemoryRefusedError
from gramian.loops.threads import thread_count
from gramian.maps import Array, LinearMap
from gramian.memory import WIDE, budget, in_one_pass, in_words, running_totals
from gramian.spectral.arpack import Arpack
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.shift_invert import ShiftInvert
from gramian.spectral.solvers import LAPACK_LIMIT, Dense, Solver, solver_of
from gramian.spectral.two_level import TwoLevel

TWO_LEVELS = 5_000  # points from which two levels are quicker than the factor of a whole graph

_objects = 1_500_000  # bytes of what is small, where a file is read


@dataclass(frozen=True)
class Plan:
    """How an answer will be (or was) computed.

    Attributes
    ----------
    route : str
        In words, for people.
    kind : str
        "direct" (the map itself), "cross" (Y'Y), "outer" (YY') or "products" (neither is formed).
    solver : Solver
    bytes : int
        Memory needed beyond the data.
    passes : int or None
        Visits to the data: made, or expected where the plan was asked for beforehand.
    """

    route: str
    kind: str
    solver: Solver
    bytes: int
    passes: int | None = None

    keeps: ClassVar[dict[str, Any]] = {
        "route": str,
        "kind": str,
        "solver": Dense | BlockKrylov | Arpack | ShiftInvert | TwoLevel | None,
        "bytes": int,
        "passes": int | None,
    }

    def __str__(self) -> str:
        n = self.passes
        visits = "" if n is None else f", {n} pass{'es' * (n != 1)} over the data"
        return f"{self.route}; {in_words(self.bytes)} beyond the data{visits}"


@dataclass(frozen=True)
class Expected:
    """Data known by their size alone: enough for a plan.

    Attributes
    ----------
    shape : tuple of two int
    dtype : dtype
        Computed in: float64 or float32.
    resident : bool
        Whether the numbers are in memory, or visited in a file.
    block_bytes : int
        Held of a file at a time.
    """

    shape: tuple[int, int]
    dtype: Any
    resident: bool = True
    block_bytes: int = 16_000_000


@dataclass(frozen=True)
class ExpectedSparse(Expected):
    """A sparse matrix known by its size.

    Attributes
    ----------
    nnz : int
        Its entries.
    """

    nnz: int = 0


class DataMap(LinearMap, Protocol):
    """Centered data Y (n x p) with the products that principal axes are made of."""

    @property
    def resident(self) -> bool:
        """Whether the numbers are in memory."""

    def adjoint(self, U: Array, /) -> Array:
        """Y' U, in float64."""

    def gram(self, V: Array, /) -> Array:
        """Y' (Y V)."""

    def cross(self) -> Array:
        """Y' Y."""

    def outer(self) -> Array:
        """Y Y'."""


def plan(
    A: LinearMap | Expected,
    k: int,
    which: str = "largest",
    solver: Any = "auto",
    memory: Any = None,
    *,
    laplacian: bool = False,
) -> Plan:
    """The route for ``k`` pairs of a symmetric map.

    ``laplacian``: it is the normalized Laplacian of a graph, and its null vector will be given.
    """
    n, allowed = A.shape[0], budget(memory)
    chosen = solver_of(solver)
    dense = 8 * n * n * 3 if not isinstance(A, np.ndarray) else 8 * n * n * 2
    krylov = _krylov_bytes(A, n, k)
    if chosen is None:
        # LAPACK does 4/3 n^3 at a fraction of full speed; Krylov some twenty products of a block.
        small = n <= 600 or k > n // 6
        chosen = Arpack() if hasattr(A, "nnz") else BlockKrylov()  # blocks pay on dense maps
        if which == "smallest" and (hasattr(A, "tocsc") or isinstance(A, ExpectedSparse)):
            large = laplacian and n >= TWO_LEVELS and k <= TwoLevel.most
            chosen = TwoLevel(memory=memory) if large else ShiftInvert(memory=memory)
        if small and n <= LAPACK_LIMIT and dense <= allowed:
            chosen = Dense()
    needs = dense if isinstance(chosen, Dense) else krylov
    if isinstance(chosen, ShiftInvert):  # a factor about seven times as full; counted when it runs
        needs += 160 * int(getattr(A, "nnz", 0))
    if isinstance(chosen, TwoLevel):
        needs = chosen.expected_bytes(n, k, int(getattr(A, "nnz", 0)))
    what = f"{k} pairs of a {n} x {n} map by {_name(chosen)}"
    _refuse_beyond(needs, allowed, what)
    return Plan(what, "direct", chosen, needs)


def plan_axes(
    Y: DataMap, k: int, solver: Any = "auto", memory: Any = None, *, rows: bool = False
) -> Plan:
    """The route for the top ``k`` principal axes of centered data, by the smaller side.

    With ``rows`` vectors are sought on the side of the rows, be it the smaller or not.
    """
    n, p = Y.shape
    rows = rows or by_rows(Y)
    small, allowed = n if rows else min(n, p), budget(memory)
    chosen = solver_of(solver)
    side, kind = ("YᵀY", "cross") if p <= n and not rows else ("YYᵀ", "outer")
    around = 8 * p * (8 + 3 * max(k, 8))  # means, factors; blocks of vectors
    if getattr(Y, "flip", False):
        around += 3 * 8 * n * max(k, 8)  # and those as long as the columns are
    # Routes are chosen, and refused, by what any number of threads may take.
    sums, squared = (each + around for each in _squared_bytes(Y, small, kind))
    now, products = (
        each + around + _krylov_bytes(Y, n if rows else p, k) for each in _visiting(Y, 2)
    )
    now, sums = (max(each, int(getattr(Y, "opening_bytes", 0))) for each in (now, sums))
    if chosen is None:
        by_products = _products_pay(Y, small, k) or squared > allowed
        chosen = _krylov_for(Y) if by_products and k < small else Dense()
        if isinstance(chosen, Dense) and small > 600 and k <= small // 6:
            # the small matrix is formed, but only a few of its pairs are wanted
            route = f"{side} ({small} x {small}) formed, its top {k} by block Krylov"
            _refuse_beyond(squared, allowed, route)
            return Plan(route, kind, BlockKrylov(), sums)
    if isinstance(chosen, Dense):
        route = f"{side} ({small} x {small}) formed, its top {k} by LAPACK"
        _refuse_beyond(squared, allowed, route)
        return Plan(route, kind, chosen, sums)
    route = f"top {k} by {_name(chosen)} on products with the data ({n} x {p}), no matrix formed"
    _refuse_beyond(products, allowed, route)
    return Plan(route, "products", chosen, now)


def by_rows(Y: DataMap) -> bool:
    """Whether vectors are so much shorter on the side of the rows that they are sought there.

    It takes two visits to sparse data for one, but reading those is cheap beside long vectors.
    """
    n, p = Y.shape
    return hasattr(getattr(Y, "X", None), "nnz") and 4 * n <= p


def is_two_bit(Y: Any) -> bool:
    """Whether the data are genotypes of two bits: little to read, decoded in cache."""
    return bool(getattr(Y, "two_bit", False))


def _krylov_for(Y: DataMap) -> BlockKrylov:
    """Many genotypes end in noise, whose pairs need not be better than the certificate asks."""
    noisy = is_two_bit(Y) and Y.dtype == np.float32
    return BlockKrylov(floor=1.0) if noisy else BlockKrylov()


def expected_passes(followed: Plan, Y: Any) -> int:
    """About how often the rows are visited to find the axes; products depend on the spectrum."""
    if followed.kind == "products":
        return 40
    moments = int(getattr(Y, "moment_passes", 1))
    if followed.kind == "outer":
        return moments + int(getattr(Y, "outer_passes", 1)) + 2
    together = not getattr(Y, "flip", False) and in_one_pass(Y.shape, Y.resident)
    return 1 if together and moments == 1 else moments + 2


def _products_pay(Y: DataMap, small: int, k: int) -> bool:
    """Whether some twenty visits with a thin block cost less than forming the small matrix.

    Forming costs n p small multiplications (half of that by symmetry, times two), a visit four
    times n p block; a file on disk makes every visit dearer.
    """
    nnz = getattr(getattr(Y, "X", None), "nnz", None)
    if nnz is not None:  # sparse: products are nearly free, a dense small matrix is not
        return small > 600 and k <= small // 6
    visits = 20 + 2 * k
    block = BlockKrylov.natural_block(Y)
    dearer = 1 if Y.resident or is_two_bit(Y) else 4
    lapack = 4 * small**3 / (Y.shape[0] * Y.shape[1])  # in units of n p
    return k <= small // 6 and 4 * visits * block * dearer * 0.6 < small + lapack


def _krylov_bytes(A: LinearMap | Expected, n: int, k: int) -> int:
    block = BlockKrylov.natural_block(A)
    return int(np.dtype(A.dtype).itemsize) * n * (max(2 * k + 4 * block, 20 * block) + 6 * block)


def _visiting(Y: DataMap, blocks: int) -> tuple[int, int]:
    """Bytes for visits to the rows: on the threads there are, and on any number of them."""
    if not Y.resident and hasattr(Y, "visiting"):
        now, most = Y.visiting(blocks)
        return int(now) + _objects, int(most)
    n, p = Y.shape
    needed = 4 * min(int(getattr(Y, "block_bytes", 16_000_000)), 8 * n * p)
    return needed, needed


def _squared_bytes(Y: DataMap, small: int, kind: str) -> tuple[int, int]:
    """Sums that run beside each other, or later the matrix with LAPACK's copies: as ``_visiting``.

    Wide matrices are one sum; BLAS has its threads for itself.
    """
    one = 8 * small * small
    if kind == "outer" or small > WIDE:
        now, most = _visiting(Y, 3)
        return 3 * one + now, 3 * one + most
    now, most = _visiting(Y, 2)
    # Sums are packed triangles; after them come the matrix and, if it is not ours, copies of it.
    sums = running_totals(int(getattr(Y, "block_bytes", 16_000_000)), one // 2)
    after = 2 * one if in_one_pass(Y.shape, Y.resident) else 3 * one

    def at_once(beside: int) -> int:
        return max(after, (beside + 1) * one // 2)

    return at_once(min(sums, getattr(Y, "threads", thread_count()))) + now, at_once(sums) + most


def _name(solver: Solver) -> str:
    return getattr(solver, "name", type(solver).__name__)


def _refuse_beyond(needed: int, allowed: int, what: str) -> None:
    if needed > allowed:
        other = "" if "Krylov" in what else "use solver='krylov', "
        raise MemoryRefusedError(
            f"{what} needs {in_words(needed)} beyond the data, the budget is {in_words(allowed)}; "
            f"ask for fewer components, {other}or raise memory="
        )
