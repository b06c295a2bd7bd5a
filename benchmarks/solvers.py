"""Block Krylov against ARPACK, LOBPCG and PRIMME, every answer certified by the same yardstick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.measure import Settings, Table, interleaved

Answer = tuple[np.ndarray, np.ndarray]
Solve = Callable[[Any, int, str, float], Answer]
NAMES = ("gramian", "block Krylov", "ARPACK", "LOBPCG", "PRIMME")
FAMILIES = ("dense", "sparse", "matrix-free")
TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
SLACK = 1.1  # |A| is known to a few percent only


# Contestants ------------------------------------------------------------------------------------


def block_krylov(A: Any, k: int, which: str, tol: float, block: int | None = None) -> Answer:
    """Ours, with blocks of vectors."""
    from gramian.spectral.krylov import BlockKrylov

    pairs = BlockKrylov(tol=tol, block=block)(A, k, which)
    return pairs.values, pairs.vectors


def chosen(A: Any, k: int, which: str, tol: float) -> Answer:
    """Ours, as the plan chooses: ARPACK with a second look where products are cheap."""
    from gramian.spectral.arpack import Arpack

    if not hasattr(A, "nnz"):
        return block_krylov(A, k, which, tol)
    pairs = Arpack(tol=tol)(A, k, which)
    return pairs.values, pairs.vectors


def arpack(A: Any, k: int, which: str, tol: float) -> Answer:
    """Implicitly restarted Lanczos, one vector at a time."""
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(0).standard_normal(A.shape[0]).astype(A.dtype)
    return eigsh(_foreign(A), k, which="LA" if which == "largest" else "SA", tol=tol, v0=start)


def lobpcg(A: Any, k: int, which: str, tol: float) -> Answer:
    """Locally optimal block conjugate gradients, without a preconditioner."""
    from scipy.sparse.linalg import lobpcg

    start = np.random.default_rng(0).standard_normal((A.shape[0], k)).astype(A.dtype)
    size = size_of(A)
    return lobpcg(_foreign(A), start, tol=tol * size, maxiter=300, largest=which == "largest")[:2]


def primme(A: Any, k: int, which: str, tol: float) -> Answer:
    """PRIMME's own choice of method."""
    from primme import eigsh

    return eigsh(_foreign(A), k, which="LA" if which == "largest" else "SA", tol=tol)


def _foreign(A: Any) -> Any:
    from gramian.maps import ImplicitMap, as_scipy

    return as_scipy(A) if isinstance(A, ImplicitMap) else A


CONTESTANTS: dict[str, Solve] = {
    "gramian": chosen,
    "block Krylov": block_krylov,
    "ARPACK": arpack,
    "LOBPCG": lobpcg,
    "PRIMME": primme,
}


# Maps -------------------------------------------------------------------------------------------


def stencil(side: int) -> Any:
    """Minus the five-point Laplacian of a square grid, never stored: a very cheap product."""
    from gramian.maps import ImplicitMap

    class Grid(ImplicitMap):
        shape = (side * side, side * side)
        nnz = 5 * side * side  # cheap, and it says so
        dtype = np.dtype(np.float64)

        def _times(self, V: np.ndarray) -> np.ndarray:
            F = V.reshape(side, side, -1)
            out = 4 * F
            out[1:] -= F[:-1]
            out[:-1] -= F[1:]
            out[:, 1:] -= F[:, :-1]
            out[:, :-1] -= F[:, 1:]
            return out.reshape(V.shape)

    return Grid()


def kernel_on_the_fly(n: int) -> Any:
    """An RBF kernel computed anew at every product: dear, whatever the number of columns."""
    from gramian.maps import ImplicitMap

    X = np.random.default_rng(6).standard_normal((n, 10))
    squares = np.sum(X * X, axis=1)

    class Kernel(ImplicitMap):
        shape = (n, n)
        dtype = np.dtype(np.float64)

        def _times(self, V: np.ndarray) -> np.ndarray:
            out = np.empty((n, V.shape[1]))
            for a in range(0, n, 500):
                rows = slice(a, a + 500)
                D2 = squares[rows, None] + squares - 2 * X[rows] @ X.T
                out[rows] = np.exp(D2 / -20) @ V
            return out

    return Kernel()


def sparse_covariance(n: int, p: int) -> Any:
    """v -> Y'(Y v) of sparse rows, centered implicitly."""
    from gramian.data.centering import Centering
    from gramian.data.door import open_rows
    from gramian.spectral.principal import ColumnGram

    rows = open_rows(data.sparse_rows(n, p, 0.01)).rows
    moments = rows.moments(np.ones(1))
    centering = Centering.of(
        moments.high / moments.unit, moments.low, np.ones(p), np.ones(1), rows.dtype
    )
    return ColumnGram(rows.then(centering))


@dataclass(frozen=True)
class Case:
    """A symmetric map, which end of its spectrum, and the family it belongs to."""

    family: str
    name: str
    make: Callable[[], Any]
    which: str = "largest"


def cases(quick: bool) -> list[Case]:
    """Dense, sparse and matrix-free maps."""
    few, many = (300, 400) if quick else (2_000, 5_000)
    large, grid = (900, 30) if quick else (10_000, 100)
    found = [
        Case("dense", f"{kind} {n:,}, {dtype}", lambda make=make, n=n, t=dtype: make(n, t))
        for kind, make in (("Gram", data.gram_like), ("kernel", data.kernel_matrix))
        for n in (few, many)
        for dtype in ("float64", "float32")
    ]
    found += [
        Case("sparse", f"random symmetric {large:,}", lambda: data.random_symmetric(large)),
        Case("sparse", f"graph Laplacian {large:,}, largest", lambda: data.graph_laplacian(large)),
        Case(
            "sparse",
            f"graph Laplacian {few:,}, smallest",
            lambda: data.graph_laplacian(few),
            "smallest",
        ),
        Case(
            "sparse",
            f"covariance of sparse {4 * many:,} x {many:,}",
            lambda: sparse_covariance(4 * many, many),
        ),
        Case("matrix-free", f"grid {grid} x {grid} (cheap)", lambda: stencil(grid)),
        Case("matrix-free", f"kernel on the fly {few:,} (dear)", lambda: kernel_on_the_fly(few)),
    ]
    return found


# Tables -----------------------------------------------------------------------------------------


def tables(settings: Settings, families: tuple[str, ...] = FAMILIES) -> Iterator[Table]:
    """Solvers side by side, one table for a family of maps."""
    names = [name for name in NAMES if name != "PRIMME" or find_spec("primme")]
    columns = ("map", "k", *(f"{name} s" for name in names), "best / ours", "products", "residuals")
    note = (
        "Products: columns multiplied, in the order of the contestants. Residuals: the largest "
        "|A v - l v| / |A|, recomputed in float64. Tolerance asked of all: 1e-6 (float64), 1e-4 "
        "(float32). A time with ! missed it, or missed a pair that another contestant found."
    )
    absent = () if "PRIMME" in names else ("PRIMME is not installed.",)
    for family in families:
        rows = []
        for case in (case for case in cases(settings.quick) if case.family == family):
            A = case.make()
            size = size_of(A)
            for k in (2, 5) if settings.quick else (2, 10, 50):
                rows.append((case.name, k, *_compare(A, k, case.which, size, names, settings)))
        yield Table(f"Solvers: {family} maps", columns, rows, (note, *absent))


def _compare(
    A: Any, k: int, which: str, size: float, names: list[str], settings: Settings
) -> tuple[Any, ...]:
    tol = TOLERANCE[str(np.dtype(A.dtype))]
    calls = {name: (lambda f=CONTESTANTS[name]: f(A, k, which, tol)) for name in names}
    times = interleaved(calls, settings.rounds, settings.rest, settings.patience)
    worst = {name: _residual(A, times[name].answer, size) for name in names}
    found = {name: times[name].answer for name in names}
    whole = _complete(found, which, 10 * tol * size)
    good = {name: worst[name] <= SLACK * tol and whole[name] for name in names}
    shown = [_marked(times[name].seconds, good[name]) for name in names]
    valid = [times[name].seconds for name in names[2:] if good[name]]  # both of ours aside
    ours = times["gramian"].seconds
    ratio = min(valid) / ours if valid else None
    products = [_products(A, CONTESTANTS[name], k, which, tol, times[name]) for name in names]
    residuals = " ".join(f"{worst[name]:.0e}" for name in names)
    return (*shown, ratio, " ".join(map(str, products)), residuals)


def block_tables(settings: Settings) -> Iterator[Table]:
    """Which block is best for which map."""
    blocks = (1, 2, 4, 8, 16)
    columns = ("map", "k", *(f"block {b}, s" for b in blocks), "default, s", "products")
    rows: list[tuple[Any, ...]] = []
    for case in cases(settings.quick):
        if case.family == "dense" and not case.name.startswith("kernel"):
            continue
        A = case.make()
        tol = TOLERANCE[str(np.dtype(A.dtype))]
        size = size_of(A)
        for k in (2,) if settings.quick else (2, 10):
            calls = {
                str(b): (lambda b=b, A=A, k=k, c=case, t=tol: block_krylov(A, k, c.which, t, b))
                for b in (*blocks, None)
            }
            times = interleaved(calls, settings.rounds, settings.rest, settings.patience)
            good = {b: _residual(A, t.answer, size) <= SLACK * tol for b, t in times.items()}
            used = [
                _products(A, partial(block_krylov, block=b), k, case.which, tol, times[str(b)])
                for b in blocks
            ]
            shown = [_marked(t.seconds, good[b]) for b, t in times.items()]
            rows.append((case.name, k, *shown, " ".join(map(str, used))))
    yield Table("Block Krylov: how wide a block", columns, rows)


# Yardsticks -------------------------------------------------------------------------------------


def size_of(A: Any) -> float:
    """The largest |eigenvalue|, to a few percent from below."""
    V = np.random.default_rng(0).standard_normal((A.shape[0], 8)).astype(A.dtype)
    for _ in range(12):
        V = np.ascontiguousarray(A @ np.ascontiguousarray(V / np.linalg.norm(V, axis=0)))
    return float(np.linalg.norm(V, axis=0).max())


def _residual(A: Any, answer: Any, size: float) -> float:
    """Largest |A v - l v| / |A|, in float64 where the map is a matrix."""
    if isinstance(answer, Exception):
        return float("inf")
    values, V = answer
    V = np.ascontiguousarray(V, np.float64)
    exact = A.astype(np.float64) if isinstance(A, np.ndarray) else A
    return float(np.linalg.norm(exact @ V - V * values, axis=0).max()) / size


def _complete(found: dict[str, Any], which: str, close: float) -> dict[str, bool]:
    """Whether nobody found a better i-th value: small residuals do not show that a pair is missing.

    Values of a symmetric map come from below (largest) or above (smallest), so the best is right.
    """
    sign = 1.0 if which == "largest" else -1.0
    values = {
        name: np.sort(sign * np.asarray(answer[0], np.float64))[::-1]
        for name, answer in found.items()
        if not isinstance(answer, Exception)
    }
    best = np.max(np.stack(list(values.values())), axis=0)
    return {name: name in values and bool(np.all(values[name] >= best - close)) for name in found}


def _marked(seconds: float, good: bool) -> Any:
    return seconds if good else f"{seconds:.3g}!"


def _products(A: Any, solve: Solve, k: int, which: str, tol: float, timing: Any = None) -> Any:
    """Columns multiplied, counted in one more run (not for contestants that are very slow)."""
    if timing is not None and (timing.seconds > 4 or isinstance(timing.answer, Exception)):
        return "-"
    counted = Counted(A)
    interleaved({"count": lambda: solve(counted.map, k, which, tol)}, 1)
    return counted.columns


class Counted:
    """A map that counts the columns it multiplies."""

    def __init__(self, A: Any) -> None:
        from gramian.maps import ImplicitMap

        outer = self

        class Map(ImplicitMap):
            shape, dtype = A.shape, np.dtype(A.dtype)

            def _times(self, V: np.ndarray) -> np.ndarray:
                outer.columns += V.shape[1]
                return np.asarray(A @ V)

        if hasattr(A, "nnz"):
            Map.nnz = A.nnz  # type: ignore[attr-defined]
        self.columns, self.map = 0, Map()
