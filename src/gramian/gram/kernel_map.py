"""The kernel matrix of many points as a map that is never stored."""

from __future__ import annotations

import numpy as np

from gramian.gram.kernel_blocks import Kernel
from gramian.gram.kernels import own_blocks
from gramian.loops.threads import one_blas_thread, ordered_sum, pause
from gramian.maps import Array, ImplicitMap


class KernelMap(ImplicitMap):
    """The kernel matrix of points, never stored: tiles are computed for every product anew.

    Only tiles on and above the diagonal are computed; each serves both of its sides.
    """

    def __init__(self, k: Kernel, X: Array, tile: int = 512) -> None:
        self.tile, self.fill = tile, own_blocks(k, X)
        self.shape = len(X), len(X)
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)

    def _times(self, V: Array) -> Array:
        V = V.astype(self.dtype, copy=False)
        starts = range(0, len(V), self.tile)
        groups = min(8, len(starts))

        def piece(g: int, total: Array) -> None:
            for i in range(g, len(starts), groups):
                left = slice(starts[i], starts[i] + self.tile)
                for b in starts[i:]:
                    pause()
                    right = slice(b, b + self.tile)
                    K = self.fill(left, right)
                    total[left] += K @ V[right]
                    if b > left.start:
                        total[right] += K.T @ V[left]

        with one_blas_thread():
            total = ordered_sum(piece, groups, lambda: np.zeros(V.shape))
        return np.asarray(total.astype(self.dtype))
