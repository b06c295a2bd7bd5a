"""Maps that local patches agree on: M = sum over i of C_i, one small matrix a neighborhood.

Each C_i is positive semidefinite and measures how much coordinates differ, on the neighborhood of
point i, from what they should be there. Coordinates that fit everywhere are the smallest vectors
of the sum. With X_i the neighbors of x_i, U the leading left singular vectors of the centered X_i:

    reconstruction   C = b b',  b = (1, -w): how far z_i is from its neighbors' weighted mean
    modified         the same with as many independent weights as the neighborhood allows
    tangents         C = I - [1 U][1 U]': what is not linear in the d local coordinates
    hessian          C = Q Q', Q = products U_a U_b made orthogonal to 1, U: second derivatives

S. Roweis & L. Saul, Science 290 (2000). Z. Zhang & J. Wang, NIPS 19 (2007). Z. Zhang & H. Zha,
SIAM J. Sci. Comput. 26 (2004). D. Donoho & C. Grimes, PNAS 100 (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gramian.gram.barycenter import barycenter_weights
from gramian.loops.alignment import count_entries, fill_entries
from gramian.loops.threads import one_blas_thread, run
from gramian.maps import Array

_block = 512  # neighborhoods
_rows = 4096  # rows of M


class Local(NamedTuple):
    """The shape of neighborhoods: squared singular values, largest first, and left vectors."""

    values: Array  # (m, q)
    U: Array  # (m, k, q); zero where the value is


def reconstruction(X: Array, indices: Array, reg: float) -> sparse.csr_array:
    """Standard locally linear embedding."""
    n, k = indices.shape
    B = np.concatenate([np.ones((n, 1)), -barycenter_weights(X, X, indices, reg)], axis=1)
    parts = _filled((n, k + 1, k + 1), lambda some: B[some, :, None] * B[some, None, :])
    return aligned(_with_itself(indices), parts)


def tangents(X: Array, indices: Array, d: int) -> sparse.csr_array:
    """Local tangent space alignment."""
    n, k = indices.shape

    def part(some: slice) -> Array:
        U = local_shape(X, indices[some], None).U[:, :, :d]
        return np.asarray(np.eye(k) - 1 / k - U @ U.transpose(0, 2, 1))

    return aligned(indices, _filled((n, k, k), part))


def hessian(X: Array, indices: Array, d: int) -> sparse.csr_array:
    """Hessian eigenmaps."""
    n, k = indices.shape
    a, b = np.triu_indices(d)

    def part(some: slice) -> Array:
        U = local_shape(X, indices[some], None).U[:, :, :d]
        Y = np.concatenate([np.ones((*U.shape[:2], 1)), U, U[:, :, a] * U[:, :, b]], axis=2)
        Q, R = np.linalg.qr(Y)
        told = np.abs(np.diagonal(R, axis1=1, axis2=2)) > 1e-7 * np.linalg.norm(Y, axis=1)
        Q = (Q * told[:, None, :])[:, :, d + 1 :]  # products that the others determine say nothing
        return np.asarray(Q @ Q.transpose(0, 2, 1))

    return aligned(indices, _filled((n, k, k), part))


def modified(X: Array, indices: Array, d: int, reg: float) -> sparse.csr_array:
    """Locally linear embedding with several weights a point.

    With P the projection on the s directions of the neighborhood that matter least, a = |P 1| /
    sqrt s and w the regularized weights, the s weight vectors W_i of the paper, whose basis is
    arbitrary, enter only through

        W W' = P + (1 - a) / a (P1 w' + w P1') + (1 - a)^2 s w w',     W 1 = P1 / a + (1 - a) s w
    """
    n, k = indices.shape
    q = min(k, X.shape[1])
    values = _filled((n, q), lambda some: local_shape(X, indices[some], X[some]).values)
    s = _least(values, k, d)

    def part(some: slice) -> Array:
        shape = local_shape(X, indices[some], X[some])
        w = _regularized(shape, reg)
        U = shape.U * (np.arange(q) < (k - s[some])[:, None])[:, None, :]
        P1 = 1 - np.einsum("ija,ia->ij", U, U.sum(axis=1))
        many = s[some, None]
        a = np.maximum(np.linalg.norm(P1, axis=1, keepdims=True) / np.sqrt(many), 1e-12)
        mixed = ((1 - a) / a * P1)[:, :, None] * w[:, None, :]
        C = np.empty((len(w), k + 1, k + 1))
        C[:, 1:, 1:] = mixed + mixed.transpose(0, 2, 1) - U @ U.transpose(0, 2, 1) + np.eye(k)
        C[:, 1:, 1:] += ((1 - a) ** 2 * many)[:, :, None] * w[:, :, None] * w[:, None, :]
        C[:, 0, 1:] = C[:, 1:, 0] = -(P1 / a + (1 - a) * many * w)
        C[:, 0, 0] = s[some]
        return C

    return aligned(_with_itself(indices), _filled((n, k + 1, k + 1), part))


def local_shape(X: Array, indices: Array, origins: Array | None) -> Local:
    """Singular values and left vectors of every neighborhood, from their smaller Gram matrix.

    Parameters
    ----------
    X : array of shape (n, p)
    indices : array of int, shape (m, k)
    origins : array of shape (m, p), optional
        What neighbors are measured from; by default their mean.
    """
    C = X[indices].astype(np.float64)
    C -= C.mean(axis=1, keepdims=True) if origins is None else origins[:, None, :]
    k, p = C.shape[1:]
    turned = C.transpose(0, 2, 1)
    values, V = np.linalg.eigh(C @ turned if p > k else turned @ C)
    values, V = np.maximum(values[:, ::-1], 0.0), V[:, :, ::-1]
    values = np.where(values > 1e-13 * k * values[:, :1], values, 0.0)
    if p > k:
        return Local(values, V * (values > 0)[:, None, :])
    U = C @ V
    U -= U.mean(axis=1, keepdims=True) if origins is None else 0.0
    lengths = np.linalg.norm(U, axis=1, keepdims=True)
    return Local(values, np.divide(U, lengths, out=U, where=lengths > 0) * (values > 0)[:, None, :])


def aligned(points: Array, parts: Array) -> sparse.csr_array:
    """The sum of all ``parts`` (n, m, m), each between its ``points`` (n, m)."""
    n = len(points)
    flat = points.ravel()
    holders = np.argsort(flat, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=n))])
    counts = np.empty(n, np.int64)
    pieces = -(-n // _rows)
    ends = [(q * _rows, min((q + 1) * _rows, n)) for q in range(pieces)]
    run(lambda q: count_entries(points, starts, holders, *ends[q], counts), pieces)
    row_starts = np.concatenate([[0], np.cumsum(counts)])
    small = row_starts[-1] < 2**31
    columns = np.empty(row_starts[-1], np.int32 if small else np.int64)
    values = np.empty(row_starts[-1])
    run(
        lambda q: fill_entries(
            points, parts, starts, holders, *ends[q], row_starts, columns, values
        ),
        pieces,
    )
    entries = values, columns, row_starts.astype(columns.dtype)
    return sparse.csc_array(entries, shape=(n, n)).tocsr()  # symmetric: this only sorts the rows


def _filled(shape: tuple[int, ...], part: Callable[[slice], Array]) -> Array:
    """An array of that shape, a block of neighborhoods at a time."""
    out = np.empty(shape)

    def piece(q: int) -> None:
        some = slice(q * _block, min((q + 1) * _block, len(out)))
        out[some] = part(some)

    with one_blas_thread():
        run(piece, -(-len(out) // _block), "local geometry")
    return out


def _with_itself(indices: Array) -> Array:
    """Each point, then its neighbors."""
    return np.concatenate([np.arange(len(indices))[:, None], indices], axis=1)


def _regularized(shape: Local, reg: float) -> Array:
    """Barycenter weights from a neighborhood's shape."""
    ridge = reg * shape.values.sum(axis=1, keepdims=True)
    ridge = np.where(ridge > 0, ridge, reg)
    onto = shape.U.sum(axis=1)
    inside = onto * (1 / (shape.values + ridge) - 1 / ridge)
    w = np.einsum("ija,ia->ij", shape.U, inside) + 1 / ridge
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _least(values: Array, k: int, d: int) -> Array:
    """How many directions of each neighborhood matter least: their share stays below the median."""
    leading = values[:, :d].sum(axis=1)
    rest = values[:, d:].sum(axis=1)
    typical = float(np.median(np.divide(rest, leading, out=np.zeros_like(rest), where=leading > 0)))
    sums = np.cumsum(values, axis=1)
    with_all = sums[:, -1:] / np.maximum(sums[:, :-1], np.finfo(float).tiny) - 1
    s = np.sum(with_all < typical, axis=1) + k - values.shape[1]
    nothing = k - np.sum(values > 0, axis=1)
    return np.asarray(np.maximum(np.maximum(s, nothing), 1))
