"""The data: made from fixed seeds, the same for every contestant."""

from __future__ import annotations

import numpy as np
import scipy.sparse


def signal_and_noise(n: int, p: int, dtype: str, seed: int = 0) -> np.ndarray:
    """50 directions of decaying strength, 10 to 0.2, plus unit noise in every cell."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((50, p))
    X = np.empty((n, p), dtype)
    step = max(1, 2_000_000 // p)
    for a in range(0, n, step):
        rows = min(step, n - a)
        U = rng.standard_normal((rows, 50)) * (np.arange(50, 0, -1) / 5)
        X[a : a + rows] = U @ R + rng.standard_normal((rows, p))
    return X


def gram_like(n: int, dtype: str, seed: int = 1) -> np.ndarray:
    """YY' / p of such data: a few large values above a broad noise floor."""
    Y = signal_and_noise(n, 2 * n, "float64", seed)
    Y -= Y.mean(axis=0)
    return (Y @ Y.T / (2 * n)).astype(dtype)


def kernel_matrix(n: int, dtype: str, seed: int = 2) -> np.ndarray:
    """RBF kernel of standard normal points in ten dimensions: a smooth decay."""
    X = np.random.default_rng(seed).standard_normal((n, 10))
    squares = np.sum(X * X, axis=1)
    D2 = np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0)
    return np.exp(-D2 / 20).astype(dtype)


def random_symmetric(n: int, per_row: int = 10, seed: int = 3) -> scipy.sparse.csr_array:
    """Sparse, entries at random places: no gaps at the ends of its spectrum."""
    rng = np.random.default_rng(seed)
    size = n * per_row // 2
    i, j = rng.integers(0, n, size), rng.integers(0, n, size)
    B = scipy.sparse.coo_array((rng.standard_normal(size), (i, j)), shape=(n, n)).tocsr()
    return scipy.sparse.csr_array(B + B.T)


def graph_laplacian(n: int, neighbors: int = 10, seed: int = 4) -> scipy.sparse.csr_array:
    """I - D^-1/2 W D^-1/2 of the nearest-neighbor graph of points in a square."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(seed).random((n, 2))
    nearest = cKDTree(points).query(points, neighbors + 1)[1][:, 1:]
    rows = np.repeat(np.arange(n), neighbors)
    W = scipy.sparse.coo_array((np.ones(rows.size), (rows, nearest.ravel())), shape=(n, n)).tocsr()
    W = W.maximum(W.T)
    root = scipy.sparse.diags_array(1 / np.sqrt(W.sum(axis=1)))
    return scipy.sparse.csr_array(scipy.sparse.eye_array(n) - root @ W @ root)


def sparse_rows(n: int, p: int, density: float, seed: int = 5) -> scipy.sparse.csr_array:
    """Counts at random places, some columns much fuller than others."""
    rng = np.random.default_rng(seed)
    size = int(n * p * density)
    columns = (p * rng.random(size) ** 3).astype(np.int64)
    values = rng.poisson(2.0, size) + 1.0
    places = (rng.integers(0, n, size), columns)
    return scipy.sparse.coo_array((values, places), shape=(n, p)).tocsr()


def random_sparse(n: int, p: int, density: float = 1e-3, seed: int = 6) -> scipy.sparse.csr_array:
    """Uniform numbers at random places: but for the first, singular values crowd at an edge."""
    rng = np.random.default_rng(seed)
    return scipy.sparse.random_array((n, p), density=density, format="csr", rng=rng)


def documents(n: int, p: int, words: int = 50, seed: int = 7) -> scipy.sparse.csr_array:
    """Counts of words whose frequencies follow Zipf's law, in documents of uneven length."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (np.arange(p) + 2.7)
    ends = np.cumsum(frequency) / frequency.sum()
    lengths = np.maximum(rng.lognormal(np.log(words), 0.6, n).astype(int), 1)
    rows = np.repeat(np.arange(n, dtype=np.int32), lengths)
    terms = np.minimum(np.searchsorted(ends, rng.random(len(rows))), p - 1).astype(np.int32)
    X = scipy.sparse.coo_array((np.ones(len(rows)), (rows, terms)), shape=(n, p)).tocsr()
    X.sum_duplicates()
    return X


def random_links(n: int, m: int, skew: float = 1.0, seed: int = 8) -> scipy.sparse.csr_array:
    """About m links between n nodes; with ``skew`` above 1 the first nodes get most of them."""
    rng = np.random.default_rng(seed)
    sources = rng.integers(0, n, m).astype(np.int32)
    targets = (n * rng.random(m) ** skew).astype(np.int32)
    A = scipy.sparse.coo_array((np.ones(m), (sources, targets)), shape=(n, n)).tocsr()
    A.data[:] = 1
    return A
