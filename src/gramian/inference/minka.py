"""Minka's Bayesian choice of dimension for PCA.

The evidence p(D | k) of probabilistic PCA, by Laplace's method:

    log p(D|k) = log p(U) - n/2 sum_{i<=k} log l_i - n (p-k)/2 log s2 + (m+k)/2 log 2 pi
                 - 1/2 log|A| - k/2 log n,             m = p k - k (k+1) / 2

with s2 the mean of the values left out, log p(U) the volume of k-frames, and log|A| the sum over
i <= k, i < j <= p of log[(1/l^_j - 1/l^_i)(l_i - l_j) n], where l^ are the values with those left
out replaced by s2.

T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 13 (2000), equations 71 to 78.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from gramian.maps import Array


def minka_dimension(values: Array, n: int) -> int:
    """The number of components with the largest evidence, given all p eigenvalues (best first)."""
    evidence = [log_evidence(values, k, n) for k in range(1, len(values))]
    return int(np.argmax(evidence)) + 1 if evidence else len(values)


def log_evidence(values: Array, k: int, n: int) -> float:
    """log p(D | k); minus infinity where a value needed is zero."""
    p = len(values)
    if values[k - 1] < np.finfo(np.float64).eps * values[0]:
        return -np.inf
    i = np.arange(1, k + 1)
    log_frames = -k * np.log(2.0) + np.sum(
        gammaln((p - i + 1) / 2) - np.log(np.pi) * (p - i + 1) / 2
    )
    s2 = max(float(np.sum(values[k:])) / (p - k), np.finfo(np.float64).eps * float(values[0]))
    m = p * k - k * (k + 1) / 2
    smoothed = np.where(np.arange(p) < k, values, s2)
    rows, columns = np.triu_indices(p, 1)
    inside = rows < k
    rows, columns = rows[inside], columns[inside]
    curvature = (1 / smoothed[columns] - 1 / smoothed[rows]) * (values[rows] - values[columns])
    with np.errstate(divide="ignore"):
        log_A = float(np.sum(np.log(curvature) + np.log(n)))
    return float(
        log_frames
        - n / 2 * np.sum(np.log(values[:k]))
        - n * (p - k) / 2 * np.log(s2)
        + (m + k) / 2 * np.log(2 * np.pi)
        - log_A / 2
        - k / 2 * np.log(n)
    )
