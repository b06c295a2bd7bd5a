"""Classical MDS, kernel PCA and distances beside their peers: time, memory, accuracy."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table, interleaved
from benchmarks.memory import extra_bytes

TOLERANCE = 1e-6  # of the residual, in both precisions
Pairs = tuple[np.ndarray, np.ndarray]


# Contestants: they return eigenvalues and eigenvectors of the centered matrix ---------------------


def mds(D: np.ndarray, k: int) -> Pairs:
    """Ours, with the check of the distances and of the negative end."""
    from gramian import ClassicalMDS

    model = ClassicalMDS(k, metric="precomputed").fit(D)
    return model.eigenvalues_, model.eigenvectors_


def scipy_mds(D: np.ndarray, k: int) -> Pairs:
    """What an expert writes by hand: center, then ARPACK, in the precision of the distances."""
    from scipy.sparse.linalg import eigsh

    B = -0.5 * D * D
    B -= B.mean(axis=0)
    B -= B.mean(axis=1)[:, None]
    return eigsh(B, k, which="LA", tol=TOLERANCE)


def scipy_mds_double(D: np.ndarray, k: int) -> Pairs:
    """The same in float64, where float32 does not reach the tolerance."""
    return scipy_mds(D.astype(np.float64), k)


def scikit_learn_mds(D: np.ndarray, k: int) -> Pairs:
    """The packaged, exact one."""
    from sklearn.manifold import ClassicalMDS

    model = ClassicalMDS(k, metric="precomputed").fit(D)
    return model.eigenvalues_, _normalized(model.embedding_)


def scikit_bio_mds(D: np.ndarray, k: int) -> Pairs:
    """PCoA by LAPACK."""
    from skbio.stats.distance import DistanceMatrix
    from skbio.stats.ordination import pcoa

    found = pcoa(DistanceMatrix(D), method="eigh", dimensions=k)
    return found.eigvals.to_numpy()[:k], _normalized(found.samples.to_numpy()[:, :k])


def kernel_pca(X: np.ndarray, k: int) -> Pairs:
    """Ours."""
    from gramian import KernelPCA

    model = KernelPCA(k, kernel="rbf").fit(X)
    return model.eigenvalues_, model.eigenvectors_


def scikit_learn_kernel_pca(X: np.ndarray, k: int) -> Pairs:
    """What people get."""
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(k, kernel="rbf", random_state=0).fit(X)
    return model.eigenvalues_, model.eigenvectors_


def scikit_learn_kernel_pca_arpack(X: np.ndarray, k: int) -> Pairs:
    """The quick and accurate one."""
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(k, kernel="rbf", eigen_solver="arpack", random_state=0).fit(X)
    return model.eigenvalues_, model.eigenvectors_


CONTESTANTS: dict[str, Callable[[np.ndarray, int], Pairs]] = {
    "gramian MDS": mds,
    "scipy eigsh": scipy_mds,
    "scipy float64 eigsh": scipy_mds_double,
    "scikit-learn ClassicalMDS": scikit_learn_mds,
    "scikit-bio eigh": scikit_bio_mds,
    "gramian kernel PCA": kernel_pca,
    "scikit-learn kernel PCA": scikit_learn_kernel_pca,
    "scikit-learn arpack": scikit_learn_kernel_pca_arpack,
}
SLOW = ("scikit-learn ClassicalMDS", "scikit-bio eigh", "scikit-learn kernel PCA")  # LAPACK


def _normalized(Z: np.ndarray) -> np.ndarray:
    return np.asarray(Z / np.linalg.norm(Z, axis=0))


# Tables -----------------------------------------------------------------------------------------


def blobs(n: int, p: int, dtype: str) -> np.ndarray:
    """Ten round clusters."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((10, p))
    return (rng.standard_normal((n, p)) + centers[rng.integers(0, 10, n)]).astype(dtype)


def mds_tables(settings: Settings) -> Iterator[Table]:
    """Classical MDS of Bray-Curtis and Euclidean distances."""
    from gramian.gram.distances import pairwise

    single = ("gramian MDS", "scipy eigsh", "scikit-learn ClassicalMDS", "scikit-bio eigh")
    names = {"float64": single, "float32": (*single, "scipy float64 eigsh")}
    for n in (300,) if settings.quick else (5_000, 10_000):
        rows: list[tuple[Any, ...]] = []
        counts = np.random.default_rng(1).gamma(1, 1, (n, 30))
        for metric in ("braycurtis", "euclidean"):
            D = pairwise(counts, metric=metric)
            for dtype in ("float64", "float32"):
                given = D.astype(dtype)
                B = -0.5 * D * D
                B -= B.mean(axis=0)
                B -= B.mean(axis=1)[:, None]
                rows += _rows((metric, dtype), given, names[dtype], B, settings)
        yield Table(f"Classical MDS, n = {n:,}, k = 10", COLUMNS, rows, (NOTE,))


def kernel_tables(settings: Settings) -> Iterator[Table]:
    """Kernel PCA, rbf, 50 dimensions."""
    from gramian.gram.kernels import rbf

    names = ("gramian kernel PCA", "scikit-learn arpack", "scikit-learn kernel PCA")
    for n in (300,) if settings.quick else (5_000, 10_000, 20_000):
        rows: list[tuple[Any, ...]] = []
        for dtype in ("float32", "float64"):
            X = blobs(n, 50, dtype)
            B = rbf(X.astype(np.float64))
            B -= B.mean(axis=0)
            B -= B.mean(axis=1)[:, None]
            rows += _rows(("rbf", dtype), X, names, B, settings)
        yield Table(f"Kernel PCA, n = {n:,}, 50 dimensions, k = 10", COLUMNS, rows, (NOTE,))


def distance_tables(settings: Settings) -> Iterator[Table]:
    """Pairwise Euclidean distances, and what becomes of two nearly equal points."""
    from scipy.spatial.distance import cdist
    from sklearn.metrics.pairwise import euclidean_distances

    from gramian.gram.distances import pairwise

    rows: list[tuple[Any, ...]] = []
    for dtype in ("float32", "float64"):
        X = blobs(300 if settings.quick else 10_000, 50, dtype)
        X[1] = X[0]
        X[1, 3] = np.nextafter(X[0, 3], np.inf) if dtype == "float32" else X[0, 3] + 2.0**-24
        exact = float(X[1, 3]) - float(X[0, 3])
        calls = {
            "gramian": lambda X=X: pairwise(X),
            "scikit-learn": lambda X=X: euclidean_distances(X),
            "scipy cdist": lambda X=X: cdist(X, X),
        }
        times = interleaved(calls, settings.rounds, settings.rest, settings.patience)
        for name, timing in times.items():
            off = abs(float(timing.answer[0, 1]) - exact) / exact
            ratio = timing.seconds / times["gramian"].seconds
            rows.append((dtype, name, timing.seconds, ratio, off))
    columns = ("dtype", "contestant", "seconds", "peer / ours", "error of the closest pair")
    yield Table("Euclidean distances, 10,000 x 50", columns, rows)


COLUMNS = (
    *("case", "dtype", "contestant", "seconds", "peer / ours", "of medians"),
    *("extra MB", "residual"),
)
NOTE = (
    "Best times, and beside their ratio that of the medians of the same runs. Residual: the "
    "largest |B v - l v| / l_1 of the ten pairs, recomputed in float64 on the centered matrix B. "
    "LAPACK contestants run once, and beyond n = 5,000 only if asked (--slow)."
)


def _rows(
    case: tuple[str, str],
    data: np.ndarray,
    names: tuple[str, ...],
    B: np.ndarray,
    settings: Settings,
) -> Iterator[tuple[Any, ...]]:
    k = 3 if settings.quick else 10
    n = len(B)
    most = n if settings.slow else 5_000
    taking = [x for x in names if (n <= most or x not in SLOW) and _present(x)]
    for name in taking:
        small = data[:200, :200] if data.shape[0] == data.shape[1] else data[:200]
        CONTESTANTS[name](np.ascontiguousarray(small), 3)
    quick = {x: (lambda f=CONTESTANTS[x]: f(data, k)) for x in taking if x not in SLOW}
    slow = {x: (lambda f=CONTESTANTS[x]: f(data, k)) for x in taking if x in SLOW}
    rounds = settings.rounds * (3 if n <= 5_000 else 1)  # short runs vary more
    times = interleaved(quick, rounds, settings.rest, settings.patience) | interleaved(slow, 1)
    ours = times[names[0]]
    for name in taking:
        residual = _residual(B, times[name].answer)
        extra = _extra(data, name, k) if settings.memory and name not in SLOW else None
        theirs = times[name]
        ratios = theirs.seconds / ours.seconds, theirs.median / ours.median
        yield (*case, name, theirs.seconds, *ratios, extra, residual)


def _present(name: str) -> bool:
    return not name.startswith("scikit-bio") or find_spec("skbio") is not None


def _extra(data: np.ndarray, name: str, k: int) -> float | None:
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "data.npy"
        np.save(path, data)
        found = extra_bytes(path, name, k, "benchmarks.gram")
    return None if found is None else found / 1e6


def _residual(B: np.ndarray, answer: Any) -> float:
    if isinstance(answer, Exception):
        return float("nan")
    values, V = (np.asarray(part, np.float64) for part in answer)
    return float(np.linalg.norm(B @ V - V * values, axis=0).max() / np.abs(values).max())
