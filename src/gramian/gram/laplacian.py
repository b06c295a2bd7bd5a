"""Graphs of affinities, their normalized Laplacian, and rows of new points.

    heat    w_ij = exp(-gamma d_ij^2) along the edges of the graph of neighbors
    knn     w_ij = 1
    L = I - D^-1/2 W D^-1/2,   D = diag(row sums of W)

L has eigenvalues from 0 to 2, and as many zeros as the graph has parts; sqrt(D) 1 belongs to one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gramian.errors import InputError
from gramian.maps import Array
from gramian.show.text import count, listed


def bandwidth(lengths: Array, gamma: Any) -> float:
    """``gamma`` as a number; "median" is 1 / the median of the edges' squared lengths."""
    if isinstance(gamma, str) and gamma == "median":
        lengths = lengths[lengths > 0]
        middle = float(np.median(lengths)) if len(lengths) else 1.0
        return 1 / middle / middle
    number = isinstance(gamma, (int, float, np.number)) and not isinstance(gamma, bool)
    if not number or not 0 < gamma < np.inf:
        raise InputError(f"gamma={gamma!r}: a number above 0, or 'median'")
    return float(gamma)


def affinities(graph: sparse.csr_array, gamma: float | None) -> sparse.csr_array:
    """W of a symmetric graph of lengths: heat, or 1 an edge without ``gamma``."""
    parts = heat(graph.data, gamma), graph.indices, graph.indptr
    return sparse.csr_array(parts, shape=graph.shape)


def heat(lengths: Array, gamma: float | None) -> Array:
    """exp(-gamma d^2), or 1."""
    return np.ones(len(lengths)) if gamma is None else np.exp(-gamma * lengths * lengths)


def given(W: Any) -> sparse.csr_array:
    """Affinities that were computed elsewhere, checked; what a point is to itself is left out."""
    W = sparse.csr_array(W).astype(np.float64)
    if W.shape[0] != W.shape[1]:
        raise InputError(f"precomputed affinities must be square, got shape {W.shape}")
    refuse_bad(W)
    odd = abs(W - W.T).tocoo()
    if odd.nnz and odd.data.max() > 1e-8 * W.data.max(initial=0.0):
        worst = int(np.argmax(odd.data))
        raise InputError(
            f"the affinities are not symmetric: those between {odd.row[worst]} and "
            f"{odd.col[worst]} differ by {odd.data[worst]:g}; use (W + W.T) / 2"
        )
    W = W.tocoo()
    off = (W.row != W.col) & (W.data != 0)
    return sparse.csr_array((W.data[off], (W.row[off], W.col[off])), shape=W.shape)


def refuse_bad(W: Any) -> None:
    """Raise for affinities that are negative or not finite."""
    entries = W.tocoo()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if len(bad):
        i, j, value = entries.row[bad[0]], entries.col[bad[0]], entries.data[bad[0]]
        raise InputError(
            f"{count(len(bad), 'affinity', 'affinities')} negative or not finite (NaN, infinity), "
            f"first {value:g} between {i} and {j}; affinities are at least 0, larger means nearer"
        )


def degrees(W: sparse.csr_array) -> Array:
    """Row sums of W, none of them zero."""
    d = np.asarray(W.sum(axis=1)).ravel()
    alone = np.flatnonzero(~(d > 0))
    if len(alone):
        shown = [str(i) for i in alone[:5]] + ([f"{len(alone) - 5} more"] * (len(alone) > 5))
        raise InputError(
            f"{count(len(alone), 'point')} without any neighbor of positive affinity (isolated): "
            f"row {listed(shown)}, counted from 0; leave them out, or use more neighbors, a larger "
            "radius or a smaller gamma"
        )
    return d


def normalized(W: sparse.csr_array, d: Array) -> sparse.csr_array:
    """I - D^-1/2 W D^-1/2."""
    roots = 1 / np.sqrt(d)
    shares = np.repeat(roots, np.diff(W.indptr)) * W.data * roots[W.indices]
    scaled = sparse.csr_array((shares, W.indices, W.indptr), shape=W.shape)
    return sparse.csr_array(sparse.eye_array(len(d), format="csr") - scaled)


def refuse_parts(W: sparse.csr_array) -> None:
    """Raise for a graph that does not hang together."""
    parts, labels = csgraph.connected_components(W, directed=False)
    if parts > 1:
        sizes = [str(size) for size in np.sort(np.bincount(labels))[::-1]]
        shown = sizes[:5] + ([f"{parts - 5} more"] * (parts > 5))
        raise InputError(
            f"the graph of affinities is in {parts} parts, of {listed(shown)} points; embed each "
            "part by itself, or add affinities between them"
        )
